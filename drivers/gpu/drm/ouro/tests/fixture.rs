// SPDX-License-Identifier: GPL-2.0

//! Fixtures of the tests: a driver without hardware, timelines that are completed by hand, threads
//! that lock, work that runs until it is released.

use kernel::{
    faux, impl_has_delayed_work, impl_has_work, new_delayed_work, new_work,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
    workqueue::{DelayedWork, Work, WorkItem},
};
use ouro_kernel::{
    drm::{self, ioctl, Device, DriverInfo, UnregisteredDevice},
    fence::{FenceOps, Waker},
    gem::{Dead, DriverObject, Fault, FaultError, Object},
    ioctls,
    resv::{self, Acquired, Slate},
    task::Client,
    time,
    wait::{Completion, Interruptible},
    work, Caching,
};

/// Milliseconds that only a stuck test exceeds.
pub(super) const GUARD_MS: u32 = 60_000;

/// A driver without hardware.
pub(super) struct TestDriver;

/// Its uAPI, with a single ioctl.
pub(super) struct TestFace;

/// Number of freed objects, and how many of them were freed late.
pub(super) struct Counts {
    pub(super) freed: Atomic<u32>,
    pub(super) late: Atomic<u32>,
}

impl Counts {
    pub(super) fn new() -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                freed: Atomic::new(0),
                late: Atomic::new(0),
            },
            GFP_KERNEL,
        )?)
    }
}

/// A BO without memory.
pub(super) struct TestObject {
    pub(super) counts: Arc<Counts>,
    pub(super) defer: bool,
}

impl drm::Driver for TestDriver {
    type Data = ();
    type File = ();
    type Object = TestObject;
    type Module = crate::LocalModule;

    fn open(_dev: &Device<Self>, _client: &Client) -> Result<Pin<KBox<()>>> {
        Ok(KBox::new((), GFP_KERNEL)?.into())
    }
}

impl drm::Personality for TestFace {
    type Driver = TestDriver;
    const INFO: DriverInfo = DriverInfo {
        major: 0,
        minor: 0,
        patchlevel: 0,
        name: c"ouro-test",
        desc: c"a device without hardware",
    };
    const IOCTLS: &'static ioctl::Table<TestDriver> = ioctls!(TestDriver;);
}

impl DriverObject for TestObject {
    type Driver = TestDriver;
    type Args = (Arc<Counts>, bool);
    const EXPORT_KIND: u8 = 0;

    fn new(
        _dev: &Device<TestDriver>,
        _size: usize,
        (counts, defer): Self::Args,
    ) -> impl PinInit<Self, Error> {
        Ok(TestObject { counts, defer })
    }

    fn free(dead: Dead<Self>) {
        dead.counts.freed.fetch_add(1, ordering::Relaxed);
        if dead.defer {
            dead.defer();
        }
    }

    fn free_late(dead: Dead<Self>) {
        dead.counts.late.fetch_add(1, ordering::Relaxed);
    }

    fn mmap(_obj: &Object<Self>, _kind: u8, _write: bool) -> Result<Caching> {
        Err(EOPNOTSUPP)
    }

    fn fault(_obj: &Object<Self>, _fault: &mut Fault<'_>) -> Result<(), FaultError> {
        Err(FaultError::Bus)
    }
}

/// Creates a device that is never registered. The bus device must outlive it.
pub(super) fn device(bus: &faux::Registration) -> Result<ARef<Device<TestDriver>>> {
    let bus: &faux::Device<kernel::device::Bound> = bus.as_ref();
    let dev = UnregisteredDevice::new::<TestFace, _>(bus.as_ref(), Ok::<(), Error>(()))?;
    Ok((*dev).clone())
}

/// A timeline on which everything up to `done` has completed.
pub(super) struct Timeline {
    pub(super) done: Atomic<u64>,
    pub(super) asked: Atomic<u64>,
}

impl Timeline {
    pub(super) fn new() -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                done: Atomic::new(0),
                asked: Atomic::new(0),
            },
            GFP_KERNEL,
        )?)
    }
}

impl FenceOps for Timeline {
    fn driver_name(&self) -> &CStr {
        c"ouro"
    }

    fn timeline_name(&self) -> &CStr {
        c"test"
    }

    fn enable_signaling(&self, seqno: u64) -> bool {
        self.asked.store(seqno, ordering::Relaxed);
        self.done.load(ordering::Relaxed) < seqno
    }

    fn signaled(&self, seqno: u64) -> bool {
        self.done.load(ordering::Relaxed) >= seqno
    }
}

