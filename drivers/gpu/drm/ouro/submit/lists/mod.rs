// SPDX-License-Identifier: GPL-2.0

//! The port of an engine that takes lists of contexts.
//!
//! Each context that has been used on the engine is kept here, with a ring of its own. Requests
//! that are ready are written into the rings of their contexts at once, as far as there is room; the
//! scheduler ([`ouro_core::sched`]) says which contexts the engine is given. What the engine says of
//! them is read from its status page ([`reports`](super::reports)), in the interrupt, at each submission
//! and by the tick.
//!
//! A context has one ring, status page and image, whatever engines it is known to ([`balanced`]). So
//! there are two numbers of a request, both given at emission: the one that is written into the status page is
//! one more than that of the context's last request, and goes along to another engine; and among the requests
//! of its engine it has one that says who came first there.

pub(crate) mod balance;
pub(crate) mod balanced;
mod cancel;
pub(crate) mod inherit;
pub(crate) mod logical_ring;
mod reports;
mod seats;

use core::mem;
use kernel::{
    list::{List, ListArc},
    prelude::*,
    sync::{atomic::ordering, Arc, ArcBorrow},
};
use ouro_core::{
    events::Events,
    sched::{self, Client, Item, Policy, Scheduler},
};
use ouro_hw::{
    engine::{Emit, EventArea, Submission, Switch, COPY_DWORDS},
    ring::{Commands, Ring},
    types::{RingOffset, Seqno},
};
use ouro_kernel::{mmio, time};

use self::{balanced::Siblings, cancel::Cancelled, logical_ring::LogicalRing};
use super::{engine::Arming, request::Request, Engine};
use crate::{hardware::Waits, report::Words};

const MS: u64 = 1_000_000;
/// Milliseconds for which a context has an engine while another one of its priority waits, at first.
pub(crate) const SLICE_MS: u32 = 5;
/// What the scheduler goes by, in nanoseconds.
const POLICY: Policy = Policy {
    slice: SLICE_MS as u64 * MS,
    patience: 500 * MS,
    pause: 100 * MS,
    credit: 20 * MS,
};

/// Nanoseconds that count at once for who has the engine, at most: some ticks. Nobody looked for longer if it was
/// idle in between, or if somebody else had the processor.
const MAX_PASSED: u64 = 200 * MS;

/// Where the scheduler keeps what it knows.
pub(in crate::submit) struct Items(pub(in crate::submit) KVVec<Item>);

impl sched::Arena for Items {
    fn items(&self) -> &[Item] {
        &self.0
    }

    fn items_mut(&mut self) -> &mut [Item] {
        &mut self.0
    }
}

/// A context that the engine is given in lists, and its requests there.
pub(in crate::submit) struct ListedContext {
    pub(in crate::submit) logical_ring: Arc<LogicalRing>,
    pub(in crate::submit) entity: sched::Entity,
    /// Whose it is: a number that the holder of the context has alone.
    pub(in crate::submit) holder: usize,
    /// Of several engines, the others; as long as there is the context.
    pub(in crate::submit) siblings: Option<Arc<Siblings>>,
    pub(in crate::submit) ring: Ring,
    /// The number of the last request that was emitted, as the status page gets it.
    pub(in crate::submit) last: Seqno,
    /// Ready, but there was no room.
    pub(in crate::submit) ready: List<Request>,
    /// In the ring, in order.
    pub(in crate::submit) flight: List<Request>,
    /// Whether it is among those that have requests.
    pub(in crate::submit) active: bool,
    /// How urgent its requests are by themselves, as the scheduler was told.
    pub(in crate::submit) own: i32,
    /// How urgent what waits for its requests is, as the scheduler was told.
    pub(in crate::submit) lifted: Option<i32>,
    /// Whether some of its requests wait for room, as the scheduler was told.
    pub(in crate::submit) full: bool,
    /// Whether its image is not what it was when the engine took it, which was reset.
    pub(in crate::submit) stale: bool,
    /// Whether the engine is to let go of it, which nobody wants any more.
    pub(in crate::submit) cancelled: Cancelled,
}

