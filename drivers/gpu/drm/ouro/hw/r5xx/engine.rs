// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The engine: the command processor with its ring, and the 2D and 3D engines behind it.
//!
//! Order of the start: §4.8, §4.12, digest §5.2.

use super::{
    check, copy, emit, errors, idle, known, microcode,
    packets::FILLER,
    regs::{self, RbCntl},
    reset,
};
use crate::{
    checker::Checker,
    engine::{Emit, Engine, EngineDesc, EngineMemory, PageCopy, PortKind, Submission},
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    poll,
    report::Activity,
    ring::{Commands, Overflow},
    types::{EngineClass, EngineId},
};

/// Bytes of the ring: 1024 requests without kernel commands.
const RING_BYTES: u32 = 256 * 1024;
/// Byte offset of scratch register 0, which holds the seqno, in the status page. The chip writes
/// scratch register `n` to dword `n` of the page (§4.9).
pub(super) const SEQNO_AT: u32 = 0;
/// Scratch registers that the chip writes to the status page.
const SCRATCH_MASK: u32 = 1;
/// Byte offset of the read pointer in the status page (digest §4.3). The driver does not read it;
/// an error state contains it.
const RPTR_AT: u32 = 1024;
/// Microseconds until the chip has taken over the pointers. The document has no value; radeon and
/// radeonhd wait so long.
const POINTERS_MICROS: u32 = 10;
/// Timeout in microseconds until all submitted work is done.
const IDLE_MICROS: u32 = 100_000;

/// Control of the ring (digest §4.3).
const fn ring_control() -> RbCntl {
    RbCntl::new()
        .with_size((RING_BYTES / 8).trailing_zeros() as u8)
        .with_block(9)
        .with_fetch(1)
}

/// The engine, for one family.
pub(super) struct CommandProcessor {
    /// Whether there is a mask of units of depth (digest §5.2).
    depth_pipes: bool,
}

/// All engines of RV530, in the order of the topology.
pub(super) static WITH_DEPTH_PIPES: [&dyn Engine; 1] = [&CommandProcessor { depth_pipes: true }];
/// All engines of the other families.
pub(super) static ENGINES: [&dyn Engine; 1] = [&CommandProcessor { depth_pipes: false }];

/// Name and class of the engine.
pub(super) const ID: EngineId = EngineId {
    class: EngineClass::Render,
    instance: 0,
};

static DESC: EngineDesc = EngineDesc {
    id: ID,
    registers: regs::CP_RB_BASE,
    port: PortKind::Ring,
    ring_bytes: RING_BYTES,
    ring_end: u64::MAX,
    noop: FILLER,
    emit_dwords: emit::DWORDS,
    golden_dwords: 0,
    known_dwords: known::DWORDS,
    private_dwords: known::PRIVATE_DWORDS,
    copy_pages: copy::MAX_ROWS,
    state_bytes: 0,
    fill_pages: 0,
    seqno_at: SEQNO_AT,
    contexts: false,
    // All blocks are reset together.
    reset_group: None,
    events: None,
    watchdog: None,
};

