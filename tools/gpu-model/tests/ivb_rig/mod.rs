// SPDX-License-Identifier: GPL-2.0
//! A modelled Ivy Bridge on a bench: memory, page table, rings, all values written as literals.
//!
//! Layout of the global address space, each page mapped to the same bus address unless a test
//! changes it: rings at 0x10000 (rcs), 0x20000 (vcs), 0x30000 (bcs); status pages at 0x40000,
//! 0x41000, 0x42000; batches at 0x50000; targets at 0x80000. Page 0 is not mapped.
//!
//! Offsets are the chapter's (VCS PRM 1.1.1: the render engine's, video 10000h higher); what it leaves
//! out is from the digest, §5 (V-nn).

#![allow(dead_code)]

use gpu_model::memory::VecMemory;
use gpu_model::model::IrqSink;
use gpu_model::ring::chip::IVB;
use gpu_model::ring::{EngineId, RingConfig, RingGpu};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

pub const RCS: EngineId = EngineId::Rcs;
pub const VCS: EngineId = EngineId::Vcs;
pub const BCS: EngineId = EngineId::Bcs;
/// All of them.
pub const ENGINES: [EngineId; 3] = [RCS, VCS, BCS];

/// Guest memory size.
pub const MEMORY: usize = 4 << 20;
/// Where batches go.
pub const BATCH: u32 = 0x50000;
/// Where commands store.
pub const TARGET: u32 = 0x80000;
/// MI_STORE_DATA_IMM through the global table: 0x20 << 23, bit 22, length 2 (1.2.12).
pub const STORE_GLOBAL: u32 = 0x1040_0002;
/// The same through the per-process table.
pub const STORE: u32 = 0x1000_0002;
/// MI_BATCH_BUFFER_START, secure and non-secure, and of the second level (1.2.6).
pub const START: u32 = 0x1880_0000;
pub const START_NS: u32 = 0x1880_0100;
pub const SECOND: u32 = 0x18c0_0000;
pub const SECOND_NS: u32 = 0x18c0_0100;
/// MI_BATCH_BUFFER_END (1.2.4).
pub const END: u32 = 0x0500_0000;
/// MI_LOAD_REGISTER_IMM of one register (1.2.8).
pub const LRI: u32 = 0x1100_0001;

/// Counts messages (rising edges) of the interrupt line.
#[derive(Default)]
pub struct CountIrq(pub AtomicU32);