impl ListedContext {
    /// Whether its first request is done, and not taken off yet.
    pub(in crate::submit) fn is_first_done(&self) -> bool {
        let first = self.flight.iter().next().and_then(|r| r.tracker.seqno());
        first.is_some_and(|seqno| self.logical_ring.line().progress().passed(seqno))
    }
}

/// A client, as the scheduler knows it: all contexts of one file share what is its.
#[derive(Clone, Copy)]
pub(in crate::submit) struct Party {
    pub(in crate::submit) holder: usize,
    pub(in crate::submit) client: Client,
    /// How many contexts it has here.
    pub(in crate::submit) contexts: u32,
}

/// The port.
pub(in crate::submit) struct Lists {
    pub(in crate::submit) sched: Scheduler<Items>,
    /// By the number of the context, less one.
    pub(in crate::submit) contexts: KVVec<Option<ListedContext>>,
    // There is room in each of these for all contexts.
    pub(in crate::submit) parties: KVVec<Party>,
    pub(in crate::submit) free: KVVec<u32>,
    /// Those with requests.
    pub(in crate::submit) active: KVVec<u32>,
    /// Those that are gone, but not from the engine.
    pub(in crate::submit) leaving: KVVec<u32>,
    /// What the engine has let go of.
    pub(in crate::submit) gone: KVVec<Arc<LogicalRing>>,
    /// What it says of contexts; nothing is read before it is known where that is.
    pub(in crate::submit) events: Option<Events>,
    /// The number of the last request emitted, among those of the engine.
    pub(in crate::submit) last: Seqno,
    /// Up to when it was counted who had the engine for how long, in nanoseconds.
    counted: u64,
    /// It does not do what it was told.
    pub(in crate::submit) broken: bool,
    /// The image that contexts start from, and room for one.
    pub(in crate::submit) golden: KVVec<u32>,
    pub(in crate::submit) buffer: KVVec<u32>,
}

impl Lists {
    /// A port of a list of `depth`. Errors: `ENOMEM`.
    pub(in crate::submit) fn new(depth: u8, area: EventArea) -> Result<Self> {
        let items = Items(KVVec::new());
        Ok(Self {
            sched: Scheduler::new(items, depth, area.entries, POLICY),
            contexts: KVVec::new(),
            parties: KVVec::new(),
            free: KVVec::new(),
            active: KVVec::new(),
            leaving: KVVec::new(),
            gone: KVVec::new(),
            events: None,
            last: Seqno(0),
            counted: 0,
            broken: false,
            golden: KVVec::new(),
            buffer: KVVec::new(),
        })
    }

    pub(in crate::submit) fn context(&mut self, at: u32) -> Option<&mut ListedContext> {
        self.contexts.get_mut(at as usize)?.as_mut()
    }

    /// The context that runs now, or that has waited first.
    pub(in crate::submit) fn running(&self) -> Option<&ListedContext> {
        let listed = |at: u32| {
            let listed = self.contexts.get(at as usize)?.as_ref();
            listed.filter(|p| !p.flight.is_empty())
        };
        let running = self.sched.port().running_id();
        running
            .and_then(|id| listed(id.checked_sub(1)?))
            .or_else(|| self.active.iter().find_map(|at| listed(*at)))
    }

    /// Whoever has the engine has had it since this was called last. To be called often, and before that is
    /// another one.
    pub(in crate::submit) fn count(&mut self, now: u64) {
        let passed = now.saturating_sub(self.counted);
        self.counted = self.counted.max(now);
        if let Some(first) = self.first().filter(|_| passed != 0) {
            first.emitted.lock().ran += passed.min(MAX_PASSED);
        }
    }

