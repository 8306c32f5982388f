// SPDX-License-Identifier: GPL-2.0
//! A generation as a whole: what it has, how it is brought up, its interrupts and resets.

use crate::{
    chips::Chip,
    coherence::Coherence,
    context::ContextImages,
    engine::{Engine, StatusPlace},
    fence_regs::FenceRegs,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    page_table::PageTable,
    report::Report,
    types::{EngineId, GgttAddr, Page},
};
use core::{fmt, ops::Range};

/// Where a window of a device is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Number of the base address register.
    pub bar: u8,
    /// First byte.
    pub start: u32,
    /// Bytes, or 0 for all that follow.
    pub len: u32,
    /// How the CPU maps it.
    pub mapping: Mapping,
}

/// How the CPU maps a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mapping {
    /// Each access by itself, and in order.
    Uncached,
    /// Writes may be put together, and come late.
    WriteCombining,
}

/// The windows, as the driver maps them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Windows {
    /// Registers.
    pub regs: Window,
    /// The translation table.
    pub gtt: Window,
    /// The aperture, where there is one: it shows what the global table maps.
    pub aperture: Option<Window>,
    /// The device's own memory, where it has some. The table's window may be a part
    /// of it.
    pub local: Option<Window>,
}

/// Memory of the device's own that objects can live in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalMemory {
    /// Bytes.
    pub size: u64,
    /// Bytes, from the first one on, that the CPU can map.
    pub cpu_visible: u64,
    /// Where its first byte is in the window [`Windows::local`]: what lies before is the backend's.
    pub window_at: u64,
    /// The address of its first byte, where engines reach it without a table; else it has entries
    /// like other memory.
    pub at: Option<GgttAddr>,
    /// Bytes of its smallest piece, of which sizes and addresses are multiples there: a power of two, and
    /// at least a page.
    pub grain: u32,
}

/// What a plane of the display shows, as the firmware left it: a range of the global table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scanout {
    /// The first entry that the plane fetches through.
    pub first: u32,
    /// How many there are.
    pub entries: u32,
    /// The bytes of the device's own memory that these entries lead to, and what lies between them; `None`
    /// if they lead to the system's memory.
    pub local: Option<Range<u64>>,
}

/// How batches are translated.
#[derive(Clone, Copy)]
pub enum Translation {
    /// By the global table, which all share.
    Global,
    /// By a table of tables that repeats the global one, entry for entry (the same address means
    /// the same page in both).
    Aliasing {
        /// Entries of the directory, each for one page of entries. Those that reach beyond the
        /// global table point at a page of entries of the scratch page.
        directories: u32,
        /// Alignment, in entries of the global table, of the slots that hold the directory.
        align: u32,
    },
    /// By a directory of its own for each context, which a request loads on an engine with one ring where another one
    /// is loaded ([`Emit::directory`](crate::engine::Emit::directory)). The global space has one too, as
    /// [`Aliasing`](Self::Aliasing): the kernel's requests have that, and an engine that was started.
    ///
    /// Engines keep the entries that they have loaded: one that is added is seen by what loads the directory after
    /// that, and none that is loaded may be taken away.
    PerContextDirectory {
        /// Entries of a directory, each for one page of entries.
        directories: u32,
        /// Alignment, in entries of the global table, of the slots that hold a directory.
        align: u32,
    },
    /// By a tree of its own for each context.
    PerContext {
        /// Bits of an address.
        bits: u8,
        /// The format of its tables.
        tables: &'static dyn PageTable,
    },
}

impl Translation {
    /// How many entries the global space's directory has, and to how many slots it is aligned, where there is one.
    pub const fn directory(&self) -> Option<(u32, u32)> {
        match *self {
            Translation::Aliasing { directories, align }
            | Translation::PerContextDirectory { directories, align } => Some((directories, align)),
            Translation::Global | Translation::PerContext { .. } => None,
        }
    }

    /// Whether each context has a space of its own.
    pub const fn is_per_context(&self) -> bool {
        matches!(
            self,
            Translation::PerContext { .. } | Translation::PerContextDirectory { .. }
        )
    }
}

