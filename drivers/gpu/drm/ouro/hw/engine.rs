// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The trait of an engine: its start, the commands of a request, the write that starts the work.

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

/// How work is submitted to an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortKind {
    /// A ring buffer, executed in order; a write of its tail starts work.
    Ring,
    /// An execlist: contexts with a ring each, in order of priority.
    List {
        /// Number of entries that a list may have.
        depth: u8,
    },
}

/// The context status buffer (CSB) of an execlist engine, in its status page: a ring of 64-bit
/// events, and the index of the event that was written last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventArea {
    /// Byte offset of event 0.
    pub at: u32,
    /// Number of events. The engine writes event 0 first after a start.
    pub entries: u8,
    /// Byte offset of the dword with the index of the last event; it is `entries - 1` after a
    /// start.
    pub last_at: u32,
}

/// A context switch event of an execlist engine. Contexts are named by the id in their descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortEvent {
    /// The context that stopped running: its image has been saved, and the CPU may access it.
    pub from: Option<u32>,
    /// Whether that context ran out of work; if not, it was preempted.
    pub finished: bool,
    /// The context that runs now.
    pub to: Option<u32>,
    /// Whether the engine started a new list. It has dropped the previous one.
    pub new_list: bool,
}

/// The limits of an engine's watchdog, in microseconds. The backend computes its tick from the
/// document, and real ticks may be shorter: after the interrupt, the core checks the time itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchdogLimits {
    /// Shortest time.
    pub least: u32,
    /// Longest time.
    pub most: u32,
}

impl WatchdogLimits {
    /// Returns whether the watchdog can be set to `micros` microseconds.
    pub const fn allow(self, micros: u32) -> bool {
        self.least <= micros && micros <= self.most
    }
}

/// The fixed properties of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineDesc {
    /// Class and instance.
    pub id: EngineId,
    /// Offset of its registers.
    pub registers: u32,
    /// How work is submitted to it.
    pub port: PortKind,
    /// Size of its ring in bytes: a power of two.
    pub ring_bytes: u32,
    /// End of the addresses that its ring may have.
    pub ring_end: u64,
    /// The no-op that fills a ring up to its end.
    pub noop: u32,
    /// Most dwords that [`Engine::emit`] writes, beside [`Emit::inline`].
    pub emit_dwords: usize,
    /// Most dwords that [`Engine::golden`] writes; 0 if it writes none.
    pub golden_dwords: usize,
    /// Number of dwords that [`Engine::known_state`] writes; 0 if it writes none.
    pub known_dwords: usize,
    /// How many of these, at the beginning, only isolate clients from each other. They are skipped
    /// if the last batch on the ring was of the same client.
    pub private_dwords: usize,
    /// Most pages that one [`Engine::copy`] moves; 0 if the engine cannot copy.
    pub copy_pages: u32,
    /// Bytes of compression state (CCS) per page that [`Engine::copy`] can move along; 0 if there
    /// is none.
    pub state_bytes: u32,
    /// Most pages that one [`Engine::fill`] sets; 0 if the engine cannot fill.
    pub fill_pages: u32,
    /// Byte offset in the status page of the seqno of the last completed request.
    pub seqno_at: u32,
    /// Whether requests switch context images (`MI_SET_CONTEXT`).
    pub contexts: bool,
    /// Engines with the same number are reset together, while others work. `None`: only a reset of
    /// all engines resets this one.
    pub reset_group: Option<u8>,
    /// The context status buffer, if the port is an execlist.
    pub events: Option<EventArea>,
    /// Limits of the watchdog, if the engine has one that can be set per batch
    /// ([`Emit::watchdog`]).
    pub watchdog: Option<WatchdogLimits>,
}

/// Where the engines of a chip must have their status pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatusPlace {
    /// Anywhere in the GGTT.
    Table,
    /// In the GGTT, below the end of the aperture.
    Aperture,
    /// In system memory below 4 GiB, by its DMA address, without a GGTT mapping.
    Bus,
}