    /// The oldest request of the context that runs.
    pub(in crate::submit) fn first(&self) -> Option<ArcBorrow<'_, Request>> {
        self.running()?.flight.iter().next()
    }

    /// The oldest request of each context.
    pub(in crate::submit) fn firsts(&self) -> impl Iterator<Item = ArcBorrow<'_, Request>> {
        let contexts = self.active.iter();
        let contexts = contexts.filter_map(|at| self.contexts.get(*at as usize)?.as_ref());
        contexts.filter_map(|listed| listed.flight.iter().next())
    }

    /// Whether no request is emitted and not taken off.
    pub(in crate::submit) fn is_quiet(&self) -> bool {
        let mut contexts = self.active.iter();
        contexts.all(|at| {
            let listed = self.contexts.get(*at as usize).and_then(|p| p.as_ref());
            listed.is_none_or(|p| p.flight.is_empty())
        })
    }

    /// Whether there are no requests.
    pub(in crate::submit) fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Whether some wait for room.
    pub(in crate::submit) fn wants_room(&self) -> bool {
        let mut contexts = self.active.iter();
        contexts.any(|at| {
            let listed = self.contexts.get(*at as usize).and_then(|p| p.as_ref());
            listed.is_some_and(|p| !p.ready.is_empty())
        })
    }

    /// The number of the last request emitted, among those of the engine.
    pub(in crate::submit) fn last(&self) -> Seqno {
        self.last
    }

    /// All requests up to this number are done, or have gone to another engine.
    pub(in crate::submit) fn progress(&self) -> Seqno {
        let mut least = self.last;
        for at in self.active.iter() {
            let Some(listed) = self.contexts.get(*at as usize).and_then(|p| p.as_ref()) else {
                continue;
            };
            let mut flight = listed.flight.iter();
            let unfinished = flight.find(|r| !r.tracker.is_done());
            let unfinished = unfinished.map(|r| r.number());
            if let Some(Seqno(n)) = unfinished {
                let before = Seqno(n.wrapping_sub(1));
                if least.passed(before) {
                    least = before;
                }
            }
        }
        least
    }

    /// A request is ready.
    pub(in crate::submit) fn push(
        &mut self,
        request: ListArc<Request>,
    ) -> Result<(), ListArc<Request>> {
        let at = request.seat().and_then(|id| id.checked_sub(1));
        let Some(at) = at.filter(|at| self.context(*at).is_some()) else {
            return Err(request);
        };
        self.raise(at, request.tracker.urgency.rank());
        if let Some(listed) = self.context(at) {
            listed.ready.push_back(request);
        }
        self.activate(at);
        Ok(())
    }

    /// A context has requests.
    pub(in crate::submit) fn activate(&mut self, at: u32) {
        if let Some(false) = self.context(at).map(|p| mem::replace(&mut p.active, true)) {
            // There is room.
            drop(self.active.push_within_capacity(at));
        }
    }

    /// Writes what is ready into the rings, as far as there is room. What could not be emitted is `failed`.
    fn fill(&mut self, engine: &Engine, now: u64, failed: &mut List<Request>) {
        let desc = engine.hw.desc();
        let most = desc.emit_dwords + desc.golden_dwords.max(COPY_DWORDS);
        for n in 0..self.active.len() {
            let Some(at) = self.active.get(n).copied() else {
                break;
            };
            let last = &mut self.last;
            let Some(listed) = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut()) else {
                continue;
            };
            let mut tail = None;
            // The padding before a wrap is shorter than what caused it.
            while listed.ring.space() as usize >= most * 8 {
                let Some(request) = listed.ready.pop_front() else {
                    break;
                };
                let number = last.next();
                match emit(engine, listed, &request, number, now) {
                    Some(end) => {
                        *last = number;
                        tail = Some(end);
                        listed.flight.push_back(request);
                    }
                    None => {
                        // Its fence may not be signalled here: this may be the callback of another.
                        let dev = engine.hardware.dev();
                        dev_err!(dev, "{}: no room for a request\n", Words(desc.id));
                        failed.push_back(request);
                    }
                }
            }
            if let Some(tail) = tail {
                self.sched.publish(listed.entity, tail, now);
            }
            let full = !listed.ready.is_empty();
            if mem::replace(&mut listed.full, full) != full {
                self.sched.set_full(listed.entity, full);
            }
        }
    }

    /// Takes off what is done.
    fn collect(&mut self, now: u64, mut each: impl FnMut(ListArc<Request>)) {
        let mut n = 0;
        while let Some(at) = self.active.get(n).copied() {
            n += 1;
            let Some(listed) = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut()) else {
                continue;
            };
            let progress = listed.logical_ring.line().progress();
            let mut tail = None;
            let mut falls = false;
            let mut own = None;
            while let Some(first) = listed.flight.iter().next() {
                if !first.tracker.seqno().is_some_and(|s| progress.passed(s)) {
                    break;
                }
                let Some(request) = listed.flight.pop_front() else {
                    break;
                };
                tail = Some(request.emitted.lock().tail);
                let rank = request.tracker.urgency.rank();
                falls |= listed.lifted.is_some() && rank.lifted == listed.lifted;
                own = own.max(Some(rank.own));
                each(request);
            }
            if let Some(tail) = tail {
                listed.ring.retire(tail);
                self.sched.completed(listed.entity, tail, now);
            }
            // The one behind it is of another priority: only then are all looked at.
            falls |= own == Some(listed.own) && listed.first_own().is_some_and(|o| o != listed.own);
            if listed.flight.is_empty() && listed.ready.is_empty() {
                listed.active = false;
                falls |= listed.lifted.is_some();
                n -= 1;
                self.pass_over(n);
            }
            if falls {
                self.rank(at, now);
            }
        }
    }

    /// The n-th of those that are active is not any more. Their order means nothing.
    pub(in crate::submit) fn pass_over(&mut self, n: usize) {
        let other = self.active.pop();
        if let (Some(slot), Some(other)) = (self.active.get_mut(n), other) {
            *slot = other;
        }
    }

    /// Tells the scheduler how far contexts have run, or what the engine has let go of would be listed again.
    /// Returns whether what is done is to be taken off before the engine is given more: one of these requests
    /// was lifted, and who waits for it comes next; or a context has run out of what there was room for.
    fn tell(&mut self, now: u64) -> bool {
        let mut first = false;
        for at in self.active.iter() {
            let Some(listed) = self.contexts.get(*at as usize).and_then(|p| p.as_ref()) else {
                continue;
            };
            let progress = listed.logical_ring.line().progress();
            let mut tail = None;
            let mut left = false;
            for request in listed.flight.iter() {
                if !request.tracker.seqno().is_some_and(|s| progress.passed(s)) {
                    left = true;
                    break;
                }
                tail = Some(request.emitted.lock().tail);
                first |= request.tracker.urgency.lifted().is_some();
            }
            if let Some(tail) = tail {
                self.sched.completed(listed.entity, tail, now);
                first |= listed.full && !left;
            }
        }
        first
    }

    /// Lets go of what the engine has let go of.
    fn release(&mut self) {
        let mut n = 0;
        while let Some(at) = self.leaving.get(n).copied() {
            if !self.remove(at) {
                n += 1;
                continue;
            }
            let other = self.leaving.pop();
            if let (Some(slot), Some(other)) = (self.leaving.get_mut(n), other) {
                *slot = other;
            }
        }
    }

    /// Takes a context out that is gone. False: the engine has it.
    pub(in crate::submit) fn remove(&mut self, at: u32) -> bool {
        let Some(slot) = self.contexts.get_mut(at as usize) else {
            return true;
        };
        let Some(listed) = slot else {
            return true;
        };
        if listed.active || !self.sched.remove_entity(listed.entity) {
            return false;
        }
        if let Some(listed) = slot.take() {
            self.leave(listed.holder);
            // There is room.
            drop(self.gone.push_within_capacity(listed.logical_ring));
            drop(self.free.push_within_capacity(at));
        }
        true
    }

    /// Gives the engine what it is to run.
    fn schedule(&mut self, engine: &Engine, now: u64) {
        let Some(load) = self.sched.schedule(now) else {
            return;
        };
        let listed = |id: &u32| self.contexts.get(id.checked_sub(1)? as usize)?.as_ref();
        let tails = || {
            for (entry, id) in load.entries().iter().zip(load.ids()) {
                if let Some(listed) = listed(id) {
                    listed.logical_ring.set_tail(entry.tail);
                }
            }
            // The commands, and the tails in the images.
            mmio::wmb();
        };
        engine.port_writes.fetch_add(1, ordering::Relaxed);
        let what = Submission::List {
            entries: load.entries(),
            tails: &tails,
        };
        let done = engine
            .hardware
            .with_gt(|hw, gt| engine.hw.submit(hw, gt, what, &Waits));
        if let Err(error) = done {
            let id = engine.hw.desc().id;
            dev_err!(
                engine.hardware.dev(),
                "{}: not submitted: {}\n",
                Words(id),
                Words(error)
            );
        }
    }

    /// What is ready is emitted, as far as there is room.
    pub(in crate::submit) fn emit(
        &mut self,
        engine: &Engine,
        arming: &mut Arming,
        failed: &mut List<Request>,
    ) {
        self.fill(engine, time::monotonic_ns(), failed);
        if self.wants_room() {
            engine.arm(arming);
        }
    }

    /// What was emitted goes to the engine.
    pub(in crate::submit) fn go_on(&mut self, engine: &Engine) {
        let now = time::monotonic_ns();
        self.listen(engine, now);
        let first = self.tell(now);
        self.release();
        // Somebody waits for that, and so it interrupts.
        if !self.broken && !first {
            self.schedule(engine, now);
            if let Some(then) = self.sched.next(now) {
                engine.retirer.look_in(then.saturating_sub(now));
            }
        }
        self.show(engine);
    }

    /// Calls `each` for what is done, in the order of each context, and takes it off.
    pub(in crate::submit) fn advance(
        &mut self,
        engine: &Engine,
        now: u64,
        each: impl FnMut(ListArc<Request>),
    ) {
        self.listen(engine, now);
        self.collect(now, each);
    }
}

