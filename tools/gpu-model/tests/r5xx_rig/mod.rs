// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A test rig with a modelled R5xx: video memory, guest memory, GART and ring; all values are literals.
//!
//! Addresses of the chip: video memory from 0, 16 MB; the GART's range right above, 1 MB from
//! 0x1000000, its table at the end of video memory (0xfff000), each page mapped to the same offset of
//! guest memory. Ring at 0x1000000 (4 KB), write-back page at 0x1001000, indirect buffers from
//! 0x1002000. Canvases of tests are in video memory.

#![allow(dead_code)]

pub mod canvas;
pub mod draw;
pub mod picture;

use gpu_model::memory::VecMemory;
use gpu_model::model::IrqSink;
use gpu_model::r5xx::{Chip, R5xx, R5xxConfig};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// First address of the GART's range.
pub const GTT: u32 = 0x0100_0000;
/// Its size.
pub const GTT_SIZE: u32 = 1 << 20;
/// Where the GART's table is.
pub const TABLE: u64 = 0x00ff_f000;
/// The ring, in guest memory.
pub const RING: u64 = 0;
/// The page of write-backs, in guest memory.
pub const WRITE_BACK: u64 = 0x1000;
/// Room for indirect buffers, in guest memory.
pub const INDIRECT: u64 = 0x2000;

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

/// The model with its memory and its interrupt line.
pub struct Rig {
    pub gpu: R5xx,
    pub memory: Arc<VecMemory>,
    pub irq: Arc<CountIrq>,
}

/// The small chip, with its defaults.
pub fn config(name: &str) -> R5xxConfig {
    R5xxConfig::new(Chip::named(name).expect("a chip"))
}

/// Header of a type-0 packet: registers from a byte offset on.
pub fn type0(offset: u32, count: u32) -> u32 {
    ((count - 1) << 16) | (offset / 4)
}

/// Header of a type-3 packet with so many body dwords.
pub fn type3(opcode: u32, count: usize) -> u32 {
    0xc000_0000 | (count as u32 - 1) << 16 | opcode << 8
}

/// A whole type-3 packet.
pub fn packet(opcode: u32, body: &[u32]) -> Vec<u32> {
    let mut all = vec![type3(opcode, body.len())];
    all.extend(body);
    all
}

impl Rig {
    /// As after power-on.
    pub fn bare(cfg: R5xxConfig) -> Rig {
        let memory = Arc::new(VecMemory::new(GTT_SIZE as usize));
        let irq = Arc::new(CountIrq::default());
        let gpu = R5xx::new(cfg, memory.clone(), irq.clone()).expect("memory");
        Rig { gpu, memory, irq }
    }

    /// Brought up: ranges, GART, microcode, ring.
    pub fn new() -> Rig {
        Self::with(config("rv515"))
    }

    /// The same with choices.
    pub fn with(cfg: R5xxConfig) -> Rig {
        let rig = Self::bare(cfg);
        rig.start_gart();
        rig.load_microcode();
        rig.start_ring();
        rig
    }

    pub fn reg(&self, offset: u32) -> u32 {
        self.gpu.mmio_read32(offset)
    }

    pub fn set(&self, offset: u32, value: u32) {
        self.gpu.mmio_write32(offset, value);
    }

    /// A PCIE register.
    pub fn pcie(&self, index: u32) -> u32 {
        self.set(0x30, index);
        self.reg(0x34)
    }

    pub fn set_pcie(&self, index: u32, value: u32) {
        self.set(0x30, index);
        self.set(0x34, value);
    }

    /// A memory controller register.
    pub fn mc(&self, index: u32) -> u32 {
        self.set(0x70, 0x7f_0000 | index);
        let value = self.reg(0x74);
        self.set(0x70, 0);
        value
    }

    pub fn set_mc(&self, index: u32, value: u32) {
        self.set(0x70, 0xff_0000 | index);
        self.set(0x74, value);
        self.set(0x70, 0);
    }

