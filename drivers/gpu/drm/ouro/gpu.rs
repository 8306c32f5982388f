// SPDX-License-Identifier: GPL-2.0

//! The core of a device: its hardware, address space and engines.
//!
//! It is `'static` and outlives the binding of the driver, because open files refer to it.
//! [`prove`] tests the engines, [`prepare`](crate::submit::prepare) prepares contexts,
//! [`power`](crate::power) suspends and shuts down. After [`Gpu::shutdown`] all calls return
//! `ENODEV`, and nothing waits.

pub(crate) mod activity;
mod prove;
pub(crate) mod single_user;

use core::ops::Deref;
use kernel::{prelude::*, sync::Arc};
use ouro_hw::{
    generation::Translation,
    types::{EngineId, PAGE_SIZE},
    EngineClass,
};
use ouro_kernel::pci::{Claim, DmaDevice};

use self::single_user::SingleUser;
use crate::{
    gem::{region::Local, Space},
    hardware::Hardware,
    look::Lit,
    reset::Recovery,
    submit::{request::Awake, Engine, Executor},
    vm::TableStore,
};

/// A device.
pub(crate) struct Gpu {
    executor: Arc<Executor>,
    /// The engines' classes and instances in the uAPI.
    names: KVec<EngineId>,
    recovery: Arc<Recovery>,
    revision: u8,
    /// The user of a device that does not isolate users.
    single_user: Option<Arc<SingleUser>>,
}

/// The submission side of the device.
impl Deref for Gpu {
    type Target = Arc<Executor>;

    fn deref(&self) -> &Arc<Executor> {
        &self.executor
    }
}

/// Statistics.
pub(crate) struct Counts {
    pub(crate) objects: u64,
    pub(crate) object_bytes: u64,
    pub(crate) object_pages: u64,
    /// Bytes moved between regions so far.
    pub(crate) moved: u64,
    /// Number of moves so far.
    pub(crate) moves: u64,
    pub(crate) contexts: u64,
    pub(crate) fences: u64,
}

impl Gpu {
    /// Brings a device up: page tables, and the memory of its engines, which [`prove`](Self::prove)
    /// starts. `aperture` is the BAR range of the aperture, if there is one, and `local` the VRAM,
    /// without the part for `tables`. The PTEs of `lit` stay unchanged. Bus mastering is enabled
    /// afterwards.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
        lit: &Lit,
    ) -> Result<Arc<Self>> {
        let _awake = Awake::new(&hardware)?;
        // The firmware may have left some enabled, for which there is no handler.
        hardware.irq_off();
        hardware.prepare()?;
        let space = Space::new(hardware.clone(), &dma, lit)?;
        Self::on(hardware, dma, space.clone(), aperture, local, tables)
            // The scratch page is about to be freed.
            .inspect_err(|_| space.retract())
    }

    /// Continues [`new`](Self::new) after the GGTT is written.
    fn on(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        space: Arc<Space>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
    ) -> Result<Arc<Self>> {
        hardware.start(space.layout().ok_or(EINVAL)?)?;
        // Before the reset, the device's earlier work could have accessed any page.
        dma.set_master(true);
        let revision = hardware.topology().revision;
        let single_user = SingleUser::new(&hardware)?;
        let executor = Executor::new(hardware, dma, space, aperture, local, tables)?;
        let recovery = Recovery::new(executor.clone())?;
        let mut names = KVec::with_capacity(executor.engines().len(), GFP_KERNEL)?;
        for engine in executor.engines() {
            let name = executor.hardware().topology().name(engine.index());
            names.push(name.ok_or(EINVAL)?, GFP_KERNEL)?;
        }
        let gpu = Arc::new(
            Self {
                names,
                executor,
                recovery,
                revision,
                single_user,
            },
            GFP_KERNEL,
        )?;
        // A reference cycle until the end, so nothing may fail after it.
        gpu.open(gpu.recovery.clone())?;
        Ok(gpu)
    }

    /// Returns the submission side of the device.
    pub(crate) fn executor(&self) -> &Arc<Executor> {
        &self.executor
    }

    /// Returns the size in bytes of an address space of batches.
    pub(crate) fn space_size(&self) -> u64 {
        match self.hardware().topology().space {
            Translation::PerContext { bits, kept, .. } => {
                (1 << bits) - u64::from(kept) * u64::from(PAGE_SIZE)
            }
            Translation::Global
            | Translation::Aliasing { .. }
            | Translation::PerContextDirectory { .. } => self.space().size(),
        }
    }

    /// Returns whether the uAPI has VMs. Otherwise user space sees no difference between one space
    /// for all clients and one per context.
    pub(crate) fn shares_spaces(&self) -> bool {
        matches!(
            self.hardware().topology().space,
            Translation::PerContext { .. }
        )
    }

    /// Returns whether it is a card with VRAM, with the smaller uAPI of such cards.
    pub(crate) fn is_discrete(&self) -> bool {
        let topology = self.hardware().topology();
        topology.local.is_some() && matches!(topology.space, Translation::PerContext { .. })
    }

    /// Returns whether the engines run requests by priority.
    pub(crate) fn has_scheduler(&self) -> bool {
        self.engines().iter().any(|e| e.has_lists())
    }

    /// Returns the PCI revision.
    pub(crate) fn revision(&self) -> u8 {
        self.revision
    }

    /// Returns the class and instance of an engine in the uAPI.
    pub(crate) fn name_of(&self, engine: &Engine) -> Option<EngineId> {
        self.names.get(engine.index()).copied()
    }

    /// Returns the engine of a class and instance in the uAPI.
    pub(crate) fn engine(&self, class: EngineClass, instance: u8) -> Option<Arc<Engine>> {
        let name = EngineId { class, instance };
        let index = self.names.iter().position(|n| *n == name)?;
        self.engines().get(index).cloned()
    }

    /// Returns the user of the device, on devices that do not isolate users.
    pub(crate) fn single_user(&self) -> Option<&Arc<SingleUser>> {
        self.single_user.as_ref()
    }

    /// Returns the recovery from hangs.
    pub(crate) fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Returns the statistics.
    pub(crate) fn counts(&self) -> Counts {
        let objects = self.object_counts();
        Counts {
            objects: objects.objects,
            object_bytes: objects.bytes,
            object_pages: objects.pages,
            moved: objects.moved,
            moves: objects.moves,
            contexts: self.context_count(),
            fences: self.retirer().live().max(0) as u64,
        }
    }

    /// Handles the interrupt. Returns whether it was the device's.
    pub(crate) fn interrupt(&self) -> bool {
        let events = self.hardware().interrupt();
        for engine in self.engines().iter() {
            if events.completed & (1 << engine.index()) != 0 {
                engine.interrupt();
            }
        }
        if events.errors != 0 {
            self.retirer().report_errors(events.errors);
        }
        if events.overdue != 0 {
            self.retirer().report_overdue(events.overdue);
        }
        events.ours
    }
}
