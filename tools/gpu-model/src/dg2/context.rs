// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The context image: how it is restored and what a save writes (DG2 PRM Vol 8 "Logical Ring Context
//! Format", "CSFE Execlist Context"; offsets from the digest, §4.2, where the document's own cannot
//! all be true). Restoring executes the image as a stream of MI_LOAD_REGISTER_IMM.
//!
//! The nested batches are kept in the six writes of BB_STACK_WRITE_PORT, whose format no document
//! has: here two for each, so three batches may lie below the innermost.

use super::core::Core;
use super::engine::{Class, EngineId, Stop};
use super::execlist::Descriptor;
use super::lint::Rule;
use super::mem::{AddressSpace, Faulted};
use super::regs::{self, ring, ticks};
use super::stream::{Frame, FrameKind};
use super::workarounds;
use crate::counters::Counter;
use crate::intel::regfile::{apply, Write};
use crate::ledger::By;

/// Dwords of the ring context: six cachelines, whatever the prose says (digest D3).
const RING_CONTEXT: usize = 0x60;
/// The dword of the tail, in the page that has the registers.
pub(crate) const TAIL: usize = 0x07;
/// Dwords of the page that has the registers.
const PAGE: usize = 1024;
/// Batches that can lie below the innermost one.
pub(crate) const NESTED: usize = 3;

/// The first list: from dword 1.
const FIRST: [u32; 15] = [
    ring::CTX_CONTROL,
    ring::HEAD,
    ring::TAIL,
    ring::START,
    ring::CTL,
    ring::BB_HEAD_UDW,
    ring::BB_HEAD,
    ring::BB_STATE,
    ring::BB_PER_CTX_PTR,
    ring::INDIRECT_CTX,
    ring::INDIRECT_CTX_OFFSET,
    0x180,
    0x2b4,
    ring::PRT_BB_STATE,
    ring::PRT_BB_STATE + 4,
];

/// The second: from dword 21h.
const SECOND: [u32; 9] = [
    ring::CTX_TIMESTAMP,
    0x28c,
    0x288,
    0x284,
    0x280,
    0x27c,
    0x278,
    0x274,
    0x270,
];

/// The engine context's: from dword 61h; the general registers stand between the two parts.
const ENGINE_BEFORE: [u32; 17] = [
    ring::BB_STACK,
    ring::BB_STACK,
    ring::BB_STACK,
    ring::BB_STACK,
    ring::BB_STACK,
    ring::BB_STACK,
    ring::EXCC,
    ring::MI_MODE,
    ring::INSTPM,
    ring::PR_CTR_CTL,
    ring::PR_CTR_THRSH,
    ring::TIMESTAMP,
    ring::BB_START_ADDR_UDW,
    ring::BB_START_ADDR,
    0x154,
    ring::BB_OFFSET,
    ring::PREDICATE_RESULT_1,
];
const ENGINE_AFTER: [u32; 6] = [
    ring::IPEHR,
    ring::CMD_BUF_CCTL,
    ring::CS_MI_ADDRESS_OFFSET,
    ring::SET_PREDICATE_RESULT,
    ring::WPARID,
    ring::PREDICATION_MASK,
];

/// What the render and compute engines add behind the table: the registers that it leaves out.
const BACK_END: [u32; 15] = [
    ring::PREDICATE_SRC0,
    ring::PREDICATE_SRC0 + 4,
    ring::PREDICATE_SRC1,
    ring::PREDICATE_SRC1 + 4,
    ring::PREDICATE_DATA,
    ring::PREDICATE_DATA + 4,
    ring::PREDICATE_RESULT,
    0x290,
    0x294,
    0x360,
    0x364,
    0x500,
    0x504,
    0x508,
    0x580,
];

/// Dword of the render engine's image where registers of the pipeline stand that a context sets once
/// ([`workarounds::in_images`]): a place of the model's own.
const PIPELINE: usize = 0x111;

/// Returns whether the offset is one of these registers.
fn is_held(e: EngineId, offset: u32) -> bool {
    e == EngineId::Rcs && workarounds::in_images().any(|held| held == offset)
}

