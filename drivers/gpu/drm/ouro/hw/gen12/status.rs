// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Context switch events (D:Context Status, digest §4.4).
//!
//! Twelve quadwords in the engine's status page, and the index of the last one. The document and
//! the upstream driver disagree about their place (E16), and no source describes the silicon; so
//! the place is a value, and [`find`] derives it from what the engine wrote.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

use super::descriptor::IDLE;
use crate::engine::{EventArea, PortEvent};

/// Number of events (E16).
pub(super) const ENTRIES: u8 = 12;

/// The place by the upstream driver: dwords 0x10 and 0x2f.
pub(super) const KERNEL: EventArea = EventArea {
    at: 0x10 * 4,
    entries: ENTRIES,
    last_at: 0x2f * 4,
};
/// The place by the document: dwords 0x28 and 0x47.
pub(super) const DOCUMENT: EventArea = EventArea {
    at: 0x28 * 4,
    entries: ENTRIES,
    last_at: 0x47 * 4,
};

/// An event, in the format of Xe-HP.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
pub(super) struct Status {
    /// Bits 3:0: the reason for which the context was switched out (E14).
    #[bits(4)]
    pub(super) detail: u8,
    /// Bits 9:4: the engine.
    #[bits(6)]
    pub(super) instance: u8,
    /// Bits 25:10: number of the context that runs now.
    pub(super) to: u16,
    /// Bits 31:26: its counter.
    #[bits(6)]
    pub(super) to_counter: u8,
    /// Bit 32: the kind of semaphore wait.
    pub(super) wait_mode: bool,
    /// Bit 33: a new queue was started.
    pub(super) new_queue: bool,
    /// Bits 41:34: the object of the wait.
    pub(super) wait_detail: u8,
    /// Bits 57:42: number of the context that ran before.
    pub(super) away: u16,
    /// Bits 63:58: its counter.
    #[bits(6)]
    pub(super) away_counter: u8,
}
const_assert_eq!(core::mem::size_of::<Status>(), 8);

/// [`Status::detail`]: it had no work left.
const COMPLETE: u8 = 0;
/// The largest valid [`Status::detail`]: it was preempted.
const PREEMPTED: u8 = 5;

/// Decodes a half of an event: a context id, or no context; `None` if it is invalid. An engine
/// without a context has a counter of zero (digest §4.4).
fn context(id: u16, counter: u8) -> Option<Option<u32>> {
    match (id, counter) {
        (0, _) => None,
        (IDLE, 0) => Some(None),
        (IDLE, _) => None,
        _ => Some(Some(id.into())),
    }
}

/// Decodes an event. `None` if the engine has not written it, or it is invalid.
///
/// If the engine was idle before, a new queue was started, whatever the bit for it says (E15). A
/// context that continues in the next queue was not switched out, and has no detail (E10).
pub(super) fn event(raw: u64) -> Option<PortEvent> {
    let status = Status::from_bits(raw);
    let away = context(status.away(), status.away_counter())?;
    let to = context(status.to(), status.to_counter())?;
    let new_list = status.new_queue() || (away.is_none() && to.is_some());
    let stays = away == to;
    if (stays && !new_list) || (!stays && status.detail() > PREEMPTED) {
        return None;
    }
    Some(PortEvent {
        from: away.filter(|_| !stays),
        finished: !stays && away.is_some() && status.detail() == COMPLETE,
        to,
        new_list,
    })
}

