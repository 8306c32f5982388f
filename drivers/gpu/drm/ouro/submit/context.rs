// SPDX-License-Identifier: GPL-2.0

//! Contexts: a client's state on the GPU, and its timelines.
//!
//! On engines that switch context images, a context gets one at its first request; it is a copy of
//! the golden image, so that no client sees another one's state. Its timelines
//! ([`super::timeline`]) are made for its first request, too.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    new_mutex,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex, SetOnce,
    },
};
use ouro_core::port::ContextKey;
use ouro_kernel::{fence::Fence, time};

use super::{
    context_state::{ContextState, Params},
    guilt::{Banned, Guilt, Holder},
    line::Line,
    lists::{balanced::Balanced, logical_ring::Seat},
    own_space::OwnSpace,
    quota::Quota,
    timeline::{Timeline, Timelines},
    Engine,
};
use crate::gem::image::{Image, Owned};

/// A slot of a context's engine map.
pub(crate) enum Slot {
    /// No engine.
    Gap,
    /// An engine, by its number in the topology.
    Engine(usize),
    /// A virtual engine, or an engine that has an earlier slot in the map, too.
    Balanced(Balanced),
}

/// The engine map of a context (`I915_CONTEXT_PARAM_ENGINES`): engines by index.
pub(crate) type EngineMap = KVec<Slot>;

/// How a batch selects its engine in a context.
enum Selector {
    /// Undecided: no batch was submitted yet, and user space may still set an engine map.
    Open,
    /// By the engines' fixed ring names.
    Names,
    /// By the index in an engine map.
    List(Arc<EngineMap>),
}

/// Returns the virtual engines' parts of a context in an engine map.
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
    /// The number of engines, which fits: see `MAX_ENGINES`.
    engines: u8,
    /// Whether they are execlist engines.
    lists: bool,
    /// Its seats on execlist engines, by engine, once it has one.
    seats: SetOnce<KVec<SetOnce<Seat>>>,
    /// Its PPGTT, if it does not use the global space.
    space: SetOnce<Arc<OwnSpace>>,
    /// Whether the image holds a state that can be restored.
    saved: Atomic<bool>,
    /// The limits of requests in flight on each timeline.
    quota: Arc<Quota>,
    #[pin]
    timelines: Mutex<Timelines>,
    /// The state that all parts of the context share.
    state: Arc<ContextState>,
    #[pin]
    selector: Mutex<Selector>,
    /// Serializes the creation of image, seats and space, and holds what user space chose for
    /// them.
    #[pin]
    making: Mutex<Chosen>,
}

/// The choices of user space for a context that has not run yet.
#[derive(Default)]
struct Chosen {
    /// The VM.
    space: Option<Arc<OwnSpace>>,
    /// Images to begin with instead of the golden one, each with the number of its engine.
    images: KVec<(usize, KVVec<u32>)>,
}

/// Keys are never reused.
static NEXT_KEY: Atomic<u64> = Atomic::new(1);

impl Context {
    /// Creates a context for `engines` engines, which are execlist engines if `lists` is set;
    /// `alive` counts it.
    pub(crate) fn new(
        engines: usize,
        lists: bool,
        alive: &Arc<Atomic<i64>>,
        holder: Option<Arc<Holder>>,
    ) -> Result<Arc<Self>> {
        Self::with(engines as u8, lists, ContextState::new(alive, holder)?)
    }

    /// Creates a part of the context, with timelines and images of its own. A part has no parts. It
    /// is to use this context's space.
    pub(super) fn part(&self) -> Result<Arc<Self>> {
        Self::with(self.engines, self.lists, self.state.clone())
    }

    fn with(engines: u8, lists: bool, state: Arc<ContextState>) -> Result<Arc<Self>> {
        Arc::pin_init(
            try_pin_init!(Self {
                key: ContextKey(NEXT_KEY.fetch_add(1, ordering::Relaxed)),
                image: SetOnce::new(),
                engines,
                lists,
                seats: SetOnce::new(),
                space: SetOnce::new(),
                saved: Atomic::new(false),
                quota: Quota::of_timelines()?,
                timelines <- new_mutex!(Timelines::default(), "ouro_timelines"),
                state,
                selector <- new_mutex!(Selector::Open, "ouro_context_selector"),
                making <- new_mutex!(Chosen::default(), "ouro_image"),
            }? Error),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Returns the key by which ports know it.
    pub(crate) fn key(&self) -> ContextKey {
        self.key
    }

    /// Returns the limits of its requests in flight.
    pub(super) fn quota(&self) -> &Arc<Quota> {
        &self.quota
    }

    /// Returns its timelines, by engine.
    pub(crate) fn timelines(&self) -> &Mutex<Timelines> {
        &self.timelines
    }

    /// Returns its timeline on an engine, for a request. Errors: `EINVAL` if there is no such
    /// engine, `ENOMEM`.
    pub(super) fn timeline<'a>(
        &self,
        timelines: &'a mut Timelines,
        engine: usize,
    ) -> Result<&'a mut Timeline> {
        timelines.of(engine, self.engines.into())
    }