/// The address of a hardware status page, where an engine stores its seqno.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatusPage {
    /// A GGTT address.
    Ggtt(GgttAddr),
    /// A DMA address below 4 GiB.
    Bus(DmaAddr),
}

impl StatusPage {
    /// Returns its GGTT address; `None` if the engine has it by its DMA address.
    pub const fn ggtt(self) -> Option<GgttAddr> {
        match self {
            StatusPage::Ggtt(addr) => Some(addr),
            StatusPage::Bus(_) => None,
        }
    }

    /// Returns the GGTT address of byte `offset` in it, for a command; [`Overflow`] if it is not in
    /// the GGTT.
    pub(crate) fn at(self, offset: u32) -> Result<GgttAddr, Overflow> {
        let page = self.ggtt().ok_or(Overflow)?;
        Ok(GgttAddr(page.0.wrapping_add(offset)))
    }

    /// Returns its GGTT address, for a register; [`DeviceError::Unsupported`] if it is not in the
    /// GGTT.
    pub(crate) fn in_table(self) -> Result<GgttAddr, DeviceError> {
        self.ggtt()
            .ok_or(DeviceError::Unsupported("HWSP outside the GGTT"))
    }
}

/// The memory that the core gives an engine; on an execlist engine, one for each context there. All
/// of it is mapped in the GGTT and zeroed at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineMemory {
    /// The ring: [`EngineDesc::ring_bytes`] long.
    pub ring: GgttAddr,
    /// The status page, placed as [`Topology::status`](crate::generation::Topology::status)
    /// demands.
    pub status: StatusPage,
    /// A page for the writes of flushes; its contents are never read.
    pub scratch: GgttAddr,
    /// The first slot of the global space's directory, if there is one: a copy of
    /// [`Layout::directory`], since an engine loads it at its start.
    ///
    /// [`Layout::directory`]: crate::generation::Layout::directory
    pub directory: Option<GgttAddr>,
    /// A copy of [`Topology::card`](crate::generation::Topology::card).
    pub card: u32,
}

/// The privilege of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privilege {
    /// Written by user space: it reaches the addresses of its own space only.
    User,
    /// Written by the driver, in the GGTT.
    Kernel,
}

/// A batch buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Address of its first command.
    pub addr: GpuAddr,
    /// Length in bytes, if the caller knows it.
    pub len: u32,
    /// Its privilege.
    pub privilege: Privilege,
}

/// The context switch before a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// None: the context is loaded already, or the engine has no contexts.
    Stay,
    /// Load another context.
    To {
        /// GGTT address of its image.
        image: GgttAddr,
        /// Whether the image was saved before; if not, the switch must not restore it.
        saved: bool,
    },
}

/// The contents of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Emit<'a> {
    /// The context switch.
    pub switch: Switch,
    /// The first slot of the directory to load before the batch, on chips with
    /// [`Translation::PerContextDirectory`]. `None`: the right directory is loaded, and no PDE was
    /// added to it since.
    ///
    /// [`Translation::PerContextDirectory`]: crate::generation::Translation::PerContextDirectory
    pub directory: Option<GgttAddr>,
    /// The commands of [`Engine::known_state`], to run before a batch of user space: all of them,
    /// or those behind [`EngineDesc::private_dwords`]. `None` on engines that have none.
    pub known: Option<Batch>,
    /// The batch; `None` for a request without one.
    pub batch: Option<Batch>,
    /// Commands of the kernel's own to emit into the ring, before a batch or instead of one (the
    /// golden state).
    pub inline: &'a [u32],
    /// Microseconds after which the engine's watchdog interrupts the batch, within
    /// [`EngineDesc::watchdog`]; `None` for no limit.
    pub watchdog: Option<u32>,
    /// The seqno to store when all is done.
    pub seqno: Seqno,
}

