// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that a stream may write, and the bits of each.
//!
//! The list is [`ROWS`]. A bit is in it because it is known to be harmless to memory and to other
//! clients: it affects the pixels inside targets that are checked, or it stays in memories of the
//! chip that are cleared between clients, or the proof takes it into account (then the register has
//! a slot). Every other bit must be zero: reserved, unknown and harmful ones. Sources of the bits:
//! digest §2.3 and §3.3 to §3.5, and AMD's register pages where the digest has none; that
//! upstream's checker passes a bit (digest §5.7) is no reason. Registers that take a relocation,
//! start an operation, wait, or change in the copy are in
//! [`State::write`](super::state::State::write), and so are unpipelined ones behind a draw.
//!
//! Upstream's checker also passes these, which are not in the list: lines (1600 to 1608), queue
//! sizes (4024), memory of compressed colour (4E54 to 4E7C), waits for the display (0218, 6538).
//! Registers that clients write along with others, but whose bits are not documented, may be zero.
//!
//! The list is compiled into a table with eight bytes per register, since most packets write one
//! register: the checker looks up the register once, compares the bits, and stores the value
//! whether or not a rule needs it.

use super::{
    in_flight::{ends, units, Units},
    slot::{self, Kept},
};
use static_assertions::const_assert_eq;

/// First and last register of a range, the slot of the first, and the allowed bits of each.
type Row = (u32, u32, u8, u32);

/// No rule needs the value.
const FREE: u8 = slot::NO_RULE;
/// All bits.
const ALL: u32 = u32::MAX;
/// Only zero.
const NONE: u32 = 0;
/// Two coordinates that are not negative: 13 bits each, without the sign (§5.2.2.7).
const CORNER: u32 = 0x1fff_1fff;
/// Two addresses of instructions, or one and a count.
const PAIR: u32 = 0x01ff_01ff;

/// `WAIT_UNTIL`: waits for idle or clean engines, which always end. Other waits may never end.
const WAITS: u32 = 1 << 9 | 0x1f << 14 | 1 << 28;
/// `DP_GUI_MASTER_CNTL`, without reserved bits (15, 29), the third bit of the source's type (27),
/// and the phase of a brush (31).
pub(super) const BLIT_CONTROL: u32 = !(1 << 15 | 1 << 27 | 1 << 29 | 1 << 31);
/// `CLR_CMP_CNTL`: two functions, and the selection of one (digest §2.5).
pub(super) const BLIT_COMPARE: u32 = 0x0300_0707;
/// `RB3D_COLORPITCH`: pitch, tiling, byte order, format.
pub(super) const COLOUR_PITCH: u32 = 0x01ff_3ffe;
/// `ZB_DEPTHPITCH`: pitch, tiling, byte order.
pub(super) const DEPTH_PITCH: u32 = 0x001f_3ffc;

