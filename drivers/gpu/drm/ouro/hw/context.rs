// SPDX-License-Identifier: GPL-2.0
//! Hardware contexts, where a chip has them.

use crate::types::{DmaAddr, GgttAddr};

/// What a first image of a list engine's context says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FirstImage {
    /// Where the image is and stays, as long as it is one of this context.
    pub image: GgttAddr,
    /// What [`Topology::card`](crate::generation::Topology::card) says.
    pub card: u32,
    /// The context's ring.
    pub ring: GgttAddr,
    /// Bytes of it: a power of two.
    pub ring_bytes: u32,
    /// The root of its address space, where it has one of its own.
    pub root: Option<DmaAddr>,
}

/// The images that an engine saves and restores.
pub trait ContextImages: Sync {
    /// Alignment of an image in the global table, in bytes.
    fn alignment(&self) -> u32;
    /// Bytes of an image, where that differs from engine to engine; else 0, and
    /// [`Topology::context_bytes`](crate::generation::Topology::context_bytes) has it.
    fn bytes(&self) -> u32 {
        0
    }
    /// Writes a first image for list engines; ring engines get a copy of a golden image instead.
    /// Returns false if the backend has no such image, or `image` is too short for it.
    fn first_image(&self, what: &FirstImage, image: &mut [u32]) -> bool;
    /// Makes an image of a copy of one that the device saved: of what is in it, the ring and the address space
    /// are replaced. Returns false, and changes nothing, if it is none that the device would have saved.
    fn later_image(&self, what: &FirstImage, image: &mut [u32]) -> bool {
        let _ = (what, image);
        false
    }
    /// Where in an image, in bytes, a list engine reads the tail of its ring.
    fn tail_at(&self) -> Option<u32> {
        None
    }
    /// What stands for the context in a list: its image, and the id that events tell. `None` where
    /// there are no lists, or the id is not one.
    fn descriptor(&self, image: GgttAddr, id: u32) -> Option<u64> {
        let _ = (image, id);
        None
    }
}
