// SPDX-License-Identifier: GPL-2.0
//! Hardware contexts, where a chip has them.

use crate::types::{DmaAddr, GgttAddr};

/// When an image may be touched again after its context was switched away from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// When a later request of another context on the same engine has completed.
    NextRequest,
    /// When the device says so in an event.
    Event,
}

/// What a first image of a list engine's context says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirstImage {
    /// The context's ring.
    pub ring: GgttAddr,
    /// Bytes of it: a power of two.
    pub ring_bytes: u32,
    /// The root of its address space, where it has one of its own.
    pub root: Option<DmaAddr>,
}

/// The images that an engine saves and restores.
pub trait Context: Sync {
    /// Alignment of an image in the global table, in bytes.
    fn alignment(&self) -> u32;
    /// When an image is free.
    fn release(&self) -> Release;
    /// Writes a first image for list engines; ring engines get a copy of a golden image instead.
    /// Returns false if the backend has no such image, or `image` is too short for it.
    fn first_image(&self, what: &FirstImage, image: &mut [u32]) -> bool;
    /// What stands for the context in a list: its image, and the id that events tell. `None` where
    /// there are no lists, or the id is not one.
    fn descriptor(&self, image: GgttAddr, id: u32) -> Option<u64> {
        let _ = (image, id);
        None
    }
}
