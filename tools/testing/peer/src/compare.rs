// SPDX-License-Identifier: GPL-2.0
//! The differences of two lists, and which of them have a reason.

use crate::list::{List, RegisterKey, Use};
use crate::reasons::{Kind, Reason};

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Of which register.
    pub key: RegisterKey,
    /// What differs; of a value, all bits that do.
    pub kind: Kind,
    /// Who wrote what.
    pub words: String,
}

/// Bits that differ: one driver has set them and the other never, or they stood differently when work began.
fn bits(peer: &Use, ours: &Use) -> u32 {
    let at_work = match (peer.work, ours.work) {
        (Some(peer), Some(ours)) => peer ^ ours,
        _ => 0,
    };
    (peer.ones ^ ours.ones) | at_work
}

/// It was read before it was written.
fn read_first(used: &Use) -> bool {
    match (used.first_read, used.first) {
        (Some(read), Some(write)) => read < write,
        _ => false,
    }
}

/// All differences of two lists, by register.
pub fn differences(peer: &List, ours: &List) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |key: RegisterKey, kind: Kind, words: String| {
        all.push(Difference { key, kind, words });
    };
    let mut keys: Vec<RegisterKey> = peer.uses.keys().chain(ours.uses.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        match (peer.written(key), ours.written(key)) {
            (None, None) => {}
            (Some(p), None) => add(key, Kind::PeerOnly, p.words()),
            (None, Some(o)) => add(key, Kind::OursOnly, o.words()),
            (Some(p), Some(o)) => {
                let differ = bits(p, o);
                let words = || format!("upstream {}; ouro {}", p.words(), o.words());
                if differ != 0 {
                    add(key, Kind::Value(differ), words());
                }
                if read_first(p) && !read_first(o) {
                    add(key, Kind::Unread, words());
                }
            }
        }
    }
    all
}

/// What came of the reasons.
#[derive(Debug, Default)]
pub struct Judged<'a> {
    /// Differences without a reason.
    pub open: Vec<&'a Difference>,
    /// Reasons without a difference.
    pub stale: Vec<&'a Reason>,
    /// Differences with one.
    pub explained: usize,
}

/// Holds each difference against the reasons.
pub fn judge<'a>(
    differences: &'a [Difference],
    reasons: &'a [Reason],
    peer: &List,
    ours: &List,
) -> Judged<'a> {
    let mut judged = Judged::default();
    let mut used = vec![false; reasons.len()];
    for difference in differences {
        let mut found = false;
        for (reason, used) in reasons.iter().zip(&mut used) {
            if explains(reason, difference) {
                *used = true;
                found = true;
            }
        }
        match found {
            true => judged.explained += 1,
            false => judged.open.push(difference),
        }
    }
    // An address, and what depends on the moment, may be the same by chance: it is enough that both write it.
    let both = |r: &Reason| {
        let mut written = ours.uses.keys().filter(|p| r.covers(**p));
        written.any(|p| ours.written(*p).is_some() && peer.written(*p).is_some())
    };
    for (reason, used) in reasons.iter().zip(used) {
        let by_chance = matches!(reason.kind, Kind::Address | Kind::Timing(_));
        let applies = used || by_chance && both(reason);
        if !applies {
            judged.stale.push(reason);
        }
    }
    judged
}

