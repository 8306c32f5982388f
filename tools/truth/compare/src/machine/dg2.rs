// SPDX-License-Identifier: GPL-2.0
//! DG2: a list with one context, whose ring starts the stream. Values are literals from the document and its digest,
//! as in the model's own tests.
//!
//! Memory of the system is at the same place in the global table, 100000h higher, and in the per-process one from
//! 100000000h on. Context, ring and tables are in the card's memory.

use std::sync::Arc;

use gpu_model::dg2::{Dg2, Dg2Config, EngineId, ENGINES};
use gpu_model::memory::{GuestMemory, VecMemory};
use gpu_model::model::NoIrq;
use ouro_streams::file::Left;
use ouro_streams::{Engine, Stream};

use super::{answer, Machine};

/// Bytes of the system's memory.
const MEMORY: usize = 4 << 20;
/// Global address of it.
const SYSTEM: u32 = 0x10_0000;
/// Where the card's memory is that the global table shows from 1000000h on.
const LOCAL_AT: u64 = 0x10_0000;
/// Root of the per-process table, in the card's memory.
const ROOT: u64 = 0x220_0000;
/// Per-process address of the system's memory from 100000h on: 2 MB.
const USER: u64 = 0x1_0000_0000;
/// What that is.
const USER_AT: u64 = 0x10_0000;
/// The first buffer, behind the batch.
const BUFFERS: u64 = 0x2_0000;
/// Most steps of a stream, and more.
const STEPS: usize = 1_000_000;

/// A modelled DG2.
pub struct Lists {
    gpu: Dg2,
    memory: Arc<VecMemory>,
    /// Contexts so far: each stream has one of its own, as after a reset.
    contexts: u64,
}

impl Lists {
    /// Brings one up.
    ///
    /// # Errors
    /// When its memory cannot be had.
    pub fn new() -> anyhow::Result<Lists> {
        let memory = Arc::new(VecMemory::new(MEMORY));
        let gpu = Dg2::new(Dg2Config::default(), memory.clone(), Arc::new(NoIrq))?;
        let lists = Lists {
            gpu,
            memory,
            contexts: 0,
        };
        lists.start();
        Ok(lists)
    }

    fn set(&self, register: u32, value: u32) {
        self.gpu.mmio_write32(register, value);
    }

    fn put_local(&self, at: u64, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.gpu.lmem_write(at, &bytes);
    }

    fn put_local64(&self, at: u64, value: u64) {
        self.gpu.lmem_write(at, &value.to_le_bytes());
    }

    fn start(&self) {
        for page in 0..0x400 {
            self.gpu.ggtt_write(0x100 + page, page << 12 | 1);
        }
        for page in 0..0x2000 {
            self.gpu.ggtt_write(0x1000 + page, (0x100 + page) << 12 | 3);
        }
        // Bits 47:39 of 100000000h are 0, 38:30 are 4, 29:21 are 0.
        self.put_local64(ROOT, 0x0220_1003);
        self.put_local64(ROOT + 0x1000 + 8 * 4, 0x0220_2003);
        self.put_local64(ROOT + 0x2000, 0x0220_3003);
        for i in 0..512 {
            self.put_local64(ROOT + 0x3000 + 8 * i, (USER_AT + (i << 12)) | 3);
        }
        // Every well awake.
        for request in [0xa188, 0xa278, 0xa540, 0xa548, 0xa560, 0xa564] {
            self.set(request, 0x0001_0001);
        }
        for e in ENGINES {
            if Dg2Config::default().engines & e.mask() != 0 {
                self.start_engine(e);
            }
        }
    }

    /// Registers of an engine, in the order of digest I9 and E19.
    fn start_engine(&self, e: EngineId) {
        let set = |offset, value| self.set(e.base() + offset, value);
        set(0x98, 0xffff_ffff);
        set(0x29c, 0x0008_0008);
        set(0x9c, 0x0100_0000);
        set(0x80, SYSTEM + 0x1000 * e as u32);
        set(0xb4, 0xffff_ffff);
        set(0xb0, 0xffff_ffff);
        set(0xb4, 0xffff_fffe);
        set(0xa8, 0xffff_ffff);
        for at in 0..16 {
            set(0x510 + 4 * at, 0);
        }
        set(0x3a0, 0xffff_0b0b);
        let pointer = 0x1000 * e as u64 + 4 * 0x2f;
        let _ = self.memory.write(pointer, &11u32.to_le_bytes());
    }