/// Finds the place of the events in a copy of the status page that was all ones before the engine
/// ran one context to its end. `None` if it wrote to neither place, or anything else.
pub(super) fn find(page: &[u32]) -> Option<EventArea> {
    let dword = |at: u32| page.get(at as usize / 4).copied();
    [KERNEL, DOCUMENT].into_iter().find(|area| {
        let first = dword(area.at)
            .zip(dword(area.at.wrapping_add(4)))
            .map(|(low, high)| u64::from(low) | u64::from(high) << 32);
        let began = first.and_then(event).is_some_and(|e| e.new_list);
        began && dword(area.last_at).is_some_and(|last| last < u32::from(area.entries))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn event_of(
        from: Option<u32>,
        finished: bool,
        to: Option<u32>,
        new_list: bool,
    ) -> Option<PortEvent> {
        Some(PortEvent {
            from,
            finished,
            to,
            new_list,
        })
    }

    /// The ten cases of D:Context Status, encoded as §4.4 says: detail in 3:0, to in 25:10, new
    /// queue in 33, away in 57:42.
    #[test]
    fn cases_are_those_of_the_document() {
        let raw =
            |new: u64, away: u64, to: u64, detail: u64| detail | to << 10 | new << 33 | away << 42;
        let (a, b, idle) = (1, 2, 0xffff);
        let (id_a, id_b) = (Some(1), Some(2));
        for (case, raw, expected) in [
            (1, raw(1, idle, a, 0), event_of(None, false, id_a, true)),
            (2, raw(1, a, idle, 5), event_of(id_a, false, None, true)),
            (3, raw(1, idle, idle, 0), event_of(None, false, None, true)),
            (4, raw(1, a, b, 0), event_of(id_a, true, id_b, true)),
            (5, raw(1, a, b, 5), event_of(id_a, false, id_b, true)),
            (6, raw(1, a, b, 4), event_of(id_a, false, id_b, true)),
            (7, raw(1, a, a, 0), event_of(None, false, id_a, true)),
            (8, raw(0, a, b, 0), event_of(id_a, true, id_b, false)),
            (9, raw(0, a, b, 4), event_of(id_a, false, id_b, false)),
            (10, raw(0, a, idle, 0), event_of(id_a, true, None, false)),
        ] {
            assert_eq!(event(raw), expected, "case {case}");
        }
    }

    #[test]
    fn literals_of_4_4_are_understood() {
        // Idle to A, A to idle, A to A.
        assert_eq!(
            event(0x03ff_fc02_0000_0000 | 5 << 10),
            event_of(None, false, Some(5), true)
        );
        assert_eq!(
            event(5 << 42 | 0xffff << 10),
            event_of(Some(5), true, None, false)
        );
        assert_eq!(
            event(5 << 42 | 1 << 33 | 5 << 10),
            event_of(None, false, Some(5), true)
        );
        // E15: "away" of an idle engine is undefined by the prose; a new queue all the same.
        assert_eq!(
            event(0xffff << 42 | 5 << 10),
            event_of(None, false, Some(5), true)
        );
    }

    #[test]
    fn what_makes_no_sense_is_no_event() {
        // Not written yet (all ones or zero), no such detail, nothing happened.
        // or one context after itself without a new queue, or an idle engine with a counter.
        for raw in [
            u64::MAX,
            0,
            0xf | 5 << 10 | 6 << 42,
            0xffff << 42 | 0xffff << 10,
            5 << 42 | 5 << 10,
            1 << 58 | 0xffff << 42 | 5 << 10 | 1 << 33,
        ] {
            assert_eq!(event(raw), None, "{raw:x}");
        }
        // The detail of a context that continues is undefined.
        assert!(event(0xf | 5 << 42 | 1 << 33 | 5 << 10).is_some());
    }

    #[test]
    fn the_place_is_seen_from_what_was_written() {
        for (base, last, area) in [(0x10, 0x2f, KERNEL), (0x28, 0x47, DOCUMENT)] {
            let mut page = [u32::MAX; 1024];
            assert_eq!(find(&page), None);
            // Idle to 1, then 1 to idle; the number of the second one.
            page[base..base + 4].copy_from_slice(&[0x400, 0x03ff_fc02, 0x03ff_fc00, 0x400]);
            page[last] = 1;
            assert_eq!(find(&page), Some(area));
            page[last] = 12;
            assert_eq!(find(&page), None);
        }
        assert_eq!(find(&[]), None);
        assert_eq!((KERNEL.at, KERNEL.last_at), (0x40, 0xbc));
        assert_eq!((DOCUMENT.at, DOCUMENT.last_at), (0xa0, 0x11c));
    }
}
