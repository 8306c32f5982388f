// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Submission: one posted write of the ring's tail.
//!
//! The write also flushes the CPU's earlier write-combined writes (SNB PRM V1P2 §5.3.9). On the
//! video engine it needs a handshake (G-37): the engine must not fall asleep between the write and
//! its check of the tail, or it would miss the tail.

use super::{
    engine::RingEngine,
    fifo, late,
    regs::{self, masked},
};
use crate::{
    engine::Submission,
    generation::DeviceError,
    gt::Gt,
    intel::late::in_time,
    io::{AtomicWait, Hw},
    poll,
    types::RingOffset,
};

/// Entries of the write FIFO that a tail takes.
const TAIL_WRITES: u32 = 1;
/// Entries of the write FIFO that a tail with the handshake takes; a write of 64 bits takes two.
const HANDSHAKE_WRITES: u32 = 5;
/// Timeout in microseconds for the video engine to wake up (digest, peers' trace).
const AWAKE_MICROS: u32 = 1_000;

/// Submits the work up to a tail.
pub(crate) fn submit(
    engine: &RingEngine,
    hw: &Hw<'_>,
    gt: &mut Gt,
    what: Submission<'_>,
    wait: &dyn AtomicWait,
) -> Result<(), DeviceError> {
    let Submission::Tail(tail) = what else {
        return Err(DeviceError::Unsupported(
            "execlist submission on an engine with a ring",
        ));
    };
    if !gt.awake {
        return Err(DeviceError::Unsupported("submission without forcewake"));
    }
    if engine.handshake {
        fifo::take(engine.chip, hw, gt, HANDSHAKE_WRITES, wait)?;
        return with_handshake(engine, hw, gt, tail, wait);
    }
    fifo::take(engine.chip, hw, gt, TAIL_WRITES, wait)?;
    write_tail(engine, hw, gt, tail);
    Ok(())
}

fn write_tail(engine: &RingEngine, hw: &Hw<'_>, gt: &mut Gt, tail: RingOffset) {
    if engine.chip.chipset_flush {
        hw.platform.flush_chipset();
    }
    gt.counts.port_writes = gt.counts.port_writes.wrapping_add(1);
    hw.regs.write32(
        engine.base.at(regs::RING_TAIL),
        tail.0 & regs::RING_TAIL_MASK,
    );
}

fn with_handshake(
    engine: &RingEngine,
    hw: &Hw<'_>,
    gt: &mut Gt,
    tail: RingOffset,
    wait: &dyn AtomicWait,
) -> Result<(), DeviceError> {
    let psmi = poll::Named {
        offset: engine.base.at(regs::PSMI_CTL),
        name: "PSMI_CTL",
    };
    hw.regs.write32(psmi.offset, masked(regs::PSMI_NO_SLEEP, 0));
    hw.regs.write64(engine.base.at(regs::RNCID), 0);
    let reads = core::cell::Cell::new(0u64);
    let awake = poll::spinning(hw.regs, wait, psmi, AWAKE_MICROS, &|v| {
        reads.set(reads.get().wrapping_add(1));
        v & regs::PSMI_ASLEEP == 0
    });
    // The tail is written even after a timeout: the engine may see it, and without it no work is
    // done.
    write_tail(engine, hw, gt, tail);
    hw.regs.write32(psmi.offset, masked(0, regs::PSMI_NO_SLEEP));
    gt.counts.port_extra_writes = gt.counts.port_extra_writes.wrapping_add(3);
    gt.counts.port_extra_reads = gt.counts.port_extra_reads.wrapping_add(reads.get());
    if !in_time(awake)? {
        late::VIDEO.log_once(hw, gt);
    }
    Ok(())
}

