// SPDX-License-Identifier: GPL-2.0

//! An open file: a client, and its contexts.

use kernel::{
    new_mutex,
    prelude::*,
    rbtree::RBTree,
    sync::{Arc, Mutex},
};

use crate::{
    gpu::Gpu,
    submit::{quota::Quota, Context},
};

/// Contexts that a client may have. More of them is a mistake, or an attack.
const MAX_CONTEXTS: u32 = 1 << 16;

struct Contexts {
    by_id: RBTree<u32, Arc<Context>>,
    last: u32,
    count: u32,
}

/// The end of a file.
struct Leave(Arc<Gpu>);

impl Drop for Leave {
    fn drop(&mut self) {
        // What was executed while the device went away is let go of before the module may go.
        self.0.retirer().settle();
    }
}

/// What a file has.
#[pin_data]
pub(crate) struct File {
    gpu: Arc<Gpu>,
    quota: Arc<Quota>,
    /// The context of number 0.
    default: Arc<Context>,
    #[pin]
    contexts: Mutex<Contexts>,
    _leave: Leave,
}

impl File {
    pub(crate) fn new(gpu: Arc<Gpu>) -> Result<Pin<KBox<Self>>> {
        gpu.usable()?;
        let default = gpu.new_context()?;
        let quota = Quota::new()?;
        KBox::pin_init(
            try_pin_init!(Self {
                _leave: Leave(gpu.clone()),
                gpu,
                quota,
                default,
                contexts <- new_mutex!(Contexts {
                    by_id: RBTree::new(),
                    last: 0,
                    count: 0,
                }, "ouro_contexts"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// The device.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// What it may have under way.
    pub(crate) fn quota(&self) -> &Arc<Quota> {
        &self.quota
    }

    /// The context of a number. Errors: `ENOENT`.
    pub(crate) fn context(&self, id: u32) -> Result<Arc<Context>> {
        if id == 0 {
            return Ok(self.default.clone());
        }
        self.contexts.lock().by_id.get(&id).cloned().ok_or(ENOENT)
    }

    /// Adds a context, and returns its number. Errors: `ENOSPC` if there are too many, `ENOMEM`.
    pub(crate) fn add_context(&self, context: Arc<Context>) -> Result<u32> {
        let mut contexts = self.contexts.lock();
        if contexts.count >= MAX_CONTEXTS {
            return Err(ENOSPC);
        }
        let mut id = contexts.last;
        loop {
            id = id.checked_add(1).unwrap_or(1);
            if contexts.by_id.get(&id).is_none() {
                break;
            }
        }
        contexts
            .by_id
            .try_create_and_insert(id, context, GFP_KERNEL)?;
        contexts.last = id;
        contexts.count += 1;
        Ok(id)
    }

    /// Removes a context. What it has published goes on. Errors: `ENOENT`.
    pub(crate) fn remove_context(&self, id: u32) -> Result {
        let gone = {
            let mut contexts = self.contexts.lock();
            let gone = contexts.by_id.remove(&id).ok_or(ENOENT)?;
            contexts.count -= 1;
            gone
        };
        drop(gone);
        Ok(())
    }
}