/// First register of an engine's TRTT bank (digest §3.3 row 4).
fn trtt_bank(e: EngineId) -> u32 {
    match e {
        EngineId::Rcs => 0x4400,
        EngineId::Vcs0 => 0x4420,
        EngineId::Vcs2 => 0x4520,
        EngineId::Vecs0 => 0x4460,
        EngineId::Vecs1 => 0x4560,
        EngineId::Bcs => 0x4480,
        _ => 0x4580 + 0x20 * e.instance(),
    }
}

/// The bank that the images of a class name; bit 17 of the header turns it into the engine's own.
fn trtt_named(class: Class) -> u32 {
    match class {
        Class::Render => 0x4400,
        Class::Decode => 0x4420,
        Class::Enhance => 0x4460,
        Class::Copy => 0x4480,
        Class::Compute => 0x4580,
    }
}

/// Bits of an MI_LOAD_REGISTER_IMM header.
const CS_MMIO: u32 = 1 << 19;
const REMAP: u32 = 1 << 17;

/// BB_STATE bit 5: the batch is in the per-process space (digest §3.2 row 29). Bit 8 is this model's:
/// a batch of the second level.
const STATE_PPGTT: u32 = 1 << 5;
const STATE_SECOND: u32 = 1 << 8;

impl Core {
    /// Restores a context. A fault stops the engine.
    pub fn restore_context(&mut self, e: EngineId, d: Descriptor) {
        self.notes.count(Counter::ContextRestores);
        let engine = self.engine(e);
        engine.frames.clear();
        engine.arbitration = true;
        engine.preparser = true;
        engine.fetched.forget();
        engine.partial_reported = false;
        // What the image leaves out is not the last context's.
        self.set_ering(e, ring::BB_HEAD, 0);
        let Ok(image) = self.read_image(e, d) else {
            return;
        };
        let mut stack = Vec::new();
        let Some(mut at) = self.restore_part(e, &image, 0, RING_CONTEXT, &mut stack) else {
            return;
        };
        // Nothing says that what comes again has been forgotten.
        let space = Some((d.lrca(), self.root(e)));
        if std::mem::replace(&mut self.engine(e).translated, space) != space {
            self.flush_tlb(e);
        }
        self.engine(e).since = ticks(self.notes.clock.now());
        let inhibit = self.ering(e, ring::CTX_CONTROL) & 1 != 0;
        let indirect = self.ering(e, ring::INDIRECT_CTX);
        let offset = self.ering(e, ring::INDIRECT_CTX_OFFSET) >> 6 & 0x3ff;
        let pause = (offset as usize * 16).clamp(RING_CONTEXT, PAGE);
        let lines = u64::from(indirect & 0x3f);
        if !inhibit {
            match self.restore_part(e, &image, at, pause, &mut stack) {
                Some(paused) => at = paused,
                None => return,
            }
        }
        if lines == 0 {
            self.finish_restore(e, inhibit, at);
        } else {
            let addr = u64::from(indirect & !0x3f);
            self.engine(e).frames.push(Frame {
                addr,
                space: AddressSpace::Ggtt,
                privileged: true,
                kind: FrameKind::Indirect {
                    end: addr + 64 * lines,
                    rest: (!inhibit).then_some(at),
                },
            });
        }
    }

    /// The rest of a restore, after the commands of INDIRECT_CTX.
    pub fn resume_restore(&mut self, e: EngineId, rest: Option<usize>) {
        self.finish_restore(e, rest.is_none(), rest.unwrap_or(0));
    }

    fn finish_restore(&mut self, e: EngineId, inhibit: bool, from: usize) {
        let Some(d) = self.engine(e).current else {
            return;
        };
        let mut stack = Vec::new();
        if !inhibit {
            let Ok(image) = self.read_image(e, d) else {
                return;
            };
            if self
                .restore_part(e, &image, from, PAGE, &mut stack)
                .is_none()
            {
                return;
            }
            // The stack's six writes lie before any place where the restore can pause.
            stack = (0..6).map(|i| image[0x63 + 2 * i]).collect();
        }
        let mut frames = self.saved_frames(e, &stack);
        let wa = self.ering(e, ring::BB_PER_CTX_PTR);
        if wa & 1 != 0 {
            frames.push(Frame {
                addr: u64::from(wa & !0xfff),
                space: AddressSpace::Ggtt,
                privileged: true,
                kind: FrameKind::PerContext,
            });
        }
        self.engine(e).frames = frames;
    }

