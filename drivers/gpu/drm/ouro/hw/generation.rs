// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The trait of a GPU generation: probe, start, interrupts, GGTT flushes, resets.

use crate::{
    chips::Chip,
    clocks::ClockControl,
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

/// A range of a PCI BAR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Number of the base address register.
    pub bar: u8,
    /// Byte offset of the range in the BAR.
    pub start: u32,
    /// Length in bytes; 0 means up to the end of the BAR.
    pub len: u32,
    /// How the CPU maps it.
    pub mapping: Mapping,
}

/// How the CPU maps a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mapping {
    /// Uncached: each access reaches the device by itself and in order.
    Uncached,
    /// Write-combined: writes may be merged and may arrive late.
    WriteCombining,
}

/// The BAR ranges that the driver maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Windows {
    /// Registers.
    pub regs: Window,
    /// The GGTT's entries.
    pub gtt: Window,
    /// The aperture, if the chip has one: a window through the GGTT.
    pub aperture: Option<Window>,
    /// The device's own memory (VRAM), if it has some. The GGTT's window may be a part of it.
    pub local: Option<Window>,
}

/// The device's own memory (VRAM), as far as BOs may use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalMemory {
    /// Size in bytes.
    pub size: u64,
    /// Bytes that the CPU can map, counted from the first byte of VRAM.
    pub cpu_visible: u64,
    /// Byte offset of the first byte in [`Windows::local`]. What precedes it belongs to the
    /// backend.
    pub window_at: u64,
    /// Address of the first byte if engines reach VRAM without a table; `None` if VRAM needs PTEs
    /// as system memory does.
    pub at: Option<GgttAddr>,
    /// Allocation granularity in bytes: sizes and addresses in VRAM are multiples of it. A power of
    /// two, at least a page.
    pub grain: u32,
}

/// A range of the GGTT that a display plane scans out, as the firmware left it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scanout {
    /// Index of the first GGTT entry that the plane reads.
    pub first: u32,
    /// Number of entries.
    pub entries: u32,
    /// The byte range of VRAM that spans the pages behind these entries; `None` if the entries
    /// point to system memory.
    pub local: Option<Range<u64>>,
}

/// How addresses in batches are translated.
#[derive(Clone, Copy)]
pub enum Translation {
    /// Through the GGTT, which all clients share.
    Global,
    /// Through an aliasing PPGTT: a directory whose tables repeat the GGTT entry by entry, so that
    /// an address means the same page in both.
    Aliasing {
        /// Number of PDEs, each for one page of PTEs. PDEs beyond the end of the GGTT point to a
        /// page of PTEs that all map the scratch page.
        directories: u32,
        /// Alignment, in GGTT entries, of the slots that hold the directory.
        align: u32,
    },
    /// Through a page directory per context. A request loads the directory on a ring where another
    /// one is loaded ([`Emit::directory`](crate::engine::Emit::directory)). The global space has a
    /// directory as well, as with [`Aliasing`](Self::Aliasing); the kernel's requests use it, and
    /// an engine has it loaded after its start.
    ///
    /// Engines cache the PDEs that they have loaded. A PDE that is added takes effect when the
    /// directory is loaded the next time; a PDE that is loaded must not be removed.
    PerContextDirectory {
        /// Number of PDEs, each for one page of PTEs.
        directories: u32,
        /// Alignment, in GGTT entries, of the slots that hold a directory.
        align: u32,
    },
    /// Through a multi-level PPGTT per context.
    PerContext {
        /// Width of an address in bits.
        bits: u8,
        /// Pages at the end of each space that must not be mapped: commands of the backend use
        /// them as a hole.
        kept: u32,
        /// Format of the tables.
        tables: &'static dyn PageTable,
    },
}

impl Translation {
    /// Returns the number of PDEs of the global space's directory and the alignment of its GGTT
    /// slots, in entries; `None` if the chip has no such directory.
    pub const fn directory(&self) -> Option<(u32, u32)> {
        match *self {
            Translation::Aliasing { directories, align }
            | Translation::PerContextDirectory { directories, align } => Some((directories, align)),
            Translation::Global | Translation::PerContext { .. } => None,
        }
    }

