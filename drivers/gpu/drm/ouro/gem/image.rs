// SPDX-License-Identifier: GPL-2.0

//! The image of a context: where the hardware keeps its state while another one is loaded.
//!
//! It has an address in the global table while somebody [pins](Image::pin) it: a request that needs it, or
//! an engine that holds it. Otherwise it may have to give that up for others, like an object; the state stays in
//! memory.

use core::ops::Deref;
use kernel::{prelude::*, sync::Arc};
use ouro_hw::{
    coherence::KernelUse,
    types::{GgttAddr, PAGE_SIZE},
};
use ouro_kernel::pci::DmaDevice;

use super::{
    backing::Memory,
    pinning::{Evictable, Pinning},
    Backing, Owner, Resident, Runner, Space,
};
use crate::vm::Place;

/// An image.
#[pin_data]
pub(crate) struct Image {
    space: Arc<Space>,
    memory: Arc<Backing>,
    /// Where the memory goes.
    runner: Arc<dyn Runner>,
    align: u32,
    #[pin]
    pinning: Pinning,
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
                pinning <- Pinning::new(),
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
        self.pinning.pin(|| {
            let place = Place::Within {
                range: (0, u64::MAX),
                align: u64::from(self.align),
                rather: None,
            };
            let who = Resident::Hidden(self.clone());
            let cache = self.space.kernel_mapping(KernelUse::Image).cache;
            let owner = Owner::Hidden(&who);
            self.memory.bind(&self.space, place, 0, owner, cache)
        })
    }

    /// Keeps the address once more, which somebody keeps already. Any context.
    pub(crate) fn pin_again(&self) {
        self.pinning.pin_again();
    }

    /// The opposite of [`pin`](Self::pin). Any context.
    pub(crate) fn unpin(&self) {
        self.pinning.unpin();
    }

    /// Where it is; somebody keeps it there.
    pub(crate) fn address(&self) -> Option<GgttAddr> {
        self.pinning.address()
    }
}

impl Evictable for Image {
    fn take_used(&self) -> bool {
        self.pinning.take_used()
    }

    fn evict(&self) -> bool {
        self.pinning.evict(|| ())
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
        drop(self.0.pinning.end());
        self.0.runner.bury(self.0.memory.clone());
    }
}
