// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge, Ivy Bridge and Gen4: rings, registers and the table.

use super::access;
use crate::source::Source;
use gpu_model::memory::VecMemory;
use gpu_model::model::NoIrq;
use gpu_model::ring::{Chip, RingConfig, RingGpu, ENGINES};
use std::sync::Arc;

/// Guest memory; rings at 0x10000, 0x20000 and 0x30000, garbage from 0x40000 on.
const MEMORY: usize = 512 << 10;

/// Takes any bytes.
pub fn run(s: &mut Source<'_>, chip: &'static Chip) {
    let memory = Arc::new(VecMemory::new(MEMORY));
    let config = RingConfig {
        keep_events: 16,
        ..RingConfig::of(chip)
    };
    let gpu = RingGpu::new(config, memory.clone(), Arc::new(NoIrq));
    wake(&gpu);
    for page in 1..=128 {
        gpu.gtt_write(page, page << 12 | 5);
    }
    // On 965 the table is off.
    let table = gpu.mmio_read32(0x2020) | 1;
    gpu.mmio_write32(0x2020, table);
    let blocks: Vec<u32> = chip.engines.iter().map(|e| e.base).collect();
    for (n, block) in blocks.iter().copied().enumerate() {
        gpu.mmio_write32(block + 0x38, (n as u32 + 1) << 16);
        gpu.mmio_write32(block + 0x3c, 1);
        gpu.mmio_read32(0x12_0008);
    }
    let mut place = 0;
    while !s.is_empty() {
        match s.u8() % 8 {
            // A dword of a ring, or of a batch.
            0..=2 => {
                let at = [0x1_0000, 0x2_0000, 0x3_0000, 0x4_0000][s.below(4) as usize] + place;
                place = (place + 4) % 0x1000;
                let dword = [0x1880_0100, 0x4_0000, s.u32(), 0][s.below(4) as usize];
                memory.put_dwords(at, &[dword]).expect("in memory");
            }
            3 => {
                let block = blocks[s.below(3) as usize % blocks.len()];
                gpu.mmio_write32(block + 4 * s.below(0x100) as u32, s.u32());
            }
            4 | 5 => access(s, &gpu),
            6 => gpu.gtt_write(s.u8().into(), s.u32()),
            _ => {
                gpu.mmio_read32(0x12_0008);
                for _ in 0..=s.u8() {
                    gpu.step(ENGINES[s.below(3) as usize]);
                }
            }
        }
    }
    gpu.power_on();
    wake(&gpu);
    assert_eq!(gpu.mmio_read32(0x203c), 0);
}

/// Forcewake of one thread, or of several: a chip hears one of them.
fn wake(gpu: &RingGpu) {
    gpu.mmio_write32(0xa18c, 0x0001_0001);
    gpu.mmio_write32(0xa188, 0x0001_0001);
}
