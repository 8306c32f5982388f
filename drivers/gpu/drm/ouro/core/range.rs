// SPDX-License-Identifier: GPL-2.0
//! Allocation of address ranges: a balanced tree of the holes, by address; each node knows the
//! longest hole in its subtree.
//!
//! Finding, allocating and freeing a range costs the logarithm of the number of holes, whatever the
//! number of objects (only a nearly full space with large alignments is searched longer). Nodes are
//! in an [`Arena`] of the caller's, which grows before a lock is taken: neither [`Ranges::take`]
//! nor [`Ranges::give`] allocates. There is at most one hole more than there are allocated ranges,
//! so one node for each allocated range, and one more, always suffice.
//!
//! Ranges have [colours](Colour). A hole knows the colours beside it, and each node the longest
//! room in its subtree for either colour, so the search costs the same.

use core::ops::Range;

/// The colour of a range. Between ranges of different colours at least one unit stays free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Colour {
    /// The colour of most ranges.
    #[default]
    Plain,
    /// The other one.
    Other,
}

/// A free range.
#[derive(Clone, Copy, Debug, Default)]
struct Hole {
    start: u64,
    len: u64,
    /// Colours of the ranges below and above it; `None` at the ends of the space.
    beside: [Option<Colour>; 2],
}

impl Hole {
    fn end(&self) -> u64 {
        self.start.saturating_add(self.len)
    }

    /// Returns where a range of a colour can be. It may end before it starts.
    fn room(&self, colour: Colour) -> (u64, u64) {
        let gap = |beside: Option<Colour>| u64::from(beside.is_some_and(|other| other != colour));
        let [below, above] = self.beside;
        (
            self.start.saturating_add(gap(below)),
            self.end().saturating_sub(gap(above)),
        )
    }

    /// Returns the longest room for each colour.
    fn rooms(&self) -> [u64; 2] {
        [Colour::Plain, Colour::Other].map(|colour| {
            let (start, end) = self.room(colour);
            end.saturating_sub(start)
        })
    }
}

/// A node of the tree: a hole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    hole: Hole,
    /// The longest room for each colour in this subtree.
    longest: [u64; 2],
    left: Link,
    right: Link,
    height: u8,
}

impl Node {
    fn longest(&self, colour: Colour) -> u64 {
        let [plain, other] = self.longest;
        match colour {
            Colour::Plain => plain,
            Colour::Other => other,
        }
    }
}

/// Index of a node plus one; zero is no node.
type Link = u32;

/// The memory of the nodes: a growable array.
pub trait Arena {
    /// Returns the nodes.
    fn nodes(&self) -> &[Node];
    /// Returns the nodes for writing.
    fn nodes_mut(&mut self) -> &mut [Node];
}

/// Why no range was allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoRange {
    /// Size or alignment is zero, the alignment is no power of two, or the limits are reversed.
    Invalid,
    /// No hole is large enough.
    Full,
    /// The arena must grow first.
    NoNode,
}

/// The range to allocate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Want {
    /// Size in the caller's unit: bytes or entries.
    pub size: u64,
    /// Alignment, a power of two.
    pub align: u64,
    /// Half-open interval in which the range must lie.
    pub within: (u64, u64),
}

impl Want {
    /// Returns `start` if the range may start there.
    pub fn at(&self, start: u64) -> Option<u64> {
        let (lo, hi) = self.within;
        let end = start.checked_add(self.size)?;
        let fits = start >= lo && end <= hi && start & self.align.checked_sub(1)? == 0;
        fits.then_some(start)
    }
}

/// The allocator.
#[derive(Debug)]
pub struct Ranges<A> {
    arena: A,
    root: Link,
    /// Nodes that are not in the tree, linked by `right`.
    unused: Link,
    /// How many nodes of the arena have been linked in so far.
    known: usize,
    taken: usize,
    free: u64,
    whole: Range<u64>,
}

