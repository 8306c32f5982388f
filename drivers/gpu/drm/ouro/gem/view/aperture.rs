// SPDX-License-Identifier: GPL-2.0

//! The aperture: a window of the CPU onto the first part of the global table's space.
//!
//! User space sees an object through it in *views*. A view is a mapping of its own of a part of the
//! object ([`ouro_core::view`]), in the global table only and below the aperture's end. Where batches
//! have the object is another matter: it is neither used nor moved for a view. A view of a tiled object
//! that user space can touch has a detiling fence.
//!
//! Views are a cache, filled by page faults. When the window is full, or a batch needs the
//! addresses, views give way, like pages to the hand of a clock: one that was faulted since the hand came
//! by last is passed over once. When the fences run out, the view that was faulted longest ago loses
//! its one. Either way user space's page table entries go first, so that its next touch is a fault.
//!
//! Where a reset empties the fences, what a program sees of tiled objects through the window would be wrong until
//! they are written anew. So whoever resets draws a veil first ([`Aperture::veil`]): no view with a fence is mapped
//! while it is there, and faults wait.
//!
//! Everything is under one lock, [`Aperture::inner`], below an object's own and above the space's.
//! Entries of user space are put in and taken out under it: so a view that is not in the table
//! has none. Memory is allocated under it; who is called by reclaim may only try it.

use kernel::{
    new_mutex,
    prelude::*,
    rbtree::{RBTree, RBTreeNodeReservation},
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
    time::{delay::fsleep, Delta},
};
use ouro_core::{
    veil::fault_waits,
    view::{Part, Parts},
};
use ouro_hw::{
    fence_regs::{FenceRegion, Tiling},
    types::{CacheLevel, GgttAddr, GpuAddr, PAGE_SIZE},
};
use ouro_kernel::{
    gem::{Fault, FaultError, Weak},
    pci::Claim,
};

use super::fences::Fences;
use crate::{
    gem::{bo::kind, Backing, Bo, Mapping, Object, Owner, Space},
    hardware::Hardware,
    vm::Place,
};

/// Pages that one fault maps at most: the reach of one page of the CPU's tables.
const AROUND: usize = 512;

/// How the bytes of an object are ordered, if they are tiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tiled {
    /// The tiles.
    pub(crate) tiling: Tiling,
    /// Bytes from one row to the next.
    pub(crate) stride: u32,
}

impl Tiled {
    /// So many bytes at an address that is not of a table. `None`: no fence reaches there.
    pub(crate) fn region(&self, at: GpuAddr, bytes: u64) -> Option<FenceRegion> {
        Some(FenceRegion {
            start: GgttAddr(u32::try_from(at.0).ok()?),
            len: u32::try_from(bytes).ok()?,
            stride: self.stride,
            tiling: self.tiling,
        })
    }

    /// Pages of a row of tiles.
    fn row(&self) -> u64 {
        u64::from(self.stride) * u64::from(self.tiling.rows()) / u64::from(PAGE_SIZE)
    }
}

/// How the aperture is to see an object.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// How the device caches it.
    pub(crate) cache: CacheLevel,
    /// How its bytes are ordered.
    pub(crate) tiled: Option<Tiled>,
}

/// Why a fault has not mapped anything.
pub(crate) enum Refused {
    /// So many pages of the aperture are needed, and objects of batches are in the way.
    NoRoom(u32),
    /// There is no aperture any more.
    Closed,
    /// The fences hold nothing for a while.
    Veiled,
    /// Any other reason.
    Failed(FaultError),
}

impl From<FaultError> for Refused {
    fn from(e: FaultError) -> Self {
        Self::Failed(e)
    }
}

impl From<Error> for Refused {
    fn from(e: Error) -> Self {
        Self::Failed(e.into())
    }
}

/// Which part of which object, which is known by its place in memory: it has no views left
/// when it is freed.
type Key = (usize, u64);

fn id(object: &Bo) -> usize {
    core::ptr::from_ref(object).addr()
}

/// A part of an object in the aperture.
struct View {
    mapping: Mapping,
    key: Key,
    object: Weak<Bo>,
    part: Part,
    fence: Option<u8>,
    /// Whether there was a fault since the hand came by.
    used: bool,
    /// When the last one was.
    faulted: u64,
}

