// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Number types that must not be mixed up: addresses of four kinds, seqnos, engines.

use core::fmt;

/// Bytes of a page, of the CPU and of every GPU here.
pub const PAGE_SIZE: u32 = 4096;

/// A byte address in a PPGTT, as a batch uses it. Binding a BO yields one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GpuAddr(pub u64);

/// A byte address in the GGTT, where rings, status pages and context images are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GgttAddr(pub u32);

impl GgttAddr {
    /// Returns the index of the page, which is the index of its PTE.
    pub const fn page(self) -> u32 {
        self.0 / PAGE_SIZE
    }
}

/// A DMA address in bytes, as a PTE holds it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DmaAddr(pub u64);

/// A seqno: the breadcrumb that a ring stores when a request completes. It wraps; compare seqnos
/// with [`passed`](Seqno::passed) only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Seqno(pub u32);

impl Seqno {
    /// Returns whether a ring that has stored `self` has completed `other`.
    pub const fn passed(self, other: Seqno) -> bool {
        self.0.wrapping_sub(other.0) as i32 >= 0
    }

    /// Returns the next seqno. Never zero, which is what a fresh status page holds.
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

/// The class of an engine. The numbers are those of `enum drm_ouro_engine_class`.
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
    /// Returns the class as the prefix of an engine's name: `rcs` of `rcs0`.
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

/// The memory a page is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryKind {
    /// System memory, accessed over the bus.
    System,
    /// The device's own memory (VRAM).
    Local,
}

/// How the GPU caches a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CacheLevel {
    /// Uncached, but for the GPU's own caches: the CPU sees writes after a flush, and must not hold
    /// the lines in its caches.
    None,
    /// Coherent with the CPU's caches (the shared last-level cache, or snooping).
    Coherent,
}

/// A page as a PTE maps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Its DMA address, or its offset in VRAM.
    pub addr: DmaAddr,
    /// The memory that it is in.
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