impl Engine for CommandProcessor {
    fn desc(&self) -> &'static EngineDesc {
        &DESC
    }

    fn checker(&self) -> Option<&'static dyn Checker> {
        let streams = match self.depth_pipes {
            true => &check::WITH_DEPTH_PIPES,
            false => &check::STREAMS,
        };
        Some(streams)
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        mem: &EngineMemory,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let r = hw.regs;
        reset::halt(hw);
        idle::engines(hw, wait)?;
        microcode::load(hw)?;
        r.write32(regs::CP_RB_WPTR_DELAY, 0);
        let control = ring_control();
        r.write32(regs::CP_RB_CNTL, control.with_no_update(true).into_bits());
        r.write32(regs::CP_RB_BASE, mem.ring.0);
        // The pointers are set while the read pointer is writable (§4.8).
        let set = control.with_no_update(true).with_set_rptr(true);
        r.write32(regs::CP_RB_CNTL, set.into_bits());
        r.write32(regs::CP_RB_RPTR_WR, 0);
        r.write32(regs::CP_RB_WPTR, 0);
        let status = mem.status.in_table()?;
        r.write32(regs::CP_RB_RPTR_ADDR, status.0.wrapping_add(RPTR_AT));
        r.write32(regs::SCRATCH_ADDR, status.0);
        r.write32(regs::SCRATCH_UMSK, SCRATCH_MASK);
        r.write32(regs::CP_RB_CNTL, control.into_bits());
        wait.pause(POINTERS_MICROS);
        r.write32(regs::CP_CSQ_MODE, regs::CSQ_MODE_STARTS);
        r.write32_flush(regs::CP_CSQ_CNTL, regs::CSQ_PRIBM_INDBM);
        match r.read32(regs::CP_RB_RPTR) {
            0 => Ok(()),
            u32::MAX => Err(DeviceError::Gone),
            _ => Err(DeviceError::Timeout("CP_RB_RPTR")),
        }
    }

    fn stop(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        let tail = hw.regs.read32(regs::CP_RB_WPTR);
        let idle = |v: u32| v & regs::GUI_ACTIVE == 0 && hw.regs.read32(regs::CP_RB_RPTR) == tail;
        let stopped = poll::sleeping(hw.regs, wait, idle::STATUS, IDLE_MICROS, &idle);
        if stopped != Err(DeviceError::Gone) {
            reset::halt(hw);
            hw.regs.write32(regs::SCRATCH_UMSK, 0);
        }
        stopped.map(|_| ())
    }

    fn emit(
        &self,
        request: &Emit<'_>,
        mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow> {
        emit::request(self.depth_pipes, request, mem, out)
    }

    fn submit(
        &self,
        hw: &Hw<'_>,
        gt: &mut Gt,
        what: Submission<'_>,
        _wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError> {
        let Submission::Tail(tail) = what else {
            return Err(DeviceError::Unsupported(
                "execlist submission on an engine with a ring",
            ));
        };
        if !gt.awake {
            return Err(DeviceError::Unsupported("submission without forcewake"));
        }
        gt.counts.port_writes = gt.counts.port_writes.wrapping_add(1);
        // Pointers count dwords (digest trap 7).
        hw.regs.write32(regs::CP_RB_WPTR, tail.0 / 4);
        Ok(())
    }

    fn golden(&self, _out: &mut Commands<'_>) -> Result<(), Overflow> {
        // There are no contexts.
        Ok(())
    }

    fn known_state(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        known::commands(self.depth_pipes, out)
    }

    fn copy(&self, what: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
        copy::copy(what, out)
    }

    fn activity(&self, hw: &Hw<'_>) -> Activity {
        errors::activity(hw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mock::{Access, Mock},
        types::RingOffset,
    };
    use std::vec;

    static COMMAND_PROCESSOR: CommandProcessor = CommandProcessor { depth_pipes: false };

    const MEM: EngineMemory = crate::mock::MEMORY;

    #[test]
    fn a_ring_is_started_in_the_order_of_digest_5_2() {
        let mut mock = Mock::default();
        mock.firmware = vec![0; 8];
        mock.set(0xe40, 0x40);
        COMMAND_PROCESSOR.start(&mock.hw(), &MEM, &mock).unwrap();
        let log = mock.take();
        let (r, w) = (Access::R, Access::W);
        let at = log.iter().position(|a| *a == w(0x7e0, 0)).unwrap();
        assert_eq!(
            log[at + 1..],
            [
                w(0x718, 0),
                // 32 Ki quadwords (15), a block of 2^9, one fetch; bit 27: read pointer not written
                // back.
                w(0x704, 0x0804_090f),
                w(0x700, 0x0001_0000),
                w(0x704, 0x8804_090f),
                w(0x71c, 0),
                w(0x714, 0),
                // Digest §4.3: 1024 bytes behind the scratch registers.
                w(0x70c, 0x0002_0400),
                w(0x774, 0x0002_0000),
                w(0x770, 1),
                w(0x704, 0x0004_090f),
                Access::Pause(10),
                w(0x744, 0x4d4d),
                w(0x740, 0x4000_0000),
                r(0x740),
                r(0x710),
            ]
        );
        // Both streams are disabled first (§4.8).
        assert_eq!(log[..2], [w(0x740, 0), w(0x744, 0)]);
        // The engines are idle before the microcode's memory is written.
        let looked = log.iter().position(|a| *a == r(0xe40)).unwrap();
        let loaded = log.iter().position(|a| *a == w(0x7d4, 0)).unwrap();
        assert_eq!((looked, loaded), (7, 8));
    }

    #[test]
    fn without_microcode_it_does_not_start() {
        let mock = Mock::default();
        let r = COMMAND_PROCESSOR.start(&mock.hw(), &MEM, &mock);
        assert_eq!(
            r,
            Err(DeviceError::Unsupported(
                "CP microcode file is not 1 to 256 words of 8 bytes"
            ))
        );
        assert_eq!(mock.written(0x740), [0], "off");
    }

    #[test]
    fn work_is_started_by_one_posted_write() {
        let mock = Mock::default();
        let mut gt = Gt {
            awake: true,
            ..Gt::default()
        };
        let tail = Submission::Tail(RingOffset(0x140));
        let engine: &dyn Engine = &COMMAND_PROCESSOR;
        engine.submit(&mock.hw(), &mut gt, tail, &mock).unwrap();
        assert_eq!(mock.take(), [Access::W(0x714, 0x50)]);
        assert_eq!(gt.counts.port_writes, 1);
        let asleep = engine.submit(&mock.hw(), &mut Gt::default(), tail, &mock);
        assert!(asleep.is_err() && mock.take().is_empty());
        let list = Submission::List {
            entries: &[],
            tails: &|| panic!("there are none"),
        };
        let list = engine.submit(&mock.hw(), &mut gt, list, &mock);
        assert!(list.is_err() && mock.take().is_empty());
    }

    #[test]
    fn it_is_stopped_when_idle_and_cut_off_when_not() {
        let mock = Mock::default();
        mock.set(0xe40, 0x40);
        COMMAND_PROCESSOR.stop(&mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0x740), [0]);
        assert_eq!(mock.written(0x770), [0]);
        mock.take();
        for (status, head) in [(0x8000_0040, 0), (0x40, 5)] {
            mock.fix(0xe40, status);
            mock.set(0x714, 0);
            mock.fix(0x710, head);
            let r = COMMAND_PROCESSOR.stop(&mock.hw(), &mock);
            assert_eq!(r, Err(DeviceError::Timeout("RBBM_STATUS")));
            assert_eq!(mock.written(0x740), [0]);
            mock.take();
        }
        mock.gone.set(true);
        let r = COMMAND_PROCESSOR.stop(&mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }
}