    fn read_image(&mut self, e: EngineId, d: Descriptor) -> Result<Vec<u32>, Faulted> {
        let mut bytes = vec![0; 4 * PAGE];
        self.load(e, AddressSpace::Ggtt, d.lrca() + 0x1000, &mut bytes)?;
        let dword = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
        Ok(bytes.chunks_exact(4).map(dword).collect())
    }

    /// Executes the image's commands that begin at dwords `from..to`, and tells where it stands then.
    /// `None` if the engine stopped.
    fn restore_part(
        &mut self,
        e: EngineId,
        image: &[u32],
        from: usize,
        to: usize,
        stack: &mut Vec<u32>,
    ) -> Option<usize> {
        let mut at = from;
        while at < to.min(image.len()) {
            let header = image[at];
            let n = match header >> 23 {
                0x00 => 1,
                // The end of an image that software has made.
                0x0a => return Some(image.len()),
                // MI_FORCE_WAKEUP; MI_LOAD_REGISTER_MEM is for interrupts in memory only.
                0x1d => 2,
                0x29 => 4,
                0x22 => {
                    let pairs = (header & 0xff).div_ceil(2) as usize;
                    let Some(list) = image.get(at + 1..at + 1 + 2 * pairs) else {
                        return self.bad_image(e, at, header);
                    };
                    if at < RING_CONTEXT && at + 1 + 2 * pairs > RING_CONTEXT {
                        self.notes
                            .lint(Rule::ContextList, || format!("{} {at:#x}", e.name()));
                    }
                    for pair in list.chunks_exact(2) {
                        if !self.restore_register(e, header, pair[0], pair[1], stack) {
                            return self.bad_image(e, at, pair[0]);
                        }
                    }
                    1 + 2 * pairs
                }
                _ => return self.bad_image(e, at, header),
            };
            at += n;
        }
        Some(at)
    }

    fn bad_image(&mut self, e: EngineId, at: usize, what: u32) -> Option<usize> {
        self.notes.lint(Rule::ContextImage, || {
            format!("{} dword {at:#x}: {what:#010x}", e.name())
        });
        self.instruction_error(e, what);
        None
    }

    /// One register of an image; false if it is none of this engine's.
    fn restore_register(
        &mut self,
        e: EngineId,
        header: u32,
        named: u32,
        value: u32,
        stack: &mut Vec<u32>,
    ) -> bool {
        let offset = if header & CS_MMIO != 0 {
            e.base() + (named & 0xffc)
        } else if header & REMAP != 0 {
            let bank = trtt_named(e.class());
            match named.checked_sub(bank) {
                Some(at) if at < 24 => trtt_bank(e) + at,
                _ => return false,
            }
        } else if EngineId::of_block(named) == Some(e) || is_held(e, named) {
            named
        } else {
            return false;
        };
        let local = offset.wrapping_sub(e.base());
        match local {
            ring::BB_STACK => stack.push(value),
            // The clock does not run backwards.
            ring::TIMESTAMP => {}
            ring::BB_HEAD
            | ring::BB_HEAD_UDW
            | ring::BB_STATE
            | ring::IPEHR
            | ring::CTX_TIMESTAMP => self.set(offset, value),
            _ => {
                let Some(def) = regs::map().get(offset) else {
                    return false;
                };
                let old = self.get(offset);
                self.notes
                    .note_write(offset, By::Image, def.write, old, value);
                let new = apply(def.write, old, value);
                self.set(offset, new);
            }
        }
        true
    }

