// SPDX-License-Identifier: GPL-2.0

//! Where the directory of an address space is, on a chip where contexts have directories of their own: in slots of the
//! global table, while somebody [pins](Root::pin) it. The addresses that these slots stand for are nobody's.
//!
//! A request pins it that runs in the space, and an engine that has loaded it, until what loads another one is done:
//! what the engine has cached leads to the space's tables until then.

use core::ops::Deref;
use kernel::{prelude::*, sync::Arc};
use ouro_core::port::Edition;
use ouro_hw::{
    generation::Translation,
    types::{CacheLevel, GgttAddr, PAGE_SIZE},
};

use super::{
    pinning::{Evictable, Pinning},
    Owner, Resident, Space,
};
use crate::{
    hardware::Hardware,
    vm::{Looks, Place},
};

/// The place of a directory.
#[pin_data]
pub(crate) struct Root {
    hardware: Arc<Hardware>,
    /// The global space.
    global: Arc<Space>,
    /// The space that the directory is of.
    space: Arc<Space>,
    #[pin]
    pinning: Pinning,
}

impl Root {
    fn new(hardware: &Arc<Hardware>, global: &Arc<Space>, space: &Arc<Space>) -> Result<Arc<Self>> {
        Arc::pin_init(
            try_pin_init!(Self {
                hardware: hardware.clone(),
                global: global.clone(),
                space: space.clone(),
                pinning <- Pinning::new(),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Keeps a place until [`unpin`](Self::unpin). Process context.
    ///
    /// Errors: `ENOSPC` if there is no room for one; `ENOMEM`.
    pub(crate) fn pin(self: &Arc<Self>) -> Result {
        self.pinning.pin(|| {
            let topology = self.hardware.topology();
            let Translation::PerContextDirectory { directories, align } = topology.space else {
                return Err(ENODEV);
            };
            // It takes a lot, and what is in the aperture is for the CPU's eyes.
            let place = Place::Within {
                range: (topology.aperture, u64::MAX),
                align: u64::from(align) * u64::from(PAGE_SIZE),
                rather: None,
            };
            let scratch = self.global.layout().ok_or(EINVAL)?.scratch.addr.0;
            let entries = core::iter::repeat_n(scratch, directories as usize);
            let who = Resident::Hidden(self.clone());
            let (owner, looks) = (Owner::Hidden(&who), Looks::system(CacheLevel::Coherent));
            let slots = self
                .global
                .map(place, directories.into(), owner, looks, entries)?;
            self.space.settle(&self.global, slots.ggtt())?;
            Ok(slots)
        })
    }

    /// Keeps the place once more, which somebody keeps already. Any context.
    pub(crate) fn pin_again(&self) {
        self.pinning.pin_again();
    }

    /// The opposite of [`pin`](Self::pin). Any context.
    pub(crate) fn unpin(&self) {
        self.pinning.unpin();
    }

    /// The first slot; somebody keeps it there.
    pub(crate) fn slot(&self) -> Option<GgttAddr> {
        self.pinning.address()
    }

    /// Which edition of the directory has all that was mapped so far. Any context.
    pub(crate) fn edition(&self) -> Edition {
        self.space.edition()
    }
}

impl Evictable for Root {
    fn take_used(&self) -> bool {
        self.pinning.take_used()
    }

    fn evict(&self) -> bool {
        self.pinning.evict(|| self.space.unsettle())
    }
}

/// The place of a directory whose space lives: its end is the place's.
pub(crate) struct Owned(Arc<Root>);

impl Owned {
    /// That of `space`, which has no place in the global one yet. Errors: `ENOMEM`.
    pub(crate) fn new(
        hardware: &Arc<Hardware>,
        global: &Arc<Space>,
        space: &Arc<Space>,
    ) -> Result<Self> {
        Ok(Self(Root::new(hardware, global, space)?))
    }
}

impl Deref for Owned {
    type Target = Arc<Root>;

    fn deref(&self) -> &Arc<Root> {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // The global space knows it as long as it has a place.
        let slots = self.0.pinning.end();
        self.0.space.unsettle();
        drop(slots);
    }
}
