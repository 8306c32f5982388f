// SPDX-License-Identifier: GPL-2.0

//! The time that engines have worked for a client (fdinfo).
//!
//! Time is measured without touching the device: a request has its engine from its emission, or the
//! completion of its predecessor, until its own completion is seen.

use kernel::sync::atomic::{ordering, Atomic};
use ouro_hw::EngineClass;

/// Number of engine classes.
const CLASSES: usize = 5;

/// The time that engines have worked for a client.
pub(crate) struct Busy {
    /// Nanoseconds, by class.
    ns: [Atomic<u64>; CLASSES],
}

impl Busy {
    /// Creates the sums, all zero.
    pub(crate) fn new() -> Self {
        Self {
            ns: core::array::from_fn(|_| Atomic::new(0)),
        }
    }

    /// Adds the time that an engine has worked. Any context.
    pub(crate) fn add(&self, class: EngineClass, ns: u64) {
        if let Some(sum) = self.ns.get(class as usize) {
            sum.fetch_add(ns, ordering::Relaxed);
        }
    }

    /// Returns the time that engines of a class have worked, in nanoseconds.
    pub(crate) fn get(&self, class: EngineClass) -> u64 {
        let sum = self.ns.get(class as usize);
        sum.map_or(0, |sum| sum.load(ordering::Relaxed))
    }
}
