// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The state that the proof depends on: the registers that it needs, as the stream has written them
//! so far.
//!
//! A stream begins with the values of the [known state](crate::r5xx::known): zero for all registers
//! but the masks of pipes, the directions of blits, the outputs of unused targets, and the logical
//! ids of textures.

use super::{
    super::packets::{PacketType, RegisterHeader},
    blits::Blit,
    in_flight::Units,
    masks::Masks,
    registers::{self, Rules, Work},
    require,
    slot::{self, Kept},
    surface::Tiles,
    targets, textures,
    vertices::{Array, MAX_ARRAYS},
    BoOffset, Checked, Cursor, Refused, RELOCATION_DWORDS,
};

/// The state.
pub(super) struct State {
    /// The masks of pipes.
    pub(super) masks: Masks,
    /// Registers of which only the value is kept.
    pub(super) kept: Kept,
    /// The list of these registers, and their allowed bits.
    pub(super) rules: &'static Rules,
    /// Which of them need further work.
    pub(super) work: Work,
    /// Place of the last draw in the stream.
    pub(super) drawn: usize,
    /// The units that may have its pixels in flight.
    pub(super) in_flight: Units,
    /// Addresses of the four colour targets, of the resolve target, and of depth.
    pub(super) colours: [BoOffset; 4],
    pub(super) resolved: BoOffset,
    pub(super) depth: BoOffset,
    pub(super) textures: [BoOffset; 16],
    pub(super) arrays: [Array; MAX_ARRAYS],
    pub(super) array_count: usize,
    pub(super) blit: Blit,
}

/// [`slot::SCISSOR`]: the column.
const SCISSOR_X: u32 = 0x1fff;
/// Index of its register.
const SCISSOR: usize = 0x43e4 / 4;

impl State {
    /// The known state.
    pub(super) fn new(depth_pipes: bool, knows_tiling: bool) -> Self {
        let mut kept = Kept::new();
        for n in 1..4 {
            kept.set_nth(slot::OUT_FORMAT, n, targets::OUT_UNUSED);
        }
        for n in 0..textures::UNITS {
            kept.set_nth(slot::TX_FILTER, n, (n as u32) << textures::ID_SHIFT);
        }
        Self {
            masks: Masks::new(depth_pipes),
            kept,
            rules: Rules::of(knows_tiling),
            work: Work::IDLE,
            drawn: 0,
            in_flight: Units::NONE,
            colours: [BoOffset::default(); 4],
            resolved: BoOffset::default(),
            depth: BoOffset::default(),
            textures: [BoOffset::default(); 16],
            arrays: [Array::default(); MAX_ARRAYS],
            array_count: 0,
            blit: Blit::new(),
        }
    }

    /// Checks the scissor for a draw of the packet at `at`. The scissor must not extend beyond the
    /// smallest pitch of a target. If it does, and was set for this draw first, the copy ends it at
    /// the pitch. (Some clients clear more columns than a target has: the pixels behind the pitch
    /// are in rows that they clear as well.)
    pub(super) fn draws(&mut self, cursor: &mut Cursor<'_>, at: usize, pitch: u32) -> Checked<()> {
        let since = core::mem::replace(&mut self.drawn, at);
        self.begin_draw();
        let scissor = self.kept.get(slot::SCISSOR);
        if scissor & SCISSOR_X >= pitch {
            let scissor = scissor & !SCISSOR_X | pitch.wrapping_sub(1);
            self.kept.set(slot::SCISSOR, scissor);
            let said = last_write(cursor.stream, since, at, SCISSOR);
            cursor.put(said.ok_or(Refused::Scissor)?, scissor)?;
        }
        Ok(())
    }