    /// The first image of a context (digest §4.2): the engine's own part is not restored; its ring has dwords up to
    /// the tail.
    fn context(&self, n: u64, tail: u32) {
        let ring = (0x101_0000 + n * 0x2_0000) as u32;
        let first = [
            (0x244, 0x0009_0009),
            (0x034, 0),
            (0x030, tail),
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
        ];
        let second = [
            (0x3a8, 0),
            (0x28c, 0),
            (0x288, 0),
            (0x284, 0),
            (0x280, 0),
            (0x27c, 0),
            (0x278, 0),
            (0x274, (ROOT >> 32) as u32),
            (0x270, ROOT as u32),
        ];
        let mut d = vec![0u32; 0x60];
        d[1] = 0x1108_101d;
        for (i, (register, value)) in first.into_iter().enumerate() {
            (d[2 + 2 * i], d[3 + 2 * i]) = (register, value);
        }
        d[0x21] = 0x1108_1011;
        for (i, (register, value)) in second.into_iter().enumerate() {
            (d[0x22 + 2 * i], d[0x23 + 2 * i]) = (register, value);
        }
        d[0x34] = 0x0500_0001;
        self.put_local(LOCAL_AT + n * 0x2_0000 + 0x1000, &d);
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        // All that is written lies in the memory.
        let _ = self.memory.write(USER_AT + offset, bytes);
    }
}

impl Machine for Lists {
    fn run(&mut self, stream: &Stream) -> Left {
        let mut next = BUFFERS;
        let mut places = Vec::new();
        for buffer in &stream.buffers {
            places.push(USER + next);
            self.write(next, &buffer.bytes);
            next += buffer.bytes.len() as u64 + 0x1000;
        }
        let batch: Vec<u8> = stream
            .placed(USER, &places)
            .iter()
            .flat_map(|d| d.to_le_bytes())
            .collect();
        self.write(0, &batch);
        let e = match stream.engine {
            Engine::Render => EngineId::Rcs,
            Engine::Blitter => EngineId::Bcs,
            Engine::Video => EngineId::Vcs0,
        };
        // There is room for sixty-four.
        let n = self.contexts % 64;
        self.contexts += 1;
        // MI_BATCH_BUFFER_START into the per-process space; what was stored arrives.
        let ring = [0x1880_0101, USER as u32, (USER >> 32) as u32, 0];
        self.put_local(LOCAL_AT + 0x1_0000 + n * 0x2_0000, &ring);
        self.context(n, 16);
        // Valid, 48-bit mode, per-process table; its ID is n + 1.
        let descriptor = (n + 1) << 39 | (0x100_0000 + n * 0x2_0000) | 0x119;
        for at in 0..16 {
            let value = match at {
                0 => descriptor as u32,
                1 => (descriptor >> 32) as u32,
                _ => 0,
            };
            self.set(e.base() + 0x510 + 4 * at, value);
        }
        self.set(e.base() + 0x550, 1);
        let rests = self.gpu.run_until_idle(STEPS);
        let mut head = [0; 4];
        self.gpu
            .lmem_read(LOCAL_AT + n * 0x2_0000 + 0x1000 + 4 * 5, &mut head);
        if !rests || u32::from_le_bytes(head) & 0x1f_fffc != 16 {
            let reason = format!("the engine stops: {:?}", self.broken());
            match Lists::new() {
                Ok(fresh) => *self = fresh,
                Err(error) => return Left::Refused(error.to_string()),
            }
            return Left::Refused(reason);
        }
        answer(stream, |index, bytes| {
            let _ = self.memory.read(places[index] - USER + USER_AT, bytes);
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