/// Sorted by register.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    // The 2D engine. Phase, colours and pattern of the brush: these affect pixel values, not
    // addresses.
    (0x1474, 0x1474, FREE, 0x001f_1f1f),
    (0x1478, 0x1484, FREE, ALL),
    // Colours and mask of the compare, colours of host bits, the write mask: the same.
    (0x15c4, 0x15cc, FREE, ALL),
    (0x15d8, 0x15dc, FREE, ALL),
    (0x16cc, 0x16cc, FREE, ALL),
    // Clip rectangles can only remove pixels. Corners without a sign remove those of negative
    // coordinates.
    (0x16e8, 0x16f4, FREE, CORNER),
    // Flush of the 2D engine's cache: 3:0.
    (0x1714, 0x1714, FREE, 0xf),
    (0x1720, 0x1720, FREE, WAITS),
    // Byte order of host data: 1:0.
    (0x172c, 0x172c, FREE, 3),
    // Viewport: floats. The scissor bounds the positions of vertices.
    (0x1d98, 0x1dac, FREE, ALL),
    // VAP_CNTL: vertices in flight, clip space.
    (0x2080, 0x2080, FREE, 0x00fc_0fff),
    (0x2088, 0x2088, slot::VERTICES, 0x00ff_ffff),
    (0x208c, 0x208c, slot::INDEX_OFFSET, 0x01ff_ffff),
    // Outputs of a vertex: position, colours, point size; components of eight textures.
    (0x2090, 0x2090, FREE, 0x0001_001f),
    (0x2094, 0x2094, FREE, 0x00ff_ffff),
    (0x20b0, 0x20b0, FREE, 0xf3f),
    (0x20b4, 0x20b4, slot::VERTEX_SIZE, 0x7f),
    (0x2134, 0x2138, slot::MAX_INDEX, 0x00ff_ffff),
    // Byte order of fetched data, and bypass of the vertex shader.
    (0x2140, 0x2140, FREE, 0x103),
    // Element types of a vertex: the arrays bound the fetches, whatever the types are.
    (0x2150, 0x216c, FREE, ALL),
    (0x2180, 0x2180, FREE, 0x0001_ffff),
    (0x2184, 0x2184, FREE, 0x0003_ffff),
    // For vertices through registers; no draw with those passes.
    (0x2188, 0x21c4, FREE, NONE),
    (0x21dc, 0x21fc, FREE, ALL),
    // The vertex engine's memory: index and data. Its programs access vectors of the chip only
    // (§6.5).
    (0x2200, 0x2200, FREE, 0x7ff),
    (0x2204, 0x2208, FREE, ALL),
    (0x2218, 0x2218, FREE, 0x7777_7777),
    (0x221c, 0x221c, FREE, 0x0037_c03f),
    (0x2220, 0x222c, FREE, ALL),
    // Flow control of R3xx.
    (0x2230, 0x226c, FREE, NONE),
    // Any write flushes.
    (0x2284, 0x2284, FREE, ALL),
    // Clocks until an incomplete group of vertices proceeds; larger values than other drivers use
    // may hang.
    (0x2288, 0x2288, FREE, 0xffff),
    (0x2290, 0x22cc, FREE, 0x8000_ffff),
    (0x22d0, 0x22d0, FREE, 0x3fff_ffff),
    (0x22d4, 0x22d4, FREE, 0x00ff_00ff),
    (0x22d8, 0x22d8, FREE, 0x3ff),
    (0x22dc, 0x22dc, FREE, ALL),
    (0x2500, 0x257c, FREE, ALL),
    // Same as 1714.
    (0x342c, 0x342c, FREE, 0xf),
    // Raster. Formats of R3xx; texture stuffing; sample positions; sources.
    (0x4000, 0x4004, FREE, NONE),
    (0x4008, 0x4008, FREE, 0xffff_0007),
    (0x4010, 0x4010, FREE, ALL),
    (0x4014, 0x4014, FREE, 0x0fff_ffff),
    (0x401c, 0x401c, FREE, 0xfff),
    (0x4020, 0x4020, slot::SAMPLES, 7),
    // A depth hierarchy, which the checker never allows; the same for 4F30 to 4F54.
    (0x4028, 0x4028, FREE, NONE),
    (0x4074, 0x40b0, FREE, ALL),
    // Invalidates the texture caches, for any value.
    (0x4100, 0x4100, FREE, ALL),
    (0x4104, 0x4104, slot::TEXTURES_ON, 0xffff),
    (0x4114, 0x4114, FREE, 0xff),
    (0x4118, 0x4120, FREE, NONE),
    // Points, lines, polygons: floats, sizes and rounding, all before the scissor.
    (0x4200, 0x420c, FREE, ALL),
    (0x4214, 0x4214, FREE, NONE),
    (0x421c, 0x421c, FREE, ALL),
    (0x4230, 0x4230, FREE, ALL),
    (0x4234, 0x4234, FREE, 0x0007_ffff),
    (0x4238, 0x4238, FREE, ALL),
    // The pixel shaders' memory: index (8:0, 17:16) and data. The texture units that shaders name
    // are checked.
    (0x4250, 0x4250, FREE, 0x0003_01ff),
    (0x4254, 0x4254, FREE, ALL),
    (0x4258, 0x4258, FREE, NONE),
    (0x4260, 0x4260, FREE, 0xffff),
    (0x4264, 0x4268, FREE, ALL),
    (0x4278, 0x4278, FREE, 0x3fc3_ffff),
    (0x427c, 0x4280, FREE, ALL),
    (0x4288, 0x4288, FREE, 0x3f3),
    (0x428c, 0x428c, FREE, 0x3ff),
    (0x4290, 0x4298, FREE, ALL),
    (0x42a0, 0x42b0, FREE, ALL),
    (0x42b4, 0x42b8, FREE, 7),
    (0x42c0, 0x42c4, FREE, ALL),
    // Interpolation: inside the chip only.
    (0x4300, 0x4300, FREE, 0x0007_f7ff),
    (0x4304, 0x4304, FREE, 0xef),
    (0x4320, 0x435c, FREE, 0x07ff_ffff),
    // SC_HYPERZ_EN; the copy clears bit 0. Directions and adjustment of a disabled unit.
    (0x43a4, 0x43a4, FREE, 0x7e),
    (0x43a8, 0x43a8, FREE, 0x3fff_ffff),
    // Clip rectangles can only remove pixels; nor can their rule, or the sample mask, extend the
    // scissor.
    (0x43b0, 0x43cc, FREE, ALL),
    (0x43d0, 0x43d0, FREE, 0xffff),
    (0x43e0, 0x43e4, slot::SCISSORS, 0x03ff_ffff),
    (0x43e8, 0x43e8, FREE, 0x00ff_ffff),
    // Textures. Wrap, filters, finest level, anisotropy, logical id.
    (0x4400, 0x443c, slot::TX_FILTER, 0xf0ff_ffff),
    // Chroma key, rounding, bias, truncation, MACRO_SWITCH (`textures` checks for both values),
    // anisotropy, borders.
    (0x4440, 0x447c, FREE, 0xdfe1_dfff),
    (0x4480, 0x44bc, slot::TX_SIZE, ALL),
    (0x44c0, 0x44fc, slot::TX_FORMAT, ALL),
    (0x4500, 0x453c, slot::TX_PITCH, 0x000f_ffff),
    // Colours of keys and borders.
    (0x4580, 0x45fc, FREE, ALL),
    // Pixel shaders: zero times anything; temporaries; constants; code range, inside the chip; size
    // hints.
    (0x4600, 0x4600, FREE, 2),
    (0x4604, 0x4604, FREE, 0x7f),
    (0x4620, 0x4620, FREE, ALL),
    (0x4624, 0x4624, FREE, 1 << 31),
    (0x4630, 0x4634, FREE, PAIR),
    (0x4638, 0x4638, FREE, 0x1ff),
    (0x4640, 0x467c, FREE, 0x03ff_ffff),
    (0x46a4, 0x46b0, slot::OUT_FORMAT, 0x001f_ff1f),
    (0x46b4, 0x46b4, FREE, 7),
    // A fast-clear colour, which the checker never allows.
    (0x46c0, 0x46c4, FREE, ALL),
    // Fog and test of alpha: colours and comparisons.
    (0x4bc0, 0x4bc0, FREE, 7),
    (0x4bc4, 0x4bd0, FREE, 0x3ff),
    (0x4bd4, 0x4bd4, FREE, 0x1203_1fff),
    (0x4bd8, 0x4bd8, FREE, 1),
    (0x4be0, 0x4be0, FREE, 0xffff),
    // Integer constants of shaders: count, start and step of loops. The registers after them are
    // R3xx's.
    (0x4c00, 0x4c7c, FREE, 0x00ff_ffff),
    (0x4c80, 0x4dfc, FREE, NONE),
    // RB3D_CCTL: number of targets that a colour goes to (6:5), masks and formats per target (12,
    // 14). No compare with the target's contents (7), no compression (9, 10), and not 13, which is
    // not documented.
    (0x4e00, 0x4e00, slot::COLOUR_CONTROL, 0x5060),
    // RB3D_BLENDCNTL, the same for alpha, channels.
    (0x4e04, 0x4e04, slot::BLEND, 0xff3f_703f),
    (0x4e08, 0x4e08, FREE, 0x3f3f_7000),
    (0x4e0c, 0x4e0c, slot::CHANNELS, 0xffff),
    // Constants of R3xx; a fast-clear colour.
    (0x4e10, 0x4e14, FREE, ALL),
    (0x4e18, 0x4e18, slot::COLOUR_ROP, 0xf04),
    // For the compare, which is off.
    (0x4e1c, 0x4e24, FREE, NONE),
    (0x4e38, 0x4e44, slot::COLOUR_PITCH, COLOUR_PITCH),
    (0x4e48, 0x4e48, FREE, NONE),
    // Flushes and frees the colour cache, which has no data of other clients: each request ends
    // with a flush. Not bit 4, which signals the command processor (digest §3.5).
    (0x4e4c, 0x4e4c, slot::COLOUR_CACHE, 0xf),
    (0x4e50, 0x4e50, FREE, 0xf),
    (0x4e84, 0x4e84, slot::RESOLVED_PITCH, 0x3ffe),
    (0x4e88, 0x4e88, slot::RESOLVE, 7),
    // Thresholds and constants of blending.
    (0x4ea0, 0x4ea4, FREE, ALL),
    (0x4ef8, 0x4efc, FREE, ALL),
    // Depth and stencil: enables, functions, references and masks, format.
    (0x4f00, 0x4f00, slot::DEPTH_CONTROL, 0x7f),
    (0x4f04, 0x4f04, FREE, 0x0fff_ffff),
    (0x4f08, 0x4f08, FREE, 0x00ff_ffff),
    (0x4f10, 0x4f10, slot::DEPTH_FORMAT, 0x1f),
    (0x4f14, 0x4f14, FREE, 1),
    // Same as 4E4C, for depth.
    (0x4f18, 0x4f18, slot::DEPTH_CACHE, 3),
    // ZB_BW_CNTL: `State::write` has the only bit, which clears colour along with depth. No
    // hierarchies, compression or fast clears (0, 2 to 4), whose memory is shared, and no other
    // layout of six samples (17).
    (0x4f1c, 0x4f1c, slot::BANDWIDTH, NONE),
    (0x4f24, 0x4f24, slot::DEPTH_PITCH, DEPTH_PITCH),
    (0x4f28, 0x4f28, FREE, ALL),
    (0x4f30, 0x4f34, FREE, NONE),
    (0x4f44, 0x4f44, FREE, NONE),
    (0x4f54, 0x4f54, FREE, NONE),
    // A count of pixels.
    (0x4f58, 0x4f58, FREE, ALL),
    (0x4fd4, 0x4fd4, FREE, 0x00ff_ffff),
];

