// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The engines of DG2: where each one's registers, interrupts, resets and wells are (DG2 PRM Vol 8
//! "Register Access and User Mode Privileges" for the bases; what the document leaves out from the
//! digest, §3.1, §5.3, §5.5, §5.6, §5.8), and what a command streamer remembers.

use super::execlist::{Descriptor, Queue};
use super::forcewake::Well;
use super::order::Posted;
use super::prefetch::Fetched;
use super::stream::{Frame, Wait};
use super::tlb::Tlb;
use crate::counters::Counter;

/// Kinds of engines, with the numbers that the interrupt identity uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Render.
    Render = 0,
    /// Video decode.
    Decode = 1,
    /// Video enhancement.
    Enhance = 2,
    /// Blitter.
    Copy = 3,
    /// Compute.
    Compute = 5,
}

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum EngineId {
    Rcs = 0,
    Bcs = 1,
    Ccs0 = 2,
    Ccs1 = 3,
    Ccs2 = 4,
    Ccs3 = 5,
    Vcs0 = 6,
    Vcs2 = 7,
    Vecs0 = 8,
    Vecs1 = 9,
}

/// All engines that a DG2 can have.
pub const ENGINES: [EngineId; 10] = [
    EngineId::Rcs,
    EngineId::Bcs,
    EngineId::Ccs0,
    EngineId::Ccs1,
    EngineId::Ccs2,
    EngineId::Ccs3,
    EngineId::Vcs0,
    EngineId::Vcs2,
    EngineId::Vecs0,
    EngineId::Vecs1,
];

/// Their names, in the same order.
pub const NAMES: [&str; 10] = [
    "rcs", "bcs", "ccs0", "ccs1", "ccs2", "ccs3", "vcs0", "vcs2", "vecs0", "vecs1",
];

/// Half of a register: its offset, and 16 for the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half(pub u32, pub u32);

impl EngineId {
    /// Base of its register block.
    pub const fn base(self) -> u32 {
        match self {
            EngineId::Rcs => 0x00_2000,
            EngineId::Bcs => 0x02_2000,
            EngineId::Ccs0 => 0x01_a000,
            EngineId::Ccs1 => 0x01_c000,
            EngineId::Ccs2 => 0x01_e000,
            EngineId::Ccs3 => 0x02_6000,
            EngineId::Vcs0 => 0x1c_0000,
            EngineId::Vcs2 => 0x1d_0000,
            EngineId::Vecs0 => 0x1c_8000,
            EngineId::Vecs1 => 0x1d_8000,
        }
    }

    /// Its kind.
    pub const fn class(self) -> Class {
        match self {
            EngineId::Rcs => Class::Render,
            EngineId::Bcs => Class::Copy,
            EngineId::Ccs0 | EngineId::Ccs1 | EngineId::Ccs2 | EngineId::Ccs3 => Class::Compute,
            EngineId::Vcs0 | EngineId::Vcs2 => Class::Decode,
            EngineId::Vecs0 | EngineId::Vecs1 => Class::Enhance,
        }
    }

    /// Its number among those of its kind.
    pub const fn instance(self) -> u32 {
        match self {
            EngineId::Rcs | EngineId::Bcs | EngineId::Ccs0 | EngineId::Vcs0 | EngineId::Vecs0 => 0,
            EngineId::Ccs1 | EngineId::Vecs1 => 1,
            EngineId::Ccs2 | EngineId::Vcs2 => 2,
            EngineId::Ccs3 => 3,
        }
    }

    /// Its short name.
    pub const fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Its bit in a mask of engines.
    pub const fn mask(self) -> u16 {
        1 << self as u16
    }

    /// Returns bank and bit of the engine in GT_INTR_DW (digest §5.8).
    pub const fn interrupt(self) -> (usize, u32) {
        match self.class() {
            Class::Render => (0, 0),
            Class::Compute => (0, 4 + self.instance()),
            Class::Copy => (0, 15),
            Class::Decode => (1, self.instance()),
            Class::Enhance => (1, 31 - self.instance()),
        }
    }

    /// Which half of which register enables its interrupts (digest §5.8).
    pub const fn enable(self) -> Half {
        match self.class() {
            Class::Render => Half(0x19_0030, 16),
            Class::Copy => Half(0x19_0030, 0),
            Class::Decode => Half(0x19_0034, 16),
            Class::Enhance => Half(0x19_0034, 0),
            Class::Compute => Half(0x19_0048, 16),
        }
    }

    /// Which half of which register masks its interrupts (digest §5.8).
    pub const fn mask_register(self) -> Half {
        match self {
            EngineId::Rcs => Half(0x19_0090, 16),
            EngineId::Bcs => Half(0x19_00a0, 16),
            EngineId::Vcs0 => Half(0x19_00a8, 16),
            EngineId::Vcs2 => Half(0x19_00ac, 16),
            EngineId::Vecs0 => Half(0x19_00d0, 16),
            EngineId::Vecs1 => Half(0x19_00d0, 0),
            EngineId::Ccs0 => Half(0x19_0100, 16),
            EngineId::Ccs1 => Half(0x19_0100, 0),
            EngineId::Ccs2 => Half(0x19_0104, 16),
            EngineId::Ccs3 => Half(0x19_0104, 0),
        }
    }

    /// Its bit in GDRST; compute engines go with the render engine (digest §5.6).
    pub const fn reset_bit(self) -> u32 {
        match self.class() {
            Class::Render | Class::Compute => 1 << 1,
            Class::Copy => 1 << 2,
            Class::Decode => 1 << (5 + self.instance()),
            Class::Enhance => 1 << (13 + self.instance()),
        }
    }

