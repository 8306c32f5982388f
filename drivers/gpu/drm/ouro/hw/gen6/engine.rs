// SPDX-License-Identifier: GPL-2.0
//! The three engines: what is fixed about them, how they are started and stopped.
//!
//! They share a register layout at different bases (SNB PRM V1P2 §1). Order of starting: G-26; of
//! stopping: G-25, §5.3.4.2.

use super::{
    emit, errors, fifo, golden, gt_regs as gt_reg, poll,
    regs::{self, masked, Base, RingCtl, RingHead},
    submit, translation,
};
use crate::{
    engine::{Emit, Engine, EngineDesc, EngineMemory, PageCopy, PortKind, Submission},
    generation::BringUpError,
    gt::Gt,
    intel::{blt, mi::NOOP},
    io::{AtomicWait, Hw, SleepWait},
    report::Activity,
    ring::{Commands, Overflow},
    types::{EngineClass, EngineId},
};

/// Byte offset, in the status page, of the number of the last completed request. The first sixteen
/// dwords are the device's (§5.5), others up to 0xc0 are kept free by custom (digest §4.6). Bit 5 is clear
/// (VCS §1.2.7).
pub(super) const SEQNO_AT: u32 = 0x100;
/// Byte offset, in the status page, of a dword that is written and never read (digest §4.6).
pub(super) const STATUS_SCRATCH_AT: u32 = 0x200;
/// Bytes of a ring: a little more than two hundred requests. G-46 tells of 16 KB, which a client that
/// does not wait fills in 60.
const RING_BYTES: u32 = 64 * 1024;

/// What engines differ in beyond their registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// 3D and media; the only one with contexts.
    Render,
    /// The blitter.
    Blitter,
    /// Video decoding.
    Video,
}

/// An engine with one ring.
pub(super) struct RingEngine {
    pub(super) desc: EngineDesc,
    pub(super) kind: Kind,
    pub(super) base: Base,
    /// The register of its first page fault (§5.7.2.1).
    pub(super) fault: u32,
    /// Its user interrupt in the interrupt registers (G-12).
    pub(super) user: u32,
    /// Its error interrupt in the interrupt registers (G-12).
    pub(super) error: u32,
}

const fn desc(
    class: EngineClass,
    base: Base,
    contexts: bool,
    emit: usize,
    golden: usize,
) -> EngineDesc {
    EngineDesc {
        id: EngineId { class, instance: 0 },
        registers: base.0,
        port: PortKind::Ring,
        ring_bytes: RING_BYTES,
        noop: NOOP,
        emit_dwords: emit,
        golden_dwords: golden,
        known_dwords: 0,
        private_dwords: 0,
        copy_pages: match class {
            EngineClass::Copy => blt::MAX_ROWS,
            _ => 0,
        },
        state_bytes: 0,
        fill_pages: 0,
        seqno_at: SEQNO_AT,
        contexts,
        reset_group: None,
        events: None,
    }
}

/// The render engine.
pub(super) static RENDER: RingEngine = RingEngine {
    desc: desc(
        EngineClass::Render,
        Base::RENDER,
        true,
        emit::RENDER_DWORDS,
        golden::DWORDS,
    ),
    kind: Kind::Render,
    base: Base::RENDER,
    fault: gt_reg::FAULT_RENDER,
    user: gt_reg::GT_RENDER_USER,
    error: gt_reg::GT_RENDER_ERROR,
};

/// The blitter.
pub(super) static BLITTER: RingEngine = RingEngine {
    desc: desc(
        EngineClass::Copy,
        Base::BLITTER,
        false,
        emit::OTHER_DWORDS,
        0,
    ),
    kind: Kind::Blitter,
    base: Base::BLITTER,
    fault: gt_reg::FAULT_BLITTER,
    user: gt_reg::GT_BLITTER_USER,
    error: gt_reg::GT_BLITTER_ERROR,
};

