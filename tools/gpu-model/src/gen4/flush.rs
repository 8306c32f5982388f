// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Flushes: MI_FLUSH (1.7, 5.3.11.1) and PIPE_CONTROL (G-24), and what else empties the render cache and translations
//! (5.3.10).

use crate::intel::tlb::AddressSpace;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::exec::Flow;
use crate::ring::irq::bit;
use crate::ring::lint::Rule;

/// Bits of MI_FLUSH: reset of the statistics, and the render cache is left as it is.
const STATISTICS: u32 = 1 << 3;
const KEEP_RENDER_CACHE: u32 = 1 << 2;

/// Bits of PIPE_CONTROL, in its header (G-24).
const DEPTH_STALL: u32 = 1 << 13;
const WRITE_FLUSH: u32 = 1 << 12;
const NOTIFY: u32 = 1 << 8;
/// In the dword of its address: through the global table.
const GLOBAL: u32 = 1 << 2;

impl Core {
    /// Writes rendered data to memory.
    pub fn flush_render_cache(&mut self) {
        if let Some(cache) = &self.own.cache {
            cache.flush();
        }
    }

    /// Translations of render, blitter and sampler go with each flush inside the chip (5.3.10.5).
    fn flush_inside(&mut self, e: EngineId) {
        self.flush_tlb(e);
    }

    /// MI_FLUSH. The parser waits for it, and the model's commands are done when they are parsed.
    pub fn gen4_flush(&mut self, e: EngineId, header: u32) -> Flow {
        if self.row(e).renders && header & KEEP_RENDER_CACHE == 0 {
            self.flush_render_cache();
        }
        self.flush_inside(e);
        if header & STATISTICS != 0 && self.row(e).renders {
            self.reset_statistics();
        }
        Flow::Next
    }

    /// PIPE_CONTROL: flags in its header, an address, 64 bits of data.
    pub fn gen4_pipe_control(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let (flags, word) = (d[0], |i: usize| d.get(i).copied().unwrap_or(0));
        if flags & WRITE_FLUSH != 0 {
            // "Depth Stall must be clear" (5.3.10.1): else nothing is flushed.
            if flags & DEPTH_STALL != 0 {
                self.lint(Rule::FlushAndStall, || format!("{flags:#010x}"));
            } else {
                self.flush_render_cache();
            }
        }
        let immediate = u64::from(word(2)) | u64::from(word(3)) << 32;
        let data = self.post_sync_data(flags >> 14 & 3, immediate);
        if let Some(data) = data {
            // Only the global table is on; without its bit a chip with two tables uses the other, which is then the
            // same (4.6).
            let address = word(1) & !7;
            if word(1) & GLOBAL == 0 && self.gen4().g4x && !self.unprivileged(e) {
                self.lint(Rule::GlobalBit, || format!("PIPE_CONTROL {address:#x}"));
            }
            self.store(e, AddressSpace::Ggtt, address, &data.to_le_bytes());
        }
        if flags & NOTIFY != 0 {
            self.pulse(e, bit::NOTIFY);
        }
        Flow::Next
    }

    /// A command of the blitter (client 2) or of the 3D pipeline comes: when the engine changes, what the other has
    /// drawn is flushed, and its translations go (5.3.3, 5.3.10.1, 5.3.10.5).
    pub fn drawing_begins(&mut self, e: EngineId, blitter: bool) {
        if self.cfg.chip.gen4.is_none() || !self.row(e).renders {
            return;
        }
        if std::mem::replace(&mut self.own.blitter_drew, blitter) != blitter {
            self.flush_render_cache();
            self.flush_inside(e);
        }
    }
}
