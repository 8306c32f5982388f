// SPDX-License-Identifier: GPL-2.0

//! The aperture: a window of the CPU onto the first part of the GGTT.
//!
//! User space sees a BO through it in *views*. A view is a mapping of a part of the BO
//! ([`ouro_core::view`]), in the GGTT only and below the aperture's end. It is independent of the
//! BO's addresses for batches. A view of a tiled BO that user space can touch has a fence.
//!
//! Views are a cache, filled by page faults. When the aperture is full, or a batch needs the
//! addresses, views are evicted in clock order: one that was faulted since the hand passed is
//! skipped once. When there are no free fences, the least recently faulted view loses its fence. In
//! both cases user mappings are removed first, so that the next touch is a fault.
//!
//! If a reset clears the fences, user space would see wrong contents of tiled BOs until they are
//! rewritten. Therefore the reset draws a *veil* first ([`Aperture::veil`]): while it lasts, no
//! view with a fence is mapped, and faults wait.
//!
//! Everything is under one lock, [`Aperture::inner`], below a BO's own and above the space's. User
//! mappings are changed under it, so that a view that is not in the table has none. Memory is
//! allocated under it; code called from reclaim may only try it.

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

/// Most pages that one fault maps: the reach of one page table of the CPU.
const AROUND: usize = 512;

/// The tiling of a BO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tiled {
    /// The kind of tiles.
    pub(crate) tiling: Tiling,
    /// Bytes from one row to the next.
    pub(crate) stride: u32,
}

impl Tiled {
    /// Returns the fence region of `bytes` bytes at an address that needs no PTEs. `None` if it is
    /// out of reach of fences.
    pub(crate) fn region(&self, at: GpuAddr, bytes: u64) -> Option<FenceRegion> {
        Some(FenceRegion {
            start: GgttAddr(u32::try_from(at.0).ok()?),
            len: u32::try_from(bytes).ok()?,
            stride: self.stride,
            tiling: self.tiling,
        })
    }

    /// Returns the number of pages in a row of tiles.
    fn row(&self) -> u64 {
        u64::from(self.stride) * u64::from(self.tiling.rows()) / u64::from(PAGE_SIZE)
    }
}

/// How the aperture maps a BO.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The cache level.
    pub(crate) cache: CacheLevel,
    /// The tiling.
    pub(crate) tiled: Option<Tiled>,
}

/// Why a fault has not mapped anything.
pub(crate) enum Refused {
    /// This many pages of the aperture are needed, and BOs of batches are in the way.
    NoRoom(u32),
    /// The aperture is closed.
    Closed,
    /// A veil is drawn: fences may be empty.
    Veiled,
    /// Another error.
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

/// A view's BO and part. A BO is identified by its address; it has no views any more when it is
/// freed.
type Key = (usize, u64);

fn id(object: &Bo) -> usize {
    core::ptr::from_ref(object).addr()
}

/// A part of a BO in the aperture.
struct View {
    mapping: Mapping,
    key: Key,
    object: Weak<Bo>,
    part: Part,
    fence: Option<u8>,
    /// Whether there was a fault since the hand passed.
    used: bool,
    /// When the last fault was.
    faulted: u64,
}

/// The state under the lock.
struct Inner {
    /// Views, by their first page in the aperture.
    views: RBTree<u32, View>,
    /// First pages of the views, by BO and part.
    parts: RBTree<Key, u32>,
    /// The view of each fence.
    holders: KVec<Option<u32>>,
    /// Where the search for a view to evict starts.
    hand: u32,
    /// Number of faults so far.
    now: u64,
    open: bool,
}

/// How often a veil tries to take the lock: its holder may wait for memory, and so for the reset.
const VEIL_TRIES: u32 = 50;

/// While it lives, tiled BOs are not mapped through the aperture.
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
    /// Its range on the bus.
    window: Claim,
    pages: u32,
    #[pin]
    fences: Fences,
    #[pin]
    inner: Mutex<Inner>,
    /// Number of veils.
    veils: Atomic<u32>,
    shown: Atomic<u64>,
    stolen: Atomic<u64>,
}

/// Statistics of the aperture.
#[derive(Default)]
pub(crate) struct Counts {
    /// Views created.
    pub(crate) views: u64,
    /// Fences taken from one view for another.
    pub(crate) stolen: u64,
    /// Fences set or cleared.
    pub(crate) fence_writes: u64,
}

impl Aperture {
    /// Creates the aperture with this range on the bus. Its fences are empty. Errors: `ENOMEM`.
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

    /// Returns the fences.
    pub(crate) fn fences(&self) -> &Fences {
        &self.fences
    }

