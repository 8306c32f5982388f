// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Whatever a driver or a user's batch does to the modelled Sandy Bridge, it answers: no panic, no
//! endless step.

use crate::snb_rig::{block, ring_base, Rig, BATCH};
use gpu_model::ring::{EngineId, RingConfig, ENGINES};
use gpu_model::test_capability::{command, COMMAND, OFFSET};
use proptest::prelude::*;

/// An access of the CPU.
#[derive(Clone, Debug)]
enum Access {
    Read(u32),
    Write(u32, u32),
    Pte(u32, u32),
    Aperture(u32, u8, bool),
    Config(u8, u32, bool),
    Step(u8),
}

/// Registers where something happens, any register, or a place near its end.
fn offsets() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => (0..3usize, 0..0x200u32).prop_map(|(e, o)| block(ENGINES[e]) + o * 4),
        1 => (0x2200..0x2600u32).prop_map(|o| o & !3),
        1 => (0x4000..0x4300u32).prop_map(|o| o & !3),
        1 => Just(0x941c),
        1 => Just(0xa18c),
        1 => (0x44000..0x44030u32).prop_map(|o| o & !3),
        1 => (0x100000..0x101010u32).prop_map(|o| o & !3),
        1 => (0x120000..0x140000u32).prop_map(|o| o & !3),
        1 => 0..0x20_0010u32,
    ]
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        3 => offsets().prop_map(Access::Read),
        6 => (offsets(), any::<u32>()).prop_map(|(o, v)| Access::Write(o, v)),
        1 => (0..600_000u32, any::<u32>()).prop_map(|(i, v)| Access::Pte(i, v)),
        1 => (any::<u32>(), any::<u8>(), any::<bool>()).prop_map(|(o, n, w)| Access::Aperture(o, n, w)),
        1 => (any::<u8>(), any::<u32>(), any::<bool>()).prop_map(|(o, v, w)| Access::Config(o, v, w)),
        3 => any::<u8>().prop_map(Access::Step),
    ]
}

fn apply(rig: &Rig, a: &Access) {
    match a {
        Access::Read(o) => {
            rig.gpu.mmio_read32(*o);
        }
        Access::Write(o, v) => rig.gpu.mmio_write32(*o, *v),
        Access::Pte(i, v) => rig.gpu.gtt_write(*i, *v),
        Access::Aperture(o, n, write) => {
            let mut buf = vec![0; *n as usize];
            if *write {
                rig.gpu.aperture_write(*o, &buf);
            } else {
                rig.gpu.aperture_read(*o, &mut buf);
            }
        }
        Access::Config(o, v, write) => {
            if *write {
                rig.gpu.config_write_at(*o as usize, &v.to_le_bytes());
            } else {
                rig.gpu.config_read_at(*o as usize, &mut [0; 64]);
            }
        }
        Access::Step(e) => {
            rig.gpu.step(ENGINES[*e as usize % 3]);
        }
    }
}

/// A command-like dword: often a real header, else anything.
fn dwords() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => (0..0x40u32, 0..16u32, any::<u32>())
            .prop_map(|(op, len, flags)| op << 23 | len | flags & 0x007f_ff00),
        2 => any::<u32>(),
        2 => (0..MEMORY_DWORDS).prop_map(|a| a * 4),
        1 => any::<u32>().prop_map(|v| 0x7a00_0000 | v & 7),
        1 => Just(0x1880_0000),
        2 => Just(0),
    ]
}

const MEMORY_DWORDS: u32 = (crate::snb_rig::MEMORY / 4) as u32;

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn any_accesses(accesses in proptest::collection::vec(access(), 1..200)) {
        let rig = Rig::with(RingConfig { keep_events: 16, ..RingConfig::default() });
        for a in &accesses {
            apply(&rig, a);
        }
        rig.gpu.run_until_idle(500);
        // Still a device: power-on gives the reset state, once the chaos and the faults that may have been asked
        // for are taken back, which outlast it (test_capability.rs). While it is pulled it hears neither.
        rig.gpu.power_on();
        rig.gpu.config_write_at(OFFSET + COMMAND, &command::CALM.to_le_bytes());
        rig.gpu.config_write_at(OFFSET + 0x18, &[0; 4]);
        rig.gpu.power_on();
        rig.gpu.mmio_write32(0xa18c, 1);
        prop_assert_eq!(rig.gpu.mmio_read32(0x20a8), 0xffff_ffff);
        prop_assert_eq!(rig.gpu.mmio_read32(0x203c), 0);
    }

    #[test]
    fn an_access_of_the_aperture_is_its_bytes(
        y_walk in any::<bool>(),
        tiles in prop::sample::select(vec![1u32, 2, 4]),
        at in 0..0xffe0u32,
        len in 1..64u32,
    ) {
        // A fence over 16 pages at 0x80000; one to four tiles in a row, each its own bus address.
        let rig = Rig::new();
        let tile = if y_walk { 128 } else { 512 };
        rig.set(0x100004, 0x0008_f000 | (tiles * tile / 128 - 1));
        rig.set(0x100000, 0x0008_0001 | u32::from(y_walk) << 1);
        let data: Vec<u8> = (0..len).map(|n| n as u8 + 1).collect();
        rig.gpu.aperture_write(0x80000 + at, &data);
        let mut back = vec![0; len as usize];
        rig.gpu.aperture_read(0x80000 + at, &mut back);
        prop_assert_eq!(&back, &data);
        for (n, byte) in data.iter().enumerate() {
            let linear = at + n as u32;
            // Past the last page that the fence covers there is no tile.
            let (x, y) = (linear % (tiles * tile), linear / (tiles * tile));
            let place = match (linear < 0x1_0000, y_walk) {
                (false, _) => linear,
                // SNB PRM V1P2 §4.5.2: rows of 512 bytes; columns of 16 bytes and 32 rows.
                (true, false) => 4096 * (tiles * (y / 8) + x / 512) + 512 * (y % 8) + x % 512,
                (true, true) => {
                    let inside = x % 128;
                    4096 * (tiles * (y / 32) + x / 128)
                        + 512 * (inside / 16) + 16 * (y % 32) + inside % 16
                }
            };
            let dword = rig.at((0x80000 + place) & !3);
            prop_assert_eq!(dword.to_le_bytes()[(place % 4) as usize], *byte, "{:#x}", linear);
        }
    }

    #[test]
    fn any_commands(
        engine in 0..3usize,
        ring in proptest::collection::vec(dwords(), 2..200),
        batch in proptest::collection::vec(dwords(), 2..200),
        ppgtt in any::<bool>(),
    ) {
        let e: EngineId = ENGINES[engine];
        let rig = Rig::with(RingConfig { keep_events: 16, ..RingConfig::default() });
        if ppgtt {
            rig.set(block(e) + 0x220, 0xffff_ffff);
            rig.set(block(e) + 0x228, 0x0040_0000);
            rig.set(0x2520, 0x0200_0200);
        }
        rig.put(BATCH, &batch);
        rig.put(ring_base(e), &ring);
        rig.set(block(e) + 0x50, 0x0001_0001);
        rig.reg(block(e) + 0x50);
        rig.reg(block(e) + 0x50);
        rig.set(block(e) + 0x30, (ring.len() as u32 * 4) & !7);
        for _ in 0..2000 {
            rig.gpu.step(e);
        }
        // Registers still answer, and a reset brings the engine back.
        rig.set(0x941c, 1);
        prop_assert_eq!(rig.reg(0x941c), 0);
        prop_assert_eq!(rig.reg(block(e) + 0x9c) & 0x200, 0x200);
    }
}
