// SPDX-License-Identifier: GPL-2.0

//! The occupants of pages: of an address space, or of a region of memory.
//!
//! Occupants are found by page, so that some can be evicted. The search for a victim goes around
//! like the hand of a clock: an occupant used since the last time is skipped once.

use core::ops::Range;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    prelude::*,
    rbtree::{RBTree, RBTreeNode, RBTreeNodeReservation},
};
use ouro_core::range::{Arena, Colour, NoRange, Node, Ranges, Want};

/// The nodes of the range allocator.
struct Nodes(KVVec<Node>);

impl Arena for Nodes {
    fn nodes(&self) -> &[Node] {
        &self.0
    }

    fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.0
    }
}

/// An occupant of pages that can be evicted. Its type is the upper layers' business: BOs and
/// context images.
pub(crate) trait Tenant: Clone + Unpin {
    /// A reference that keeps it alive.
    type Kept;

    /// Returns a reference that keeps it alive; `None` if it is being destroyed.
    fn upgrade(&self) -> Option<Self::Kept>;
}

/// The occupant of a range of pages.
pub(crate) enum Occupant<K> {
    /// An occupant that can be evicted.
    Kept(K),
    /// An occupant that is being destroyed, and frees the pages soon.
    Leaving,
    /// An occupant that cannot be evicted: the pages are the kernel's, or do not exist.
    Fixed,
    /// The range is free.
    Nobody,
}

/// No occupant can be evicted.
impl Tenant for () {
    type Kept = ();

    fn upgrade(&self) -> Option<()> {
        None
    }
}

/// An occupant of pages.
struct Resident<T> {
    count: u64,
    colour: Colour,
    who: T,
}

/// The node of a new occupant, allocated before a lock is taken.
pub(crate) struct Entrance<T> {
    who: T,
    node: RBTreeNodeReservation<u64, Resident<T>>,
}

impl<T: Tenant> Entrance<T> {
    /// Allocates the node of a new occupant, charged to the caller's memory cgroup. Errors:
    /// `ENOMEM`.
    pub(crate) fn new(who: T) -> Result<Self> {
        Ok(Self {
            who,
            node: RBTreeNodeReservation::new(GFP_KERNEL_ACCOUNT)?,
        })
    }
}

/// The node of a removed occupant, to be dropped without a lock.
pub(crate) struct Departed<T> {
    _node: Option<RBTreeNode<u64, Resident<T>>>,
}

/// The pages and their occupants.
pub(crate) struct Population<T> {
    ranges: Ranges<Nodes>,
    /// Occupants by their first page.
    residents: RBTree<u64, Resident<T>>,
    /// The clock hand: where the search for the next victim starts.
    hand: u64,
}

impl<T: Tenant> Population<T> {
    /// Creates a population of free pages. Errors: `ENOMEM`.
    pub(crate) fn new(pages: Range<u64>) -> Result<Self> {
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

    /// Allocates pages of a colour in the first of some places that has room.
    ///
    /// Errors: `ENOSPC` if none has, `EINVAL` if the last one is invalid, `ENOMEM`.
    pub(crate) fn take(&mut self, places: &[Want], colour: Colour) -> Result<u64> {
        self.grow()?;
        let mut last = NoRange::Full;
        for want in places {
            match self.ranges.take_of(want, colour) {
                Ok(first) => return Ok(first),
                Err(e) => last = e,
            }
        }
        Err(no_range(last))
    }

    /// Allocates `count` pages of a colour from `first` on. Errors: as [`take`](Self::take).
    pub(crate) fn take_at(&mut self, first: u64, count: u64, colour: Colour) -> Result<u64> {
        self.grow()?;
        self.ranges
            .take_at_of(first, count, colour)
            .map_err(no_range)?;
        Ok(first)
    }

    /// Records the occupant of allocated pages of a colour.
    pub(crate) fn enter(&mut self, first: u64, count: u64, colour: Colour, entrance: Entrance<T>) {
        let Entrance { who, node } = entrance;
        let resident = Resident { count, colour, who };
        self.residents.insert(node.into_node(first, resident));
    }

    /// Frees allocated pages of a colour.
    pub(crate) fn give(&mut self, first: u64, count: u64, colour: Colour) -> Departed<T> {
        self.ranges.give_of(first, count, colour);
        Departed {
            _node: self.residents.remove_node(&first),
        }
    }

    /// Returns the number of free pages.
    pub(crate) fn free(&self) -> u64 {
        self.ranges.free()
    }

    /// Returns the number of allocated ranges, an upper limit of the number of occupants.
    pub(crate) fn taken(&self) -> usize {
        self.ranges.taken()
    }

    /// Returns an occupant that is in the way of `count` pages of a colour from `first` on,
    /// preferably one that can be evicted: it has some of them, or touches them and has another
    /// colour.
    pub(crate) fn occupant(&self, first: u64, count: u64, colour: Colour) -> Occupant<T::Kept> {
        let Some(behind) = first.checked_add(count) else {
            return Occupant::Fixed;
        };
        let look = |(start, resident): (&u64, &Resident<T>)| {
            let gap = u64::from(resident.colour != colour);
            let end = start.wrapping_add(resident.count);
            let in_the_way = *start < behind.saturating_add(gap) && end.saturating_add(gap) > first;
            (in_the_way || *start >= behind).then(|| {
                let who = in_the_way.then(|| resident.who.upgrade());
                (*start, who)
            })
        };
        let mut end = behind.saturating_add(1);
        let mut leaves = false;
        loop {
            // The last occupant that starts before the end is in the way, or none is; but one that
            // only touches the pages may have their colour.
            let last = match self.residents.cursor_lower_bound(&end) {
                Some(next) => next.peek_prev().and_then(look),
                None => self
                    .residents
                    .cursor_back()
                    .and_then(|last| look(last.current())),
            };
            match last {
                Some((_, Some(Some(who)))) => return Occupant::Kept(who),
                Some((start, in_the_way)) => {
                    leaves |= in_the_way.is_some();
                    end = start;
                }
                None if leaves => return Occupant::Leaving,
                None if self.ranges.is_free(first, count) => return Occupant::Nobody,
                None => return Occupant::Fixed,
            }
        }
    }

    /// Returns whether an occupant is being destroyed and still has pages. Linear in the occupants.
    pub(crate) fn anybody_leaves(&self) -> bool {
        self.residents
            .values()
            .any(|resident| resident.who.upgrade().is_none())
    }

    /// Returns the first occupant that starts at `page` or later, and its first page.
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

    /// Returns the next victim. `population` calls visit all occupants once. `None` at the end of
    /// the pages; the next call starts at the beginning.
    pub(crate) fn next_victim(&mut self) -> Option<T::Kept> {
        self.next_victim_in(&(0..u64::MAX))
    }

    /// Returns the next victim whose first page is in a range: as
    /// [`next_victim`](Self::next_victim).
    pub(crate) fn next_victim_in(&mut self, within: &Range<u64>) -> Option<T::Kept> {
        let mut from = self.hand.max(within.start);
        loop {
            let next = self
                .residents
                .cursor_lower_bound(&from)
                .map(|c| (*c.current().0, c.current().1.who.upgrade()))
                .filter(|(start, _)| *start < within.end);
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
