// SPDX-License-Identifier: GPL-2.0

//! Guilt: which contexts and clients caused hangs, and are banned.
//!
//! A context whose requests hang three times within a minute is banned: its batches do not run any
//! more. User space may choose a stricter rule (a context that is not recoverable is banned at
//! once), and root none (not bannable). A client that has several contexts banned is banned as a
//! whole.
//!
//! Written by resets, which run one at a time; read by anyone.

use core::fmt::Write as _;
use kernel::{
    alloc::flags::GFP_KERNEL_ACCOUNT,
    fmt,
    prelude::*,
    sync::{
        atomic::{ordering, Atomic},
        Arc,
    },
};
use ouro_kernel::task::Client;

use super::{busy::Busy, pool::PoolShare, quota::Quota};
use crate::vm::{TableShare, Whose};

/// Nanoseconds within which hangs count together.
const WINDOW_NS: u64 = 60_000_000_000;
/// Number of banned contexts within that time for which the client is banned.
const MAX_BANNED: u32 = 4;

/// A context's record of hangs.
pub(crate) struct Guilt {
    active: Atomic<u32>,
    pending: Atomic<u32>,
    /// The times of the last hang and the one before it, in nanoseconds; 0 for none.
    last: Atomic<u64>,
    before: Atomic<u64>,
    banned: Atomic<bool>,
}

impl Default for Guilt {
    fn default() -> Self {
        Self {
            active: Atomic::new(0),
            pending: Atomic::new(0),
            last: Atomic::new(0),
            before: Atomic::new(0),
            banned: Atomic::new(false),
        }
    }
}

impl Guilt {
    /// Returns how often its request hung.
    pub(crate) fn active(&self) -> u32 {
        self.active.load(ordering::Relaxed)
    }

    /// Returns how often its request was interrupted by the reset for another one's hang.
    pub(crate) fn pending(&self) -> u32 {
        self.pending.load(ordering::Relaxed)
    }

    pub(crate) fn is_banned(&self) -> bool {
        self.banned.load(ordering::Acquire)
    }

    /// A reset for another context's hang interrupted its request.
    pub(crate) fn record_interruption(&self) {
        self.pending.fetch_add(1, ordering::Relaxed);
    }

    /// Its request has hung. Returns whether it was banned for this hang.
    pub(crate) fn record_hang(&self, now: u64, bannable: bool, recoverable: bool) -> bool {
        self.active.fetch_add(1, ordering::Relaxed);
        let before = self.before.load(ordering::Relaxed);
        let third = before != 0 && now.saturating_sub(before) < WINDOW_NS;
        self.before
            .store(self.last.load(ordering::Relaxed), ordering::Relaxed);
        self.last.store(now.max(1), ordering::Relaxed);
        if (bannable && third) || !recoverable {
            return !self.banned.xchg(true, ordering::Full);
        }
        false
    }
}

/// A context that was banned for a hang.
pub(crate) struct Banned {
    /// Whether its client was banned, too.
    pub(crate) client: bool,
}

/// The client of contexts and requests.
pub(crate) struct Holder {
    task: Client,
    /// Number of contexts banned since `since`.
    count: Atomic<u32>,
    since: Atomic<u64>,
    banned: Atomic<bool>,
    /// The time that engines have worked for it.
    busy: Busy,
    pool_share: Arc<PoolShare>,
    table_share: Arc<TableShare>,
    /// The limit of its seats on execlist engines.
    seats: Arc<Quota>,
}

impl Holder {
    pub(crate) fn new(task: &Client) -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                task: *task,
                count: Atomic::new(0),
                since: Atomic::new(0),
                banned: Atomic::new(false),
                busy: Busy::new(),
                pool_share: PoolShare::new()?,
                table_share: TableShare::new()?,
                seats: Quota::of_seats()?,
            },
            GFP_KERNEL_ACCOUNT,
        )?)
    }

    /// Returns the task that opened the file.
    pub(crate) fn task(&self) -> &Client {
        &self.task
    }

    pub(crate) fn is_banned(&self) -> bool {
        self.banned.load(ordering::Acquire)
    }

    /// Returns the time that engines have worked for it.
    pub(crate) fn busy(&self) -> &Busy {
        &self.busy
    }

    /// Returns its share of the pool of checked batches.
    pub(super) fn pool_share(&self) -> &Arc<PoolShare> {
        &self.pool_share
    }

    /// Returns the limit of its contexts' seats on execlist engines.
    pub(super) fn seats(&self) -> &Arc<Quota> {
        &self.seats
    }

    /// Returns the owner of its spaces' page tables.
    pub(crate) fn of_tables(&self) -> Whose {
        Whose::Client(self.table_share.clone())
    }

    /// A context of the client was banned. Returns whether the client was banned for it.
    pub(crate) fn record_ban(&self, now: u64) -> bool {
        let since = self.since.load(ordering::Relaxed);
        if since == 0 || now.saturating_sub(since) >= WINDOW_NS {
            self.since.store(now, ordering::Relaxed);
            self.count.store(0, ordering::Relaxed);
        }
        self.count.fetch_add(1, ordering::Relaxed) + 1 >= MAX_BANNED
            && !self.banned.xchg(true, ordering::Full)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.task.name() {
            // The name is the program's choice, and goes to the log.
            let shown = if byte.is_ascii_graphic() { *byte } else { b'?' };
            f.write_char(shown.into())?;
        }
        write!(f, "[{}]", self.task.pid)
    }
}