    /// The batches that a save has left: none unless BB_HEAD says valid (bit 0).
    fn saved_frames(&mut self, e: EngineId, stack: &[u32]) -> Vec<Frame> {
        let mut frames = Vec::new();
        let head = self.ering(e, ring::BB_HEAD);
        if head & 1 == 0 {
            return frames;
        }
        let frame = |low: u32, high: u32, ppgtt: bool, second: bool| Frame {
            addr: u64::from(low & !3) | u64::from(high & 0xffff) << 32,
            space: if ppgtt {
                AddressSpace::Ppgtt
            } else {
                AddressSpace::Ggtt
            },
            privileged: !ppgtt,
            kind: if second {
                FrameKind::Second
            } else {
                FrameKind::First
            },
        };
        for two in stack.chunks_exact(2) {
            if two[0] & 1 != 0 {
                let flags = two[1] >> 16;
                let (ppgtt, second) = (flags & STATE_PPGTT != 0, flags & STATE_SECOND != 0);
                frames.push(frame(two[0], two[1], ppgtt, second));
            }
        }
        let state = self.ering(e, ring::BB_STATE);
        let (ppgtt, second) = (state & STATE_PPGTT != 0, state & STATE_SECOND != 0);
        frames.push(frame(head, self.ering(e, ring::BB_HEAD_UDW), ppgtt, second));
        frames
    }

    /// Saves the running context: everything, headers and padding too, so that the image explains
    /// itself (D8). A fault stops the engine.
    pub fn save_context(&mut self, e: EngineId, d: Descriptor) {
        self.notes.count(Counter::ContextSaves);
        self.drain(e);
        self.watch(e);
        let image = self.image(e);
        // Bit 2 of CTX_CONTROL keeps the engine context from being saved (D7).
        let ring_only = self.ering(e, ring::CTX_CONTROL) & 1 << 2 != 0;
        let len = if ring_only { RING_CONTEXT } else { image.len() };
        let saved = if self.cfg.image_tails {
            // No access at all: software may write the tail at any moment.
            self.save_dwords(e, d, 0, &image[..TAIL])
                .and_then(|()| self.save_dwords(e, d, TAIL + 1, &image[TAIL + 1..len]))
        } else {
            self.count_lost_tail(e, d, image[TAIL])
                .and_then(|()| self.save_dwords(e, d, 0, &image[..len]))
        };
        if saved.is_err() {
            self.engine(e).stop = Stop::Fault;
        }
        self.engine(e).frames.clear();
    }

    /// Writes dwords of an image, from dword `at` of the page with the registers on.
    fn save_dwords(
        &mut self,
        e: EngineId,
        d: Descriptor,
        at: usize,
        dwords: &[u32],
    ) -> Result<(), Faulted> {
        let bytes: Vec<u8> = dwords.iter().flat_map(|v| v.to_le_bytes()).collect();
        let va = d.lrca() + 0x1000 + 4 * at as u64;
        self.store(e, AddressSpace::Ggtt, va, &bytes)
    }

    /// Counts a tail that came into the image since the engine read it, and that the save overwrites.
    fn count_lost_tail(&mut self, e: EngineId, d: Descriptor, saved: u32) -> Result<(), Faulted> {
        let at = d.lrca() + 0x1000 + 4 * TAIL as u64;
        let tail = self.load32(e, AddressSpace::Ggtt, at)?;
        if saved != tail & 0x1f_fff8 {
            self.notes.count(Counter::TailsLost);
        }
        Ok(())
    }

    /// Time that the running context has been active, with what its image had.
    pub fn context_timestamp(&self, e: EngineId) -> u32 {
        let engine = &self.engines[e as usize];
        let base = self.ering(e, ring::CTX_TIMESTAMP);
        if engine.current.is_none() {
            return base;
        }
        let run = ticks(self.notes.clock.now()).saturating_sub(engine.since);
        base.wrapping_add(run as u32)
    }

