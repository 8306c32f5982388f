// SPDX-License-Identifier: GPL-2.0

//! What is so of a context as a whole, though its work may be in several parts ([`super::lists::balanced`]): what
//! user space has set, who it belongs to, what it has done.

use kernel::{
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

/// What user space can set of a context. Read by who resets an engine, so there is no lock.
pub(crate) struct Params {
    /// Whether it may be banned.
    pub(crate) bannable: Flag,
    /// Whether it may go on after it has hung.
    pub(crate) recoverable: Flag,
    /// Whether what it has published goes on when it is closed.
    pub(crate) persistent: Flag,
    /// Whether nothing of it is kept when it hangs.
    pub(crate) no_error_capture: Flag,
    /// For how long its batches may run.
    pub(crate) watchdogs: Watchdogs,
}

/// For how long batches may run, by engine.
pub(crate) struct Watchdogs([Atomic<u32>; MAX_ENGINES]);

impl Watchdogs {
    fn off() -> Self {
        Self([const { Atomic::new(0) }; MAX_ENGINES])
    }

    /// Microseconds on an engine; `None`: as long as they like.
    pub(crate) fn get(&self, engine: usize) -> Option<u32> {
        let micros = self.0.get(engine)?.load(ordering::Relaxed);
        Some(micros).filter(|m| *m != 0)
    }

    /// Sets it, for batches that are published later. The engine can be told so many microseconds.
    pub(crate) fn set(&self, engine: usize, micros: Option<u32>) {
        if let Some(to) = self.0.get(engine) {
            to.store(micros.unwrap_or(0), ordering::Relaxed);
        }
    }
}

/// Yes or no.
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

/// Whether something has happened, and when.
pub(super) struct Since(Atomic<u64>);

impl Since {
    fn never() -> Self {
        Self(Atomic::new(0))
    }

    /// When it happened first, in nanoseconds.
    pub(super) fn get(&self) -> Option<u64> {
        Some(self.0.load(ordering::Relaxed)).filter(|t| *t != 0)
    }

    /// It happens now, if it has not before.
    pub(super) fn set(&self) {
        if self.get().is_none() {
            let _ = self
                .0
                .cmpxchg(0, time::monotonic_ns().max(1), ordering::Relaxed);
        }
    }
}

/// A context in the statistics.
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

/// All of it.
#[pin_data]
pub(super) struct ContextState {
    pub(super) params: Params,
    pub(super) priority: Atomic<i32>,
    /// Who it belongs to; nobody, if it is the kernel's.
    pub(super) holder: Option<Arc<Holder>>,
    pub(super) guilt: Guilt,
    /// Nobody has it any more.
    pub(super) closed: Flag,
    /// It was closed, and what it has published shall not go on.
    pub(super) revoked: Since,
    /// All its batches run in the order in which they were submitted, on whatever engine.
    pub(super) in_order: Flag,
    /// The last of them, if so. Locked inside of timelines.
    #[pin]
    pub(super) last: Mutex<Option<ARef<Fence>>>,
    _alive: Alive,
}

impl ContextState {
    /// That of a new context, which `alive` counts.
    pub(super) fn new(alive: &Arc<Atomic<i64>>, holder: Option<Arc<Holder>>) -> Result<Arc<Self>> {
        Arc::pin_init(
            try_pin_init!(Self {
                params: Params::default(),
                priority: Atomic::new(0),
                holder,
                guilt: Guilt::default(),
                closed: Flag::new(false),
                revoked: Since::never(),
                in_order: Flag::new(false),
                last <- new_mutex!(None, "ouro_context_last"),
                _alive: Alive::new(alive),
            }? Error),
            GFP_KERNEL,
        )
    }
}
