// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A test rig with a modelled ring streamer: memory, page table and rings; all values are literals. A
//! [`TestChip`] holds the values that differ between chips.
//!
//! Layout of the global address space, each page mapped to the same bus address unless a test
//! changes it: rings at 0x10000 (rcs), 0x20000 (vcs), 0x30000 (bcs); status pages at 0x40000,
//! 0x41000, 0x42000; batches at 0x50000; targets at 0x80000. Page 0 is not mapped.

#![allow(dead_code)]

use gpu_model::memory::VecMemory;
use gpu_model::model::IrqSink;
use gpu_model::ring::{EngineId, RingConfig, RingGpu};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Guest memory size.
pub const MEMORY: usize = 4 << 20;
/// Where batches go.
pub const BATCH: u32 = 0x50000;
/// Where commands store.
pub const TARGET: u32 = 0x80000;

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

/// The values of a chip that its tests need.
pub trait TestChip {
    /// The register by which it is asked to stay awake.
    const WAKE: u32;
    /// The video ring's tail is written with a handshake (G-37).
    const HANDSHAKE: bool;

    /// HWS_PGA of an engine.
    fn hws_pga(e: EngineId) -> u32;

    /// Its choices.
    fn choices() -> RingConfig;
}

/// The model with its memory and its interrupt line.
pub struct Rig<C> {
    pub gpu: RingGpu,
    pub memory: Arc<VecMemory>,
    pub irq: Arc<CountIrq>,
    chip: PhantomData<C>,
}

/// Ring address of an engine.
pub fn ring_base(e: EngineId) -> u32 {
    match e {
        EngineId::Rcs => 0x10000,
        EngineId::Vcs => 0x20000,
        EngineId::Bcs => 0x30000,
    }
}

/// Status page of an engine.
pub fn status_page(e: EngineId) -> u32 {
    match e {
        EngineId::Rcs => 0x40000,
        EngineId::Vcs => 0x41000,
        EngineId::Bcs => 0x42000,
    }
}

/// Register block of an engine.
pub fn block(e: EngineId) -> u32 {
    match e {
        EngineId::Rcs => 0x2000,
        EngineId::Vcs => 0x12000,
        EngineId::Bcs => 0x22000,
    }
}

impl<C: TestChip> Rig<C> {
    /// The chip's choices.
    pub fn choices() -> RingConfig {
        C::choices()
    }

    /// As it is found, asleep.
    pub fn found(cfg: RingConfig) -> Self {
        let memory = Arc::new(VecMemory::new(MEMORY));
        let irq = Arc::new(CountIrq::default());
        let gpu = RingGpu::new(cfg, memory.clone(), irq.clone());
        Rig {
            gpu,
            memory,
            irq,
            chip: PhantomData,
        }
    }

    /// Awake, page table filled, nothing else.
    pub fn bare(cfg: RingConfig) -> Self {
        let rig = Self::found(cfg);
        let gpu = &rig.gpu;
        gpu.mmio_write32(C::WAKE, 0x0001_0001);
        for page in 1..(MEMORY as u32 / 4096) {
            // Cached in the LLC (2 in bits 2:1), valid.
            gpu.gtt_write(page, (page << 12) | 0x5);
        }
        gpu.mmio_write32(0x101008, 1);
        rig
    }

    /// All three rings enabled and empty, 4 KB each; status pages set; interrupts masked.
    pub fn new() -> Self {
        Self::with(C::choices())
    }

    /// The same with choices.
    pub fn with(cfg: RingConfig) -> Self {
        let rig = Self::bare(cfg);
        for e in gpu_model::ring::ENGINES {
            rig.start_ring(e);
        }
        rig
    }

    /// Sets up and enables one ring.
    pub fn start_ring(&self, e: EngineId) {
        let b = block(e);
        self.gpu.mmio_write32(C::hws_pga(e), status_page(e));
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
        for e in gpu_model::ring::ENGINES {
            self.gpu.mmio_write32(block(e) + 0xa8, 0);
        }
        self.gpu.mmio_write32(0x44014, 0);
        // All but sync status, which must not be enabled (§5.4.3).
        self.gpu.mmio_write32(0x4401c, 0xfeff_bffb);
        self.gpu.mmio_write32(0x4400c, 0x8000_0000);
        self.room();
    }

    /// Appends dwords to a ring at its tail, around the end of the ring, and moves the tail. On
    /// the video ring with the documented handshake, where the chip has it.
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
        if C::HANDSHAKE && e == EngineId::Vcs {
            self.gpu.mmio_write32(0x12050, 0x0001_0001);
            self.gpu.mmio_write64(0x12198, 0);
            while self.gpu.mmio_read32(0x12050) & 8 != 0 {}
        }
        self.gpu.mmio_write32(b + 0x30, tail);
        if C::HANDSHAKE && e == EngineId::Vcs {
            self.gpu.mmio_write32(0x12050, 0x0001_0000);
        }
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