    /// Makes all its batches run in the order of submission (single timeline). None is submitted
    /// yet.
    pub(crate) fn set_in_order(&self) {
        self.state.in_order.set(true);
    }

    /// Returns the last batch on any engine, if batches run in order. Lock it inside of the
    /// timelines.
    pub(super) fn last(&self) -> Option<&Mutex<Option<ARef<Fence>>>> {
        let state = &self.state;
        state.in_order.get().then_some(&state.last)
    }

    /// Returns its parameters.
    pub(crate) fn params(&self) -> &Params {
        &self.state.params
    }

    /// Returns its engine map, if user space has set one.
    pub(crate) fn engines(&self) -> Option<Arc<EngineMap>> {
        match &*self.selector.lock() {
            Selector::List(map) => Some(map.clone()),
            Selector::Open | Selector::Names => None,
        }
    }

    /// Returns its engine map, and rules out later changes, because the caller relies on it.
    pub(crate) fn freeze_engines(&self) -> Option<Arc<EngineMap>> {
        let mut selector = self.selector.lock();
        match &*selector {
            Selector::List(map) => Some(map.clone()),
            Selector::Open | Selector::Names => {
                *selector = Selector::Names;
                None
            }
        }
    }

    /// Returns whether user space may still set an engine map.
    pub(crate) fn has_open_engines(&self) -> bool {
        matches!(&*self.selector.lock(), Selector::Open)
    }

    /// Sets the engine map. Errors: `EINVAL` if there is one, or if batches were submitted without
    /// one.
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

    /// Returns the client that it belongs to; `None` for the kernel's.
    pub(crate) fn holder(&self) -> Option<&Holder> {
        self.state.holder.as_deref()
    }

    /// Returns its record of hangs.
    pub(crate) fn guilt(&self) -> &Guilt {
        &self.state.guilt
    }

    /// Records a hang of its request. Returns `Some` if it was banned for that. Called under the
    /// lock of the reset.
    pub(crate) fn record_hang(&self) -> Option<Banned> {
        let state = &self.state;
        let banned = state.guilt.record_hang(
            time::monotonic_ns(),
            state.params.bannable.get(),
            state.params.recoverable.get(),
        );
        let holder = state.holder.as_ref().filter(|_| banned)?;
        Some(Banned {
            client: holder.record_ban(time::monotonic_ns()),
        })
    }

    /// Returns whether its requests are emitted without their batches from now on. Any context.
    pub(crate) fn skips_batches(&self) -> bool {
        let state = &self.state;
        state.guilt.is_banned()
            || self.is_revoked()
            || state.holder.as_ref().is_some_and(|o| o.is_banned())
    }

    /// Returns whether it was closed, and its published requests are to be cancelled.
    pub(crate) fn is_revoked(&self) -> bool {
        self.revoked().is_some()
    }

    /// Returns when it was revoked, in nanoseconds.
    pub(super) fn revoked(&self) -> Option<u64> {
        self.state.revoked.get()
    }

    /// The client has closed the context: its published requests continue only if it is persistent
    /// and hangcheck `watched`. Any context.
    pub(crate) fn close(&self, watched: bool) {
        self.state.closed.set(true);
        if !(watched && self.state.params.persistent.get()) {
            self.state.revoked.set();
        }
    }

    /// Hangcheck was switched off: published requests of a closed context are cancelled. Any
    /// context.
    pub(super) fn unwatch(&self) {
        if self.state.closed.get() {
            self.state.revoked.set();
        }
    }

    /// Returns its seat on an execlist engine, if it has one.
    pub(crate) fn seat(&self, engine: &Engine) -> Option<&Seat> {
        self.seats.as_ref()?.get(engine.index())?.as_ref()
    }

