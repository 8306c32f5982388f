// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A test rig with a modelled DG2; all values are literals.
//!
//! Global addresses: 0x100000..0x500000 is guest memory from 0 on; 0x1000000..0x3000000 is local
//! memory from 0x100000 on. Each engine's status page is one page of guest memory from 0 on. Context
//! `n` has its image at 0x1000000 + n * 0x20000 and its ring, of one page, 0x10000 behind.
//!
//! Per-process addresses, one table for all contexts, its root at 0x2200000 of local memory:
//! 0x100000000 is guest memory from 0x100000 on (2 MB by 4 KB), 0x100200000 is local memory from
//! 0x2400000 on (2 MB by 64 KB).

#![allow(dead_code)]

use gpu_model::dg2::{Dg2, Dg2Config, EngineId, ENGINES};
use gpu_model::memory::{GuestMemory, VecMemory};
use gpu_model::model::IrqSink;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Global address of guest memory.
pub const SYSTEM: u64 = 0x10_0000;
/// Global address of local memory, and where that begins.
pub const LOCAL: u64 = 0x100_0000;
pub const LOCAL_AT: u64 = 0x10_0000;
/// Root of the per-process table, in local memory.
pub const ROOT: u64 = 0x220_0000;
/// Per-process address of guest memory from 0x100000 on.
pub const USER: u64 = 0x1_0000_0000;
/// Per-process address of local memory from 0x2400000 on.
pub const USER_LOCAL: u64 = 0x1_0020_0000;

/// Counts messages, and keeps the level.
#[derive(Default)]
pub struct CountIrq {
    messages: AtomicU32,
    level: AtomicU32,
}

