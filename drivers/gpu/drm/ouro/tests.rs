// SPDX-License-Identifier: GPL-2.0

//! KUnit tests of the abstractions of `ouro_kernel`, on a device without hardware. They run when
//! the module is loaded, if the kernel has KUnit.

// Without KUnit there is nobody who uses all this.
#![cfg(CONFIG_KUNIT = "y")]

use kernel::{
    faux, impl_has_work, new_work,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc,
    },
    workqueue::{Work, WorkItem},
};
use ouro_kernel::{
    drm::{self, ioctl, Device, DriverInfo, UnregisteredDevice},
    fence::{FenceOps, Waker},
    gem::{self, Dead, DriverObject, Fault, FaultError, Object},
    ioctls,
    resv::{self, Acquired},
    task::Client,
    time,
    wait::{Completion, Interruptible},
    work, Caching,
};

/// Long enough for anything that is not stuck.
const GUARD_MS: u32 = 60_000;

/// A driver without hardware.
struct TestDriver;

/// Its face: no ioctl but one.
struct TestFace;

/// How many objects were freed, and how many of them late.
struct Counts {
    freed: Atomic<u32>,
    late: Atomic<u32>,
}

impl Counts {
    fn new() -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                freed: Atomic::new(0),
                late: Atomic::new(0),
            },
            GFP_KERNEL,
        )?)
    }
}