/// The video engine.
pub(super) static VIDEO: RingEngine = RingEngine {
    desc: desc(
        EngineClass::Video,
        Base::VIDEO,
        false,
        emit::OTHER_DWORDS,
        0,
    ),
    kind: Kind::Video,
    base: Base::VIDEO,
    fault: gt_reg::FAULT_VIDEO,
    user: gt_reg::GT_VIDEO_USER,
    error: gt_reg::GT_VIDEO_ERROR,
};

/// All of them, in the order of the topology.
pub(super) static RINGS: [&RingEngine; 3] = [&RENDER, &BLITTER, &VIDEO];
/// The same, as the core sees them.
pub(super) static ENGINES: [&dyn Engine; 3] = [&RENDER, &BLITTER, &VIDEO];

/// Errors that are reported: all that the chip knows.
const ERRORS: u32 = regs::ERROR_INSTRUCTION | regs::ERROR_PAGE_TABLE;
/// Microseconds until an engine that was told to stop is idle, when nothing is wrong (G-25).
const IDLE_MICROS: u32 = 100_000;
/// The same before a reset, where it does not matter much (G-25).
const HUNG_MICROS: u32 = 1_000;
/// Microseconds of a synchronous flush (digest, peers' trace).
const FLUSH_MICROS: u32 = 2_000;
/// Microseconds until a ring register reads what was written (digest, peers' trace).
const RING_MICROS: u32 = 5_000;
/// The same of the head, which is written again and again meanwhile (UW36).
const HEAD_MICROS: u32 = 50_000;

impl RingEngine {
    const fn named(&self, reg: u32, name: &'static str) -> poll::Named {
        poll::Named {
            offset: self.base.at(reg),
            name,
        }
    }

    fn write(&self, hw: &Hw<'_>, reg: u32, value: u32) {
        hw.regs.write32(self.base.at(reg), value);
    }

    fn write_flush(&self, hw: &Hw<'_>, reg: u32, value: u32) {
        hw.regs.write32_flush(self.base.at(reg), value);
    }

    fn read(&self, hw: &Hw<'_>, reg: u32) -> u32 {
        hw.regs.read32(self.base.at(reg))
    }

    /// Puts the head to an offset. A write of it may be lost after a reset, so it is written until it reads
    /// back (UW36).
    fn put_head(
        &self,
        hw: &Hw<'_>,
        to: u32,
        micros: u32,
        wait: &dyn SleepWait,
    ) -> Result<(), BringUpError> {
        let head = self.named(regs::RING_HEAD, "RING_HEAD");
        let there = |v| {
            let there = RingHead::from_bits(v).offset() == to;
            if !there {
                self.write(hw, regs::RING_HEAD, to);
            }
            there
        };
        self.write(hw, regs::RING_HEAD, to);
        poll::sleeping(hw.regs, wait, head, micros, &there)?;
        Ok(())
    }

    /// Stops it (G-25). Disabling a ring that is not empty is undefined (§5.3.4.2), so the head is
    /// put to the tail first. `micros` are for the engine, and for the head.
    fn halt(
        &self,
        hw: &Hw<'_>,
        micros: [u32; 2],
        wait: &dyn SleepWait,
    ) -> Result<(), BringUpError> {
        let [idle_micros, head_micros] = micros;
        fifo::room(hw, 8, wait)?;
        self.write(hw, regs::MI_MODE, masked(regs::MI_MODE_STOP, 0));
        let mode = self.named(regs::MI_MODE, "MI_MODE");
        let idle = |v| v & regs::MI_MODE_IDLE != 0;
        let stopped = poll::sleeping(hw.regs, wait, mode, idle_micros, &idle);
        if stopped == Err(BringUpError::Gone) {
            return Err(BringUpError::Gone);
        }
        let tail = self.read(hw, regs::RING_TAIL) & regs::RING_TAIL_MASK;
        let head = RingHead::from_bits(self.read(hw, regs::RING_HEAD));
        let emptied = self.put_head(hw, tail, head_micros, wait);
        self.write_flush(hw, regs::RING_CTL, 0);
        let zeroed = self.put_head(hw, 0, head_micros, wait);
        self.write_flush(hw, regs::RING_TAIL, 0);
        self.write_flush(hw, regs::IMR, u32::MAX);
        // An engine may not say that it is idle although its ring was empty (UW17).
        if head.offset() != tail {
            stopped?;
        }
        emptied.and(zeroed)
    }

