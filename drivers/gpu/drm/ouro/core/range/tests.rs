// SPDX-License-Identifier: GPL-2.0
//! Tests of the allocator of ranges: by hand, and against a map of units.

use super::*;
use proptest::prelude::*;
use std::{vec, vec::Vec};

impl Arena for Vec<Node> {
    fn nodes(&self) -> &[Node] {
        self
    }
    fn nodes_mut(&mut self) -> &mut [Node] {
        self
    }
}

fn space(nodes: usize) -> Ranges<Vec<Node>> {
    Ranges::new(vec![Node::default(); nodes], 0x1000..0x11000)
}

fn anywhere(size: u64, align: u64) -> Want {
    Want {
        size,
        align,
        within: (0, u64::MAX),
    }
}

#[test]
fn takes_the_lowest_and_merges_what_is_given_back() {
    let mut r = space(16);
    assert_eq!(r.take(&anywhere(0x1000, 0x1000)), Ok(0x1000));
    assert_eq!(r.take(&anywhere(0x1000, 0x4000)), Ok(0x4000));
    assert_eq!(r.take(&anywhere(0x2000, 1)), Ok(0x2000));
    assert!(r.give(0x1000, 0x1000));
    assert!(r.give(0x2000, 0x2000));
    assert!(r.give(0x4000, 0x1000));
    assert_eq!(r.longest(), 0x10000);
    assert_eq!(r.free(), 0x10000);
}

#[test]
fn respects_limits() {
    let mut r = space(16);
    let want = Want {
        size: 0x1000,
        align: 1,
        within: (0x5800, 0x7000),
    };
    assert_eq!(r.take(&want), Ok(0x5800));
    assert_eq!(r.take(&want), Err(NoRange::Full));
}

#[test]
fn says_whether_it_may_be_there() {
    let want = Want {
        size: 0x1000,
        align: 0x800,
        within: (0x5800, 0x7000),
    };
    assert_eq!(want.at(0x5800), Some(0x5800));
    assert_eq!(want.at(0x6000), Some(0x6000));
    for bad in [0, 0x5000, 0x5c00, 0x6800, 0x7000, u64::MAX - 0x7ff] {
        assert_eq!(want.at(bad), None, "{bad:#x}");
    }
}

#[test]
fn refuses_what_is_taken_and_nonsense() {
    let mut r = space(16);
    assert_eq!(r.take_at(0x3000, 0x1000), Ok(()));
    assert_eq!(r.take_at(0x3fff, 1), Err(NoRange::Full));
    assert_eq!(r.take_at(0x2fff, 2), Err(NoRange::Full));
    assert_eq!(r.take_at(0, 1), Err(NoRange::Full));
    assert_eq!(r.take_at(u64::MAX, 2), Err(NoRange::Invalid));
    assert!(!r.is_free(u64::MAX, 2));
    assert_eq!(r.take(&anywhere(0, 1)), Err(NoRange::Invalid));
    assert_eq!(r.take(&anywhere(1, 3)), Err(NoRange::Invalid));
    assert!(!r.give(0x2000, 0x1000), "was free");
    assert!(!r.give(0x3000, 0x1001), "half free");
    assert!(r.give(0x3000, 0x1000));
    assert!(!r.give(0x3000, 0x1000), "twice");
}

#[test]
fn a_small_arena_is_said_so_before_anything_changes() {
    let mut r = space(3);
    assert_eq!(r.take_at(0x3000, 0x1000), Ok(()));
    assert_eq!(r.take_at(0x5000, 0x1000), Err(NoRange::NoNode));
    r.arena_mut().resize(4, Node::default());
    assert_eq!(r.take_at(0x5000, 0x1000), Ok(()));
    assert!(r.give(0x3000, 0x1000) && r.give(0x5000, 0x1000));
    assert_eq!(r.longest(), 0x10000);
}

#[test]
fn the_depth_stays_logarithmic() {
    let mut r = Ranges::new(vec![Node::default(); 20_010], 0..40_000);
    for i in 0..20_000 {
        r.take_at(2 * i, 1).unwrap();
    }
    // 20,000 holes: an AVL tree is at most 1.44 * log2(20,002) = 20.6 high.
    assert!(r.height(r.root) <= 20, "{}", r.height(r.root));
}

#[test]
fn colours_have_a_unit_between_them() {
    let mut r = Ranges::new(vec![Node::default(); 32], 0..16);
    let one = anywhere(1, 1);
    // At the ends of the space nothing is beside a range.
    assert_eq!(r.take_of(&one, Colour::Other), Ok(0));
    assert_eq!(r.take_of(&one, Colour::Other), Ok(1));
    assert_eq!(r.take(&one), Ok(3));
    assert_eq!(r.take_of(&one, Colour::Other), Ok(5));
    // The gap between the two is of no use to either.
    assert_eq!(r.take_at(2, 1), Err(NoRange::Full));
    assert_eq!(r.take_at_of(2, 1, Colour::Other), Err(NoRange::Full));
    assert!(r.is_free(2, 1));
    // A hole between ranges of one colour is one unit longer for it at either end.
    assert!(r.give(3, 1));
    assert_eq!(r.take(&anywhere(2, 1)), Ok(7));
    assert_eq!(r.take_of(&anywhere(3, 1), Colour::Other), Ok(2));
    // The colours beside are remembered when all three are freed.
    assert!(r.give_of(5, 1, Colour::Other));
    assert_eq!(r.take_at(5, 1), Err(NoRange::Full));
    assert_eq!(r.take_at_of(5, 1, Colour::Other), Ok(()));
    assert_eq!(r.take_at(15, 1), Ok(()));
}

