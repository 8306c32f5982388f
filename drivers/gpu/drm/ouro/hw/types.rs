// SPDX-License-Identifier: GPL-2.0
//! Numbers that must not be mixed up: addresses of four kinds, sequence numbers, engines.

use core::fmt;

/// Bytes of a page, of the CPU and of every GPU here.
pub const PAGE_SIZE: u32 = 4096;

/// A byte address in a GPU virtual address space, as a batch uses it. Made by binding an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GpuAddr(pub u64);

/// A byte address in the global translation table's space, where rings, status pages and
/// context images live.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GgttAddr(pub u32);

impl GgttAddr {
    /// The index of the page, which is that of its table entry.
    pub const fn page(self) -> u32 {
        self.0 / PAGE_SIZE
    }
}

/// A byte address on the bus, as a translation table entry holds it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DmaAddr(pub u64);

/// The number that a ring writes when a request is done. Wraps; compare with
/// [`passed`](Seqno::passed) only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Seqno(pub u32);

impl Seqno {
    /// Whether a ring that has written `self` has completed `other`.
    pub const fn passed(self, other: Seqno) -> bool {
        self.0.wrapping_sub(other.0) as i32 >= 0
    }

    /// The number after this one. Never zero, which a fresh status page holds.
    pub const fn next(self) -> Seqno {
        match self.0.wrapping_add(1) {
            0 => Seqno(1),
            n => Seqno(n),
        }
    }
}

/// A byte offset into a ring.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RingOffset(pub u32);

/// What an engine is for. The numbers are those of `enum drm_ouro_engine_class`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
pub enum EngineClass {
    /// 3D, media and general commands.
    Render = 0,
    /// The blitter.
    Copy = 1,
    /// Video decoding.
    Video = 2,
    /// Video post-processing.
    VideoEnhance = 3,
    /// Compute only.
    Compute = 4,
}

impl EngineClass {
    /// The class as the beginning of an engine's name: `rcs` of `rcs0`.
    pub const fn prefix(self) -> &'static str {
        match self {
            EngineClass::Render => "rcs",
            EngineClass::Copy => "bcs",
            EngineClass::Video => "vcs",
            EngineClass::VideoEnhance => "vecs",
            EngineClass::Compute => "ccs",
        }
    }
}

/// One engine of a chip.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EngineId {
    /// Its class.
    pub class: EngineClass,
    /// Its number within the class.
    pub instance: u8,
}

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.prefix(), self.instance)
    }
}

/// Where a page is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryKind {
    /// In system memory, reached over the bus.
    System,
    /// In the device's own memory.
    Local,
}

/// How the GPU caches a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CacheLevel {
    /// Not cached beside the GPU's own caches: the CPU sees writes after a flush, and must not
    /// hold the lines in its own cache.
    None,
    /// Coherent with the CPU's caches (the shared last-level cache, or snooping).
    Coherent,
}

/// One page of an object, as a table entry wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Its address.
    pub addr: DmaAddr,
    /// The memory it is in.
    pub memory: MemoryKind,
    /// How the GPU caches it.
    pub cache: CacheLevel,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seqno_compares_across_the_wrap() {
        assert!(Seqno(1).passed(Seqno(1)));
        assert!(Seqno(2).passed(Seqno(1)));
        assert!(!Seqno(1).passed(Seqno(2)));
        assert!(Seqno(5).passed(Seqno(0xffff_fff0)));
        assert!(!Seqno(0xffff_fff0).passed(Seqno(5)));
        assert_eq!(Seqno(0xffff_ffff).next(), Seqno(1));
    }
}
