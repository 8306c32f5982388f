// SPDX-License-Identifier: GPL-2.0

//! Who has which pages of something: of an address space, or of a region of memory.
//!
//! It knows who is in it, by place, so that some of them can be asked to make room. Who does that
//! asks around, like the hand of a clock: what was used since the hand came by last is passed over
//! once.

use kernel::{
    prelude::*,
    rbtree::{RBTree, RBTreeNode, RBTreeNodeReservation},
};
use ouro_core::range::{Arena, NoRange, Node, Ranges, Want};

/// Nodes of the range allocator.
struct Nodes(KVVec<Node>);

impl Arena for Nodes {
    fn nodes(&self) -> &[Node] {
        &self.0
    }

    fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.0
    }
}

/// Somebody who can have pages, and be asked to give them back. What it is, the floors above know: buffer
/// objects and context images.
pub(crate) trait Tenant: Clone + Unpin {
    /// A reference that keeps it.
    type Kept;

    /// Returns a reference that keeps it; `None` if it is going away by itself.
    fn upgrade(&self) -> Option<Self::Kept>;
}

/// Who has pages that somebody else wants.
pub(crate) enum Occupant<K> {
    /// One who can be asked to give them back.
    Kept(K),
    /// One who is going away by itself, and gives them back soon.
    Leaving,
    /// One who cannot be asked: they are the kernel's, or not there.
    Fixed,
    /// Nobody any more.
    Nobody,
}

/// Nobody is asked.
impl Tenant for () {
    type Kept = ();

    fn upgrade(&self) -> Option<()> {
        None
    }
}

/// Somebody who has pages.
struct Resident<T> {
    count: u64,
    who: T,
}

/// What it takes to enter somebody: allocated before a lock is taken.
pub(crate) struct Entrance<T> {
    who: T,
    node: RBTreeNodeReservation<u64, Resident<T>>,
}

impl<T: Tenant> Entrance<T> {
    /// Allocates what it takes to enter a tenant. Errors: `ENOMEM`.
    pub(crate) fn new(who: T) -> Result<Self> {
        Ok(Self {
            who,
            node: RBTreeNodeReservation::new(GFP_KERNEL)?,
        })
    }
}

/// What is left of somebody who has gone: to be dropped without a lock.
pub(crate) struct Departed<T> {
    _node: Option<RBTreeNode<u64, Resident<T>>>,
}

/// The pages, and who has them.
pub(crate) struct Population<T> {
    ranges: Ranges<Nodes>,
    /// By their first page.
    residents: RBTree<u64, Resident<T>>,
    /// Where the next victim is looked for.
    hand: u64,
}

impl<T: Tenant> Population<T> {
    /// All pages of a range, free. Errors: `ENOMEM`.
    pub(crate) fn new(pages: core::ops::Range<u64>) -> Result<Self> {
        let mut nodes = Nodes(KVVec::new());
        nodes.0.push(Node::default(), GFP_KERNEL)?;
        Ok(Self {
            ranges: Ranges::new(nodes, pages),
            residents: RBTree::new(),
            hand: 0,
        })
    }

    /// Makes room for the next range. Doubling keeps the cost of a range constant.
    fn grow(&mut self) -> Result {
        let wanted = self.ranges.nodes_wanted();
        let nodes = &mut self.ranges.arena_mut().0;
        if nodes.len() < wanted {
            let more = wanted.max(64);
            nodes.reserve(more, GFP_KERNEL)?;
            for _ in 0..more {
                nodes.push(Node::default(), GFP_KERNEL)?;
            }
        }
        Ok(())
    }

    /// Takes pages in the first of some places that has them.
    ///
    /// Errors: `ENOSPC` if none has, `EINVAL` if the last one makes no sense, `ENOMEM`.
    pub(crate) fn take(&mut self, places: &[Want]) -> Result<u64> {
        self.grow()?;
        let mut last = NoRange::Full;
        for want in places {
            match self.ranges.take(want) {
                Ok(first) => return Ok(first),
                Err(e) => last = e,
            }
        }
        Err(no_range(last))
    }

