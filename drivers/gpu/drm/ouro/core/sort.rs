// SPDX-License-Identifier: GPL-2.0
//! Sorting in place: a heap sort. The sorts in Rust's core panic if an order is inconsistent, and
//! the kernel's objtool does not know that panic as a dead end; this sort cannot panic.

/// Sorts `items` by a key in ascending order. Not stable. Takes n log n comparisons in any case.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    for root in (0..items.len() / 2).rev() {
        sift(items, root, &key);
    }
    for last in (1..items.len()).rev() {
        items.swap(0, last);
        if let Some(rest) = items.get_mut(..last) {
            sift(rest, 0, &key);
        }
    }
}

/// Sifts the item at `root` down until both its children are less.
fn sift<T, K: Ord>(items: &mut [T], mut root: usize, key: &impl Fn(&T) -> K) {
    loop {
        let left = root.saturating_mul(2).saturating_add(1);
        let both = (left..items.len()).take(2);
        let keys = both.filter_map(|at| Some((key(items.get(at)?), at)));
        let (Some((most, child)), Some(this)) = (keys.max(), items.get(root)) else {
            return;
        };
        if key(this) >= most {
            return;
        }
        items.swap(root, child);
        root = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    #[test]
    fn few_are_sorted() {
        let cases: [(&[u32], &[u32]); 5] = [
            (&[], &[]),
            (&[7], &[7]),
            (&[2, 1], &[1, 2]),
            (&[3, 1, 2], &[1, 2, 3]),
            (&[5, 5, 1, 9, 5, 0], &[0, 1, 5, 5, 5, 9]),
        ];
        for (from, to) in cases {
            let mut items = from.to_vec();
            sort_by_key(&mut items, |n| *n);
            assert_eq!(items, to);
        }
    }

    #[test]
    fn it_goes_by_the_key() {
        let mut items = vec![("b", 1), ("a", 3), ("c", 2)];
        sort_by_key(&mut items, |item| item.1);
        assert_eq!(items, [("b", 1), ("c", 2), ("a", 3)]);
    }

    proptest! {
        #[test]
        fn many_are_sorted(mut items in proptest::collection::vec(any::<u16>(), 0..300)) {
            let mut expected = items.clone();
            expected.sort();
            sort_by_key(&mut items, |n| *n);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn an_order_that_is_none_ends(answers in proptest::collection::vec(any::<u8>(), 1..64)) {
            let at = core::cell::Cell::new(0usize);
            let mut items: Vec<usize> = (0..50).collect();
            sort_by_key(&mut items, |_| {
                at.set(at.get() + 1);
                answers[at.get() % answers.len()]
            });
            items.sort();
            prop_assert!(items.into_iter().eq(0..50), "all are there still");
        }
    }
}