    /// Returns the number of pages.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// Returns the statistics.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            views: self.shown.load(ordering::Relaxed),
            stolen: self.stolen.load(ordering::Relaxed),
            fence_writes: self.fences.writes(),
        }
    }

    /// Maps the page of a fault, and its neighbours in the same view; creates the view if there is
    /// none. The caller holds the BO's lock, under which backing and shape do not change.
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

    /// Creates a view, evicting others if necessary. Returns its first page.
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
            preferred: None,
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
        // Before the CPU can access it.
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

    /// Gives a view a fence: a free one, or that of the least recently faulted view.
    fn fence(&self, inner: &mut Inner, first: u32, tiled: Tiled) -> Result<(), Refused> {
        let faulted =
            |holder: &Option<u32>| holder.and_then(|h| inner.views.get(&h).map(|v| v.faulted));
        let (n, holder) = inner
            .holders
            .iter()
            .enumerate()
            // `None` is less than any.
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

    /// Evicts one view. Returns false if there is none.
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

    /// Removes a view.
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
            // Clearing a fence cannot fail.
            let _ = self.fences.set(n, None);
            if let Some(holder) = inner.holders.get_mut(usize::from(n)) {
                *holder = None;
            }
        }
        // The address is freed last.
        drop(view);
    }

    /// Returns whether views take addresses of a space: not of a context's own.
    pub(crate) fn shares(&self, space: &Arc<Space>) -> bool {
        Arc::ptr_eq(&self.space, space)
    }

    /// Calls `bind`, which needs `bytes` at `place`, and evicts views that are in the way.
    ///
    /// Errors: those of `bind`; `ENOSPC` if no more views are in the way.
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
                    // A neighbour may be in the way, too.
                    let gap = self.space.gap();
                    let end = addr.0.saturating_add(bytes).div_ceil(PAGE_SIZE.into());
                    let end = u32::try_from(end.saturating_add(gap)).unwrap_or(u32::MAX);
                    let start = (addr.0 / u64::from(PAGE_SIZE)).saturating_sub(gap) as u32;
                    let found = last_below(&inner, start, end);
                    found.inspect(|f| self.remove(&mut inner, *f)).is_some()
                }
            };
            if !gone {
                return done;
            }
        }
    }

    /// Evicts any one view. Returns false if there is none.
    pub(crate) fn evict_one(&self) -> bool {
        self.evict(&mut self.inner.lock())
    }

    /// Removes all views of a BO, because its pages or their order are about to change, or it is
    /// freed. The caller holds the BO's lock, or the BO has no references.
    pub(crate) fn revoke(&self, object: &Bo) {
        if object.views() != 0 {
            let mut inner = self.inner.lock();
            while let Some(first) = view_of(&inner, object) {
                self.remove(&mut inner, first);
            }
        }
    }

    /// Does what [`revoke`](Self::revoke) does, for reclaim: does not wait. Returns whether all
    /// views are gone.
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
            // User space must not see the page that is mapped there next.
            hide(view);
            if !view.mapping.try_end() {
                return false;
            }
            self.remove(&mut inner, first);
        }
        true
    }

    /// Draws a veil: removes views with fences from all user mappings, and keeps them unmapped
    /// while the veil lives. Waits for the lock for a short time only, and goes on without it if
    /// that was not enough. Sleeps; the caller holds no lock that fences wait for.
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

    /// Closes the aperture, because the device goes away: removes all user mappings.
    /// Sleeps.
    pub(crate) fn close(&self) {
        let mut inner = self.inner.lock();
        inner.open = false;
        while let Some(first) = inner.views.cursor_front().map(|c| *c.current().0) {
            self.remove(&mut inner, first);
        }
    }
}

/// Returns the first view of a BO.
fn view_of(inner: &Inner, object: &Bo) -> Option<u32> {
    let id = id(object);
    let found = inner.parts.cursor_lower_bound(&(id, 0))?;
    let (key, first) = found.current();
    (key.0 == id).then_some(*first)
}

/// Returns the last view that overlaps `start..end`.
fn last_below(inner: &Inner, start: u32, end: u32) -> Option<u32> {
    let look = |(first, view): (&u32, &View)| (*first, view.mapping.len());
    let (first, bytes) = match inner.views.cursor_lower_bound(&end) {
        Some(next) => next.peek_prev().map(look),
        None => inner.views.cursor_back().map(|last| look(last.current())),
    }?;
    let last = u64::from(first) + bytes / u64::from(PAGE_SIZE);
    (last > u64::from(start)).then_some(first)
}

/// Removes the pages of a view from all user mappings. Returns the BO; without references it has no
/// mappings.
fn hide(view: &View) -> Option<ARef<Object>> {
    let object = view.object.upgrade()?;
    let pages = view.part.pages.start as usize..view.part.pages.end as usize;
    object.unmap_user_pages(kind::APERTURE, pages);
    Some(object)
}
