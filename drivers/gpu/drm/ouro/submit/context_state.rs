// SPDX-License-Identifier: GPL-2.0

//! The state of a context that all its parts ([`super::lists::balanced`]) share: parameters, owner,
//! hangs.

use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    new_mutex,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{ordering, Atomic},
        Arc, Mutex,
    },
};
use ouro_hw::report::MAX_ENGINES;
use ouro_kernel::{fence::Fence, time};

use super::guilt::{Guilt, Holder};

/// The parameters that user space can set of a context. A reset reads them, so there is no lock.
pub(crate) struct Params {
    /// Whether it may be banned for hangs.
    pub(crate) bannable: Flag,
    /// Whether it may run on after a hang.
    pub(crate) recoverable: Flag,
    /// Whether its published requests continue after it is closed.
    pub(crate) persistent: Flag,
    /// Whether its hangs make no error state.
    pub(crate) no_error_capture: Flag,
    /// The watchdog limits of its batches.
    pub(crate) watchdogs: Watchdogs,
}

/// The watchdog limits of batches, by engine.
pub(crate) struct Watchdogs([Atomic<u32>; MAX_ENGINES]);

impl Watchdogs {
    fn off() -> Self {
        Self([const { Atomic::new(0) }; MAX_ENGINES])
    }

    /// Returns the limit on an engine in microseconds; `None` if there is none.
    pub(crate) fn get(&self, engine: usize) -> Option<u32> {
        let micros = self.0.get(engine)?.load(ordering::Relaxed);
        Some(micros).filter(|m| *m != 0)
    }

    /// Sets the limit on an engine, for batches published later. It must be within the engine's
    /// limits.
    pub(crate) fn set(&self, engine: usize, micros: Option<u32>) {
        if let Some(to) = self.0.get(engine) {
            to.store(micros.unwrap_or(0), ordering::Relaxed);
        }
    }
}

/// A boolean parameter.
pub(crate) struct Flag(Atomic<bool>);

impl Flag {
    fn new(on: bool) -> Self {
        Self(Atomic::new(on))
    }

    pub(crate) fn get(&self) -> bool {
        self.0.load(ordering::Relaxed)
    }

    pub(crate) fn set(&self, on: bool) {
        self.0.store(on, ordering::Relaxed);
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            bannable: Flag::new(true),
            recoverable: Flag::new(true),
            persistent: Flag::new(true),
            no_error_capture: Flag::new(false),
            watchdogs: Watchdogs::off(),
        }
    }
}

/// The time of a one-time event, or never.
pub(super) struct Since(Atomic<u64>);

impl Since {
    fn never() -> Self {
        Self(Atomic::new(0))
    }

    /// Returns when it happened, in nanoseconds.
    pub(super) fn get(&self) -> Option<u64> {
        Some(self.0.load(ordering::Relaxed)).filter(|t| *t != 0)
    }

    /// Records that it happens now, unless it has happened.
    pub(super) fn set(&self) {
        if self.get().is_none() {
            let _ = self
                .0
                .cmpxchg(0, time::monotonic_ns().max(1), ordering::Relaxed);
        }
    }
}

/// Counts a context in the statistics.
struct Alive(Arc<Atomic<i64>>);

impl Alive {
    fn new(count: &Arc<Atomic<i64>>) -> Self {
        count.fetch_add(1, ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, ordering::Relaxed);
    }
}

/// The priority of a new context. No client may have more without a privilege.
pub(super) const DEFAULT_PRIORITY: i32 = 0;

/// The state that all parts of a context share.
#[pin_data]
pub(super) struct ContextState {
    pub(super) params: Params,
    pub(super) priority: Atomic<i32>,
    /// The client that it belongs to; `None` for the kernel's.
    pub(super) holder: Option<Arc<Holder>>,
    pub(super) guilt: Guilt,
    /// The client has closed it.
    pub(super) closed: Flag,
    /// It was closed, and its published requests are to be cancelled.
    pub(super) revoked: Since,
    /// All its batches run in the order of submission, on any engine.
    pub(super) in_order: Flag,
    /// The last batch, if so. Locked inside of the timelines.
    #[pin]
    pub(super) last: Mutex<Option<ARef<Fence>>>,
    _alive: Alive,
}

impl ContextState {
    /// Creates the state of a new context, which `alive` counts.
    pub(super) fn new(alive: &Arc<Atomic<i64>>, holder: Option<Arc<Holder>>) -> Result<Arc<Self>> {
        Arc::pin_init(
            try_pin_init!(Self {
                params: Params::default(),
                priority: Atomic::new(DEFAULT_PRIORITY),
                holder,
                guilt: Guilt::default(),
                closed: Flag::new(false),
                revoked: Since::never(),
                in_order: Flag::new(false),
                last <- new_mutex!(None, "ouro_context_last"),
                _alive: Alive::new(alive),
            }? Error),
            GFP_KERNEL_ACCOUNT,
        )
    }
}