/// What the lock protects.
struct Inner {
    /// Views, by their first page in the aperture.
    views: RBTree<u32, View>,
    /// The same, by what they show.
    parts: RBTree<Key, u32>,
    /// Which view has which fence.
    holders: KVec<Option<u32>>,
    /// Where the next view to give way is looked for.
    hand: u32,
    /// Faults so far.
    now: u64,
    open: bool,
}

/// How often a veil tries to have the lock: whoever has it may wait for memory, and so for who resets.
const VEIL_TRIES: u32 = 50;

/// Tiled objects are not mapped through the aperture as long as this is there.
pub(crate) struct Veil<'a>(&'a Aperture);

impl Drop for Veil<'_> {
    fn drop(&mut self) {
        self.0.veils.fetch_sub(1, ordering::Release);
    }
}

/// The aperture of a device.
#[pin_data]
pub(crate) struct Aperture {
    hardware: Arc<Hardware>,
    space: Arc<Space>,
    /// Its bytes on the bus.
    window: Claim,
    pages: u32,
    #[pin]
    fences: Fences,
    #[pin]
    inner: Mutex<Inner>,
    /// How many there are.
    veils: Atomic<u32>,
    shown: Atomic<u64>,
    stolen: Atomic<u64>,
}

/// What has happened so far.
#[derive(Default)]
pub(crate) struct Counts {
    /// Views made.
    pub(crate) views: u64,
    /// Fences taken from one view for another.
    pub(crate) stolen: u64,
    /// Fences set or cleared.
    pub(crate) fence_writes: u64,
}

impl Aperture {
    /// The window with these bytes on the bus. Its fences are empty.
    pub(crate) fn new(
        hardware: Arc<Hardware>,
        space: Arc<Space>,
        window: Claim,
    ) -> Result<Arc<Self>> {
        let topology = hardware.topology();
        let pages = topology
            .aperture
            .min(space.size())
            .div_euclid(PAGE_SIZE.into()) as u32;
        let count = topology.fences.map_or(0, |f| f.count());
        let mut holders = KVec::with_capacity(count.into(), GFP_KERNEL)?;
        for _ in 0..count {
            holders.push(None, GFP_KERNEL)?;
        }
        let this = Arc::pin_init(
            try_pin_init!(Self {
                fences <- Fences::new(hardware.clone())?,
                hardware,
                space,
                window,
                pages,
                inner <- new_mutex!(Inner {
                    views: RBTree::new(),
                    parts: RBTree::new(),
                    holders,
                    hand: 0,
                    now: 0,
                    open: true,
                }, "ouro_aperture"),
                veils: Atomic::new(0),
                shown: Atomic::new(0),
                stolen: Atomic::new(0),
            }? Error),
            GFP_KERNEL,
        )?;
        this.fences.restore();
        Ok(this)
    }

    /// The fences.
    pub(crate) fn fences(&self) -> &Fences {
        &self.fences
    }

