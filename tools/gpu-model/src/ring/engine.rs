// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Command streamers: their names, and the state of one that no register shows. Where its registers are and
//! what it can do is in the row of its chip ([`super::chip::EngineRow`]).

use crate::intel::mi;
use crate::intel::tlb::Tlb;
use crate::memory::lock;
use crate::pace::Pace;
use crate::ring::mmu::Mmu;
use crate::ring::watchdog::Watchdog;
use std::sync::{Arc, Mutex};

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EngineId {
    /// Render: the one with the 3D state.
    Rcs = 0,
    /// Video codec.
    Vcs = 1,
    /// Blitter.
    Bcs = 2,
}

/// All engines that a chip can have.
pub const ENGINES: [EngineId; 3] = [EngineId::Rcs, EngineId::Vcs, EngineId::Bcs];

impl EngineId {
    /// Its short name.
    pub const fn name(self) -> &'static str {
        match self {
            EngineId::Rcs => "rcs",
            EngineId::Vcs => "vcs",
            EngineId::Bcs => "bcs",
        }
    }

    /// Its bit in command tables.
    pub const fn mask(self) -> u8 {
        match self {
            EngineId::Rcs => mi::RCS,
            EngineId::Vcs => mi::VCS,
            EngineId::Bcs => mi::BCS,
        }
    }
}

/// Why a command streamer does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It does go on.
    Running,
    /// An instruction or privilege error; only a reset helps (§5.3.7.6).
    Error,
    /// An access to a page directory entry that was never loaded (VCS PRM 1.1.2.1).
    FatalFault,
    /// An injected hang.
    Hung,
}

/// What a streamer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// MI_WAIT_FOR_EVENT while this EXCC bit is set.
    Condition(u32),
    /// MI_SEMAPHORE_MBOX until the register exceeds the value.
    SemaphoreRegister {
        /// Register offset.
        offset: u32,
        /// Data of the command.
        data: u32,
    },
    /// MI_SEMAPHORE_MBOX until the dword in memory exceeds the value; the command is run again.
    SemaphoreMemory,
    /// MI_WAIT_FOR_EVENT of the display; the command is run again (Gen4).
    Display(crate::gen4::events::Awaited),
}

/// The batch buffer being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Address of the next command.
    pub address: u32,
    /// Bit 8 of the MI_BATCH_BUFFER_START in the ring: non-secure, fetched through the PPGTT.
    pub non_secure: bool,
    /// The page of the bus that it lies in, instead of graphics addresses (Gen4).
    pub physical: Option<u64>,
}

/// How far the PIPE_CONTROL workaround sequence has come (digest §2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushPrelude {
    /// Nothing yet.
    None,
    /// A command-streamer stall with a scoreboard stall was seen.
    Stalled,
    /// After it, one with a post-sync operation.
    PostSynced,
}

/// State of a streamer that no register shows.
pub struct Engine {
    /// Which.
    pub id: EngineId,
    /// Translation; away while a blit runs with the device unlocked.
    pub mmu: Option<Mmu>,
    /// Running or why not.
    pub stop: Stop,
    /// What it waits for.
    pub wait: Option<Wait>,
    /// The batch it is in; `None` while it reads the ring.
    pub batch: Option<Batch>,
    /// In a batch of the second level: where its end returns to, the ring or a batch.
    pub caller: Option<Option<Batch>>,
    /// MI_ARB_ON_OFF.
    pub arbitration: bool,
    /// That it was off when the ring ran empty has been told.
    pub arbitration_told: bool,
    /// The next command that is no padding begins a piece of work, which is delayed first. Work
    /// ends with a user interrupt, or when the ring is empty.
    pub work_begins: bool,
    /// Not before this time.
    pub not_before: u64,
    /// How often the batch has jumped.
    pub pace: Pace,
    /// An injected pause is over; the next command runs.
    pub rested: bool,
    /// PIPE_CONTROL rules.
    pub prelude: FlushPrelude,
    /// How many PIPE_CONTROLs since the last that stalled the streamer.
    pub unstalled: u32,
    /// VCS only: its ring was enabled, and had no work since: it has not gone to sleep yet.
    pub fresh: bool,
    /// VCS only: the tail was written while the engine slept, so it did not notice (digest G-37).
    pub missed_tail: bool,
    /// A partial command at the tail has been reported.
    pub partial_reported: bool,
    /// Flushes are suspended (MI_SUSPEND_FLUSH).
    pub suspended_sync: bool,
    /// A command of this streamer runs with the device unlocked.
    pub busy: bool,
    /// The blit under way; true once it may not touch memory any more.
    pub blit: Option<Arc<Mutex<bool>>>,
    /// An invalidation came while the translation unit was away.
    pub flush_pending: bool,
    /// PP_DIR_BASE was written while the translation unit was away.
    pub directory_pending: bool,
    /// The next command of the ring must be MI_NOOP.
    pub expect_noop: bool,
    /// A wait was cancelled through RING_CTL bit 11.
    pub wait_cancelled: bool,
    /// The register that its last load wrote.
    pub loaded: Option<u32>,
    /// Its watchdog.
    pub watchdog: Watchdog,
    /// Counts resets, so that work that was under way knows it is void.
    pub generation: u64,
}

impl Engine {
    /// An engine after power-on.
    pub fn new(id: EngineId) -> Self {
        Engine {
            id,
            mmu: Some(Mmu::new(Tlb::default())),
            stop: Stop::Running,
            wait: None,
            batch: None,
            caller: None,
            arbitration: true,
            arbitration_told: false,
            work_begins: true,
            not_before: 0,
            pace: Pace::default(),
            rested: false,
            prelude: FlushPrelude::None,
            unstalled: 0,
            fresh: false,
            missed_tail: false,
            partial_reported: false,
            suspended_sync: false,
            busy: false,
            blit: None,
            flush_pending: false,
            directory_pending: false,
            expect_noop: false,
            wait_cancelled: false,
            loaded: None,
            watchdog: Watchdog::default(),
            generation: 0,
        }
    }

    /// From here on a blit under way reads and writes nothing: memory may change hands after a reset.
    pub fn stop_blit(&mut self) {
        if let Some(stopped) = self.blit.take() {
            *lock(&stopped) = true;
        }
    }

    /// Resets the engine as a graphics reset does: everything but the TLBs, which a reset does not flush (VCS PRM
    /// 1.1.3.5).
    pub fn reset(&mut self) {
        self.stop_blit();
        let mmu = self.mmu.take().map(Mmu::after_reset);
        let (busy, generation) = (self.busy, self.generation + 1);
        *self = Engine {
            mmu,
            busy,
            generation,
            ..Engine::new(self.id)
        };
    }
}
