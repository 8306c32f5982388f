// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Context images, on chips with hardware contexts.

use crate::types::{DmaAddr, GgttAddr};

/// The contents of an execlist context's first image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirstImage {
    /// GGTT address of the image, for the life of the context.
    pub image: GgttAddr,
    /// A copy of [`Topology::card`](crate::generation::Topology::card).
    pub card: u32,
    /// GGTT address of the context's ring.
    pub ring: GgttAddr,
    /// Size of the ring in bytes: a power of two.
    pub ring_bytes: u32,
    /// Root table of the context's PPGTT, if it has one of its own.
    pub root: Option<DmaAddr>,
}

/// The format of the context images that an engine saves and restores.
pub trait ContextImages: Sync {
    /// Returns the alignment of an image in the GGTT, in bytes.
    fn alignment(&self) -> u32;
    /// Returns the size of an image in bytes if engines differ in it; 0 if
    /// [`Topology::context_bytes`](crate::generation::Topology::context_bytes) applies.
    fn bytes(&self) -> u32 {
        0
    }
    /// Returns the size in bytes of the part of an image that the device saves and restores, on
    /// execlist engines; the rest is the driver's.
    fn saved_bytes(&self) -> u32 {
        self.bytes()
    }
    /// Writes a first image for execlist engines; on ring engines, contexts start from a copy of
    /// the golden image instead. Returns false if the backend has no such image, or `image` is too
    /// short.
    fn first_image(&self, what: &FirstImage, image: &mut [u32]) -> bool;
    /// Turns a copy of an image that the device saved into one of this context: replaces the ring
    /// and the address space. Returns false, and changes nothing, if the device cannot have saved
    /// `image`.
    fn later_image(&self, what: &FirstImage, image: &mut [u32]) -> bool {
        let _ = (what, image);
        false
    }
    /// Returns the byte offset, in an image, of the tail of the ring that an execlist engine reads.
    fn tail_at(&self) -> Option<u32> {
        None
    }
    /// Returns the context's descriptor in an execlist: its image, and the id by which events name
    /// it. `None` if the chip has no execlists, or `id` is out of range.
    fn descriptor(&self, image: GgttAddr, id: u32) -> Option<u64> {
        let _ = (image, id);
        None
    }
}
