// SPDX-License-Identifier: GPL-2.0
//! What the device sees of the CPU's caches, and so how the kernel's own pages are mapped.

use crate::types::CacheLevel;

/// Which accesses of the device see what the CPU's caches hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coherence {
    /// All of them: CPU and device share the last-level cache. What an entry says not to cache is read from
    /// memory, and a write drops the CPU's lines all the same.
    Llc,
    /// All accesses to system memory of which the entry says so, by every unit: a card on PCI Express.
    Bus,
    /// Those to pages whose entry says so, by the units that draw and copy. Commands and contexts must not be
    /// in such pages (Gen4 PRM §5.3.4.3, §5.3.6.1), and the CPU must not reach such a page through the aperture
    /// (§4.3.1, §4.6.1).
    Snoop,
    /// None of them.
    None,
}

/// What a page of the kernel's own is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelUse {
    /// Commands: a ring, the state that is set before batches, checked batches.
    Commands,
    /// The image of a context.
    Image,
    /// The page behind every hole, and what flushes write to.
    Scratch,
    /// Tables that lead to pages.
    Tables,
    /// The page in which an engine says how far it has come. The CPU reads it in each interrupt.
    Status,
}

/// How a page of the kernel's own is mapped, for the CPU and for the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelMapping {
    /// Whether the CPU's mapping is write-combined; else it is write-back.
    pub write_combined: bool,
    /// What the entry says.
    pub cache: CacheLevel,
}

impl Coherence {
    /// Whether every unit sees the CPU's caches, so that nothing is ever flushed for a page that is
    /// [`CacheLevel::Coherent`].
    pub const fn is_whole(self) -> bool {
        matches!(self, Coherence::Llc | Coherence::Bus)
    }

    /// Whether the CPU and the device share the last-level cache.
    pub const fn is_llc(self) -> bool {
        matches!(self, Coherence::Llc)
    }

    /// Whether an object can be [`CacheLevel::Coherent`]: then nobody flushes anything for it.
    pub const fn snoops(self) -> bool {
        !matches!(self, Coherence::None)
    }

    /// Whether the CPU sees what the device has written to a page that is [`CacheLevel::None`], whatever its
    /// caches held before.
    pub const fn drops_lines(self) -> bool {
        self.is_llc()
    }

    /// How objects are cached until somebody says otherwise.
    pub const fn default_cache(self) -> CacheLevel {
        match self.is_whole() {
            true => CacheLevel::Coherent,
            false => CacheLevel::None,
        }
    }

    /// Whether the CPU may reach an object through the aperture that is cached so.
    pub const fn shows_in_aperture(self, cache: CacheLevel) -> bool {
        self.is_whole() || matches!(cache, CacheLevel::None)
    }

    /// How the kernel's own pages are mapped.
    pub const fn kernel(self, what: KernelUse) -> KernelMapping {
        match (self, what) {
            (Coherence::Llc | Coherence::Bus, _) | (Coherence::Snoop, KernelUse::Status) => {
                KernelMapping {
                    write_combined: false,
                    cache: CacheLevel::Coherent,
                }
            }
            // By its address on the bus, which needs no entry: the chipset keeps such a page coherent.
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
