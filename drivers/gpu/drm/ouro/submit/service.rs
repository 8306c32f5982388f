// SPDX-License-Identifier: GPL-2.0

//! What BOs need of the retirer.

use kernel::sync::Arc;
use ouro_kernel::fence::Fence;

use super::{lists::inherit, Retirer};
use crate::gem::{Backing, Runner};

/// The retirer, as BOs see it.
pub(crate) struct Service(pub(crate) Arc<Retirer>);

impl Runner for Service {
    fn quarantine_memory(&self, memory: Arc<Backing>) {
        self.0.quarantine_memory(memory);
    }

    fn retire(&self) {
        self.0.retire();
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn live(&self) -> i64 {
        self.0.live()
    }

    fn press(&self, fence: &Fence) {
        inherit::press(fence);
    }
}
