// SPDX-License-Identifier: GPL-2.0

//! The allocator of ranges of pages: of an address space, or of a region of memory.
//!
//! The owners of ranges are found by page, so that some can be evicted. The search for a victim
//! goes around like the hand of a clock: an owner used since the last time is skipped once.

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

/// The owner of a range, which can be evicted. Its type is the upper layers' business: BOs and
/// context images.
pub(crate) trait RangeOwner: Clone + Unpin {
    /// A reference that keeps it alive.
    type Strong;

    /// Returns a reference that keeps it alive; `None` if it is being destroyed.
    fn upgrade(&self) -> Option<Self::Strong>;
}

/// The use of a range of pages.
pub(crate) enum RangeUse<K> {
    /// Its owner can be evicted.
    Evictable(K),
    /// Its owner is being destroyed, and frees the pages soon.
    Dying,
    /// It cannot be evicted: the pages are the kernel's, or do not exist.
    Pinned,
    /// It is free.
    Free,
}

/// No owner can be evicted.
impl RangeOwner for () {
    type Strong = ();

    fn upgrade(&self) -> Option<()> {
        None
    }
}

/// An allocated range that has an owner.
struct OwnedRange<T> {
    count: u64,
    colour: Colour,
    owner: T,
}

/// The node of a new owned range, allocated before a lock is taken.
pub(crate) struct ReservedNode<T> {
    owner: T,
    node: RBTreeNodeReservation<u64, OwnedRange<T>>,
}

impl<T: RangeOwner> ReservedNode<T> {
    /// Allocates the node of a new owned range, charged to the caller's memory cgroup. Errors:
    /// `ENOMEM`.
    pub(crate) fn new(owner: T) -> Result<Self> {
        Ok(Self {
            owner,
            node: RBTreeNodeReservation::new(GFP_KERNEL_ACCOUNT)?,
        })
    }
}

/// The node of a released range, to be dropped without a lock.
pub(crate) struct RemovedNode<T> {
    _node: Option<RBTreeNode<u64, OwnedRange<T>>>,
}

/// The pages, and the owners of ranges.
pub(crate) struct RangeAllocator<T> {
    ranges: Ranges<Nodes>,
    /// Owned ranges by their first page.
    owned: RBTree<u64, OwnedRange<T>>,
    /// The clock hand: where the search for the next victim starts.
    hand: u64,
}

impl<T: RangeOwner> RangeAllocator<T> {
    /// Creates an allocator of free pages. Errors: `ENOMEM`.
    pub(crate) fn new(pages: Range<u64>) -> Result<Self> {
        let mut nodes = Nodes(KVVec::new());
        nodes.0.push(Node::default(), GFP_KERNEL)?;
        Ok(Self {
            ranges: Ranges::new(nodes, pages),
            owned: RBTree::new(),
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

    /// Records the owner of allocated pages of a colour.
    pub(crate) fn insert_owner(
        &mut self,
        first: u64,
        count: u64,
        colour: Colour,
        node: ReservedNode<T>,
    ) {
        let ReservedNode { owner, node } = node;
        let range = OwnedRange {
            count,
            colour,
            owner,
        };
        self.owned.insert(node.into_node(first, range));
    }

    /// Frees allocated pages of a colour.
    pub(crate) fn release(&mut self, first: u64, count: u64, colour: Colour) -> RemovedNode<T> {
        self.ranges.give_of(first, count, colour);
        RemovedNode {
            _node: self.owned.remove_node(&first),
        }
    }

    /// Returns the number of free pages.
    pub(crate) fn free(&self) -> u64 {
        self.ranges.free()
    }

    /// Returns the number of allocated ranges, an upper limit of the number of owners.
    pub(crate) fn allocated_ranges(&self) -> usize {
        self.ranges.taken()
    }

    /// Returns the use of `count` pages of a colour from `first` on. If several owners are in the
    /// way, it is that of one that can be evicted, preferably: an owner has some of the pages, or
    /// touches them and has another colour.
    pub(crate) fn range_use(&self, first: u64, count: u64, colour: Colour) -> RangeUse<T::Strong> {
        let Some(behind) = first.checked_add(count) else {
            return RangeUse::Pinned;
        };
        let look = |(start, range): (&u64, &OwnedRange<T>)| {
            let gap = u64::from(range.colour != colour);
            let end = start.wrapping_add(range.count);
            let in_the_way = *start < behind.saturating_add(gap) && end.saturating_add(gap) > first;
            (in_the_way || *start >= behind).then(|| {
                let owner = in_the_way.then(|| range.owner.upgrade());
                (*start, owner)
            })
        };
        let mut end = behind.saturating_add(1);
        let mut dying = false;
        loop {
            // The last range that starts before the end is in the way, or none is; but one that
            // only touches the pages may have their colour.
            let last = match self.owned.cursor_lower_bound(&end) {
                Some(next) => next.peek_prev().and_then(look),
                None => self
                    .owned
                    .cursor_back()
                    .and_then(|last| look(last.current())),
            };
            match last {
                Some((_, Some(Some(owner)))) => return RangeUse::Evictable(owner),
                Some((start, in_the_way)) => {
                    dying |= in_the_way.is_some();
                    end = start;
                }
                None if dying => return RangeUse::Dying,
                None if self.ranges.is_free(first, count) => return RangeUse::Free,
                None => return RangeUse::Pinned,
            }
        }
    }

    /// Returns whether an owner is being destroyed and still has pages. Linear in the owned ranges.
    pub(crate) fn has_dying_owner(&self) -> bool {
        self.owned
            .values()
            .any(|range| range.owner.upgrade().is_none())
    }

    /// Returns the owner of the first range that starts at `page` or later, and its first page.
    pub(crate) fn first_owner_from(&mut self, page: u64) -> Option<(u64, T::Strong)> {
        let mut from = page;
        loop {
            let next = self.owned.cursor_lower_bound(&from)?;
            let (start, range) = next.current();
            if let Some(owner) = range.owner.upgrade() {
                return Some((*start, owner));
            }
            from = start.checked_add(1)?;
        }
    }

    /// Returns the next victim. `allocated_ranges` calls visit all owners once. `None` at the end
    /// of the pages; the next call starts at the beginning.
    pub(crate) fn next_victim(&mut self) -> Option<T::Strong> {
        self.next_victim_in(&(0..u64::MAX))
    }

    /// Returns the next victim whose first page is in a range: as
    /// [`next_victim`](Self::next_victim).
    pub(crate) fn next_victim_in(&mut self, within: &Range<u64>) -> Option<T::Strong> {
        let mut from = self.hand.max(within.start);
        loop {
            let next = self
                .owned
                .cursor_lower_bound(&from)
                .map(|c| (*c.current().0, c.current().1.owner.upgrade()))
                .filter(|(start, _)| *start < within.end);
            let Some((start, owner)) = next else {
                self.hand = 0;
                return None;
            };
            from = start.wrapping_add(1);
            if owner.is_some() {
                self.hand = from;
                return owner;
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
