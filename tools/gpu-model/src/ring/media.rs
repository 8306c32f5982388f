// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the video engine's arbiter and the image filters show: statistics that a read clears, and
//! the addresses in TLBs (VCS PRM 1.1.8, 1.1.9).

use crate::intel::regfile::{Domain, Write};
use crate::intel::tlb::AddressSpace;
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::regs::{Array, ALL};

/// First offsets and numbers of dwords of the statistics.
const STATISTICS: &[(u32, u32)] = &[(0x5000, 26), (0x5070, 2), (0x5080, 64)];

/// GAC_ARB_CTL, whose bits 5:0 are the entries of the stream's TLB that are kept for the global table.
const GAC_ARB_CTL: u32 = 0x1_4050;
/// Addresses in the TLB of the command streamer (and of a codec unit), and which of them are valid.
const STREAM_VA: u32 = 0x1_4800;
const STREAM_VLD: u32 = 0x1_4780;
const VIDEO: Domain = Domain::Engine(EngineId::Vcs as u8);

/// Statistics; addresses in four TLBs, of which three serve units that do nothing here; and cycles that wait
/// for a translation, of which there is none.
pub const ARRAYS: &[Array] = &[
    Array(
        0x5000,
        11,
        "FMD variance of stream 0",
        Write::ReadOnly,
        VIDEO,
    ),
    Array(0x502c, 2, "GNE of stream 0", Write::ReadOnly, VIDEO),
    Array(
        0x5034,
        11,
        "FMD variance of stream 1",
        Write::ReadOnly,
        VIDEO,
    ),
    Array(0x5060, 2, "GNE of stream 1", Write::ReadOnly, VIDEO),
    Array(0x5070, 2, "skin", Write::ReadOnly, VIDEO),
    Array(0x5080, 64, "ACE histogram", Write::ReadOnly, VIDEO),
    Array(0x1_4400, 64, "TLBPEND_SEC0", ALL, Domain::Gt),
    Array(0x1_4500, 64, "TLBPEND_SEC1", ALL, Domain::Gt),
    Array(
        0x1_4600,
        64,
        "TLBPEND_SEC2",
        Write::Bits(0x07ff),
        Domain::Gt,
    ),
    Array(0x1_4700, 2, "TLBPEND_VLD", ALL, Domain::Gt),
    Array(0x1_4708, 2, "TLBPEND_RDY", ALL, Domain::Gt),
    Array(STREAM_VLD, 2, "TLB064_VLD", Write::ReadOnly, Domain::Chip),
    Array(0x1_4788, 2, "TLB132_VLD", Write::ReadOnly, Domain::Chip),
    Array(0x1_4790, 2, "TLB232_VLD", Write::ReadOnly, Domain::Chip),
    Array(0x1_4798, 2, "TLB304_VLD", Write::ReadOnly, Domain::Chip),
    Array(STREAM_VA, 64, "TLB064_VA", Write::ReadOnly, Domain::Chip),
    Array(0x1_4900, 64, "TLB132_VA", Write::ReadOnly, Domain::Chip),
    Array(0x1_4a00, 64, "TLB232_VA", Write::ReadOnly, Domain::Chip),
    Array(0x1_4b00, 64, "TLB304_VA", Write::ReadOnly, Domain::Chip),
];
/// Entries of a TLB.
const ENTRIES: usize = 64;

/// Bits that a statistics register has.
pub fn statistics_bits(offset: u32) -> Option<u32> {
    let within = |row: &&(u32, u32)| (row.0..row.0 + 4 * row.1).contains(&offset);
    STATISTICS.iter().find(within)?;
    Some(match offset {
        0x5070 => 0x03ff_03ff,
        0x5074 => 0x001f_ffff,
        _ => 0xffff_ffff,
    })
}

/// Places translations in a TLB: the global table's below `kept`, the others from there on. What does not
/// fit is not shown.
fn place(pages: &[(AddressSpace, u32)], kept: usize) -> [Option<u32>; ENTRIES] {
    let mut entries = [None; ENTRIES];
    let kept = kept.min(ENTRIES);
    for (space, range) in [
        (AddressSpace::Ggtt, 0..kept),
        (AddressSpace::Ppgtt, kept..ENTRIES),
    ] {
        let mine = pages.iter().filter(|p| p.0 == space);
        for (entry, (_, page)) in entries[range].iter_mut().zip(mine) {
            *entry = Some(*page);
        }
    }
    entries
}

impl Core {
    /// A statistics register as it reads; it is zero after that. Or a TLB's. `None` for any other.
    pub fn media_read(&mut self, offset: u32) -> Option<u32> {
        if statistics_bits(offset).is_some() {
            let value = self.get(offset);
            self.set(offset, 0);
            return Some(value);
        }
        let index = |base: u32, dwords: u32| {
            let range = base..base + 4 * dwords;
            range
                .contains(&offset)
                .then(|| (offset - base) as usize / 4)
        };
        if let Some(i) = index(STREAM_VA, ENTRIES as u32) {
            return Some(self.stream_tlb()[i].map_or(0, |page| page << 12));
        }
        let half = index(STREAM_VLD, 2)?;
        let entries = &self.stream_tlb()[32 * half..][..32];
        let bits = entries.iter().enumerate();
        Some(bits.fold(0, |v, (i, e)| v | u32::from(e.is_some()) << i))
    }

    /// The video streamer's TLB; empty while a command of it has it away.
    fn stream_tlb(&self) -> [Option<u32>; ENTRIES] {
        let kept = (self.get(GAC_ARB_CTL) & 0x3f) as usize;
        let mmu = self.engines.get(EngineId::Vcs as usize);
        let pages = mmu.and_then(|e| e.mmu.as_ref()).map(|m| m.stream_pages());
        place(&pages.unwrap_or_default(), kept)
    }

    /// A filter has counted something: what its register shows next.
    pub fn set_statistics(&mut self, offset: u32, value: u32) {
        if let Some(bits) = statistics_bits(offset) {
            self.set(offset, value & bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_their_entries() {
        // VCS PRM 1.1.9.2.2: "the GGTT one running from 0 up to PPGTT_MIN - 1 ..., and the PPGTT one
        // running from PPGTT_MIN up to 63".
        use AddressSpace::{Ggtt, Ppgtt};
        let pages = [(Ggtt, 1), (Ggtt, 2), (Ggtt, 3), (Ppgtt, 9), (Ppgtt, 8)];
        let entries = place(&pages, 2);
        assert_eq!(entries[..5], [Some(1), Some(2), Some(9), Some(8), None]);
        assert_eq!(place(&pages, 0)[..3], [Some(9), Some(8), None]);
        assert_eq!(place(&pages, 63)[3..], {
            let mut rest = [None; 61];
            rest[60] = Some(9);
            rest
        });
    }

    #[test]
    fn statistics_are_where_1_1_8_says() {
        assert!([0x5000, 0x5064, 0x5070, 0x5080, 0x517c]
            .iter()
            .all(|o| statistics_bits(*o).is_some()));
        assert!([0x4ffc, 0x5068, 0x5078, 0x5180]
            .iter()
            .all(|o| statistics_bits(*o).is_none()));
    }
}
