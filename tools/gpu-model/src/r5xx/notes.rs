// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A set of notes that a program of a shader machine has earned.

use std::{fmt::Debug, marker::PhantomData};

/// A kind of note: no more than 32 there are, each with a number of its own.
pub trait Kind: Copy + Debug + 'static {
    /// All of them, in order.
    const ALL: &'static [Self];

    /// Its place among them.
    fn number(self) -> u8;
}

/// A set of notes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Set<N>(u32, PhantomData<N>);

impl<N: Kind> Set<N> {
    /// No note.
    pub const NONE: Self = Self(0, PhantomData);

    /// Takes one down.
    pub fn add(&mut self, note: N) {
        self.0 |= 1 << note.number();
    }

    /// Takes one down if it is so.
    pub fn add_if(&mut self, so: bool, note: N) {
        self.0 |= u32::from(so) << note.number();
    }

    /// Takes down what another set has.
    pub fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// True if a note is among them.
    pub fn has(self, note: N) -> bool {
        self.0 >> note.number() & 1 != 0
    }

    /// True if there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = N> {
        N::ALL.iter().copied().filter(move |n| self.has(*n))
    }
}

impl<N: Kind> Default for Set<N> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<N: Kind> Debug for Set<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<N: Kind> FromIterator<N> for Set<N> {
    fn from_iter<I: IntoIterator<Item = N>>(notes: I) -> Self {
        let mut all = Self::NONE;
        notes.into_iter().for_each(|n| all.add(n));
        all
    }
}
