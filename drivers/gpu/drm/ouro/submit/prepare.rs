// SPDX-License-Identifier: GPL-2.0

//! Preparing a context for an engine: its PPGTT, and its image or seat; and the kernel's own
//! requests and clients' quotas.

use kernel::{
    prelude::*,
    sync::{aref::ARef, Arc},
    time::{delay::fsleep, Delta},
};
use ouro_hw::generation::Translation;
use ouro_kernel::{fence::Fence, lazy::LazyVec, time, wait::Interruptible};

use super::{
    guilt::Holder,
    in_use::InUse,
    lists::{
        balanced::{Siblings, Target},
        logical_ring::{LogicalRing, Seat},
    },
    own_space::OwnSpace,
    publish::{Draft, Parts},
    quota::{Quota, Share},
    request::{Awake, Work},
    Context, Engine, Executor,
};
use crate::{
    gem::{
        image::Image,
        root::{Owned, Root},
        Space,
    },
    vm::Whose,
};

/// Milliseconds between looks at a quota that is used up.
const QUOTA_LOOK_MS: u32 = 20;
/// Most looks, a millisecond apart, at a quota whose requests are complete and not retired, before
/// a caller that must not wait gets `EAGAIN`.
const IDLE_LOOKS: u32 = 20;

impl Executor {
    /// Creates a context of a client, or of the kernel.
    pub(crate) fn new_context(&self, holder: Option<&Arc<Holder>>) -> Result<Arc<Context>> {
        let lists = self.engines().iter().any(|e| e.has_lists());
        Context::new(
            self.engines().len(),
            lists,
            self.contexts(),
            holder.cloned(),
        )
    }

    /// Gives a context all that it needs on an engine, or on each engine of a virtual engine.
    /// Process context.
    ///
    /// Errors: `ENOSPC` if the GGTT has no room for its image, or the client has all the seats that
    /// it may have; `ENOMEM`, `EIO`.
    pub(crate) fn prepare(&self, context: &Arc<Context>, target: &Target) -> Result<InUse> {
        let engine = target.engine();
        if engine.has_lists() {
            match target.siblings() {
                None => drop(self.seat(context, engine, None)?),
                Some(siblings) => {
                    for (number, engine) in siblings.all() {
                        self.seat(context, engine, Some((number, siblings)))?;
                    }
                }
            }
            return InUse::new(context, None, None);
        }
        let root = self.root_of(context)?;
        if !self.has_images(engine) {
            return InUse::new(context, None, root);
        }
        let image = match context.image() {
            Some(image) => image,
            None => {
                let golden = self.golden().as_ref().ok_or(EIO)?;
                context.make_image(
                    || {
                        let image = self.new_image()?;
                        image.copy_from(golden);
                        Ok(image)
                    },
                    true,
                )?
            }
        };
        InUse::new(context, Some(image), root)
    }

    /// Returns the range of the GGTT, in bytes, that was full if [`prepare`](Self::prepare) has
    /// failed with `ENOSPC`: that of the context's image, which is pinned first, or that of its
    /// directory.
    pub(crate) fn lacks_in(&self, context: &Context, target: &Target) -> (u64, u64) {
        let image = context.image().filter(|_| self.has_images(target.engine()));
        let is_pinned = image.is_none_or(|image| image.address().is_some());
        match self.root_of(context) {
            Ok(Some(root)) if is_pinned => root.range(),
            _ => self.space().stream_range(),
        }
    }

    /// Returns whether the engine switches context images by a command in its ring.
    pub(crate) fn has_images(&self, engine: &Engine) -> bool {
        let has = self.hardware().topology().context.is_some() && engine.hw().desc().contexts;
        has && !engine.has_lists()
    }

    pub(crate) fn new_image(&self) -> Result<Arc<Image>> {
        let topology = self.hardware().topology();
        let align = topology.context.ok_or(ENODEV)?.alignment();
        Image::new(
            self.space(),
            self.dma_device(),
            self.runner(),
            topology.context_bytes,
            align,
        )
    }

    /// Gives a context a seat on an execlist engine if it has none; all engines of a virtual engine
    /// share one logical ring. Errors: as [`prepare`](Self::prepare).
    fn seat(
        &self,
        context: &Context,
        engine: &Arc<Engine>,
        siblings: Option<(u32, &Arc<Siblings>)>,
    ) -> Result {
        if context.seat(engine).is_some() {
            return Ok(());
        }
        let other = siblings.and_then(|(_, s)| s.all().find_map(|(_, e)| context.seat(e)));
        let other = other.map(|seat| seat.logical_ring().clone());
        let space = self.own_space(context)?.clone();
        context.make_seat(engine, |image| {
            let part = Seat::part(context)?;
            let golden = match (&other, image) {
                (None, None) => engine.golden()?,
                _ => None,
            };
            let logical_ring = match other {
                Some(logical_ring) => logical_ring,
                None => LogicalRing::new(
                    self.hardware(),
                    engine.hw(),
                    self.space(),
                    self.dma_device(),
                    space,
                    image.or(golden.as_deref()),
                )?,
            };
            Seat::new(engine, logical_ring, context, siblings, part)
        })?;
        Ok(())
    }

