// SPDX-License-Identifier: GPL-2.0

//! An open file: a client, with its contexts and VMs.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    id_pool::IdPool,
    new_mutex,
    prelude::*,
    rbtree::RBTree,
    sync::{Arc, Mutex},
};

use ouro_kernel::{spare::Spare, task::Client};

use crate::{
    gpu::{single_user::SingleUserPermit, Gpu},
    submit::{
        context::parts, guilt::Holder, own_space::OwnSpace, quota::Quota, scratch::Scratch, Context,
    },
};

/// Most contexts, and most VMs, of a client.
const MAX_IDS: u32 = 1 << 16;

/// Objects that user space knows by ids, from 1 on. A new object gets the lowest free id.
struct Ids<T> {
    by_id: RBTree<u32, T>,
    /// Bits of used ids, less one.
    taken: IdPool,
    /// All lower ids are used.
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

    /// Adds an object, and returns its id. Errors: `ENOSPC` if there are too many, `ENOMEM`.
    fn add(&mut self, item: T) -> Result<u32> {
        // The pool must not be searched beyond its end.
        let full =
            self.least >= self.taken.capacity() || self.taken.find_unused_id(self.least).is_none();
        if full {
            let request = self.taken.grow_request().ok_or(ENOSPC)?;
            self.taken.grow(request.realloc(GFP_KERNEL_ACCOUNT)?);
        }
        let free = self.taken.find_unused_id(self.least).ok_or(ENOSPC)?;
        if free.as_u32() >= MAX_IDS {
            return Err(ENOSPC);
        }
        let id = free.as_u32() + 1;
        self.by_id
            .try_create_and_insert(id, item, GFP_KERNEL_ACCOUNT)?;
        self.least = free.acquire() + 1;
        Ok(id)
    }

    /// Removes an object. Errors: `ENOENT`.
    fn remove(&mut self, id: u32) -> Result<T> {
        let gone = self.by_id.remove(&id).ok_or(ENOENT)?;
        let id = id as usize - 1;
        self.taken.release_id(id);
        self.least = self.least.min(id);
        Ok(gone)
    }
}

/// A context that user space has an id of. On drop the context is closed.
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
        // Without hangcheck, nothing else would ever end its requests.
        self.context.close(self.gpu.recovery().hang_ms() != 0);
    }
}

/// Runs at the end of a file.
struct FlushOnClose(Arc<Gpu>);

impl Drop for FlushOnClose {
    fn drop(&mut self) {
        // Requests submitted while the device went away must be released before the module is
        // unloaded.
        self.0.retirer().flush_work();
    }
}

/// The driver's data of a file.
#[pin_data]
pub(crate) struct File {
    gpu: Arc<Gpu>,
    holder: Arc<Holder>,
    quota: Arc<Quota>,
    /// The context with id 0.
    default: Open,
    #[pin]
    contexts: Mutex<Ids<Open>>,
    /// The VMs that have ids of their own.
    #[pin]
    spaces: Mutex<Ids<Arc<OwnSpace>>>,
    /// Memory for its next submission.
    scratch: Spare<Scratch>,
    /// The permission to run batches, once it was granted, on devices that do not isolate users.
    #[pin]
    permit: Mutex<Option<SingleUserPermit>>,
    _flush: FlushOnClose,
}

impl File {
    pub(crate) fn new(gpu: Arc<Gpu>, client: &Client) -> Result<Pin<KBox<Self>>> {
        gpu.usable()?;
        let holder = Holder::new(client)?;
        let default = gpu.new_context(Some(&holder))?;
        // Other engines are for contexts that the client creates.
        default.freeze_engines();
        let quota = Quota::of_client()?;
        KBox::pin_init(
            try_pin_init!(Self {
                _flush: FlushOnClose(gpu.clone()),
                default: Open::new(&gpu, default),
                gpu,
                holder,
                quota,
                contexts <- new_mutex!(Ids::new(), "ouro_contexts"),
                spaces <- new_mutex!(Ids::new(), "ouro_spaces"),
                scratch: Spare::new(),
                permit <- new_mutex!(None, "ouro_permit"),
            }? Error),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Checks whether the client may run a batch. Errors: `EACCES` if another user has a device
    /// that does not isolate users.
    pub(crate) fn admit(&self) -> Result {
        if let Some(single_user) = self.gpu.single_user() {
            let mut permit = self.permit.lock();
            if permit.is_none() {
                *permit = Some(single_user.admit()?);
            }
        }
        Ok(())
    }

    /// Returns the device.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Returns the client of its contexts' requests.
    pub(crate) fn holder(&self) -> &Arc<Holder> {
        &self.holder
    }

    /// Returns the quota of requests in flight.
    pub(crate) fn quota(&self) -> &Arc<Quota> {
        &self.quota
    }

    /// Returns the place of memory for its next submission.
    pub(crate) fn scratch(&self) -> &Spare<Scratch> {
        &self.scratch
    }

    /// Creates a context, which has no id yet. Errors: `EIO` if the client is banned, `ENOMEM`.
    pub(crate) fn new_context(&self) -> Result<Arc<Context>> {
        if self.holder.is_banned() {
            return Err(EIO);
        }
        self.gpu.new_context(Some(&self.holder))
    }

    /// Returns the context with an id. Errors: `ENOENT`.
    pub(crate) fn context(&self, id: u32) -> Result<Arc<Context>> {
        if id == 0 {
            return Ok(self.default.context.clone());
        }
        let contexts = self.contexts.lock();
        let open = contexts.by_id.get(&id).ok_or(ENOENT)?;
        Ok(open.context.clone())
    }

    /// Returns all contexts and their parts. Errors: `ENOMEM`.
    pub(crate) fn contexts(&self) -> Result<KVVec<Arc<Context>>> {
        let mut all = KVVec::new();
        let mut add = |context: &Arc<Context>| -> Result {
            all.push(context.clone(), GFP_KERNEL_ACCOUNT)?;
            for part in context.engines().iter().flat_map(|map| parts(map)) {
                all.push(part.clone(), GFP_KERNEL_ACCOUNT)?;
            }
            Ok(())
        };
        add(&self.default.context)?;
        for open in self.contexts.lock().by_id.values() {
            add(&open.context)?;
        }
        Ok(all)
    }

    /// Adds a context, and returns its id. Errors: `ENOSPC` if there are too many, `ENOMEM`.
    pub(crate) fn add_context(&self, context: Arc<Context>) -> Result<u32> {
        self.contexts.lock().add(Open::new(&self.gpu, context))
    }

    /// Removes a context. Its published requests continue if it is persistent. Errors: `ENOENT`.
    pub(crate) fn remove_context(&self, id: u32) -> Result {
        let gone = self.contexts.lock().remove(id);
        gone.map(drop)
    }

    /// Returns the VM with an id. Errors: `ENOENT`.
    pub(crate) fn space(&self, id: u32) -> Result<Arc<OwnSpace>> {
        self.spaces.lock().by_id.get(&id).cloned().ok_or(ENOENT)
    }

    /// Adds a VM, which may have other ids already, and returns its id. Errors: `ENOSPC` if there
    /// are too many, `ENOMEM`.
    pub(crate) fn add_space(&self, space: Arc<OwnSpace>) -> Result<u32> {
        self.spaces.lock().add(space)
    }

    /// Frees the id of a VM. Contexts keep the VM. Errors: `ENOENT`.
    pub(crate) fn remove_space(&self, id: u32) -> Result {
        let gone = self.spaces.lock().remove(id);
        gone.map(drop)
    }
}
