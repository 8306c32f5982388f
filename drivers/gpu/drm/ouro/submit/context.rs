// SPDX-License-Identifier: GPL-2.0

//! Contexts: a client's state on the GPU, and its timelines.
//!
//! A timeline is one (context, engine) pair: its fences are one dma_fence context, numbered when
//! they are published. Where the chip swaps context images, a context has one from its first
//! request on such an engine; it is a copy of the golden image, so that no client sees what another
//! one left.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex, SetOnce,
    },
};
use ouro_core::port::ContextKey;
use ouro_hw::types::{GgttAddr, PAGE_SIZE};
use ouro_kernel::{
    fence::{self, Fence},
    pci::DmaDevice,
};

use super::Retirer;
use crate::{
    gem::{backing::Memory, Backing},
    vm::{Mapping, Owner, Place, Space},
};

/// The image of a context.
pub(crate) struct Image {
    mapping: Option<Mapping>,
    memory: Arc<Backing>,
    retirer: Arc<Retirer>,
}

impl Image {
    /// A zeroed image of `bytes`.
    pub(crate) fn new(
        space: &Arc<Space>,
        dma: &Arc<DmaDevice>,
        retirer: &Arc<Retirer>,
        bytes: u32,
        align: u32,
    ) -> Result<Self> {
        let memory = Backing::kernel(dma, bytes.div_ceil(PAGE_SIZE) as usize)?;
        let place = Place::Within {
            range: (0, u64::MAX),
            align: u64::from(align),
        };
        let mapping = memory.bind(space, place, 0, Owner::Kernel)?;
        Ok(Self {
            mapping: Some(mapping),
            memory,
            retirer: retirer.clone(),
        })
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

    fn address(&self) -> Option<GgttAddr> {
        self.mapping.as_ref().map(|m| m.ggtt())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        drop(self.mapping.take());
        self.retirer.bury(self.memory.clone());
    }
}

/// The requests of a context on one engine.
pub(crate) struct Timeline {
    /// Number of the last request published.
    seqno: u64,
    /// Its fence.
    last: Option<ARef<Fence>>,
}

impl Timeline {
    /// The number of the next request. It is taken by [`publish`](Self::publish).
    pub(crate) fn next(&self) -> u64 {
        self.seqno.wrapping_add(1)
    }

    /// The last request.
    pub(crate) fn last(&self) -> Option<&ARef<Fence>> {
        self.last.as_ref()
    }

    /// A request with the next number is published.
    pub(crate) fn publish(&mut self, fence: ARef<Fence>) {
        self.seqno = self.next();
        self.last = Some(fence);
    }
}

/// What user space can set of a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params {
    pub(crate) priority: i16,
    pub(crate) bannable: bool,
    pub(crate) recoverable: bool,
    pub(crate) persistent: bool,
    pub(crate) no_error_capture: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            priority: 0,
            bannable: true,
            recoverable: true,
            persistent: true,
            no_error_capture: false,
        }
    }
}

/// A context in the statistics.
struct Alive(Arc<Atomic<i64>>);

impl Alive {
    fn new(count: &Arc<Atomic<i64>>) -> Self {
        count.fetch_add(1, ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, ordering::Relaxed);
    }
}

/// A context.
#[pin_data]
pub(crate) struct Context {
    key: ContextKey,
    /// The first of its fence contexts: one for each engine.
    fences: u64,
    image: SetOnce<Image>,
    /// Whether the image holds a state that can be restored.
    saved: Atomic<bool>,
    #[pin]
    timelines: Mutex<KVec<Timeline>>,
    #[pin]
    params: Mutex<Params>,
    /// Makes the image, once.
    #[pin]
    making: Mutex<()>,
    _alive: Alive,
}

/// Keys are never used twice.
static NEXT_KEY: Atomic<u64> = Atomic::new(1);

impl Context {
    /// A context for `engines` engines; `alive` counts it.
    pub(crate) fn new(engines: usize, alive: &Arc<Atomic<i64>>) -> Result<Arc<Self>> {
        let mut timelines = KVec::with_capacity(engines, GFP_KERNEL)?;
        for _ in 0..engines {
            timelines.push(
                Timeline {
                    seqno: 0,
                    last: None,
                },
                GFP_KERNEL,
            )?;
        }
        Arc::pin_init(
            try_pin_init!(Self {
                key: ContextKey(NEXT_KEY.fetch_add(1, ordering::Relaxed)),
                fences: fence::alloc_contexts(engines as u32),
                image: SetOnce::new(),
                saved: Atomic::new(false),
                timelines <- new_mutex!(timelines, "ouro_timelines"),
                params <- new_mutex!(Params::default(), "ouro_context_params"),
                making <- new_mutex!((), "ouro_image"),
                _alive: Alive::new(alive),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// What the ports know it by.
    pub(crate) fn key(&self) -> ContextKey {
        self.key
    }

    /// The number of the dma_fence context of its requests on an engine.
    pub(crate) fn fence_context(&self, engine: usize) -> u64 {
        self.fences.wrapping_add(engine as u64)
    }

    /// Its timelines, by engine.
    pub(crate) fn timelines(&self) -> &Mutex<KVec<Timeline>> {
        &self.timelines
    }

    /// What user space has set.
    pub(crate) fn params(&self) -> &Mutex<Params> {
        &self.params
    }

    /// Where its image is, if it has one.
    pub(crate) fn image(&self) -> Option<GgttAddr> {
        self.image.as_ref().and_then(|i| i.address())
    }

    /// The image itself.
    pub(crate) fn image_pages(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// Gives it an image if it has none; `saved` says whether it holds a state. Process context.
    pub(crate) fn make_image(&self, make: impl FnOnce() -> Result<Image>, saved: bool) -> Result {
        let _making = self.making.lock();
        if self.image.as_ref().is_none() {
            let image = make()?;
            self.saved.store(saved, ordering::Relaxed);
            self.image.populate(image);
        }
        Ok(())
    }

    /// Whether its image can be restored.
    pub(crate) fn is_saved(&self) -> bool {
        self.saved.load(ordering::Relaxed)
    }

    /// Its image holds no state: the device has forgotten what it held, and saved nothing.
    pub(crate) fn forget_saved(&self) {
        self.saved.store(false, ordering::Relaxed);
    }

    /// The device will have saved it when it next switches to it.
    pub(crate) fn set_saved(&self) {
        self.saved.store(true, ordering::Relaxed);
    }
}
