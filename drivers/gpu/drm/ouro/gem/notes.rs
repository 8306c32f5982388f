// SPDX-License-Identifier: GPL-2.0

//! What user space keeps with an object, for everyone who has it. It means nothing to the core.

use kernel::sync::atomic::{ordering, Atomic};

/// The notes of an object.
pub(crate) struct Notes {
    /// How it is tiled, as the interface says it.
    tiling: Atomic<u32>,
    /// Bytes from one row to the next.
    pitch: Atomic<u32>,
    /// Where it was meant to be.
    domain: Atomic<u32>,
    /// What it was created with.
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

    /// How it is tiled.
    pub(crate) fn tiling(&self) -> u32 {
        self.tiling.load(ordering::Relaxed)
    }

    /// Bytes from one row to the next.
    pub(crate) fn pitch(&self) -> u32 {
        self.pitch.load(ordering::Relaxed)
    }

    /// Sets [`tiling`](Self::tiling) and [`pitch`](Self::pitch).
    pub(crate) fn set_tiling(&self, tiling: u32, pitch: u32) {
        self.tiling.store(tiling, ordering::Relaxed);
        self.pitch.store(pitch, ordering::Relaxed);
    }

    /// Where it was meant to be.
    pub(crate) fn domain(&self) -> u32 {
        self.domain.load(ordering::Relaxed)
    }

    /// Sets [`domain`](Self::domain).
    pub(crate) fn set_domain(&self, domain: u32) {
        self.domain.store(domain, ordering::Relaxed);
    }

    /// What it was created with.
    pub(crate) fn flags(&self) -> u32 {
        self.flags.load(ordering::Relaxed)
    }

    /// Sets [`flags`](Self::flags).
    pub(crate) fn set_flags(&self, flags: u32) {
        self.flags.store(flags, ordering::Relaxed);
    }
}