    /// Returns whether each context has an address space of its own.
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
    /// No swizzle.
    #[default]
    None,
    /// X tiles by bits 9 and 10, Y tiles by bit 9.
    Bit9_10,
    /// X tiles by bits 9, 10 and 11, Y tiles by bits 9 and 11.
    Bit9_10_11,
    /// X tiles by bits 9, 10 and 17, Y tiles by bits 9 and 17. Bit 17 is taken from the page's
    /// physical address.
    Bit9_10_17,
    /// The swizzle cannot be determined; it may depend on bits of the page's physical address.
    Unknown,
}

impl Swizzle {
    /// Returns whether the order of bytes depends on a page's physical address. If so, a page of a
    /// tiled BO with contents must not be moved in memory.
    pub const fn depends_on_memory(self) -> bool {
        matches!(self, Swizzle::Bit9_10_17 | Swizzle::Unknown)
    }
}

/// Which clients may submit secure (privileged) batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecureBatches {
    /// The current DRM master, if it has CAP_SYS_ADMIN.
    Master,
    /// No client.
    Nobody,
    /// No client: the chip's uAPI has no secure batches any more.
    Unknown,
}

/// Number of rendering pipes, for uAPIs that report it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pipes {
    /// Colour pipes.
    pub colour: u8,
    /// Depth (Z) pipes.
    pub depth: u8,
}

/// The units that run shaders, for uAPIs that report them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaders {
    /// Subslices that can render: a bit each.
    pub geometry: u32,
    /// Subslices that can compute: the same bits.
    pub compute: u32,
    /// Execution units of each subslice: a bit each.
    pub units: u16,
}

impl Shaders {
    /// Returns the number of subslices.
    pub const fn count(&self) -> u32 {
        (self.geometry | self.compute).count_ones()
    }
}

/// The properties of a device, as [`Generation::probe`] finds them.
#[derive(Clone, Copy)]
pub struct Topology {
    /// The engines. An engine's index in this list is its number everywhere in the core.
    pub engines: &'static [&'static dyn Engine],
    /// Number of GGTT entries.
    pub gtt_entries: u32,
    /// Format of the GGTT's entries, and of the PPGTTs that repeat it.
    pub pages: &'static dyn PageTable,
    /// How addresses in batches are translated.
    pub space: Translation,
    /// Bytes of the aperture that the CPU can reach.
    pub aperture: u64,
    /// Fence registers, if the chip has them.
    pub fences: Option<&'static dyn FenceRegs>,
    /// Context images, if the chip has hardware contexts.
    pub context: Option<&'static dyn ContextImages>,
    /// VRAM, if the device has some.
    pub local: Option<LocalMemory>,
    /// Bit-6 swizzle.
    pub swizzle: Swizzle,
    /// Which of the device's accesses are coherent with the CPU's caches.
    pub coherence: Coherence,
    /// Where the engines' status pages (HWSP) must be.
    pub status: StatusPlace,
    /// Frequency of the timestamp register in Hz.
    pub timestamp_hz: u32,
    /// Size of a context image in bytes: of the largest one if engines differ, 0 if there are no
    /// contexts.
    pub context_bytes: u32,
    /// Bytes of stolen memory: system memory that the firmware reserved for the device. The driver
    /// does not use it.
    pub stolen_bytes: u64,
    /// PCI revision.
    pub revision: u8,
    /// Whether MSI may be used; if not, the legacy interrupt is used even if the device offers MSI.
    pub msi: bool,
    /// Rendering pipes.
    pub pipes: Pipes,
    /// Shader units, if the fuses tell.
    pub shaders: Option<Shaders>,
    /// A word for the backend's own use: properties of this card on which its commands and
    /// registers depend. The core passes it on in
    /// [`EngineMemory::card`](crate::engine::EngineMemory::card) and [`Hw::card`].
    pub card: u32,
}

