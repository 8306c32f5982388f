// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The blitter's commands on the blitter ring: the seam to [`crate::blt`].
//!
//! A blit may touch megabytes, so it runs with the device unlocked: the engine's translation unit
//! goes along in a [`BlitJob`], and comes back with the faults it collected.

use crate::blt::{self, BltCaps, BltError, BltMemory, BltState, BltStats};
use crate::counters::Counter;
use crate::device::Job;
use crate::fault::Kind;
use crate::gen4::fbc::Drawn;
use crate::intel::tlb::{AddressSpace, Client};
use crate::memory::{lock, GuestMemory};
use crate::ring::core::{source, Core};
use crate::ring::engine::{EngineId, Stop};
use crate::ring::exec::{Flow, Step};
use crate::ring::lint::Rule;
use crate::ring::mmu::{MemoryContext, Mmu};
use crate::ring::regs::ring;
use crate::tiling::Swizzle;
use std::sync::{Arc, Mutex};

/// Name and length of a blitter command; `None` for an opcode that there is not.
pub(crate) fn decode(header: u32) -> Option<(&'static str, usize)> {
    blt::length(header).map(|n| ("BLT", n))
}

/// What the blitter keeps from command to command.
#[derive(Default)]
pub(crate) struct Blitter {
    pub state: BltState,
}

impl Blitter {
    /// After a reset.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// A blit under way.
pub struct BlitJob {
    command: Vec<u32>,
    state: BltState,
    caps: BltCaps,
    space: AddressSpace,
    mmu: Mmu,
    cx: MemoryContext,
    /// The destination, if recorded.
    drawn: Option<Drawn>,
    generation: u64,
    stopped: Arc<Mutex<bool>>,
    result: Result<BltStats, BltError>,
}

/// An engine's memory as the blitter sees it.
struct View<'a> {
    mmu: &'a mut Mmu,
    cx: &'a MemoryContext,
    space: AddressSpace,
    drawn: &'a mut Option<Drawn>,
    stopped: &'a Mutex<bool>,
}

/// Notes the rows of X tiles, of 512 bytes each, that a write touches.
fn note_rows(drawn: &mut Drawn, at: u32, len: usize) {
    let last = at.saturating_add(len.max(1) as u32 - 1);
    for row in at / 512..=last / 512 {
        *drawn.entry(row / 8).or_insert(0) |= 1 << (row % 8);
    }
}

impl BltMemory for View<'_> {
    fn read(&mut self, addr: u64, buf: &mut [u8]) {
        let stopped = lock(self.stopped);
        if *stopped {
            buf.fill(0);
            return;
        }
        let (client, at) = (Client::Data, addr as u32);
        self.mmu
            .read(self.cx, client, self.space, source::BLT_READ, at, buf);
    }

    fn write(&mut self, addr: u64, data: &[u8]) {
        let stopped = lock(self.stopped);
        if *stopped {
            return;
        }
        let (client, at) = (Client::Data, addr as u32);
        if let Some(drawn) = self.drawn {
            note_rows(drawn, at, data.len());
        }
        self.mmu
            .write(self.cx, client, self.space, source::BLT_WRITE, at, data);
    }

    fn write_enabled(&mut self, addr: u64, data: &[u8], enable: &[u8]) {
        // Runs of enabled bytes; what lies between is neither read nor written.
        let mut start = 0;
        while let Some(skip) = enable[start..].iter().position(|e| *e != 0) {
            let first = start + skip;
            let len = enable[first..]
                .iter()
                .position(|e| *e == 0)
                .unwrap_or(enable.len() - first);
            self.write(addr + first as u64, &data[first..first + len]);
            start = first + len;
        }
    }
}

impl Job for Box<BlitJob> {
    /// Does the blit. The device need not be locked.
    fn run(&mut self) {
        let mut view = View {
            mmu: &mut self.mmu,
            cx: &self.cx,
            space: self.space,
            drawn: &mut self.drawn,
            stopped: &self.stopped,
        };
        self.result = blt::execute(&self.command, &mut self.state, &mut view, &self.caps);
    }
}

