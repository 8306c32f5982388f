// SPDX-License-Identifier: GPL-2.0

//! The GGTT slots of a page directory, on chips with a directory per context. A directory has slots
//! while it is [pinned](Root::pin); the addresses of these slots are not used otherwise.
//!
//! Requests that run in the space pin it, and an engine that has it loaded, until a request that
//! loads another one has completed: the engine's cached PDEs lead to the space's tables until then.

use core::ops::Deref;
use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::Arc};
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
    vm::{Place, PteAttributes},
};

/// The GGTT slots of a directory.
#[pin_data]
pub(crate) struct Root {
    hardware: Arc<Hardware>,
    /// The global space.
    global: Arc<Space>,
    /// The address space of the directory.
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
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Pins the directory until [`unpin`](Self::unpin), in GGTT slots. Process context.
    ///
    /// Errors: `ENOSPC` if the GGTT is full; `ENOMEM`.
    pub(crate) fn pin(self: &Arc<Self>) -> Result {
        self.pinning.pin(|| {
            let topology = self.hardware.topology();
            let Translation::PerContextDirectory { directories, align } = topology.space else {
                return Err(ENODEV);
            };
            let place = Place::Within {
                range: self.range(),
                align: u64::from(align) * u64::from(PAGE_SIZE),
                preferred: None,
            };
            let scratch = self.global.layout().ok_or(EINVAL)?.scratch.addr.0;
            let entries = core::iter::repeat_n(scratch, directories as usize);
            let who = Resident::Hidden(self.clone());
            let (owner, attributes) = (
                Owner::Hidden(&who),
                PteAttributes::system(CacheLevel::Coherent),
            );
            let slots = self
                .global
                .map(place, directories.into(), owner, attributes, entries)?;
            self.space.bind_directory(&self.global, slots.ggtt())?;
            Ok(slots)
        })
    }

    /// Returns the range in bytes of its slots. They are many; the aperture is for CPU mappings,
    /// and command streamers do not access the GGTT at the slots' addresses.
    pub(crate) fn range(&self) -> (u64, u64) {
        let aperture = self.hardware.topology().aperture;
        (aperture.max(self.global.stream_range().1), u64::MAX)
    }

    /// Pins a pinned directory once more. Any context.
    pub(crate) fn pin_again(&self) {
        self.pinning.pin_again();
    }

    /// Unpins the directory. Any context.
    pub(crate) fn unpin(&self) {
        self.pinning.unpin();
    }

    /// Returns the first slot of a pinned directory.
    pub(crate) fn slot(&self) -> Option<GgttAddr> {
        self.pinning.address()
    }

    /// Returns the edition of the directory that has all pages mapped so far. Any context.
    pub(crate) fn edition(&self) -> Edition {
        self.space.edition()
    }
}

impl Evictable for Root {
    fn take_used(&self) -> bool {
        self.pinning.take_used()
    }

    fn evict(&self) -> bool {
        self.pinning.evict(|| self.space.unbind_directory())
    }
}

/// The slots of a space's directory, destroyed with the space.
pub(crate) struct Owned(Arc<Root>);

impl Owned {
    /// Creates the slots' owner for `space`; it has no slots yet. Errors: `ENOMEM`.
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
        // While it has slots, the global space refers to it: break that cycle.
        let slots = self.0.pinning.end();
        self.0.space.unbind_directory();
        drop(slots);
    }
}
