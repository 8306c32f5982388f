// SPDX-License-Identifier: GPL-2.0

//! Who of the kernel's own has an address in the global table while somebody needs it, and gives it up for others
//! otherwise: images of contexts, and directories of address spaces.

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

/// Somebody who can be asked to make room.
pub(crate) trait Evictable: Send + Sync {
    /// Whether it was used since this was asked last.
    fn take_used(&self) -> bool;

    /// Gives up its address. False: it has none, or somebody needs it. Process context.
    fn evict(&self) -> bool;
}

/// An address that comes and goes.
#[pin_data]
pub(super) struct Pinning {
    /// How many need it. From zero only under `mapping`.
    uses: Atomic<u32>,
    /// Whether it was used since it was last asked to make room.
    used: Atomic<bool>,
    /// Zero while there is none.
    address: Atomic<u32>,
    #[pin]
    mapping: Mutex<Option<Mapping>>,
}

impl Pinning {
    /// None yet, and nobody needs it.
    pub(super) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            uses: Atomic::new(0),
            used: Atomic::new(false),
            address: Atomic::new(0),
            mapping <- new_mutex!(None, "ouro_pinning"),
        })
    }

    /// Keeps the address until [`unpin`](Self::unpin); `map` makes one if there is none. Process context. Errors:
    /// those of `map`.
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

    /// Keeps the address once more, which somebody keeps already. Any context.
    pub(super) fn pin_again(&self) {
        // It is more than zero.
        self.uses.fetch_add(1, ordering::Full);
    }

    /// The opposite of [`pin`](Self::pin). Any context.
    pub(super) fn unpin(&self) {
        self.uses.fetch_sub(1, ordering::Full);
    }

    /// The address; somebody keeps it.
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

    /// As [`Evictable::evict`]. `leave` runs before the address is anybody else's.
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

    /// The end: takes the address from who will not use it any more.
    pub(super) fn end(&self) -> Option<Mapping> {
        self.mapping.lock().take()
    }
}
