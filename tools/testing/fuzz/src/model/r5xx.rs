// SPDX-License-Identifier: GPL-2.0
//! R5xx: its ring, in the card's memory, and its registers.

use super::access;
use crate::source::Source;
use gpu_model::memory::VecMemory;
use gpu_model::model::NoIrq;
use gpu_model::r5xx::{Chip, R5xx, R5xxConfig};
use std::sync::Arc;

const CHIPS: [&str; 4] = ["rv515", "rv530", "r520", "r580"];
/// CP_RB_WPTR (digest of its document, 4).
const WRITE_POINTER: u32 = 0x714;
/// Dwords of the ring, which is at the beginning of the card's memory; a buffer is behind it.
const RING: u32 = 1024;
const BUFFER: u32 = RING * 4;

/// A ring of 4 KB, the microcode of no chip, and everything on (digest, 5.2).
fn start(gpu: &R5xx) {
    gpu.mmio_write32(0x7d4, 0);
    for word in 0..256 {
        gpu.mmio_write32(0x7dc, word);
        gpu.mmio_write32(0x7e0, !word);
    }
    let control = 6 << 8 | 9;
    for (register, value) in [
        (0x718, 0x40),
        (0x704, control | 1 << 27),
        (0x700, 0),
        (0x704, control | 1 << 31 | 1 << 27),
        (0x71c, 0),
        (WRITE_POINTER, 0),
        (0x704, control | 1 << 27),
        (0x744, 0x1050),
        (0x718, 0),
        (0x744, 0x4d4d),
        (0x740, 4 << 28),
    ] {
        gpu.mmio_write32(register, value);
    }
}

/// Often a header: of type 0, a known or any of type 3, a filler.
fn dword(s: &mut Source<'_>) -> u32 {
    let r = s.u32();
    match s.u8() % 6 {
        0 => (r & 7) << 16 | r >> 16 & 0x1fff,
        1 => 0xc000_0000 | (r & 7) << 16 | [0x10, 0x9a, 0x9b, 0x92][(r >> 8) as usize % 4] << 8,
        2 => 0xc000_0000 | (r & 15) << 16 | r >> 8 & 0xff00,
        3 => 0x8000_0000,
        4 => r >> 16,
        _ => r,
    }
}

/// Takes any bytes.
pub fn run(s: &mut Source<'_>) {
    let chip = Chip::named(CHIPS[s.below(3) as usize]).expect("a chip");
    let config = R5xxConfig {
        keep_events: 16,
        ..R5xxConfig::new(chip)
    };
    let memory = Arc::new(VecMemory::new(64 << 10));
    let gpu = R5xx::new(config, memory, Arc::new(NoIrq)).expect("memory");
    start(&gpu);
    while !s.is_empty() {
        match s.u8() % 8 {
            0..=2 => {
                let at = gpu.mmio_read32(WRITE_POINTER) % RING;
                let call = [0x0001_01ce, BUFFER, s.below(64) as u32];
                let some: Vec<u32> = (0..s.below(16)).map(|_| dword(s)).collect();
                let words = if s.flag() { &call[..] } else { &some };
                for (n, word) in (at..).zip(words) {
                    gpu.aperture_write(u64::from(n % RING * 4), &word.to_le_bytes());
                }
                gpu.mmio_write32(WRITE_POINTER, (at + words.len() as u32) % RING);
            }
            3 => {
                let at = u64::from(BUFFER) + s.below(64) * 4;
                gpu.aperture_write(at, &dword(s).to_le_bytes());
            }
            4 => gpu.mmio_write32(s.below(0x4000) as u32 * 4, s.u32()),
            5 => access(s, &gpu),
            // A soft reset, as far as it goes.
            6 => {
                gpu.mmio_write32(0xf0, s.u32());
                gpu.mmio_write32(0xf0, 0);
                start(&gpu);
            }
            _ => {
                for _ in 0..=s.u8() {
                    gpu.step();
                }
            }
        }
    }
    gpu.power_on();
    assert_eq!(gpu.mmio_read32(WRITE_POINTER), 0);
}