impl<A: Arena> Ranges<A> {
    /// Creates an allocator in which all of `whole` is free. If the arena has no node, the
    /// allocator is empty and refuses everything.
    pub fn new(arena: A, whole: Range<u64>) -> Self {
        let mut this = Self {
            arena,
            root: 0,
            unused: 0,
            known: 0,
            taken: 0,
            free: 0,
            whole: whole.clone(),
        };
        this.adopt();
        if whole.start < whole.end && this.unused != 0 {
            let len = whole.end - whole.start;
            let hole = Hole {
                start: whole.start,
                len,
                beside: [None; 2],
            };
            this.root = this.insert(this.root, hole);
            this.free = len;
        }
        this
    }

    /// Returns the arena, so that it can grow.
    pub fn arena_mut(&mut self) -> &mut A {
        &mut self.arena
    }

    /// Returns the number of nodes that the arena must have before the next [`take`](Self::take).
    pub fn nodes_wanted(&self) -> usize {
        self.taken.saturating_add(3)
    }

    /// Returns the sum of the holes' lengths.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Returns the number of allocated ranges.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Returns the length of the longest room for a plain range.
    pub fn longest(&self) -> u64 {
        self.node(self.root).map_or(0, |n| n.longest(Colour::Plain))
    }

    /// Returns whether `size` units from `start` on are free and lie in the space.
    pub fn is_free(&self, start: u64, size: u64) -> bool {
        let Some(end) = start.checked_add(size) else {
            return false;
        };
        self.hole_at(start).is_some_and(|hole| end <= hole.end())
    }

    /// Allocates the lowest plain range that fits (or nearly the lowest: a hole that fits at any
    /// alignment is preferred to a search).
    pub fn take(&mut self, want: &Want) -> Result<u64, NoRange> {
        self.take_of(want, Colour::Plain)
    }

    /// Allocates a range of a colour, as [`take`](Self::take) does.
    pub fn take_of(&mut self, want: &Want, colour: Colour) -> Result<u64, NoRange> {
        let (lo, hi) = want.within;
        if want.size == 0 || !want.align.is_power_of_two() || lo >= hi {
            return Err(NoRange::Invalid);
        }
        self.room()?;
        // A hole this long fits however it is aligned, and the tree finds it without a search.
        let sure = want.size.checked_add(want.align - 1);
        let start = sure
            .and_then(|sure| self.find(self.root, want, colour, sure))
            .or_else(|| self.find(self.root, want, colour, want.size))
            .ok_or(NoRange::Full)?;
        self.take_at_of(start, want.size, colour)?;
        Ok(start)
    }

    /// Allocates the plain range at `start`.
    pub fn take_at(&mut self, start: u64, size: u64) -> Result<(), NoRange> {
        self.take_at_of(start, size, Colour::Plain)
    }

    /// Allocates the range of a colour at `start`. [`NoRange::Full`] also means that it would touch
    /// one of the other colour.
    pub fn take_at_of(&mut self, start: u64, size: u64, colour: Colour) -> Result<(), NoRange> {
        let end = start.checked_add(size).ok_or(NoRange::Invalid)?;
        if size == 0 {
            return Err(NoRange::Invalid);
        }
        self.room()?;
        let hole = self.hole_at(start).ok_or(NoRange::Full)?;
        let (first, last) = hole.room(colour);
        if start < first || end > last {
            return Err(NoRange::Full);
        }
        let [below, above] = hole.beside;
        self.root = self.remove(self.root, hole.start);
        if hole.start < start {
            let rest = Hole {
                len: start - hole.start,
                beside: [below, Some(colour)],
                ..hole
            };
            self.root = self.insert(self.root, rest);
        }
        if end < hole.end() {
            let rest = Hole {
                start: end,
                len: hole.end() - end,
                beside: [Some(colour), above],
            };
            self.root = self.insert(self.root, rest);
        }
        self.free -= size;
        self.taken += 1;
        Ok(())
    }

    /// Frees an allocated plain range as a whole.
    ///
    /// Returns false, and does nothing, if any of it is free already or outside.
    pub fn give(&mut self, start: u64, size: u64) -> bool {
        self.give_of(start, size, Colour::Plain)
    }

