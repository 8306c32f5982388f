// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What differs between the chips: one file each, and the list of them.

/// The function that gives the register map of a chip, a constant.
macro_rules! register_map {
    ($chip:expr) => {
        || {
            static MAP: std::sync::OnceLock<crate::intel::regfile::RegMap> =
                std::sync::OnceLock::new();
            MAP.get_or_init(|| crate::ring::regs::map(&$chip))
        }
    };
}

mod gen4;
#[cfg(test)]
mod invented;
mod ivb;
mod snb;
mod unit;
mod ways;

pub use gen4::{G45, G965, GM45, GM965};
pub use ivb::IVB;
pub use snb::SNB;
pub use unit::{BusLayout, IrqBits, IrqBlock, Mchbar, ResetBy, Swizzling};
pub use ways::{GlobalStore, Ways};

use super::core::{Core, Origin};
use super::engine::EngineId;
use super::exec::Flow;
use super::mmu::MmuFault;
pub use super::regs::Array;
use super::regs::{BlockRow, Counts, Row};
use crate::counters::Counter;
use crate::intel::fence::FenceUnit;
use crate::intel::mi::MiDef;
use crate::intel::pte::{Pte, PteFormat};
use crate::intel::regfile::RegMap;

/// Gives the name of a command and its length in dwords by its header; `None` if there is none.
pub type Decode = fn(header: u32) -> Option<(&'static str, usize)>;

/// One engine of a chip.
#[derive(Clone, Copy)]
pub struct EngineRow {
    /// Which.
    pub id: EngineId,
    /// Base of its register block of 4 KB.
    pub base: u32,
    /// Where its ring-local interrupt bits are in the interrupt registers.
    pub irq: IrqBits,
    /// Its page-fault register, if it has one.
    pub fault: Option<u32>,
    /// Its status-page address register.
    pub hws_pga: u32,
    /// Its bit in GDRST.
    pub reset_bit: u32,
    /// The register whose bit 9 switches its per-process table on, if it has such a table.
    pub mode: Option<u32>,
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
    /// An entry that points to no memory is an error in bit 4 of its EIR.
    pub table_errors: bool,
    /// It has a watchdog, CNTR and THRSH.
    pub watchdog: bool,
    /// What is counted of it.
    pub counters: EngineCounters,
}

/// The counters of an engine.
#[derive(Clone, Copy)]
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
#[derive(Clone, Copy)]
pub struct Chip {
    /// Name on the command line.
    pub name: &'static str,
    /// PCI device ids of the chip's products; the first is the usual one. The vendor is 8086.
    pub ids: &'static [u16],
    /// Its engines, in the order of [`EngineId`].
    pub engines: &'static [EngineRow],
    /// Its place on the bus.
    pub bus: BusLayout,
    /// The registers that its interrupts go through.
    pub irq: IrqBlock,
    /// The host bridge's registers that are seen through BAR0.
    pub mchbar: Mchbar,
    /// What its streamers do their own way.
    pub ways: Ways,
    /// Commands of client 0, the memory interface's.
    pub mi: &'static [&'static [MiDef]],
    /// Where flags of PIPE_CONTROL are, and what it wants before it.
    pub pipe_control: PipeControl,
    /// What entries of its page tables look like.
    pub pte: PteFormat,
    /// Its fences.
    pub fences: FenceUnit,
    /// The register that says how the blitter's tiled operands are tiled (BCS_SWCTRL); without it, X.
    pub tiled_by: Option<u32>,
    /// What lets memory that is swizzled be swizzled.
    pub swizzling: Swizzling,
    /// What the time stamp shows at a time in nanoseconds.
    pub timestamp: fn(u64) -> u64,
    /// Lines of 64 bytes that a streamer has read ahead: in a ring, in a batch.
    pub ahead: [u64; 2],
    /// How the GT is woken.
    pub forcewake: Forcewake,
    /// Registers of the GT that answer while it sleeps.
    pub always_on: &'static [u32],
    /// Entries of the FIFO of writes to the GT, if it has one.
    pub fifo: Option<u64>,
    /// What a context image holds.
    pub context: ContextImage,
    /// Bits of the display's events.
    pub display_events: DisplayEvents,
    /// Display registers: offset and a plain word about each.
    pub display: &'static [(u32, &'static str)],
    /// Registers of each engine's block. A later row of an offset replaces an earlier.
    pub block: &'static [&'static [BlockRow]],
    /// All other registers. A later row of an offset replaces an earlier.
    pub registers: &'static [&'static [Row]],
    /// Registers in rows.
    pub arrays: &'static [&'static [Array]],
    /// Bits that firmware has set (habit `bits`): offset, bits, what upstream does there.
    pub firmware_bits: &'static [(u32, u32, &'static str)],
    /// How it differs from its relatives, if it is of Gen4.
    pub gen4: Option<&'static crate::gen4::Gen4>,
    /// What the chip does that no row says.
    pub(crate) hooks: Hooks,
    /// Its register map, built when it is first asked for (`register_map!`).
    pub map: fn() -> &'static RegMap,
}

/// How the GT is woken.
#[derive(Clone, Copy)]
pub struct Forcewake {
    /// The register of which bit 0 asks.
    pub request: u32,
    /// The register of which bit 0 acknowledges.
    pub ack: u32,
    /// Registers with a bit for each of sixteen threads, which the chip may have in place of them.
    pub threads: Option<Threads>,
}

