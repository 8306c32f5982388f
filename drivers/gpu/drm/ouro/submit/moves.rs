// SPDX-License-Identifier: GPL-2.0

//! Moving objects from one region to another. Why they do is in [`leave`](crate::gem::leave).
//!
//! A move is a request on an engine that can copy pages, in the context of the kernel's own where it has
//! one. It waits for all that uses the object, and whatever comes after it waits for it: its fence stands
//! in the object's reservation for everyone, and user space's mappings are empty until it is signalled.
//! The object is at its new place at once; the old pages, and the addresses that earlier requests know,
//! are kept until the copy is done. What has no memory yet moves in by being filled with zeros, where an
//! engine can do that.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
};
use ouro_hw::{
    engine::{EngineDesc, PageCopy, PageFill},
    types::{CacheLevel, GgttAddr, MemoryKind, PAGE_SIZE},
};
use ouro_kernel::{
    fence::{self, Fence},
    resv::{HasResv, Locked, Slots, Usage},
};

use super::{
    executor::Executor,
    lists::balanced::Target,
    publish::{Draft, Parts, Prepared},
    request::{Awake, Work},
    Engine, Retirer,
};
use crate::{
    gem::{
        bind, bo::State, contents, region::Region, shrink::Listed, Backing, Binding, Bindings,
        Mover, Object, Owner,
    },
    vm::Place,
};

/// Largest object that enters memory of the device's own: to leave it, it needs addresses twice.
const LARGEST: u64 = (SPACE >> 1) - (1 << 24);

/// Bytes of addresses that copies know.
const SPACE: u64 = 1 << 32;

/// What a move needs until it is done.
pub(crate) struct Moving {
    /// Where the copy finds both sides.
    mappings: KVec<Binding>,
    /// Where earlier requests know the object.
    known: Bindings,
    /// Where it was; `None`: nowhere, and it is all zero.
    old: Option<Arc<Backing>>,
    new: Arc<Backing>,
    fence: ARef<Fence>,
    retirer: Arc<Retirer>,
    /// Whether it is more than a plan: the object is at its new place.
    begun: bool,
}

impl Moving {
    /// It begins. Keeps the addresses that the object has had.
    pub(crate) fn keep(&mut self, known: Bindings) {
        self.known = known;
        self.begun = true;
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        if !self.begun {
            // The old memory is the object's.
            return;
        }
        let contents = match (self.fence.status(), &self.old) {
            // The device was lost before it had done it. Memory stays readable.
            (Some(Err(_)), Some(old)) => self.new.copy_from(old),
            (Some(Err(_)), None) => self.new.clear(),
            _ => Ok(()),
        };
        // Before anybody may go back to the old memory, and give it these addresses.
        self.mappings.clear();
        self.known.clear();
        let old = self.old.take();
        if contents.is_err() {
            return self.new.arrived(Err(old));
        }
        self.new.arrived(Ok(()));
        if let Some(old) = old {
            self.retirer.bury(old);
        }
    }
}

/// The engine that copies pages, where there is one.
fn copier(gpu: &Executor) -> Option<&Arc<Engine>> {
    let mut engines = gpu.engines().iter();
    engines.find(|e| e.hw().desc().copy_pages != 0)
}

impl Mover for Executor {
    fn start(
        &self,
        object: &Object,
        locked: &Locked<'_>,
        to: &Arc<Region>,
    ) -> Result<Option<ARef<Fence>>> {
        run(self, object, locked, to, Untouched::Stays)
    }
}

/// Moves an object as [`Mover::start`]; what has no memory yet gets some there, too.
///
/// Errors: those of [`Mover::start`] and of [`contents::begin`].
pub(super) fn settle(
    gpu: &Executor,
    object: &Object,
    locked: &Locked<'_>,
    to: &Arc<Region>,
) -> Result<Option<ARef<Fence>>> {
    let fills = copier(gpu).is_some_and(|e| e.hw().desc().fill_pages != 0);
    if fills && to.is_windowed() {
        return run(gpu, object, locked, to, Untouched::IsFilled);
    }
    // What was never touched is zero, and goes there as that.
    contents::begin(object)?;
    gpu.start(object, locked, to)
}

/// What becomes of an object that has no memory yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Untouched {
    /// It has none after it, too.
    Stays,
    /// It gets some, which the engine sets to zero.
    IsFilled,
}

