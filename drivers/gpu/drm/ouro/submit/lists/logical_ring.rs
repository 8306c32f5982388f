// SPDX-License-Identifier: GPL-2.0

//! Logical ring contexts (LRC): the ring, status page, image and PPGTT root of a context on an
//! execlist engine.
//!
//! The addresses are fixed from the first request until the context is destroyed and the engine
//! does not hold it any more ([`Seat`]). A virtual engine has one logical ring for all of its
//! engines: they are of one class, and register offsets in the image are relative to the engine.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::Arc};
use ouro_hw::{
    coherence::KernelUse,
    context::{ContextImages, FirstImage},
    generation::Topology,
    types::{DmaAddr, GgttAddr, RingOffset, PAGE_SIZE},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice};

use super::{
    super::{
        line::{self, Line},
        own_space::OwnSpace,
        quota::Part,
        Context, Engine,
    },
    balanced::Siblings,
    seats::Who,
};
use crate::{
    gem::{Mapping, Space},
    hardware::Hardware,
};

/// A logical ring context.
pub(crate) struct LogicalRing {
    line: Arc<Line>,
    images: &'static dyn ContextImages,
    what: FirstImage,
    at: GgttAddr,
    /// Byte offset of the ring tail in the image.
    tail_at: usize,
    // Unmapped before the pages are freed.
    _mapping: Mapping,
    image: DmaPages,
    /// Keeps the page tables alive.
    _space: Arc<OwnSpace>,
}

/// Returns whether the device may have saved `image`, so that a context can begin with it. Errors:
/// `ENOMEM`.
pub(crate) fn accepts(
    hw: &dyn ouro_hw::Engine,
    topology: &Topology,
    image: &[u32],
) -> Result<bool> {
    let Some(images) = hw.images() else {
        return Ok(false);
    };
    let mut copy = KVVec::from_elem(0, images.bytes() as usize / 4, GFP_KERNEL)?;
    for (to, from) in copy.iter_mut().zip(image) {
        *to = *from;
    }
    // Any valid addresses.
    let page = GgttAddr(PAGE_SIZE);
    let what = FirstImage {
        image: page,
        card: topology.card,
        ring: page,
        ring_bytes: hw.desc().ring_bytes,
        root: Some(DmaAddr(0)),
    };
    Ok(images.later_image(&what, &mut copy))
}

impl LogicalRing {
    /// Creates the logical ring of a context in a PPGTT. Its image is a copy of `template`, or, if
    /// that is `None`, the first image of a context that has never run. Errors: `ENOSPC` if the
    /// GGTT is full, `ENOMEM`, `EINVAL` on ring engines.
    pub(crate) fn new(
        hardware: &Hardware,
        hw: &dyn ouro_hw::Engine,
        global: &Arc<Space>,
        dma: &Arc<DmaDevice>,
        space: Arc<OwnSpace>,
        template: Option<&[u32]>,
    ) -> Result<Arc<Self>> {
        let images = hw.images().ok_or(EINVAL)?;
        let line = Line::new(hardware, hw, global, dma)?;
        let pages = images.bytes().div_ceil(PAGE_SIZE);
        let (image, mapping) = line::pages(global, dma, pages, KernelUse::Image)?;
        let this = Self {
            images,
            what: FirstImage {
                image: mapping.ggtt(),
                card: hardware.topology().card,
                ring: line.memory().ring,
                ring_bytes: hw.desc().ring_bytes,
                root: space.space().root(),
            },
            at: mapping.ggtt(),
            tail_at: images.tail_at().ok_or(EINVAL)? as usize,
            line,
            _mapping: mapping,
            image,
            _space: space,
        };
        let mut dwords = this.read()?;
        let made = match template {
            Some(template) => {
                for (to, from) in dwords.iter_mut().zip(template) {
                    *to = *from;
                }
                images.later_image(&this.what, &mut dwords)
            }
            None => images.first_image(&this.what, &mut dwords),
        };
        if !made {
            return Err(EINVAL);
        }
        this.write(&dwords)?;
        Ok(Arc::new(this, GFP_KERNEL_ACCOUNT)?)
    }

    /// Returns its ring and status page.
    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Returns the size of the ring in bytes.
    pub(in crate::submit) fn ring_bytes(&self) -> u32 {
        self.what.ring_bytes
    }

