// SPDX-License-Identifier: GPL-2.0

//! The time that engines have worked for a client.
//!
//! Time is measured without touching the device: a request has its engine from when it was emitted,
//! or the one before it was seen to be done, until it is itself seen to be done.

use kernel::sync::atomic::{ordering, Atomic};
use ouro_hw::EngineClass;

/// Classes of engines.
const CLASSES: usize = 5;

/// The time that engines have worked for a client.
pub(crate) struct Busy {
    /// Nanoseconds, by class.
    ns: [Atomic<u64>; CLASSES],
}

impl Busy {
    /// Returns a sum of zero for each class.
    pub(crate) fn new() -> Self {
        Self {
            ns: core::array::from_fn(|_| Atomic::new(0)),
        }
    }

    /// An engine has worked for so many nanoseconds. Any context.
    pub(crate) fn add(&self, class: EngineClass, ns: u64) {
        if let Some(sum) = self.ns.get(class as usize) {
            sum.fetch_add(ns, ordering::Relaxed);
        }
    }

    /// Returns the nanoseconds that engines of a class have worked.
    pub(crate) fn get(&self, class: EngineClass) -> u64 {
        let sum = self.ns.get(class as usize);
        sum.map_or(0, |sum| sum.load(ordering::Relaxed))
    }
}
