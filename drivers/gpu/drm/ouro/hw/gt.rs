// SPDX-License-Identifier: GPL-2.0
//! What all engines of a device share and change: one state under one irq-safe lock of the core.
//!
//! Several engines share a mask register, a wake-up request and a write FIFO, so their software
//! copies are one structure. It is plain data of one size for every generation; what the words
//! mean is the backend's affair.

use crate::report::MAX_ENGINES;

/// Words of interrupt mask that a backend may keep.
pub const IRQ_WORDS: usize = 8;

/// The state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gt {
    /// Whether the device has been woken (and not been let go to sleep since).
    pub awake: bool,
    /// Entries of the write FIFO that are surely free. Functions that write without a `Gt` end with
    /// a read, behind which all their writes have left the FIFO.
    pub fifo: u32,
    /// Copies of interrupt mask registers.
    pub irq: [u32; IRQ_WORDS],
    /// Elements that the last list had, by engine, as the backend counts them: those a shorter one clears.
    pub listed: [u8; MAX_ENGINES],
    /// What has happened, for the statistics.
    pub counts: GtCounts,
}

/// Register accesses by reason. They only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GtCounts {
    /// Writes that started work: one per submission on a ring machine.
    pub port_writes: u64,
    /// Reads of a handshake that a document asks for around them.
    pub port_extra_reads: u64,
    /// Writes of the same.
    pub port_extra_writes: u64,
    /// Reads of the room in the write FIFO.
    pub fifo_reads: u64,
    /// Interrupts unmasked because somebody waits.
    pub irq_arms: u64,
    /// Times the device was woken.
    pub wakes: u64,
}