    /// Takes `count` pages from `first` on. Errors: as [`take`](Self::take).
    pub(crate) fn take_at(&mut self, first: u64, count: u64) -> Result<u64> {
        self.grow()?;
        self.ranges.take_at(first, count).map_err(no_range)?;
        Ok(first)
    }

    /// Somebody has taken `count` pages from `first` on.
    pub(crate) fn enter(&mut self, first: u64, count: u64, entrance: Entrance<T>) {
        let Entrance { who, node } = entrance;
        self.residents
            .insert(node.into_node(first, Resident { count, who }));
    }

    /// Gives back what was taken.
    pub(crate) fn give(&mut self, first: u64, count: u64) -> Departed<T> {
        self.ranges.give(first, count);
        Departed {
            _node: self.residents.remove_node(&first),
        }
    }

    /// Pages that are not taken.
    pub(crate) fn free(&self) -> u64 {
        self.ranges.free()
    }

    /// Ranges that are taken: no fewer than there are who have some.
    pub(crate) fn taken(&self) -> usize {
        self.ranges.taken()
    }

    /// Returns who has pages among `count` from `first` on: one who can be asked, if there is any.
    pub(crate) fn occupant(&self, first: u64, count: u64) -> Occupant<T::Kept> {
        let Some(mut end) = first.checked_add(count) else {
            return Occupant::Fixed;
        };
        let look = |(start, resident): (&u64, &Resident<T>)| {
            let in_the_way = start.wrapping_add(resident.count) > first;
            in_the_way.then(|| (*start, resident.who.upgrade()))
        };
        let mut leaves = false;
        loop {
            // The last one that starts before the end is in the way, or none is.
            let last = match self.residents.cursor_lower_bound(&end) {
                Some(next) => next.peek_prev().and_then(look),
                None => self
                    .residents
                    .cursor_back()
                    .and_then(|last| look(last.current())),
            };
            match last {
                Some((_, Some(who))) => return Occupant::Kept(who),
                Some((start, None)) => {
                    leaves = true;
                    end = start;
                }
                None if leaves => return Occupant::Leaving,
                None if self.ranges.is_free(first, count) => return Occupant::Nobody,
                None => return Occupant::Fixed,
            }
        }
    }

    /// Returns whether anybody is going away, and has pages still. Linear in those who have some.
    pub(crate) fn anybody_leaves(&self) -> bool {
        self.residents
            .values()
            .any(|resident| resident.who.upgrade().is_none())
    }

    /// The first one that starts at a page or behind it, and where that is.
    pub(crate) fn resident_from(&mut self, page: u64) -> Option<(u64, T::Kept)> {
        let mut from = page;
        loop {
            let next = self.residents.cursor_lower_bound(&from)?;
            let (start, resident) = next.current();
            if let Some(who) = resident.who.upgrade() {
                return Some((*start, who));
            }
            from = start.checked_add(1)?;
        }
    }

    /// The next one that may be asked to make room. After as many calls as there are, all of them had their
    /// turn. `None`: there is none from here to the end.
    pub(crate) fn next_victim(&mut self) -> Option<T::Kept> {
        let mut from = self.hand;
        loop {
            let next = self
                .residents
                .cursor_lower_bound(&from)
                .map(|c| (*c.current().0, c.current().1.who.upgrade()));
            let Some((start, who)) = next else {
                self.hand = 0;
                return None;
            };
            from = start.wrapping_add(1);
            if who.is_some() {
                self.hand = from;
                return who;
            }
        }
    }
}

fn no_range(error: NoRange) -> Error {
    match error {
        NoRange::Invalid => EINVAL,
        NoRange::Full => ENOSPC,
        NoRange::NoNode => ENOMEM,
    }
}
