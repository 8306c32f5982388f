// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The engines that a card has, from its fuses (A2, digest §5.3).
//!
//! They are a set: bit n is the n-th of [`ALL`]. The set is in [`Topology::card`] and [`Hw::card`]
//! (beside [`super::parts`]), so that the whole backend counts engines alike.
//!
//! Only the first compute engine is used, and has all slices: each slice is assigned to it, and
//! sharing by load is off (workaround 14019159160, [`slices`]).
//!
//! [`Topology::card`]: crate::generation::Topology::card

use super::{
    engine::{ListEngine, ALL},
    gt_regs::{self as gt_reg, MediaFuse},
};
use crate::{engine::Engine, generation::Shaders, io::Hw};

/// Render and blitter, which every card has.
const ALWAYS: u32 = 0b11;
/// Bit of the first of the compute engines, and how many there are. Each has eight bits of the
/// fuse.
const COMPUTE: (u32, usize) = (2, 4);
/// Bit of the first of the media engines.
const FIRST_MEDIA: u32 = 6;
/// Media engines: their bit in the set, and the half and bit of the fuse.
const MEDIA: [(u32, bool, u8); 4] = [
    (1 << 6, false, 0),
    (1 << 7, false, 2),
    (1 << 8, true, 0),
    (1 << 9, true, 1),
];
/// Most engines of a card.
const MOST: usize = 7;

