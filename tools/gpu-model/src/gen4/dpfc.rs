// SPDX-License-Identifier: GPL-2.0 OR MIT
//! GM45's compressor of what is displayed (7): its registers and what they count. The format of what it writes is in
//! no document, so nothing is written.

use super::fbc::{BASE, CONTROL, FENCE_OFFSET};
use crate::ring::core::Core;
use crate::ring::lint::Rule;

pub(crate) const RECOMP: u32 = 0x320c;
pub(crate) const STATUS: u32 = 0x3210;
pub(crate) const SLB: u32 = 0x321c;
const DEBUG: u32 = 0x3220;

/// DPFC_CONTROL: on; the fence's bits, which may change meanwhile (7.1.2.3).
const ENABLE: u32 = 1 << 31;
const FENCE: u32 = 1 << 29 | 0xf;
/// A flip by command does not throw the picture away.
const KEEP_FLIPPED: u32 = 1 << 27;
/// DPFC_DEBUG_STATUS: the watermark of invalidations was passed.
const STALLED: u32 = 1 << 6;
/// What a counter of eleven bits can say.
const MOST: u32 = 0x7ff;

/// Its state.
#[derive(Default)]
pub(crate) struct State {
    /// On, since a vertical blank.
    on: bool,
    /// Segments that were drawn on in this frame.
    invalidated: u32,
    /// The line that SLB_DATA is at.
    slb: u32,
}

impl Core {
    /// True while it works: from the vertical blank after its enable on (7.2.2).
    pub fn dpfc_on(&self) -> bool {
        self.own.compressor.dpfc.on
    }

    /// Returns the bits that a register shows besides those that it stores.
    pub(super) fn dpfc_read(&mut self, offset: u32) -> Option<u32> {
        if offset != SLB {
            return None;
        }
        // 7.2.7: "each read advances 2 lines"; what is there is in no document.
        let state = &mut self.own.compressor.dpfc;
        state.slb = (state.slb + 2) & MOST;
        Some(0)
    }

    /// The line that DPFC_SLB_DATA shows next, for tests.
    pub fn slb_line(&self) -> u32 {
        self.own.compressor.dpfc.slb
    }

    pub(super) fn dpfc_written(&mut self, offset: u32, old: u32, new: u32) {
        let on = self.dpfc_on();
        let frozen = match offset {
            CONTROL => !(ENABLE | FENCE),
            BASE | FENCE_OFFSET => !0,
            _ => 0,
        };
        if on && (old ^ new) & frozen != 0 {
            // 7.1.2.3, 7.2: these do not change while it is on.
            self.lint(Rule::Compressor, || format!("{offset:#x} while on"));
            self.set(offset, old & frozen | new & !frozen);
        }
        if offset == SLB {
            self.own.compressor.dpfc.slb = 0;
        }
    }

    pub(super) fn dpfc_touched(&mut self, _line: u32) {
        let state = &mut self.own.compressor.dpfc;
        state.invalidated = (state.invalidated + 1).min(MOST);
    }

    /// A flip by command: all lines are new, unless a persistent picture keeps them (7.1.2.2, 7.1.2.3).
    pub(super) fn dpfc_nuked(&mut self) {
        if self.get(CONTROL) & KEEP_FLIPPED == 0 {
            let lines = self.compressed_shape().map_or(0, |s| s.lines);
            self.own.compressor.dpfc.invalidated = lines.min(MOST);
        }
    }

    /// The vertical blank: enable counts, counters show (7.2.2, 7.2.4).
    pub(super) fn dpfc_blank(&mut self) {
        let enabled = self.get(CONTROL) & ENABLE != 0;
        let recomp = self.get(RECOMP);
        let state = &mut self.own.compressor.dpfc;
        let invalidated = std::mem::take(&mut state.invalidated);
        let was = std::mem::replace(&mut state.on, enabled);
        if !was {
            return;
        }
        let lines = self.compressed_shape().map_or(0, |s| s.lines.min(MOST));
        let fetched = lines.saturating_sub(invalidated);
        self.set(STATUS, invalidated << 16 | fetched);
        if recomp & (1 << 27) != 0 && invalidated > (recomp >> 16 & MOST) {
            self.set(DEBUG, self.get(DEBUG) | STALLED);
        }
    }
}
