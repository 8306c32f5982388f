// SPDX-License-Identifier: GPL-2.0

//! Contexts: a client's state on the GPU, and its timelines.
//!
//! A timeline is one (context, engine) pair: its fences are one dma_fence context, numbered when
//! they are published. A virtual engine is one engine for that: it goes by the first one's number. Where the chip swaps context images, a context has one from its first
//! request on such an engine; it is a copy of the golden image, so that no client sees what another
//! one left.

use kernel::{
    new_mutex,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex, SetOnce,
    },
};
use ouro_core::port::ContextKey;
use ouro_kernel::{
    fence::{self, Fence},
    time,
};

use super::{
    context_state::{ContextState, Params},
    guilt::{Guilt, Holder},
    line::Line,
    lists::{balanced::Balanced, logical_ring::Seat},
    own_space::OwnSpace,
    quota::Quota,
    recent::Recent,
    Engine,
};
use crate::gem::image::{Image, Owned};

/// The requests of a context on one engine.
pub(crate) struct Timeline {
    /// The number of its dma_fence context.
    fence_context: u64,
    /// Number of the last request published.
    seqno: u64,
    /// Its fence.
    last: Option<ARef<Fence>>,
    /// How many may be under way.
    quota: Arc<Quota>,
    recent: Recent,
}

impl Timeline {
    /// The number of the dma_fence context of its requests.
    pub(crate) fn fence_context(&self) -> u64 {
        self.fence_context
    }

    /// The number of the next request. It is taken by [`publish`](Self::publish).
    pub(crate) fn next(&self) -> u64 {
        self.seqno.wrapping_add(1)
    }

    /// How many requests may be under way.
    pub(crate) fn quota(&self) -> &Arc<Quota> {
        &self.quota
    }

    /// The last request.
    pub(crate) fn last(&self) -> Option<&ARef<Fence>> {
        self.last.as_ref()
    }

    /// The last request that was published no later than `ns`.
    pub(crate) fn published_by(&self, ns: u64) -> Option<&ARef<Fence>> {
        self.recent.by(ns)
    }

    /// A request with the next number is published.
    pub(crate) fn publish(&mut self, fence: ARef<Fence>) {
        self.seqno = self.next();
        self.recent.push(time::monotonic_ns(), fence.clone());
        self.last = Some(fence);
    }
}

/// What a place in the list of a context's engines stands for.
pub(crate) enum Slot {
    /// No engine.
    Gap,
    /// The engine of this number in the topology.
    Engine(usize),
    /// One of several, or one that has a place before this in the list.
    Balanced(Balanced),
}

/// What user space calls engines in a context, by place.
pub(crate) type EngineMap = KVec<Slot>;

/// What the ring selector of a batch means in a context.
enum Selector {
    /// Nobody has asked: user space may still say so.
    Open,
    /// The engines that have such names in all contexts.
    Names,
    /// The engines of a list.
    List(Arc<EngineMap>),
}

/// The parts of a context that places of a list stand for.
pub(crate) fn parts(map: &EngineMap) -> impl Iterator<Item = &Arc<Context>> {
    map.iter().filter_map(|slot| match slot {
        Slot::Balanced(balanced) => Some(balanced.part()),
        _ => None,
    })
}

/// A context.
#[pin_data]
pub(crate) struct Context {
    key: ContextKey,
    image: SetOnce<Owned>,
    /// By engine, where contexts are listed: its seat there.
    seats: KVec<SetOnce<Seat>>,
    /// Where its batches are, if that is not the space of all.
    space: SetOnce<Arc<OwnSpace>>,
    /// Whether the image holds a state that can be restored.
    saved: Atomic<bool>,
    #[pin]
    timelines: Mutex<KVec<Timeline>>,
    /// What its parts have in common.
    state: Arc<ContextState>,
    #[pin]
    selector: Mutex<Selector>,
    /// Makes image, places and space, each once. Until then, the space that user space has chosen.
    #[pin]
    making: Mutex<Option<Arc<OwnSpace>>>,
}

/// Keys are never used twice.
static NEXT_KEY: Atomic<u64> = Atomic::new(1);

impl Context {
    /// A context for `engines` engines; `alive` counts it.
    pub(crate) fn new(
        engines: usize,
        alive: &Arc<Atomic<i64>>,
        holder: Option<Arc<Holder>>,
    ) -> Result<Arc<Self>> {
        Self::with(engines, ContextState::new(alive, holder)?)
    }

