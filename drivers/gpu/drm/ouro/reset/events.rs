// SPDX-License-Identifier: GPL-2.0

//! The uevents of resets, the same as i915's. `Documentation/gpu/ouro/uapi.rst` lists them.
//!
//! A worker sends them, because that allocates, and fences wait for the reset.

use kernel::{
    impl_has_work, new_mutex, new_work,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
    workqueue::{self, Work, WorkItem},
};
use ouro_kernel::work;

use crate::device::Device;

/// An event of a reset.
#[derive(Clone, Copy)]
pub(super) enum Event {
    /// A request has hung.
    Error,
    /// A reset begins.
    Reset,
    /// The device works again after a reset.
    Over,
}

/// Sends the uevents.
#[pin_data]
pub(crate) struct Events {
    /// Events that are not sent yet.
    error: Atomic<bool>,
    reset: Atomic<bool>,
    over: Atomic<bool>,
    /// The number n of `/sys/class/drm/card<n>`; `u32::MAX` before the device is registered.
    card: Atomic<u32>,
    /// The device, from registration until the driver is unbound.
    #[pin]
    device: Mutex<Option<ARef<Device>>>,
    #[pin]
    teller: Work<Events>,
}

impl_has_work! {
    impl HasWork<Events> for Events { self.teller }
}

impl WorkItem for Events {
    type Pointer = Arc<Events>;

    fn run(this: Arc<Events>) {
        let device = this.device.lock().clone();
        let Some(device) = device else {
            return;
        };
        for (pending, text) in [
            (&this.error, c"ERROR=1"),
            (&this.reset, c"RESET=1"),
            (&this.over, c"ERROR=0"),
        ] {
            if pending.xchg(false, ordering::Full) {
                // Events are lost if memory is short, or the device goes away.
                let _ = device.announce(text);
            }
        }
    }
}

impl Events {
    pub(super) fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                error: Atomic::new(false),
                reset: Atomic::new(false),
                over: Atomic::new(false),
                card: Atomic::new(u32::MAX),
                device <- new_mutex!(None, "ouro_events"),
                teller <- new_work!("ouro_events"),
            }),
            GFP_KERNEL,
        )
    }

    /// Starts events, for the registered device. Sleeps.
    pub(crate) fn begin(&self, device: ARef<Device>) {
        for pending in [&self.error, &self.reset, &self.over] {
            // Events of the time before the registration are dropped.
            pending.store(false, ordering::Relaxed);
        }
        self.card.store(device.card(), ordering::Relaxed);
        *self.device.lock() = Some(device);
    }

    /// Returns the number n of `/sys/class/drm/card<n>`; `None` before the device is registered.
    /// Any context.
    pub(super) fn card(&self) -> Option<u32> {
        match self.card.load(ordering::Relaxed) {
            u32::MAX => None,
            card => Some(card),
        }
    }

    /// Sends an event soon. Any context. Events in quick succession may be merged.
    pub(super) fn tell(self: &Arc<Self>, event: Event) {
        let pending = match event {
            Event::Error => &self.error,
            Event::Reset => &self.reset,
            Event::Over => &self.over,
        };
        pending.store(true, ordering::Release);
        let _ = workqueue::system_unbound().enqueue(self.clone());
    }

    /// Stops events. Sleeps.
    pub(super) fn end(self: &Arc<Self>) {
        let device = self.device.lock().take();
        work::cancel_sync::<Self, 0>(self);
        drop(device);
    }
}