/// A move, from first to last: what may fail is planned, and then it begins.
fn run(
    gpu: &Executor,
    object: &Object,
    locked: &Locked<'_>,
    to: &Arc<Region>,
    untouched: Untouched,
) -> Result<Option<ARef<Fence>>> {
    gpu.usable()?;
    let engine = copier(gpu).ok_or(ENODEV)?;
    let mut state = object.lock_state();
    contents::go_back(object, &mut state)?;
    if stays(object, &state, to, untouched) {
        return Ok(None);
    }
    if to.is_windowed() && object.bytes() > LARGEST {
        return Err(ENOSPC);
    }
    let way = Way::new(gpu, object, &state, to)?;
    let mut after = KVVec::new();
    object.resv().collect(Usage::Bookkeep, &mut after)?;
    let slots = locked.reserve_fences(1)?;
    let Some(plan) = Plan::new(gpu, engine, way, after)? else {
        return Ok(None);
    };
    let listed = gpu.reclaim().enlist(object, &plan.new, state.worth())?;
    Ok(Some(plan.begin(gpu, object, slots, &mut state, listed)))
}

/// Whether an object is not moved: it is there already, may not leave, or has nothing to be moved.
fn stays(object: &Object, state: &State, to: &Arc<Region>, untouched: Untouched) -> bool {
    match state.backing() {
        // What was lost on its way is not worth the way.
        Some(old) => state.is_pinned() || old.lives_in(object.gpu(), to) || old.is_hidden(),
        None => {
            let foreign = object.attachment().is_some() || object.user().is_some();
            untouched == Untouched::Stays || foreign || !state.is_untouched()
        }
    }
}

/// Where the engine finds both sides of a move.
#[derive(Clone, Copy)]
struct Sides {
    /// `None`: nothing is copied, zeros are written.
    from: Option<GgttAddr>,
    onto: GgttAddr,
    memory: MemoryKind,
    /// Where the state of compression is, or goes, and its bytes for each page. `None`: nothing is compressed.
    state: Option<(GgttAddr, u32)>,
}

impl Sides {
    /// Pages that one request can move.
    fn most(&self, desc: &EngineDesc) -> u32 {
        match self.from {
            Some(_) => desc.copy_pages,
            None => desc.fill_pages,
        }
    }

    /// What moves some of the pages, from number `first` on.
    fn part(&self, first: u32, pages: u32) -> Work {
        let behind = |start: GgttAddr, bytes| GgttAddr(start.0.wrapping_add(bytes));
        let at = |start| behind(start, first.wrapping_mul(PAGE_SIZE));
        let state = self.state;
        match self.from {
            Some(from) => Work::Copy(PageCopy {
                from: at(from),
                to: at(self.onto),
                pages,
                memory: self.memory,
                state: state.map(|(start, each)| behind(start, first.wrapping_mul(each))),
            }),
            None => Work::Fill(PageFill {
                to: at(self.onto),
                pages,
                value: 0,
                memory: self.memory,
            }),
        }
    }
}

/// The memory that an object leaves, the memory that it gets, and addresses for both.
struct Way {
    old: Option<Arc<Backing>>,
    new: Arc<Backing>,
    sides: Sides,
    mappings: KVec<Binding>,
}

impl Way {
    /// Errors: those of [`Mover::start`].
    fn new(gpu: &Executor, object: &Object, state: &State, to: &Arc<Region>) -> Result<Self> {
        let old = state.backing().cloned();
        let new = Backing::target(gpu, to, object)?;
        let space = gpu.space_of(gpu.kernel_context())?;
        let anywhere = Place::Within {
            range: (0, SPACE),
            align: object.grain(),
            rather: None,
        };
        let mut mappings = KVec::with_capacity(3, GFP_KERNEL)?;
        let mut map = |side: &Backing| -> Result<GgttAddr> {
            let binding = side.bind_object(gpu, space, anywhere, 0, Owner::Move, state.cache())?;
            let at = binding.ggtt();
            mappings.push(binding, GFP_KERNEL)?;
            Ok(at)
        };
        let from = match &old {
            Some(old) => Some(map(old)?),
            None => None,
        };
        let onto = map(&new)?;
        let memory = to.memory_kind();
        // It lies behind the pages of the system's, on whichever side those are.
        let has_state = |side: &&Arc<Backing>| side.state_pages() != 0;
        let state = match [old.as_ref(), Some(&new)]
            .into_iter()
            .flatten()
            .find(has_state)
        {
            Some(side) if old.is_some() => {
                let (first, count) = (side.len(), side.state_pages());
                let (pages, span) = (first..first + count, u64::from(count));
                let cache = CacheLevel::Coherent;
                let mapping = side.bind_part(space, anywhere, pages, span, Owner::Move, cache)?;
                let at = mapping.ggtt();
                mappings.push(Binding::Mapped(mapping), GFP_KERNEL)?;
                Some((at, gpu.state_bytes()))
            }
            _ => None,
        };
        Ok(Self {
            old,
            new,
            sides: Sides {
                from,
                onto,
                memory,
                state,
            },
            mappings,
        })
    }
}