/// Registers that a packet can name: 13 bits (§5.1.1).
pub(super) const REGISTERS: usize = 1 << 13;

/// The rule for a register: 31:0 the bits that must be zero, 32 whether a write always needs
/// further work ([`ALWAYS`]), 33 whether it does behind a draw ([`IN_FLIGHT`]), 47:40 the number of
/// registers from this one on in the same row, up to 255, zero if it is in no row; 63:57 the slot
/// of the value, on top so that a shift alone extracts it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule(u64);

/// A bit that is never clear in a compared value.
const ALWAYS: u64 = 1 << 32;
/// A bit that is set in it behind a draw.
const IN_FLIGHT: u64 = 1 << 33;
const LENGTH_SHIFT: u32 = 40;
const SLOT_SHIFT: u32 = 57;
const_assert_eq!(slot::SLOTS, 1 << (u64::BITS - SLOT_SHIFT));

/// The rules that need further work now.
#[derive(Clone, Copy)]
pub(super) struct Work(u64);

impl Work {
    /// Nothing is in flight.
    pub(super) const IDLE: Self = Self(ALWAYS);
    /// A draw may be in flight: also those of unpipelined registers, and waits.
    pub(super) const DRAWING: Self = Self(ALWAYS | IN_FLIGHT);
}