/// An object without memory.
struct TestObject {
    counts: Arc<Counts>,
    defer: bool,
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

/// A device that user space never sees. The bus device has to outlive it.
fn device(bus: &faux::Registration) -> Result<ARef<Device<TestDriver>>> {
    let bus: &faux::Device<kernel::device::Bound> = bus.as_ref();
    let dev = UnregisteredDevice::new::<TestFace, _>(bus.as_ref(), Ok::<(), Error>(()))?;
    Ok((*dev).clone())
}

/// A timeline that says that everything up to `done` is done.
struct Timeline {
    done: Atomic<u64>,
    asked: Atomic<u64>,
}

impl Timeline {
    fn new() -> Result<Arc<Self>> {
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

/// Another timeline, which is never the one that is looked for.
struct OtherTimeline;

impl FenceOps for OtherTimeline {
    fn driver_name(&self) -> &CStr {
        c"ouro"
    }

    fn timeline_name(&self) -> &CStr {
        c"other"
    }
}

/// Counts calls.
struct Counter {
    calls: Atomic<u32>,
    seqno: Atomic<u64>,
}

impl Counter {
    fn new() -> Result<Arc<Self>> {
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

/// A thread that locks two objects, many times.
#[pin_data]
struct Locker {
    #[pin]
    work: Work<Locker>,
    first: ARef<Object<TestObject>>,
    second: ARef<Object<TestObject>>,
    rounds: Atomic<u32>,
    failed: Atomic<u32>,
    #[pin]
    done: Completion,
}

impl_has_work! {
    impl HasWork<Self> for Locker { self.work }
}

/// How often each thread locks both.
const ROUNDS: u32 = 500;

impl Locker {
    fn new(
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
        let (set, news) = resv::lock_many(2, Interruptible::No, |set| {
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

/// A work item that takes until it is let go.
#[pin_data]
struct Slow {
    #[pin]
    work: Work<Slow>,
    #[pin]
    go: Completion,
    #[pin]
    started: Completion,
    runs: Atomic<u32>,
}

impl_has_work! {
    impl HasWork<Self> for Slow { self.work }
}

impl Slow {
    fn new() -> Result<Arc<Self>> {
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

#[kunit_tests(ouro_kernel)]
mod kunit {
    use super::*;
    use ouro_kernel::{
        fence::{self, Callback, DriverFence, Fence, PreparedFence},
        release,
        resv::{HasResv, Usage},
        wait::Waited,
    };

    fn fence(timeline: &Arc<Timeline>, seqno: u64) -> Result<DriverFence<Timeline>> {
        let context = fence::alloc_contexts(1);
        Ok(PreparedFence::new(timeline.clone(), context)?.publish(seqno))
    }

    #[test]
    fn fence_signals_once() -> Result {
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 7)?;
        assert_eq!(f.seqno(), 7);
        assert!(!f.is_signaled());
        assert!(f.status().is_none());
        assert!(f.signal());
        assert!(!f.signal());
        assert!(!f.fail(EIO));
        assert!(f.is_signaled());
        assert!(matches!(f.status(), Some(Ok(()))));
        Ok(())
    }

    #[test]
    fn fence_reports_its_error() -> Result {
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 1)?;
        assert!(f.fail(EIO));
        assert!(matches!(f.status(), Some(Err(e)) if e == EIO));
        Ok(())
    }

    #[test]
    fn fence_that_is_dropped_is_cancelled() -> Result {
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 1)?;
        let seen: ARef<Fence> = (&*f).into();
        drop(f);
        assert!(matches!(seen.status(), Some(Err(e)) if e == ECANCELED));
        Ok(())
    }

    #[test]
    fn fence_asks_the_timeline() -> Result {
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 3)?;
        let wait = f.wait(Interruptible::No, 1)?;
        assert_eq!(wait, Waited::TimedOut);
        assert_eq!(timeline.asked.load(ordering::Relaxed), 3);
        timeline.done.store(3, ordering::Relaxed);
        assert!(f.is_signaled());
        Ok(())
    }

    #[test]
    fn fence_lets_go_of_its_timeline() -> Result {
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 1)?;
        f.signal();
        drop(f);
        release::flush();
        // The last reference is this one.
        assert!(Arc::into_unique_or_drop(timeline).is_some());
        Ok(())
    }

    #[test]
    fn timeline_of_a_fence() -> Result {
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 9)?;
        assert_eq!(
            fence::with_timeline::<Timeline, _>(&f, |_, seqno| seqno),
            Some(9)
        );
        assert!(fence::with_timeline::<OtherTimeline, _>(&f, |_, _| ()).is_none());
        f.signal();
        assert!(fence::with_timeline::<Timeline, _>(&f, |_, _| ()).is_none());
        Ok(())
    }

    #[test]
    fn callback_is_called_once() -> Result {
        let timeline = Timeline::new()?;
        let counter = Counter::new()?;
        let f = fence(&timeline, 5)?;
        let armed = Callback::new()?.arm((&*f).into(), counter.clone());
        assert!(armed.is_ok());
        f.signal();
        f.signal();
        assert_eq!(counter.calls.load(ordering::Relaxed), 1);
        assert_eq!(counter.seqno.load(ordering::Relaxed), 5);
        drop(armed);
        assert_eq!(counter.calls.load(ordering::Relaxed), 1);
        Ok(())
    }

    #[test]
    fn callback_that_is_dropped_is_not_called() -> Result {
        let timeline = Timeline::new()?;
        let counter = Counter::new()?;
        let f = fence(&timeline, 5)?;
        let Ok(armed) = Callback::new()?.arm((&*f).into(), counter.clone()) else {
            return Err(EINVAL);
        };
        let (_callback, prevented) = armed.disarm();
        assert!(prevented);
        f.signal();
        assert_eq!(counter.calls.load(ordering::Relaxed), 0);
        Ok(())
    }

    #[test]
    fn callback_of_a_signaled_fence_comes_back() -> Result {
        let timeline = Timeline::new()?;
        let counter = Counter::new()?;
        let f = fence(&timeline, 5)?;
        f.signal();
        let armed = Callback::new()?.arm((&*f).into(), counter.clone());
        assert!(armed.is_err());
        assert_eq!(counter.calls.load(ordering::Relaxed), 0);
        Ok(())
    }

    #[test]
    fn array_waits_for_all() -> Result {
        let timeline = Timeline::new()?;
        let a = fence(&timeline, 1)?;
        let b = fence(&timeline, 1)?;
        let mut list: KVec<ARef<Fence>> = KVec::new();
        list.push((&*a).into(), GFP_KERNEL)?;
        list.push((&*b).into(), GFP_KERNEL)?;
        let array = Fence::array(list)?;
        assert!(array.is_container());
        let counter = Counter::new()?;
        let Ok(armed) = Callback::new()?.arm(array.clone(), counter.clone()) else {
            return Err(EINVAL);
        };
        a.signal();
        assert!(!array.is_signaled());
        b.signal();
        let wait = array.wait(Interruptible::No, time::ms(GUARD_MS))?;
        assert!(matches!(wait, Waited::Done(_)));
        drop(armed);
        assert_eq!(counter.calls.load(ordering::Relaxed), 1);
        assert!(Fence::array(KVec::new()).is_err());
        Ok(())
    }

    #[test]
    fn object_is_freed_at_once_or_late() -> Result {
        let bus = faux::Registration::new(c"ouro-test-free", None)?;
        let dev = device(&bus)?;
        let counts = Counts::new()?;
        let now = Object::<TestObject>::new(&dev, 1, (counts.clone(), false))?;
        assert_eq!(now.size(), 4096);
        drop(now);
        assert_eq!(counts.freed.load(ordering::Relaxed), 1);
        let late = Object::<TestObject>::new(&dev, 4097, (counts.clone(), true))?;
        assert_eq!(late.size(), 8192);
        drop(late);
        release::flush();
        assert_eq!(counts.freed.load(ordering::Relaxed), 2);
        assert_eq!(counts.late.load(ordering::Relaxed), 1);
        assert!(Object::<TestObject>::new(&dev, 0, (counts.clone(), true)).is_err());
        assert!(Object::<TestObject>::new(&dev, usize::MAX, (counts, true)).is_err());
        Ok(())
    }

    #[test]
    fn weak_reference_keeps_nothing() -> Result {
        let bus = faux::Registration::new(c"ouro-test-weak", None)?;
        let dev = device(&bus)?;
        let counts = Counts::new()?;
        let obj = Object::<TestObject>::new(&dev, 4096, (counts.clone(), true))?;
        let weak = obj.downgrade();
        let other = Object::<TestObject>::new(&dev, 4096, (counts.clone(), true))?;
        assert!(weak.ptr_eq(&obj.downgrade()));
        assert!(!weak.ptr_eq(&other.downgrade()));
        let again = weak.upgrade().ok_or(EINVAL)?;
        assert!(core::ptr::eq(&*again, &*obj));
        drop(obj);
        assert_eq!(counts.freed.load(ordering::Relaxed), 0);
        drop(again);
        assert_eq!(counts.freed.load(ordering::Relaxed), 1);
        assert!(weak.upgrade().is_none());
        release::flush();
        assert!(weak.clone().upgrade().is_none());
        Ok(())
    }

    #[test]
    fn mmap_offsets_are_apart() -> Result {
        let bus = faux::Registration::new(c"ouro-test-mmap", None)?;
        let dev = device(&bus)?;
        let counts = Counts::new()?;
        let a = Object::<TestObject>::new(&dev, 3 * 4096, (counts.clone(), false))?;
        let b = Object::<TestObject>::new(&dev, 4096, (counts, false))?;
        let mut seen: KVec<(u64, u64)> = KVec::new();
        for obj in [&a, &b] {
            for kind in 0..gem::KINDS as u8 {
                let offset = obj.mmap_offset(kind)?;
                assert_eq!(offset % 4096, 0);
                assert_eq!(obj.mmap_offset(kind)?, offset);
                let end = offset + obj.size() as u64;
                for &(start, stop) in &seen {
                    assert!(end <= start || stop <= offset);
                }
                seen.push((offset, end), GFP_KERNEL)?;
            }
            assert!(obj.mmap_offset(gem::KINDS as u8).is_err());
        }
        // Nothing is mapped: nothing happens.
        a.unmap_user();
        Ok(())
    }

    #[test]
    fn reservation_knows_its_fences() -> Result {
        let bus = faux::Registration::new(c"ouro-test-resv", None)?;
        let dev = device(&bus)?;
        let counts = Counts::new()?;
        let obj = Object::<TestObject>::new(&dev, 4096, (counts, false))?;
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 1)?;
        {
            let guard = obj.resv().lock(Interruptible::No)?;
            assert!(obj.resv().try_lock().is_none());
            guard.reserve_fences(1)?;
            guard.add_fence(&f, Usage::Read);
        }
        // A reader does not wait for a reader, a writer does.
        assert!(obj.resv().test_signaled(Usage::for_access(false)));
        assert!(!obj.resv().test_signaled(Usage::for_access(true)));
        let mut list = KVec::new();
        obj.resv().collect(Usage::Write, &mut list)?;
        assert_eq!(list.len(), 0);
        obj.resv().collect(Usage::Read, &mut list)?;
        assert_eq!(list.len(), 1);
        let wait = obj.resv().wait(Usage::Read, Interruptible::No, 1)?;
        assert_eq!(wait, Waited::TimedOut);
        f.signal();
        let wait = obj.resv().wait(Usage::Read, Interruptible::No, 1)?;
        assert!(matches!(wait, Waited::Done(_)));
        assert!(obj.resv().test_signaled(Usage::Bookkeep));
        Ok(())
    }

    #[test]
    fn duplicates_are_told() -> Result {
        let bus = faux::Registration::new(c"ouro-test-dup", None)?;
        let dev = device(&bus)?;
        let counts = Counts::new()?;
        let a = Object::<TestObject>::new(&dev, 4096, (counts.clone(), false))?;
        let b = Object::<TestObject>::new(&dev, 4096, (counts, false))?;
        let (set, told) = resv::lock_many(1, Interruptible::No, |set| {
            Ok([set.lock(&a)?, set.lock(&b)?, set.lock(&a)?])
        })?;
        assert!(told == [Acquired::New, Acquired::New, Acquired::Already]);
        assert_eq!(set.objects().len(), 2);
        assert!(set.locked(&b).is_some());
        assert!(b.resv().try_lock().is_none());
        drop(set);
        assert!(b.resv().try_lock().is_some());
        Ok(())
    }

    #[test]
    fn two_threads_lock_in_opposite_order() -> Result {
        let bus = faux::Registration::new(c"ouro-test-order", None)?;
        let dev = device(&bus)?;
        let counts = Counts::new()?;
        let a = Object::<TestObject>::new(&dev, 4096, (counts.clone(), false))?;
        let b = Object::<TestObject>::new(&dev, 4096, (counts.clone(), false))?;
        let queue = work::Queue::new(c"ouro-test", work::Flags::UNBOUND, 2)?;
        let one = Locker::new(&a, &b)?;
        let two = Locker::new(&b, &a)?;
        assert!(queue.enqueue(one.clone()).is_ok());
        assert!(queue.enqueue(two.clone()).is_ok());
        for locker in [&one, &two] {
            let wait = locker.done.wait(Interruptible::No, time::ms(GUARD_MS))?;
            assert!(matches!(wait, Waited::Done(_)));
            assert_eq!(locker.rounds.load(ordering::Relaxed), ROUNDS);
            assert_eq!(locker.failed.load(ordering::Relaxed), 0);
        }
        queue.drain();
        drop((a, b, one, two));
        assert_eq!(counts.freed.load(ordering::Relaxed), 2);
        Ok(())
    }

    #[test]
    fn work_is_cancelled_or_waited_for() -> Result {
        let queue = work::Queue::new(c"ouro-test", work::Flags::ORDERED, 1)?;
        let running = Slow::new()?;
        let waiting = Slow::new()?;
        assert!(queue.enqueue(running.clone()).is_ok());
        assert!(queue.enqueue(waiting.clone()).is_ok());
        let wait = running
            .started
            .wait(Interruptible::No, time::ms(GUARD_MS))?;
        assert!(matches!(wait, Waited::Done(_)));
        // The queue runs one at a time: the second has not begun.
        assert!(work::cancel_sync(&waiting));
        assert!(!work::cancel_sync(&waiting));
        running.go.complete_all();
        assert!(!work::cancel_sync(&running));
        assert_eq!(running.runs.load(ordering::Relaxed), 1);
        assert_eq!(waiting.runs.load(ordering::Relaxed), 0);
        // The queue has given all references back.
        queue.drain();
        assert!(Arc::into_unique_or_drop(waiting).is_some());
        assert!(Arc::into_unique_or_drop(running).is_some());
        Ok(())
    }
}