impl IrqSink for CountIrq {
    fn set_line(&self, asserted: bool) {
        self.level.store(asserted.into(), Ordering::SeqCst);
        if asserted {
            self.messages.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// The model with its memories and its interrupt line.
pub struct Rig {
    pub gpu: Dg2,
    pub memory: Arc<VecMemory>,
    pub irq: Arc<CountIrq>,
}

/// Descriptor of context `n`: valid, 48-bit mode, per-process table; its ID is n + 1.
pub fn descriptor(n: u64) -> u64 {
    (n + 1) << 39 | (0x100_0000 + n * 0x2_0000) | 0x119
}

/// MI_STORE_DATA_IMM of a dword to a global address.
pub fn store(va: u64, value: u32) -> [u32; 4] {
    [0x1040_0002, va as u32, (va >> 32) as u32, value]
}

/// MI_BATCH_BUFFER_START into the per-process space.
pub fn start(va: u64) -> [u32; 3] {
    [0x1880_0101, va as u32, (va >> 32) as u32]
}

pub const NOOP: u32 = 0;
pub const USER_INTERRUPT: u32 = 0x0100_0000;
pub const ARB_CHECK: u32 = 0x0280_0000;
pub const ARB_OFF: u32 = 0x0400_0000;
pub const ARB_ON: u32 = 0x0400_0001;
pub const BATCH_END: u32 = 0x0500_0000;

impl Rig {
    /// As after power-on, with the tables written.
    pub fn bare(cfg: Dg2Config) -> Rig {
        let memory = Arc::new(VecMemory::new(4 << 20));
        let irq = Arc::new(CountIrq::default());
        let gpu = Dg2::new(cfg, memory.clone(), irq.clone()).expect("memory");
        let rig = Rig { gpu, memory, irq };
        rig.prepare();
        rig
    }

    /// Writes both kinds of tables.
    pub fn prepare(&self) {
        for page in 0..0x400 {
            self.gpu.ggtt_write(0x100 + page, page << 12 | 1);
        }
        for page in 0..0x2000 {
            self.gpu.ggtt_write(0x1000 + page, (0x100 + page) << 12 | 3);
        }
        self.tables();
    }

    fn tables(&self) {
        // Bits 47:39 of 0x100000000 are 0, 38:30 are 4, 29:21 are 0, then 1 for the local half.
        self.put_local64(ROOT, 0x0220_1003);
        self.put_local64(ROOT + 0x1000 + 8 * 4, 0x0220_2003);
        self.put_local64(ROOT + 0x2000, 0x0220_3003);
        self.put_local64(ROOT + 0x2000 + 8, 0x0220_4043);
        for i in 0..512 {
            self.put_local64(ROOT + 0x3000 + 8 * i, (0x10_0000 + (i << 12)) | 3);
        }
        for i in 0..32 {
            self.put_local64(ROOT + 0x4000 + 8 * i, (0x240_0000 + (i << 16)) | 0x803);
        }
    }

    /// Brought up: awake, interrupts open, status pages, execlists on.
    pub fn new() -> Rig {
        Self::with(Dg2Config::default())
    }

    /// The same with choices.
    pub fn with(cfg: Dg2Config) -> Rig {
        let engines = cfg.engines;
        let rig = Self::bare(cfg);
        rig.bring_up(engines);
        rig
    }

    /// The same over other memory, of which `memory` is what stands behind it.
    pub fn over(cfg: Dg2Config, memory: Arc<VecMemory>, seen: Arc<dyn GuestMemory>) -> Rig {
        let engines = cfg.engines;
        let irq = Arc::new(CountIrq::default());
        let gpu = Dg2::new(cfg, seen, irq.clone()).expect("memory");
        let rig = Rig { gpu, memory, irq };
        rig.prepare();
        rig.bring_up(engines);
        rig
    }

    /// Wells awake, interrupts open, status pages of these engines, execlists on.
    fn bring_up(&self, engines: u16) {
        self.wake_all();
        for enable in [0x19_0030, 0x19_0034, 0x19_0048] {
            self.set(enable, 0xffff_ffff);
        }
        for mask in [
            0x19_0090, 0x19_00a0, 0x19_00a8, 0x19_00ac, 0x19_00d0, 0x19_0100, 0x19_0104,
        ] {
            self.set(mask, 0);
        }
        self.set(0x19_0008, 1 << 31);
        for e in ENGINES {
            if engines & e.mask() != 0 {
                self.start_engine(e);
            }
        }
    }

    /// Keeps every well awake.
    pub fn wake_all(&self) {
        for request in [0xa188, 0xa278, 0xa540, 0xa548, 0xa560, 0xa564] {
            self.set(request, 0x0001_0001);
        }
    }

    /// Registers of an engine, in the order of digest I9 and E19.
    pub fn start_engine(&self, e: EngineId) {
        let page = SYSTEM as u32 + 0x1000 * e as u32;
        self.eset(e, 0x98, 0xffff_ffff);
        self.eset(e, 0x29c, 0x0008_0008);
        self.eset(e, 0x9c, 0x0100_0000);
        self.eset(e, 0x80, page);
        self.eset(e, 0xb4, 0xffff_ffff);
        self.eset(e, 0xb0, 0xffff_ffff);
        self.eset(e, 0xb4, 0xffff_fffe);
        self.eset(e, 0xa8, 0);
        for at in 0..16 {
            self.eset(e, 0x510 + 4 * at, 0);
        }
        self.eset(e, 0x3a0, 0xffff_0b0b);
        self.put_status(e, 0x2f, 11);
    }

    pub fn reg(&self, offset: u32) -> u32 {
        self.gpu.mmio_read32(offset)
    }

    pub fn set(&self, offset: u32, value: u32) {
        self.gpu.mmio_write32(offset, value);
    }

    /// A register of an engine.
    pub fn ereg(&self, e: EngineId, offset: u32) -> u32 {
        self.reg(e.base() + offset)
    }

    pub fn eset(&self, e: EngineId, offset: u32, value: u32) {
        self.set(e.base() + offset, value);
    }

    /// A dword of an engine's status page.
    pub fn status(&self, e: EngineId, dword: u64) -> u32 {
        self.memory.dword(0x1000 * e as u64 + 4 * dword)
    }

    pub fn put_status(&self, e: EngineId, dword: u64, value: u32) {
        self.put(0x1000 * e as u64 + 4 * dword, &[value]);
    }

    /// An entry of an engine's context status buffer.
    pub fn csb(&self, e: EngineId, entry: u64) -> u64 {
        let low = self.status(e, 0x10 + 2 * entry);
        u64::from(low) | u64::from(self.status(e, 0x11 + 2 * entry)) << 32
    }

    /// Its last written entry.
    pub fn csb_pointer(&self, e: EngineId) -> u32 {
        self.status(e, 0x2f)
    }

    /// Stores dwords in guest memory.
    pub fn put(&self, addr: u64, dwords: &[u32]) {
        self.memory.put_dwords(addr, dwords).expect("in memory");
    }

    /// A dword of guest memory.
    pub fn at(&self, addr: u64) -> u32 {
        self.memory.dword(addr)
    }

    pub fn put_at64(&self, addr: u64, value: u64) {
        self.memory
            .write(addr, &value.to_le_bytes())
            .expect("in memory");
    }

    pub fn put_local(&self, addr: u64, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.gpu.lmem_write(addr, &bytes);
    }

    pub fn put_local64(&self, addr: u64, value: u64) {
        self.gpu.lmem_write(addr, &value.to_le_bytes());
    }

    pub fn local(&self, addr: u64) -> u32 {
        let mut b = [0; 4];
        self.gpu.lmem_read(addr, &mut b);
        u32::from_le_bytes(b)
    }

    /// Returns the address of a context's register page in local memory.
    pub fn page(n: u64) -> u64 {
        LOCAL_AT + n * 0x2_0000 + 0x1000
    }

    /// A dword of a context's register page.
    pub fn image(&self, n: u64, dword: u64) -> u32 {
        self.local(Self::page(n) + 4 * dword)
    }

    pub fn put_image(&self, n: u64, dword: u64, value: u32) {
        self.put_local(Self::page(n) + 4 * dword, &[value]);
    }

    /// A first image of context `n` (digest §4.2): empty ring, engine context inhibited.
    pub fn context(&self, n: u64) {
        let ring = (0x101_0000 + n * 0x2_0000) as u32;
        let mut d = vec![0u32; 0x60];
        d[1] = 0x1108_101d;
        for (i, (register, value)) in [
            (0x244, 0x0009_0009),
            (0x034, 0),
            (0x030, 0),
            (0x038, ring),
            (0x03c, 1),
            (0x168, 0),
            (0x140, 0),
            (0x110, 0x20),
            (0x1c0, 0),
            (0x1c4, 0),
            (0x1c8, 0x340),
            (0x180, 0),
            (0x2b4, 0),
            (0x120, 0),
            (0x124, 0),
        ]
        .into_iter()
        .enumerate()
        {
            (d[2 + 2 * i], d[3 + 2 * i]) = (register, value);
        }
        d[0x21] = 0x1108_1011;
        for (i, (register, value)) in [
            (0x3a8, 0),
            (0x28c, 0),
            (0x288, 0),
            (0x284, 0),
            (0x280, 0),
            (0x27c, 0),
            (0x278, 0),
            (0x274, (ROOT >> 32) as u32),
            (0x270, ROOT as u32),
        ]
        .into_iter()
        .enumerate()
        {
            (d[0x22 + 2 * i], d[0x23 + 2 * i]) = (register, value);
        }
        d[0x34] = 0x0500_0001;
        self.put_local(Self::page(n), &d);
    }

    /// Appends dwords to the ring of context `n`, padded to a quadword, and moves the tail in its
    /// image. Returns the tail.
    pub fn append(&self, n: u64, dwords: &[u32]) -> u32 {
        let ring = LOCAL_AT + 0x1_0000 + n * 0x2_0000;
        let mut at = self.image(n, 7);
        for d in dwords {
            self.put_local(ring + u64::from(at), &[*d]);
            at = (at + 4) % 0x1000;
        }
        if !at.is_multiple_of(8) {
            self.put_local(ring + u64::from(at), &[NOOP]);
            at = (at + 4) % 0x1000;
        }
        self.put_image(n, 7, at);
        at
    }

    /// Writes a queue and loads it.
    pub fn load(&self, e: EngineId, queue: &[u64]) {
        for i in 0..8 {
            let d = queue.get(i as usize).copied().unwrap_or(0);
            self.eset(e, 0x510 + 8 * i, d as u32);
            self.eset(e, 0x514 + 8 * i, (d >> 32) as u32);
        }
        self.eset(e, 0x550, 1);
    }

    /// Context 0 runs dwords on an engine, to the end.
    pub fn run(&self, e: EngineId, dwords: &[u32]) {
        if self.image(0, 1) == 0 {
            self.context(0);
        }
        self.append(0, dwords);
        self.load(e, &[descriptor(0)]);
        self.settle();
    }

    /// Context 0 runs dwords as a program: in a batch of the per-process space.
    pub fn run_batch(&self, e: EngineId, dwords: &[u32]) {
        self.batch(0x8_0000, dwords);
        self.run(e, &start(USER + 0x8_0000));
    }

    /// Puts a batch with its end into guest memory, at an offset from [`USER`].
    pub fn batch(&self, offset: u64, dwords: &[u32]) {
        self.put(0x10_0000 + offset, dwords);
        self.put(
            0x10_0000 + offset + 4 * dwords.len() as u64,
            &[BATCH_END, NOOP],
        );
    }

    pub fn settle(&self) {
        assert!(
            self.gpu.run_until_idle(1_000_000),
            "it does not come to rest"
        );
    }

    /// Takes an engine's events out of the interrupt tree, in the order of digest §5.8. Zero if there
    /// are none.
    pub fn identity(&self, e: EngineId) -> u32 {
        let (bank, bit) = e.interrupt();
        let bank = 4 * bank as u32;
        self.set(0x19_0008, 0);
        let tile = self.reg(0x19_0008);
        self.set(0x19_0008, tile);
        let master = self.reg(0x19_0010);
        self.set(0x19_0010, master);
        let words = self.reg(0x19_0018 + bank);
        let mut identity = 0;
        if words & 1 << bit != 0 {
            self.set(0x19_0070 + bank, 1 << bit);
            identity = self.reg(0x19_0060 + bank);
            self.set(0x19_0060 + bank, 1 << 31);
        }
        self.set(0x19_0018 + bank, words & 1 << bit);
        self.set(0x19_0008, 1 << 31);
        identity
    }

    /// Messages so far.
    pub fn messages(&self) -> u32 {
        self.irq.messages.load(Ordering::SeqCst)
    }

    /// The level that the transport was told.
    pub fn level(&self) -> bool {
        self.irq.level.load(Ordering::SeqCst) != 0
    }

    /// Fails unless no rule was broken and no undocumented register touched.
    pub fn clean(&self) {
        assert_eq!(self.gpu.lints(), vec![], "rules broken");
        assert_eq!(self.gpu.client_lints(), vec![], "rules broken by programs");
        assert_eq!(self.gpu.undocumented(), vec![], "undocumented registers");
    }
}

/// A semaphore in poll mode that waits for a global dword to be this value or more.
pub fn wait(va: u64, value: u32) -> [u32; 6] {
    [0x0e40_9003, value, va as u32, 0, 0, NOOP]
}
