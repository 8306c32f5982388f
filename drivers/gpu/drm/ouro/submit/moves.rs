// SPDX-License-Identifier: GPL-2.0

//! Moving BOs between regions (migration). The reasons to move are in
//! [`migrate`](crate::gem::migrate).
//!
//! A move is a request on an engine that can copy pages, in the kernel's context if the engine has
//! contexts. It waits for all uses of the BO, and all later uses wait for it: its fence is in the
//! BO's reservation as a kernel fence, and mappings of user space are empty until it is signalled.
//! The BO is at its new place at once; its old pages, and its earlier bindings, are kept until the
//! copy is done. A BO that has no memory yet moves by being cleared at its new place, if an engine
//! can do that.

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
        Mover, Object, Owner, Runner,
    },
    vm::Place,
};

/// Largest BO that may move to VRAM: moving it back needs two ranges of addresses.
const LARGEST: u64 = (SPACE >> 1) - (1 << 24);

/// Size in bytes of the address range of copies.
const SPACE: u64 = 1 << 32;

/// The resources of a move, kept until it is done.
pub(crate) struct Moving {
    /// Source and destination, as the copy addresses them.
    mappings: KVec<Binding>,
    /// The BO's bindings that earlier requests use.
    known: Bindings,
    /// Its old memory; `None` if it had none, and is cleared.
    old: Option<Arc<Backing>>,
    new: Arc<Backing>,
    fence: ARef<Fence>,
    retirer: Arc<Retirer>,
    /// Whether the move has begun: the BO is at its new place.
    begun: bool,
}

impl Moving {
    /// Starts the move. Keeps the BO's earlier bindings.
    pub(crate) fn keep(&mut self, known: Bindings) {
        self.known = known;
        self.begun = true;
    }

    /// Returns whether it may end: if the move that fills its source has failed, the CPU repairs
    /// that first.
    pub(crate) fn may_end(&self) -> bool {
        self.old.as_ref().is_none_or(|old| old.is_settled())
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        if !self.begun {
            // The old memory is still the BO's.
            return;
        }
        let contents = match (self.fence.status(), &self.old) {
            // The device was lost before the copy was done. Its memory can still be read.
            (Some(Err(_)), Some(old)) if old.is_settled() && !old.is_spoiled() => {
                self.new.copy_from(old)
            }
            // That holds another client's data.
            (Some(Err(_)), Some(_)) => Err(EIO),
            (Some(Err(_)), None) => self.new.clear(),
            _ => Ok(()),
        };
        // Before the BO may move back to the old memory, and reuse these addresses.
        self.mappings.clear();
        self.known.clear();
        let old = self.old.take();
        if contents.is_err() {
            return self.new.arrived(Err(old));
        }
        self.new.arrived(Ok(()));
        if let Some(old) = old {
            self.retirer.quarantine_memory(old);
        }
    }
}

/// Returns the engine that copies pages, if there is one.
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

/// Moves a BO as [`Mover::start`] does; a BO without memory gets some in the region, too.
///
/// Errors: those of [`Mover::start`] and of [`contents::begin`].
pub(super) fn move_or_populate(
    gpu: &Executor,
    object: &Object,
    locked: &Locked<'_>,
    to: &Arc<Region>,
) -> Result<Option<ARef<Fence>>> {
    let fills = copier(gpu).is_some_and(|e| e.hw().desc().fill_pages != 0);
    if fills && to.is_windowed() {
        return run(gpu, object, locked, to, Untouched::IsFilled);
    }
    // A BO that was never touched is zero, and moves there as zeros.
    contents::begin(object)?;
    gpu.start(object, locked, to)
}

/// Returns whether the addresses that the copies have are enough to move a BO to a region or out of
/// it.
pub(super) fn fits(object: &Object, to: &Region) -> bool {
    !to.is_windowed() || object.bytes() <= LARGEST
}

/// Returns whether [`move_or_populate`] would move a BO, if it were idle and there were room.
pub(super) fn may_move(object: &Object, to: &Arc<Region>) -> bool {
    fits(object, to) && !stays(object, &object.lock_state(), to, Untouched::IsFilled)
}

/// What a move does with a BO that has no memory yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Untouched {
    /// It gets none.
    Stays,
    /// It gets some, cleared by the engine.
    IsFilled,
}

/// Moves a BO: first plans all that may fail, then begins.
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
    contents::restore_former(object, &mut state)?;
    if stays(object, &state, to, untouched) {
        return Ok(None);
    }
    if !fits(object, to) {
        return Err(ENOSPC);
    }
    let endpoints = Endpoints::new(gpu, object, &state, to)?;
    let mut after = KVVec::new();
    object.resv().collect(Usage::Bookkeep, &mut after)?;
    let slots = locked.reserve_fences(1)?;
    let Some(plan) = Plan::new(gpu, engine, endpoints, after)? else {
        return Ok(None);
    };
    let listed = gpu.reclaim().enlist(object, &plan.new, state.worth())?;
    Ok(Some(plan.begin(gpu, object, slots, &mut state, listed)))
}

