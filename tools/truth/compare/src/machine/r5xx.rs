// SPDX-License-Identifier: GPL-2.0
//! R5xx: a ring whose commands start the stream as an indirect buffer. Values are literals from the document and its
//! digest, as in the model's own tests.
//!
//! The card's memory is at address 0, the range of the table right above it: ring and stream are there, in the
//! system's memory. Buffers are in the card's.

use std::sync::Arc;

use gpu_model::memory::{GuestMemory, VecMemory};
use gpu_model::model::NoIrq;
use gpu_model::r5xx::{Chip, R5xx, R5xxConfig};
use ouro_streams::file::Left;
use ouro_streams::Stream;

use super::{answer, Machine};

/// First address of the table's range.
const GTT: u32 = 0x0100_0000;
/// Its size, and that of the system's memory.
const GTT_SIZE: u32 = 1 << 20;
/// Where the table is, in the card's memory.
const TABLE: u64 = 0x00ff_f000;
/// The page of write-backs, in the system's memory; the ring is before it.
const WRITE_BACK: u32 = 0x1000;
/// The stream.
const STREAM: u32 = 0x2000;
/// The first buffer.
const BUFFERS: u64 = 0x10_0000;
/// Dwords of the ring.
const RING_DWORDS: u32 = 1024;
/// Most steps of a stream, and more.
const STEPS: usize = 1_000_000;

/// A modelled R5xx.
pub struct Processor {
    chip: &'static Chip,
    gpu: R5xx,
    memory: Arc<VecMemory>,
}

impl Processor {
    /// Brings one up.
    ///
    /// # Errors
    /// When its memory cannot be had.
    pub fn new(chip: &'static Chip) -> anyhow::Result<Processor> {
        let memory = Arc::new(VecMemory::new(GTT_SIZE as usize));
        let gpu = R5xx::new(R5xxConfig::new(chip), memory.clone(), Arc::new(NoIrq))?;
        let processor = Processor { chip, gpu, memory };
        processor.start_table();
        processor.start_ring();
        Ok(processor)
    }

    fn set(&self, register: u32, value: u32) {
        self.gpu.mmio_write32(register, value);
    }

    fn set_pcie(&self, index: u32, value: u32) {
        self.set(0x30, index);
        self.set(0x34, value);
    }

    /// In the order of digest §5.2.
    fn start_table(&self) {
        for page in 0..GTT_SIZE / 4096 {
            // Readable and writable, bits 39:12 of the bus address from bit 4 on.
            let entry = page << 4 | 0xc;
            let at = TABLE + 4 * u64::from(page);
            self.gpu.aperture_write(at, &entry.to_le_bytes());
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
        for _ in 0..2 {
            self.set_pcie(0x10, 3 << 1 | 1 | 1 << 8);
            self.set_pcie(0x10, 3 << 1 | 1);
        }
    }

    /// In the order of digest §5.2: any microcode, a ring of 4 KB, write-back on.
    fn start_ring(&self) {
        self.set(0x7d4, 0);
        for word in 0..256u32 {
            self.set(0x7dc, word & 0xff);
            self.set(0x7e0, if word < 0xfc { !word } else { 0 });
        }
        let control = 6 << 8 | 9;
        self.set(0x718, 0x40);
        self.set(0x704, control | 1 << 27);
        self.set(0x700, GTT);
        self.set(0x704, control | 1 << 31 | 1 << 27);
        self.set(0x71c, 0);
        self.set(0x714, 0);
        self.set(0x70c, GTT + WRITE_BACK + 1024);
        self.set(0x774, GTT + WRITE_BACK);
        self.set(0x770, 0xff);
        self.set(0x704, control);
        self.set(0x744, 0x1050);
        self.set(0x718, 0);
        self.set(0x744, 0x4d4d);
        self.set(0x740, 4 << 28);
    }

    fn put(&self, at: u32, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        // All that is written lies in the memory.
        let _ = self.memory.write(at.into(), &bytes);
    }
}

impl Machine for Processor {
    fn run(&mut self, stream: &Stream) -> Left {
        let mut next = BUFFERS;
        let mut places = Vec::new();
        for buffer in &stream.buffers {
            places.push(next);
            self.gpu.aperture_write(next, &buffer.bytes);
            next += buffer.bytes.len() as u64 + 0x1000;
        }
        let dwords = stream.placed(0, &places);
        self.put(STREAM, &dwords);
        // CP_IB_BASE and CP_IB_BUFSZ, by a packet of type 0; then a packet of type 2 as padding.
        let ring = [
            (1 << 16) | (0x738 / 4),
            GTT + STREAM,
            dwords.len() as u32,
            0x8000_0000,
        ];
        let tail = self.gpu.mmio_read32(0x714);
        self.put(4 * tail, &ring);
        let tail = (tail + ring.len() as u32) % RING_DWORDS;
        self.set(0x714, tail);
        let rests = self.gpu.run_until_idle(STEPS);
        if !rests || self.gpu.mmio_read32(0x710) != tail {
            let reason = format!("the command processor stops: {:?}", self.broken());
            match Processor::new(self.chip) {
                Ok(fresh) => *self = fresh,
                Err(error) => return Left::Refused(error.to_string()),
            }
            return Left::Refused(reason);
        }
        answer(stream, |index, bytes| {
            self.gpu.aperture_read(places[index], bytes);
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
