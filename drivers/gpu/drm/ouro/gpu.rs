// SPDX-License-Identifier: GPL-2.0

//! A device as the core sees it: its hardware, address space and engines, and what is alive on it.
//!
//! It is `'static` and outlives the binding of the driver: open files keep it. How it shows that it
//! works is in [`prove`], what contexts need in
//! [`prepare`](crate::submit::prepare), how it sleeps and ends in
//! [`power`](crate::power). After [`Gpu::shutdown`] everything answers `ENODEV`, and nothing
//! waits.

pub(crate) mod activity;
mod prove;
pub(crate) mod single_user;

use core::ops::Deref;
use kernel::{prelude::*, sync::Arc};
use ouro_hw::{generation::Translation, types::EngineId, EngineClass};
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
    recovery: Arc<Recovery>,
    revision: u8,
    /// Where one user at a time has the device: who.
    single_user: Option<Arc<SingleUser>>,
}

/// What is below.
impl Deref for Gpu {
    type Target = Arc<Executor>;

    fn deref(&self) -> &Arc<Executor> {
        &self.executor
    }
}

/// What is alive.
pub(crate) struct Counts {
    pub(crate) objects: u64,
    pub(crate) object_bytes: u64,
    pub(crate) object_pages: u64,
    /// Bytes that were moved from one region to another so far.
    pub(crate) moved: u64,
    /// Objects that were, each time.
    pub(crate) moves: u64,
    pub(crate) contexts: u64,
    pub(crate) fences: u64,
}

impl Gpu {
    /// Brings a device up: tables, and the memory of its engines, which [`prove`](Self::prove) starts.
    /// `aperture` is that window on the bus, if there is one, and `local` the device's own memory, of
    /// which `tables` is a part. Entries of `lit` stay as they are. The device is master of the bus afterwards.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
        lit: &Lit,
    ) -> Result<Arc<Self>> {
        let _awake = Awake::new(&hardware)?;
        hardware.prepare()?;
        let space = Space::new(hardware.clone(), &dma, lit)?;
        Self::on(hardware, dma, space.clone(), aperture, local, tables)
            // The scratch page is about to be freed.
            .inspect_err(|_| space.retract())
    }

    /// The rest of [`new`](Self::new): the table is written.
    fn on(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        space: Arc<Space>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
    ) -> Result<Arc<Self>> {
        hardware.start(space.layout().ok_or(EINVAL)?)?;
        // What it was doing before it was reset may have reached any page.
        dma.set_master(true);
        let revision = hardware.topology().revision;
        let single_user = SingleUser::new(&hardware)?;
        let executor = Executor::new(hardware, dma, space, aperture, local, tables)?;
        let recovery = Recovery::new(executor.clone())?;
        let gpu = Arc::new(
            Self {
                executor,
                recovery,
                revision,
                single_user,
            },
            GFP_KERNEL,
        )?;
        // They know each other until the end: nothing fails after it.
        gpu.open(gpu.recovery.clone())?;
        Ok(gpu)
    }

    /// Returns what runs on it.
    pub(crate) fn executor(&self) -> &Arc<Executor> {
        &self.executor
    }

    /// Bytes of a space that batches are in.
    pub(crate) fn space_size(&self) -> u64 {
        match self.hardware().topology().space {
            Translation::PerContext { bits, .. } => 1 << bits,
            Translation::Global
            | Translation::Aliasing { .. }
            | Translation::PerContextDirectory { .. } => self.space().size(),
        }
    }

    /// Whether user space may say which contexts share a space. Elsewhere it sees no difference between one space for
    /// all, and one for each context.
    pub(crate) fn shares_spaces(&self) -> bool {
        matches!(
            self.hardware().topology().space,
            Translation::PerContext { .. }
        )
    }

    /// Whether it is a card with memory of its own whose interface is the narrow one of such cards.
    pub(crate) fn is_discrete(&self) -> bool {
        let topology = self.hardware().topology();
        topology.local.is_some() && matches!(topology.space, Translation::PerContext { .. })
    }

    /// Whether engines take what is most urgent first.
    pub(crate) fn has_scheduler(&self) -> bool {
        self.engines().iter().any(|e| e.has_lists())
    }

    /// The PCI revision.
    pub(crate) fn revision(&self) -> u8 {
        self.revision
    }

    /// What user space calls an engine.
    pub(crate) fn name_of(&self, engine: &Engine) -> Option<EngineId> {
        self.hardware().topology().name(engine.index())
    }

    /// The engine of a class and number, as user space calls it.
    pub(crate) fn engine(&self, class: EngineClass, instance: u8) -> Option<Arc<Engine>> {
        let is = |e: &&Arc<Engine>| self.name_of(e) == Some(EngineId { class, instance });
        self.engines().iter().find(is).cloned()
    }

    /// Who has the device, where that is one user at a time.
    pub(crate) fn single_user(&self) -> Option<&Arc<SingleUser>> {
        self.single_user.as_ref()
    }

    /// Who looks after engines that hang.
    pub(crate) fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Returns what is alive.
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

    /// The interrupt. Returns whether it was ours.
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