impl Forcewake {
    /// The GT never sleeps.
    pub const NONE: Forcewake = Forcewake {
        request: u32::MAX,
        ack: u32::MAX,
        threads: None,
    };

    /// True if the GT sleeps unless it is asked to wake.
    pub const fn needed(&self) -> bool {
        self.request != u32::MAX
    }

    /// True if a register belongs to it.
    pub fn has(&self, offset: u32) -> bool {
        let threads = self.threads.as_ref().map(|t| [t.request, t.ack]);
        [self.request, self.ack].contains(&offset) || threads.is_some_and(|t| t.contains(&offset))
    }
}

/// Forcewake of several threads.
#[derive(Clone, Copy)]
pub struct Threads {
    /// The register that asks: bits 31:16 say which of 15:0 change.
    pub request: u32,
    /// The register that acknowledges, bit by bit.
    pub ack: u32,
    /// The register and its bit that say that these registers are in force.
    pub enable: (u32, u32),
}

/// What a context image holds.
#[derive(Clone, Copy)]
pub struct ContextImage {
    /// Bytes of its main part.
    pub main: usize,
    /// Bytes of its extended part.
    pub extended: usize,
    /// Bits of an image's address.
    pub address: u32,
    /// It can lie at an address of the bus.
    pub physical: bool,
    /// The blitter's state is in it.
    pub blitter: bool,
    /// Registers that are saved, all of them masked.
    pub saved: &'static [u32],
    /// Lists of statistics registers, saved too. They are reset with the render engine.
    pub statistics: &'static [&'static [Counts]],
}

impl ContextImage {
    /// All statistics registers.
    pub fn counts(&self) -> impl Iterator<Item = &'static Counts> {
        self.statistics.iter().copied().flatten()
    }
}

/// Bits of the display's interrupt registers.
#[derive(Clone, Copy)]
pub struct DisplayEvents {
    /// A vertical blank of pipe A.
    pub vblank: u32,
    /// A flip of plane A is done, of plane B, and so on.
    pub flips: &'static [u32],
}

/// What a chip does that no row says. All see the state after what every chip does.
#[derive(Clone, Copy)]
pub(crate) struct Hooks {
    /// A register that is not the display's is read: its value, unless it reads as every chip's.
    pub read: fn(&mut Core, offset: u32) -> Option<u32>,
    /// A register that is not the display's was written: what it held and what it holds.
    pub written: fn(&mut Core, offset: u32, old: u32, new: u32, Origin),
    /// An MI command of a streamer, or PIPE_CONTROL: where the stream goes, unless it is as every chip's.
    pub command: fn(&mut Core, EngineId, &[u32]) -> Option<Flow>,
    /// A translation failed: true if the chip has recorded it in its own way.
    pub page_fault: fn(&mut Core, EngineId, &MmuFault) -> bool,
    /// The CPU uses an entry for an access through the aperture: address, entry, whether it writes.
    pub aperture: fn(&mut Core, u32, Pte, bool),
    /// A reset is done, of these bits of GDRST.
    pub reset_done: fn(&mut Core, u32),
    /// A byte of the configuration space that is the chip's own is read.
    pub config_byte: fn(&mut Core, usize) -> Option<u8>,
    /// The configuration space was written: offset and data.
    pub config: fn(&mut Core, usize, &[u8]),
    /// Something that is pending and enabled from before (habit `pending`).
    pub pending: fn(&mut Core),
    /// An engine was reset.
    pub reset: fn(&mut Core, EngineId),
    /// The device is at its power-on state, but for what firmware leaves.
    pub power_on: fn(&mut Core),
    /// Time has passed: called before each access and each step.
    pub settle: fn(&mut Core, now: u64),
}

impl Hooks {
    /// Nothing.
    pub const NONE: Hooks = Hooks {
        read: |_, _| None,
        written: |_, _, _, _, _| {},
        command: |_, _, _| None,
        page_fault: |_, _, _| false,
        aperture: |_, _, _, _| {},
        reset_done: |_, _| {},
        config_byte: |_, _| None,
        config: |_, _, _| {},
        pending: |_| {},
        reset: |_, _| {},
        power_on: |_| {},
        settle: |_, _| {},
    };
}

/// What differs about PIPE_CONTROL.
#[derive(Clone, Copy)]
pub struct PipeControl {
    /// The dword and the bit in it that send a post-sync store through the global table.
    pub global: (usize, u32),
    /// A flush of the write cache or a depth stall wants a stall and a post-sync store before it.
    pub prelude: bool,
    /// Every fourth one stalls the streamer, and so does the one before an invalidation of the state cache.
    pub stalls: bool,
}

impl Chip {
    /// The chip with a name.
    pub fn named(name: &str) -> Option<&'static Chip> {
        CHIPS.iter().copied().find(|c| c.name == name)
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

/// The chips that are served.
pub const CHIPS: &[&Chip] = &[&SNB, &IVB, &G45, &GM45, &G965, &GM965];

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
        for chip in CHIPS {
            for (i, row) in chip.engines.iter().enumerate() {
                assert_eq!(row.id as usize, i, "{}", chip.name);
            }
        }
    }
}
