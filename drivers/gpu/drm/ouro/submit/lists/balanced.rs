// SPDX-License-Identifier: GPL-2.0

//! Virtual engines: a slot of a context's engine map that stands for several engines of a class,
//! any of which may run what is submitted to it.
//!
//! To the engines a virtual engine is a context of its own: it has one order of requests, one ring
//! and one image. It has a seat on each of its engines ([`super::seats`]), and one of them has its
//! requests at a time. Which one is decided when requests become ready, and again whenever they
//! have to wait ([`super::balance`]).
//!
//! An engine that is in an engine map for the second time is a virtual engine of one, so that each
//! slot has its own order of requests and its own state.

use core::iter;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};

use super::super::{Context, Engine};

/// One engine of a virtual engine.
struct Sibling {
    engine: Arc<Engine>,
    /// Context id of the virtual engine's seat there; zero before it has one.
    seat: Atomic<u32>,
}

impl Sibling {
    fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            seat: Atomic::new(0),
        }
    }
}

/// The engines of a virtual engine.
pub(crate) struct Siblings {
    /// The engine that stands for all of them.
    first: Sibling,
    others: KVec<Sibling>,
    /// Number of the engine that has the requests. Changed under the device's exchange.
    now: Atomic<u32>,
}

impl Siblings {
    fn each(&self) -> impl Iterator<Item = &Sibling> {
        Iterator::chain(iter::once(&self.first), self.others.iter())
    }

    fn sibling(&self, number: u32) -> &Sibling {
        let other = (number as usize).checked_sub(1);
        let other = other.and_then(|at| self.others.get(at));
        other.unwrap_or(&self.first)
    }

    /// Returns all engines, each with its number.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, &Arc<Engine>)> {
        (0..).zip(self.each().map(|s| &s.engine))
    }

    /// Returns the engine of a number.
    pub(in crate::submit) fn at(&self, number: u32) -> &Arc<Engine> {
        &self.sibling(number).engine
    }

    /// Returns the virtual engine's context id on an engine.
    pub(in crate::submit) fn seat(&self, number: u32) -> u32 {
        self.sibling(number).seat.load(ordering::Relaxed)
    }

    /// Sets the virtual engine's context id on an engine.
    pub(in crate::submit) fn set_seat(&self, number: u32, seat: u32) {
        self.sibling(number).seat.store(seat, ordering::Relaxed);
    }

    /// Returns the number of the engine that has the requests.
    pub(in crate::submit) fn now(&self) -> u32 {
        self.now.load(ordering::Acquire)
    }

    /// Sets the number of the engine that has the requests. The caller holds the exchange.
    pub(in crate::submit) fn set_now(&self, number: u32) {
        self.now.store(number, ordering::Release);
    }
}

impl Drop for Siblings {
    fn drop(&mut self) {
        for (_, engine) in self.all() {
            engine.leave_part();
        }
    }
}

/// The destination of requests.
#[derive(Clone)]
pub(crate) enum Target {
    /// One engine.
    One(Arc<Engine>),
    /// One of several engines.
    Any(Arc<Siblings>),
}

impl Target {
    /// Creates the target of a list of engines. Errors: `EINVAL` if it is empty, `ENOMEM`.
    pub(crate) fn any(mut engines: KVec<Arc<Engine>>) -> Result<Self> {
        let first = engines.remove(0).map_err(|_| EINVAL)?;
        if engines.is_empty() {
            return Ok(Self::One(first));
        }
        let mut others = KVec::with_capacity(engines.len(), GFP_KERNEL_ACCOUNT)?;
        for other in engines {
            others.push(Sibling::new(other), GFP_KERNEL_ACCOUNT)?;
        }
        let siblings = Siblings {
            first: Sibling::new(first),
            others,
            now: Atomic::new(0),
        };
        for (_, engine) in siblings.all() {
            engine.take_part();
        }
        Ok(Self::Any(Arc::new(siblings, GFP_KERNEL_ACCOUNT)?))
    }

    /// Returns the engine that stands for the target: timelines are identified by its number.
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        match self {
            Self::One(engine) => engine,
            Self::Any(siblings) => &siblings.first.engine,
        }
    }

    /// Retires completed requests on all of its engines.
    pub(crate) fn advance(&self) {
        let one = |engine: &Arc<Engine>| {
            let _ = engine.advance();
        };
        match self {
            Self::One(engine) => one(engine),
            Self::Any(siblings) => siblings.all().for_each(|(_, engine)| one(engine)),
        }
    }

    /// Returns the engines, if there are several.
    pub(crate) fn siblings(&self) -> Option<&Arc<Siblings>> {
        match self {
            Self::One(_) => None,
            Self::Any(siblings) => Some(siblings),
        }
    }
}

/// A virtual engine of a context.
pub(crate) struct Balanced {
    part: Arc<Context>,
    target: Target,
}

impl Balanced {
    /// Creates a virtual engine of these engines. Errors: `EINVAL` if there are none, `ENOMEM`.
    pub(crate) fn new(context: &Context, engines: KVec<Arc<Engine>>) -> Result<Self> {
        Ok(Self {
            part: context.part()?,
            target: Target::any(engines)?,
        })
    }

    /// Returns the part of the context that runs there.
    pub(crate) fn part(&self) -> &Arc<Context> {
        &self.part
    }

    /// Returns the destination of its requests.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }
}
