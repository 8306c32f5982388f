// SPDX-License-Identifier: GPL-2.0

//! The submission side of a device: its engines and retirer, on top of the [`BoDevice`].
//!
//! A context is prepared for execution in [`prepare`](super::prepare); BOs are moved in
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

use super::{pool::Pool, retire::HangCheck, service::Service, Context, Engine, Retirer};
use crate::{
    gem::{image::Image, region::Local, BoDevice, Space},
    hardware::Hardware,
    vm::TableStore,
};
use ouro_hw::engine::PortKind;
use ouro_kernel::pci::{Claim, DmaDevice};

/// Priority of the kernel's requests: above any that clients can set, because others wait for them.
const KERNEL_PRIORITY: i32 = 1 << 16;

/// The engines and retirer of a device.
pub(crate) struct Executor {
    bo_device: Arc<BoDevice>,
    retirer: Arc<Retirer>,
    engines: KVec<Arc<Engine>>,
    /// The pool of checked batches, if an engine has a checker.
    pool: Option<Arc<Pool>>,
    /// The context that an idle engine has loaded.
    kernel_context: Arc<Context>,
    /// The golden image, from which every context starts.
    golden: SetOnce<Arc<Image>>,
    /// Number of existing contexts.
    contexts: Arc<Atomic<i64>>,
}

/// The part of the device below the engines.
impl Deref for Executor {
    type Target = Arc<BoDevice>;

    fn deref(&self) -> &Arc<BoDevice> {
        &self.bo_device
    }
}

impl Executor {
    /// Creates the engines of a device, which are not started, and the [`BoDevice`], from the
    /// parameters of [`BoDevice::new`]. Errors: `ENOMEM`, `ENOSPC`.
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
        let lists = |port| matches!(port, PortKind::List { .. });
        let lists = (hardware.topology().engines.iter()).any(|e| lists(e.desc().port));
        let kernel_context = Context::new(count, lists, &contexts, None)?;
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

    /// Connects the retirer with the engines and `hang_check`, and BOs with the code that moves
    /// them. These references are cycles, until [`close`](Self::close). Errors: `ENOMEM`.
    pub(crate) fn open(self: &Arc<Self>, hang_check: Arc<dyn HangCheck>) -> Result {
        self.retirer.set_engines(&self.engines, hang_check)?;
        self.set_mover(Some(self.clone()));
        Ok(())
    }

    /// Breaks these cycles: no engine runs any more, and no request comes. Process context.
    pub(crate) fn close(&self) {
        self.set_mover(None);
        self.retirer.close();
    }

    /// Returns the part of the device that all BOs share.
    pub(crate) fn bo_device(&self) -> &Arc<BoDevice> {
        &self.bo_device
    }

    /// Waits until all requests have completed, up to `ms` milliseconds. Errors: `ETIME`,
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

    /// Returns the retirer, which releases what requests held.
    pub(crate) fn retirer(&self) -> &Arc<Retirer> {
        &self.retirer
    }

    /// Returns the pool of checked batches, if an engine has a checker.
    pub(crate) fn pool(&self) -> Option<&Arc<Pool>> {
        self.pool.as_ref()
    }

    /// Returns the context that an idle engine has loaded.
    pub(crate) fn kernel_context(&self) -> &Arc<Context> {
        &self.kernel_context
    }

    /// Returns the golden image, from which every context starts.
    pub(crate) fn golden(&self) -> &SetOnce<Arc<Image>> {
        &self.golden
    }

    /// Returns the counter of existing contexts.
    pub(super) fn contexts(&self) -> &Arc<Atomic<i64>> {
        &self.contexts
    }

    /// Returns the number of existing contexts.
    pub(crate) fn context_count(&self) -> u64 {
        self.contexts.load(ordering::Relaxed).max(0) as u64
    }
}