    /// Checks the dword at `at` of the stream, which is written to a register that needs further
    /// work: it takes a relocation, starts an operation, waits for one or must not change during
    /// one, or has another value in the copy. Or the register is refused. The next relocation is at
    /// `next`; returns the place of the next relocation that is not used yet.
    pub(super) fn write(
        &mut self,
        register: u32,
        at: usize,
        value: u32,
        next: usize,
        cursor: &mut Cursor<'_>,
    ) -> Checked<usize> {
        let behind = next.wrapping_add(RELOCATION_DWORDS);
        let n = |first: u32| (register.wrapping_sub(first) / 4) as usize;
        match register {
            0x4540..=0x457c => {
                let object = cursor.object(next)?;
                let (place, address) = BoOffset::new(&object, value & !0x1f)?;
                let flags = if cursor.knows_tiling {
                    value & 0x1f
                } else {
                    let (macro_tiles, micro) = Tiles::of(object.tiling)?.fields();
                    value & 3 | macro_tiles << 2 | micro << 3
                };
                // An address must not have bits in place of the flags.
                require(address & 0x1f == 0, Refused::Offset)?;
                *self.textures.get_mut(n(0x4540)).ok_or(Refused::Register)? = place;
                self.kept.set_nth(slot::TX_OFFSET, n(0x4540), flags);
                cursor.put(at, address | flags)?;
                Ok(behind)
            }
            0x4e28..=0x4e34 => {
                self.require_idle(Units::COLOUR)?;
                let place = self.colours.get_mut(n(0x4e28));
                relocated(place.ok_or(Refused::Register)?, at, value, next, cursor)
            }
            0x4e80 => {
                self.require_idle(Units::COLOUR)?;
                relocated(&mut self.resolved, at, value, next, cursor)
            }
            0x4f20 => {
                self.require_idle(Units::DEPTH)?;
                relocated(&mut self.depth, at, value, next, cursor)
            }
            0x4e38..=0x4e44 if !cursor.knows_tiling => {
                require(value & !registers::COLOUR_PITCH == 0, Refused::Bits)?;
                self.require_idle(Units::COLOUR)?;
                self.tiled(slot::COLOUR_PITCH, n(0x4e38), at, value, next, cursor)
            }
            0x4f24 if !cursor.knows_tiling => {
                require(value & !registers::DEPTH_PITCH == 0, Refused::Bits)?;
                self.require_idle(Units::DEPTH)?;
                self.tiled(slot::DEPTH_PITCH, 0, at, value, next, cursor)
            }
            0x1720 => {
                let rule = self.rules.at(register / 4);
                let listed = rule.keep(value, &mut self.kept, Work::IDLE);
                require(listed, Refused::Bits)?;
                self.wait(value);
                Ok(next)
            }
            0x4020 | 0x4e00 | 0x4e38..=0x4e44 | 0x4e84 | 0x4e88 | 0x4f10 | 0x4f24 => {
                self.keep_when_idle(register, value)?;
                Ok(next)
            }
            // Without the bit the depth unit writes nothing in place of colour: it can be cleared
            // at any time, which Mesa's r300 does.
            0x4f1c => {
                require(value == targets::CLEARS_COLOUR, Refused::Bits)?;
                if self.kept.get(slot::BANDWIDTH) != value {
                    self.require_idle(Units::DEPTH)?;
                }
                self.kept.set(slot::BANDWIDTH, value);
                Ok(next)
            }
            0x4f5c => {
                // Each selected unit writes its count.
                let bytes = u64::from(self.masks.counting()).wrapping_mul(4);
                let (place, address) = BoOffset::new(&cursor.object(next)?, value)?;
                require(value.is_multiple_of(4), Refused::Query)?;
                place.holds(bytes, Refused::Query)?;
                cursor.put(at, address)?;
                Ok(behind)
            }
            0x42c8 | 0x4be8 => {
                self.masks.write(register, value)?;
                Ok(next)
            }
            // The copy disables the depth hierarchy.
            0x43a4 if value & 1 != 0 => {
                let value = value & !1;
                let rule = self.rules.at(register / 4);
                let listed = rule.keep(value, &mut self.kept, self.work);
                require(listed, Refused::Bits)?;
                cursor.put(at, value)?;
                Ok(next)
            }
            _ if self.rules.at(register / 4).is_listed() => Err(Refused::Bits),
            _ => self.write_2d(register, at, value, next, cursor),
        }
    }

    /// Checks a register of pitch and tiling, in a stream that leaves the tiling to the BO.
    fn tiled(
        &mut self,
        slot: u8,
        n: usize,
        at: usize,
        value: u32,
        next: usize,
        cursor: &mut Cursor<'_>,
    ) -> Checked<usize> {
        let tiles = Tiles::of(cursor.object(next)?.tiling)?;
        let pitch = targets::with_tiles(value, tiles);
        self.kept.set_nth(slot, n, pitch);
        cursor.put(at, pitch)?;
        Ok(next.wrapping_add(RELOCATION_DWORDS))
    }
}

