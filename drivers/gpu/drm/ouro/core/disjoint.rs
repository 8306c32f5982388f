// SPDX-License-Identifier: GPL-2.0
//! A small set of disjoint ranges, such as memory that must not be allocated because a display
//! plane shows it.

use core::ops::Range;

/// Up to `N` disjoint ranges, unordered. When the set is full, a new range is merged with the
/// nearest one, so that the set always covers all that was added.
#[derive(Clone, Debug)]
pub struct Disjoint<const N: usize> {
    ranges: [Range<u64>; N],
    len: usize,
}

impl<const N: usize> Default for Disjoint<N> {
    fn default() -> Self {
        const { assert!(N > 0) };
        Self {
            ranges: [const { 0..0 }; N],
            len: 0,
        }
    }
}

impl<const N: usize> Disjoint<N> {
    /// Adds a range; an empty range is ignored.
    pub fn add(&mut self, mut range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        loop {
            // Merge with all ranges that touch it.
            let all = self.ranges.iter().take(self.len);
            let touching = all.enumerate().find(|(_, r)| gap(r, &range) == 0);
            let at = match touching {
                Some((at, _)) => at,
                None if self.len < N => {
                    self.push(range);
                    return;
                }
                None => self.nearest(&range),
            };
            let Some(other) = self.remove(at) else {
                return;
            };
            range = range.start.min(other.start)..range.end.max(other.end);
        }
    }

    fn push(&mut self, range: Range<u64>) {
        if let Some(place) = self.ranges.get_mut(self.len) {
            *place = range;
            self.len += 1;
        }
    }

    fn remove(&mut self, at: usize) -> Option<Range<u64>> {
        let last = self.len.checked_sub(1)?;
        let all = self.ranges.get_mut(..self.len)?;
        if at > last {
            return None;
        }
        all.swap(at, last);
        self.len = last;
        self.ranges.get(last).cloned()
    }

    fn nearest(&self, range: &Range<u64>) -> usize {
        let all = self.iter().enumerate();
        all.min_by_key(|(_, r)| gap(r, range))
            .map_or(0, |(at, _)| at)
    }

    /// Returns the ranges.
    pub fn iter(&self) -> impl Iterator<Item = &Range<u64>> + Clone {
        self.ranges.iter().take(self.len)
    }

    /// Returns a range of the set that overlaps `range`.
    pub fn hit(&self, range: &Range<u64>) -> Option<&Range<u64>> {
        self.iter()
            .find(|r| r.start < range.end && range.start < r.end)
    }

    /// Returns the parts of a range that are not in the set, in order.
    pub fn rest(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let mut from = range.start;
        core::iter::from_fn(move || {
            // Skip the ranges that cover `from`.
            while let Some(over) = self.iter().find(|r| r.contains(&from)) {
                from = over.end;
            }
            if from >= range.end {
                return None;
            }
            let starts = self.iter().map(|r| r.start).filter(|start| *start > from);
            let end = starts.min().map_or(range.end, |s| s.min(range.end));
            let piece = from..end;
            from = end;
            Some(piece)
        })
    }

    /// Returns each range of the set, and what is behind it: at most `most`, up to `end` or the
    /// next range. Leaves out ranges with nothing behind them.
    pub fn behind(
        &self,
        most: u64,
        end: u64,
    ) -> impl Iterator<Item = (Range<u64>, Range<u64>)> + '_ {
        self.iter().filter_map(move |range| {
            let last = range.end.saturating_add(most).min(end);
            let behind = self.rest(range.end..last).next()?;
            (behind.start == range.end).then(|| (range.clone(), behind))
        })
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Returns the distance of two ranges; 0 if they touch or overlap.
fn gap(a: &Range<u64>, b: &Range<u64>) -> u64 {
    if a.end <= b.start {
        b.start - a.end
    } else {
        a.start.saturating_sub(b.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    fn of(ranges: &[Range<u64>]) -> Disjoint<3> {
        let mut all = Disjoint::default();
        for range in ranges {
            all.add(range.clone());
        }
        all
    }

    fn sorted(all: &Disjoint<3>) -> Vec<Range<u64>> {
        let mut ranges: Vec<_> = all.iter().cloned().collect();
        ranges.sort_by_key(|r| r.start);
        ranges
    }

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(sorted(&of(&[0..4, 8..9, 4..6])), [0..6, 8..9]);
        assert_eq!(sorted(&of(&[0..2, 4..6, 1..5])), vec![0..6]);
        assert_eq!(sorted(&of(&[7..7, 3..3])), []);
        assert!(of(&[7..7, 3..3]).is_empty());
    }

    #[test]
    fn one_too_many_goes_to_the_nearest() {
        let all = of(&[0..1, 10..11, 20..21, 23..24]);
        assert_eq!(sorted(&all), [0..1, 10..11, 20..24]);
    }

    #[test]
    fn the_rest_is_what_is_in_none() {
        let all = of(&[2..4, 8..9]);
        let rest = |r| all.rest(r).collect::<Vec<_>>();
        assert_eq!(rest(0..10), [0..2, 4..8, 9..10]);
        assert_eq!(rest(2..9), vec![4..8]);
        assert_eq!(rest(2..4), []);
        assert_eq!(rest(3..3), []);
        assert_eq!(all.hit(&(3..5)), Some(&(2..4)));
        assert_eq!(all.hit(&(4..8)), None);
    }

    #[test]
    fn what_is_behind_ends_at_the_next() {
        let all = of(&[2..4, 8..9, 14..16]);
        let behind = |most, end| {
            let mut found: Vec<_> = all.behind(most, end).collect();
            found.sort_by_key(|(range, _)| range.start);
            found
        };
        let [first, second] = [(2..4, 4..8), (8..9, 9..14)];
        assert_eq!(
            behind(9, 19),
            [first.clone(), second.clone(), (14..16, 16..19)]
        );
        assert_eq!(behind(9, 16), [first, second]);
        assert_eq!(behind(1, 12), [(2..4, 4..5), (8..9, 9..10)]);
        assert_eq!(behind(0, 19), []);
        // Of a range that ends at the end, or beyond it, nothing is behind.
        assert_eq!(behind(2, 8), [(2..4, 4..6)]);
        assert_eq!(behind(u64::MAX, 9), [(2..4, 4..8)]);
    }

    proptest! {
        #[test]
        fn nothing_that_was_added_is_outside(
            ranges in prop::collection::vec((0u64..60, 0u64..9), 0..8),
        ) {
            let ranges: Vec<_> = ranges.into_iter().map(|(at, len)| at..at + len).collect();
            let all = of(&ranges);
            let kept = sorted(&all);
            for pair in kept.windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
            let rest: Vec<_> = all.rest(0..80).collect();
            for page in 0..80 {
                let inside = kept.iter().any(|r| r.contains(&page));
                let left = rest.iter().filter(|r| r.contains(&page)).count();
                prop_assert_eq!(usize::from(!inside), left);
                let added = ranges.iter().any(|r| r.contains(&page));
                prop_assert!(inside || !added);
            }
        }
    }
}