    /// Stops it before a reset: whether it was idle does not matter.
    pub(super) fn halt_hung(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
        match self.halt(hw, [HUNG_MICROS; 2], wait) {
            Err(BringUpError::Timeout(_)) => Ok(()),
            other => other,
        }
    }

    /// Drops what the command streamer has cached, while the ring is stopped (§5.3.11.2, VCS §4.7). It is
    /// known not to end now and then, and the upstream driver goes on then (UW35).
    fn sync_flush(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
        let both = regs::INSTPM_SYNC_FLUSH | regs::INSTPM_TLB_INVALIDATE;
        let instpm = self.named(regs::INSTPM, "INSTPM");
        let flushed = |v| v & u32::from(regs::INSTPM_SYNC_FLUSH) == 0;
        for _ in 0..2 {
            self.write(hw, regs::INSTPM, masked(both, 0));
            match poll::sleeping(hw.regs, wait, instpm, FLUSH_MICROS, &flushed) {
                Err(BringUpError::Timeout(_)) => {}
                other => return other.map(|_| ()),
            }
        }
        hw.platform
            .warn("a command streamer does not end its flush: it may have old translations");
        Ok(())
    }

    /// Lets through what the engine has to report: completions and errors (§5.6, §5.7.1).
    fn unmask(&self, hw: &Hw<'_>) {
        let old = self.read(hw, regs::EIR);
        self.write(hw, regs::EIR, old);
        self.write(hw, regs::EMR, !ERRORS);
        self.write(hw, regs::IMR, !(self.user | self.error));
    }
}