    /// Returns its descriptor in a list; `None` if `id` is out of range.
    pub(in crate::submit) fn descriptor(&self, id: u32) -> Option<u64> {
        self.images.descriptor(self.at, id)
    }

    /// Writes the ring tail to the image.
    pub(in crate::submit) fn set_tail(&self, tail: RingOffset) {
        self.image.write32(self.tail_at, tail.0);
    }

    /// Returns a copy of the image. Errors: `ENOMEM`.
    pub(crate) fn read(&self) -> Result<KVVec<u32>> {
        let count = self.image.len() * PAGE_SIZE as usize / 4;
        let mut dwords = KVVec::with_capacity(count, GFP_KERNEL)?;
        for i in 0..count {
            dwords.push(self.image.read32(i * 4), GFP_KERNEL)?;
        }
        Ok(dwords)
    }

    /// Returns the GGTT address of the image.
    pub(crate) fn image_address(&self) -> GgttAddr {
        self.at
    }

    /// Returns the size in bytes of what the device saves in the image.
    pub(crate) fn saved_bytes(&self) -> u32 {
        self.images.saved_bytes()
    }

    /// Copies bytes of the image out. Any context. Errors: `EINVAL` outside of it.
    pub(crate) fn read_image(&self, at: usize, out: &mut [u8]) -> Result {
        self.image.view().read(at, out)
    }

    fn write(&self, dwords: &[u32]) -> Result {
        self.image.view().write_words(0, dwords)
    }

    /// Resets the ring head and tail in the image, after the engine was reset. The rest of the
    /// image is kept if it is valid and not to be `forgotten`; otherwise it is replaced by
    /// `golden`. `buffer` is as large as the image. Does not sleep.
    pub(in crate::submit) fn rewind(&self, golden: &[u32], forgotten: bool, buffer: &mut [u32]) {
        let Some(dwords) = buffer.get_mut(..self.image.len() * PAGE_SIZE as usize / 4) else {
            return;
        };
        let mut is_kept = false;
        if !forgotten {
            for (i, dword) in dwords.iter_mut().enumerate() {
                *dword = self.image.read32(i * 4);
            }
            is_kept = self.images.later_image(&self.what, dwords);
        }
        if !is_kept {
            // The buffer may hold another context's image.
            dwords.fill(0);
            for (to, from) in dwords.iter_mut().zip(golden) {
                *to = *from;
            }
            // The golden image is valid: the device saved it.
            self.images.later_image(&self.what, dwords);
        }
        // All dwords are in range.
        let _ = self.write(dwords);
    }
}

/// A context's seat on an engine. When it is dropped, the context is removed from the engine, and
/// then its memory is freed.
pub(crate) struct Seat {
    engine: Arc<Engine>,
    logical_ring: Arc<LogicalRing>,
    id: u32,
    /// The client's unit; `None` for the kernel's contexts.
    _part: Option<Part>,
}

impl Seat {
    /// Adds a context to an engine; `siblings` are the engines of its virtual engine and the number
    /// of this one among them. `part` is from [`part`](Self::part). Errors: `ENOSPC` if there are
    /// too many contexts, `ENOMEM`, `EINVAL` on ring engines.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        logical_ring: Arc<LogicalRing>,
        context: &Context,
        siblings: Option<(u32, &Arc<Siblings>)>,
        part: Option<Part>,
    ) -> Result<Self> {
        let id = engine.admit(&logical_ring, Who::of(context), siblings.map(|s| s.1))?;
        if let Some((number, siblings)) = siblings {
            siblings.set_seat(number, id);
        }
        Ok(Self {
            engine: engine.clone(),
            logical_ring,
            id,
            _part: part,
        })
    }

    /// Takes a part of the client's quota for a seat of a context; `None` for the kernel's
    /// contexts. Errors: `ENOSPC` if it is used up.
    pub(crate) fn part(context: &Context) -> Result<Option<Part>> {
        context.holder().map(|h| h.seats().seat()).transpose()
    }

    /// Returns its logical ring.
    pub(crate) fn logical_ring(&self) -> &Arc<LogicalRing> {
        &self.logical_ring
    }

    /// Returns its context id on the engine.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.engine.dismiss(self.id);
    }
}