/// The engines of a card, in order.
struct Members {
    list: [&'static dyn Engine; MOST],
    len: usize,
}

/// Returns the n-th set of [`SETS`].
const fn set_of(n: usize) -> u32 {
    let media = (n as u32 & 0xf) << FIRST_MEDIA;
    // None, or one of the four.
    let compute = (1u32 << (n >> 4)) >> 1 << COMPUTE.0;
    ALWAYS | compute | media
}

const fn members(set: u32) -> Members {
    let mut list: [&'static dyn Engine; MOST] = [ALL[0]; MOST];
    let (mut len, mut slot) = (0, 0);
    while slot < ALL.len() {
        if set >> slot & 1 != 0 {
            list[len] = ALL[slot];
            len += 1;
        }
        slot += 1;
    }
    Members { list, len }
}

/// All sets that there can be.
static SETS: [Members; 80] = {
    let mut sets = [const { members(ALWAYS) }; 80];
    let mut n = 0;
    while n < sets.len() {
        sets[n] = members(set_of(n));
        n += 1;
    }
    sets
};

/// Reads the fuses.
pub(super) fn read(hw: &Hw<'_>) -> u32 {
    let media = MediaFuse::from_bits(hw.regs.read32(gt_reg::MEDIA_FUSE));
    let compute = hw.regs.read32(gt_reg::COMPUTE_DSS);
    let mut set = ALWAYS;
    let first = compute.to_le_bytes().iter().position(|slices| *slices != 0);
    if let Some(n) = first {
        set |= 1u32.wrapping_shl(COMPUTE.0.wrapping_add(n as u32));
    }
    for (bit, enhance, n) in MEDIA {
        let fuse = if enhance {
            media.enhance()
        } else {
            media.video()
        };
        if fuse.wrapping_shr(n.into()) & 1 != 0 {
            set |= bit;
        }
    }
    set
}

/// Bits of [`gt_reg::CCS_MODE`] per slice, and the value for a slice without an engine.
const SLICE: (u32, u16) = (3, 0b111);

/// Returns the value of [`gt_reg::CCS_MODE`]: the compute engine in use, for each existing slice.
pub(super) fn slices(hw: &Hw<'_>) -> u16 {
    let fuse = hw.regs.read32(gt_reg::COMPUTE_DSS);
    let engine = match fuse {
        0 => SLICE.1,
        _ => (hw.card >> COMPUTE.0 & 0xf).trailing_zeros() as u16 & SLICE.1,
    };
    let each = (0u32..).zip(fuse.to_le_bytes());
    each.fold(0, |mode, (n, subslices)| {
        let of = if subslices != 0 { engine } else { SLICE.1 };
        mode | of << (n * SLICE.0)
    })
}

/// Reads the existing subslices, and the execution units of each: at most 16, which eight fuse bits
/// disable in pairs (digest §3.3 row 9; that these are pairs follows from the number of a DG2's
/// units only).
pub(super) fn shaders(hw: &Hw<'_>) -> Shaders {
    let pairs = hw.regs.read32(gt_reg::EU_FUSE) & 0xff;
    let units = (0..16).filter(|unit| pairs >> (unit / 2) & 1 != 0);
    Shaders {
        geometry: hw.regs.read32(gt_reg::GEOMETRY_DSS),
        compute: hw.regs.read32(gt_reg::COMPUTE_DSS),
        units: units.fold(0, |all, unit| all | 1 << unit),
    }
}

/// Returns the engines of a set from [`read`].
pub(super) fn engines(set: u32) -> &'static [&'static dyn Engine] {
    let compute = (set >> COMPUTE.0 & 0xf).trailing_zeros() as usize;
    let choice = match compute < COMPUTE.1 {
        true => compute.wrapping_add(1),
        false => 0,
    };
    let n = (set >> FIRST_MEDIA & 0xf) as usize | choice << 4;
    SETS.get(n).and_then(|s| s.list.get(..s.len)).unwrap_or(&[])
}

/// Returns the engines of this card, each with its number in the topology.
pub(super) fn numbered(hw: &Hw<'_>) -> impl Iterator<Item = (usize, &'static ListEngine)> + Clone {
    let set = hw.card;
    ALL.iter()
        .filter(move |e| set >> e.slot & 1 != 0)
        .copied()
        .enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::Mock;
    use std::{string::ToString, vec::Vec};

    fn names(media: u32, compute: u32) -> Vec<std::string::String> {
        let mock = Mock::default();
        mock.set(0x9140, media);
        mock.set(0x9144, compute);
        let set = read(&mock.hw());
        let list: Vec<_> = engines(set).iter().map(|e| e.desc().id).collect();
        let hw = Hw {
            card: set,
            ..mock.hw()
        };
        let same: Vec<_> = numbered(&hw).map(|(_, e)| e.desc.id).collect();
        assert_eq!(list, same);
        assert!(numbered(&hw).enumerate().all(|(n, (m, _))| n == m));
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn shaders_are_those_that_the_fuses_leave() {
        let mock = Mock::default();
        mock.set(0x9134, 0x3f);
        mock.set(0x913c, 0x0000_00fe);
        mock.set(0x9144, 0x0000_ff00);
        let shaders = shaders(&mock.hw());
        assert_eq!((shaders.geometry, shaders.compute), (0xfe, 0xff00));
        // Row 9 of §3.3: bits 7:0, for 16 units.
        assert_eq!((shaders.units, shaders.count()), (0x0fff, 15));
    }

    #[test]
    fn engines_are_those_that_the_fuses_leave() {
        assert_eq!(names(0, 0), ["rcs0", "bcs0"]);
        assert_eq!(names(0, 1), ["rcs0", "bcs0", "ccs0"]);
        assert_eq!(names(0, 0xff00), ["rcs0", "bcs0", "ccs1"]);
        assert_eq!(names(0, 0x0101_0000), ["rcs0", "bcs0", "ccs2"]);
        assert_eq!(names(0, 0x8000_0000), ["rcs0", "bcs0", "ccs3"]);
        // §5.3: VDBOX 7:0, VEBOX 19:16, ones are there; DG2 has 0 and 2, 0 and 1.
        assert_eq!(
            names(0x0003_0005, 0xffff),
            ["rcs0", "bcs0", "ccs0", "vcs0", "vcs2", "vecs0", "vecs1"]
        );
        assert_eq!(names(0x0002_0004, 0), ["rcs0", "bcs0", "vcs2", "vecs1"]);
        // Others are not DG2's.
        assert_eq!(names(0xfffc_fffa, 0), ["rcs0", "bcs0"]);
    }

    /// Upstream's `intel_gt_apply_ccs_mode`: three bits for each slice, 7 where there is none.
    #[test]
    fn all_slices_are_given_to_the_first_compute_engine() {
        for (fuse, engine, mode) in [
            (0xffff_ffff, 0, 0o0000),
            (0x0000_00ff, 0, 0o7770),
            (0x00ff_ff00, 1, 0o7117),
            (0x0100_0000, 3, 0o3777),
            (0, 0, 0o7777),
        ] {
            let mock = Mock::default();
            mock.set(0x9144, fuse);
            let hw = Hw {
                card: 0b11 | 1 << (2 + engine),
                ..mock.hw()
            };
            assert_eq!(slices(&hw), mode, "{fuse:x}");
        }
    }

    #[test]
    fn every_set_is_listed() {
        for media in 0..16u32 {
            let fuse = (media & 1) | (media & 2) << 1 | (media >> 2) << 16;
            for (compute, one) in [(0, 0), (1, 1), (1 << 8, 1), (1 << 16, 1), (1 << 24, 1)] {
                let n = media.count_ones() + one + 2;
                assert_eq!(names(fuse, compute).len(), n as usize);
            }
        }
    }
}