impl Rule {
    /// The rule of a register that is in no row.
    const OTHER: Self = Self(ALWAYS);

    /// The slot.
    #[inline]
    pub(super) const fn slot(self) -> u8 {
        (self.0 >> SLOT_SHIFT) as u8
    }

    /// Returns the number of registers from this one on in the same row.
    #[inline]
    pub(super) const fn length(self) -> usize {
        (self.0 >> LENGTH_SHIFT) as u8 as usize
    }

    /// Returns whether the register is in the list.
    pub(super) const fn is_listed(self) -> bool {
        self.length() != 0
    }

    /// Returns whether the value may be kept, and needs no further work. Several values may be kept
    /// if the OR of them may.
    #[inline]
    pub(super) fn passes(self, value: u32, work: Work) -> bool {
        (u64::from(value) | work.0) & self.0 == 0
    }

    /// Returns whether all of the values may be kept.
    #[inline]
    pub(super) fn pass_all(self, values: &[u32], work: Work) -> bool {
        let zero = self.0 as u32;
        let all = || values.iter().fold(0, |all, value| all | (value & zero)) == 0;
        self.0 & work.0 == 0 && (zero == 0 || all())
    }

    /// Keeps the register's value if it needs no further work; returns whether it did.
    #[inline]
    pub(super) fn keep(self, value: u32, kept: &mut Kept, work: Work) -> bool {
        let keeps = self.passes(value, work);
        if keeps {
            kept.set(self.slot(), value);
        }
        keeps
    }
}

/// The rules of all registers.
pub(super) struct Rules([Rule; REGISTERS]);

impl Rules {
    /// Returns the rules of a stream that does, or does not, contain its objects' tiling.
    pub(super) const fn of(knows_tiling: bool) -> &'static Self {
        static KNOWS: Rules = rules(true);
        static ASKS: Rules = rules(false);
        match knows_tiling {
            true => &KNOWS,
            false => &ASKS,
        }
    }

    /// Returns the rule of the register with this index; only its 13 bits count.
    #[inline]
    pub(super) fn at(&self, index: u32) -> Rule {
        self.0[index as usize % REGISTERS]
    }
}