/// How a chip mixes higher address bits into bit 6 of tiled surfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Swizzle {
    /// Not at all.
    #[default]
    None,
    /// X tiles by bits 9 and 10, Y tiles by bit 9.
    Bit9_10,
    /// X tiles by bits 9, 10 and 11, Y tiles by bits 9 and 11.
    Bit9_10_11,
    /// X tiles by bits 9, 10 and 17, Y tiles by bits 9 and 17: the last one is of the page's address in memory.
    Bit9_10_17,
    /// Nobody knows how; perhaps by bits of the page's address in memory.
    Unknown,
}

impl Swizzle {
    /// Whether the order of bytes depends on where in memory a page is: then the page of a tiled object whose
    /// contents are needed stays where it is.
    pub const fn depends_on_memory(self) -> bool {
        matches!(self, Swizzle::Bit9_10_17 | Swizzle::Unknown)
    }
}

/// Who may send batches that run with privilege.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecureBatches {
    /// The current master of the device, if it is an administrator.
    Master,
    /// Nobody.
    Nobody,
    /// Nobody: its interface does not know them any more.
    Unknown,
}

/// How many units draw, where user space asks for that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pipes {
    /// Of colour.
    pub colour: u8,
    /// Of depth.
    pub depth: u8,
}

/// The units that run shaders, where user space asks for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaders {
    /// Those that draw: a bit each, of one flat row.
    pub geometry: u32,
    /// Those that compute, in the same row.
    pub compute: u32,
    /// What each of them has: a bit for an execution unit.
    pub units: u16,
}

impl Shaders {
    /// How many there are.
    pub const fn count(&self) -> u32 {
        (self.geometry | self.compute).count_ones()
    }
}

/// What [`Generation::probe`] found.
#[derive(Clone, Copy)]
pub struct Topology {
    /// The engines, in the order in which everything else counts them.
    pub engines: &'static [&'static dyn Engine],
    /// Entries of the global translation table.
    pub gtt_entries: u32,
    /// The format of the global table, and of those that repeat it.
    pub pages: &'static dyn PageTable,
    /// How batches are translated.
    pub space: Translation,
    /// Bytes of the aperture that the CPU sees.
    pub aperture: u64,
    /// Detiling fences, where the chip has them.
    pub fences: Option<&'static dyn FenceRegs>,
    /// Hardware contexts, where the chip has them.
    pub context: Option<&'static dyn ContextImages>,
    /// Memory of the device's own, beside the system's.
    pub local: Option<LocalMemory>,
    /// Bit-6 swizzle.
    pub swizzle: Swizzle,
    /// What the device sees of the CPU's caches.
    pub coherence: Coherence,
    /// Where engines have their status pages.
    pub status: StatusPlace,
    /// Ticks of the timestamp register in a second.
    pub timestamp_hz: u32,
    /// Bytes of a context image, of the largest one where engines differ; 0 where there are none.
    pub context_bytes: u32,
    /// Bytes of system memory that the firmware took for the device. Nobody uses them.
    pub stolen_bytes: u64,
    /// PCI revision.
    pub revision: u8,
    /// Whether interrupts may come as messages; else the line is used even where both are offered.
    pub msi: bool,
    /// The units that draw.
    pub pipes: Pipes,
    /// The units that run shaders, where the fuses say so.
    pub shaders: Option<Shaders>,
    /// What an engine's commands and registers depend on in this very card, as the backend likes. The core
    /// hands it on in [`EngineMemory::card`](crate::engine::EngineMemory::card) and [`Hw::card`].
    pub card: u32,
}

impl Topology {
    /// Whether an engine that hangs is reset while others work.
    pub fn resets_engines(&self) -> bool {
        self.engines.iter().all(|e| e.desc().reset_group.is_some())
    }

    /// Whether a batch without privilege reaches only the objects that its address space maps, so that it may run as
    /// user space wrote it. By the global table it reaches what all have.
    pub fn confines(&self) -> bool {
        !matches!(self.space, Translation::Global)
    }

    /// What user space calls an engine: its class, and its number among those of the class that this card has.
    pub fn name(&self, engine: usize) -> Option<EngineId> {
        let class = self.engines.get(engine)?.desc().id.class;
        let before = self.engines.iter().take(engine);
        let instance = before.filter(|e| e.desc().id.class == class).count() as u8;
        Some(EngineId { class, instance })
    }
}