    /// Frees an allocated range of a colour, as [`give`](Self::give) does.
    pub fn give_of(&mut self, start: u64, size: u64, colour: Colour) -> bool {
        let Some(end) = start.checked_add(size) else {
            return false;
        };
        if size == 0 || start < self.whole.start || end > self.whole.end || self.taken == 0 {
            return false;
        }
        // A range that touches this one has its colour.
        let mut new = (start, end);
        let mut beside = [
            (start > self.whole.start).then_some(colour),
            (end < self.whole.end).then_some(colour),
        ];
        if let Some(hole) = self.hole_below(end) {
            if hole.end() > start {
                return false;
            }
            if hole.end() == start {
                self.root = self.remove(self.root, hole.start);
                new.0 = hole.start;
                beside = [hole.beside[0], beside[1]];
            }
        }
        if let Some(hole) = self.hole_at(end).filter(|hole| hole.start == end) {
            self.root = self.remove(self.root, hole.start);
            new.1 = hole.end();
            beside = [beside[0], hole.beside[1]];
        }
        let hole = Hole {
            start: new.0,
            len: new.1 - new.0,
            beside,
        };
        self.root = self.insert(self.root, hole);
        self.free += size;
        self.taken -= 1;
        true
    }

    /// Makes sure that a hole can be split in two now, and that all ranges can be freed later.
    fn room(&mut self) -> Result<(), NoRange> {
        self.adopt();
        if self.arena.nodes().len() < self.nodes_wanted() {
            return Err(NoRange::NoNode);
        }
        Ok(())
    }

    /// Adds new nodes of the arena to the unused ones.
    fn adopt(&mut self) {
        while let Some(node) = self.arena.nodes_mut().get_mut(self.known) {
            *node = Node {
                right: self.unused,
                ..Node::default()
            };
            self.known += 1;
            self.unused = self.known as Link;
        }
    }

    fn node(&self, link: Link) -> Option<&Node> {
        self.arena.nodes().get((link as usize).wrapping_sub(1))
    }

    fn node_mut(&mut self, link: Link) -> Option<&mut Node> {
        self.arena
            .nodes_mut()
            .get_mut((link as usize).wrapping_sub(1))
    }

    /// Returns the lowest start of a range that meets `want` in a hole with room for at least
    /// `min`.
    fn find(&self, link: Link, want: &Want, colour: Colour, min: u64) -> Option<u64> {
        let n = self.node(link)?;
        if n.longest(colour) < min {
            return None;
        }
        let (start, end) = n.hole.room(colour);
        let (lo, hi) = want.within;
        // Holes to the left start lower; they matter only if they reach above the limit.
        if n.hole.start > lo {
            if let Some(start) = self.find(n.left, want, colour, min) {
                return Some(start);
            }
        }
        if end.saturating_sub(start) >= min {
            if let Some(start) = fit(start, end, want) {
                return Some(start);
            }
        }
        if n.hole.start < hi {
            return self.find(n.right, want, colour, min);
        }
        None
    }

    /// Returns the hole that contains `at`.
    fn hole_at(&self, at: u64) -> Option<Hole> {
        let hole = self.hole_below(at.checked_add(1)?)?;
        (at < hole.end()).then_some(hole)
    }

    /// Returns the last hole that starts below `at`.
    fn hole_below(&self, at: u64) -> Option<Hole> {
        let mut link = self.root;
        let mut best = None;
        while let Some(n) = self.node(link) {
            if n.hole.start < at {
                best = Some(n.hole);
                link = n.right;
            } else {
                link = n.left;
            }
        }
        best
    }

    fn height(&self, link: Link) -> u8 {
        self.node(link).map_or(0, |n| n.height)
    }

    /// Recomputes the cached properties of a node's subtree.
    fn update(&mut self, link: Link) {
        let Some(&n) = self.node(link) else { return };
        let height = self
            .height(n.left)
            .max(self.height(n.right))
            .saturating_add(1);
        let below = |l| self.node(l).map_or([0; 2], |n| n.longest);
        let [here, left, right] = [n.hole.rooms(), below(n.left), below(n.right)];
        let longest = [
            here[0].max(left[0]).max(right[0]),
            here[1].max(left[1]).max(right[1]),
        ];
        if let Some(n) = self.node_mut(link) {
            n.height = height;
            n.longest = longest;
        }
    }

