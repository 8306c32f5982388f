// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Accesses as a hostile guest has them: of every place, size and value.

#![allow(dead_code)]

use gpu_model::model::GpuModel;
use proptest::prelude::*;

/// An access as a transport has it.
#[derive(Clone, Debug)]
pub enum Access {
    Read(u32, u64, usize),
    Write(u32, u64, Vec<u8>),
    ConfigRead(u64, usize),
    ConfigWrite(u64, Vec<u8>),
}

/// Anywhere in a region, or near an end of one of a size that chips have, or outside of everything.
fn place() -> impl Strategy<Value = u64> {
    let end = |at: u64| (0..64u64).prop_map(move |n| at - 32 + n);
    prop_oneof![
        6 => 0..0x40_0000u64,
        2 => 0..0x100_0000u64,
        1 => end(0x1_0000),
        1 => end(0x20_0000),
        1 => end(0x40_0000),
        1 => end(0x80_0000),
        1 => end(0x100_0000),
        1 => end(0x1000_0000),
        1 => end(0x1_0000_0000),
        1 => any::<u64>(),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![8 => prop_oneof![Just(1), Just(2), Just(4), Just(8)], 2 => 0..70usize];
    size.prop_flat_map(|n| proptest::collection::vec(any::<u8>(), n))
}

/// Any access. (The window at 0xb0 is not the guest's: it asks for faults.)
pub fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        (0..10u32, place(), 0..70usize).prop_map(|(r, o, n)| Access::Read(r, o, n)),
        (0..10u32, place(), bytes()).prop_map(|(r, o, d)| Access::Write(r, o, d)),
        (0..300u64, 0..70usize).prop_map(|(o, n)| Access::ConfigRead(o, n)),
        (0..300u64, bytes()).prop_map(|(o, d)| Access::ConfigWrite(o, d)),
    ]
}

impl Access {
    pub fn apply(&self, gpu: &dyn GpuModel) {
        match self {
            Access::Read(bar, offset, n) => gpu.bar_read(*bar, *offset, &mut vec![0; *n]),
            Access::Write(bar, offset, data) => gpu.bar_write(*bar, *offset, data),
            Access::ConfigRead(offset, n) => gpu.config_read(*offset, &mut vec![0; *n]),
            Access::ConfigWrite(offset, data) => gpu.config_write(*offset, data),
        }
    }
}

/// Numbers that look random, the same in each run.
pub fn noise(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed * 2 + 1;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    }
}
