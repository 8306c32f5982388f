// SPDX-License-Identifier: GPL-2.0

//! Properties that user space stores with a BO, for all its users. The core does not interpret
//! them.

use kernel::sync::atomic::{ordering, Atomic};

/// The stored properties of a BO.
pub(crate) struct Notes {
    /// The tiling, as the uAPI numbers it.
    tiling: Atomic<u32>,
    /// Bytes from one row to the next.
    pitch: Atomic<u32>,
    /// The domain where the BO was meant to be.
    domain: Atomic<u32>,
    /// The flags of its creation.
    flags: Atomic<u32>,
}

impl Notes {
    pub(super) fn new() -> Self {
        Self {
            tiling: Atomic::new(0),
            pitch: Atomic::new(0),
            domain: Atomic::new(0),
            flags: Atomic::new(0),
        }
    }

    /// Returns the tiling, as the uAPI numbers it.
    pub(crate) fn tiling(&self) -> u32 {
        self.tiling.load(ordering::Relaxed)
    }

    /// Returns the bytes from one row to the next.
    pub(crate) fn pitch(&self) -> u32 {
        self.pitch.load(ordering::Relaxed)
    }

    /// Sets [`tiling`](Self::tiling) and [`pitch`](Self::pitch).
    pub(crate) fn set_tiling(&self, tiling: u32, pitch: u32) {
        self.tiling.store(tiling, ordering::Relaxed);
        self.pitch.store(pitch, ordering::Relaxed);
    }

    /// Returns the domain where the BO was meant to be.
    pub(crate) fn domain(&self) -> u32 {
        self.domain.load(ordering::Relaxed)
    }

    /// Sets [`domain`](Self::domain).
    pub(crate) fn set_domain(&self, domain: u32) {
        self.domain.store(domain, ordering::Relaxed);
    }

    /// Returns the flags of its creation.
    pub(crate) fn flags(&self) -> u32 {
        self.flags.load(ordering::Relaxed)
    }

    /// Sets [`flags`](Self::flags).
    pub(crate) fn set_flags(&self, flags: u32) {
        self.flags.store(flags, ordering::Relaxed);
    }
}
