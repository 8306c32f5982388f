// SPDX-License-Identifier: GPL-2.0

//! What user space is told of resets: events of the DRM device, as those of i915.
//! `Documentation/gpu/ouro/uapi.rst` lists them.
//!
//! They are sent by a worker, as that allocates, and fences wait for who resets.

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

/// What there is to tell.
#[derive(Clone, Copy)]
pub(super) enum Event {
    /// A request has hung.
    Error,
    /// There is a reset.
    Reset,
    /// After it, the device works.
    Over,
}

/// Tells user space.
#[pin_data]
pub(crate) struct Events {
    /// What has not been told.
    error: Atomic<bool>,
    reset: Atomic<bool>,
    over: Atomic<bool>,
    /// From its registration until the driver goes.
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
                // Nobody is told without memory, or by a device that goes.
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
                device <- new_mutex!(None, "ouro_events"),
                teller <- new_work!("ouro_events"),
            }),
            GFP_KERNEL,
        )
    }

    /// From now on there is somebody who may listen. Sleeps.
    pub(crate) fn begin(&self, device: ARef<Device>) {
        for pending in [&self.error, &self.reset, &self.over] {
            // That was nobody's to know.
            pending.store(false, ordering::Relaxed);
        }
        *self.device.lock() = Some(device);
    }

    /// Something has happened. Any context. What comes close together may be told as one.
    pub(super) fn tell(self: &Arc<Self>, event: Event) {
        let pending = match event {
            Event::Error => &self.error,
            Event::Reset => &self.reset,
            Event::Over => &self.over,
        };
        pending.store(true, ordering::Release);
        let _ = workqueue::system_unbound().enqueue(self.clone());
    }

    /// Nothing is told from here on. Sleeps.
    pub(super) fn end(self: &Arc<Self>) {
        let device = self.device.lock().take();
        work::cancel_sync::<Self, 0>(self);
        drop(device);
    }
}