    /// A part of it, with timelines and a state of its own, which has no part itself. Its space is to be
    /// this one's.
    pub(super) fn part(&self) -> Result<Arc<Self>> {
        Self::with(self.seats.len(), self.state.clone())
    }

    fn with(engines: usize, state: Arc<ContextState>) -> Result<Arc<Self>> {
        let mut timelines = KVec::with_capacity(engines, GFP_KERNEL)?;
        let mut seats = KVec::with_capacity(engines, GFP_KERNEL)?;
        let fences = fence::alloc_contexts(engines as u32);
        for engine in 0..engines {
            seats.push(SetOnce::new(), GFP_KERNEL)?;
            timelines.push(
                Timeline {
                    fence_context: fences.wrapping_add(engine as u64),
                    seqno: 0,
                    last: None,
                    quota: Quota::of_timeline()?,
                    recent: Recent::default(),
                },
                GFP_KERNEL,
            )?;
        }
        Arc::pin_init(
            try_pin_init!(Self {
                key: ContextKey(NEXT_KEY.fetch_add(1, ordering::Relaxed)),
                image: SetOnce::new(),
                seats,
                space: SetOnce::new(),
                saved: Atomic::new(false),
                timelines <- new_mutex!(timelines, "ouro_timelines"),
                state,
                selector <- new_mutex!(Selector::Open, "ouro_context_selector"),
                making <- new_mutex!(None, "ouro_image"),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// What the ports know it by.
    pub(crate) fn key(&self) -> ContextKey {
        self.key
    }

    /// Its timelines, by engine.
    pub(crate) fn timelines(&self) -> &Mutex<KVec<Timeline>> {
        &self.timelines
    }

    /// All its batches are to run in the order in which they are submitted. There is none yet.
    pub(crate) fn set_in_order(&self) {
        self.state.in_order.set(true);
    }

    /// The last batch on any engine, if they are in order. To be locked inside of the timelines.
    pub(super) fn last(&self) -> Option<&Mutex<Option<ARef<Fence>>>> {
        let state = &self.state;
        state.in_order.get().then_some(&state.last)
    }

    /// What user space has set.
    pub(crate) fn params(&self) -> &Params {
        &self.state.params
    }

    /// What user space calls the engines here, if it has said so.
    pub(crate) fn engines(&self) -> Option<Arc<EngineMap>> {
        match &*self.selector.lock() {
            Selector::List(map) => Some(map.clone()),
            Selector::Open | Selector::Names => None,
        }
    }

    /// The same, and it stays so: somebody goes by it.
    pub(crate) fn settle_engines(&self) -> Option<Arc<EngineMap>> {
        let mut selector = self.selector.lock();
        match &*selector {
            Selector::List(map) => Some(map.clone()),
            Selector::Open | Selector::Names => {
                *selector = Selector::Names;
                None
            }
        }
    }

    /// Whether user space may still say what it calls them.
    pub(crate) fn has_open_engines(&self) -> bool {
        matches!(&*self.selector.lock(), Selector::Open)
    }

    /// Says so. Errors: `EINVAL` for the second time, or if somebody has gone by the names already.
    pub(crate) fn set_engines(&self, map: Arc<EngineMap>) -> Result {
        let mut selector = self.selector.lock();
        match &*selector {
            Selector::Open => *selector = Selector::List(map),
            Selector::Names | Selector::List(_) => {
                drop(selector);
                return Err(EINVAL);
            }
        }
        Ok(())
    }

    /// Who it belongs to.
    pub(crate) fn holder(&self) -> Option<&Holder> {
        self.state.holder.as_deref()
    }

    /// What it has done, and what was done to it.
    pub(crate) fn guilt(&self) -> &Guilt {
        &self.state.guilt
    }

    /// A request of it has hung. Called under the lock of whoever resets engines.
    pub(crate) fn has_hung(&self) {
        let state = &self.state;
        let banned = state.guilt.hung(
            time::monotonic_ns(),
            state.params.bannable.get(),
            state.params.recoverable.get(),
        );
        if let (true, Some(holder)) = (banned, &state.holder) {
            holder.context_banned(time::monotonic_ns());
        }
    }

    /// Nothing of it is run any more that is not on an engine yet. Any context.
    pub(crate) fn is_banned(&self) -> bool {
        let state = &self.state;
        state.guilt.is_banned()
            || self.is_revoked()
            || state.holder.as_ref().is_some_and(|o| o.is_banned())
    }

    /// Whether it was closed, and what it has published shall not go on.
    pub(crate) fn is_revoked(&self) -> bool {
        self.revoked().is_some()
    }

    /// When that was, in nanoseconds.
    pub(super) fn revoked(&self) -> Option<u64> {
        self.state.revoked.get()
    }

    /// Nobody has it any more: what it has published goes on only if it is persistent, and
    /// somebody watches it. Any context.
    pub(crate) fn close(&self, watched: bool) {
        self.state.closed.set(true);
        if !(watched && self.state.params.persistent.get()) {
            self.state.revoked.set();
        }
    }

    /// Nobody watches it any more: if nobody has it either, what it has published does not go on. Any context.
    pub(super) fn unwatch(&self) {
        if self.state.closed.get() {
            self.state.revoked.set();
        }
    }

    /// Its seat on an engine that takes lists of contexts, if it has one.
    pub(crate) fn seat(&self, engine: &Engine) -> Option<&Seat> {
        self.seats.get(engine.index())?.as_ref()
    }

    /// The same; it gets one if it has none. Process context.
    pub(crate) fn make_seat(
        &self,
        engine: &Engine,
        make: impl FnOnce() -> Result<Seat>,
    ) -> Result<&Seat> {
        let _making = self.making.lock();
        let seat = self.seats.get(engine.index()).ok_or(EINVAL)?;
        if seat.as_ref().is_none() {
            seat.populate(make()?);
        }
        seat.as_ref().ok_or(EINVAL)
    }

    /// Where the commands of its requests on an engine go, once it is prepared for that.
    pub(crate) fn line(&self, engine: &Engine) -> Arc<Line> {
        match self.seat(engine) {
            Some(seat) => seat.logical_ring().line().clone(),
            None => engine.line().clone(),
        }
    }

    /// Where its batches are, if that is not the space of all.
    pub(crate) fn space(&self) -> Option<&Arc<OwnSpace>> {
        self.space.as_ref()
    }

    /// The same; it gets the one that was chosen for it, or a new one, if it has none. Process context.
    pub(crate) fn make_space(
        &self,
        make: impl FnOnce() -> Result<Arc<OwnSpace>>,
    ) -> Result<&Arc<OwnSpace>> {
        let mut chosen = self.making.lock();
        if self.space.as_ref().is_none() {
            let space = match chosen.take() {
                Some(space) => space,
                None => make()?,
            };
            self.space.populate(space);
        }
        self.space.as_ref().ok_or(EINVAL)
    }

    /// Its batches shall be in this space. Errors: `EINVAL` if it has one already. Process context.
    pub(crate) fn choose_space(&self, space: Arc<OwnSpace>) -> Result {
        let mut chosen = self.making.lock();
        if self.space.as_ref().is_some() {
            return Err(EINVAL);
        }
        let before = chosen.replace(space);
        drop(chosen);
        drop(before);
        Ok(())
    }

    /// How urgent requests are that are submitted now, where that matters: more is more.
    pub(crate) fn priority(&self) -> i32 {
        self.state.priority.load(ordering::Relaxed)
    }

    /// Sets [`priority`](Self::priority).
    pub(crate) fn set_priority(&self, priority: i32) {
        self.state.priority.store(priority, ordering::Relaxed);
    }

    /// Its image, if it has one.
    pub(crate) fn image(&self) -> Option<&Arc<Image>> {
        self.image.as_ref().map(|i| &**i)
    }

    /// Its image; it gets one if it has none, and `saved` says whether that holds a state. Process
    /// context.
    pub(crate) fn make_image(
        &self,
        make: impl FnOnce() -> Result<Arc<Image>>,
        saved: bool,
    ) -> Result<&Arc<Image>> {
        let _making = self.making.lock();
        if self.image.as_ref().is_none() {
            let image = make()?;
            self.saved.store(saved, ordering::Relaxed);
            self.image.populate(Owned::new(image));
        }
        self.image().ok_or(EINVAL)
    }

    /// Whether its image can be restored.
    pub(crate) fn is_saved(&self) -> bool {
        self.saved.load(ordering::Relaxed)
    }

    /// Its image holds no state: the device has forgotten what it held, and saved nothing.
    pub(crate) fn forget_saved(&self) {
        self.saved.store(false, ordering::Relaxed);
    }

    /// The device will have saved it when it next switches to it.
    pub(crate) fn set_saved(&self) {
        self.saved.store(true, ordering::Relaxed);
    }
}
