// SPDX-License-Identifier: GPL-2.0

//! Context images: memory in which the hardware saves a context's state while another one is
//! loaded.
//!
//! An image has a GGTT address while it is [pinned](Image::pin): for requests that need it, and
//! while an engine has it loaded. Otherwise it can be evicted like a BO; the state stays in memory.

use core::ops::Deref;
use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::Arc};
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

/// A context image.
#[pin_data]
pub(crate) struct Image {
    space: Arc<Space>,
    memory: Arc<Backing>,
    /// Takes the memory when the image is destroyed.
    runner: Arc<dyn Runner>,
    align: u32,
    #[pin]
    pinning: Pinning,
}

impl Image {
    /// Creates a zeroed image of `bytes`, without an address. Errors: `ENOMEM`.
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
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Copies another image.
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

    /// Pins the image until [`unpin`](Self::unpin), at a GGTT address. Process context.
    ///
    /// Errors: `ENOSPC` if the GGTT is full; `ENOMEM`.
    pub(crate) fn pin(self: &Arc<Self>) -> Result {
        self.pinning.pin(|| {
            let place = Place::Within {
                range: self.space.stream_range(),
                align: u64::from(self.align),
                preferred: None,
            };
            let who = Resident::Hidden(self.clone());
            let cache = self.space.kernel_mapping(KernelUse::Image).cache;
            let owner = Owner::Hidden(&who);
            self.memory.bind(&self.space, place, 0, owner, cache)
        })
    }

    /// Pins a pinned image once more. Any context.
    pub(crate) fn pin_again(&self) {
        self.pinning.pin_again();
    }

    /// Unpins the image. Any context.
    pub(crate) fn unpin(&self) {
        self.pinning.unpin();
    }

    /// Returns the GGTT address of a pinned image.
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

/// The image of a context, destroyed with it.
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
        // While it has an address, the space refers to it: break that cycle.
        drop(self.0.pinning.end());
        self.0.runner.quarantine_memory(self.0.memory.clone());
    }
}