#[test]
fn the_search_skips_holes_without_room_for_the_colour() {
    // 10,000 holes of one unit between plain ranges, and room at the end.
    let mut r = Ranges::new(vec![Node::default(); 10_010], 0..20_010);
    for i in 0..10_000 {
        r.take_at(2 * i, 1).unwrap();
    }
    let [plain, other] = r.node(r.root).unwrap().longest;
    assert_eq!((plain, other), (11, 10));
    let below = r.node(r.root).unwrap().left;
    assert_eq!(r.node(below).unwrap().longest, [1, 0]);
    assert_eq!(r.take_of(&anywhere(1, 1), Colour::Other), Ok(20_000));
    assert_eq!(r.take(&anywhere(1, 1)), Ok(1));
}

proptest! {
    /// Against a map of units with colours: no two of different colours touch, and a request fails
    /// only when nothing fits.
    #[test]
    fn colours_never_touch(
        ops in prop::collection::vec(
            (0u8..4, 0u64..128, 1u64..9, 0u32..3, any::<bool>()),
            1..200,
        ),
    ) {
        let mut map = [None; 128];
        let mut live: Vec<(u64, u64, Colour)> = Vec::new();
        let mut r = Ranges::new(vec![Node::default(); 140], 0..128);
        let fits = |map: &[Option<Colour>; 128], at: u64, size: u64, colour| {
            let (at, end) = (at as usize, (at + size) as usize);
            let apart = |unit: &Option<Colour>| unit.is_none_or(|other| other == colour);
            end <= map.len()
                && map[at..end].iter().all(Option::is_none)
                && map[at.saturating_sub(1)..at].iter().all(apart)
                && map[end..(end + 1).min(map.len())].iter().all(apart)
        };
        for (op, at, size, align, other) in ops {
            let colour = if other { Colour::Other } else { Colour::Plain };
            let taken = match op {
                0 | 1 => {
                    let align = 1 << align;
                    let found = r.take_of(&anywhere(size, align), colour);
                    let mut all = (0..128u64).step_by(align as usize);
                    prop_assert_eq!(found.is_ok(), all.any(|s| fits(&map, s, size, colour)));
                    prop_assert!(found.is_ok() || found == Err(NoRange::Full));
                    found.ok()
                }
                2 => {
                    let ok = r.take_at_of(at, size, colour).is_ok();
                    prop_assert_eq!(ok, fits(&map, at, size, colour));
                    ok.then_some(at)
                }
                _ => {
                    if !live.is_empty() {
                        let (s, n, colour) = live.swap_remove(at as usize % live.len());
                        prop_assert!(r.give_of(s, n, colour));
                        map[s as usize..(s + n) as usize].fill(None);
                    }
                    None
                }
            };
            if let Some(at) = taken {
                prop_assert!(fits(&map, at, size, colour), "{at}+{size}");
                map[at as usize..(at + size) as usize].fill(Some(colour));
                live.push((at, size, colour));
            }
            let touch = |pair: &[Option<Colour>]| matches!(pair, [Some(a), Some(b)] if a != b);
            prop_assert!(!map.windows(2).any(touch));
            prop_assert_eq!(r.free(), map.iter().filter(|u| u.is_none()).count() as u64);
        }
        for (s, n, colour) in live {
            prop_assert!(r.give_of(s, n, colour));
        }
        prop_assert_eq!(r.longest(), 128);
    }

    /// Against a map of units: never overlaps, never loses one, fails only when nothing fits.
    #[test]
    fn agrees_with_a_bitmap(
        ops in prop::collection::vec((0u8..4, 0u64..256, 1u64..20, 0u32..4), 1..200),
    ) {
        let mut map = [false; 256];
        let mut live: Vec<(u64, u64)> = Vec::new();
        let mut r = Ranges::new(vec![Node::default(); 300], 0..256);
        for (op, at, size, align) in ops {
            match op {
                0 | 1 => {
                    let align = 1u64 << align;
                    let fits = (0..256u64).step_by(align as usize).any(|s| {
                        s + size <= 256 && !map[s as usize..(s + size) as usize].contains(&true)
                    });
                    match r.take(&anywhere(size, align)) {
                        Ok(s) => {
                            prop_assert_eq!(s % align, 0);
                            for u in &mut map[s as usize..(s + size) as usize] {
                                prop_assert!(!*u);
                                *u = true;
                            }
                            live.push((s, size));
                        }
                        Err(e) => {
                            prop_assert_eq!(e, NoRange::Full);
                            prop_assert!(!fits);
                        }
                    }
                }
                2 => {
                    let ok = at + size <= 256
                        && !map[at as usize..(at + size) as usize].contains(&true);
                    prop_assert_eq!(r.is_free(at, size), ok);
                    prop_assert_eq!(r.take_at(at, size).is_ok(), ok);
                    if ok {
                        map[at as usize..(at + size) as usize].fill(true);
                        live.push((at, size));
                    }
                }
                _ => {
                    if !live.is_empty() {
                        let (s, n) = live.swap_remove(at as usize % live.len());
                        prop_assert!(r.give(s, n));
                        map[s as usize..(s + n) as usize].fill(false);
                    }
                }
            }
            prop_assert_eq!(r.free(), map.iter().filter(|u| !**u).count() as u64);
            prop_assert_eq!(r.taken(), live.len());
        }
        for (s, n) in live {
            prop_assert!(r.give(s, n));
        }
        prop_assert_eq!(r.longest(), 256);
    }
}
