// SPDX-License-Identifier: GPL-2.0

//! Virtual engines: a place in a context's list of engines that stands for several of a class, of which each
//! request goes to the one with the least to do.
//!
//! A virtual engine is a part of its context: a context to the engines, with a ring and an image on each of
//! them, but one state and one order of requests. For that, all that is under way is on one engine: the
//! choice is made when a request is submitted, and anew only when those before it are done and the engine
//! has let go of the state. Then the state is copied into the image of the engine that comes next.
//!
//! An engine that is in a list a second time is a virtual engine of one: so each place has an order of requests
//! and a state of its own.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{Arc, Mutex, MutexGuard},
};

use super::{Context, Engine};
use crate::gpu::Gpu;

/// A virtual engine.
#[pin_data]
pub(crate) struct Balanced {
    part: Arc<Context>,
    /// Its engines: their numbers in the topology.
    siblings: KVec<usize>,
    /// Where its last request went. Locked until that is published.
    #[pin]
    now: Mutex<Option<usize>>,
}

/// The next request goes to the engine that was asked for, as long as this is there.
pub(super) struct Turn<'a> {
    _now: MutexGuard<'a, Option<usize>>,
}

impl Balanced {
    /// A virtual engine of a context. Errors: `ENOMEM`.
    pub(crate) fn new(context: &Context, siblings: KVec<usize>) -> Result<Arc<Self>> {
        let part = context.part()?;
        Arc::pin_init(
            try_pin_init!(Self {
                part,
                siblings,
                now <- new_mutex!(None, "ouro_balanced"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// What runs there.
    pub(crate) fn part(&self) -> &Arc<Context> {
        &self.part
    }

    /// The engine for the next request, as it is now. Process context.
    pub(crate) fn choose(&self, gpu: &Gpu) -> Result<Arc<Engine>> {
        let engine = |at: usize| gpu.engines().get(at).ok_or(EINVAL);
        if let [only] = self.siblings.as_slice() {
            return engine(*only).cloned();
        }
        for at in self.siblings.iter() {
            // What is done counts no more.
            engine(*at)?.advance();
        }
        let now = *self.now.lock();
        let best = match now {
            Some(at) if !self.is_done(engine(at)?) => at,
            _ => {
                let mut best = now
                    .map(|at| engine(at).map(|e| (e.load(), at)))
                    .transpose()?;
                for at in self.siblings.iter() {
                    let engine = engine(*at)?;
                    let load = engine.load();
                    if best.is_none_or(|(least, _)| load < least) && self.has_left(engine) {
                        best = Some((load, *at));
                    }
                }
                best.ok_or(EINVAL)?.1
            }
        };
        Ok(engine(best)?.clone())
    }

    /// Makes it so that the next request goes to `engine`, which has a place for it. `None`: it must go to
    /// another one, which is to be chosen anew. Errors: `ENOMEM`.
    pub(super) fn settle(&self, gpu: &Gpu, engine: &Engine) -> Result<Option<Turn<'_>>> {
        let mut now = self.now.lock();
        if let Some(from) = now.filter(|at| *at != engine.index()) {
            let from = gpu.engines().get(from).ok_or(EINVAL)?;
            if !self.is_done(from) || !self.carry(from, engine)? {
                return Ok(None);
            }
        }
        *now = Some(engine.index());
        Ok(Some(Turn { _now: now }))
    }

    /// Whether nothing of it is under way on an engine, which has let go of its state.
    fn is_done(&self, engine: &Engine) -> bool {
        let idle = {
            let timelines = self.part.timelines().lock();
            let last = timelines.get(engine.index()).and_then(|t| t.last());
            last.is_none_or(|fence| fence.is_signaled())
        };
        idle && self.has_left(engine)
    }

    /// Whether an engine has nothing of it.
    fn has_left(&self, engine: &Engine) -> bool {
        let seat = self.part.seat(engine);
        seat.is_none_or(|seat| engine.has_left(seat.id()))
    }

    /// Takes the state along from one engine to another. False: that one still has what it had of it.
    fn carry(&self, from: &Engine, to: &Engine) -> Result<bool> {
        let Some(old) = self.part.seat(from) else {
            return Ok(true);
        };
        let new = self.part.seat(to).ok_or(EINVAL)?;
        let mut image = old.lane().read()?;
        Ok(to.adopt(new.id(), &mut image))
    }
}
