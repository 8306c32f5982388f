// SPDX-License-Identifier: GPL-2.0
//! What submissions cost in register accesses, by the driver's counters.

use anyhow::Result;
use serde::Serialize;

use super::Device;

/// Submissions in a row whose cost is counted.
pub const COUNTED: u64 = 64;
/// Rows that are tried until one is not disturbed by an interrupt.
const ROWS: u32 = 8;

/// What asynchronous submissions cost in register accesses.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EngineCost {
    /// Name of the engine.
    pub engine: String,
    /// Submissions counted.
    pub submissions: u64,
    /// Register writes that started work.
    pub port_writes: u64,
    /// Other register writes.
    pub other_writes: u64,
    /// Register reads but for the next ones.
    pub reads: u64,
    /// Reads of the room in the write FIFO.
    pub fifo_reads: u64,
    /// Writes that let changed table entries take effect.
    pub table_flushes: u64,
    /// Reads of the handshake that the document asks for before a tail write.
    pub handshake_reads: u64,
    /// Writes of the same.
    pub handshake_writes: u64,
    /// Times that the device was woken.
    pub wakes: u64,
    /// Times that an interrupt was armed, because somebody waited.
    pub irq_arms: u64,
    /// Interrupts in that time.
    pub interrupts: u64,
}

/// Counts what a row of submissions costs while nobody waits for any of them. `submit` submits number
/// n of [`COUNTED`] that were submitted before, `idle` waits for all.
pub fn count(
    device: &Device,
    engine: &str,
    mut submit: impl FnMut(usize) -> Result<()>,
    idle: impl Fn() -> Result<()>,
) -> Result<EngineCost> {
    let mut rows = 0;
    let (before, after) = loop {
        // One more wakes the device.
        submit(0)?;
        let before = device.stats()?;
        for n in 0..COUNTED as usize {
            submit(n)?;
        }
        let after = device.stats()?;
        // An interrupt of earlier work falls into a row by chance; what it costs is not the row's.
        let quiet = after.interrupts == before.interrupts && after.irq_arms == before.irq_arms;
        rows += 1;
        if quiet || rows == ROWS {
            break (before, after);
        }
        idle()?;
    };
    idle()?;
    let port_writes = after.port_writes - before.port_writes;
    let handshake_reads = after.port_extra_reads - before.port_extra_reads;
    let handshake_writes = after.port_extra_writes - before.port_extra_writes;
    let fifo_reads = after.fifo_reads - before.fifo_reads;
    let table_flushes = after.table_flushes - before.table_flushes;
    Ok(EngineCost {
        engine: engine.into(),
        submissions: after.requests - before.requests,
        port_writes,
        other_writes: (after.reg_writes - before.reg_writes)
            .saturating_sub(port_writes + handshake_writes + table_flushes),
        reads: (after.reg_reads - before.reg_reads).saturating_sub(fifo_reads + handshake_reads),
        fifo_reads,
        table_flushes,
        handshake_reads,
        handshake_writes,
        wakes: after.wakes - before.wakes,
        irq_arms: after.irq_arms - before.irq_arms,
        interrupts: after.interrupts - before.interrupts,
    })
}