/// A copy of whole pages. Addresses are GGTT addresses, or VRAM addresses on chips that reach VRAM
/// without a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageCopy {
    /// Source.
    pub from: GgttAddr,
    /// Destination. It does not overlap the source.
    pub to: GgttAddr,
    /// Number of pages.
    pub pages: u32,
    /// Memory of the destination.
    pub memory: MemoryKind,
    /// Where to save the compression state (CCS) of pages that leave VRAM, or to restore it from
    /// for pages that enter VRAM: [`EngineDesc::state_bytes`] a page. `None`: pages that enter VRAM
    /// are not compressed.
    pub state: Option<GgttAddr>,
}

/// A register of the context images that a workaround changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContextWorkaround {
    /// Byte offset of the register.
    pub offset: u32,
    /// The bits that the workaround sets or clears, as a read returns them.
    pub bits: u32,
    /// Their value.
    pub value: u32,
}

/// A fill of whole pages, by the same addresses as [`PageCopy`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFill {
    /// Destination.
    pub to: GgttAddr,
    /// Number of pages.
    pub pages: u32,
    /// The dword to fill them with.
    pub value: u32,
    /// Memory of the destination.
    pub memory: MemoryKind,
}

/// Most dwords that [`Engine::copy`] and [`Engine::fill`] write, on any engine.
pub const COPY_DWORDS: usize = 44;

/// Most dwords that [`Engine::restart_streams`] writes, on any engine.
pub const STREAM_DWORDS: usize = 10;

/// The write that starts work.
#[derive(Clone, Copy)]
pub enum Submission<'a> {
    /// The ring's new tail.
    Tail(RingOffset),
    /// An execlist.
    List {
        /// The contexts to run, most urgent first. An empty list preempts the running context.
        entries: &'a [ListEntry],
        /// Writes the tail of each context into its image. The backend calls it exactly once, right
        /// before the register write that loads the list: until then the engine may save a running
        /// context and so overwrite the tail in its image.
        tails: &'a dyn Fn(),
    },
}

/// A context in an execlist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListEntry {
    /// Its descriptor, from [`ContextImages::descriptor`].
    pub descriptor: u64,
    /// The tail of its ring.
    pub tail: RingOffset,
    /// Whether the engine must restore the whole image even if the context is loaded: needed if
    /// more than the tail has changed, or if the tail has not advanced since the context was last
    /// in a list.
    pub restore: bool,
}

/// An engine: a stateless static object.
pub trait Engine: Sync {
    /// Returns its fixed properties.
    fn desc(&self) -> &'static EngineDesc;

