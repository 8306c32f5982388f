// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A test rig with a modelled Gen4 chip: memory, page table and ring; all values are literals. Chapters are those of
//! G45 PRM V1b; what it leaves out is from the digest of Gen4 (G-nn).
//!
//! Layout of the global address space, each page mapped to the same bus address unless a test changes it: rings at
//! 0x10000 (rcs) and 0x20000 (vcs), 4 KB each; status pages at 0x40000 and 0x41000; batches at 0x50000; targets at
//! 0x80000. Page 0 is not mapped.

#![allow(dead_code)]

use gpu_model::memory::VecMemory;
use gpu_model::model::IrqSink;
use gpu_model::ring::chip::{Chip, G45, G965, GM45, GM965};
use gpu_model::ring::{EngineId, RingConfig, RingGpu};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

pub const RCS: EngineId = EngineId::Rcs;
pub const VCS: EngineId = EngineId::Vcs;

/// All four.
pub const ALL: [&Chip; 4] = [&G45, &GM45, &G965, &GM965];
/// Those with the newer memory interface.
pub const G4X: [&Chip; 2] = [&G45, &GM45];
/// Their elders.
pub const I965: [&Chip; 2] = [&G965, &GM965];

/// Guest memory size.
pub const MEMORY: usize = 4 << 20;
/// Where rings, status pages, batches and targets are.
pub const RING: u32 = 0x10000;
pub const STATUS: u32 = 0x40000;
pub const BATCH: u32 = 0x50000;
pub const TARGET: u32 = 0x80000;

/// MI_FLUSH, which flushes the render cache (1.7).
pub const FLUSH: u32 = 0x0200_0000;
/// MI_BATCH_BUFFER_START of a graphics address, secure and non-secure (1.5).
pub const START: u32 = 0x1880_0080;
pub const START_NS: u32 = 0x1880_0180;
/// MI_BATCH_BUFFER_END (1.4).
pub const END: u32 = 0x0500_0000;
/// MI_STORE_DATA_IMM of a dword to a graphics address, and to one of the bus (1.16).
pub const STORE: u32 = 0x1040_0002;
pub const STORE_PHYSICAL: u32 = 0x1000_0002;
/// MI_STORE_DATA_INDEX of a dword (1.17).
pub const INDEX: u32 = 0x1080_0001;
/// MI_LOAD_REGISTER_IMM of one register (1.8).
pub const LRI: u32 = 0x1100_0001;
/// MI_USER_INTERRUPT (1.20).
pub const USER: u32 = 0x0100_0000;

/// Counts rises of the interrupt line, and what it is.
#[derive(Default)]
pub struct CountIrq {
    pub rises: AtomicU32,
    pub level: AtomicU32,
}

