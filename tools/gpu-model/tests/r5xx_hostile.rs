// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A hostile guest in front of the modelled R5xx: accesses of every place, size and value, and garbage on
//! the ring, in indirect buffers, in its table and in its microcode. The model answers, stays small and ends.

use crate::hostile_rig::{access, noise};
use crate::r5xx_rig::{config, type0, type3, Rig, GTT, INDIRECT};
use gpu_model::counters::Counter;
use gpu_model::r5xx::R5xxConfig;
use proptest::prelude::*;

const CHIPS: [&str; 4] = ["rv515", "rv530", "r520", "r580"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_access_of_any_region(
        all in proptest::collection::vec(access(), 1..200),
        chip in proptest::sample::select(&CHIPS[..]),
    ) {
        let rig = Rig::with(R5xxConfig { keep_events: 16, ..config(chip) });
        for a in &all {
            a.apply(&rig.gpu);
            rig.gpu.step();
        }
        rig.gpu.power_on();
        // CP_RB_WPTR (digest §4): an empty ring
        prop_assert_eq!(rig.reg(0x714), 0);
    }
}

/// Often a packet, with a header that may fit what follows; often small.
fn dword(random: &mut impl FnMut() -> u32) -> u32 {
    let r = random();
    match r % 5 {
        0 => type0(random() % 0x2000 * 4, 1 + r % 7),
        1 => type3(random() % 0x80, (1 + r % 9) as usize),
        2 => 0x8000_0000,
        3 => r >> 8,
        _ => random(),
    }
}

#[test]
fn garbage_on_the_ring() {
    let mut locked = 0;
    for seed in 0..18u64 {
        let mut random = noise(seed);
        let chip = CHIPS[seed as usize % CHIPS.len()];
        let rig = Rig::with(R5xxConfig {
            keep_events: 16,
            ..config(chip)
        });
        for _ in 0..40 {
            let words: Vec<u32> = (0..random() % 60).map(|_| dword(&mut random)).collect();
            rig.put_guest(INDIRECT, &words);
            rig.submit(&[type0(0x738, 2), GTT + INDIRECT as u32, random() % 0x100]);
            let words: Vec<u32> = (0..random() % 60).map(|_| dword(&mut random)).collect();
            // It may have moved the ring's pointer to anywhere.
            if rig.reg(0x714) < 1024 {
                rig.submit(&words);
            }
            if random().is_multiple_of(8) {
                rig.set_entry(random() % 256, random());
            }
            for _ in 0..random() % 2000 {
                rig.gpu.step();
            }
            locked += u32::from(rig.gpu.lockup().is_some());
            match random() % 4 {
                0 => rig.set(random() % 0x4000 * 4, random()),
                1 => rig.set_mc(random() % 0x80, random()),
                2 => rig.set_pcie(random() % 0x40, random()),
                // A soft reset, as far as it goes (RBBM_SOFT_RESET).
                _ => {
                    rig.set(0xf0, random());
                    rig.set(0xf0, 0);
                }
            }
        }
        rig.gpu.power_on();
        assert_eq!(rig.reg(0x714), 0, "seed {seed}");
    }
    assert!(locked > 18, "none of the garbage was run");
}

/// Noise in the vertex engine's code, constants and registers, and draws: each comes to an end, or hangs the vertex
/// processor until it is reset. (PVS code is at 0, constants at 1024: R5xx guide §6.4.11.)
#[test]
fn garbage_in_vertex_programs() {
    let (mut shaded, mut hung) = (0, 0);
    for seed in 100..148u64 {
        let mut random = noise(seed);
        let rig = Rig::with(R5xxConfig {
            keep_events: 16,
            shader_steps: 5000,
            ..config(CHIPS[seed as usize % CHIPS.len()])
        });
        for at in [0, 1024] {
            rig.set(0x2200, at);
            for _ in 0..4 * 32 {
                // Often something that is an operation, with small numbers.
                let mask = if random().is_multiple_of(4) {
                    !0
                } else {
                    0x1fff_e1ff
                };
                rig.set(0x2204, random() & mask);
            }
        }
        // VAP_PVS_CODE_CNTL_0, VAP_PVS_CONST_CNTL, VAP_PVS_FLOW_CNTL_OPC; addresses below 32.
        rig.set(0x22d0, (random() & 31) << 20 | random() & 31);
        rig.set(0x22d4, random());
        rig.set(0x22dc, random() & random());
        for n in 0..32 {
            rig.set(0x2500 + 4 * n, random() & 0x1f_001f);
        }
        for n in 0..16 {
            rig.set(0x2290 + 4 * n, random());
        }
        for offset in (0x2150..=0x216c).chain(0x21dc..=0x21fc).step_by(4) {
            rig.set(offset, random());
        }
        // VAP_VTX_SIZE, VAP_VTX_NUM_ARRAYS and the arrays.
        rig.set(0x20b4, 1 + random() % 8);
        rig.set(0x20c0, random() & 31);
        for offset in (0x20c4..=0x2120).step_by(4) {
            rig.set(offset, random());
        }
        for walk in [2, 3] {
            let vertices = random() % 8;
            rig.set(0x2084, vertices << 16 | walk << 4 | 4);
            while !rig.gpu.vap_stuck() && rig.reg(0xe40) >> 20 & 1 != 0 && walk == 3 {
                rig.set(0x2000, random());
                rig.gpu.step();
            }
            rig.settle();
        }
        shaded += rig.gpu.counter(Counter::VerticesShaded);
        hung += u32::from(rig.gpu.vap_stuck());
        rig.set(0xf0, 0x2004);
        rig.set(0xf0, 0);
        rig.settle();
        assert!(!rig.gpu.vap_stuck(), "seed {seed}");
    }
    assert!(shaded > 20 && hung > 2, "{shaded} shaded, {hung} hung");
}
