// SPDX-License-Identifier: GPL-2.0
//! Pairing heaps of nodes in an array: the minimum is found at once, any node is removed in
//! logarithmic time on average. No operation allocates or recurses. A node is in one heap at a
//! time.

/// Index of a node plus one; zero is no node.
pub(crate) type Link = u32;

/// The links of a node in its heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Links {
    /// The first child.
    child: Link,
    /// The next child of the same parent.
    next: Link,
    /// The previous child of the same parent; for a first child, the parent.
    before: Link,
}

/// A node of a heap.
pub(crate) trait Node {
    /// The sort key.
    type Key: Ord;
    /// Returns the sort key.
    fn key(&self) -> Self::Key;
    /// Returns the links.
    fn links(&mut self) -> &mut Links;
}

#[inline]
fn get<N>(nodes: &mut [N], link: Link) -> Option<&mut N> {
    nodes.get_mut((link as usize).checked_sub(1)?)
}

#[inline]
fn links<N: Node>(nodes: &mut [N], link: Link) -> Links {
    get(nodes, link).map_or(Links::default(), |n| *n.links())
}

#[inline]
fn change<N: Node>(nodes: &mut [N], link: Link, change: impl FnOnce(&mut Links)) {
    if let Some(node) = get(nodes, link) {
        change(node.links());
    }
}

#[inline]
fn key<N: Node>(nodes: &mut [N], link: Link) -> Option<N::Key> {
    get(nodes, link).map(|n| n.key())
}

/// Melds two heaps; returns the root.
fn meld<N: Node>(nodes: &mut [N], a: Link, b: Link) -> Link {
    if a == 0 || b == 0 {
        return a | b;
    }
    let (root, under) = match key(nodes, b) < key(nodes, a) {
        true => (b, a),
        false => (a, b),
    };
    let first = links(nodes, root).child;
    change(nodes, first, |l| l.before = under);
    change(nodes, under, |l| {
        l.next = first;
        l.before = root;
    });
    change(nodes, root, |l| {
        l.child = under;
        l.next = 0;
        l.before = 0;
    });
    root
}

/// Melds a list of siblings into one heap: first in pairs, then from the last pair to the first.
fn gather<N: Node>(nodes: &mut [N], mut first: Link) -> Link {
    let mut pairs = 0;
    while first != 0 {
        let second = links(nodes, first).next;
        let rest = links(nodes, second).next;
        for one in [first, second] {
            change(nodes, one, |l| {
                l.next = 0;
                l.before = 0;
            });
        }
        let pair = meld(nodes, first, second);
        change(nodes, pair, |l| l.next = pairs);
        pairs = pair;
        first = rest;
    }
    let mut root = 0;
    while pairs != 0 {
        let rest = links(nodes, pairs).next;
        change(nodes, pairs, |l| l.next = 0);
        root = meld(nodes, root, pairs);
        pairs = rest;
    }
    root
}

/// Inserts a node that is in no heap; returns the new root.
pub(crate) fn push<N: Node>(nodes: &mut [N], root: Link, node: Link) -> Link {
    change(nodes, node, |l| *l = Links::default());
    meld(nodes, root, node)
}

/// Removes a node from the heap that it is in; returns the new root.
pub(crate) fn remove<N: Node>(nodes: &mut [N], root: Link, node: Link) -> Link {
    let Links {
        child,
        next,
        before,
    } = links(nodes, node);
    change(nodes, node, |l| *l = Links::default());
    let children = gather(nodes, child);
    if node == root {
        return children;
    }
    change(nodes, next, |l| l.before = before);
    change(nodes, before, |l| match l.child == node {
        true => l.child = next,
        false => l.next = next,
    });
    meld(nodes, root, children)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{collections::BTreeSet, vec, vec::Vec};

    #[derive(Clone, Default)]
    struct Number(u32, Links);

    impl Node for Number {
        type Key = u32;
        fn key(&self) -> u32 {
            self.0
        }
        fn links(&mut self) -> &mut Links {
            &mut self.1
        }
    }

    proptest! {
        #[test]
        fn the_least_is_the_root(
            calls in proptest::collection::vec((any::<u32>(), 0u32..40), 0..300),
        ) {
            let mut nodes = vec![Number::default(); 40];
            let (mut root, mut there) = (0, BTreeSet::new());
            for (value, n) in calls {
                let old = nodes[n as usize].0;
                if there.remove(&(old, n)) {
                    root = remove(&mut nodes, root, n + 1);
                } else {
                    nodes[n as usize].0 = value;
                    there.insert((value, n));
                    root = push(&mut nodes, root, n + 1);
                }
                let least = there.first().map(|f| f.0);
                prop_assert_eq!(key(&mut nodes, root), least);
            }
            // The nodes come out in order.
            let expected: Vec<u32> = there.iter().map(|t| t.0).collect();
            let mut found = Vec::new();
            while let Some(k) = key(&mut nodes, root) {
                found.push(k);
                let least = root;
                root = remove(&mut nodes, root, least);
            }
            prop_assert_eq!(found, expected);
        }
    }
}
