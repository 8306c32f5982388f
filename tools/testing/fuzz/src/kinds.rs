// SPDX-License-Identifier: GPL-2.0
//! The backends: for each one what one of its chips has, and what is true of its commands.

use crate::{card, lists, values};
use ouro_decode::{command::Generation, gen12, gen4, gen6, gen7, r5xx};
use ouro_hw::{engine::Batch, generation::Topology};

/// What is true of a backend.
pub struct Kind {
    /// Its name, which is that of its chips' generation.
    pub name: &'static str,
    /// What one of its chips has.
    pub topology: fn() -> &'static Topology,
    /// The decoder's tables.
    pub generation: &'static Generation,
    /// A request is a multiple of so many dwords.
    pub unit: usize,
    /// Whether its commands can name a batch.
    pub names: fn(&Batch) -> bool,
}

/// All of them.
pub const KINDS: [Kind; 5] = [
    // G45 PRM Vol 1b §1.5: 32 bits, aligned to dwords.
    Kind {
        name: "gen4",
        topology: values::g45_topology,
        generation: &gen4::GENERATION,
        unit: 2,
        names: |b| b.addr.0 <= 0xffff_fffc && b.addr.0 % 4 == 0,
    },
    Kind {
        name: "gen6",
        topology: values::topology,
        generation: &gen6::GENERATION,
        unit: 2,
        names: |b| b.addr.0 <= 0xffff_fffc && b.addr.0 % 4 == 0,
    },
    // VCS §1.2.6.
    Kind {
        name: "gen7",
        topology: values::ivb_topology,
        generation: &gen7::GENERATION,
        unit: 2,
        names: |b| b.addr.0 <= 0xffff_fffc && b.addr.0 % 4 == 0,
    },
    // Digest of its documents, 1.2: 48 bits of address.
    Kind {
        name: "gen12",
        topology: lists::topology,
        generation: &gen12::GENERATION,
        unit: 2,
        names: |b| b.addr.0 < 1 << 47 && b.addr.0 % 8 == 0,
    },
    // Digest of its document, 3.1: 23 bits for the size; what has none is not called.
    Kind {
        name: "r5xx",
        topology: card::topology,
        generation: &r5xx::GENERATION,
        unit: 16,
        names: |b| {
            b.addr.0 <= 0xffff_fffc && b.addr.0 % 4 == 0 && b.len % 4 == 0 && b.len >> 25 == 0
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use ouro_hw::chips;
    use std::collections::BTreeSet;

    #[test]
    fn each_backend_of_a_chip_is_here() {
        let backends: BTreeSet<_> = chips::ALL.iter().map(|c| c.generation.name()).collect();
        assert_eq!(
            KINDS.iter().map(|k| k.name).collect::<BTreeSet<_>>(),
            backends
        );
    }
}