fn explains(reason: &Reason, difference: &Difference) -> bool {
    reason.covers(difference.key)
        && match (reason.kind, difference.kind) {
            (Kind::Value(allowed) | Kind::Timing(allowed), Kind::Value(bits)) => {
                bits & !allowed == 0
            }
            (Kind::Address, Kind::Value(_)) => true,
            (a, b) => a == b,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasons::parse;

    /// Lines of register, ones, value at work, and whether it was read first.
    fn list(lines: &[(u32, u32, Option<u32>, bool)]) -> List {
        let mut list = List::default();
        for (offset, ones, work, read) in lines {
            let key = RegisterKey {
                image: false,
                offset: *offset,
            };
            let used = Use {
                writes: 1,
                first: Some(2),
                first_read: read.then_some(1),
                ones: *ones,
                work: *work,
                ..Use::default()
            };
            list.uses.insert(key, used);
        }
        list
    }

    fn found(peer: &List, ours: &List) -> Vec<(u32, Kind)> {
        let all = differences(peer, ours);
        all.iter().map(|d| (d.key.offset, d.kind)).collect()
    }

    #[test]
    fn both_directions_the_value_and_the_read_before_it() {
        let peer = list(&[
            (0x2054, 1, None, false),
            (0x9400, 0xa0, Some(0xf0), true),
            (0x9404, 0x200, Some(0x200), false),
        ]);
        let ours = list(&[
            (0x4000, 1, None, false),
            (0x9400, 0xa0, Some(0xa0), false),
            (0x9404, 0x300, None, true),
        ]);
        assert_eq!(
            found(&peer, &ours),
            [
                (0x2054, Kind::PeerOnly),
                (0x4000, Kind::OursOnly),
                (0x9400, Kind::Value(0x50)),
                (0x9400, Kind::Unread),
                (0x9404, Kind::Value(0x100)),
            ]
        );
        assert_eq!(found(&peer, &peer), []);
    }

    #[test]
    fn what_is_only_read_is_no_difference() {
        let mut peer = list(&[(0x2054, 0, None, true)]);
        peer.uses.values_mut().for_each(|u| u.writes = 0);
        assert_eq!(found(&peer, &list(&[])), []);
    }

    #[test]
    fn a_difference_needs_a_reason_and_a_reason_a_difference() {
        let peer = list(&[(0x2054, 1, None, false), (0x9400, 0xa0, None, false)]);
        let ours = list(&[(0x9400, 0x30, None, false), (0x4000, 1, None, false)]);
        let all = differences(&peer, &ours);
        let reasons = parse(
            "2054 peer-only it idles\n4000 peer-only the wrong way\n9400 value=90 both of\n9404 address not written",
        )
        .unwrap();
        let judged = judge(&all, &reasons, &peer, &ours);
        assert_eq!(judged.explained, 2);
        let open: Vec<u32> = judged.open.iter().map(|d| d.key.offset).collect();
        assert_eq!(open, [0x4000]);
        let stale: Vec<usize> = judged.stale.iter().map(|r| r.line).collect();
        assert_eq!(stale, [2, 4]);
    }

    #[test]
    fn a_reason_for_some_bits_is_none_for_others() {
        let peer = list(&[(0x9400, 0xa0, None, false)]);
        let ours = list(&[(0x9400, 0x31, None, false)]);
        let all = differences(&peer, &ours);
        let reasons = parse("9400 value=90 two of the three bits").unwrap();
        let judged = judge(&all, &reasons, &peer, &ours);
        assert_eq!((judged.open.len(), judged.stale.len()), (1, 1));
    }

    #[test]
    fn an_address_may_be_the_same_by_chance() {
        let same = list(&[(0x2080, 0x1000, None, false)]);
        let reasons = parse("2080 address a page").unwrap();
        let judged = judge(&[], &reasons, &same, &same);
        assert_eq!((judged.open.len(), judged.stale.len()), (0, 0));
        let other = list(&[(0x2080, 0x2000, None, false)]);
        let all = differences(&same, &other);
        let judged = judge(&all, &reasons, &same, &other);
        assert_eq!((judged.open.len(), judged.explained), (0, 1));
    }

    #[test]
    fn bits_that_depend_on_the_moment_may_be_equal_and_others_may_not_differ() {
        let peer = list(&[(0x190074, 0xc000_0005, None, false)]);
        let reasons = parse("190074 timing=c0000005 who waits").unwrap();
        // The value, and how many differences are open and explained, and reasons stale.
        for (ones, expected) in [
            (0xc000_0005, (0, 0, 0)),
            (0x8000_0001, (0, 1, 0)),
            (0x10, (1, 0, 0)),
        ] {
            let ours = list(&[(0x190074, ones, None, false)]);
            let all = differences(&peer, &ours);
            let judged = judge(&all, &reasons, &peer, &ours);
            let seen = (judged.open.len(), judged.explained, judged.stale.len());
            assert_eq!(seen, expected, "{ones:x}");
        }
        let judged = judge(&[], &reasons, &peer, &list(&[]));
        assert_eq!(judged.stale.len(), 1);
    }
}
