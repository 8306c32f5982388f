// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Clocks of a GT: the ratio that a driver asks for, and for how long engines were at work, by which it chooses. No
//! document at hand has them. Places, bits and units are facts of the kernel's `intel_gt_regs.h`, `mchbar_regs.h`
//! and `intel_rps.c`; that they count, and when they interrupt, is asserted on real chips by its `selftest_rps.c`.

use bitfield_struct::bitfield;

/// Nanoseconds in a unit of intervals, thresholds and counters.
pub const UNIT: u64 = 1280;
/// Counters have 24 bits.
const COUNTED: u64 = 0xff_ffff;

/// RP_STATE_CAP: the ratios that there are, of 50 MHz each.
#[bitfield(u32)]
pub struct Capabilities {
    /// RP0: the highest, which is available for a limited time.
    pub highest: u8,
    /// RP1: the one that can be held.
    pub nominal: u8,
    /// RPn: the lowest.
    pub lowest: u8,
    _reserved: u8,
}

/// RPNSWREQ: the ratio that is asked for.
#[bitfield(u32)]
struct Request {
    #[bits(25)]
    _other: u32,
    /// The ratio.
    #[bits(6)]
    ratio: u8,
    _turbo_off: bool,
}

/// RPSTAT1: the ratio that is in force.
#[bitfield(u32)]
struct Status {
    _low: u8,
    /// The ratio.
    #[bits(7)]
    ratio: u8,
    #[bits(17)]
    _other: u32,
}

/// RP_CONTROL.
#[bitfield(u32)]
pub struct Control {
    /// When an interval asks for less: see [`Control::IDLE_ALL`] and [`Control::IDLE_AVERAGE`].
    #[bits(3)]
    pub down: u8,
    /// When an interval asks for more: see [`Control::BUSY_AVERAGE`] and [`Control::BUSY_ALL`].
    #[bits(3)]
    pub up: u8,
    _reserved: bool,
    /// Work is counted.
    pub enable: bool,
    #[bits(24)]
    _media: u32,
}

impl Control {
    /// `down`: no work in all of the interval.
    pub const IDLE_ALL: u8 = 1;
    /// `down`: less work than the threshold.
    pub const IDLE_AVERAGE: u8 = 2;
    /// `up`: more work than the threshold.
    pub const BUSY_AVERAGE: u8 = 2;
    /// `up`: work in all of the interval.
    pub const BUSY_ALL: u8 = 4;
}

/// Events, as the interrupt registers of power management and PMINTRMSK have them.
#[bitfield(u32)]
pub struct Events {
    _bit0: bool,
    /// The interval that asks for less has ended.
    pub down_ended: bool,
    /// The interval that asks for more has ended.
    pub up_ended: bool,
    _bit3: bool,
    /// Less is asked for.
    pub down: bool,
    /// More is asked for.
    pub up: bool,
    /// Nothing was done for long.
    pub timeout: bool,
    #[bits(25)]
    _other: u32,
}

/// RPSTAT1 for a request, of ratios that there are.
pub fn status(request: u32, there_are: Capabilities) -> u32 {
    let asked = Request::from(request).ratio();
    let ratio = match (there_are.lowest(), there_are.highest()) {
        (_, 0) => asked,
        (lowest, highest) => asked.clamp(lowest, highest.max(lowest)),
    };
    Status::new().with_ratio(ratio).into()
}

/// The least and the most work of the intervals that have ended, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

/// An interval after the other, in each of which work is counted. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intervals {
    /// When this one began.
    began: u64,
    /// Until when work is counted in it.
    until: u64,
    /// How much of it.
    work: u64,
    /// Work of the one before.
    before: u64,
}

impl Intervals {
    /// An interval begins.
    pub fn restart(&mut self, now: u64) {
        *self = Intervals {
            began: now,
            until: now,
            ..Intervals::default()
        };
    }

    /// The time until `now` does not count.
    pub fn skip(&mut self, now: u64) {
        self.began += now - self.until;
        self.until = now;
    }

    /// The time until `now` was all work, or none. Returns what has ended meanwhile; with a `length` of zero nothing
    /// ends.
    pub fn pass(&mut self, now: u64, busy: bool, length: u64) -> Option<Ended> {
        let work = |ns: u64| if busy { ns } else { 0 };
        let end = self.began + length;
        if length == 0 || now < end {
            self.work += work(now - self.until);
            self.until = now;
            return None;
        }
        let first = self.work + work(end.saturating_sub(self.until));
        let more = (now - end) / length;
        let last = if more > 0 { work(length) } else { first };
        self.before = last;
        self.began = end + more * length;
        self.work = work(now - self.began);
        self.until = now;
        Some(Ended {
            least: first.min(last),
            most: first.max(last),
        })
    }

    /// When this one ends.
    pub fn end(&self, length: u64) -> Option<u64> {
        (length > 0).then_some(self.began + length)
    }

    /// The counter at a place: 0 the time of this interval, 1 its work, 2 the work of the one before.
    pub fn read(&self, place: u32) -> u32 {
        let ns = match place {
            0 => self.until - self.began,
            1 => self.work,
            _ => self.before,
        };
        ((ns / UNIT) & COUNTED) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_met_within_what_there_is() {
        // intel_gt_regs.h: GEN6_FREQUENCY is RPNSWREQ 31:25 (the top bit switches turbo off), CAGF is RPSTAT1 14:8.
        let caps = Capabilities::from(0x000d_0d1a);
        assert_eq!(status(0x10 << 25, caps), 0x1000);
        assert_eq!(status(1 << 31 | 0x10 << 25, caps), 0x1000);
        assert_eq!(status(0, caps), 0x0d00);
        assert_eq!(status(0x3f << 25, caps), 0x1a00);
        assert_eq!(status(5 << 25, Capabilities::new()), 0x0500, "no limits");
    }

    #[test]
    fn work_is_counted_by_interval() {
        let mut i = Intervals::default();
        i.restart(1000);
        assert_eq!(i.pass(1400, true, 1000), None);
        assert_eq!(i.pass(1900, false, 1000), None);
        assert_eq!(i.end(1000), Some(2000));
        // The first has 400 of work, the second all of it.
        let ended = i.pass(3500, true, 1000);
        assert_eq!(
            ended,
            Some(Ended {
                least: 500,
                most: 1000
            })
        );
        assert_eq!(i.end(1000), Some(4000));
        i.skip(9500);
        assert_eq!(i.end(1000), Some(10_000), "sleep moves its end");
        let ended = i.pass(10_000, false, 1000);
        assert_eq!(
            ended,
            Some(Ended {
                least: 500,
                most: 500
            })
        );
        assert_eq!(i.pass(1 << 40, false, 0), None);
    }
}
