// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Logical contexts: MI_SET_CONTEXT, save and restore of images (SNB PRM V1P2 §5.8).
//!
//! The image is the device's own (§5.8.1.3.1). Here: MI_NOOP, one MI_LOAD_REGISTER_IMM with the
//! registers that §5.8.1.4 lists, a digest of the 3D state that was parsed, a signature and a
//! checksum, so that an image that no save has written is found when it is restored.

use crate::blt::{BltState, STATE_DWORDS};
use crate::counters::Counter;
use crate::intel::tlb::AddressSpace;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::exec::Flow;
use crate::ring::lint::Rule;
use crate::ring::regs::ring;

/// Signature of a saved image.
const MAGIC: u32 = 0x5842_5453;
/// Signature of its extended part.
const MAGIC_EXTENDED: u32 = 0x5842_5445;
/// Flags of a CCID and of MI_SET_CONTEXT.
const EXT_SAVE: u32 = 1 << 3;
const EXT_RESTORE: u32 = 1 << 2;
/// Flag of both: a graphics address.
const GLOBAL: u32 = 1 << 8;

/// Stand-in for the 3D state: a digest of every state command since the last restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RenderState {
    digest: u64,
    commands: u32,
}

impl RenderState {
    /// A parsed state command becomes part of the state.
    pub fn absorb(&mut self, dwords: &[u32]) {
        for d in dwords {
            self.digest = (self.digest ^ u64::from(*d)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.commands = self.commands.wrapping_add(1);
    }

    /// Undefined after a reset.
    pub fn poison(&mut self, garbage: u64) {
        *self = RenderState {
            digest: garbage,
            commands: 0,
        };
    }
}

fn checksum(dwords: &[u32]) -> u32 {
    dwords
        .iter()
        .fold(0x811c_9dc5, |s, d| (s ^ d).wrapping_mul(0x0100_0193))
}

fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|d| d.to_le_bytes()).collect()
}

impl Core {
    /// MI_SET_CONTEXT, step by step as §5.8.1.2 has it.
    pub fn set_context(&mut self, e: EngineId, d: &[u32]) -> Flow {
        if self.engine(e).batch.is_some() {
            self.lint(Rule::RingOnly, || "MI_SET_CONTEXT".to_owned());
            self.instruction_error(e, d[0]);
            return Flow::Stop;
        }
        self.engine(e).expect_noop = true;
        let layout = &self.cfg.chip.context;
        let (address, flags) = (d[1] & layout.address, d[1] & !layout.address);
        let (force, inhibit) = (flags & 2 != 0, flags & 1 != 0);
        if force && inhibit {
            self.lint(Rule::SetContextFlags, || format!("{:#x}", d[1]));
        }
        if flags & GLOBAL == 0 && !layout.physical {
            // A physical address is prohibited (§4.6.1).
            self.instruction_error(e, d[0]);
            return Flow::Stop;
        }
        if flags & GLOBAL != 0 && layout.physical && flags & 0xf0 != 0 {
            self.lint(Rule::SetContextFlags, || format!("{:#x}", d[1]));
        }
        // High bits of a physical address.
        let kept = if flags & GLOBAL == 0 { 0xf0 } else { GLOBAL };
        let current = self.ring(e, ring::CCID);
        let valid = current & 1 != 0;
        // Bit 8 stays as well (SNB387, a real machine's error record: 7fdf310dh).
        let next = address | flags & (EXT_SAVE | EXT_RESTORE | kept) | 1;
        let same = (current ^ next) & (layout.address | kept) == 0;
        let found = std::mem::take(&mut self.left.ccid);
        if valid && same && !force {
            self.set_ring(e, ring::CCID, next);
            return Flow::Next;
        }
        self.count(Counter::ContextSwitches);
        if valid {
            if found {
                self.lint(Rule::OldContextSaved, || format!("{current:#x}"));
            }
            self.save_context(e, current);
        }
        // The switch flushes caches and TLBs (§5.3.8, §5.3.10).
        self.flush_render_cache();
        self.flush_tlb(e);
        if !inhibit {
            self.restore_context(e, next);
        }
        self.set_ring(e, ring::CCID, next);
        Flow::Next
    }

