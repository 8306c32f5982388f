// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Device-wide state that all engines share: one structure under one irq-safe lock of the core.
//!
//! Several engines share a mask register, a forcewake request and a write FIFO, so their software
//! copies are in one structure. It is plain data of one size for every generation; the backend
//! defines what the words mean.

use crate::report::MAX_ENGINES;

/// Number of interrupt mask words that a backend may keep.
pub const IRQ_WORDS: usize = 8;

/// Device-wide state, under the core's lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gt {
    /// Whether forcewake is held.
    pub awake: bool,
    /// Whether forcewake requests of others, such as the firmware or a previous driver, were
    /// cleared. They may be set again while the device is suspended: the core resets this then.
    pub cleared: bool,
    /// Entries of the write FIFO that are known to be free. Functions that write without a `Gt` end
    /// with a read, which completes only after all their writes have left the FIFO.
    pub fifo: u32,
    /// Copies of interrupt mask registers.
    pub irq: [u32; IRQ_WORDS],
    /// Number of entries of the last list written, by engine, in the backend's unit: a shorter list
    /// has to clear the rest.
    pub listed: [u8; MAX_ENGINES],
    /// Warnings that were logged already, a bit each: they are logged once.
    pub warned: u16,
    /// Event counts for statistics.
    pub counts: GtCounts,
}

/// Register accesses by reason. The counts never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GtCounts {
    /// Writes that started work: one per submission on a ring.
    pub port_writes: u64,
    /// Reads for a handshake that the document demands around them.
    pub port_extra_reads: u64,
    /// Writes for such a handshake.
    pub port_extra_writes: u64,
    /// Reads of the write FIFO's free entries.
    pub fifo_reads: u64,
    /// Interrupts unmasked for a waiter.
    pub irq_arms: u64,
    /// Times that forcewake was taken.
    pub wakes: u64,
}