    /// Starts the engine with an empty ring, after stopping it if it runs. The device must be
    /// awake, and [`Generation::start`] must have run.
    ///
    /// [`Generation::start`]: crate::generation::Generation::start
    fn start(
        &self,
        hw: &Hw<'_>,
        mem: &EngineMemory,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError>;
    /// Returns the name of a register that lost the value that [`start`](Engine::start) gave it, if
    /// there is one. The device must be awake.
    fn lost(&self, hw: &Hw<'_>) -> Option<&'static str> {
        let _ = hw;
        None
    }
    /// Stops the engine, whatever its state. The device must be awake. [`DeviceError::Timeout`]
    /// means that it was not idle: it was cut off, and only a reset makes it usable again.
    fn stop(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError>;

    /// Writes the commands of a request: invalidation, context switch, batch start, flush, store of
    /// the seqno, interrupt. Pure. The length is a multiple of a quadword. An engine with
    /// [`EngineDesc::contexts`] false ignores the switch. Returns [`Overflow`] if `out` is full, if
    /// an address does not fit a command, or if the watchdog cannot be set to the given time.
    fn emit(
        &self,
        request: &Emit<'_>,
        mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow>;

    /// Starts work whose commands are in memory. The device must be awake; if `gt` says that it is
    /// not, this is an error. After an error the work may not have started, and counts as a hang.
    fn submit(
        &self,
        hw: &Hw<'_>,
        gt: &mut Gt,
        what: Submission<'_>,
        wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError>;

    /// Decodes an event of [`EngineDesc::events`]. Pure. `None` if the event is not about contexts,
    /// or the engine has no context status buffer.
    fn event(&self, raw: u64) -> Option<PortEvent> {
        let _ = raw;
        None
    }

    /// Finds the context status buffer if its place is not known beforehand. `page` is a copy of
    /// the status page, which was filled with ones before one context ran to its end. `None` if no
    /// event is found there.
    fn find_events(&self, page: &[u32]) -> Option<EventArea> {
        let _ = page;
        self.desc().events
    }

    /// Returns the engine's context images if they differ between the engines of a chip; `None` if
    /// [`Topology::context`](crate::generation::Topology::context) applies.
    fn images(&self) -> Option<&'static dyn ContextImages> {
        None
    }

    /// Returns the checker of user batches on this engine; `None` if the hardware confines them, so
    /// that they run unchecked.
    fn checker(&self) -> Option<&'static dyn Checker> {
        None
    }

    /// Writes commands that give all state of a context a valid value: the golden context.
    fn golden(&self, out: &mut Commands<'_>) -> Result<(), Overflow>;

    /// Writes the part of [`golden`](Engine::golden) that only loads registers, for cards that hang
    /// on the whole, or must not hang
    /// ([`Generation::reset_darkens`](crate::Generation::reset_darkens)).
    fn golden_registers(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        self.golden(out)
    }

    /// Passes each register of the context images that a workaround changes to `each`, if the
    /// register can be read. Pure.
    fn context_workarounds(&self, each: &mut dyn FnMut(ContextWorkaround)) {
        let _ = each;
    }

    /// Writes commands that set all state that batches can change to fixed values, on engines
    /// without contexts: [`EngineDesc::known_dwords`] of them. The core writes them once, to memory
    /// that only the engine reads, and passes that as [`Emit::known`] with each batch of user
    /// space. A checker relies on the values set behind [`EngineDesc::private_dwords`]. Pure.
    fn known_state(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = out;
        Ok(())
    }

    /// Writes commands that reset the offsets of stream output (SO) buffers: at most
    /// [`STREAM_DWORDS`], to be emitted before a batch. Pure. Returns [`Overflow`] if `out` is full
    /// or the engine has no such registers.
    fn restart_streams(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = out;
        Err(Overflow)
    }

    /// Writes commands that copy pages: at most [`COPY_DWORDS`]. Pure. Returns [`Overflow`] if
    /// `out` is full, the engine cannot copy, or `copy` has more than [`EngineDesc::copy_pages`].
    fn copy(&self, copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = (copy, out);
        Err(Overflow)
    }

    /// Writes commands that fill pages: at most [`COPY_DWORDS`]. Pure. Returns [`Overflow`] as
    /// [`copy`](Engine::copy) does.
    fn fill(&self, fill: &PageFill, out: &mut Commands<'_>) -> Result<(), Overflow> {
        let _ = (fill, out);
        Err(Overflow)
    }

    /// Returns what the engine is doing: reads registers. The device must be awake.
    fn activity(&self, hw: &Hw<'_>) -> Activity;

    /// Returns the context that runs now on an execlist engine, by the id in its descriptor. The
    /// device must be awake.
    fn running(&self, hw: &Hw<'_>) -> Option<u32> {
        let _ = hw;
        None
    }

    /// Reports the TLB entries and pending translations of the engine's units: reads registers. The
    /// device must be awake.
    fn translations(&self, hw: &Hw<'_>, found: &mut dyn FnMut(TranslationEntry)) {
        let _ = (hw, found);
    }

    /// Ends a wait for an event that never comes (`MI_WAIT_FOR_EVENT`). Returns whether the engine
    /// was in such a wait; it then continues. The device must be awake.
    fn kick(&self, hw: &Hw<'_>) -> bool {
        let _ = hw;
        false
    }
}