/// Returns the place of the last write of a register in the packets from `at` to `end`, which have
/// passed the check.
#[cold]
pub(super) fn last_write(
    stream: &[u32],
    mut at: usize,
    end: usize,
    register: usize,
) -> Option<usize> {
    let mut last = None;
    while at < end {
        let header = *stream.get(at)?;
        at = at.wrapping_add(1);
        if (header as usize) < registers::REGISTERS {
            if header as usize == register {
                last = Some(at);
            }
            at = at.wrapping_add(1);
            continue;
        }
        let kind = PacketType::of(header);
        if kind == PacketType::Filler {
            continue;
        }
        // Of all others the count is at the same place.
        let header = RegisterHeader::from_bits(header);
        let more = usize::from(header.count_less_one());
        let n = register.wrapping_sub(header.index().into());
        if n <= more && kind == PacketType::Registers {
            match (header.one(), n) {
                (false, _) => last = Some(at.wrapping_add(n)),
                (true, 0) => last = Some(at.wrapping_add(more)),
                (true, _) => {}
            }
        }
        at = at.wrapping_add(more).wrapping_add(1);
    }
    last
}

/// A register that is an address.
fn relocated(
    place: &mut BoOffset,
    at: usize,
    value: u32,
    next: usize,
    cursor: &mut Cursor<'_>,
) -> Checked<usize> {
    let (new, address) = BoOffset::new(&cursor.object(next)?, value)?;
    *place = new;
    cursor.put(at, address)?;
    Ok(next.wrapping_add(RELOCATION_DWORDS))
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use std::{vec, vec::Vec};

    /// `SC_SCISSOR1` that goes beyond the pitch of [`target`]: in the copy it ends there.
    const WIDE: u32 = 63 << 13 | 100;
    const ENDS: u32 = 63 << 13 | 63;

    /// The copy of some dwords between a target and a draw.
    fn between(said: &[u32]) -> Result<Vec<u32>, usize> {
        let stream = target().and(Stream(said.to_vec()));
        let stream = stream.and(array()).and(list(3));
        let copy = stream.check(&objects(&[TARGET, 48]))?;
        let first = target().0.len();
        Ok(copy[first..first + said.len()].to_vec())
    }

    #[test]
    fn a_scissor_is_found_wherever_it_was_said() {
        // §5.1: register 43E4 is 10F9h; counts are less one; bit 15 for one register over and over.
        for (said, at) in [
            (vec![0x10f9, WIDE], 1),
            // With the other corner, and with the one behind it.
            (vec![0x1_10f8, 0, WIDE], 2),
            (vec![0x1_10f9, WIDE, 0], 1),
            // Twice, and in one packet.
            (vec![0x10f9, WIDE, 0x10f9, WIDE], 3),
            (vec![0x2_90f9, 0, 1, WIDE], 3),
            // Fillers, and values that look like its header.
            (
                vec![0x8000_0000, 0x10f9, WIDE, 0x8000_0000, 0x1383, 0x10f9],
                2,
            ),
            (vec![0x10f9, WIDE, 0xc001_1000, 0x10f9, WIDE], 1),
            // Another register over and over, as many times as would reach it.
            (vec![0x10f9, WIDE, 0x1_90f8, 0, 0], 1),
        ] {
            let mut expected = said.clone();
            expected[at] = ENDS;
            assert_eq!(between(&said), Ok(expected), "{said:x?}");
        }
    }

    #[test]
    fn a_scissor_that_was_said_for_another_draw_is_not_changed() {
        let wide = || target().set(0x43e4, &[WIDE]).and(array());
        // A target of 128 columns first, which holds it, then one of 64.
        let both = |again: &Stream| {
            let large = wide().set(0x4e38, &[6 << 21 | 128]).and(list(3));
            let idle = large.and(idle()).set(0x4e38, &[6 << 21 | 64]);
            let stream = idle.and(again.clone());
            stream.and(list(3)).passes(&[2 * TARGET, 48])
        };
        assert!(!both(&new()));
        assert!(both(&new().set(0x43e4, &[WIDE])));
    }
}
