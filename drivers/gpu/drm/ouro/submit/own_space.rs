// SPDX-License-Identifier: GPL-2.0

//! An address space of contexts, on a chip where they have their own. When the last of them goes, what is
//! in it loses its address there.

use kernel::{
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

/// Empties a space that nobody will use any more.
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
        for _ in 0..space.population().saturating_add(1).saturating_mul(2) {
            if let Some(Victim::Object(object)) = space.next_victim() {
                bind::forget(&object, space);
            }
        }
    }
}

/// A space of contexts.
pub(crate) struct OwnSpace {
    /// Where its directory is, where spaces have one in the global table.
    root: Option<Owned>,
    emptying: Arc<Emptying>,
    retirer: Arc<Retirer>,
}

impl OwnSpace {
    /// Lets contexts share a space. Errors: `ENOMEM`.
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
            GFP_KERNEL,
        )?;
        let this = Self {
            root,
            emptying,
            retirer: retirer.clone(),
        };
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// Returns the space itself.
    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.emptying.space
    }

    /// Returns the place of its directory, where spaces have one in the global table.
    pub(super) fn root(&self) -> Option<&Arc<Root>> {
        self.root.as_deref()
    }
}

impl Drop for OwnSpace {
    fn drop(&mut self) {
        self.retirer.empty(self.emptying.clone());
    }
}
