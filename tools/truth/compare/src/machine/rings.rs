// SPDX-License-Identifier: GPL-2.0
//! Chips with a ring for each engine: Gen4, Sandy Bridge, Ivy Bridge. Values are literals from the manuals, as in
//! the model's own tests: there is nothing that a driver of this project could have got wrong for them.
//!
//! Addresses are the same in the global table, in the per-process one, and on the bus.

use std::sync::Arc;

use gpu_model::memory::{GuestMemory, VecMemory};
use gpu_model::model::NoIrq;
use gpu_model::ring::{Chip, EngineId, RingConfig, RingGpu, ENGINES};
use ouro_streams::file::Left;
use ouro_streams::{Engine, Family, Stream};

use super::{answer, Machine};

/// Bytes of memory.
const MEMORY: usize = 8 << 20;
/// Pages of it.
const PAGES: u32 = (MEMORY >> 12) as u32;
/// Rings and status pages of the engines, each one page.
const RING: u32 = 0x1_0000;
const STATUS: u32 = 0x4_0000;
/// Two page tables of the per-process table, for 8 MB.
const TABLES: u32 = 0x4_8000;
/// The directory of that: an entry of the global table, and as many as it has.
const DIRECTORY: u32 = 0x1000;
/// The batch.
const BATCH: u32 = 0x10_0000;
/// The first buffer.
const BUFFERS: u32 = 0x20_0000;
/// Most commands of a stream, and more.
const COMMANDS: usize = 100_000;

/// MI_BATCH_BUFFER_START, not privileged; on Gen4 bit 7 says that the address is one of graphics (G45 PRM Vol 1b
/// §1.5).
const START: u32 = 0x1880_0100;
const START_GEN4: u32 = 0x1880_0180;

/// MI_FLUSH, by which Gen4 writes its render cache back (G45 PRM Vol 1b §1.7).
const FLUSH: u32 = 0x0200_0000;

/// A chip with rings.
pub struct Rings {
    chip: &'static Chip,
    family: Family,
    swizzle: bool,
    gpu: RingGpu,
    memory: Arc<VecMemory>,
    tails: [u32; 3],
}

/// An engine's number: of its ring, its status page.
fn number(e: EngineId) -> u32 {
    e as u32
}

impl Rings {
    /// Brings a chip up.
    pub fn new(chip: &'static Chip, swizzle: bool) -> (Family, Rings) {
        let family = match chip.name {
            "snb" => Family::Gen6,
            "ivb" => Family::Gen7,
            _ => Family::Gen4,
        };
        let memory = Arc::new(VecMemory::new(MEMORY));
        let cfg = RingConfig {
            swizzle,
            ..RingConfig::of(chip)
        };
        let gpu = RingGpu::new(cfg, memory.clone(), Arc::new(NoIrq));
        let rings = Rings {
            chip,
            family,
            swizzle,
            gpu,
            memory,
            tails: [0; 3],
        };
        rings.start();
        (family, rings)
    }

    fn set(&self, register: u32, value: u32) {
        self.gpu.mmio_write32(register, value);
        if self.family != Family::Gen4 {
            // GTFIFOCTL: a read lets the FIFO of register writes drain.
            self.gpu.mmio_read32(0x12_0008);
        }
    }

    fn put(&self, at: u32, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        // All places of this file lie in the memory.
        let _ = self.memory.write(u64::from(at), &bytes);
    }

    /// Register block of an engine.
    fn block(&self, e: EngineId) -> u32 {
        match (self.family, e) {
            (_, EngineId::Rcs) => 0x2000,
            (Family::Gen4, _) => 0x4000,
            (_, EngineId::Vcs) => 0x1_2000,
            (_, EngineId::Bcs) => 0x2_2000,
        }
    }

    fn has(&self, e: EngineId) -> bool {
        self.chip.engines.iter().any(|row| row.id == e)
    }

    fn start(&self) {
        match self.family {
            // FORCEWAKE_MT (digest of Sandy Bridge, G-15; of Ivy Bridge, V-04).
            Family::Gen6 => self.set(0xa18c, 0x0001_0001),
            Family::Gen7 => self.set(0xa188, 0x0001_0001),
            _ => {}
        }
        // Valid; cached in the LLC where there is one.
        let bits = match self.family {
            Family::Gen4 => 1,
            _ => 5,
        };
        for page in 1..PAGES {
            self.gpu.gtt_write(page, page << 12 | bits);
        }
        if self.family == Family::Gen4 {
            if self.chip.gen4.is_some_and(|gen4| !gen4.g4x) {
                // PGTBL_CTL bit 0 (digest of Gen4, G-06).
                self.set(0x2020, self.gpu.mmio_read32(0x2020) | 1);
            }
        } else {
            self.set(0x10_1008, 1);
            self.tables();
        }
        for e in ENGINES {
            if self.has(e) {
                self.start_ring(e);
            }
        }
    }

