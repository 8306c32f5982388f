// SPDX-License-Identifier: GPL-2.0

//! KUnit tests of the abstractions of `ouro_kernel`, on a device without hardware. They run when
//! the module is loaded, or when the kernel boots that it is built into.

// Kconfig asks for KUnit in the kernel: with it as a module, the macro makes nothing.
#![cfg(CONFIG_DRM_OURO_KUNIT_TEST)]

mod bond;
mod fixture;
mod list;

use kernel::prelude::*;

#[kunit_tests(ouro_kernel)]
mod kunit {
    use super::fixture::*;
    use kernel::{
        faux,
        prelude::*,
        sync::{aref::ARef, atomic::ordering, Arc},
    };
    use ouro_kernel::{
        fence::{self, Callback, DriverFence, Fence, PreparedFence},
        gem::{self, Object},
        release,
        resv::{self, Acquired, HasResv, Slate, Usage},
        time, uaccess,
        wait::{Completion, Interruptible, Waited},
        work,
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
    fn fence_releases_its_timeline() -> Result {
        let timeline = Timeline::new()?;
        let f = fence(&timeline, 1)?;
        f.signal();
        drop(f);
        release::drain();
        // This is the last reference.
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
        drop(armed);
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
        release::drain();
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
        release::drain();
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
        // Nothing is mapped, so nothing happens.
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
            let mut slots = guard.reserve_fences(1)?;
            slots.add_fence(&f, Usage::Read)?;
            // There was one slot.
            assert_eq!(slots.add_fence(&f, Usage::Read), Err(EINVAL));
        }
        // A reader does not wait for a reader, a writer does.
        assert!(obj.resv().test_signaled(Usage::for_access(false)));
        assert!(!obj.resv().test_signaled(Usage::for_access(true)));
        let mut list = KVVec::new();
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
        let (set, told) = resv::lock_many(Slate::new(), 1, Interruptible::No, |set| {
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
        queue.flush();
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
        // The queue runs one item at a time: the second has not started.
        assert!(work::cancel_sync(&waiting));
        assert!(!work::cancel_sync(&waiting));
        running.go.complete_all();
        assert!(!work::cancel_sync(&running));
        assert_eq!(running.runs.load(ordering::Relaxed), 1);
        assert_eq!(waiting.runs.load(ordering::Relaxed), 0);
        // The queue has dropped all its references.
        queue.flush();
        assert!(Arc::into_unique_or_drop(waiting).is_some());
        assert!(Arc::into_unique_or_drop(running).is_some());
        Ok(())
    }

    #[test]
    fn fields_that_are_written_are_the_values_own() {
        struct Pair {
            first: u64,
            second: u64,
        }
        static OTHER: u64 = 1;
        let pair = |n| Pair {
            first: n,
            second: n,
        };
        let values = [pair(1), pair(2)];
        let write = |stride, field| uaccess::write_fields(0, stride, &values, field).err();
        assert_eq!(write(16, |_| &OTHER), Some(EINVAL));
        fn one_or_other(p: &Pair) -> &u64 {
            match p.first {
                1 => &p.first,
                _ => &p.second,
            }
        }
        // Not the same field of each value.
        assert_eq!(write(16, one_or_other), Some(EINVAL));
        assert_eq!(write(usize::MAX, |p| &p.first), Some(EINVAL));
    }

    #[test]
    fn a_delayed_item_keeps_its_queue() -> Result {
        let done = Arc::pin_init(Completion::new(), GFP_KERNEL)?;
        let item = Later::new(&done)?;
        assert!(work::enqueue_delayed(item, |i| &i.queue, time::ms(50)).is_ok());
        // Only the timer holds it now.
        let wait = done.wait(Interruptible::No, time::ms(GUARD_MS))?;
        assert!(matches!(wait, Waited::Done(_)));
        // An item that is cancelled in time is the caller's again.
        let item = Later::new(&done)?;
        assert!(work::enqueue_delayed(item.clone(), |i| &i.queue, time::ms(GUARD_MS)).is_ok());
        assert!(work::enqueue_delayed(item.clone(), |i| &i.queue, 0).is_err());
        assert!(work::cancel_delayed_sync(&item));
        assert!(Arc::into_unique_or_drop(item).is_some());
        // A worker destroys queues.
        release::drain();
        Ok(())
    }
}
