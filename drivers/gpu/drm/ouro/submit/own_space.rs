// SPDX-License-Identifier: GPL-2.0

//! The PPGTT of contexts, on chips with a PPGTT per context. When its last context is gone, all BOs
//! are unbound from it.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    impl_has_work, new_work,
    prelude::*,
    sync::Arc,
    workqueue::{Work, WorkItem},
};

use super::Retirer;
use crate::gem::{
    bind,
    root::{Owned, Root},
    Space, Victim,
};

/// Unbinds all BOs from a PPGTT that is not used any more.
#[pin_data]
pub(super) struct Emptying {
    space: Arc<Space>,
    #[pin]
    work: Work<Emptying>,
}

impl_has_work! {
    impl HasWork<Emptying> for Emptying { self.work }
}

impl WorkItem for Emptying {
    type Pointer = Arc<Emptying>;

    fn run(this: Arc<Emptying>) {
        let space = &this.space;
        for _ in 0..space.allocated_ranges().saturating_add(1).saturating_mul(2) {
            if let Some(Victim::Object(object)) = space.next_victim() {
                bind::forget(&object, space);
            }
        }
    }
}

/// A PPGTT of contexts.
pub(crate) struct OwnSpace {
    /// The GGTT slots of its directory, on chips with a directory per context.
    root: Option<Owned>,
    emptying: Arc<Emptying>,
    retirer: Arc<Retirer>,
}

impl OwnSpace {
    /// Creates a PPGTT that contexts can share. Errors: `ENOMEM`.
    pub(crate) fn new(
        space: Arc<Space>,
        root: Option<Owned>,
        retirer: &Arc<Retirer>,
    ) -> Result<Arc<Self>> {
        let emptying = Arc::pin_init(
            pin_init!(Emptying {
                space,
                work <- new_work!("ouro_space"),
            }),
            GFP_KERNEL_ACCOUNT,
        )?;
        let this = Self {
            root,
            emptying,
            retirer: retirer.clone(),
        };
        Ok(Arc::new(this, GFP_KERNEL_ACCOUNT)?)
    }

    /// Returns the address space.
    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.emptying.space
    }

    /// Returns the GGTT slots of its directory, on chips with a directory per context.
    pub(super) fn root(&self) -> Option<&Arc<Root>> {
        self.root.as_deref()
    }
}

impl Drop for OwnSpace {
    fn drop(&mut self) {
        self.retirer.empty(self.emptying.clone());
    }
}
