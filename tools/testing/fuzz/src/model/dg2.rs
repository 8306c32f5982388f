// SPDX-License-Identifier: GPL-2.0
//! DG2: lists of contexts, what is in their images and rings, and registers.

use super::access;
use crate::source::Source;
use gpu_model::dg2::{Dg2, Dg2Config, ENGINES};
use gpu_model::memory::VecMemory;
use gpu_model::model::NoIrq;
use std::sync::Arc;

/// Global address of the card's memory, of which so many pages are mapped, and where that begins.
const LOCAL: u32 = 0x100_0000;
const PAGES: u64 = 0x80;
const LOCAL_AT: u64 = 0x10_0000;
/// Bytes from one context to the next: two pages of its image, and its ring.
const CONTEXT: u64 = 0x2_0000;
const RING: u64 = 0x1_0000;
const CONTEXTS: u64 = 4;
/// Global address of the engines' status pages.
const STATUS: u32 = 0x10_0000;

/// Awake, with status pages and lists (digest of its documents, I9 and E19).
fn start(gpu: &Dg2) {
    for page in 0..PAGES {
        let entry = (LOCAL_AT >> 12) + page;
        gpu.ggtt_write(u64::from(LOCAL >> 12) + page, entry << 12 | 3);
    }
    for page in 0..ENGINES.len() as u64 {
        gpu.ggtt_write(u64::from(STATUS >> 12) + page, page << 12 | 1);
    }
    for request in [0xa188, 0xa278, 0xa540, 0xa548, 0xa560, 0xa564] {
        gpu.mmio_write32(request, 0x0001_0001);
    }
    for (n, e) in (0..).zip(ENGINES) {
        let base = e.base();
        gpu.mmio_write32(base + 0x29c, 0x0008_0008);
        gpu.mmio_write32(base + 0x9c, 0x0100_0000);
        gpu.mmio_write32(base + 0x80, STATUS + 0x1000 * n);
    }
    for n in 0..CONTEXTS {
        image(gpu, n);
    }
}

/// A first image (digest, 4.2): an empty ring of a page, no state.
fn image(gpu: &Dg2, n: u64) {
    let at = LOCAL_AT + n * CONTEXT;
    let ring = LOCAL + (n * CONTEXT + RING) as u32;
    let mut d = [0u32; 0x60];
    d[1] = 0x1108_101d;
    let first = [0x244, 0x034, 0x030, 0x038, 0x03c, 0x168, 0x140, 0x110];
    let more = [0x1c0, 0x1c4, 0x1c8, 0x180, 0x2b4, 0x120, 0x124];
    for (i, register) in first.into_iter().chain(more).enumerate() {
        let value = match register {
            0x244 => 0x0009_0009,
            0x038 => ring,
            0x03c => 1,
            _ => 0,
        };
        (d[2 + 2 * i], d[3 + 2 * i]) = (register, value);
    }
    d[0x21] = 0x1108_1011;
    let tables = [
        0x3a8, 0x28c, 0x288, 0x284, 0x280, 0x27c, 0x278, 0x274, 0x270,
    ];
    for (i, register) in tables.into_iter().enumerate() {
        d[0x22 + 2 * i] = register;
    }
    d[0x34] = 0x0500_0001;
    let bytes: Vec<u8> = d.into_iter().flat_map(u32::to_le_bytes).collect();
    gpu.lmem_write(at + 0x1000, &bytes);
}

/// Often a header: of any client, or of one that is known.
fn dword(s: &mut Source<'_>) -> u32 {
    let r = s.u32();
    match s.u8() % 6 {
        0 => (r & 0x3f) << 23 | r >> 8 & 0x7f_ff1f,
        1 => 2 << 29 | (r & 0x7f) << 22 | r >> 8 & 0x3f_ff1f,
        2 => [0x1040_0002, 0x1880_0101, 0x7a00_0004, 0x0400_0000][r as usize % 4],
        3 => LOCAL | r & 0xf_ffff,
        4 => r >> 16,
        _ => r,
    }
}

/// Takes any bytes.
pub fn run(s: &mut Source<'_>) {
    let config = Dg2Config {
        keep_events: 16,
        ..Dg2Config::default()
    };
    let memory = Arc::new(VecMemory::new(256 << 10));
    let gpu = Dg2::new(config, memory, Arc::new(NoIrq)).expect("memory");
    start(&gpu);
    let mut tails = [0u32; CONTEXTS as usize];
    while !s.is_empty() {
        let n = s.below(CONTEXTS);
        let (at, tail) = (LOCAL_AT + n * CONTEXT, &mut tails[n as usize]);
        let e = ENGINES[s.below(ENGINES.len() as u64) as usize];
        match s.u8() % 8 {
            // More in a context's ring.
            0..=1 => {
                for _ in 0..=s.below(8) {
                    let word = dword(s).to_le_bytes();
                    gpu.lmem_write(at + RING + u64::from(*tail), &word);
                    *tail = (*tail + 4) % 0x1000;
                }
                gpu.lmem_write(at + 0x1000 + 7 * 4, &(*tail & !7).to_le_bytes());
            }
            // Anything in its image; or a new one.
            2 if s.flag() => {
                gpu.lmem_write(at + 0x1000 + s.below(0x60) * 4, &dword(s).to_le_bytes())
            }
            2 => image(&gpu, n),
            // A list, of what are contexts, or are none.
            3..=4 => {
                for place in 0..=s.below(4) as u32 {
                    let id = s.below(CONTEXTS);
                    let image = u64::from(LOCAL) + id * CONTEXT;
                    let descriptor = match s.u8() % 4 {
                        0 => s.u64(),
                        _ => (id + 1) << 39 | image | 0x119,
                    };
                    gpu.mmio_write32(e.base() + 0x510 + 8 * place, descriptor as u32);
                    gpu.mmio_write32(e.base() + 0x514 + 8 * place, (descriptor >> 32) as u32);
                }
                gpu.mmio_write32(e.base() + 0x550, 1);
            }
            5 => gpu.mmio_write32(e.base() + s.below(0x400) as u32 * 4, s.u32()),
            6 => access(s, &gpu),
            _ => {
                for _ in 0..=s.u8() {
                    gpu.step(e);
                }
            }
        }
    }
    gpu.power_on();
    // GDRST: nothing is being reset (digest, 3.3 row 10).
    assert_eq!(gpu.mmio_read32(0x941c), 0);
}
