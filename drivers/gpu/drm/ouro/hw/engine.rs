// SPDX-License-Identifier: GPL-2.0
//! An engine: what starts it, what a request becomes in its ring, what starts the work.

use crate::{
    checker::Checker,
    context::ContextImages,
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    report::Activity,
    ring::{Commands, Overflow},
    translations::TranslationEntry,
    types::{DmaAddr, EngineId, GgttAddr, GpuAddr, MemoryKind, RingOffset, Seqno},
};

/// How work reaches an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortKind {
    /// One ring, in order; a posted write of its tail.
    Ring,
    /// A list of up to so many contexts, each with a ring of its own, in order of priority.
    List {
        /// Entries of the list.
        depth: u8,
    },
}

/// Where, in the status page, a list engine reports what became of its contexts: a ring of 64-bit
/// entries, and the number of the one that was written last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventArea {
    /// Byte offset of entry 0.
    pub at: u32,
    /// How many entries there are. The first one after a start is entry 0.
    pub entries: u8,
    /// Byte offset of the dword with the number of the last one; `entries - 1` after a start.
    pub last_at: u32,
}

/// What a list engine says in an event. Contexts go by the id that is in their descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortEvent {
    /// The context that does not run any more: its image has been saved and may be touched.
    pub from: Option<u32>,
    /// Whether it had no work left; else another one was preferred.
    pub finished: bool,
    /// The context that runs now.
    pub to: Option<u32>,
    /// Whether this is the beginning of a list: the one before it is forgotten.
    pub new_list: bool,
}

/// What an engine's watchdog can be told: for how many microseconds a batch may run, as the backend takes its ticks to
/// be. Ticks may be shorter than that: who is told that a batch takes too long looks at a clock of his own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchdogLimits {
    /// At least.
    pub least: u32,
    /// At most.
    pub most: u32,
}

impl WatchdogLimits {
    /// Whether it can be told so many microseconds.
    pub const fn allow(self, micros: u32) -> bool {
        self.least <= micros && micros <= self.most
    }
}

/// What is fixed about an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineDesc {
    /// Which one it is.
    pub id: EngineId,
    /// Offset of its registers.
    pub registers: u32,
    /// How work reaches it.
    pub port: PortKind,
    /// Bytes of its ring: a power of two.
    pub ring_bytes: u32,
    /// Where addresses end that its ring may have.
    pub ring_end: u64,
    /// The dword that does nothing: what a ring is filled up with to its end.
    pub noop: u32,
    /// Dwords that [`Engine::emit`] writes at most, beside [`Emit::inline`].
    pub emit_dwords: usize,
    /// Dwords that [`Engine::golden`] writes at most; 0 where it writes nothing.
    pub golden_dwords: usize,
    /// Dwords that [`Engine::known_state`] writes; 0 where there is nothing to write.
    pub known_dwords: usize,
    /// How many of these, at their beginning, only keep clients apart: a batch does without them if the last
    /// one on the ring was of the same client.
    pub private_dwords: usize,
    /// Pages that one [`Engine::copy`] moves at most; 0 where the engine cannot.
    pub copy_pages: u32,
    /// Bytes of a page's state of compression, which [`Engine::copy`] can carry with it; 0 where there is none.
    pub state_bytes: u32,
    /// Pages that one [`Engine::fill`] sets at most; 0 where the engine cannot.
    pub fill_pages: u32,
    /// Byte offset, in the status page, of the number of the last completed request.
    pub seqno_at: u32,
    /// Whether it swaps context images.
    pub contexts: bool,
    /// Engines that are reset together while others work have the same number; `None`: reset all.
    pub reset_group: Option<u8>,
    /// Where it reports on its contexts, if its port is a list.
    pub events: Option<EventArea>,
    /// What its watchdog can be told, if it has one that batches are given ([`Emit::watchdog`]).
    pub watchdog: Option<WatchdogLimits>,
}

/// Where a chip wants the status pages of its engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatusPlace {
    /// Anywhere in the global table.
    Table,
    /// In the global table, below the end of the aperture.
    Aperture,
    /// In system memory below 4 GiB, by its address on the bus: no table leads there.
    Bus,
}

/// A status page: the page in which an engine says how far it has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatusPage {
    /// By its address in the global table.
    Ggtt(GgttAddr),
    /// By its address on the bus, below 4 GiB.
    Bus(DmaAddr),
}

impl StatusPage {
    /// Its address in the global table; `None` where the engine has it by its address on the bus.
    pub const fn ggtt(self) -> Option<GgttAddr> {
        match self {
            StatusPage::Ggtt(addr) => Some(addr),
            StatusPage::Bus(_) => None,
        }
    }

    /// A place in it, for a command that names it in the global table. [`Overflow`] where it is not there.
    pub(crate) fn at(self, offset: u32) -> Result<GgttAddr, Overflow> {
        let page = self.ggtt().ok_or(Overflow)?;
        Ok(GgttAddr(page.0.wrapping_add(offset)))
    }