impl Core {
    /// Takes what a blit needs out of the device. With PPGTT on, blits use it (§2.3).
    pub fn begin_blit(&mut self, e: EngineId, command: Vec<u32>) -> Step {
        self.count(Counter::BltCommands);
        let fault = self.inject(Kind::PageFault, e.name()).is_some();
        let (generation, mmu) = {
            let engine = self.engine(e);
            (engine.generation, engine.mmu.take())
        };
        let Some(mut mmu) = mmu else {
            return Step::Waiting;
        };
        if fault {
            mmu.inject_fault();
        }
        self.engine(e).busy = true;
        let stopped = Arc::new(Mutex::new(false));
        self.engine(e).blit = Some(stopped.clone());
        let swizzled = self.swizzles(self.cfg.chip.swizzling.blitter);
        let caps = BltCaps {
            swctrl: self.cfg.chip.tiled_by.map(|offset| self.get(offset)),
            swizzle_x: if swizzled {
                Swizzle::Bit9And10
            } else {
                Swizzle::None
            },
            swizzle_y: if swizzled {
                Swizzle::Bit9
            } else {
                Swizzle::None
            },
            ..BltCaps::default()
        };
        Step::Blit(Box::new(BlitJob {
            command,
            state: self.blitter.state,
            caps,
            space: self.space(e, false),
            mmu,
            cx: MemoryContext {
                ppgtt: self.ppgtt(e),
                program: self.engine(e).batch.is_some(),
                memory: self.drawn_memory(),
                ..self.cx.clone()
            },
            drawn: self.watches_drawing().then(Drawn::default),
            generation,
            stopped,
            result: Ok(BltStats::default()),
        }))
    }

    /// Memory as the blitter sees it: behind the render cache, where there is one.
    fn drawn_memory(&self) -> Arc<dyn GuestMemory> {
        match &self.own.cache {
            Some(cache) => cache.clone(),
            None => self.cx.memory.clone(),
        }
    }

    /// Puts things back after a blit and moves on. A blit that a reset overtook changes nothing.
    pub fn finish_blit(&mut self, e: EngineId, job: BlitJob) -> Step {
        let BlitJob {
            command,
            state,
            mut mmu,
            drawn,
            generation,
            result,
            ..
        } = job;
        let void = self.engine(e).generation != generation;
        let (faults, notes) = (mmu.take_faults(), mmu.take_notes());
        self.notes
            .counters
            .add(Counter::HighAccesses, mmu.take_high());
        if std::mem::take(&mut self.engine(e).flush_pending) {
            mmu.flush();
        }
        let engine = self.engine(e);
        engine.busy = false;
        engine.blit = None;
        engine.mmu = Some(if void { mmu.after_reset() } else { mmu });
        if std::mem::take(&mut self.engine(e).directory_pending) {
            self.load_directory(e);
        }
        if void {
            return Step::Ran;
        }
        self.notes.client = self.unprivileged(e);
        self.after_access(e, faults, notes);
        self.blitter.state = state;
        if let Some(drawn) = drawn {
            self.cache_drawn(&drawn);
        }
        let header = command.first().copied().unwrap_or(0);
        match result {
            Ok(stats) => {
                self.notes.counters.add(Counter::BltPixels, stats.pixels);
                for violation in stats.violations {
                    self.lint(Rule::Blt, || format!("{header:#010x}: {violation}"));
                }
            }
            Err(error) => {
                self.lint(Rule::Blt, || format!("{header:#010x}: {error}"));
                self.blit_error(e, header, error);
            }
        }
        self.notes.client = false;
        self.advance(e, command.len(), Flow::Next)
    }

    fn blit_error(&mut self, e: EngineId, header: u32, error: BltError) {
        match error {
            // The class "invalid tiling" of page-table errors (§5.7.2, table 5-3).
            BltError::InvalidTiling { .. } => {
                self.table_error(e, 1 << 1);
            }
            BltError::UnknownOpcode { .. } | BltError::NotBlt => self.instruction_error(e, header),
            error if error.hangs() => self.engine(e).stop = Stop::Hung,
            // Undefined: the command does nothing.
            _ => self.set_ring(e, ring::IPEHR, header),
        }
    }
}