const fn rules(knows_tiling: bool) -> Rules {
    let mut all = [Rule::OTHER; REGISTERS];
    let mut i = 0;
    while i < ROWS.len() {
        let (first, last, slot, bits) = ROWS[i];
        assert!(first <= last && (i == 0 || ROWS[i - 1].1 < first), "order");
        // The BO's tiling is used.
        let is_tiled = slot == slot::COLOUR_PITCH || slot == slot::DEPTH_PITCH;
        let Units { colour, depth } = units(slot);
        let more = if is_tiled && !knows_tiling { ALWAYS } else { 0 };
        let waits = colour || depth || ends(first);
        let more = more | if waits { IN_FLIGHT } else { 0 };
        let mut at = first;
        while at <= last {
            let n = if slot == slot::NO_RULE {
                0
            } else {
                (at - first) / 4
            };
            let slot = (slot as u32 + n) as u64;
            let length = (last - at) / 4 + 1;
            let length = if length > 0xff { 0xff } else { length as u64 };
            let place = length << LENGTH_SHIFT | slot << SLOT_SHIFT;
            all[at as usize / 4] = Rule(place | more | !bits as u64);
            at += 4;
        }
        i += 1;
    }
    Rules(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn rule(register: u32) -> Rule {
        Rules::of(true).at(register / 4)
    }

    #[test]
    fn a_row_ends_where_the_list_says() {
        // Digest §3.5 and AMD's pages: floats of points, of the viewport; constants of blending.
        for (register, length) in [
            (0x4200, 4),
            (0x420c, 1),
            (0x1d98, 6),
            (0x4ef8, 2),
            (0x2290, 16),
        ] {
            assert_eq!(rule(register).length(), length, "{register:x}");
        }
        // §6.4.10, §7.2: ports, one at a time.
        assert_eq!(rule(0x4254).length(), 1);
        assert_eq!(rule(0x2208).length(), 1);
        // A relocation, no register of the list, a port of vertices.
        for register in [0x4e28, 0x4018, 0x2084] {
            assert_eq!(rule(register).length(), 0, "{register:x}");
        }
    }

    #[test]
    fn each_register_that_is_asked_for_has_a_slot_of_its_own() {
        let rows = ROWS.iter().filter(|row| row.2 != FREE);
        let registers: BTreeSet<u32> = rows.flat_map(|row| (row.0..=row.1).step_by(4)).collect();
        let slots: BTreeSet<u8> = registers.iter().map(|r| rule(*r).slot()).collect();
        assert_eq!(slots.len(), registers.len());
        assert!(!slots.contains(&slot::NO_RULE));
        let mut kept = Kept::new();
        for register in &registers {
            assert!(rule(*register).keep(0, &mut kept, Work::IDLE));
        }
        // Digest §3.5: the fourth texture's format, the index offset.
        for (register, value) in [(0x44cc, 7), (0x208c, 9)] {
            assert!(rule(register).keep(value, &mut kept, Work::IDLE));
        }
        assert_eq!(kept.nth(slot::TX_FORMAT, 3), 7);
        assert_eq!(kept.get(slot::INDEX_OFFSET), 9);
    }

    #[test]
    fn no_bit_passes_but_those_of_the_list() {
        let mut kept = Kept::new();
        for knows_tiling in [false, true] {
            let rules = Rules::of(knows_tiling);
            for (first, last, _, allowed) in ROWS {
                for register in (*first..=*last).step_by(4) {
                    let needs_object =
                        !knows_tiling && matches!(register, 0x4e38..=0x4e44 | 0x4f24);
                    for bit in 0..32 {
                        let value = 1 << bit;
                        let passes = rules.at(register / 4).keep(value, &mut kept, Work::IDLE);
                        let expected = allowed & value != 0 && !needs_object;
                        assert_eq!(passes, expected, "{register:x} {bit}");
                    }
                }
            }
        }
    }

    /// Relocations, starts, masks of pipes, what is no register of the list.
    #[test]
    fn what_needs_more_is_not_kept() {
        let mut kept = Kept::new();
        for register in [
            0x1428, 0x1434, 0x143c, 0x146c, 0x1598, 0x15c0, 0x16c0, 0x16d0, 0x2084, 0x42c8, 0x4540,
            0x4be8, 0x4e28, 0x4e80, 0x4f20, 0x4f5c, 0x4018,
        ] {
            for knows_tiling in [false, true] {
                let rule = Rules::of(knows_tiling).at(register / 4);
                assert!(!rule.is_listed());
                assert!(!rule.keep(0, &mut kept, Work::IDLE), "{register:x}");
            }
        }
    }
}