impl Topology {
    /// Returns whether an engine that hangs can be reset while others work.
    pub fn resets_engines(&self) -> bool {
        self.engines.iter().all(|e| e.desc().reset_group.is_some())
    }

    /// Returns whether the hardware confines an unprivileged batch to the BOs of its address space,
    /// so that it may run unchecked. Batches that go through the GGTT reach the memory of all
    /// clients.
    pub fn confines(&self) -> bool {
        !matches!(self.space, Translation::Global)
    }

    /// Returns the uAPI name of an engine: its class, and its instance among the engines of the
    /// class that this card has.
    pub fn name(&self, engine: usize) -> Option<EngineId> {
        let class = self.engines.get(engine)?.desc().id.class;
        let before = self.engines.iter().take(engine);
        let instance = before.filter(|e| e.desc().id.class == class).count() as u8;
        Some(EngineId { class, instance })
    }
}

/// Where the core has put what the tables need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The scratch page, which unused entries map.
    pub scratch: Page,
    /// The first GGTT slot of the global space's directory, if [`Translation::directory`] is
    /// `Some`.
    pub directory: Option<GgttAddr>,
}

/// Why a device cannot be used, or an operation on it failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceError {
    /// The firmware reserved no memory for the GGTT.
    NoTranslationTable,
    /// Registers read all ones: the device was removed or lost.
    Gone,
    /// A register did not change in time; the text names it.
    Timeout(&'static str),
    /// The driver does not support the device's configuration; the text says what.
    Unsupported(&'static str),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::NoTranslationTable => {
                f.write_str("the firmware has reserved no memory for the GGTT")
            }
            DeviceError::Gone => {
                f.write_str("registers read all ones: the device was removed or lost")
            }
            DeviceError::Timeout(register) => write!(f, "timeout waiting for {register}"),
            DeviceError::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}

/// What an interrupt reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Events {
    /// Whether the interrupt was this device's.
    pub ours: bool,
    /// Engines that completed a request or reported a context switch. Bit n: engine n of the
    /// topology.
    pub completed: u32,
    /// Engines that report an error, by the same bits.
    pub errors: u32,
    /// Engines whose watchdog expired: a batch ran for longer than its limit. It may have ended
    /// meanwhile.
    pub overdue: u32,
}

/// What a reset covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResetScope {
    /// All engines.
    All,
    /// One engine, by its number in the topology, and the engines that share its reset
    /// ([`EngineDesc::reset_group`](crate::engine::EngineDesc::reset_group)).
    Engine(usize),
}