    /// The image of what runs, from the page with the registers on.
    fn image(&mut self, e: EngineId) -> Vec<u32> {
        self.show_frames(e);
        let mut d = vec![0; PAGE * (e.image_pages() as usize - 1)];
        self.list(e, &mut d, 0x01, 0x1108_101d, &FIRST);
        // The inhibit is gone (D6).
        d[0x03] &= !1;
        self.list(e, &mut d, 0x21, 0x1108_1011, &SECOND);
        if e.is_3d() {
            self.list(e, &mut d, 0x34, 0x1108_1005, &[0x1b0, 0x5a8, 0x5ac]);
            self.list(e, &mut d, 0x41, 0x1108_0001, &[ring::R_PWR_CLK_STATE]);
        }
        if e == EngineId::Bcs {
            self.list(e, &mut d, 0x41, 0x1100_1003, &[0x200, 0x204]);
            (d[0x42], d[0x44]) = (0x2_2200, 0x2_2204);
        }
        let gprs: Vec<u32> = (0..32).map(|i| ring::GPR + 4 * i).collect();
        let engine = [&ENGINE_BEFORE[..], &gprs, &ENGINE_AFTER].concat();
        self.list(e, &mut d, 0x61, 0x1108_106d, &engine);
        for (i, value) in self.stack_dwords(e).into_iter().enumerate() {
            d[0x63 + 2 * i] = value;
        }
        if matches!(e.class(), Class::Decode | Class::Enhance) {
            d[0xd0] = 0x0e80_0000;
        }
        d[0xd9] = 0x1102_100b;
        for i in 0..6 {
            d[0xda + 2 * i] = trtt_named(e.class()) + 4 * i as u32;
            d[0xdb + 2 * i] = self.get(trtt_bank(e) + 4 * i as u32);
        }
        if e.is_3d() {
            self.list(e, &mut d, 0xf1, 0x1108_101d, &BACK_END);
        }
        if e == EngineId::Rcs {
            d[PIPELINE] = 0x1100_100f;
            for (i, offset) in workarounds::in_images().enumerate() {
                d[PIPELINE + 1 + 2 * i] = offset;
                d[PIPELINE + 2 + 2 * i] = self.saved(offset);
            }
        }
        d
    }

    /// A list of registers with its header at dword `at`.
    fn list(&mut self, e: EngineId, d: &mut [u32], at: usize, header: u32, registers: &[u32]) {
        d[at] = header;
        for (i, local) in registers.iter().enumerate() {
            let value = match *local {
                ring::CTX_TIMESTAMP => self.context_timestamp(e),
                ring::TIMESTAMP => self.timestamp() as u32,
                _ => self.saved(e.base() + local),
            };
            d[at + 1 + 2 * i] = *local | if header & CS_MMIO != 0 { e.base() } else { 0 };
            d[at + 2 + 2 * i] = value;
        }
    }

    /// A register as an image has it: of a masked one, with all of its mask.
    fn saved(&self, offset: u32) -> u32 {
        let masked = matches!(
            regs::map().get(offset).map(|r| r.write),
            Some(Write::Masked(_))
        );
        self.get(offset) | if masked { 0xffff_0000 } else { 0 }
    }

    /// Shows the innermost batch in BB_HEAD and BB_STATE.
    pub fn show_frames(&mut self, e: EngineId) {
        let top = self.engine(e).frames.last().copied();
        // In no batch the last one stays, which is not valid.
        let last = self.ering(e, ring::BB_HEAD) & !1;
        let none = (last, self.ering(e, ring::BB_HEAD_UDW), 0);
        let (low, high, state) = top.map_or(none, |f| {
            let (low, high) = (f.addr as u32 & !3 | 1, (f.addr >> 32) as u32 & 0xffff);
            (low, high, flags(&f))
        });
        self.set_ering(e, ring::BB_HEAD, low);
        self.set_ering(e, ring::BB_HEAD_UDW, high);
        self.set_ering(e, ring::BB_STATE, state);
    }

    /// The batches below the innermost one, for the stack's slots.
    fn stack_dwords(&self, e: EngineId) -> [u32; 6] {
        let mut all = [0; 6];
        let frames = &self.engines[e as usize].frames;
        let below = frames.split_last().map_or(&[][..], |(_, below)| below);
        for (two, f) in all.chunks_exact_mut(2).zip(below) {
            two[0] = f.addr as u32 & !3 | 1;
            two[1] = (f.addr >> 32) as u32 & 0xffff | flags(f) << 16;
        }
        all
    }
}

fn flags(f: &Frame) -> u32 {
    let ppgtt = if f.space == AddressSpace::Ppgtt {
        STATE_PPGTT
    } else {
        0
    };
    let second = if f.kind == FrameKind::Second {
        STATE_SECOND
    } else {
        0
    };
    ppgtt | second
}
