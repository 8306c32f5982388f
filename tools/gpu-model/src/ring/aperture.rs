// SPDX-License-Identifier: GPL-2.0 OR MIT
//! CPU accesses through the aperture: fence, then global table, then memory
//! (SNB PRM V1P2 §4.3.1, §4.5.4). Never the per-process table, never an error record: CPU reads of
//! an invalid entry are exempt (§2.2.2.1).

use crate::counters::Counter;
use crate::intel::pte::{Pte, PAGE};
use crate::ring::core::Core;

impl Core {
    /// True if memory is swizzled, and the chip lets it be.
    pub fn swizzles(&self, switch: Option<(u32, u32)>) -> bool {
        self.cfg.swizzle && switch.is_none_or(|(offset, bit)| self.get(offset) & bit != 0)
    }

    /// The graphics address behind a byte of the aperture: the lowest fence that covers it decides.
    fn aperture_address(&self, offset: u32) -> u32 {
        let swizzle = self.swizzles(self.cfg.chip.swizzling.aperture);
        (0..self.cfg.chip.fences.count)
            .filter_map(|n| self.fence(n))
            .find(|f| f.contains(offset) && f.pitch_ok())
            .map_or(offset, |f| f.detile(offset, swizzle))
    }

    fn aperture_physical(&mut self, offset: u32, write: bool) -> Option<u64> {
        let ga = self.aperture_address(offset);
        let pte = Pte(self.aperture_entry(ga / PAGE));
        (self.cfg.chip.hooks.aperture)(self, ga, pte, write);
        pte.valid()
            .then(|| self.cx.pte.address(pte) | u64::from(ga % PAGE))
    }

    /// Splits an access so that neither a page nor a 16-byte column of a tile is crossed.
    fn pieces(offset: u32, len: usize) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            if done >= len {
                return None;
            }
            let at = offset.wrapping_add(done as u32);
            let n = (len - done).min(16 - at as usize % 16);
            let piece = (at, done..done + n);
            done += n;
            Some(piece)
        })
    }

    /// Reads through the aperture; zero where nothing is mapped.
    pub fn aperture_read(&mut self, offset: u32, buf: &mut [u8]) {
        self.count(Counter::ApertureReads);
        if self.removed {
            buf.fill(0xff);
            return;
        }
        for (at, range) in Self::pieces(offset, buf.len()) {
            let part = &mut buf[range];
            part.fill(0);
            if let Some(pa) = self.aperture_physical(at, false) {
                if self.cx.memory.read(pa, part).is_err() {
                    part.fill(0);
                }
            }
        }
    }

    /// Writes through the aperture; dropped where nothing is mapped.
    pub fn aperture_write(&mut self, offset: u32, data: &[u8]) {
        self.count(Counter::ApertureWrites);
        if self.removed {
            return;
        }
        for (at, range) in Self::pieces(offset, data.len()) {
            if let Some(pa) = self.aperture_physical(at, true) {
                // Memory that is not there swallows the write, as the bus would.
                let _ = self.cx.memory.write(pa, &data[range]);
            }
        }
    }
}