impl Engine for RingEngine {
    fn desc(&self) -> &'static EngineDesc {
        match self.kind {
            Kind::Render => &RENDER.desc,
            Kind::Blitter => &BLITTER.desc,
            Kind::Video => &VIDEO.desc,
        }
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        mem: &EngineMemory,
        wait: &dyn SleepWait,
    ) -> Result<(), BringUpError> {
        // A ring at address 0 does not work (G-46).
        if mem.ring.0 == 0 {
            return Err(BringUpError::Unsupported("a ring at address 0"));
        }
        self.halt(hw, [IDLE_MICROS, HEAD_MICROS], wait)?;
        fifo::room(hw, 20, wait)?;
        self.write_flush(hw, regs::HWS_PGA, mem.status.0);
        // One change of status at most may be written to the status page (VCS §1.1.6.1). The render
        // engine writes its user interrupt there, as others have it (G-26); nobody reads it.
        let unreported = match self.kind {
            Kind::Render => 1,
            Kind::Blitter | Kind::Video => 0,
        };
        self.write(hw, regs::HWSTAM, u32::MAX ^ unreported);
        self.sync_flush(hw, wait)?;
        self.unmask(hw);

        self.write(hw, regs::RING_START, mem.ring.0);
        if let Some(slot) = mem.directory {
            translation::load_directory(hw, self.base, slot);
        }
        // Enabling does not reset the head (§5.3.4.2).
        self.put_head(hw, 0, HEAD_MICROS, wait)?;
        self.write_flush(hw, regs::RING_TAIL, 0);

        let pages = RING_BYTES / crate::types::PAGE_SIZE;
        let enable = RingCtl::new()
            .with_pages_less_one(pages.wrapping_sub(1) as u16)
            .with_enable(true);
        self.write(hw, regs::RING_CTL, enable.into_bits());
        let ctl = self.named(regs::RING_CTL, "RING_CTL");
        let enabled = |v| RingCtl::from_bits(v).enable();
        poll::sleeping(hw.regs, wait, ctl, RING_MICROS, &enabled)?;
        self.write(hw, regs::MI_MODE, masked(0, regs::MI_MODE_STOP));
        // Still empty; and the read empties the write FIFO.
        let head = self.named(regs::RING_HEAD, "RING_HEAD");
        let at_start = |v| RingHead::from_bits(v).offset() == 0;
        poll::sleeping(hw.regs, wait, head, RING_MICROS, &at_start)?;
        Ok(())
    }

    fn stop(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), BringUpError> {
        self.halt(hw, [IDLE_MICROS, HEAD_MICROS], wait)
    }

    fn emit(
        &self,
        request: &Emit<'_>,
        mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow> {
        emit::request(self.kind, request, mem, out)
    }

    fn submit(
        &self,
        hw: &Hw<'_>,
        gt: &mut Gt,
        what: Submission<'_>,
        wait: &dyn AtomicWait,
    ) -> Result<(), BringUpError> {
        submit::submit(self, hw, gt, what, wait)
    }

    fn golden(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        match self.kind {
            Kind::Render => golden::commands(out),
            Kind::Blitter | Kind::Video => Ok(()),
        }
    }

    fn golden_registers(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        match self.kind {
            Kind::Render => golden::registers(out),
            Kind::Blitter | Kind::Video => Ok(()),
        }
    }

    fn copy(&self, copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
        match self.kind {
            Kind::Blitter => blt::copy(copy, out),
            Kind::Render | Kind::Video => Err(Overflow),
        }
    }

    fn activity(&self, hw: &Hw<'_>) -> Activity {
        errors::activity(self, hw)
    }

    fn kick(&self, hw: &Hw<'_>) -> bool {
        submit::kick(self, hw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mock::{Access, Mock},
        types::GgttAddr,
    };

    const MEM: EngineMemory = EngineMemory {
        ring: GgttAddr(0x0001_0000),
        status: GgttAddr(0x0002_0000),
        scratch: GgttAddr(0x0003_0000),
        directory: Some(GgttAddr(0x0010_0000)),
        card: 0,
    };

    /// A device whose engine at `base` is idle.
    fn device(base: u32) -> Mock {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock.fix(base + 0x9c, 0x200);
        mock.fix(base + 0xc0, 0);
        mock
    }

    #[test]
    fn the_blitter_starts_in_the_order_of_g_26() {
        let mock = device(0x2_2000);
        mock.set(0x2_20b0, 0x11);
        mock.set(0x2_2030, 0x48);
        BLITTER.start(&mock.hw(), &MEM, &mock).unwrap();
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                // G-25: stop, idle, head to tail, off, both to zero; interrupts masked.
                r(0x12_0008),
                w(0x2_209c, 0x0100_0100),
                r(0x2_209c),
                r(0x2_2030),
                r(0x2_2034),
                w(0x2_2034, 0x48),
                r(0x2_2034),
                w(0x2_203c, 0),
                r(0x2_203c),
                w(0x2_2034, 0),
                r(0x2_2034),
                w(0x2_2030, 0),
                r(0x2_2030),
                w(0x2_20a8, 0xffff_ffff),
                r(0x2_20a8),
                // G-26.
                r(0x12_0008),
                w(0x2_4080, 0x0002_0000),
                r(0x2_4080),
                w(0x2_2098, 0xffff_ffff),
                w(0x2_20c0, 0x0220_0220),
                r(0x2_20c0),
                // §5.7.1: old errors, errors 0 and 4 unmasked; G-12: bits 22 and 25.
                r(0x2_20b0),
                w(0x2_20b0, 0x11),
                w(0x2_20b4, 0xffff_ffee),
                w(0x2_20a8, 0xfdbf_ffff),
                w(0x2_2038, 0x0001_0000),
                // G-20: all groups, then the base: slot 0x100, 64 bytes each 16 slots.
                w(0x2_2220, 0xffff_ffff),
                w(0x2_2228, 0x0010_0000),
                w(0x2_2034, 0),
                r(0x2_2034),
                w(0x2_2030, 0),
                r(0x2_2030),
                w(0x2_203c, 0xf001),
                r(0x2_203c),
                w(0x2_209c, 0x0100_0000),
                r(0x2_2034),
            ]
        );
    }

    #[test]
    fn each_engine_unmasks_its_own_interrupts() {
        // G-12: render 0 and 3, video 12 and 15, blitter 22 and 25.
        for (engine, base, mask) in [
            (&RENDER, 0x2000, !0x9u32),
            (&VIDEO, 0x1_2000, !0x9000),
            (&BLITTER, 0x2_2000, !0x0240_0000),
        ] {
            let mock = device(base);
            engine.start(&mock.hw(), &MEM, &mock).unwrap();
            assert_eq!(mock.written(base + 0xa8), [0xffff_ffff, mask]);
        }
    }

    #[test]
    fn status_pages_are_set_where_g_08_says() {
        for (engine, base, at, hwstam) in [
            (&RENDER, 0x2000, 0x4080, 0xffff_fffe),
            (&VIDEO, 0x1_2000, 0x1_4080, 0xffff_ffff),
            (&BLITTER, 0x2_2000, 0x2_4080, 0xffff_ffff),
        ] {
            let mock = device(base);
            engine.start(&mock.hw(), &MEM, &mock).unwrap();
            assert_eq!(mock.written(at), [0x0002_0000]);
            assert_eq!(mock.written(base + 0x98), [hwstam]);
        }
    }

    #[test]
    fn without_a_directory_none_is_loaded() {
        let mock = device(0x2000);
        let mem = EngineMemory {
            directory: None,
            ..MEM
        };
        RENDER.start(&mock.hw(), &mem, &mock).unwrap();
        assert_eq!(mock.written(0x2228), []);
        assert_eq!(mock.written(0x2220), []);
    }

    #[test]
    fn what_does_not_answer_is_named() {
        for (reg, name, bad) in [(0x2_2034, "RING_HEAD", 0x40), (0x2_203c, "RING_CTL", 0)] {
            let mock = device(0x2_2000);
            mock.fix(reg, bad);
            let r = BLITTER.start(&mock.hw(), &MEM, &mock);
            assert_eq!(r, Err(BringUpError::Timeout(name)));
        }
        // Something is left in its ring, and it does not stop.
        let mock = device(0x2_2000);
        mock.fix(0x2_209c, 0);
        mock.set(0x2_2030, 0x48);
        let r = BLITTER.start(&mock.hw(), &MEM, &mock);
        assert_eq!(r, Err(BringUpError::Timeout("MI_MODE")));
    }

    #[test]
    fn an_engine_with_an_empty_ring_is_idle_whatever_it_says() {
        // UW17: bit 9 of MI_MODE stays clear; the head, which counts wraps above bit 20, is at the tail.
        let mock = device(0x2_2000);
        mock.fix(0x2_209c, 0);
        mock.set(0x2_2030, 0x48);
        mock.set(0x2_2034, 0x0020_0048);
        assert_eq!(BLITTER.start(&mock.hw(), &MEM, &mock), Ok(()));
        mock.set(0x2_2030, 0x48);
        mock.set(0x2_2034, 0x0020_0048);
        assert_eq!(BLITTER.stop(&mock.hw(), &mock), Ok(()));
    }

    #[test]
    fn a_head_that_does_not_move_is_written_again() {
        // UW36: the first two writes are lost, when the ring is emptied and when it starts.
        let mock = device(0x2_2000);
        mock.set(0x2_2030, 0x48);
        mock.script(0x2_2034, &[0x40, 0x40, 0x40, 0x48, 0x48, 0, 0x48, 0x48, 0]);
        assert_eq!(BLITTER.start(&mock.hw(), &MEM, &mock), Ok(()));
        assert_eq!(mock.written(0x2_2034), [0x48, 0x48, 0x48, 0, 0, 0, 0, 0]);
        // It is off only when the head is at the tail.
        let log = mock.take();
        let off = log.iter().position(|a| *a == Access::W(0x2_203c, 0));
        let before = &log[..off.unwrap()];
        assert_eq!(before.last(), Some(&Access::R(0x2_2034)));
    }

    #[test]
    fn a_flush_that_does_not_end_is_tried_twice_and_then_said() {
        // UW35.
        let mock = device(0x2_2000);
        mock.fix(0x2_20c0, 0x20);
        assert_eq!(BLITTER.start(&mock.hw(), &MEM, &mock), Ok(()));
        assert_eq!(mock.written(0x2_20c0), [0x0220_0220; 2]);
        assert_eq!(mock.warned.borrow().len(), 1);
        // The second time helps: nothing is said.
        let mock = device(0x2_2000);
        mock.script(0x2_20c0, &[0x20; 4]);
        assert_eq!(BLITTER.start(&mock.hw(), &MEM, &mock), Ok(()));
        assert_eq!(mock.written(0x2_20c0), [0x0220_0220; 2]);
        assert_eq!(mock.warned.borrow().len(), 0);
    }

    #[test]
    fn a_hung_engine_is_cut_off_and_says_so() {
        let mock = device(0x2_2000);
        mock.fix(0x2_209c, 0);
        mock.set(0x2_2030, 0x48);
        let r = BLITTER.stop(&mock.hw(), &mock);
        assert_eq!(r, Err(BringUpError::Timeout("MI_MODE")));
        assert_eq!(mock.written(0x2_203c), [0]);
        mock.set(0x2_2030, 0x48);
        assert_eq!(BLITTER.halt_hung(&mock.hw(), &mock), Ok(()));
        // Nor does its head move.
        mock.fix(0x2_2034, 0x40);
        assert_eq!(BLITTER.halt_hung(&mock.hw(), &mock), Ok(()));
        mock.gone.set(true);
        assert_eq!(
            BLITTER.halt_hung(&mock.hw(), &mock),
            Err(BringUpError::Gone)
        );
        assert_eq!(BLITTER.stop(&mock.hw(), &mock), Err(BringUpError::Gone));
    }

    #[test]
    fn a_ring_at_address_zero_is_refused() {
        let mock = device(0x2_2000);
        let mem = EngineMemory {
            ring: GgttAddr(0),
            ..MEM
        };
        assert!(BLITTER.start(&mock.hw(), &mem, &mock).is_err());
        assert_eq!(mock.take(), []);
    }

    #[test]
    fn descriptions_are_as_documented() {
        assert_eq!(RINGS.map(|e| e.desc().ring_bytes), [65536; 3]);
        assert_eq!(RINGS.map(|e| e.desc().seqno_at), [0x100; 3]);
        // G-27: only the render engine has contexts.
        assert_eq!(RINGS.map(|e| e.desc().contexts), [true, false, false]);
        // UW46: none is reset alone.
        assert_eq!(RINGS.map(|e| e.desc().reset_group), [None; 3]);
        // Digest 2.5: only the blitter copies; a row is a page, and rows are numbered with 16 bits,
        // of which one is the sign.
        assert_eq!(RINGS.map(|e| e.desc().copy_pages), [0, 32767, 0]);
        assert_eq!(
            RINGS.map(|e| e.desc().id.class),
            [EngineClass::Render, EngineClass::Copy, EngineClass::Video]
        );
    }
}