impl IrqSink for CountIrq {
    fn set_line(&self, asserted: bool) {
        if asserted {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// The bench.
pub struct Rig {
    pub gpu: RingGpu,
    pub memory: Arc<VecMemory>,
    pub irq: Arc<CountIrq>,
}

/// Register block of an engine.
pub fn block(e: EngineId) -> u32 {
    match e {
        EngineId::Rcs => 0x2000,
        EngineId::Vcs => 0x12000,
        EngineId::Bcs => 0x22000,
    }
}

/// HWS_PGA of an engine (1.1.2.2.1; V-09 for the others).
pub fn hws_pga(e: EngineId) -> u32 {
    match e {
        EngineId::Rcs => 0x4080,
        EngineId::Vcs => 0x4180,
        EngineId::Bcs => 0x4280,
    }
}

/// Ring address of an engine.
pub fn ring_base(e: EngineId) -> u32 {
    0x10000 + 0x10000 * (block(e) >> 16)
}

/// Status page of an engine.
pub fn status_page(e: EngineId) -> u32 {
    0x40000 + 0x1000 * (block(e) >> 16)
}

impl Rig {
    /// As it is found, asleep.
    pub fn found(cfg: RingConfig) -> Rig {
        let memory = Arc::new(VecMemory::new(MEMORY));
        let irq = Arc::new(CountIrq::default());
        let gpu = RingGpu::new(cfg, memory.clone(), irq.clone());
        Rig { gpu, memory, irq }
    }

    /// Its choices.
    pub fn choices() -> RingConfig {
        RingConfig::of(&IVB)
    }

    /// Awake, page table filled, nothing else.
    pub fn bare(cfg: RingConfig) -> Rig {
        let rig = Rig::found(cfg);
        let gpu = &rig.gpu;
        gpu.mmio_write32(0xa188, 0x0001_0001);
        for page in 1..(MEMORY as u32 / 4096) {
            // Cached in the LLC (2 in bits 2:1), valid.
            gpu.gtt_write(page, (page << 12) | 0x5);
        }
        gpu.mmio_write32(0x101008, 1);
        rig
    }

    /// All three rings enabled and empty, 4 KB each; status pages set; interrupts masked.
    pub fn new() -> Rig {
        Self::with(Self::choices())
    }

    /// The same with choices.
    pub fn with(cfg: RingConfig) -> Rig {
        let rig = Self::bare(cfg);
        for e in ENGINES {
            rig.start_ring(e);
        }
        rig
    }

    /// Sets up and enables one ring.
    pub fn start_ring(&self, e: EngineId) {
        let b = block(e);
        self.gpu.mmio_write32(hws_pga(e), status_page(e));
        self.gpu.mmio_write32(b + 0x38, ring_base(e));
        self.gpu.mmio_write32(b + 0x34, 0);
        self.gpu.mmio_write32(b + 0x30, 0);
        self.gpu.mmio_write32(b + 0x3c, 0x0000_0001);
        self.room();
    }

    /// Lets the write FIFO drain.
    pub fn room(&self) {
        self.gpu.mmio_read32(0x120008);
    }

    /// Lets all interrupts of all rings through to the line.
    pub fn unmask_interrupts(&self) {
        for e in ENGINES {
            self.gpu.mmio_write32(block(e) + 0xa8, 0);
        }
        self.gpu.mmio_write32(0x44014, 0);
        // All but sync status, which must not be enabled.
        self.gpu.mmio_write32(0x4401c, 0xfeff_bffb);
        self.gpu.mmio_write32(0x4400c, 0x8000_0000);
        self.room();
    }

    /// A per-process table for an engine: its directory in the global table's entries from `slot` on,
    /// one page table at `table`. The groups of PP_DCLV, then PP_DIR_BASE (V-05), then bit 9 of MODE
    /// (1.1.3.4).
    pub fn process_table(&self, e: EngineId, slot: u32, table: u32, groups: u32) {
        self.gpu.gtt_write(slot, table | 1);
        self.set(block(e) + 0x220, groups);
        self.set(block(e) + 0x228, (slot * 4) << 10);
        self.set(block(e) + 0x29c, 0x0200_0200);
    }

    /// Appends dwords to a ring at its tail, around the end of the ring, and moves the tail.
    pub fn submit(&self, e: EngineId, dwords: &[u32]) {
        let b = block(e);
        let size = (self.gpu.mmio_read32(b + 0x3c) & 0x1f_f000) + 0x1000;
        let mut tail = self.gpu.mmio_read32(b + 0x30);
        let base = self.gpu.mmio_read32(b + 0x38);
        for d in dwords {
            self.put(base + tail, &[*d]);
            tail = (tail + 4) % size;
        }
        if !tail.is_multiple_of(8) {
            self.put(base + tail, &[0]);
            tail = (tail + 4) % size;
        }
        self.gpu.mmio_write32(b + 0x30, tail);
        self.room();
    }

    /// Submits and runs everything to the end.
    pub fn run(&self, e: EngineId, dwords: &[u32]) {
        self.submit(e, dwords);
        assert!(
            self.gpu.run_until_idle(100_000),
            "engines do not come to rest"
        );
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
        self.room();
    }

    /// Messages sent so far.
    pub fn messages(&self) -> u32 {
        self.irq.0.load(Ordering::SeqCst)
    }

    /// Fails unless no rule was broken and no undocumented register touched.
    pub fn clean(&self) {
        assert_eq!(self.gpu.lints(), vec![], "rules broken");
        assert_eq!(self.gpu.client_lints(), vec![], "rules broken in batches");
        assert_eq!(self.gpu.undocumented(), vec![], "undocumented registers");
    }
}