    fn left(&self, link: Link) -> Link {
        self.node(link).map_or(0, |n| n.left)
    }

    fn right(&self, link: Link) -> Link {
        self.node(link).map_or(0, |n| n.right)
    }

    fn set_left(&mut self, link: Link, to: Link) {
        if let Some(n) = self.node_mut(link) {
            n.left = to;
        }
    }

    fn set_right(&mut self, link: Link, to: Link) {
        if let Some(n) = self.node_mut(link) {
            n.right = to;
        }
    }

    fn rotate_right(&mut self, link: Link) -> Link {
        let up = self.left(link);
        self.set_left(link, self.right(up));
        self.set_right(up, link);
        self.update(link);
        self.update(up);
        up
    }

    fn rotate_left(&mut self, link: Link) -> Link {
        let up = self.right(link);
        self.set_right(link, self.left(up));
        self.set_left(up, link);
        self.update(link);
        self.update(up);
        up
    }

    /// Restores the balance at a node whose subtrees differ by two at most.
    fn balance(&mut self, link: Link) -> Link {
        self.update(link);
        let (l, r) = (self.left(link), self.right(link));
        let (hl, hr) = (self.height(l), self.height(r));
        if hl > hr.saturating_add(1) {
            if self.height(self.left(l)) < self.height(self.right(l)) {
                let up = self.rotate_left(l);
                self.set_left(link, up);
            }
            self.rotate_right(link)
        } else if hr > hl.saturating_add(1) {
            if self.height(self.right(r)) < self.height(self.left(r)) {
                let up = self.rotate_right(r);
                self.set_right(link, up);
            }
            self.rotate_left(link)
        } else {
            link
        }
    }

    /// Inserts a hole; returns the new root of the subtree. The depth of the recursion is that of
    /// a balanced tree.
    fn insert(&mut self, link: Link, hole: Hole) -> Link {
        let Some(&n) = self.node(link) else {
            let new = self.unused;
            let next = self.right(new);
            if let Some(n) = self.node_mut(new) {
                *n = Node {
                    hole,
                    longest: hole.rooms(),
                    left: 0,
                    right: 0,
                    height: 1,
                };
                self.unused = next;
            }
            return new;
        };
        if hole.start < n.hole.start {
            let l = self.insert(n.left, hole);
            self.set_left(link, l);
        } else {
            let r = self.insert(n.right, hole);
            self.set_right(link, r);
        }
        self.balance(link)
    }

    /// Removes the hole that starts at `start`; returns the new root of the subtree.
    fn remove(&mut self, link: Link, start: u64) -> Link {
        let Some(&n) = self.node(link) else { return 0 };
        if start < n.hole.start {
            let l = self.remove(n.left, start);
            self.set_left(link, l);
        } else if start > n.hole.start {
            let r = self.remove(n.right, start);
            self.set_right(link, r);
        } else {
            if n.left == 0 || n.right == 0 {
                let rest = n.left | n.right;
                self.discard(link);
                return rest;
            }
            // The next hole takes this one's place.
            let mut next = n.right;
            while self.left(next) != 0 {
                next = self.left(next);
            }
            let Some(&m) = self.node(next) else {
                return link;
            };
            let r = self.remove(n.right, m.hole.start);
            if let Some(n) = self.node_mut(link) {
                n.hole = m.hole;
                n.right = r;
            }
        }
        self.balance(link)
    }

    fn discard(&mut self, link: Link) {
        let unused = self.unused;
        if let Some(n) = self.node_mut(link) {
            *n = Node {
                right: unused,
                ..Node::default()
            };
            self.unused = link;
        }
    }
}

/// Returns where `want` fits between `start` and `end`.
fn fit(start: u64, end: u64, want: &Want) -> Option<u64> {
    let (lo, hi) = want.within;
    let end = end.min(hi);
    let at = start.max(lo).checked_next_multiple_of(want.align)?;
    (at.checked_add(want.size)? <= end).then_some(at)
}

#[cfg(test)]
mod tests;