    /// Its address in the global table, for a register. [`DeviceError::Unsupported`] where it is not there.
    pub(crate) fn in_table(self) -> Result<GgttAddr, DeviceError> {
        self.ggtt()
            .ok_or(DeviceError::Unsupported("a status page by its bus address"))
    }
}

/// Memory that the core has given an engine; on a list engine, a context's own for that engine. All
/// of it is in the global table, and zero at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineMemory {
    /// The ring; `ring_bytes` of the description.
    pub ring: GgttAddr,
    /// The status page, where [`Topology::status`](crate::generation::Topology::status) wants it.
    pub status: StatusPage,
    /// A page that flushes write to and nobody reads.
    pub scratch: GgttAddr,
    /// The first slot of the global space's directory, where there is one: what [`Layout::directory`] says, once
    /// more, since it is loaded when an engine starts.
    ///
    /// [`Layout::directory`]: crate::generation::Layout::directory
    pub directory: Option<GgttAddr>,
    /// What [`Topology::card`](crate::generation::Topology::card) says.
    pub card: u32,
}

/// What a batch may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privilege {
    /// What user space sent: it sees only the addresses of its own space.
    User,
    /// What the driver wrote, in the global table.
    Kernel,
}

/// A batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Where its first command is.
    pub addr: GpuAddr,
    /// Bytes, where the caller knows them.
    pub len: u32,
    /// What it may do.
    pub privilege: Privilege,
}

/// The context switch before a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// The right context is loaded, or the engine has none.
    Stay,
    /// Load another one.
    To {
        /// Its image.
        image: GgttAddr,
        /// Whether the image was written before: a fresh one is not read.
        saved: bool,
    },
}

/// A request as an engine sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Emit<'a> {
    /// The context switch.
    pub switch: Switch,
    /// The first slot of the directory to load before the batch, where the space is
    /// [`Translation::PerContextDirectory`]; `None`: the one that the engine has is the right one, and no entry of
    /// it was added since it was loaded.
    ///
    /// [`Translation::PerContextDirectory`]: crate::generation::Translation::PerContextDirectory
    pub directory: Option<GgttAddr>,
    /// The kernel's commands that undo what other batches left ([`Engine::known_state`]), before a batch
    /// of user space on an engine that has some; `None` elsewhere. All of them, or those behind
    /// [`EngineDesc::private_dwords`].
    pub known: Option<Batch>,
    /// The batch; without one, only what is around it is emitted.
    pub batch: Option<Batch>,
    /// Commands of the kernel's own, in place of or before a batch (the golden state).
    pub inline: &'a [u32],
    /// For how many microseconds the batch may run before the engine's watchdog interrupts, within
    /// [`EngineDesc::watchdog`]; `None`: for as long as it likes.
    pub watchdog: Option<u32>,
    /// The number to write when all is done.
    pub seqno: Seqno,
}

/// Whole pages to be copied, in the global table or, where the device's own memory has addresses without
/// one, in that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageCopy {
    /// Where they are.
    pub from: GgttAddr,
    /// Where they go. The two do not overlap.
    pub to: GgttAddr,
    /// How many.
    pub pages: u32,
    /// The memory that they go to.
    pub memory: MemoryKind,
    /// Where their state of compression is put when they leave the device's own memory, or taken from when they
    /// come there: [`EngineDesc::state_bytes`] for each page. `None`: what comes there is not compressed.
    pub state: Option<GgttAddr>,
}

/// Whole pages to be filled, by the same addresses as copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFill {
    /// Where they are.
    pub to: GgttAddr,
    /// How many.
    pub pages: u32,
    /// The dword to fill them with.
    pub value: u32,
    /// The memory that they are in.
    pub memory: MemoryKind,
}

/// Dwords that [`Engine::copy`] and [`Engine::fill`] write at most, on any engine.
pub const COPY_DWORDS: usize = 44;

/// Dwords that [`Engine::restart_streams`] writes at most, on any engine.
pub const STREAM_DWORDS: usize = 10;

/// What starts work.
#[derive(Clone, Copy)]
pub enum Submission<'a> {
    /// The ring's new tail.
    Tail(RingOffset),
    /// A list of contexts.
    List {
        /// Those to run, most urgent first. With none, the one that runs is taken off the engine.
        entries: &'a [ListEntry],
        /// Writes the tail of each into its image. To be called once, right before the write that has the
        /// engine look: a context that runs may be saved in between, with the tail that it had.
        tails: &'a dyn Fn(),
    },
}

/// A context in a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListEntry {
    /// Its descriptor, as the backend made it.
    pub descriptor: u64,
    /// The tail of its ring.
    pub tail: RingOffset,
    /// Whether all of its image is to be loaded, even if the engine has it: where more than the tail has
    /// changed, or the tail has not gone on since it was last in a list.
    pub restore: bool,
}

