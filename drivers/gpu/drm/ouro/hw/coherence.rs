// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Coherence of the device's accesses with the CPU's caches, and the caching of kernel pages.

use crate::types::CacheLevel;

/// Which of the device's accesses are coherent with the CPU's caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coherence {
    /// All: CPU and device share the last-level cache. The device reads pages with an uncached PTE
    /// from memory; its writes to them still invalidate the CPU's lines.
    Llc,
    /// All accesses to system memory through a PTE that says so, by every unit: a card on PCI
    /// Express.
    Bus,
    /// Accesses through a snooped PTE, by the units that draw and copy. Commands and contexts must
    /// not be in snooped pages (Gen4 PRM §5.3.4.3, §5.3.6.1), and the CPU must not reach a snooped
    /// page through the aperture (§4.3.1, §4.6.1).
    Snoop,
    /// None.
    None,
}

/// The use of a page of kernel memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelUse {
    /// Commands: a ring, the commands of the known state, checked batches.
    Commands,
    /// A context image.
    Image,
    /// The scratch page behind unused PTEs, and the target of flush writes.
    Scratch,
    /// Page tables.
    Tables,
    /// A status page, where an engine stores its seqno. The CPU reads it in each interrupt.
    Status,
}

/// How CPU and device map a page of kernel memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelMapping {
    /// Whether the CPU's mapping is write-combined; if not, it is write-back.
    pub write_combined: bool,
    /// The cache level in the PTE.
    pub cache: CacheLevel,
}

impl Coherence {
    /// Returns whether every unit is coherent, so that a [`CacheLevel::Coherent`] page never needs
    /// a flush.
    pub const fn is_whole(self) -> bool {
        matches!(self, Coherence::Llc | Coherence::Bus)
    }

    /// Returns whether the CPU and the device share the last-level cache.
    pub const fn is_llc(self) -> bool {
        matches!(self, Coherence::Llc)
    }

    /// Returns whether a BO can be [`CacheLevel::Coherent`], so that it needs no flushes.
    pub const fn snoops(self) -> bool {
        !matches!(self, Coherence::None)
    }

    /// Returns the cache level of new BOs.
    pub const fn default_cache(self) -> CacheLevel {
        match self.is_whole() {
            true => CacheLevel::Coherent,
            false => CacheLevel::None,
        }
    }

    /// Returns whether pages of different cache levels must not be neighbours in the GGTT. Upstream
    /// has found that the prefetcher hangs when it crosses from snooped to unsnooped memory or back
    /// (`i915_gem_valid_gtt_space()`); an unused page, which maps the scratch page, may be between
    /// them.
    pub const fn parts_cache_levels(self) -> bool {
        matches!(self, Coherence::Snoop)
    }

    /// Returns whether the CPU may reach a BO of this cache level through the aperture.
    pub const fn shows_in_aperture(self, cache: CacheLevel) -> bool {
        self.is_whole() || matches!(cache, CacheLevel::None)
    }

    /// Returns how kernel pages of a use are mapped.
    pub const fn kernel(self, what: KernelUse) -> KernelMapping {
        match (self, what) {
            (Coherence::Llc | Coherence::Bus, _) | (Coherence::Snoop, KernelUse::Status) => {
                KernelMapping {
                    write_combined: false,
                    cache: CacheLevel::Coherent,
                }
            }
            // The device has the page's DMA address, which needs no PTE; the chipset keeps such a
            // page coherent.
            (Coherence::None, KernelUse::Status) => KernelMapping {
                write_combined: false,
                cache: CacheLevel::None,
            },
            _ => KernelMapping {
                write_combined: true,
                cache: CacheLevel::None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Coherence; 4] = [
        Coherence::Llc,
        Coherence::Bus,
        Coherence::Snoop,
        Coherence::None,
    ];

    #[test]
    fn what_is_coherent_as_a_whole_needs_no_care() {
        assert_eq!(ALL.map(Coherence::is_whole), [true, true, false, false]);
        assert_eq!(ALL.map(Coherence::is_llc), [true, false, false, false]);
        assert_eq!(ALL.map(Coherence::snoops), [true, true, true, false]);
        assert_eq!(
            ALL.map(Coherence::default_cache),
            [
                CacheLevel::Coherent,
                CacheLevel::Coherent,
                CacheLevel::None,
                CacheLevel::None
            ]
        );
        assert_eq!(
            ALL.map(Coherence::parts_cache_levels),
            [false, false, true, false]
        );
        // "Such accesses may have side effects in the hardware" (Gen4 PRM §4.3.1).
        assert_eq!(
            ALL.map(|c| c.shows_in_aperture(CacheLevel::Coherent)),
            [true, true, false, false]
        );
        assert_eq!(
            ALL.map(|c| c.shows_in_aperture(CacheLevel::None)),
            [true; 4]
        );
    }

    #[test]
    fn commands_and_contexts_are_snooped_only_where_everything_is() {
        let cached = KernelMapping {
            write_combined: false,
            cache: CacheLevel::Coherent,
        };
        let combined = KernelMapping {
            write_combined: true,
            cache: CacheLevel::None,
        };
        for what in [
            KernelUse::Commands,
            KernelUse::Image,
            KernelUse::Scratch,
            KernelUse::Tables,
        ] {
            assert_eq!(
                ALL.map(|c| c.kernel(what)),
                [cached, cached, combined, combined]
            );
        }
        let physical = KernelMapping {
            write_combined: false,
            cache: CacheLevel::None,
        };
        assert_eq!(
            ALL.map(|c| c.kernel(KernelUse::Status)),
            [cached, cached, cached, physical]
        );
    }
}
