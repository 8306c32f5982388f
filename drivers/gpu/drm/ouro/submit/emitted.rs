// SPDX-License-Identifier: GPL-2.0

//! The state of a request since its emission.

use kernel::sync::atomic::{ordering, Atomic};
use ouro_core::hang::Run;
use ouro_hw::types::{RingOffset, Seqno};

/// The state of a request since its emission. Only the engine's queue changes it, under its lock,
/// or the reset that has taken the request out of the queue.
pub(super) struct Emitted {
    number: Atomic<u32>,
    tail: Atomic<u32>,
    at: Atomic<u64>,
    ran: Atomic<u64>,
    /// [`Run::ends`].
    ends: Atomic<bool>,
    tried: Atomic<bool>,
    lost: Atomic<bool>,
    /// Zero: there is no limit.
    watched: Atomic<u32>,
}

impl Emitted {
    pub(super) fn new() -> Self {
        Self {
            number: Atomic::new(0),
            tail: Atomic::new(0),
            at: Atomic::new(0),
            ran: Atomic::new(0),
            ends: Atomic::new(false),
            tried: Atomic::new(false),
            lost: Atomic::new(false),
            watched: Atomic::new(0),
        }
    }

    /// It was emitted at `at`, in nanoseconds, up to a tail, with a watchdog limit in microseconds.
    pub(super) fn set(&self, number: Seqno, tail: RingOffset, at: u64, watched: Option<u32>) {
        self.set_number(number);
        self.tail.store(tail.0, ordering::Relaxed);
        self.at.store(at, ordering::Relaxed);
        self.set_ran(0);
        self.ends.store(false, ordering::Relaxed);
        self.watched.store(watched.unwrap_or(0), ordering::Relaxed);
    }

    /// Returns its engine seqno. On a ring, it is the seqno that the ring stores.
    pub(super) fn number(&self) -> Seqno {
        Seqno(self.number.load(ordering::Relaxed))
    }

    pub(super) fn set_number(&self, number: Seqno) {
        self.number.store(number.0, ordering::Relaxed);
    }

    /// Returns the ring's tail behind it.
    pub(super) fn tail(&self) -> RingOffset {
        RingOffset(self.tail.load(ordering::Relaxed))
    }

    /// Returns when it was emitted, in nanoseconds.
    pub(super) fn at(&self) -> u64 {
        self.at.load(ordering::Relaxed)
    }

    /// Returns for how many nanoseconds it has run, on execlist engines.
    pub(super) fn ran(&self) -> u64 {
        self.ran.load(ordering::Relaxed)
    }

    pub(super) fn set_ran(&self, ns: u64) {
        self.ran.store(ns, ordering::Relaxed);
    }

    /// The tick sees it as the oldest on its engine, and it must end or not. Returns for how many
    /// nanoseconds it has run, as its limit counts it.
    pub(super) fn seen(&self, ends: bool) -> u64 {
        let run = Run {
            ran: self.ran(),
            ends: self.ends.load(ordering::Relaxed),
        };
        let Run { ran, ends } = run.seen(ends);
        self.set_ran(ran);
        self.ends.store(ends, ordering::Relaxed);
        ran
    }

    /// Returns the watchdog limit of its batch, in microseconds.
    pub(super) fn watched(&self) -> Option<u32> {
        Some(self.watched.load(ordering::Relaxed)).filter(|micros| *micros != 0)
    }

    /// Returns whether it has hung, and is not run again.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(ordering::Relaxed)
    }

    /// It has hung. A client's is lost; one of the kernel's own, which gets a second try, if it
    /// `hangs` for the second time. Returns whether it is lost.
    pub(super) fn give_up(&self, is_client: bool, hangs: bool) -> bool {
        let lost = is_client || (hangs && self.tried.load(ordering::Relaxed));
        self.lost.store(lost, ordering::Relaxed);
        if hangs {
            self.tried.store(true, ordering::Relaxed);
        }
        lost
    }
}