/// Where the core has put the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The page behind every hole.
    pub scratch: Page,
    /// The first slot of the global table that holds the global space's directory, where
    /// [`Translation::directory`] says that there is one.
    pub directory: Option<GgttAddr>,
}

/// Why a card cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceError {
    /// The firmware gave it no translation table.
    NoTranslationTable,
    /// It reads all ones.
    Gone,
    /// It did not answer in time; the text names the register.
    Timeout(&'static str),
    /// It is set up in a way the driver cannot use; the text says how.
    Unsupported(&'static str),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::NoTranslationTable => {
                f.write_str("no translation table from the firmware")
            }
            DeviceError::Gone => f.write_str("it is gone: registers read all ones"),
            DeviceError::Timeout(register) => write!(f, "no answer in time: {register}"),
            DeviceError::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}

/// What an interrupt was about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Events {
    /// It was not this device's.
    pub ours: bool,
    /// Engines (bit n: the n-th of the topology) that completed something, or have an event about their
    /// contexts.
    pub completed: u32,
    /// Engines that report an error.
    pub errors: u32,
    /// Engines whose watchdog says that a batch has run for longer than it may. It may be done by now.
    pub overdue: u32,
}

/// What to reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResetScope {
    /// All engines.
    All,
    /// One, by its number in the topology, and those that are reset with it
    /// ([`EngineDesc::reset_group`](crate::engine::EngineDesc::reset_group)).
    Engine(usize),
}