/// A move that can begin: nothing of the object has changed yet.
struct Plan<'a> {
    /// As many as one is too short for; each waits for the one before it.
    requests: KVec<Prepared<'a>>,
    /// The fence of the last one.
    done: ARef<Fence>,
    new: Arc<Backing>,
    /// Whether the object has no memory yet.
    fresh: bool,
}

impl<'a> Plan<'a> {
    /// Makes the requests, which wait for `after`. `None` if there is no page to move. Errors: those of
    /// [`Mover::start`].
    fn new(
        gpu: &Executor,
        engine: &'a Arc<Engine>,
        way: Way,
        mut after: KVVec<ARef<Fence>>,
    ) -> Result<Option<Self>> {
        let Way {
            old,
            new,
            sides,
            mappings,
        } = way;
        let most = sides.most(engine.hw().desc());
        let fresh = old.is_none();
        let mut held = Some((old, mappings));
        let mut requests = KVec::new();
        let mut last = None;
        let mut first = 0;
        while first < new.len() {
            let pages = most.min(new.len() - first);
            let work = sides.part(first, pages);
            first += pages;
            let target = Target::One(engine.clone());
            let context = match engine.has_lists() {
                true => Some(gpu.prepare(gpu.kernel_context(), &target)?),
                // It does not matter which one is loaded.
                false => None,
            };
            let line = gpu.kernel_context().line(engine);
            let draft = Draft::new(target, line, None)?;
            let fence: ARef<Fence> = draft.fence().into();
            // The last one lets go of it all.
            let held = held.take_if(|_| first == new.len());
            let moving = held.map(|(old, mappings)| Moving {
                mappings,
                known: Bindings::new(),
                old,
                new: new.clone(),
                fence: fence.clone(),
                retirer: gpu.retirer().clone(),
                begun: false,
            });
            let mut next = KVVec::with_capacity(1, GFP_KERNEL)?;
            next.push(fence.clone(), GFP_KERNEL)?;
            let parts = Parts {
                context,
                moving,
                ..Parts::new(work, Awake::new(gpu.hardware())?)
            };
            let prepared = draft.complete(parts, core::mem::replace(&mut after, next).into())?;
            requests.push(prepared, GFP_KERNEL)?;
            last = Some(fence);
        }
        Ok(last.map(|done| Self {
            requests,
            done,
            new,
            fresh,
        }))
    }

    /// The object is at its new place, where it is `listed` so, and the requests are published. Returns
    /// the fence of the move.
    fn begin(
        self,
        gpu: &Executor,
        object: &Object,
        mut slots: Slots<'_>,
        state: &mut State,
        listed: Option<Listed>,
    ) -> ARef<Fence> {
        let Self {
            mut requests,
            done,
            new,
            fresh,
        } = self;
        // User space finds nothing there until the copy is done: faults wait for it.
        bind::hide(object);
        if let Some(aperture) = gpu.aperture() {
            aperture.revoke(object);
        }
        if fresh {
            gpu.count_pages(i64::from(new.len()));
        }
        new.arrives(done.clone());
        if let Some(last) = requests.last_mut() {
            last.keep(state.moved(new, listed));
        }
        object.show_status(state);
        let _signalling = fence::signalling();
        // There is room.
        let _ = slots.add_fence(&done, Usage::Kernel);
        if !fresh {
            gpu.count_moved(object.bytes());
        }
        for prepared in requests {
            prepared.publish(gpu, |_| ());
        }
        done
    }
}