/// A GPU generation: a stateless static object.
///
/// The core calls, in this order: [`wake`] with a fresh [`Gt`], [`probe`], [`prepare`]; it writes
/// the GGTT, then calls [`start`] and [`gtt_on`], starts each engine and calls [`irq_on`]; at the
/// end [`sleep`]. The device must be awake for `probe`, `prepare`, `start`, `reset`, `errors` and
/// all functions of an engine, and need not be for the interrupt functions, `gtt_on`, `gtt_flush`,
/// `gtt_settle`, `stop` and fences.
///
/// [`wake`]: Generation::wake
/// [`probe`]: Generation::probe
/// [`prepare`]: Generation::prepare
/// [`start`]: Generation::start
/// [`gtt_on`]: Generation::gtt_on
/// [`irq_on`]: Generation::irq_on
/// [`sleep`]: Generation::sleep
pub trait Generation: Sync {
    /// Returns the short name that user space sees: `gen6`.
    fn name(&self) -> &'static str;
    /// Returns the BAR ranges to map.
    fn windows(&self) -> Windows;
    /// Returns the name of the command processor's microcode, as the firmware loader knows it. The
    /// core loads it before [`start`](Generation::start) and passes it in [`Hw::firmware`].
    fn firmware(&self) -> Option<&'static str> {
        None
    }
    /// Returns the width of the device's DMA addresses in bits: all memory given to it is below
    /// that limit. Chips of one generation that differ in it have an object each.
    fn dma_bits(&self) -> u8;
    /// Returns which clients may submit secure batches.
    fn secure_batches(&self) -> SecureBatches {
        SecureBatches::Nobody
    }
    /// Returns whether the device must stay in D0 when the machine is powered off for hibernation.
    fn hibernates_in_d0(&self) -> bool {
        false
    }
    /// Returns whether a reset of all engines clears the fence registers. If so, the core writes
    /// them again after [`start`](Self::start).
    fn reset_empties_fences(&self) -> bool {
        false
    }
    /// Returns whether a reset of all engines turns the display off. If so, the core runs nothing
    /// at bring-up that may hang: contexts start with
    /// [`golden_registers`](crate::engine::Engine::golden_registers) alone. At the end it waits for
    /// the requests in flight, so that [`end_work`](Self::end_work) needs no reset.
    fn reset_darkens(&self) -> bool {
        false
    }
    /// Finds out what the device has. Writes no register that changes the device's state.
    fn probe(&self, hw: &Hw<'_>, chip: &Chip) -> Result<Topology, DeviceError>;

    /// Reports the display planes that the firmware left on; called before any register is written.
    /// The core keeps their GGTT entries and memory unchanged while the driver is bound and
    /// afterwards, so that the picture stays. A backend that switches the display off in
    /// [`start`](Self::start) reports none. The device must be awake. Ranges may overlap.
    fn scanouts(&self, hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
        let _ = (hw, topo, found);
    }

    /// Returns the GGTT entries of the context image that a previous driver has left loaded, if the
    /// device may save it once more. Called as [`scanouts`](Self::scanouts) is. The core keeps the
    /// scratch page there while the driver is bound. The range may reach beyond the GGTT.
    fn loaded_image(&self, hw: &Hw<'_>, topo: &Topology) -> Option<Range<u32>> {
        let _ = (hw, topo);
        None
    }

    /// Makes the memory of the GGTT writable and verifies that it is memory. Called before the GGTT
    /// is written for the first time, and again on resume, with the GGTT off
    /// ([`gtt_on`](Self::gtt_on)). May clear fence registers.
    fn prepare(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let _ = (hw, topo, wait);
        Ok(())
    }

    /// Brings the device from any state into one where engines can be started: resets it if needed,
    /// keeps it awake, and sets workarounds, swizzle and tables; all interrupts are masked. Called
    /// at bring-up, after a reset of all engines, and on resume. The tables are filled; the GGTT is
    /// off meanwhile if it can be ([`gtt_on`](Self::gtt_on)). Does not touch fence registers: the
    /// core writes each of them when it starts or resumes a device, and after a reset of all
    /// engines.
    fn start(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError>;
    /// Does what [`start`](Self::start) does after a hang, and makes sure that the engines have
    /// stopped whatever they ran. For backends whose `start` does no full reset.
    fn restart(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        self.start(hw, topo, layout, wait)
    }
    /// Leaves the device quiet: interrupts masked, none pending.
    fn stop(&self, hw: &Hw<'_>);

    /// Takes forcewake, so that posted writes reach the GT. Does nothing if the device is awake.
    /// First clears requests of others, unless [`Gt::cleared`]. A device that answers late is taken
    /// to be awake, with a warning.
    ///
    /// Errors: [`DeviceError::Gone`]; [`DeviceError::Unsupported`] if the chip has several methods
    /// of forcewake, and none works.
    fn wake(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError>;
    /// Releases forcewake.
    fn sleep(&self, hw: &Hw<'_>, gt: &mut Gt);

    /// Unmasks interrupts towards the CPU: errors at once, completions when armed.
    fn irq_on(&self, hw: &Hw<'_>, gt: &mut Gt);
    /// Masks all interrupts towards the CPU.
    fn irq_off(&self, hw: &Hw<'_>, gt: &mut Gt);
    /// Arms or disarms an engine's completion interrupt. Idempotent. When this returns, an
    /// interrupt that was armed is armed in the device, so a waiter must read the seqno once more
    /// and may then sleep. The state persists across [`irq_off`](Generation::irq_off) and
    /// [`irq_on`](Generation::irq_on), and ends when the engine is started. The device must be
    /// awake.
    fn irq_arm(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool);
    /// Arms or disarms an execlist engine's context switch interrupt, as
    /// [`irq_arm`](Generation::irq_arm) does for completions: the driver needs it only while it has
    /// a list to load at the next event. Does nothing on ring engines, and while the device sleeps.
    fn irq_switches(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        let _ = (hw, gt, engine, on);
    }
    /// Arms or disarms an engine's watchdog interrupt, as [`irq_arm`](Generation::irq_arm) does for
    /// completions. Does nothing if the engine has no watchdog.
    fn irq_watch(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        let _ = (hw, gt, engine, on);
    }
    /// Reads and acknowledges the pending events. Runs in hard interrupt context, without locks.
    fn irq_ack(&self, hw: &Hw<'_>) -> Events;

    /// Resets engines. They must be started again afterwards; after a reset of all engines, call
    /// [`start`](Generation::start) first.
    fn reset(&self, hw: &Hw<'_>, what: ResetScope, wait: &dyn SleepWait)
        -> Result<(), DeviceError>;

    /// Ends the engines' work before their memory is freed and the device is left: resets all of
    /// them. A backend whose reset turns the display off does without if `idle` is set: every
    /// request has completed, and every engine has stopped. The GGTT's entries are valid, and can
    /// be written, afterwards. The device must be awake.
    fn end_work(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        idle: bool,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let _ = (topo, idle);
        self.reset(hw, ResetScope::All, wait)
    }

    /// Switches the GGTT on or off, on chips that can. The core switches it on when its entries are
    /// valid and the device is started. Called under the lock of the `Gt`, as
    /// [`gtt_flush`](Generation::gtt_flush) is.
    fn gtt_on(&self, hw: &Hw<'_>, on: bool) {
        let _ = (hw, on);
    }

    /// Makes written GGTT entries visible to accesses of the CPU through the aperture and of the
    /// command streamers. (Where engines have TLBs of their own, each request's prologue
    /// invalidates them.) Does not switch the GGTT on. Called under the lock of the `Gt`.
    fn gtt_flush(&self, hw: &Hw<'_>);

    /// Does what [`gtt_flush`](Self::gtt_flush) does, and waits until it has taken effect. Called
    /// before the CPU reaches the entries otherwise than by registers, and before memory that they
    /// mapped is reused. For submission `gtt_flush` is enough, though it may be posted: the write
    /// that starts the work follows it.
    fn gtt_settle(&self, hw: &Hw<'_>) {
        self.gtt_flush(hw);
    }

    /// Returns whether TLBs may survive the invalidations in requests, so that memory may be reused
    /// only after [`invalidate_tlbs`](Self::invalidate_tlbs).
    fn holds_entries(&self) -> bool {
        false
    }

    /// Invalidates all TLBs by registers: afterwards no unit reaches a page that was unmapped
    /// before. The device must be awake. Calls must not overlap. Sleeps.
    fn invalidate_tlbs(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let _ = (hw, topo, wait);
        Ok(())
    }

    /// Returns whether a batch can read, in registers, what another client's batch left there,
    /// whatever their contexts, and the backend does not clear these registers. If so, the core
    /// lets only one user at a time run batches.
    fn keeps_leftovers(&self) -> bool {
        false
    }

    /// Returns the control of the engines' clock, if the driver chooses it.
    fn clocks(&self) -> Option<&dyn ClockControl> {
        None
    }

    /// Returns the value of a 64-bit register that user space may read; `None` for any other
    /// offset. The device must be awake.
    fn user_register(&self, hw: &Hw<'_>, offset: u32) -> Option<u64> {
        let _ = (hw, offset);
        None
    }

    /// Reads and clears the errors and faults of all engines. Takes the `Gt`, under whose lock
    /// [`gtt_flush`](Generation::gtt_flush) runs too, because both may use one index register.
    fn errors(&self, hw: &Hw<'_>, gt: &mut Gt, topo: &Topology) -> Report;
}