/// A generation: stateless, one static object.
///
/// In order: [`wake`] with a fresh [`Gt`], [`probe`], [`prepare`], the global table is written, [`start`]
/// and [`gtt_on`], each engine's start, [`irq_on`], work, [`sleep`]. The device is awake whenever `probe`,
/// `prepare`, `start`, `reset`, `errors` or a function of an engine is called; the interrupt functions,
/// `gtt_on`, `gtt_flush`, `gtt_settle`, `stop` and fences do without.
///
/// [`wake`]: Generation::wake
/// [`probe`]: Generation::probe
/// [`prepare`]: Generation::prepare
/// [`start`]: Generation::start
/// [`gtt_on`]: Generation::gtt_on
/// [`irq_on`]: Generation::irq_on
/// [`sleep`]: Generation::sleep
pub trait Generation: Sync {
    /// Short name, as user space sees it: `gen6`.
    fn name(&self) -> &'static str;
    /// Where the windows are.
    fn windows(&self) -> Windows;
    /// The file with the code that its command processor needs, as the firmware loader names it. The
    /// core loads it before [`start`](Generation::start), and hands it in as [`Hw::firmware`].
    fn firmware(&self) -> Option<&'static str> {
        None
    }
    /// Bits of an address that the device can put on the bus: all memory that it is given is below. Where chips of a
    /// generation differ in it, each has an object of its own.
    fn dma_bits(&self) -> u8;
    /// Who may send batches that run with privilege.
    fn secure_batches(&self) -> SecureBatches {
        SecureBatches::Nobody
    }
    /// Whether a reset of all empties the fences over the aperture: then the core writes them anew after
    /// [`start`](Self::start).
    fn reset_empties_fences(&self) -> bool {
        false
    }
    /// Looks what the chip has. Changes nothing in it.
    fn probe(&self, hw: &Hw<'_>, chip: &Chip) -> Result<Topology, DeviceError>;

    /// Finds the planes of the display that the firmware left on, before anything of the device is written.
    /// The core keeps their entries and memory as they are, as long as the driver is bound and after it, so
    /// that the picture stays. A backend that switches the display off in [`start`](Self::start) names none.
    /// The device is awake. Ranges may overlap.
    fn scanouts(&self, hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
        let _ = (hw, topo, found);
    }

    /// Makes the place of the global table fit to be written, and proves that it is memory: before it is
    /// written for the first time, and again on resume. The table is off ([`gtt_on`](Self::gtt_on)). Fences
    /// may be lost by it.
    fn prepare(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let _ = (hw, topo, wait);
        Ok(())
    }

    /// Brings the device from any state into one where engines can be started: awake as long as this
    /// runs and after it, reset, workarounds, swizzle, tables; all interrupts masked. Also after a reset
    /// of all and on resume. The tables are filled; the global one is off while this runs, where it can be
    /// ([`gtt_on`](Self::gtt_on)). Fences stay as they are: the core sets or clears each of them when it
    /// starts or resumes a device, and sets them anew after a reset of all.
    fn start(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError>;
    /// The same after a hang: whatever the engines ran has ended. For a backend whose [`start`](Self::start) does
    /// without a reset of all.
    fn restart(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        self.start(hw, topo, layout, wait)
    }
    /// Leaves the device quiet: interrupts off, nothing pending.
    fn stop(&self, hw: &Hw<'_>);

    /// Wakes the device, so that posted writes reach it. Nothing if it is awake.
    fn wake(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError>;
    /// Lets it sleep.
    fn sleep(&self, hw: &Hw<'_>, gt: &mut Gt);

    /// Lets interrupts through to the CPU: errors at once, completions when armed.
    fn irq_on(&self, hw: &Hw<'_>, gt: &mut Gt);
    /// Lets none through.
    fn irq_off(&self, hw: &Hw<'_>, gt: &mut Gt);
    /// Arms or disarms the completion interrupt of an engine. Idempotent. When this returns, an
    /// armed interrupt is armed in the device: look at the progress once more and then wait. What is
    /// armed stays so across [`irq_off`](Generation::irq_off) and [`irq_on`](Generation::irq_on).
    fn irq_arm(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool);
    /// Lets an engine's watchdog interrupt, or not, as [`irq_arm`](Generation::irq_arm) does for its completions.
    /// Nothing where the engine has none.
    fn irq_watch(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        let _ = (hw, gt, engine, on);
    }
    /// In the interrupt, with no lock: takes the events off the device.
    fn irq_ack(&self, hw: &Hw<'_>) -> Events;

    /// Resets. The engines must be started again after it; after a reset of all, run
    /// [`start`](Generation::start) first.
    fn reset(&self, hw: &Hw<'_>, what: ResetScope, wait: &dyn SleepWait)
        -> Result<(), DeviceError>;

    /// Switches the global table on or off, where it can be off: on when its entries are good and the device
    /// was started. Under the lock of the `Gt`, as [`gtt_flush`](Generation::gtt_flush).
    fn gtt_on(&self, hw: &Hw<'_>, on: bool) {
        let _ = (hw, on);
    }

    /// After entries of the global table were written: lets the CPU's and the command streamers'
    /// accesses see them. (Engines' caches of entries are flushed by each request's prologue, where the
    /// engines have caches of their own.) A table that is off stays off. Under the lock of the `Gt`.
    fn gtt_flush(&self, hw: &Hw<'_>);

    /// The same, and it has taken effect when this returns: before the CPU reaches the entries by another way
    /// than registers, and before memory that they led to changes hands. Submission does with
    /// [`gtt_flush`](Self::gtt_flush), which may be posted: the write that starts the work comes behind it.
    fn gtt_settle(&self, hw: &Hw<'_>) {
        self.gtt_flush(hw);
    }

    /// Whether units may hold entries longer than the invalidations in requests say, so that memory changes
    /// hands only after [`invalidate_tlbs`](Self::invalidate_tlbs).
    fn holds_entries(&self) -> bool {
        false
    }

    /// Throws away each copy of a table's entry that a unit holds, by registers: afterwards none of them
    /// reaches a page that was unmapped before. The device is awake. One at a time. Sleeps.
    fn invalidate_tlbs(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let _ = (hw, topo, wait);
        Ok(())
    }

    /// Whether a batch finds in registers what another's batch left there, whatever contexts they are of, and
    /// nothing here clears them: then the core lets one user at a time run batches.
    fn keeps_leftovers(&self) -> bool {
        false
    }

    /// The value of a register of 64 bits that user space may read; `None` for any other one. The
    /// device is awake.
    fn user_register(&self, hw: &Hw<'_>, offset: u32) -> Option<u64> {
        let _ = (hw, offset);
        None
    }

    /// Reads the errors and faults of all engines, and clears them in the device. It has the `Gt`, as
    /// [`gtt_flush`](Generation::gtt_flush) runs under the same lock and both may need one index register.
    fn errors(&self, hw: &Hw<'_>, gt: &mut Gt, topo: &Topology) -> Report;
}
