// SPDX-License-Identifier: GPL-2.0
//! Hardware contexts, where a chip has them.

/// When an image may be touched again after its context was switched away from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// When a later request of another context on the same engine has completed.
    NextRequest,
    /// When the device says so in an event.
    Event,
}

/// The images that an engine saves and restores.
pub trait Context: Sync {
    /// Alignment of an image in the global table, in bytes.
    fn alignment(&self) -> u32;
    /// When an image is free.
    fn release(&self) -> Release;
    /// Writes a first image for list engines; ring engines get a copy of a golden image instead.
    /// Returns false if the backend has no such image.
    fn first_image(&self, image: &mut [u32]) -> bool;
}
