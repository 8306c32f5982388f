// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Whatever registers, programs and vertices say: a draw ends, nothing panics, and no byte is written that was not
//! told as written before (the list that command-stream checkers are measured by).

use crate::r5xx_rig::{picture::*, Rig};
use gpu_model::r5xx::Unit;
use proptest::prelude::*;

const VRAM: usize = 16 << 20;

/// Registers of all units behind the vertex program, and of the vertex engine's outputs: from, to.
const RANGES: &[(u32, u32)] = &[
    (0x1d98, 0x1dac),
    (0x2090, 0x2094),
    (0x20b0, 0x20b0),
    (0x221c, 0x222c),
    (0x4008, 0x4014),
    (0x401c, 0x4020),
    (0x4074, 0x40b0),
    (0x4104, 0x4104),
    (0x4200, 0x420c),
    (0x421c, 0x421c),
    (0x4230, 0x4238),
    (0x4278, 0x4298),
    (0x42a0, 0x42c4),
    (0x4300, 0x4304),
    (0x4320, 0x435c),
    (0x43a8, 0x43d0),
    (0x43e8, 0x43e8),
    (0x4400, 0x45fc),
    (0x4600, 0x4600),
    (0x4620, 0x4624),
    (0x46a4, 0x46b4),
    (0x4bc0, 0x4bd8),
    (0x4be0, 0x4be0),
    (0x4c00, 0x4c7c),
    (0x4e00, 0x4e18),
    (0x4e50, 0x4e50),
    (0x4e80, 0x4e88),
    (0x4ea0, 0x4ea4),
    (0x4ef8, 0x4efc),
    (0x4f00, 0x4f28),
    (0x4fd4, 0x4fd4),
];

fn register() -> impl Strategy<Value = u32> {
    let range = prop::sample::select(RANGES);
    range.prop_flat_map(|(from, to)| (from / 4..=to / 4).prop_map(|n| 4 * n))
}

/// Any value, but often a small one or a float.
fn value() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..16,
        (-4.0f32..70.0).prop_map(f32::to_bits),
        any::<f32>().prop_map(f32::to_bits),
        (0u32..32).prop_map(|n| 1 << n),
    ]
}

fn instruction() -> impl Strategy<Value = [u32; 6]> {
    (any::<[u32; 6]>(), 0u32..4).prop_map(|(mut words, kind)| {
        words[0] = words[0] & !3 | kind;
        words
    })
}

fn vertex() -> impl Strategy<Value = Vertex> {
    let lane = || prop_oneof![-2.0f32..2.0, -10.0f32..80.0, any::<f32>()];
    let four = || [lane(), lane(), lane(), lane()];
    (four(), four())
}

fn memory(rig: &Rig) -> Vec<u8> {
    let mut all = vec![0; VRAM];
    rig.gpu.aperture_read(0, &mut all);
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn draws_end_and_write_what_was_told(
        registers in prop::collection::vec((register(), value()), 0..60),
        mut code in prop::collection::vec(instruction(), 1..12),
        put_out in any::<bool>(),
        kind in 1u32..16,
        vertices in prop::collection::vec(vertex(), 1..9),
        corner in (0u32..64, 0u32..64),
        pitch in prop_oneof![Just(64u32), any::<u32>()],
    ) {
        if put_out {
            code.push(PUT_OUT);
        }
        let rig = Rig::new();
        let mut stream = [state(), depth(7, 7), point_size(9, 7), pixel_program(&code)].concat();
        for (at, value) in registers {
            stream.extend(write(at, &[value]));
        }
        // A small scissor, or it would take long.
        stream.extend(write(0x43e0, &[0, corner.0 | corner.1 << 13]));
        if pitch != 64 {
            stream.extend(write(0x4e38, &[pitch]));
        }
        stream.extend(draw(kind, &vertices));
        let before = memory(&rig);
        rig.gpu.take_accesses();
        rig.run_indirect(&stream);
        let (accesses, lost) = rig.gpu.take_accesses();
        prop_assume!(lost == 0);
        let after = memory(&rig);
        let mut told = vec![false; VRAM];
        let pixels = |unit| matches!(unit, Unit::Color | Unit::Depth | Unit::Resolve);
        for a in accesses.iter().filter(|a| a.write && pixels(a.unit)) {
            let end = (a.end() as usize).min(VRAM);
            told[(a.addr as usize).min(end)..end].fill(true);
        }
        // Pages that are as they were need no look.
        let changed = (0..VRAM).step_by(4096).filter(|n| before[*n..n + 4096] != after[*n..n + 4096]);
        let untold = changed
            .flat_map(|n| n..n + 4096)
            .find(|n| before[*n] != after[*n] && !told[*n]);
        prop_assert_eq!(untold, None);
    }
}
