// SPDX-License-Identifier: GPL-2.0

//! Pinning of kernel objects in the GGTT: context images and page directories have an address while
//! they are pinned, and can be evicted otherwise.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Mutex,
    },
};
use ouro_hw::types::GgttAddr;

use super::Mapping;

/// A kernel object that can be evicted.
pub(crate) trait Evictable: Send + Sync {
    /// Returns whether it was used since the last call.
    fn take_used(&self) -> bool;

    /// Evicts it. Returns false if it has no address, or is pinned. Process context.
    fn evict(&self) -> bool;
}

/// The GGTT mapping of an object that can be evicted.
#[pin_data]
pub(super) struct Pinning {
    /// Number of pins. Leaves zero only under `mapping`.
    uses: Atomic<u32>,
    /// Whether it was used since the last search for a victim.
    used: Atomic<bool>,
    /// The GGTT address; zero if there is none.
    address: Atomic<u32>,
    #[pin]
    mapping: Mutex<Option<Mapping>>,
}

impl Pinning {
    /// Creates an unpinned object without an address.
    pub(super) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            uses: Atomic::new(0),
            used: Atomic::new(false),
            address: Atomic::new(0),
            mapping <- new_mutex!(None, "ouro_pinning"),
        })
    }

    /// Pins the object until [`unpin`](Self::unpin); calls `map` if it has no address. Process
    /// context. Errors: those of `map`.
    pub(super) fn pin(&self, map: impl FnOnce() -> Result<Mapping>) -> Result {
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
            let new = map()?;
            self.address.store(new.ggtt().0, ordering::Relaxed);
            *mapping = Some(new);
        }
        self.uses.fetch_add(1, ordering::Full);
        Ok(())
    }

    /// Pins a pinned object once more. Any context.
    pub(super) fn pin_again(&self) {
        // The count is not zero.
        self.uses.fetch_add(1, ordering::Full);
    }

    /// Unpins the object. Any context.
    pub(super) fn unpin(&self) {
        self.uses.fetch_sub(1, ordering::Full);
    }

    /// Returns the address of a pinned object.
    pub(super) fn address(&self) -> Option<GgttAddr> {
        match self.address.load(ordering::Relaxed) {
            0 => None,
            address => Some(GgttAddr(address)),
        }
    }

    /// As [`Evictable::take_used`].
    pub(super) fn take_used(&self) -> bool {
        self.used.xchg(false, ordering::Relaxed)
    }

    /// As [`Evictable::evict`]. Calls `leave` before the address is freed.
    pub(super) fn evict(&self, leave: impl FnOnce()) -> bool {
        let gone = {
            let mut mapping = self.mapping.lock();
            if self.uses.load(ordering::Acquire) != 0 {
                return false;
            }
            self.address.store(0, ordering::Relaxed);
            let gone = mapping.take();
            if gone.is_some() {
                leave();
            }
            gone
        };
        gone.is_some()
    }

    /// Ends the mapping of an object that is not used any more.
    pub(super) fn end(&self) -> Option<Mapping> {
        self.mapping.lock().take()
    }
}