/// Another timeline, which is never the wanted one.
pub(super) struct OtherTimeline;

impl FenceOps for OtherTimeline {
    fn driver_name(&self) -> &CStr {
        c"ouro"
    }

    fn timeline_name(&self) -> &CStr {
        c"other"
    }
}

/// Counts calls.
pub(super) struct Counter {
    pub(super) calls: Atomic<u32>,
    pub(super) seqno: Atomic<u64>,
}

impl Counter {
    pub(super) fn new() -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                calls: Atomic::new(0),
                seqno: Atomic::new(0),
            },
            GFP_KERNEL,
        )?)
    }
}

impl Waker for Counter {
    fn fence_signaled(&self, fence: &ouro_kernel::fence::Fence) {
        self.calls.fetch_add(1, ordering::Relaxed);
        self.seqno.store(fence.seqno(), ordering::Relaxed);
    }
}

/// A thread that locks two BOs repeatedly.
#[pin_data]
pub(super) struct Locker {
    #[pin]
    work: Work<Locker>,
    first: ARef<Object<TestObject>>,
    second: ARef<Object<TestObject>>,
    pub(super) rounds: Atomic<u32>,
    pub(super) failed: Atomic<u32>,
    #[pin]
    pub(super) done: Completion,
}

impl_has_work! {
    impl HasWork<Self> for Locker { self.work }
}

/// How often each thread locks both.
pub(super) const ROUNDS: u32 = 500;

impl Locker {
    pub(super) fn new(
        first: &ARef<Object<TestObject>>,
        second: &ARef<Object<TestObject>>,
    ) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                work <- new_work!("Locker"),
                first: first.clone(),
                second: second.clone(),
                rounds: Atomic::new(0),
                failed: Atomic::new(0),
                done <- Completion::new(),
            }),
            GFP_KERNEL,
        )
    }

    fn round(&self) -> Result {
        let (set, news) = resv::lock_many(Slate::new(), 2, Interruptible::No, |set| {
            let mut news = 0;
            for obj in [&self.first, &self.second] {
                if set.lock(obj)? == Acquired::New {
                    news += 1;
                }
            }
            Ok(news)
        })?;
        if news != 2 || set.objects().len() != 2 {
            return Err(EINVAL);
        }
        Ok(())
    }
}

impl WorkItem for Locker {
    type Pointer = Arc<Self>;

    fn run(this: Arc<Self>) {
        for _ in 0..ROUNDS {
            match this.round() {
                Ok(()) => this.rounds.fetch_add(1, ordering::Relaxed),
                Err(_) => this.failed.fetch_add(1, ordering::Relaxed),
            };
        }
        this.done.complete_all();
    }
}

/// A work item that runs until it is released.
#[pin_data]
pub(super) struct Slow {
    #[pin]
    work: Work<Slow>,
    #[pin]
    pub(super) go: Completion,
    #[pin]
    pub(super) started: Completion,
    pub(super) runs: Atomic<u32>,
}

impl_has_work! {
    impl HasWork<Self> for Slow { self.work }
}

impl Slow {
    pub(super) fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                work <- new_work!("Slow"),
                go <- Completion::new(),
                started <- Completion::new(),
                runs: Atomic::new(0),
            }),
            GFP_KERNEL,
        )
    }
}

impl WorkItem for Slow {
    type Pointer = Arc<Self>;

    fn run(this: Arc<Self>) {
        this.started.complete_all();
        let _ = this.go.wait(Interruptible::No, time::ms(GUARD_MS));
        this.runs.fetch_add(1, ordering::Relaxed);
    }
}

/// A work item with its own queue, and a delay.
#[pin_data]
pub(super) struct Later {
    pub(super) queue: work::Queue,
    done: Arc<Completion>,
    #[pin]
    tick: DelayedWork<Later>,
}

impl_has_delayed_work! {
    impl HasDelayedWork<Self> for Later { self.tick }
}

impl Later {
    pub(super) fn new(done: &Arc<Completion>) -> Result<Arc<Self>> {
        // The queue is dropped with the item, while that still runs.
        let flags = work::Flags::MEM_RECLAIM | work::Flags::UNBOUND;
        let queue = work::Queue::new(c"ouro-test", flags, 1)?;
        Arc::pin_init(
            pin_init!(Self {
                queue,
                done: done.clone(),
                tick <- new_delayed_work!("Later"),
            }),
            GFP_KERNEL,
        )
    }
}

impl WorkItem for Later {
    type Pointer = Arc<Self>;

    fn run(this: Arc<Self>) {
        this.done.complete_all();
    }
}
