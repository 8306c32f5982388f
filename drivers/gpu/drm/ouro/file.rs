// SPDX-License-Identifier: GPL-2.0

//! An open file: a client, and its contexts.

use kernel::{
    id_pool::IdPool,
    new_mutex,
    prelude::*,
    rbtree::RBTree,
    sync::{Arc, Mutex},
};

use ouro_kernel::task::Client;

use crate::{
    gpu::{single_user::Stay, Gpu},
    submit::{context::parts, guilt::Holder, own_space::OwnSpace, quota::Quota, Context},
};

/// Contexts that a client may have, and address spaces. More of them is a mistake, or an attack.
const MAX_IDS: u32 = 1 << 16;

/// What user space knows by numbers, from 1. A new one gets the least that is free.
struct Ids<T> {
    by_id: RBTree<u32, T>,
    /// Of each number, less one.
    taken: IdPool,
    /// All below are taken.
    least: usize,
}

impl<T> Ids<T> {
    fn new() -> Self {
        Self {
            by_id: RBTree::new(),
            taken: IdPool::new(),
            least: 0,
        }
    }

    /// Adds one, and returns its number. Errors: `ENOSPC` if there are too many, `ENOMEM`.
    fn add(&mut self, item: T) -> Result<u32> {
        // Nobody may look behind the end.
        let full =
            self.least >= self.taken.capacity() || self.taken.find_unused_id(self.least).is_none();
        if full {
            let request = self.taken.grow_request().ok_or(ENOSPC)?;
            self.taken.grow(request.realloc(GFP_KERNEL)?);
        }
        let free = self.taken.find_unused_id(self.least).ok_or(ENOSPC)?;
        if free.as_u32() >= MAX_IDS {
            return Err(ENOSPC);
        }
        let id = free.as_u32() + 1;
        self.by_id.try_create_and_insert(id, item, GFP_KERNEL)?;
        self.least = free.acquire() + 1;
        Ok(id)
    }

    /// Errors: `ENOENT`.
    fn remove(&mut self, id: u32) -> Result<T> {
        let gone = self.by_id.remove(&id).ok_or(ENOENT)?;
        let id = id as usize - 1;
        self.taken.release_id(id);
        self.least = self.least.min(id);
        Ok(gone)
    }
}

/// A context that user space has. When it has it no more, the context is closed.
struct Open {
    context: Arc<Context>,
    gpu: Arc<Gpu>,
}

impl Open {
    fn new(gpu: &Arc<Gpu>, context: Arc<Context>) -> Self {
        Self {
            context,
            gpu: gpu.clone(),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // Where no hang is looked for, nobody else would ever end what it runs.
        self.context.close(self.gpu.recovery().hang_ms() != 0);
    }
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
    holder: Arc<Holder>,
    quota: Arc<Quota>,
    /// The context of number 0.
    default: Open,
    #[pin]
    contexts: Mutex<Ids<Open>>,
    /// The address spaces that it has by themselves.
    #[pin]
    spaces: Mutex<Ids<Arc<OwnSpace>>>,
    /// That it may run batches, once it has, where users are kept apart.
    #[pin]
    stay: Mutex<Option<Stay>>,
    _leave: Leave,
}

impl File {
    pub(crate) fn new(gpu: Arc<Gpu>, client: &Client) -> Result<Pin<KBox<Self>>> {
        gpu.usable()?;
        let holder = Holder::new(client)?;
        let default = gpu.new_context(Some(&holder))?;
        // Other engines are for contexts that are made for it.
        default.settle_engines();
        let quota = Quota::of_client()?;
        KBox::pin_init(
            try_pin_init!(Self {
                _leave: Leave(gpu.clone()),
                default: Open::new(&gpu, default),
                gpu,
                holder,
                quota,
                contexts <- new_mutex!(Ids::new(), "ouro_contexts"),
                spaces <- new_mutex!(Ids::new(), "ouro_spaces"),
                stay <- new_mutex!(None, "ouro_stay"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Before it runs a batch: says whether it may. Errors: `EACCES` if another user has a device that does not keep
    /// users apart.
    pub(crate) fn admit(&self) -> Result {
        if let Some(single_user) = self.gpu.single_user() {
            let mut stay = self.stay.lock();
            if stay.is_none() {
                *stay = Some(single_user.admit()?);
            }
        }
        Ok(())
    }

    /// The device.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Whose requests those of its contexts are.
    pub(crate) fn holder(&self) -> &Arc<Holder> {
        &self.holder
    }

    /// What it may have under way.
    pub(crate) fn quota(&self) -> &Arc<Quota> {
        &self.quota
    }

    /// Makes a context, which has no number yet. Errors: `EIO` for a client that may run nothing any
    /// more, `ENOMEM`.
    pub(crate) fn new_context(&self) -> Result<Arc<Context>> {
        if self.holder.is_banned() {
            return Err(EIO);
        }
        self.gpu.new_context(Some(&self.holder))
    }

    /// The context of a number. Errors: `ENOENT`.
    pub(crate) fn context(&self, id: u32) -> Result<Arc<Context>> {
        if id == 0 {
            return Ok(self.default.context.clone());
        }
        let contexts = self.contexts.lock();
        let open = contexts.by_id.get(&id).ok_or(ENOENT)?;
        Ok(open.context.clone())
    }

    /// All contexts that there are now, and their parts. Errors: `ENOMEM`.
    pub(crate) fn contexts(&self) -> Result<KVVec<Arc<Context>>> {
        let mut all = KVVec::new();
        let mut add = |context: &Arc<Context>| -> Result {
            all.push(context.clone(), GFP_KERNEL)?;
            for part in context.engines().iter().flat_map(|map| parts(map)) {
                all.push(part.clone(), GFP_KERNEL)?;
            }
            Ok(())
        };
        add(&self.default.context)?;
        for open in self.contexts.lock().by_id.values() {
            add(&open.context)?;
        }
        Ok(all)
    }

    /// Adds a context, and returns its number. Errors: `ENOSPC` if there are too many, `ENOMEM`.
    pub(crate) fn add_context(&self, context: Arc<Context>) -> Result<u32> {
        self.contexts.lock().add(Open::new(&self.gpu, context))
    }

    /// Removes a context. What it has published goes on. Errors: `ENOENT`.
    pub(crate) fn remove_context(&self, id: u32) -> Result {
        let gone = self.contexts.lock().remove(id);
        gone.map(drop)
    }

    /// The address space of a number. Errors: `ENOENT`.
    pub(crate) fn space(&self, id: u32) -> Result<Arc<OwnSpace>> {
        self.spaces.lock().by_id.get(&id).cloned().ok_or(ENOENT)
    }

    /// Adds an address space, which may have other numbers already, and returns its number. Errors: `ENOSPC`
    /// if there are too many, `ENOMEM`.
    pub(crate) fn add_space(&self, space: Arc<OwnSpace>) -> Result<u32> {
        self.spaces.lock().add(space)
    }

    /// Takes the number from an address space. Contexts keep it. Errors: `ENOENT`.
    pub(crate) fn remove_space(&self, id: u32) -> Result {
        let gone = self.spaces.lock().remove(id);
        gone.map(drop)
    }
}