impl Engine {
    /// Milliseconds for which a context has the engine while another one of its priority waits; 0: until it has
    /// nothing to do. `None` where engines do not take lists.
    pub(crate) fn slice_ms(&self) -> Option<u32> {
        let mut queue = self.queue.lock();
        // It was made of such a number.
        Some((queue.lists()?.sched.slice() / MS) as u32)
    }

    /// Sets [`slice_ms`](Self::slice_ms). Errors: `ENODEV` where there is none.
    pub(crate) fn set_slice_ms(&self, ms: u32) -> Result {
        let mut queue = self.queue.lock();
        queue
            .lists()
            .ok_or(ENODEV)?
            .sched
            .set_slice(u64::from(ms) * MS);
        // Whoever has it may have had it for longer than that.
        self.pump(&mut queue);
        drop(queue);
        self.retirer.pass_on();
        Ok(())
    }
}

/// Writes a request into the ring of its context, with its number on the engine. Returns the tail after it.
fn emit(
    engine: &Engine,
    listed: &mut ListedContext,
    request: &Request,
    number: Seqno,
    now: u64,
) -> Option<RingOffset> {
    let line = listed.logical_ring.line();
    engine.with_work(request, |batch, inline, buffer| {
        let mut commands = Commands::new(buffer);
        let seqno = listed.last.next();
        let emit = Emit {
            // The engine switches by itself.
            switch: Switch::Stay,
            known: None,
            directory: None,
            batch,
            inline,
            watchdog: None,
            seqno,
        };
        engine.hw.emit(&emit, line.memory(), &mut commands).ok()?;
        let slot = listed.ring.reserve(commands.len())?;
        line.write(&slot, commands.as_slice());
        listed.last = seqno;
        let mut emitted = request.emitted.lock();
        emitted.number = number;
        emitted.tail = slot.tail;
        emitted.at = now;
        emitted.ran = 0;
        drop(emitted);
        request.tracker.emitted(seqno);
        engine.retirer.follower_queue().pass(&request.tracker);
        Some(slot.tail)
    })
}
