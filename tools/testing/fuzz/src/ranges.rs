// SPDX-License-Identifier: GPL-2.0
//! The allocator of address ranges against a list: takes and gives as user space can bring about.

use crate::source::Source;
use ouro_core::range::{Arena, NoRange, Node, Ranges, Want};

/// Nodes in a vector.
struct Nodes(Vec<Node>);

impl Arena for Nodes {
    fn nodes(&self) -> &[Node] {
        &self.0
    }

    fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.0
    }
}

/// The plain way: what is taken, in order.
struct List {
    end: u64,
    taken: Vec<(u64, u64)>,
}

impl List {
    fn holes(&self) -> Vec<(u64, u64)> {
        let mut holes = Vec::new();
        let mut at = START;
        for (start, size) in &self.taken {
            if at < *start {
                holes.push((at, *start));
            }
            at = start + size;
        }
        if at < self.end {
            holes.push((at, self.end));
        }
        holes
    }

    /// True if a range that is asked for can be had somewhere.
    fn fits(&self, want: &Want) -> bool {
        self.holes().iter().any(|(from, to)| {
            let from = u128::from(*from.max(&want.within.0));
            let to = u128::from(*to.min(&want.within.1));
            let start = from.next_multiple_of(u128::from(want.align));
            start + u128::from(want.size) <= to
        })
    }

    fn is_free(&self, start: u64, size: u64) -> bool {
        self.holes()
            .iter()
            .any(|(from, to)| *from <= start && start + size <= *to)
    }

    fn take(&mut self, start: u64, size: u64) {
        self.taken.push((start, size));
        self.taken.sort_unstable();
    }
}

/// The lowest address.
const START: u64 = 0x1000;

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    let most = [1 << 8, 1 << 20, 1 << 47][s.below(3) as usize];
    let end = START + 1 + s.below(most);
    let mut list = List {
        end,
        taken: Vec::new(),
    };
    let mut ranges = Ranges::new(Nodes(vec![Node::default()]), START..end);
    while !s.is_empty() && list.taken.len() < 400 {
        let wanted = ranges.nodes_wanted();
        let nodes = &mut ranges.arena_mut().0;
        // An arena only ever grows.
        nodes.resize(wanted.max(nodes.len()), Node::default());
        match s.u8() % 8 {
            0..=3 => take(&mut s, &mut ranges, &mut list),
            4 => {
                let (start, size) = (START + s.below(end), 1 + s.below(64));
                let free = start < end && list.is_free(start, size);
                assert_eq!(
                    ranges.take_at(start, size).is_ok(),
                    free,
                    "{start:#x}+{size:#x}"
                );
                if free {
                    list.take(start, size);
                }
            }
            5 | 6 if !list.taken.is_empty() => {
                let n = s.below(list.taken.len() as u64) as usize;
                let (start, size) = list.taken.remove(n);
                assert!(ranges.give(start, size), "{start:#x}+{size:#x}");
                assert!(!ranges.give(start, size), "twice");
            }
            _ => {
                // What is not taken is not given back, and nothing overflows.
                let (start, size) = (s.odd(), s.odd());
                let in_hole = start.checked_add(size).is_some() && list.is_free(start, size);
                if size == 0 || start.checked_add(size).is_none_or(|e| e > end) || in_hole {
                    assert!(!ranges.give(start, size), "{start:#x}+{size:#x}");
                }
                let want = Want {
                    size: s.odd(),
                    align: s.odd(),
                    within: (s.odd(), s.odd()),
                };
                if let Ok(start) = ranges.take(&want) {
                    assert!(list.fits(&want), "{want:?}");
                    list.take(start, want.size);
                }
            }
        }
        check(&ranges, &list);
    }
}

fn take(s: &mut Source<'_>, ranges: &mut Ranges<Nodes>, list: &mut List) {
    let limits = [
        (0, u64::MAX),
        (START, list.end),
        (s.below(list.end), s.below(2 * list.end)),
    ];
    let part = 1 + s.below(64);
    let want = Want {
        size: 1 + s.below(1 + list.end / part),
        align: 1 << s.below(16),
        within: limits[s.below(3) as usize],
    };
    match ranges.take(&want) {
        Ok(start) => {
            assert_eq!(start % want.align, 0, "{want:?}");
            assert!(
                start >= want.within.0 && start + want.size <= want.within.1,
                "{want:?}"
            );
            assert!(list.is_free(start, want.size), "{want:?} at {start:#x}");
            list.take(start, want.size);
        }
        Err(NoRange::Full) => assert!(!list.fits(&want), "{want:?}"),
        Err(NoRange::Invalid) => assert!(want.within.0 >= want.within.1, "{want:?}"),
        Err(NoRange::NoNode) => panic!("it said how many nodes it wants"),
    }
}

fn check(ranges: &Ranges<Nodes>, list: &List) {
    let holes: Vec<u64> = list.holes().iter().map(|(from, to)| to - from).collect();
    assert_eq!(ranges.free(), holes.iter().sum::<u64>());
    assert_eq!(ranges.longest(), holes.iter().copied().max().unwrap_or(0));
    assert_eq!(ranges.taken(), list.taken.len());
}