impl IrqSink for CountIrq {
    fn set_line(&self, asserted: bool) {
        self.level.store(asserted.into(), Ordering::SeqCst);
        if asserted {
            self.rises.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// The model with its memory and its interrupt line.
pub struct Rig {
    pub gpu: RingGpu,
    pub memory: Arc<VecMemory>,
    pub irq: Arc<CountIrq>,
    pub g4x: bool,
}

/// Register block of an engine (G-04).
pub fn block(e: EngineId) -> u32 {
    if e == VCS {
        0x4000
    } else {
        0x2000
    }
}

/// Ring and status page of an engine.
pub fn ring_base(e: EngineId) -> u32 {
    RING + 0x1_0000 * e as u32
}

pub fn status_page(e: EngineId) -> u32 {
    STATUS + 0x1000 * e as u32
}

impl Rig {
    /// As it is found.
    pub fn found(cfg: RingConfig) -> Self {
        let memory = Arc::new(VecMemory::new(MEMORY));
        let irq = Arc::new(CountIrq::default());
        let g4x = cfg.chip.gen4.expect("of Gen4").g4x;
        let gpu = RingGpu::new(cfg, memory.clone(), irq.clone());
        Rig {
            gpu,
            memory,
            irq,
            g4x,
        }
    }

    /// Page table filled and switched on, nothing else.
    pub fn bare(cfg: RingConfig) -> Self {
        let rig = Self::found(cfg);
        for page in 1..(MEMORY as u32 / 4096) {
            // Unsnooped, valid (G-08).
            rig.gpu.gtt_write(page, page << 12 | 1);
        }
        if !rig.g4x {
            rig.enable_table();
        }
        rig
    }

    /// PGTBL_CTL bit 0 (G-06).
    pub fn enable_table(&self) {
        self.set(0x2020, self.reg(0x2020) | 1);
    }

    /// All rings enabled and empty; status pages set; interrupts masked.
    pub fn new(chip: &'static Chip) -> Self {
        Self::with(RingConfig::of(chip))
    }

    /// The same with choices.
    pub fn with(cfg: RingConfig) -> Self {
        let rig = Self::bare(cfg);
        for e in rig.engines() {
            rig.start_ring(*e);
        }
        rig
    }

    /// Engines of the chip.
    pub fn engines(&self) -> &'static [EngineId] {
        if self.g4x {
            &[RCS, VCS]
        } else {
            &[RCS]
        }
    }

    /// Sets up and enables one ring.
    pub fn start_ring(&self, e: EngineId) {
        let b = block(e);
        self.set(b + 0x80, status_page(e));
        self.set(b + 0x38, ring_base(e));
        self.set(b + 0x34, 0);
        self.set(b + 0x30, 0);
        self.set(b + 0x3c, 1);
    }

    /// Lets all interrupts but sync status through (5.4.3).
    pub fn unmask_interrupts(&self) {
        self.set(0x20a8, 0);
        self.set(0x20a0, !(1 << 12));
    }

    /// Appends dwords to a ring at its tail, around the end of the ring, and moves the tail.
    pub fn submit(&self, e: EngineId, dwords: &[u32]) {
        let b = block(e);
        let size = (self.reg(b + 0x3c) & 0x1f_f000) + 0x1000;
        let base = self.reg(b + 0x38);
        let mut tail = self.reg(b + 0x30);
        for d in dwords {
            self.put(base + tail, &[*d]);
            tail = (tail + 4) % size;
        }
        if !tail.is_multiple_of(8) {
            self.put(base + tail, &[0]);
            tail = (tail + 4) % size;
        }
        self.set(b + 0x30, tail);
    }

    /// Submits and runs everything to the end.
    pub fn run(&self, e: EngineId, dwords: &[u32]) {
        self.submit(e, dwords);
        self.settle();
    }

    /// Runs until nothing goes on.
    pub fn settle(&self) {
        assert!(
            self.gpu.run_until_idle(100_000),
            "engines do not come to rest"
        );
    }

    /// A batch at [`BATCH`], run from the render ring with this header.
    pub fn batch(&self, header: u32, dwords: &[u32]) {
        self.put(BATCH, dwords);
        self.put(BATCH + 4 * dwords.len() as u32, &[END, 0]);
        self.run(RCS, &[header, BATCH]);
    }

    /// Stores dwords in memory.
    pub fn put(&self, addr: u32, dwords: &[u32]) {
        self.memory
            .put_dwords(u64::from(addr), dwords)
            .expect("in memory");
    }

    /// One dword of memory.
    pub fn at(&self, addr: u32) -> u32 {
        self.memory.dword(u64::from(addr))
    }

    /// One register.
    pub fn reg(&self, offset: u32) -> u32 {
        self.gpu.mmio_read32(offset)
    }

    /// Writes one register.
    pub fn set(&self, offset: u32, value: u32) {
        self.gpu.mmio_write32(offset, value);
    }

    /// Reads and writes the reset byte (G-20).
    pub fn reset_byte(&self) -> u8 {
        let mut byte = [0];
        self.gpu.config_read_at(0xc0, &mut byte);
        byte[0]
    }

    pub fn set_reset_byte(&self, value: u8) {
        self.gpu.config_write_at(0xc0, &[value]);
    }

    /// A dword of the configuration space.
    pub fn config(&self, offset: usize) -> u32 {
        let mut b = [0; 4];
        self.gpu.config_read_at(offset, &mut b);
        u32::from_le_bytes(b)
    }

    /// Rises of the line so far, and its level.
    pub fn rises(&self) -> u32 {
        self.irq.rises.load(Ordering::SeqCst)
    }

    pub fn level(&self) -> bool {
        self.irq.level.load(Ordering::SeqCst) != 0
    }

    /// Fails unless no rule was broken and no undocumented register touched.
    pub fn clean(&self) {
        assert_eq!(self.gpu.lints(), vec![], "rules broken");
        assert_eq!(self.gpu.client_lints(), vec![], "rules broken in batches");
        assert_eq!(self.gpu.undocumented(), vec![], "undocumented registers");
    }
}

/// XY_COLOR_BLT of 32 bits, raster operation F0h (8.9.8): a rectangle of one colour, linear.
pub fn fill(base: u32, pitch: u32, x: (u32, u32), y: (u32, u32), colour: u32) -> [u32; 6] {
    [
        0x5430_0004,
        0x03f0_0000 | pitch,
        y.0 << 16 | x.0,
        y.1 << 16 | x.1,
        base,
        colour,
    ]
}