    /// The well that its registers are in (digest §5.5).
    pub const fn well(self) -> Well {
        match self {
            EngineId::Bcs => Well::Gt,
            EngineId::Vcs0 => Well::Vdbox0,
            EngineId::Vcs2 => Well::Vdbox2,
            EngineId::Vecs0 => Well::Vebox0,
            EngineId::Vecs1 => Well::Vebox1,
            _ => Well::Render,
        }
    }

    /// The register that invalidates its TLB, and its bit there (digest §3.3 row 16).
    pub const fn tlb_register(self) -> (u32, u32) {
        match self.class() {
            Class::Render => (0xced8, 1),
            Class::Decode => (0xcedc, 1 << self.instance()),
            Class::Enhance => (0xcee0, 1 << self.instance()),
            Class::Copy => (0xcee4, 1),
            Class::Compute => (0xcf04, 1 << self.instance()),
        }
    }

    /// Its number in RING_FAULT. The document has none; these are those of the upstream driver's
    /// hardware numbers.
    pub const fn fault_number(self) -> u32 {
        match self {
            EngineId::Vcs0 => 1,
            EngineId::Bcs => 2,
            EngineId::Vecs0 => 3,
            EngineId::Vcs2 => 6,
            EngineId::Vecs1 => 12,
            _ => 0,
        }
    }

    /// Pages of its context image, the status page among them (digest §5.10).
    pub const fn image_pages(self) -> u64 {
        match self.class() {
            Class::Render | Class::Compute => 14,
            _ => 2,
        }
    }

    /// True for the two kinds with PIPE_CONTROL and MI_PREDICATE.
    pub const fn is_3d(self) -> bool {
        matches!(self.class(), Class::Render | Class::Compute)
    }

    /// The engine whose 4 KB register block holds `offset`.
    pub fn of_block(offset: u32) -> Option<EngineId> {
        ENGINES.into_iter().find(|e| offset & !0xfff == e.base())
    }

    pub(crate) const fn commands_counter(self) -> Counter {
        match self.class() {
            Class::Render => Counter::RcsCommands,
            Class::Copy => Counter::BcsCommands,
            Class::Compute => Counter::CcsCommands,
            Class::Decode => Counter::VcsCommands,
            Class::Enhance => Counter::VecsCommands,
        }
    }

    pub(crate) const fn user_counter(self) -> Counter {
        match self.class() {
            Class::Render => Counter::RcsUserInterrupts,
            Class::Copy => Counter::BcsUserInterrupts,
            Class::Compute => Counter::CcsUserInterrupts,
            Class::Decode => Counter::VcsUserInterrupts,
            Class::Enhance => Counter::VecsUserInterrupts,
        }
    }
}

/// Why a command streamer does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It does go on.
    Running,
    /// An instruction that is none; only a reset helps.
    Error,
    /// A translation failed; only a reset helps.
    Fault,
    /// An injected hang.
    Hung,
}

/// What a command streamer remembers beside its registers.
pub(crate) struct Engine {
    pub stop: Stop,
    /// Next element that the port fills.
    pub port: usize,
    /// It stopped by an error that has been taken back: it can be reset as it is, and as often, until
    /// there is work again (digest §5.6).
    pub excused: bool,
    /// The execution queue.
    pub queue: Queue,
    /// A newer queue, loaded and not yet switched to.
    pub pending: Option<Queue>,
    /// The element that runs.
    pub current: Option<Descriptor>,
    /// Batch buffers that are being executed, the innermost last.
    pub frames: Vec<Frame>,
    pub arbitration: bool,
    pub preparser: bool,
    pub wait: Option<Wait>,
    /// MI_SEMAPHORE_SIGNAL named the context that runs.
    pub signalled: bool,
    pub posted: Posted,
    pub tlb: Tlb,
    /// Whose translations these are: image and root of the context that was restored last.
    pub translated: Option<(u64, u64)>,
    pub fetched: Fetched,
    /// Events latched for the interrupt tree.
    pub events: u32,
    pub fault_next: bool,
    pub work_begins: bool,
    pub not_before: u64,
    /// How often the batch has jumped.
    pub pace: crate::pace::Pace,
    pub rested: bool,
    pub partial_reported: bool,
    /// When the running context began, for its own clock; ticks of the time stamp.
    pub since: u64,
    /// The watchdog's counter, and the tick up to which it has counted.
    pub watchdog: u32,
    pub watched: u64,
    /// It was loaded, and ran a program, since it was reset.
    pub loaded: bool,
    pub programmed: bool,
    /// What of a large operation is still to do.
    pub blit: Option<super::blt::Job>,
}

impl Engine {
    pub fn new() -> Self {
        Engine {
            stop: Stop::Running,
            port: 0,
            excused: false,
            queue: Queue::default(),
            pending: None,
            current: None,
            frames: Vec::new(),
            arbitration: true,
            preparser: true,
            wait: None,
            signalled: false,
            posted: Posted::default(),
            tlb: Tlb::default(),
            translated: None,
            fetched: Fetched::default(),
            events: 0,
            fault_next: false,
            work_begins: true,
            not_before: 0,
            pace: Default::default(),
            rested: false,
            partial_reported: false,
            since: 0,
            watchdog: 0,
            watched: 0,
            loaded: false,
            programmed: false,
            blit: None,
        }
    }
}
