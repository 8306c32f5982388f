// SPDX-License-Identifier: GPL-2.0

//! KUnit tests of the end of a bond: it waits for callers inside, and undoes each item once.
//! Otherwise drivers would use the IOMMU domain of a device that is gone.

use kernel::{
    impl_has_work, new_work,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
    workqueue::{Work, WorkItem},
};
use ouro_kernel::{
    bond::Bond,
    time,
    wait::{Completion, Interruptible, Waited},
    work,
};

use super::fixture::GUARD_MS;

/// An item: counts how often it was undone.
type Thing = Arc<Atomic<u32>>;

fn undo(thing: &Thing) {
    thing.fetch_add(1, ordering::Relaxed);
}

/// A thread that ends a bond.
#[pin_data]
struct Ender {
    #[pin]
    work: Work<Ender>,
    #[pin]
    bond: Bond<Thing>,
    queue: work::Queue,
    /// The bond lets no more callers in.
    #[pin]
    shut: Completion,
    #[pin]
    over: Completion,
}

impl_has_work! {
    impl HasWork<Self> for Ender { self.work }
}

impl WorkItem for Ender {
    type Pointer = Arc<Self>;

    fn run(this: Arc<Self>) {
        this.bond.end(|| this.shut.complete_all(), undo);
        this.over.complete_all();
    }
}

impl Ender {
    fn new() -> Result<Arc<Self>> {
        // The queue is dropped with the item, while that still runs.
        let flags = work::Flags::MEM_RECLAIM | work::Flags::UNBOUND;
        let queue = work::Queue::new(c"ouro-test", flags, 1)?;
        Arc::pin_init(
            pin_init!(Self {
                work <- new_work!("Ender"),
                bond <- Bond::new(),
                queue,
                shut <- Completion::new(),
                over <- Completion::new(),
            }),
            GFP_KERNEL,
        )
    }

    /// Starts the end of the bond, and returns when it lets no more callers in.
    fn begin(this: &Arc<Self>) {
        let _ = this.queue.enqueue(this.clone());
        let _ = this.shut.wait(Interruptible::No, time::ms(GUARD_MS));
    }

    /// Returns whether the end returns within `ms` milliseconds.
    fn is_over_within(&self, ms: u32) -> bool {
        matches!(
            self.over.wait(Interruptible::No, time::ms(ms)),
            Ok(Waited::Done(_))
        )
    }
}

fn thing() -> Result<Thing> {
    Ok(Arc::new(Atomic::new(0), GFP_KERNEL)?)
}

#[kunit_tests(ouro_bond)]
mod kunit {
    use super::*;
    use ouro_kernel::bond::Room;

    #[test]
    fn the_end_waits_for_who_is_inside() -> Result {
        let ender = Ender::new()?;
        let inside = ender.bond.enter()?;
        Ender::begin(&ender);
        assert!(matches!(ender.bond.enter().err(), Some(e) if e == ENODEV));
        assert!(!ender.is_over_within(50));
        drop(inside);
        assert!(ender.is_over_within(GUARD_MS));
        Ok(())
    }

    #[test]
    fn what_is_made_while_it_ends_is_undone() -> Result {
        let ender = Ender::new()?;
        let made = thing()?;
        let room = Room::new()?;
        let inside = ender.bond.enter()?;
        Ender::begin(&ender);
        let item = inside.add(room, made.clone());
        drop(inside);
        assert!(ender.is_over_within(GUARD_MS));
        assert_eq!(made.load(ordering::Relaxed), 1);
        // The owner comes later, and has nothing to undo.
        ender.bond.undo(&item, undo);
        assert_eq!(made.load(ordering::Relaxed), 1);
        Ok(())
    }

    #[test]
    fn the_end_waits_for_who_undoes() -> Result {
        let ender = Ender::new()?;
        let made = thing()?;
        let item = ender.bond.enter()?.add(Room::new()?, made.clone());
        ender.bond.undo(&item, |thing| {
            Ender::begin(&ender);
            // The device is bound while this runs.
            assert!(!ender.is_over_within(50));
            undo(thing);
        });
        assert!(ender.is_over_within(GUARD_MS));
        assert_eq!(made.load(ordering::Relaxed), 1);
        Ok(())
    }
}