/// Ends a wait for an event (§5.3.7.2). Returns whether the engine was waiting for one.
///
/// A one in bit 11 ends it (the write-enable bit of the document belongs to an earlier generation;
/// digest §6.2). A wait for a semaphore cannot be ended: only a reset helps.
pub(crate) fn kick(engine: &RingEngine, hw: &Hw<'_>) -> bool {
    let offset = engine.base.at(regs::RING_CTL);
    let value = hw.regs.read32(offset);
    if value == u32::MAX || !regs::RingCtl::from_bits(value).event_wait() {
        return false;
    }
    // All other bits are written as read, so nothing else changes.
    hw.regs.write32_flush(offset, value);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::engine::{BLITTER, RENDER, VIDEO},
        mock::{Access, Mock},
    };

    fn awake() -> Gt {
        Gt {
            awake: true,
            fifo: 40,
            ..Gt::default()
        }
    }

    fn tail(offset: u32) -> Submission<'static> {
        Submission::Tail(RingOffset(offset))
    }

    #[test]
    fn render_and_blitter_take_one_posted_write_and_no_read() {
        for (engine, at) in [(&RENDER, 0x2030), (&BLITTER, 0x2_2030)] {
            let mock = Mock::default();
            let mut gt = awake();
            submit(engine, &mock.hw(), &mut gt, tail(0x1238), &mock).unwrap();
            assert_eq!(mock.take(), [Access::W(at, 0x1238)]);
            assert_eq!(gt.fifo, 39);
            assert_eq!(gt.counts.port_writes, 1);
            assert_eq!(gt.counts.port_extra_reads, 0);
            assert_eq!(gt.counts.port_extra_writes, 0);
            assert_eq!(gt.counts.fifo_reads, 0);
        }
    }

    #[test]
    fn video_wakes_up_before_its_tail_moves() {
        let mock = Mock::default();
        // G-37: bit 3 is set until it is awake.
        mock.fix(0x1_2050, 0);
        mock.script(0x1_2050, &[8, 8]);
        let mut gt = awake();
        submit(&VIDEO, &mock.hw(), &mut gt, tail(0x40), &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0x1_2050, 0x0001_0001),
                Access::W64(0x1_2198, 0),
                Access::R(0x1_2050),
                Access::R(0x1_2050),
                Access::R(0x1_2050),
                Access::W(0x1_2030, 0x40),
                Access::W(0x1_2050, 0x0001_0000),
            ]
        );
        assert_eq!(gt.fifo, 35);
        assert_eq!(gt.counts.port_writes, 1);
        assert_eq!(gt.counts.port_extra_writes, 3);
        assert_eq!(gt.counts.port_extra_reads, 3);
    }

    #[test]
    fn a_video_engine_that_stays_asleep_is_warned_of_and_may_sleep_again() {
        let mock = Mock::default();
        mock.fix(0x1_2050, 8);
        let mut gt = awake();
        // The tail is written: to report that the work was not submitted would be wrong.
        submit(&VIDEO, &mock.hw(), &mut gt, tail(0x40), &mock).unwrap();
        assert_eq!(mock.warned.borrow().len(), 1);
        let log = mock.take();
        assert_eq!(
            log[log.len() - 2..],
            [Access::W(0x1_2030, 0x40), Access::W(0x1_2050, 0x0001_0000)]
        );
    }

    #[test]
    fn the_fifo_is_read_only_when_its_counted_room_is_gone() {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        let mut gt = Gt { fifo: 1, ..awake() };
        submit(&RENDER, &mock.hw(), &mut gt, tail(8), &mock).unwrap();
        submit(&RENDER, &mock.hw(), &mut gt, tail(16), &mock).unwrap();
        submit(&RENDER, &mock.hw(), &mut gt, tail(24), &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::W(0x2030, 8),
                Access::R(0x12_0008),
                Access::W(0x2030, 16),
                Access::W(0x2030, 24)
            ]
        );
        assert_eq!(gt.counts.fifo_reads, 1);
    }

    #[test]
    fn a_tail_is_written_although_the_fifo_stays_full() {
        // G-16: bits 6:0; 20 entries are the reserve.
        for engine in [&RENDER, &BLITTER, &VIDEO] {
            let mock = Mock::default();
            mock.set(0x12_0008, 20);
            let mut gt = Gt { fifo: 0, ..awake() };
            submit(engine, &mock.hw(), &mut gt, tail(8), &mock).unwrap();
            assert_eq!(mock.written(engine.base.at(0x30)), [8]);
            assert_eq!(mock.warned.borrow().len(), 1);
        }
    }

    #[test]
    fn a_tail_is_a_quadword() {
        let mock = Mock::default();
        submit(&RENDER, &mock.hw(), &mut awake(), tail(0xff00_0007), &mock).unwrap();
        assert_eq!(mock.take(), [Access::W(0x2030, 0)]);
        submit(&RENDER, &mock.hw(), &mut awake(), tail(0x1f_ffff), &mock).unwrap();
        assert_eq!(mock.take(), [Access::W(0x2030, 0x1f_fff8)]);
    }

    #[test]
    fn nothing_is_written_to_a_device_that_sleeps() {
        let mock = Mock::default();
        for engine in [&RENDER, &BLITTER, &VIDEO] {
            let r = submit(engine, &mock.hw(), &mut Gt::default(), tail(8), &mock);
            assert_eq!(
                r,
                Err(DeviceError::Unsupported("submission without forcewake"))
            );
        }
        assert_eq!(mock.take(), []);
    }

    #[test]
    fn a_ring_refuses_a_list() {
        let mock = Mock::default();
        let r = submit(
            &RENDER,
            &mock.hw(),
            &mut awake(),
            Submission::List {
                entries: &[],
                tails: &|| (),
            },
            &mock,
        );
        assert!(r.is_err());
        assert_eq!(mock.take(), []);
    }

    #[test]
    fn a_kick_writes_a_one_to_the_wait_bit() {
        let mock = Mock::default();
        // G-07: 11 waits for an event, 10 for a semaphore; four pages; enabled.
        mock.set(0x203c, 0x3801);
        assert!(kick(&RENDER, &mock.hw()));
        assert_eq!(
            mock.take(),
            [
                Access::R(0x203c),
                Access::W(0x203c, 0x3801),
                Access::R(0x203c)
            ]
        );
        for nothing in [0x3401, 0x3001, 0, u32::MAX] {
            mock.set(0x203c, nothing);
            assert!(!kick(&RENDER, &mock.hw()));
            assert_eq!(mock.take(), [Access::R(0x203c)]);
        }
    }
}
