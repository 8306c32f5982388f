// SPDX-License-Identifier: GPL-2.0

//! A device as what runs on it sees it: its engines and retirer, above what its objects share.
//!
//! What a context needs to run is in [`prepare`](super::prepare), how objects move in
//! [`moves`](super::moves).

use core::ops::Deref;
use kernel::{
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, SetOnce,
    },
    time::{delay::fsleep, Delta},
};

use super::{
    pool::Pool,
    retire::{HangCheck, Service},
    Context, Engine, Retirer,
};
use crate::{
    gem::{image::Image, region::Local, BoDevice, Space},
    hardware::Hardware,
    vm::TableStore,
};
use ouro_kernel::pci::{Claim, DmaDevice};

/// Others wait for what the kernel does: it is more urgent than all that they can ask for.
const KERNEL_PRIORITY: i32 = 1 << 16;

/// Runs requests.
pub(crate) struct Executor {
    bo_device: Arc<BoDevice>,
    retirer: Arc<Retirer>,
    engines: KVec<Arc<Engine>>,
    /// Where checked batches lie, on a chip that wants them checked.
    pool: Option<Arc<Pool>>,
    /// What an idle engine holds.
    kernel_context: Arc<Context>,
    /// The image that every context starts from.
    golden: SetOnce<Arc<Image>>,
    /// Contexts that are alive.
    contexts: Arc<Atomic<i64>>,
}

/// What is below the engines.
impl Deref for Executor {
    type Target = Arc<BoDevice>;

    fn deref(&self) -> &Arc<BoDevice> {
        &self.bo_device
    }
}

impl Executor {
    /// Makes the engines of a device, which do not run yet, and what objects need. The parameters are
    /// those of [`BoDevice::new`]. Errors: `ENOMEM`, `ENOSPC`.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        dma: Arc<DmaDevice>,
        space: Arc<Space>,
        aperture: Option<Claim>,
        local: Option<Local>,
        tables: Option<Arc<TableStore>>,
    ) -> Result<Arc<Self>> {
        let retirer = Retirer::new(hardware.clone())?;
        let runner = Arc::new(Service(retirer.clone()), GFP_KERNEL)?;
        let bo_device = BoDevice::new(
            hardware.clone(),
            dma.clone(),
            space.clone(),
            aperture,
            local,
            tables,
            runner,
        )?;
        let contexts = Arc::new(Atomic::new(0), GFP_KERNEL)?;
        let count = hardware.topology().engines.len();
        let kernel_context = Context::new(count, &contexts, None)?;
        kernel_context.set_priority(KERNEL_PRIORITY);
        let mut engines = KVec::with_capacity(count, GFP_KERNEL)?;
        for index in 0..count {
            let engine = Engine::new(hardware.clone(), &space, &dma, index, retirer.clone())?;
            engines.push(engine, GFP_KERNEL)?;
        }
        let mut hws = hardware.topology().engines.iter();
        let pool = match hws.any(|hw| hw.checker().is_some()) {
            true => Some(Pool::new(&space, &dma)?),
            false => None,
        };
        Ok(Arc::new(
            Self {
                bo_device,
                retirer,
                engines,
                pool,
                kernel_context,
                golden: SetOnce::new(),
                contexts,
            },
            GFP_KERNEL,
        )?)
    }

    /// Lets the retirer know the engines and `hang_check`, and objects who moves them. They know each other until
    /// [`close`](Self::close). Errors: `ENOMEM`.
    pub(crate) fn open(self: &Arc<Self>, hang_check: Arc<dyn HangCheck>) -> Result {
        self.retirer.set_engines(&self.engines, hang_check)?;
        self.set_mover(Some(self.clone()));
        Ok(())
    }

    /// Lets go of everything: no engine runs any more, and nothing new comes. Process context.
    pub(crate) fn close(&self) {
        self.set_mover(None);
        self.retirer.close();
    }

    /// Returns what all objects share.
    pub(crate) fn bo_device(&self) -> &Arc<BoDevice> {
        &self.bo_device
    }

    /// Waits until nothing is under way, for up to so many milliseconds. Errors: `ETIME`,
    /// `ERESTARTSYS`. Sleeps.
    pub(crate) fn wait_idle(&self, ms: u32) -> Result {
        for _ in 0..ms.max(1) {
            for engine in self.engines.iter() {
                engine.advance();
            }
            self.retirer.retire();
            if self.engines.iter().all(|e| e.is_idle()) {
                return Ok(());
            }
            if kernel::current!().signal_pending() {
                return Err(ERESTARTSYS);
            }
            fsleep(Delta::from_millis(1));
        }
        Err(ETIME)
    }

    /// Returns the engines.
    pub(crate) fn engines(&self) -> &[Arc<Engine>] {
        &self.engines
    }

    /// Returns who lets go of what requests held.
    pub(crate) fn retirer(&self) -> &Arc<Retirer> {
        &self.retirer
    }

    /// Returns where checked batches lie, on a chip that wants them checked.
    pub(crate) fn pool(&self) -> Option<&Arc<Pool>> {
        self.pool.as_ref()
    }

    /// Returns what an idle engine holds.
    pub(crate) fn kernel_context(&self) -> &Arc<Context> {
        &self.kernel_context
    }

    /// Returns the image that every context starts from.
    pub(crate) fn golden(&self) -> &SetOnce<Arc<Image>> {
        &self.golden
    }

    /// Returns the count of contexts that are alive.
    pub(super) fn contexts(&self) -> &Arc<Atomic<i64>> {
        &self.contexts
    }

    /// Returns how many contexts are alive.
    pub(crate) fn context_count(&self) -> u64 {
        self.contexts.load(ordering::Relaxed).max(0) as u64
    }
}
