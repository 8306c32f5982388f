// SPDX-License-Identifier: GPL-2.0

//! Virtual engines: a place in a context's list of engines that stands for several of a class, of which any
//! may run what is submitted there.
//!
//! A virtual engine is a part of its context: a context to the engines, with one order of requests, one ring
//! and one image. It is known to each of its engines ([`super::seats`]), and one of them has its requests at a
//! time: which, is settled when they are ready, and anew whenever they have to wait ([`super::balance`]).
//!
//! An engine that is in a list a second time is a virtual engine of one: so each place has an order of requests
//! and a state of its own.

use core::iter;
use kernel::{
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};

use super::super::{Context, Engine};

/// One of the engines.
struct Sibling {
    engine: Arc<Engine>,
    /// The number of the virtual engine's seat there; zero before it has one.
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

/// The engines of a virtual one.
pub(crate) struct Siblings {
    /// What is asked of any of them is asked of this one.
    first: Sibling,
    others: KVec<Sibling>,
    /// The number of the one that has the requests. Changed by who has the device's exchange.
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

    /// All of them, each with its number.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, &Arc<Engine>)> {
        (0..).zip(self.each().map(|s| &s.engine))
    }

    /// The one of a number.
    pub(in crate::submit) fn at(&self, number: u32) -> &Arc<Engine> {
        &self.sibling(number).engine
    }

    /// The number of the virtual engine's seat on the one of a number.
    pub(in crate::submit) fn seat(&self, number: u32) -> u32 {
        self.sibling(number).seat.load(ordering::Relaxed)
    }

    /// It has got this seat there.
    pub(in crate::submit) fn set_seat(&self, number: u32, seat: u32) {
        self.sibling(number).seat.store(seat, ordering::Relaxed);
    }

    /// The number of the one that has the requests.
    pub(in crate::submit) fn now(&self) -> u32 {
        self.now.load(ordering::Acquire)
    }

    /// Another one has them. To be called by who has the device's exchange.
    pub(in crate::submit) fn set_now(&self, number: u32) {
        self.now.store(number, ordering::Release);
    }
}

/// Where requests go.
#[derive(Clone)]
pub(crate) enum Target {
    /// To an engine.
    One(Arc<Engine>),
    /// To one of several.
    Any(Arc<Siblings>),
}

impl Target {
    /// Any of `engines`. Errors: `EINVAL` for none, `ENOMEM`.
    pub(crate) fn any(mut engines: KVec<Arc<Engine>>) -> Result<Self> {
        let first = engines.remove(0).map_err(|_| EINVAL)?;
        if engines.is_empty() {
            return Ok(Self::One(first));
        }
        let mut others = KVec::with_capacity(engines.len(), GFP_KERNEL)?;
        for other in engines {
            others.push(Sibling::new(other), GFP_KERNEL)?;
        }
        let siblings = Siblings {
            first: Sibling::new(first),
            others,
            now: Atomic::new(0),
        };
        for (_, engine) in siblings.all() {
            engine.take_part();
        }
        Ok(Self::Any(Arc::new(siblings, GFP_KERNEL)?))
    }

    /// The engine that stands for it: its timelines go by this one's number.
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        match self {
            Self::One(engine) => engine,
            Self::Any(siblings) => &siblings.first.engine,
        }
    }

    /// Takes off what is done on any of them.
    pub(crate) fn advance(&self) {
        let one = |engine: &Arc<Engine>| {
            let _ = engine.advance();
        };
        match self {
            Self::One(engine) => one(engine),
            Self::Any(siblings) => siblings.all().for_each(|(_, engine)| one(engine)),
        }
    }

    /// The engines, if there are several.
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
    /// One of these engines. Errors: `EINVAL` for none, `ENOMEM`.
    pub(crate) fn new(context: &Context, engines: KVec<Arc<Engine>>) -> Result<Self> {
        Ok(Self {
            part: context.part()?,
            target: Target::any(engines)?,
        })
    }

    /// What runs there.
    pub(crate) fn part(&self) -> &Arc<Context> {
        &self.part
    }

    /// Where it runs.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }
}