/// Returns whether a BO is not moved: it is there already, must not leave, or has nothing to move.
fn stays(object: &Object, state: &State, to: &Arc<Region>, untouched: Untouched) -> bool {
    match state.backing() {
        // A BO whose contents were lost in a move is not worth moving.
        Some(old) => state.is_pinned() || old.lives_in(object.gpu(), to) || old.is_hidden(),
        None => {
            let foreign = object.attachment().is_some() || object.user().is_some();
            untouched == Untouched::Stays || foreign || !state.is_untouched()
        }
    }
}

/// Source and destination of a move, as the engine addresses them.
#[derive(Clone, Copy)]
struct Sides {
    /// The source; `None` if the destination is cleared.
    from: Option<GgttAddr>,
    onto: GgttAddr,
    memory: MemoryKind,
    /// Address of the compression state (CCS), and its bytes per page. `None`: nothing is
    /// compressed.
    state: Option<(GgttAddr, u32)>,
}

impl Sides {
    /// Returns how many pages one request can move.
    fn most(&self, desc: &EngineDesc) -> u32 {
        match self.from {
            Some(_) => desc.copy_pages,
            None => desc.fill_pages,
        }
    }

    /// Returns the work that moves `pages` pages from page `first` on.
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

/// The new memory of a move that has not begun. If it does not begin, the memory goes the way of
/// memory that is freed: it was mapped, and an engine that shares the table may have its PTEs.
struct Fresh {
    memory: Option<Arc<Backing>>,
    runner: Arc<dyn Runner>,
}

impl Fresh {
    /// The move begins: the memory is the BO's.
    fn keep(mut self) {
        self.memory = None;
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            memory.release(&self.runner);
        }
    }
}

/// A BO's old and new memory, and their addresses for the copy.
struct Endpoints {
    // Unmapped before the memory is released.
    mappings: KVec<Binding>,
    old: Option<Arc<Backing>>,
    new: Arc<Backing>,
    fresh: Fresh,
    sides: Sides,
}

impl Endpoints {
    /// Allocates the new memory and binds both. Errors: those of [`Mover::start`].
    fn new(gpu: &Executor, object: &Object, state: &State, to: &Arc<Region>) -> Result<Self> {
        let old = state.backing().cloned();
        let new = Backing::target(gpu, to, object)?;
        let fresh = Fresh {
            memory: Some(new.clone()),
            runner: gpu.bo_device().runner().clone(),
        };
        let space = gpu.space_of(gpu.kernel_context())?;
        let anywhere = Place::Within {
            range: (0, SPACE),
            align: object.grain(),
            preferred: None,
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
        // It is behind the system memory's pages, whichever side that is.
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
            fresh,
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

/// A planned move: the BO is unchanged yet.
struct Plan<'a> {
    /// The requests, as many as it takes; each waits for the one before it.
    requests: KVec<Prepared<'a>>,
    /// The fence of the last request.
    done: ARef<Fence>,
    new: Arc<Backing>,
    fresh: Fresh,
    /// Whether the BO has no memory yet.
    is_filled: bool,
}

impl<'a> Plan<'a> {
    /// Creates the requests, which wait for `after`. `None` if there is no page to move. Errors:
    /// those of [`Mover::start`].
    fn new(
        gpu: &Executor,
        engine: &'a Arc<Engine>,
        endpoints: Endpoints,
        mut after: KVVec<ARef<Fence>>,
    ) -> Result<Option<Self>> {
        let Endpoints {
            old,
            new,
            fresh,
            sides,
            mappings,
        } = endpoints;
        let most = sides.most(engine.hw().desc());
        let is_filled = old.is_none();
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
                // Any loaded context will do.
                false => None,
            };
            let line = gpu.kernel_context().line(engine).clone();
            let draft = Draft::new(target, line, None)?;
            let fence: ARef<Fence> = draft.fence().into();
            // The last request releases the resources.
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
            let moving = match moving {
                Some(moving) => Some(KBox::new(moving, GFP_KERNEL)?),
                None => None,
            };
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
            is_filled,
        }))
    }

    /// Puts the BO to its new place, where it is `listed`, and publishes the requests. Returns the
    /// fence of the move.
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
            is_filled,
        } = self;
        // User space's mappings are empty until the copy is done: faults wait for it.
        bind::hide(object);
        if let Some(aperture) = gpu.aperture() {
            aperture.revoke(object);
        }
        if is_filled {
            gpu.count_pages(i64::from(new.len()));
        }
        fresh.keep();
        new.arrives(done.clone());
        if let Some(last) = requests.last_mut() {
            last.keep(state.moved(new, listed));
        }
        object.show_status(state);
        let _signalling = fence::signalling();
        // There is capacity.
        let _ = slots.add_fence(&done, Usage::Kernel);
        if !is_filled {
            gpu.count_moved(object.bytes());
        }
        for prepared in requests {
            prepared.publish(gpu, |_| ());
        }
        done
    }
}