    /// Returns the directory that an engine must load for a context; `None`: the global space's.
    fn root_of<'a>(&self, context: &'a Context) -> Result<Option<&'a Arc<Root>>> {
        match self.has_own_space(context) {
            true => Ok(self.own_space(context)?.root()),
            false => Ok(None),
        }
    }

    /// Returns whether contexts have PPGTTs of their own.
    pub(crate) fn has_own_spaces(&self) -> bool {
        self.hardware().topology().space.is_per_context()
    }

    /// Returns whether a context has a PPGTT of its own: on ring engines, the kernel's contexts use
    /// the global space.
    fn has_own_space(&self, context: &Context) -> bool {
        match self.hardware().topology().space {
            Translation::PerContext { .. } => true,
            Translation::PerContextDirectory { .. } => context.holder().is_some(),
            Translation::Global | Translation::Aliasing { .. } => false,
        }
    }

    /// Returns the address space of a context's batches. Process context. Errors: `ENOSPC` if there
    /// is no room for its tables, `ENOMEM`.
    pub(crate) fn space_of<'a>(&'a self, context: &'a Context) -> Result<&'a Arc<Space>> {
        if !self.has_own_space(context) {
            return Ok(self.space());
        }
        Ok(self.own_space(context)?.space())
    }

    /// Returns the PPGTT of a context. Errors: as [`new_space`](Self::new_space).
    pub(crate) fn own_space<'a>(&self, context: &'a Context) -> Result<&'a Arc<OwnSpace>> {
        if let Some(space) = context.space() {
            return Ok(space);
        }
        let whose = match context.holder() {
            Some(holder) => holder.of_tables(),
            None => Whose::Kernel,
        };
        context.make_space(|| self.new_space(whose))
    }

    /// Creates a PPGTT for contexts. Errors: `ENODEV` on chips without PPGTTs per context, `ENOSPC`
    /// if there is no room for its tables, `ENOMEM`.
    pub(crate) fn new_space(&self, whose: Whose) -> Result<Arc<OwnSpace>> {
        let hardware = self.hardware().clone();
        let space = Space::new_ppgtt(hardware, self.dma_device(), self.tables(), whose)?;
        let root = match self.hardware().topology().space {
            Translation::PerContextDirectory { .. } => {
                Some(Owned::new(self.hardware(), self.space(), &space)?)
            }
            _ => None,
        };
        OwnSpace::new(space, root, self.retirer())
    }

    /// Runs a request of the kernel's own. Returns its fence. Errors: those of
    /// [`prepare`](Self::prepare).
    pub(crate) fn run(
        &self,
        engine: &Arc<Engine>,
        context: &Arc<Context>,
        work: Work,
    ) -> Result<ARef<Fence>> {
        let awake = Awake::new(self.hardware())?;
        let target = Target::One(engine.clone());
        let in_use = self.prepare(context, &target)?;
        let mut timelines = context.timelines().lock();
        let timeline = context.timeline(&mut timelines, engine.index())?;
        let parts = Parts {
            context: Some(in_use),
            ..Parts::new(work, awake)
        };
        let line = context.line(engine).clone();
        let prepared = Draft::new(target, line, Some(timeline))?.complete(parts, LazyVec::new())?;
        Ok(prepared.publish(self, |_| ()))
    }

    /// Takes a share of the quotas for a request on a timeline. If they are used up, waits until
    /// requests are retired, or fails with `EAGAIN` without `wait`. Sleeps. Errors: `ERESTARTSYS`,
    /// `EIO`, `ENODEV`.
    pub(crate) fn share(
        &self,
        quota: &Arc<Quota>,
        context: &Context,
        target: &Target,
        wait: bool,
    ) -> Result<Share> {
        let engine = target.engine().index();
        let share = || Share::take(quota, context.quota(), engine);
        self.until(context, target, wait, share)
    }

    /// Waits until `take` returns something, which it does once enough of the client's requests are
    /// retired. Sleeps. Errors: `EAGAIN` without `wait`, `ERESTARTSYS`, `EIO`, `ENODEV`.
    pub(super) fn until<R>(
        &self,
        context: &Context,
        target: &Target,
        wait: bool,
        take: impl Fn() -> Option<R>,
    ) -> Result<R> {
        let engine = target.engine();
        let mut looked = false;
        let mut idle = 0u32;
        loop {
            if let Some(taken) = take() {
                return Ok(taken);
            }
            self.working()?;
            target.advance();
            self.retirer().retire();
            // Completed requests may not have been retired yet.
            if !core::mem::replace(&mut looked, true) {
                continue;
            }
            let last = {
                let timelines = context.timelines().lock();
                timelines
                    .get(engine.index())
                    .and_then(|t| t.last().cloned())
            };
            match last.filter(|fence| !fence.is_signaled()) {
                Some(fence) if wait => {
                    fence.wait(Interruptible::Yes, time::ms(QUOTA_LOOK_MS))?;
                }
                // The context's requests are complete: another CPU is about to retire them.
                None if wait || idle < IDLE_LOOKS => {
                    idle = idle.saturating_add(1);
                    fsleep(Delta::from_millis(1));
                }
                _ => return Err(EAGAIN),
            }
            if kernel::current!().signal_pending() {
                return Err(ERESTARTSYS);
            }
        }
    }
}