    /// The per-process table: everything where it is in the global one.
    fn tables(&self) {
        for page in 0..PAGES {
            self.put(TABLES + 4 * page, &[page << 12 | 5]);
        }
        for n in 0..512 {
            let table = TABLES + 0x1000 * (n % 2);
            self.gpu.gtt_write(DIRECTORY + n, table | 1);
        }
        for e in ENGINES {
            // PP_DCLV, PP_DIR_BASE in units of 64 bytes of the table's own storage (SNB PRM V1P2 §2.3.1).
            self.set(self.block(e) + 0x220, 0xffff_ffff);
            self.set(self.block(e) + 0x228, (DIRECTORY * 4 / 64) << 16);
            // GFX_MODE bit 9: the table is on; Ivy Bridge has it for each engine (VCS PRM 1.1.3.4).
            match (self.family, e) {
                (Family::Gen7, _) => self.set(self.block(e) + 0x29c, 0x0200_0200),
                (_, EngineId::Rcs) => self.set(0x2520, 0x0200_0200),
                _ => {}
            }
        }
    }

    fn start_ring(&self, e: EngineId) {
        let page = STATUS + 0x1000 * number(e);
        let status = match (self.family, e) {
            (Family::Gen7, EngineId::Rcs) => 0x4080,
            (Family::Gen7, EngineId::Vcs) => 0x4180,
            (Family::Gen7, EngineId::Bcs) => 0x4280,
            // Digest of Sandy Bridge, G-20.
            (Family::Gen6, _) => self.block(e) + 0x2080,
            _ => self.block(e) + 0x80,
        };
        self.set(status, page);
        let block = self.block(e);
        for (register, value) in [
            (0x38, RING + 0x1000 * number(e)),
            (0x34, 0),
            (0x30, 0),
            (0x3c, 1),
        ] {
            self.set(block + register, value);
        }
    }

    /// Appends four dwords to a ring of one page, and moves the tail.
    fn submit(&mut self, e: EngineId, dwords: [u32; 4]) {
        let tail = &mut self.tails[number(e) as usize];
        let at = RING + 0x1000 * number(e) + *tail;
        *tail = (*tail + 16) % 0x1000;
        let tail = *tail;
        self.put(at, &dwords);
        let wakes = self.family == Family::Gen6 && e == EngineId::Vcs;
        if wakes {
            // The video engine is woken before its tail is written (digest of Sandy Bridge, G-37).
            self.gpu.mmio_write32(0x1_2050, 0x0001_0001);
            self.gpu.mmio_write64(0x1_2198, 0);
            for _ in 0..100 {
                if self.gpu.mmio_read32(0x1_2050) & 8 == 0 {
                    break;
                }
            }
        }
        self.set(self.block(e) + 0x30, tail);
        if wakes {
            self.set(0x1_2050, 0x0001_0000);
        }
    }

    fn engine(&self, engine: Engine) -> EngineId {
        match (engine, self.family) {
            (Engine::Render, _) | (Engine::Blitter, Family::Gen4) => EngineId::Rcs,
            (Engine::Blitter, _) => EngineId::Bcs,
            (Engine::Video, _) => EngineId::Vcs,
        }
    }
}

impl Machine for Rings {
    fn run(&mut self, stream: &Stream) -> Left {
        let mut next = BUFFERS;
        let mut places = Vec::new();
        for buffer in &stream.buffers {
            places.push(u64::from(next));
            let _ = self.memory.write(u64::from(next), &buffer.bytes);
            // A page between them, which holds what is written beyond the end.
            next += buffer.bytes.len() as u32 + 0x1000;
        }
        self.put(BATCH, &stream.placed(BATCH.into(), &places));
        let e = self.engine(stream.engine);
        let (start, flush) = match self.family {
            Family::Gen4 => (START_GEN4, FLUSH),
            _ => (START, 0),
        };
        self.submit(e, [start, BATCH, flush, 0]);
        let block = self.block(e);
        let rests = self.gpu.run_until_idle(COMMANDS);
        let head = self.gpu.mmio_read32(block + 0x34) & 0x1f_fffc;
        if !rests || head != self.tails[number(e) as usize] {
            // The next stream has a model that works.
            let reason = format!("the engine stops: {:?}", self.gpu.stop_reason(e));
            *self = Rings::new(self.chip, self.swizzle).1;
            return Left::Refused(reason);
        }
        answer(stream, |index, bytes| {
            let _ = self.memory.read(places[index], bytes);
        })
    }

    fn broken(&self) -> Vec<String> {
        let lints = self.gpu.lints().into_iter().chain(self.gpu.client_lints());
        let mut all: Vec<String> = lints.map(|(rule, n)| format!("{rule:?}: {n}")).collect();
        let unknown = self.gpu.undocumented();
        all.extend(unknown.iter().map(|(at, ..)| format!("register {at:#x}")));
        all
    }
}