/// An engine: stateless, one static object.
pub trait Engine: Sync {
    /// What is fixed about it.
    fn desc(&self) -> &'static EngineDesc;

    /// Starts it with an empty ring. The device is awake, and [`Generation::start`] has been run.
    /// It is stopped first, if it runs.
    ///
    /// [`Generation::start`]: crate::generation::Generation::start
    fn start(
        &self,
        hw: &Hw<'_>,
        mem: &EngineMemory,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError>;
    /// The name of a register that does not hold what [`start`](Engine::start) has set it to, if there is one.
    /// Reads registers. The device is awake.
    fn lost(&self, hw: &Hw<'_>) -> Option<&'static str> {
        let _ = hw;
        None
    }
    /// Stops it, in whatever state it is. The device is awake. A [`DeviceError::Timeout`] says that
    /// it was not idle: it was cut off, and only a reset makes it usable again.
    fn stop(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError>;

    /// Writes what a request becomes: invalidate, context, batch start, flush, store of the
    /// number, interrupt. Pure. Ends on a quadword. An engine whose description says that it has no
    /// contexts takes no notice of the switch. [`Overflow`] also where an address does not fit a
    /// command, or the watchdog cannot be told a time.
    fn emit(
        &self,
        request: &Emit<'_>,
        mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow>;

    /// Starts work that is already in memory. The device is awake (`gt` says so, or this is an
    /// error). An error means that the work may not have started: the engine hangs.
    fn submit(
        &self,
        hw: &Hw<'_>,
        gt: &mut Gt,
        what: Submission<'_>,
        wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError>;

    /// Decodes an entry of [`EngineDesc::events`]. Pure. `None` for one that says nothing about
    /// contexts, and where there are none.
    fn event(&self, raw: u64) -> Option<PortEvent> {
        let _ = raw;
        None
    }

    /// Where it reports on its contexts, where that is not known beforehand: `page` is a copy of its status
    /// page, which was all ones before one context ran to its end. `None` if nothing is found there.
    fn find_events(&self, page: &[u32]) -> Option<EventArea> {
        let _ = page;
        self.desc().events
    }

    /// Its images, where engines of a chip have different ones; else
    /// [`Topology::context`](crate::generation::Topology::context) has them.
    fn images(&self) -> Option<&'static dyn ContextImages> {
        None
    }

    /// The checker of the batches that user space sends to this engine; `None` where the chip confines them, and
    /// they run as they are.
    fn checker(&self) -> Option<&'static dyn Checker> {
        None
    }

    /// Commands that give all state that contexts hold a legal value, for the first image.
    fn golden(&self, out: &mut Commands<'_>) -> Result<(), Overflow>;

    /// What is left of [`golden`](Engine::golden) for a card that hangs on it: commands that load registers
    /// alone.
    fn golden_registers(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        self.golden(out)
    }

    /// Commands that give all state that batches can change one and the same value, where no contexts keep
    /// it apart: [`EngineDesc::known_dwords`] of them. They are many, so the core writes them once, to memory
    /// that only the engine reads, and names that in [`Emit::known`] with each batch of user space. A
    /// checker takes for granted what those behind [`EngineDesc::private_dwords`] set. Pure.
    fn known_state(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = out;
        Ok(())
    }

    /// Commands by which the streams of vertices that shaders write start at the beginning of their buffers: at most
    /// [`STREAM_DWORDS`], to stand before a batch. Pure. [`Overflow`] also where the engine has no registers that
    /// say where its streams are.
    fn restart_streams(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = out;
        Err(Overflow)
    }

    /// Commands that copy pages: at most [`COPY_DWORDS`]. Pure. [`Overflow`] also where the engine
    /// cannot, or not so many.
    fn copy(&self, copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = (copy, out);
        Err(Overflow)
    }

    /// Commands that fill pages: at most [`COPY_DWORDS`]. Pure. [`Overflow`] as for [`copy`](Engine::copy).
    fn fill(&self, fill: &PageFill, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = (fill, out);
        Err(Overflow)
    }

    /// What it is doing now. Reads registers. The device is awake.
    fn activity(&self, hw: &Hw<'_>) -> Activity;

    /// The context that runs now on a list engine, by the id in its descriptor. The device is awake.
    fn running(&self, hw: &Hw<'_>) -> Option<u32> {
        let _ = hw;
        None
    }

    /// What its units hold of the translation tables, or wait for. Reads registers. The device is awake.
    fn translations(&self, hw: &Hw<'_>, found: &mut dyn FnMut(TranslationEntry)) {
        let _ = (hw, found);
    }

    /// Ends a wait for an event that will never come. The device is awake.
    /// Returns whether there was one: then the engine goes on without it.
    fn kick(&self, hw: &Hw<'_>) -> bool {
        let _ = hw;
        false
    }
}