    /// Writes an entry of the GART's table: readable, writeable.
    pub fn map(&self, page: u32, bus: u64) {
        let entry = (bus >> 32 << 24) as u32 | (bus >> 8) as u32 & 0x00ff_fff0 | 0xc;
        self.set_entry(page, entry);
    }

    pub fn set_entry(&self, page: u32, entry: u32) {
        self.put(TABLE as u32 + 4 * page, &[entry]);
    }

    pub fn flush_gart(&self) {
        let control = self.pcie(0x10);
        self.set_pcie(0x10, control | 1 << 8);
        self.set_pcie(0x10, control);
    }

    /// In the order of digest §5.2.
    pub fn start_gart(&self) {
        for page in 0..GTT_SIZE / 4096 {
            self.map(page, u64::from(page) * 4096);
        }
        self.set_pcie(0x10, 3 << 1);
        self.set_pcie(0x14, GTT);
        self.set_pcie(0x16, GTT + GTT_SIZE - 4096);
        self.set_pcie(0x15, 0);
        self.set_pcie(0x17, 0);
        self.set_pcie(0x13, TABLE as u32);
        self.set_pcie(0x11, 0);
        self.set_pcie(0x12, 0);
        self.set_pcie(0x18, 0);
        self.set_pcie(0x10, 3 << 1 | 1);
        self.flush_gart();
        self.flush_gart();
    }

    pub fn load_microcode(&self) {
        self.set(0x7d4, 0);
        for word in 0..256u32 {
            self.set(0x7dc, word & 0xff);
            self.set(0x7e0, if word < 0xfc { !word } else { 0 });
        }
    }

    /// In the order of digest §5.2: a ring of 4 KB, write-back on.
    pub fn start_ring(&self) {
        // 5:0 log2 of the quadwords: 512. 13:8 blocks of 64 quadwords.
        let control = 6 << 8 | 9;
        self.set(0x718, 0x40);
        self.set(0x704, control | 1 << 27);
        self.set(0x700, GTT + RING as u32);
        self.set(0x704, control | 1 << 31 | 1 << 27);
        self.set(0x71c, 0);
        self.set(0x714, 0);
        self.set(0x70c, GTT + WRITE_BACK as u32 + 1024);
        self.set(0x774, GTT + WRITE_BACK as u32);
        self.set(0x770, 0xff);
        self.set(0x704, control);
        self.set(0x744, 0x1050);
        self.set(0x718, 0);
        self.set(0x744, 0x4d4d);
        self.set(0x740, 4 << 28);
    }

    /// Appends dwords to the ring and moves the write pointer.
    pub fn submit(&self, dwords: &[u32]) {
        let mut at = self.reg(0x714);
        for d in dwords {
            self.put_guest(RING + 4 * u64::from(at), &[*d]);
            at = (at + 1) % 1024;
        }
        self.set(0x714, at);
    }

    /// Runs everything to the end.
    pub fn run(&self, dwords: &[u32]) {
        self.submit(dwords);
        self.settle();
    }

    pub fn settle(&self) {
        assert!(
            self.gpu.run_until_idle(1_000_000),
            "it does not come to rest"
        );
    }

    /// Runs dwords as a program's: in an indirect buffer.
    pub fn run_indirect(&self, dwords: &[u32]) {
        self.put_guest(INDIRECT, dwords);
        self.run(&[type0(0x738, 2), GTT + INDIRECT as u32, dwords.len() as u32]);
    }

    /// Stores dwords in guest memory.
    pub fn put_guest(&self, addr: u64, dwords: &[u32]) {
        self.memory.put_dwords(addr, dwords).expect("in memory");
    }

    /// One dword of guest memory.
    pub fn guest(&self, addr: u64) -> u32 {
        self.memory.dword(addr)
    }

    /// Stores dwords in video memory, by the CPU.
    pub fn put(&self, offset: u32, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.gpu.aperture_write(offset.into(), &bytes);
    }

    /// One dword of video memory, by the CPU.
    pub fn at(&self, offset: u32) -> u32 {
        let mut b = [0; 4];
        self.gpu.aperture_read(offset.into(), &mut b);
        u32::from_le_bytes(b)
    }

    /// Messages, or rising edges, so far.
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
