// SPDX-License-Identifier: GPL-2.0
//! What submissions cost in register accesses, by the driver's counters.

use anyhow::{Context, Result};
use serde::Serialize;

use super::Device;
use ouro_card::uapi::drm_ouro_stats;

/// Submissions in a row whose cost is counted.
pub const COUNTED: u64 = 64;
/// Rows that are tried until one is not disturbed.
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

impl EngineCost {
    /// What the counters say of a row.
    fn between(engine: &str, before: &drm_ouro_stats, after: &drm_ouro_stats) -> Self {
        let port_writes = after.port_writes - before.port_writes;
        let handshake_reads = after.port_extra_reads - before.port_extra_reads;
        let handshake_writes = after.port_extra_writes - before.port_extra_writes;
        let fifo_reads = after.fifo_reads - before.fifo_reads;
        let table_flushes = after.table_flushes - before.table_flushes;
        Self {
            engine: engine.into(),
            submissions: after.requests - before.requests,
            port_writes,
            other_writes: (after.reg_writes - before.reg_writes)
                .saturating_sub(port_writes + handshake_writes + table_flushes),
            reads: (after.reg_reads - before.reg_reads)
                .saturating_sub(fifo_reads + handshake_reads),
            fifo_reads,
            table_flushes,
            handshake_reads,
            handshake_writes,
            wakes: after.wakes - before.wakes,
            irq_arms: after.irq_arms - before.irq_arms,
            interrupts: after.interrupts - before.interrupts,
        }
    }

    /// How much of the row was not its own: interrupts of earlier work, and, when the machine stood still in the
    /// middle of it, the watch's look at an engine that seems to hang.
    fn disturbance(&self) -> u64 {
        self.interrupts + self.irq_arms + self.other_writes + self.reads
    }
}

/// Counts what a row of submissions costs while nobody waits for any of them. `submit` submits number
/// n of [`COUNTED`] that were submitted before, `idle` waits for all.
///
/// Of [`ROWS`], the one that was disturbed least: were a submission to cost more, each row would.
pub fn count(
    device: &Device,
    engine: &str,
    submit: impl FnMut(usize) -> Result<()>,
    idle: impl Fn() -> Result<()>,
) -> Result<EngineCost> {
    least(engine, || device.stats(), submit, idle)
}

fn least(
    engine: &str,
    mut stats: impl FnMut() -> Result<drm_ouro_stats>,
    mut submit: impl FnMut(usize) -> Result<()>,
    idle: impl Fn() -> Result<()>,
) -> Result<EngineCost> {
    let mut best: Option<EngineCost> = None;
    for _ in 0..ROWS {
        // One more wakes the device.
        submit(0)?;
        let before = stats()?;
        for n in 0..COUNTED as usize {
            submit(n)?;
        }
        let row = EngineCost::between(engine, &before, &stats()?);
        idle()?;
        if best
            .as_ref()
            .is_none_or(|best| row.disturbance() < best.disturbance())
        {
            best = Some(row);
        }
        if best.as_ref().is_some_and(|best| best.disturbance() == 0) {
            break;
        }
    }
    best.context("no row was counted")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Rows of submissions with a port write each; `reads` and `interrupts` are what a row has besides. What is
    /// said of them, and how many rows there were.
    fn counted(reads: impl Fn(u64) -> u64, interrupts: impl Fn(u64) -> u64) -> (EngineCost, u64) {
        let (submitted, rows) = (Cell::new(0), Cell::new(0));
        let cost = least(
            "rcs0",
            || {
                let rows = rows.get();
                Ok(drm_ouro_stats {
                    requests: submitted.get(),
                    port_writes: submitted.get(),
                    reg_writes: submitted.get(),
                    reg_reads: (0..rows).map(&reads).sum(),
                    interrupts: (0..rows).map(&interrupts).sum(),
                    ..Default::default()
                })
            },
            |n| {
                submitted.set(submitted.get() + 1);
                if n == 63 {
                    rows.set(rows.get() + 1);
                }
                Ok(())
            },
            || Ok(()),
        );
        (cost.unwrap(), rows.get())
    }

    #[test]
    fn a_row_that_is_not_disturbed_is_the_only_one() {
        let (cost, rows) = counted(|_| 0, |_| 0);
        assert_eq!(
            (cost.submissions, cost.port_writes, cost.reads, rows),
            (64, 64, 0, 1)
        );
    }

    #[test]
    fn a_look_of_the_watch_in_a_row_says_nothing_about_submissions() {
        let (cost, rows) = counted(|row| if row == 0 { 8 } else { 0 }, |_| 0);
        assert_eq!((cost.reads, cost.interrupts, rows), (0, 0, 2));
    }

    #[test]
    fn the_row_that_is_disturbed_least_counts() {
        let (cost, rows) = counted(|row| if row == 5 { 1 } else { 8 }, |_| 2);
        assert_eq!((cost.reads, cost.interrupts, rows), (1, 2, 8));
    }

    #[test]
    fn what_each_submission_costs_is_in_each_row() {
        let (cost, rows) = counted(|_| 64, |_| 0);
        assert_eq!((cost.reads, rows), (64, 8));
    }
}
