// SPDX-License-Identifier: GPL-2.0

//! What a context has on an engine that takes lists of contexts: its ring and status page, its image, and
//! the root of its address space.
//!
//! It stays where it is from the first request on, until the context is gone and the engine has let go of
//! it ([`Seat`]). A virtual engine's is the same on all of its engines: they are of one class, and what an
//! image says of registers counts from the engine's own.

use kernel::{prelude::*, sync::Arc};
use ouro_hw::{
    coherence::KernelUse,
    context::{ContextImages, FirstImage},
    types::{GgttAddr, RingOffset, PAGE_SIZE},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice};

use super::{
    super::{
        line::{self, Line},
        own_space::OwnSpace,
        Context, Engine,
    },
    balanced::Siblings,
    seats::Who,
};
use crate::{
    gem::{Mapping, Space},
    hardware::Hardware,
};

/// A context on an engine.
pub(crate) struct LogicalRing {
    line: Arc<Line>,
    images: &'static dyn ContextImages,
    what: FirstImage,
    at: GgttAddr,
    /// Where in the image the engine reads the ring's tail.
    tail_at: usize,
    // The address goes before the pages.
    _mapping: Mapping,
    image: DmaPages,
    /// Keeps the tables.
    _space: Arc<OwnSpace>,
}

impl LogicalRing {
    /// One in a space of contexts. Its image is a copy of `golden`, if there is one, or one of a context
    /// that has never run. Errors: `ENOSPC` without room in the global table, `ENOMEM`, `EINVAL` for an
    /// engine without lists.
    pub(crate) fn new(
        hardware: &Hardware,
        hw: &dyn ouro_hw::Engine,
        global: &Arc<Space>,
        dma: &Arc<DmaDevice>,
        space: Arc<OwnSpace>,
        golden: Option<&[u32]>,
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
        let made = match golden {
            Some(golden) => {
                for (to, from) in dwords.iter_mut().zip(golden) {
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
        Ok(Arc::new(this, GFP_KERNEL)?)
    }

    /// Its ring and status page.
    pub(crate) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Bytes of the ring.
    pub(in crate::submit) fn ring_bytes(&self) -> u32 {
        self.what.ring_bytes
    }

    /// What stands for it in a list. `None` for a number that none can have.
    pub(in crate::submit) fn descriptor(&self, id: u32) -> Option<u64> {
        self.images.descriptor(self.at, id)
    }

    /// Says up to where there are commands.
    pub(in crate::submit) fn set_tail(&self, tail: RingOffset) {
        self.image.write32(self.tail_at, tail.0);
    }

    /// The image. Errors: `ENOMEM`.
    pub(crate) fn read(&self) -> Result<KVVec<u32>> {
        let count = self.image.len() * PAGE_SIZE as usize / 4;
        let mut dwords = KVVec::with_capacity(count, GFP_KERNEL)?;
        for i in 0..count {
            dwords.push(self.image.read32(i * 4), GFP_KERNEL)?;
        }
        Ok(dwords)
    }

    fn write(&self, dwords: &[u32]) -> Result {
        self.image.view().write_words(0, dwords)
    }

    /// Puts the ring to its beginning, after the engine was reset. What else the image holds stays, unless
    /// it is none, or is to be `forgotten`: then it is made of `golden`. `buffer` has room for it. Waits for
    /// nothing.
    pub(in crate::submit) fn rewind(&self, golden: &[u32], forgotten: bool, buffer: &mut [u32]) {
        let Some(dwords) = buffer.get_mut(..self.image.len() * PAGE_SIZE as usize / 4) else {
            return;
        };
        for (i, dword) in dwords.iter_mut().enumerate() {
            *dword = self.image.read32(i * 4);
        }
        if forgotten || !self.images.later_image(&self.what, dwords) {
            for (to, from) in dwords.iter_mut().zip(golden) {
                *to = *from;
            }
            // The golden one is one: it was saved by the device.
            self.images.later_image(&self.what, dwords);
        }
        // All of it is inside.
        let _ = self.write(dwords);
    }
}

/// A context's seat on an engine. Dropped: the engine lets go of it, and then its memory is free.
pub(crate) struct Seat {
    engine: Arc<Engine>,
    logical_ring: Arc<LogicalRing>,
    id: u32,
}

impl Seat {
    /// Lets an engine know it, which is the one of a number among `siblings`, if there are any. Errors: `ENOSPC`
    /// if there are too many contexts, `ENOMEM`, `EINVAL` for an engine without lists.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        logical_ring: Arc<LogicalRing>,
        context: &Context,
        siblings: Option<(u32, &Arc<Siblings>)>,
    ) -> Result<Self> {
        let id = engine.admit(&logical_ring, Who::of(context), siblings.map(|s| s.1))?;
        if let Some((number, siblings)) = siblings {
            siblings.set_seat(number, id);
        }
        Ok(Self {
            engine: engine.clone(),
            logical_ring,
            id,
        })
    }

    /// What it has there.
    pub(crate) fn logical_ring(&self) -> &Arc<LogicalRing> {
        &self.logical_ring
    }

    /// Its number on the engine.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.engine.dismiss(self.id);
    }
}
