// SPDX-License-Identifier: GPL-2.0
//! What differs between the chips: one file each, and the list of them.

mod snb;

pub use snb::SNB;

use super::engine::EngineId;
use crate::counters::Counter;
use crate::intel::fence::FenceUnit;
use crate::intel::mi::MiDef;
use crate::intel::pte::PteFormat;

/// Gives the name of a command and its length in dwords by its header; `None` if there is none.
pub type Decode = fn(header: u32) -> Option<(&'static str, usize)>;

/// One engine of a chip.
pub struct EngineRow {
    /// Which.
    pub id: EngineId,
    /// Base of its register block of 4 KB.
    pub base: u32,
    /// Distance from ring-local interrupt bits to those of the GT block.
    pub irq_shift: u32,
    /// Its page-fault register.
    pub fault: u32,
    /// Its status-page address register.
    pub hws_pga: u32,
    /// Its bit in GDRST.
    pub reset_bit: u32,
    /// The register whose bit 9 switches its per-process table on.
    pub mode: u32,
    /// Condition codes of EXCC that it implements, a bit for each.
    pub conditions: u32,
    /// Bits of MI_WAIT_FOR_EVENT that name an event.
    pub events: u32,
    /// Ring-local interrupt bits that never show in the status page.
    pub unreported: u32,
    /// The status page shows only what IMR lets through.
    pub reports_unmasked: bool,
    /// A sync flush from the CPU wants the ring stopped and idle.
    pub flush_stopped: bool,
    /// It sleeps between pieces of work, and must be woken through PSMI_CTL before a tail write.
    pub sleeps: bool,
    /// Bit 0 of HEAD shows a wait.
    pub head_waits: bool,
    /// It has the 3D state: contexts, statistics, parts that INSTPM switches off.
    pub renders: bool,
    /// Commands of client 2, the blitter's.
    pub two_d: Option<Decode>,
    /// Commands of client 3: 3D, media, video.
    pub three_d: Option<Decode>,
    /// What is counted of it.
    pub counters: EngineCounters,
}

/// The counters of an engine.
pub struct EngineCounters {
    /// Register reads of the CPU.
    pub reads: Counter,
    /// Register writes of the CPU.
    pub writes: Counter,
    /// Tail writes of the CPU.
    pub tails: Counter,
    /// Commands.
    pub commands: Counter,
    /// MI_USER_INTERRUPTs.
    pub interrupts: Counter,
}

impl EngineCounters {
    /// Those of the render engine.
    pub const RCS: Self = EngineCounters {
        reads: Counter::RcsReads,
        writes: Counter::RcsWrites,
        tails: Counter::RcsTailWrites,
        commands: Counter::RcsCommands,
        interrupts: Counter::RcsUserInterrupts,
    };
    /// Those of the video engine.
    pub const VCS: Self = EngineCounters {
        reads: Counter::VcsReads,
        writes: Counter::VcsWrites,
        tails: Counter::VcsTailWrites,
        commands: Counter::VcsCommands,
        interrupts: Counter::VcsUserInterrupts,
    };
    /// Those of the blitter.
    pub const BCS: Self = EngineCounters {
        reads: Counter::BcsReads,
        writes: Counter::BcsWrites,
        tails: Counter::BcsTailWrites,
        commands: Counter::BcsCommands,
        interrupts: Counter::BcsUserInterrupts,
    };
}

/// One chip.
pub struct Chip {
    /// Name on the command line.
    pub name: &'static str,
    /// PCI device ids of the chip's products; the first is the usual one. The vendor is 8086.
    pub ids: &'static [u16],
    /// Its engines, in the order of [`EngineId`].
    pub engines: &'static [EngineRow],
    /// Commands of client 0, the memory interface's.
    pub mi: &'static [MiDef],
    /// Where flags of PIPE_CONTROL are, and what it wants before it.
    pub pipe_control: PipeControl,
    /// What entries of its page tables look like.
    pub pte: PteFormat,
    /// Its fences.
    pub fences: FenceUnit,
    /// Lines of 64 bytes that a streamer has read ahead: in a ring, in a batch.
    pub ahead: [u64; 2],
}

/// What differs about PIPE_CONTROL.
pub struct PipeControl {
    /// The dword and the bit in it that send a post-sync store through the global table.
    pub global: (usize, u32),
    /// A flush of the write cache or a depth stall wants a stall and a post-sync store before it.
    pub prelude: bool,
}

impl Chip {
    /// The chips that are served.
    pub const ALL: &'static [&'static Chip] = &[&SNB];

    /// The chip with a name.
    pub fn named(name: &str) -> Option<&'static Chip> {
        Self::ALL.iter().copied().find(|c| c.name == name)
    }

    /// An engine's row.
    pub fn engine(&self, e: EngineId) -> &'static EngineRow {
        &self.engines[e as usize]
    }

    /// The engine whose register block holds `offset`.
    pub fn of_block(&self, offset: u32) -> Option<&'static EngineRow> {
        self.engines.iter().find(|e| offset & !0xfff == e.base)
    }
}

impl std::fmt::Debug for Chip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_in_order() {
        for chip in Chip::ALL {
            for (i, row) in chip.engines.iter().enumerate() {
                assert_eq!(row.id as usize, i, "{}", chip.name);
            }
        }
    }
}
