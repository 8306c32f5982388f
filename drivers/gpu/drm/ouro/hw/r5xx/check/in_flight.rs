// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of targets, which are not pipelined with draws.
//!
//! AMD's page of `RB3D_COLOROFFSET`: "The cache must be empty before this is changed"; its guide
//! of R3xx calls those of the resolve unpipelined, and Mesa's r300 treats all of [`units`] and
//! `ZB_BW_CNTL` so. A write takes effect at once: pixels of an earlier draw that are in flight or
//! in a cache would go to a target that was not checked for them. So behind a draw such a write
//! needs a flush of the unit's cache, and behind that a wait for an idle and clean 3D engine.
//! (Upstream's checker does not ask for it: weakness 35.)
//!
//! A stream begins with nothing in flight, since each request ends with these flushes.

use super::{super::regs, registers::Work, require, slot, state::State, Checked, Refused};

/// The units that write pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Units {
    pub(super) colour: bool,
    pub(super) depth: bool,
}

impl Units {
    pub(super) const NONE: Self = Self {
        colour: false,
        depth: false,
    };
    pub(super) const BOTH: Self = Self {
        colour: true,
        depth: true,
    };
    pub(super) const COLOUR: Self = Self {
        colour: true,
        depth: false,
    };
    pub(super) const DEPTH: Self = Self {
        colour: false,
        depth: true,
    };

    const fn meet(self, other: Self) -> bool {
        self.colour && other.colour || self.depth && other.depth
    }
}

/// Returns the units that the register of a slot configures at once.
pub(super) const fn units(slot: u8) -> Units {
    match slot {
        slot::SAMPLES => Units::BOTH,
        slot::COLOUR_CONTROL => Units::COLOUR,
        // COLORPITCH, of four, AARESOLVE_PITCH, AARESOLVE_CTL.
        slot::COLOUR_PITCH..=slot::RESOLVE => Units::COLOUR,
        // ZB_BW_CNTL is in [`State::write`].
        slot::DEPTH_FORMAT | slot::DEPTH_PITCH => Units::DEPTH,
        _ => Units::NONE,
    }
}

/// [`slot::COLOUR_CACHE`]: dirty lines are written.
const COLOUR_FLUSH: u32 = 1 << 1;
/// [`slot::DEPTH_CACHE`]: the same.
const DEPTH_FLUSH: u32 = 1 << 0;

/// Returns whether a write to the register may end what is in flight.
pub(super) const fn ends(register: u32) -> bool {
    register == regs::WAIT_UNTIL
}

impl State {
    /// Marks the pixels of a draw as in flight.
    pub(super) fn begin_draw(&mut self) {
        self.in_flight = Units::BOTH;
        self.kept.set(slot::COLOUR_CACHE, 0);
        self.kept.set(slot::DEPTH_CACHE, 0);
        self.work = Work::DRAWING;
    }

    /// Writes `WAIT_UNTIL`. Of the flushes of a cache since the draw, the last write counts.
    pub(super) fn wait(&mut self, value: u32) {
        if value & regs::WAIT_3D_IDLECLEAN == 0 {
            return;
        }
        self.in_flight.colour &= self.kept.get(slot::COLOUR_CACHE) & COLOUR_FLUSH == 0;
        self.in_flight.depth &= self.kept.get(slot::DEPTH_CACHE) & DEPTH_FLUSH == 0;
        if self.in_flight == Units::NONE {
            self.work = Work::IDLE;
        }
    }

    /// Fails if a draw may be in flight in one of these units.
    pub(super) fn require_idle(&self, units: Units) -> Checked<()> {
        require(!self.in_flight.meet(units), Refused::InFlight)
    }

