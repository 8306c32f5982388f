// SPDX-License-Identifier: GPL-2.0

//! The image of a context: where the hardware keeps its state while another one is loaded.
//!
//! It has an address in the global table while somebody [pins](Image::pin) it: a request that needs it, or
//! an engine that holds it. Otherwise it may have to give that up for others, like an object; the state stays in
//! memory.

use core::ops::Deref;
use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
};
use ouro_hw::{
    coherence::KernelUse,
    types::{GgttAddr, PAGE_SIZE},
};
use ouro_kernel::pci::DmaDevice;

use super::{backing::Memory, Backing, Mapping, Owner, Resident, Runner, Space};
use crate::vm::Place;

/// An image.
#[pin_data]
pub(crate) struct Image {
    space: Arc<Space>,
    memory: Arc<Backing>,
    /// Where the memory goes.
    runner: Arc<dyn Runner>,
    align: u32,
    /// How many need its address. From zero only under `mapping`.
    uses: Atomic<u32>,
    /// Whether it was used since it was last asked to make room.
    used: Atomic<bool>,
    /// Zero while it has none.
    address: Atomic<u32>,
    #[pin]
    mapping: Mutex<Option<Mapping>>,
}

impl Image {
    /// A zeroed image of `bytes`, without an address.
    pub(crate) fn new(
        space: &Arc<Space>,
        dma: &Arc<DmaDevice>,
        runner: &Arc<dyn Runner>,
        bytes: u32,
        align: u32,
    ) -> Result<Arc<Self>> {
        let pages = bytes.div_ceil(PAGE_SIZE) as usize;
        let memory = Backing::kernel(dma, pages, space.kernel_mapping(KernelUse::Image))?;
        Arc::pin_init(
            try_pin_init!(Self {
                space: space.clone(),
                memory,
                runner: runner.clone(),
                align,
                uses: Atomic::new(0),
                used: Atomic::new(false),
                address: Atomic::new(0),
                mapping <- new_mutex!(None, "ouro_image_mapping"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Makes this image equal to another one.
    pub(crate) fn copy_from(&self, other: &Image) {
        if let (Memory::Kernel(to), Memory::Kernel(from)) =
            (self.memory.memory(), other.memory.memory())
        {
            let bytes = to.view().len().min(from.view().len());
            for at in (0..bytes).step_by(4) {
                to.write32(at, from.read32(at));
            }
        }
    }

    /// Keeps an address until [`unpin`](Self::unpin). Process context.
    ///
    /// Errors: `ENOSPC` if there is no room for one; `ENOMEM`.
    pub(crate) fn pin(self: &Arc<Self>) -> Result {
        self.used.store(true, ordering::Relaxed);
        let mut uses = self.uses.load(ordering::Relaxed);
        while uses > 0 {
            match self.uses.cmpxchg(uses, uses + 1, ordering::Full) {
                Ok(_) => return Ok(()),
                Err(now) => uses = now,
            }
        }
        let mut mapping = self.mapping.lock();
        if mapping.is_none() {
            let place = Place::Within {
                range: (0, u64::MAX),
                align: u64::from(self.align),
                rather: None,
            };
            let who = Resident::Image(self.clone());
            let cache = self.space.kernel_mapping(KernelUse::Image).cache;
            let owner = Owner::Hidden(&who);
            let new = self.memory.bind(&self.space, place, 0, owner, cache)?;
            self.address.store(new.ggtt().0, ordering::Relaxed);
            *mapping = Some(new);
        }
        self.uses.fetch_add(1, ordering::Full);
        Ok(())
    }

    /// Keeps the address once more, which somebody keeps already. Any context.
    pub(crate) fn pin_again(&self) {
        // It is more than zero.
        self.uses.fetch_add(1, ordering::Full);
    }

    /// The opposite of [`pin`](Self::pin). Any context.
    pub(crate) fn unpin(&self) {
        self.uses.fetch_sub(1, ordering::Full);
    }

    /// Where it is; somebody keeps it there.
    pub(crate) fn address(&self) -> Option<GgttAddr> {
        match self.address.load(ordering::Relaxed) {
            0 => None,
            address => Some(GgttAddr(address)),
        }
    }

    /// Whether it was used since this was asked last.
    pub(crate) fn take_used(&self) -> bool {
        self.used.xchg(false, ordering::Relaxed)
    }

    /// Gives up its address. False: it has none, or somebody needs it. Process context.
    pub(crate) fn evict(&self) -> bool {
        let gone = {
            let mut mapping = self.mapping.lock();
            if self.uses.load(ordering::Acquire) != 0 {
                return false;
            }
            self.address.store(0, ordering::Relaxed);
            mapping.take()
        };
        gone.is_some()
    }
}

/// The image of a context that lives: its end is the image's.
pub(crate) struct Owned(Arc<Image>);

impl Owned {
    pub(crate) fn new(image: Arc<Image>) -> Self {
        Self(image)
    }
}

impl Deref for Owned {
    type Target = Arc<Image>;

    fn deref(&self) -> &Arc<Image> {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // The space knows it as long as it has an address.
        let mapping = self.0.mapping.lock().take();
        drop(mapping);
        self.0.runner.bury(self.0.memory.clone());
    }
}