    /// Returns its seat on an execlist engine; creates it if there is none, from the image that
    /// user space chose, if it did. Process context.
    pub(crate) fn make_seat(
        &self,
        engine: &Engine,
        make: impl FnOnce(Option<&[u32]>) -> Result<Seat>,
    ) -> Result<&Seat> {
        let chosen = self.making.lock();
        if self.seats.as_ref().is_none() {
            let places = if self.lists { self.engines.into() } else { 0 };
            let mut seats = KVec::with_capacity(places, GFP_KERNEL_ACCOUNT)?;
            for _ in 0..places {
                seats.push(SetOnce::new(), GFP_KERNEL_ACCOUNT)?;
            }
            self.seats.populate(seats);
        }
        let seats = self.seats.as_ref().ok_or(EINVAL)?;
        let seat = seats.get(engine.index()).ok_or(EINVAL)?;
        if seat.as_ref().is_none() {
            let mut images = chosen.images.iter();
            let image = images.find(|(index, _)| *index == engine.index());
            seat.populate(make(image.map(|(_, image)| image.as_slice()))?);
        }
        seat.as_ref().ok_or(EINVAL)
    }

    /// Chooses the image with which the context begins on an execlist engine. Errors: `EBUSY` if it
    /// has an image there already, chosen or in use; `ENOMEM`. Process context.
    pub(crate) fn choose_image(&self, engine: &Engine, image: KVVec<u32>) -> Result {
        let mut chosen = self.making.lock();
        let index = engine.index();
        if self.seat(engine).is_some() || chosen.images.iter().any(|(i, _)| *i == index) {
            return Err(EBUSY);
        }
        Ok(chosen.images.push((index, image), GFP_KERNEL_ACCOUNT)?)
    }

    /// Returns the ring for its requests on an engine. The context must be prepared for the engine.
    pub(crate) fn line<'a>(&'a self, engine: &'a Engine) -> &'a Arc<Line> {
        match self.seat(engine) {
            Some(seat) => seat.logical_ring().line(),
            None => engine.line(),
        }
    }

    /// Returns its PPGTT, if it does not use the global space.
    pub(crate) fn space(&self) -> Option<&Arc<OwnSpace>> {
        self.space.as_ref()
    }

    /// Returns its PPGTT; if it has none, gives it the chosen VM, or a new one. Process context.
    pub(crate) fn make_space(
        &self,
        make: impl FnOnce() -> Result<Arc<OwnSpace>>,
    ) -> Result<&Arc<OwnSpace>> {
        let mut chosen = self.making.lock();
        if self.space.as_ref().is_none() {
            let space = match chosen.space.take() {
                Some(space) => space,
                None => make()?,
            };
            self.space.populate(space);
        }
        self.space.as_ref().ok_or(EINVAL)
    }

    /// Chooses its PPGTT (VM). Errors: `EINVAL` if it has one already. Process context.
    pub(crate) fn choose_space(&self, space: Arc<OwnSpace>) -> Result {
        let mut chosen = self.making.lock();
        if self.space.as_ref().is_some() {
            return Err(EINVAL);
        }
        let before = chosen.space.replace(space);
        drop(chosen);
        drop(before);
        Ok(())
    }

    /// Returns the priority of new requests, on engines that have priorities: higher is more
    /// urgent.
    pub(crate) fn priority(&self) -> i32 {
        self.state.priority.load(ordering::Relaxed)
    }

    /// Sets the [`priority`](Self::priority).
    pub(crate) fn set_priority(&self, priority: i32) {
        self.state.priority.store(priority, ordering::Relaxed);
    }

    /// Returns its image, if it has one.
    pub(crate) fn image(&self) -> Option<&Arc<Image>> {
        self.image.as_ref().map(|i| &**i)
    }

    /// Returns its image; creates it if there is none, and `saved` tells whether that holds a
    /// state. Process context.
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

    /// Returns whether its image can be restored.
    pub(crate) fn is_saved(&self) -> bool {
        self.saved.load(ordering::Relaxed)
    }

    /// The device has lost the context's state without saving it: the image holds none.
    pub(crate) fn forget_saved(&self) {
        self.saved.store(false, ordering::Relaxed);
    }

    /// The device will have saved the context at the next switch to it.
    pub(crate) fn set_saved(&self) {
        self.saved.store(true, ordering::Relaxed);
    }
}