    /// Keeps the value of such a register, in the slot of its rule. The same value changes nothing.
    pub(super) fn keep_when_idle(&mut self, register: u32, value: u32) -> Checked<()> {
        let rule = self.rules.at(register / 4);
        let slot = rule.slot();
        if self.kept.get(slot) != value {
            self.require_idle(units(slot))?;
        }
        require(rule.keep(value, &mut self.kept, Work::IDLE), Refused::Bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{holes::draw, tests::*};
    use std::vec::Vec;

    /// `RB3D_DSTCACHE_CTLSTAT`: flush and free; `ZB_ZCACHE_CTLSTAT`: the same; `WAIT_UNTIL`: an
    /// idle and clean 3D engine (digest §2.9).
    const COLOUR: (u32, u32) = (0x4e4c, 0xa);
    const DEPTH: (u32, u32) = (0x4f18, 3);
    const WAIT: (u32, u32) = (0x1720, 1 << 17);

    fn flushed(flushes: &[(u32, u32)]) -> Stream {
        let write =
            |stream: Stream, (register, value): &(u32, u32)| stream.set(*register, &[*value]);
        flushes.iter().fold(new(), write)
    }

    /// The rule that refuses a write behind a draw, if these flushes are between.
    fn behind(flushes: &[(u32, u32)], write: &Stream) -> Option<&'static str> {
        let stream = target().and(draw()).and(flushed(flushes));
        stream.and(write.clone()).refusal(&[TARGET, 48, 64])
    }

    /// Writes of colour's registers: control, address, pitch, resolve.
    fn of_colour() -> Vec<Stream> {
        let mut all: Vec<Stream> = [
            (0x4e00, 0x4020),
            (0x4e38, 6 << 21 | 32),
            (0x4e3c, 6 << 21 | 64),
            (0x4e44, 6 << 21 | 64),
            (0x4e84, 64),
            (0x4e88, 1),
        ]
        .map(|(register, value)| new().set(register, &[value]))
        .into();
        all.extend([0x4e28, 0x4e34, 0x4e80].map(|place| new().set(place, &[0]).object(2)));
        all
    }

    /// Of depth's: format, clears of colour, pitch, address.
    fn of_depth() -> Vec<Stream> {
        let mut all: Vec<Stream> = [(0x4f10, 2), (0x4f1c, 1 << 5), (0x4f24, 64)]
            .map(|(register, value)| new().set(register, &[value]))
            .into();
        all.push(new().set(0x4f20, &[0]).object(2));
        all
    }

    /// AMD's page of `RB3D_COLOROFFSET`: the cache must be empty before it is changed.
    #[test]
    fn weakness_35_no_target_changes_below_a_draw_in_flight() {
        for (writes, cache, other) in [(of_colour(), COLOUR, DEPTH), (of_depth(), DEPTH, COLOUR)] {
            for write in &writes {
                for flushes in [
                    &[][..],
                    &[cache],
                    &[WAIT],
                    &[other, WAIT],
                    // The wait must be behind the flush.
                    &[WAIT, cache],
                    // No flush, and no wait for this engine.
                    &[(cache.0, 0), WAIT],
                    &[cache, (0x1720, 1 << 16)],
                ] {
                    let refusal = behind(flushes, write);
                    assert_eq!(
                        refusal,
                        Some("draw-in-flight"),
                        "{:x?} {flushes:x?}",
                        write.0
                    );
                }
                for flushes in [
                    &[cache, WAIT][..],
                    &[cache, other, WAIT],
                    &[cache, cache, WAIT, WAIT],
                ] {
                    assert_eq!(behind(flushes, write), None, "{:x?} {flushes:x?}", write.0);
                }
                // Before the first draw nothing is in flight; behind the next one, something is.
                let first = write.clone().and(target()).refusal(&[TARGET, 48, 64]);
                assert_eq!(first, None, "{:x?}", write.0);
                let again = flushed(&[cache, other, WAIT])
                    .and(draw())
                    .and(write.clone());
                let again = target().and(draw()).and(again);
                let again = again.refusal(&[TARGET, 48, 64]);
                assert_eq!(again, Some("draw-in-flight"), "{:x?}", write.0);
            }
        }
    }

    /// Multisampling is of both units.
    #[test]
    fn weakness_35_samples_need_both_caches_empty() {
        let write = new().set(0x4020, &[7]);
        for flushes in [&[COLOUR, WAIT][..], &[DEPTH, WAIT], &[COLOUR, WAIT, DEPTH]] {
            assert_eq!(behind(flushes, &write), Some("draw-in-flight"));
        }
        assert_eq!(behind(&[COLOUR, WAIT, DEPTH, WAIT], &write), None);
    }

    #[test]
    fn a_value_that_is_there_already_may_be_written_again() {
        for (register, value) in [
            (0x4e38, 6 << 21 | 64),
            (0x4e00, 0),
            (0x4f10, 0),
            (0x4020, 0),
        ] {
            let write = new().set(register, &[value]);
            assert_eq!(behind(&[], &write), None, "{register:x}");
        }
    }

    /// The depth unit may stop to write in place of colour at any time, but not begin.
    #[test]
    fn weakness_35_clears_of_colour_do_not_begin_below_a_draw_in_flight() {
        // 64 by 64 pixels of four bytes, colour and depth, both of macro tiles.
        let clears = target().set(0x4e38, &[6 << 21 | 1 << 16 | 64]);
        let clears = clears.set(0x4f10, &[2]).set(0x4f00, &[2]);
        let clears = clears.set(0x4f20, &[0]).object(2);
        let clears = clears.set(0x4f24, &[1 << 16 | 64]);
        let behind = |before: u32, writes: Stream| {
            let stream = clears.clone().set(0x4f1c, &[before]).and(draw());
            stream.and(writes).refusal(&[TARGET, 48, TARGET])
        };
        let write = |value: u32| new().set(0x4f1c, &[value]);
        assert_eq!(behind(1 << 5, write(1 << 5)), None);
        assert_eq!(behind(1 << 5, write(0)), None);
        assert_eq!(behind(0, write(1 << 5)), Some("draw-in-flight"));
        let both = write(0).and(write(1 << 5));
        assert_eq!(behind(1 << 5, both), Some("draw-in-flight"));
        // §5.1: register 4F1C is 13C7h; bit 15 for both values.
        let both = Stream(std::vec![0x1_93c7, 0, 1 << 5]);
        assert_eq!(behind(1 << 5, both), Some("draw-in-flight"));
        assert_eq!(behind(0, idle().and(write(1 << 5))), None);
    }

    /// Flushes in packets of several registers, and of one register over and over.
    #[test]
    fn flushes_are_found_in_every_packet() {
        let write = new().set(0x4e00, &[0x4020]);
        let passes = |flushes: Stream| {
            let stream = target().and(draw()).and(flushes).and(write.clone());
            stream.refusal(&[TARGET, 48, 64]).is_none()
        };
        // §5.1: the count less one in 29:16, bit 15 for one register.
        let wait = || Stream(std::vec![0x5c8, 1 << 17]);
        // 4E48 and 4E4C; 4E4C twice; a value that looks like a flush, in a command.
        assert!(passes(Stream(std::vec![0x1_1392, 0, 2]).and(wait())));
        assert!(passes(Stream(std::vec![0x1_9393, 0, 2]).and(wait())));
        // The last write counts, since only that one is kept.
        assert!(!passes(Stream(std::vec![0x1_9393, 2, 0]).and(wait())));
        assert!(!passes(
            Stream(std::vec![0xc001_1000, 0x1393, 2]).and(wait())
        ));
        // 4F14 twice is no flush of depth; with the next register it is.
        let format = |flushes: Stream| {
            let stream = target().and(draw()).and(flushes).and(wait());
            let stream = stream.set(0x4f10, &[2]);
            stream.refusal(&[TARGET, 48]).is_none()
        };
        assert!(!format(Stream(std::vec![0x1_93c5, 0, 1])));
        assert!(format(Stream(std::vec![0x1_13c5, 0, 1])));
        // Without a wait.
        assert!(!passes(Stream(std::vec![0x1393, 2])));
        // Those before the draw are not of its pixels, of either unit.
        for write in [write.clone(), new().set(0x4f10, &[2])] {
            let all = target().and(flushed(&[COLOUR, DEPTH])).and(draw());
            let all = all.and(wait()).and(write);
            assert_eq!(all.refusal(&[TARGET, 48, 64]), Some("draw-in-flight"));
        }
    }
}