    fn save_context(&mut self, e: EngineId, ccid: u32) {
        self.count(Counter::ContextSaves);
        let layout = &self.cfg.chip.context;
        let (main, extended) = (layout.main, layout.extended);
        let mut image = vec![0u32, 0];
        for offset in layout.saved {
            image.extend([*offset, 0xffff_0000 | self.get(*offset)]);
        }
        for (offset, _) in layout.counts() {
            image.extend([*offset, self.get(*offset), offset + 4, self.get(offset + 4)]);
        }
        let pairs = (image.len() as u32 - 2) / 2;
        image[1] = 0x22 << 23 | (2 * pairs - 1);
        if layout.blitter {
            image.extend(self.blitter.state.save());
        }
        let state = self.render;
        image.extend([
            MAGIC,
            state.digest as u32,
            (state.digest >> 32) as u32,
            state.commands,
        ]);
        image.push(checksum(&image));
        image.resize(main / 4, 0);
        self.image_store(e, ccid, 0, &bytes(&image));
        if ccid & EXT_SAVE != 0 {
            let mut image = vec![MAGIC_EXTENDED, state.commands];
            image.push(checksum(&image));
            image.resize(extended / 4, 0);
            self.image_store(e, ccid, main as u32, &bytes(&image));
        }
    }

    /// The address of the bus of an image that has no graphics address.
    fn image_address(ccid: u32, mask: u32) -> Option<u64> {
        let physical = ccid & GLOBAL == 0;
        physical.then(|| u64::from(ccid & 0xf0) << 28 | u64::from(ccid & mask))
    }

    fn image_store(&mut self, e: EngineId, ccid: u32, offset: u32, data: &[u8]) {
        let mask = self.cfg.chip.context.address;
        match Self::image_address(ccid, mask) {
            // Memory that is not there swallows the image.
            Some(at) => drop(self.cx.memory.write(at + u64::from(offset), data)),
            None => {
                let at = (ccid & mask).wrapping_add(offset);
                self.watch_unsnooped("context", at, data.len());
                self.store(e, AddressSpace::Ggtt, at, data);
            }
        }
    }

    fn image_load(&mut self, e: EngineId, ccid: u32, offset: u32, data: &mut [u8]) {
        let mask = self.cfg.chip.context.address;
        match Self::image_address(ccid, mask) {
            Some(at) => drop(self.cx.memory.read(at + u64::from(offset), data)),
            None => self.load(
                e,
                AddressSpace::Ggtt,
                (ccid & mask).wrapping_add(offset),
                data,
            ),
        }
    }

    fn restore_context(&mut self, e: EngineId, ccid: u32) {
        self.count(Counter::ContextRestores);
        let layout = &self.cfg.chip.context;
        let main = layout.main;
        let base = ccid & layout.address;
        let mut raw = vec![0u8; main];
        self.image_load(e, ccid, 0, &mut raw);
        let image: Vec<u32> = raw
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        let pairs = layout.saved.len() + 2 * layout.counts().count();
        let registers = 2 + 2 * pairs;
        let blitter = if layout.blitter { STATE_DWORDS } else { 0 };
        let end = registers + blitter;
        let good = image[1] == 0x22 << 23 | (2 * pairs as u32 - 1)
            && image[end] == MAGIC
            && checksum(&image[..end + 4]) == image[end + 4];
        if !good {
            // Undefined: the state becomes garbage, and the report says so.
            self.lint(Rule::ContextFabricated, || format!("{base:#x}"));
            self.poison_render();
            return;
        }
        let mut signature = [0; 4];
        if ccid & EXT_RESTORE != 0 {
            self.image_load(e, ccid, main as u32, &mut signature);
        }
        if ccid & EXT_RESTORE != 0 && u32::from_le_bytes(signature) != MAGIC_EXTENDED {
            self.lint(Rule::ContextFabricated, || {
                format!("{base:#x}, extended part")
            });
        }
        if let (true, Ok(state)) = (layout.blitter, image[registers..end].try_into()) {
            self.blitter.state = BltState::restore(state);
        }
        for pair in image[2..registers].chunks_exact(2) {
            // As the embedded command would, without the effects of an outside write.
            let value = if layout.saved.contains(&pair[0]) {
                pair[1] & 0xffff
            } else {
                pair[1]
            };
            self.set(pair[0], value);
        }
        let digest = u64::from(image[end + 1]) | u64::from(image[end + 2]) << 32;
        self.render = RenderState {
            digest,
            commands: image[end + 3],
        };
    }
}