    /// Pages.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// What has happened so far.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            views: self.shown.load(ordering::Relaxed),
            stolen: self.stolen.load(ordering::Relaxed),
            fence_writes: self.fences.writes(),
        }
    }

    /// Maps the page of a fault, and its neighbours in the same view, which is made if it is not
    /// there. The caller holds the object's lock, under which its backing and shape do not change.
    pub(crate) fn fault(
        &self,
        object: &Object,
        backing: &Backing,
        shape: Shape,
        fault: &mut Fault<'_>,
    ) -> Result<(), Refused> {
        let wanted = fault.page();
        let row = shape.tiled.map_or(1, |t| t.row());
        let parts = Parts::new(backing.len().into(), row, self.pages.into());
        let part = parts.of(wanted as u64).ok_or(FaultError::Bus)?;
        let key = (id(object), part.index);
        let mut inner = self.inner.lock();
        if !inner.open {
            return Err(Refused::Closed);
        }
        if fault_waits(shape.tiled.is_some(), self.veils.load(ordering::Acquire)) {
            return Err(Refused::Veiled);
        }
        let first = match inner.parts.get(&key) {
            Some(first) => *first,
            None => self.show(&mut inner, key, object, backing, &part, shape.cache)?,
        };
        inner.now = inner.now.wrapping_add(1);
        let now = inner.now;
        let view = inner.views.get_mut(&first).ok_or(FaultError::Bus)?;
        view.used = true;
        view.faulted = now;
        if let (Some(tiled), None) = (shape.tiled, view.fence) {
            self.fence(&mut inner, first, tiled)?;
        }

        let pages = part.pages.start as usize..part.pages.end as usize;
        fault.insert_around(AROUND, pages.clone(), |page| {
            let page = page.checked_sub(pages.start)?;
            self.window.frame(first as usize + page)
        })?;
        Ok(())
    }

    /// Makes a view, and returns its first page. Others give way for it.
    fn show(
        &self,
        inner: &mut Inner,
        key: Key,
        object: &Object,
        backing: &Backing,
        part: &Part,
        cache: CacheLevel,
    ) -> Result<u32, Refused> {
        let span = u32::try_from(part.span).map_err(|_| FaultError::Bus)?;
        let place = Place::Within {
            range: (0, u64::from(self.pages) * u64::from(PAGE_SIZE)),
            align: PAGE_SIZE.into(),
            rather: None,
        };
        let views = RBTreeNodeReservation::new(GFP_KERNEL)?;
        let parts = RBTreeNodeReservation::new(GFP_KERNEL)?;
        let pages = part.pages.start as u32..part.pages.end as u32;
        let mapping = loop {
            match backing.bind_part(
                &self.space,
                place,
                pages.clone(),
                span.into(),
                Owner::View,
                cache,
            ) {
                Err(e) if e == ENOSPC => {
                    if !self.evict(inner) {
                        return Err(Refused::NoRoom(span));
                    }
                }
                done => break done?,
            }
        };
        // Before the CPU can reach it.
        self.hardware.settle_gtt();
        let first = mapping.ggtt().page();
        let view = View {
            mapping,
            key,
            object: object.downgrade(),
            part: part.clone(),
            fence: None,
            used: true,
            faulted: inner.now,
        };
        inner.views.insert(views.into_node(first, view));
        inner.parts.insert(parts.into_node(key, first));
        object.count_views(1);
        self.shown.fetch_add(1, ordering::Relaxed);
        Ok(first)
    }

    /// Gives a view a fence: one that nobody has, or that of the view that was faulted longest ago.
    fn fence(&self, inner: &mut Inner, first: u32, tiled: Tiled) -> Result<(), Refused> {
        let faulted =
            |holder: &Option<u32>| holder.and_then(|h| inner.views.get(&h).map(|v| v.faulted));
        let (n, holder) = inner
            .holders
            .iter()
            .enumerate()
            // No holder is before any.
            .min_by_key(|(_, holder)| faulted(holder))
            .map(|(n, holder)| (n, *holder))
            .ok_or(FaultError::Bus)?;
        if let Some(loser) = holder.and_then(|h| inner.views.get_mut(&h)) {
            hide(loser);
            loser.fence = None;
            self.stolen.fetch_add(1, ordering::Relaxed);
        }
        let view = inner.views.get_mut(&first).ok_or(FaultError::Bus)?;
        let region = FenceRegion {
            start: view.mapping.ggtt(),
            len: view.mapping.len() as u32,
            stride: tiled.stride,
            tiling: tiled.tiling,
        };
        let set = self.fences.set(n as u8, Some(region));
        let taken = set.is_ok();
        if taken {
            view.fence = Some(n as u8);
        }
        if let Some(holder) = inner.holders.get_mut(n) {
            *holder = taken.then_some(first);
        }
        Ok(set?)
    }

    /// Takes one view away. False: there is none.
    fn evict(&self, inner: &mut Inner) -> bool {
        loop {
            let found = inner.views.cursor_lower_bound_mut(&inner.hand);
            let Some(mut cursor) = found else {
                if inner.hand == 0 {
                    return false;
                }
                inner.hand = 0;
                continue;
            };
            let (first, view) = cursor.current_mut();
            let first = *first;
            inner.hand = first.wrapping_add(1);
            if !core::mem::take(&mut view.used) {
                self.remove(inner, first);
                return true;
            }
        }
    }

    /// Takes a view away.
    fn remove(&self, inner: &mut Inner, first: u32) {
        let Some(node) = inner.views.remove_node(&first) else {
            return;
        };
        let (_, view) = node.to_key_value();
        inner.parts.remove(&view.key);
        if let Some(object) = hide(&view) {
            object.count_views(-1);
        }
        if let Some(n) = view.fence {
            // An empty fence can always be.
            let _ = self.fences.set(n, None);
            if let Some(holder) = inner.holders.get_mut(usize::from(n)) {
                *holder = None;
            }
        }
        // The address goes last.
        drop(view);
    }

    /// Runs `bind`, which wants `bytes` at `place`, and makes room for it where views are in the way.
    ///
    /// Errors: those of `bind`; `ENOSPC` if no view is in the way any more.
    pub(crate) fn yield_to<R>(
        &self,
        place: Place,
        bytes: u64,
        mut bind: impl FnMut() -> Result<R>,
    ) -> Result<R> {
        let mut inner = self.inner.lock();
        loop {
            let done = bind();
            if !matches!(done, Err(e) if e == ENOSPC) {
                return done;
            }
            let gone = match place {
                Place::Within { .. } => self.evict(&mut inner),
                Place::At(addr) => {
                    let end = addr.0.saturating_add(bytes).div_ceil(PAGE_SIZE.into());
                    let end = u32::try_from(end).unwrap_or(u32::MAX);
                    let start = (addr.0 / u64::from(PAGE_SIZE)) as u32;
                    let found = last_below(&inner, start, end);
                    found.inspect(|f| self.remove(&mut inner, *f)).is_some()
                }
            };
            if !gone {
                return done;
            }
        }
    }

    /// Takes away one view, whichever may go. False: there is none.
    pub(crate) fn evict_one(&self) -> bool {
        self.evict(&mut self.inner.lock())
    }

    /// Takes away all views of an object: its pages or their order are about to change, or it ends. The
    /// caller holds the object's lock, or the object has no references.
    pub(crate) fn revoke(&self, object: &Bo) {
        if object.views() != 0 {
            let mut inner = self.inner.lock();
            while let Some(first) = view_of(&inner, object) {
                self.remove(&mut inner, first);
            }
        }
    }

    /// [`revoke`](Self::revoke) for reclaim: waits for nothing. Returns whether all views are gone.
    pub(crate) fn try_revoke(&self, object: &Bo) -> bool {
        if object.views() == 0 {
            return true;
        }
        let Some(mut inner) = self.inner.try_lock() else {
            return false;
        };
        while let Some(first) = view_of(&inner, object) {
            let Some(view) = inner.views.get_mut(&first) else {
                return false;
            };
            // Nobody may see the page that comes in its place.
            hide(view);
            if !view.mapping.try_end() {
                return false;
            }
            self.remove(&mut inner, first);
        }
        true
    }

    /// Takes the views with fences out of all mappings of user space, and keeps them out as long as the veil is
    /// there. It waits for the lock for a short time only, and is there without if that was not enough. Sleeps; the
    /// caller holds no lock that fences wait for.
    pub(crate) fn veil(&self) -> Veil<'_> {
        self.veils.fetch_add(1, ordering::Full);
        for _ in 0..VEIL_TRIES {
            if let Some(inner) = self.inner.try_lock() {
                for first in inner.holders.iter().flatten() {
                    inner.views.get(first).map(hide);
                }
                break;
            }
            fsleep(Delta::from_millis(1));
        }
        Veil(self)
    }

    /// The device goes away: nobody has any of it mapped from here on. Sleeps.
    pub(crate) fn close(&self) {
        let mut inner = self.inner.lock();
        inner.open = false;
        while let Some(first) = inner.views.cursor_front().map(|c| *c.current().0) {
            self.remove(&mut inner, first);
        }
    }
}

/// The first view of an object.
fn view_of(inner: &Inner, object: &Bo) -> Option<u32> {
    let id = id(object);
    let found = inner.parts.cursor_lower_bound(&(id, 0))?;
    let (key, first) = found.current();
    (key.0 == id).then_some(*first)
}

/// The last view that has pages in `start..end`.
fn last_below(inner: &Inner, start: u32, end: u32) -> Option<u32> {
    let look = |(first, view): (&u32, &View)| (*first, view.mapping.len());
    let (first, bytes) = match inner.views.cursor_lower_bound(&end) {
        Some(next) => next.peek_prev().map(look),
        None => inner.views.cursor_back().map(|last| look(last.current())),
    }?;
    let last = u64::from(first) + bytes / u64::from(PAGE_SIZE);
    (last > u64::from(start)).then_some(first)
}

/// Takes the pages of a view out of all mappings of user space. The object: without references it
/// has no mappings either.
fn hide(view: &View) -> Option<ARef<Object>> {
    let object = view.object.upgrade()?;
    let pages = view.part.pages.start as usize..view.part.pages.end as usize;
    object.unmap_user_pages(kind::APERTURE, pages);
    Some(object)
}
