// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The engines: their fixed properties, start and stop.
//!
//! All have the same front end, with an execlist each (A1, A3). Register bases: D:Register Access
//! and digest §3.1, §5.3; start: I9, B4, E19 and D19.

use super::{
    blt, commands, emit, errors,
    image::Images,
    mocs, poll,
    regs::{self, masked, Base, BlitCctl, RingHead, StatusPointers},
    settings, status, submit, workarounds,
};
use crate::{
    context::ContextImages,
    engine::{
        ContextWorkaround, Emit, Engine, EngineDesc, EngineMemory, EventArea, PageCopy, PageFill,
        PortEvent, PortKind, Submission,
    },
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    report::Activity,
    ring::{Commands, Overflow},
    types::{EngineClass, EngineId},
};

/// Byte offset of the seqno in a context's status page: a quadword with bit 5 clear (G7), behind
/// the offsets that the engine and others use (digest §4.7).
pub(super) const SEQNO_AT: u32 = 0x200;
/// Most pages of a copy or fill: only the blitter does these.
const fn rows(class: EngineClass) -> u32 {
    match class {
        EngineClass::Copy => blt::MAX_ROWS,
        _ => 0,
    }
}

/// Size of a context's ring in bytes.
const RING_BYTES: u32 = 16 * 1024;
/// Elements of the submission queue (B1).
pub(super) const ELEMENTS: u8 = 8;

/// The forcewake domain of an engine, beside the one that all engines need (digest §5.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Well {
    /// None.
    None,
    /// Render and compute.
    Render,
    /// Video decoder 0.
    Video0,
    /// Video decoder 2.
    Video2,
    /// Video enhancer 0.
    Enhance0,
    /// Video enhancer 1.
    Enhance1,
}

/// An engine.
pub(super) struct ListEngine {
    /// Its fixed properties.
    pub(super) desc: EngineDesc,
    /// Base of its registers.
    pub(super) base: Base,
    /// Its place in [`ALL`].
    pub(super) slot: u8,
    /// Its forcewake domain.
    pub(super) well: Well,
    /// The register that tells that it sleeps (digest §3.3 row 8).
    pub(super) idle: u32,
    /// Its context images.
    pub(super) images: Images,
}

const fn engine(
    slot: u8,
    class: EngineClass,
    instance: u8,
    base: u32,
    well: Well,
    idle: u32,
) -> ListEngine {
    let pipeline = matches!(class, EngineClass::Render | EngineClass::Compute);
    ListEngine {
        desc: EngineDesc {
            id: EngineId { class, instance },
            registers: base,
            port: PortKind::List { depth: ELEMENTS },
            ring_bytes: RING_BYTES,
            ring_end: u64::MAX,
            noop: commands::NOOP,
            emit_dwords: emit::dwords(class),
            golden_dwords: match class {
                EngineClass::Copy => 4,
                _ => workarounds::golden_dwords(class),
            },
            known_dwords: 0,
            private_dwords: 0,
            copy_pages: rows(class),
            state_bytes: blt::state_bytes(class),
            fill_pages: rows(class),
            seqno_at: SEQNO_AT,
            contexts: true,
            reset_group: Some(match (class, instance / 2) {
                (EngineClass::Render | EngineClass::Compute, _) => 0,
                (EngineClass::Copy, _) => 1,
                (EngineClass::Video, half) => 2 + half,
                (EngineClass::VideoEnhance, _) => 2 + instance,
            }),
            events: Some(status::KERNEL),
            watchdog: None,
        },
        base: Base(base),
        slot,
        well,
        idle,
        images: Images {
            base: Base(base),
            class,
            pages: if pipeline { 14 } else { 2 },
        },
    }
}

use EngineClass::{Compute, Copy, Render, Video, VideoEnhance};

static RCS0: ListEngine = engine(0, Render, 0, 0x2000, Well::Render, 0x8000);
/// The blitter.
pub(super) static BCS0: ListEngine = engine(1, Copy, 0, 0x2_2000, Well::None, 0x800c);
static CCS0: ListEngine = engine(2, Compute, 0, 0x1_a000, Well::Render, 0x8000);
static CCS1: ListEngine = engine(3, Compute, 1, 0x1_c000, Well::Render, 0x8000);
static CCS2: ListEngine = engine(4, Compute, 2, 0x1_e000, Well::Render, 0x8000);
static CCS3: ListEngine = engine(5, Compute, 3, 0x2_6000, Well::Render, 0x8000);
static VCS0: ListEngine = engine(6, Video, 0, 0x1c_0000, Well::Video0, 0x8004);
static VCS2: ListEngine = engine(7, Video, 2, 0x1d_0000, Well::Video2, 0x80c0);
static VECS0: ListEngine = engine(8, VideoEnhance, 0, 0x1c_8000, Well::Enhance0, 0x8010);
static VECS1: ListEngine = engine(9, VideoEnhance, 1, 0x1d_8000, Well::Enhance1, 0x80d8);

/// All engines that any card has, in the order of every topology. Cards lack some
/// ([`super::fuses`]).
pub(super) static ALL: [&ListEngine; 10] = [
    &RCS0, &BCS0, &CCS0, &CCS1, &CCS2, &CCS3, &VCS0, &VCS2, &VECS0, &VECS1,
];

/// Microseconds until an engine has stopped.
const STOP_MICROS: u32 = 100_000;
/// Microseconds until an engine has stopped before a reset, where a timeout hardly matters.
const HUNG_MICROS: u32 = 1_000;

impl ListEngine {
    /// Its class.
    pub(super) const fn class(&self) -> EngineClass {
        self.desc.id.class
    }

    /// Returns one of its registers, with its name.
    pub(super) const fn named(&self, reg: u32, name: &'static str) -> poll::Named {
        poll::Named {
            offset: self.base.at(reg),
            name,
        }
    }

    pub(super) fn write(&self, hw: &Hw<'_>, reg: u32, value: u32) {
        hw.regs.write32(self.base.at(reg), value);
    }

    pub(super) fn write_flush(&self, hw: &Hw<'_>, reg: u32, value: u32) {
        hw.regs.write32_flush(self.base.at(reg), value);
    }

    pub(super) fn read(&self, hw: &Hw<'_>, reg: u32) -> u32 {
        hw.regs.read32(self.base.at(reg))
    }

    /// Stops its parser and prefetching (workaround 22011802037), and waits for that (J13). An
    /// engine whose ring is empty counts as stopped: upstream has seen that the idle bit does not
    /// come.
    fn halt(&self, hw: &Hw<'_>, micros: u32, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        self.write(hw, regs::MI_MODE, masked(regs::MI_MODE_STOP, 0));
        let no_prefetch = masked(regs::GFX_MODE_NO_PREFETCH, 0);
        self.write(hw, regs::GFX_MODE, no_prefetch);
        let mode = self.named(regs::MI_MODE, "MI_MODE");
        let stopped = |v| v & regs::MI_MODE_IDLE != 0;
        match poll::sleeping(hw.regs, wait, mode, micros, &stopped) {
            Err(DeviceError::Timeout(_)) if self.is_empty(hw) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Returns whether its ring was read to its end.
    fn is_empty(&self, hw: &Hw<'_>) -> bool {
        let head = RingHead::from_bits(self.read(hw, regs::RING_HEAD));
        let tail = self.read(hw, regs::RING_TAIL);
        head.offset() == tail & regs::RING_TAIL_MASK
    }

    /// Stops it before a reset: a timeout does not matter.
    pub(super) fn halt_hung(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        match self.halt(hw, HUNG_MICROS, wait) {
            Err(DeviceError::Timeout(_)) => Ok(()),
            other => other,
        }
    }

    /// Enables its error reports: clears old errors, and latches new ones that end work (I9, I12: a
    /// privileged command in a user batch is dropped, which is no error).
    fn unmask(&self, hw: &Hw<'_>) {
        self.write(hw, regs::EMR, u32::MAX);
        self.write(hw, regs::EIR, u32::MAX);
        self.write(hw, regs::EMR, !regs::ERROR_INSTRUCTION);
        // The rest is unmasked when it is armed.
        self.write(hw, regs::IMR, !u32::from(regs::VECTOR_ERROR));
    }
}

impl Engine for ListEngine {
    fn desc(&self) -> &'static EngineDesc {
        // Each engine is in the list exactly once.
        ALL.get(usize::from(self.slot))
            .map_or(&BCS0.desc, |e| &e.desc)
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        mem: &EngineMemory,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        self.halt(hw, STOP_MICROS, wait)?;
        self.write(hw, regs::HWSTAM, u32::MAX);
        self.write(hw, regs::HWS_PGA, mem.status.in_table()?.0);
        // Old elements would be run by the next load (B4).
        for element in 0..u32::from(ELEMENTS) {
            submit::element(self, hw, element, 0);
        }
        let mode = masked(regs::GFX_MODE_LISTS, regs::GFX_MODE_NO_PREFETCH);
        self.write(hw, regs::GFX_MODE, mode);
        settings::apply(self, hw);
        // The engine writes event 0 first (E19).
        let last = status::ENTRIES.wrapping_sub(1);
        let pointers = StatusPointers::new().with_written(last).with_read(last);
        let none = !pointers.into_bits();
        self.write(
            hw,
            regs::CONTEXT_STATUS_PTR,
            masked(pointers.into_bits(), none),
        );
        self.unmask(hw);
        // Nesting of batches stays as user space expects it: first images are made from this
        // register (D6).
        let mode = masked(0, regs::MI_MODE_STOP | regs::MI_MODE_NESTED);
        self.write(hw, regs::MI_MODE, mode);
        if self.read(hw, regs::HWS_PGA) == u32::MAX {
            return Err(DeviceError::Gone);
        }
        Ok(())
    }

    fn lost(&self, hw: &Hw<'_>) -> Option<&'static str> {
        settings::lost(self, hw)
    }

    fn stop(&self, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
        let stopped = self.halt(hw, STOP_MICROS, wait);
        self.write(hw, regs::IMR, u32::MAX);
        stopped
    }

    fn emit(
        &self,
        request: &Emit<'_>,
        mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow> {
        emit::request(self.class(), request, mem, out)
    }

    fn submit(
        &self,
        hw: &Hw<'_>,
        gt: &mut Gt,
        what: Submission<'_>,
        _wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError> {
        submit::submit(self, hw, gt, what)
    }

    fn event(&self, raw: u64) -> Option<PortEvent> {
        status::event(raw)
    }

    fn find_events(&self, page: &[u32]) -> Option<EventArea> {
        status::find(page)
    }

    fn images(&self) -> Option<&'static dyn ContextImages> {
        ALL.get(usize::from(self.slot))
            .map(|e| &e.images as &'static dyn ContextImages)
    }

    fn context_workarounds(&self, each: &mut dyn FnMut(ContextWorkaround)) {
        workarounds::of_contexts(self.class()).for_each(each);
    }

    /// Registers that are missing in an image before the device has saved one, and whose reset
    /// values are not usable: the cache control of the blitter's accesses. On render, workarounds.
    fn golden(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        if self.class() != EngineClass::Copy {
            return workarounds::golden(self.class(), out);
        }
        let uncached = mocs::UNCACHED << 1;
        let cctl = BlitCctl::new()
            .with_source(uncached)
            .with_destination(uncached);
        let load = commands::LoadRegister {
            offset: regs::BLIT_CCTL,
            value: cctl.into_bits(),
        };
        out.put(&load.encode())?;
        out.put(&[commands::NOOP])
    }

    fn copy(&self, copy: &PageCopy, out: &mut Commands<'_>) -> Result<(), Overflow> {
        match self.class() {
            EngineClass::Copy => blt::copy(copy, out),
            _ => Err(Overflow),
        }
    }

    fn fill(&self, fill: &PageFill, out: &mut Commands<'_>) -> Result<(), Overflow> {
        match self.class() {
            EngineClass::Copy => blt::fill(fill, out),
            _ => Err(Overflow),
        }
    }

    fn activity(&self, hw: &Hw<'_>) -> Activity {
        errors::activity(self, hw)
    }

    /// The upper half keeps the id of the last context. The lower half is not zero while a context
    /// runs (E21), and idle engines have read 18001h: Intel's own test harness takes bit 15 for the
    /// end of all work.
    fn running(&self, hw: &Hw<'_>) -> Option<u32> {
        let status = self.read(hw, regs::EXECLIST_STATUS);
        if status == 0 || status & regs::EXECLIST_STATUS_IDLE != 0 {
            return None;
        }
        super::descriptor::id_of(self.read(hw, regs::EXECLIST_STATUS_HI))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mock::{Access, Mock},
        types::{GgttAddr, MemoryKind},
    };
    use std::vec::Vec;

    const MEM: EngineMemory = crate::mock::MEMORY;

    fn device(base: u32) -> Mock {
        let mock = Mock::default();
        mock.fix(base + 0x9c, 0x200);
        mock
    }

    #[test]
    fn engines_are_where_3_1_says() {
        use std::string::ToString;
        let found: Vec<_> = ALL
            .iter()
            .map(|e| (e.desc().id.to_string(), e.base.0))
            .collect();
        let expected = [
            ("rcs0", 0x2000),
            ("bcs0", 0x2_2000),
            ("ccs0", 0x1_a000),
            ("ccs1", 0x1_c000),
            ("ccs2", 0x1_e000),
            ("ccs3", 0x2_6000),
            ("vcs0", 0x1c_0000),
            ("vcs2", 0x1d_0000),
            ("vecs0", 0x1c_8000),
            ("vecs1", 0x1d_8000),
        ];
        assert_eq!(found.len(), expected.len());
        for ((name, base), (n, b)) in found.iter().zip(expected) {
            assert_eq!((&**name, *base), (n, b));
        }
        for (n, e) in ALL.iter().enumerate() {
            assert_eq!(usize::from(e.slot), n);
        }
    }

    #[test]
    fn an_engine_starts_with_an_empty_queue() {
        let mock = device(0x2_2000);
        BCS0.start(&mock.hw(), &MEM, &mock).unwrap();
        let (r, w) = (Access::R, Access::W);
        let mut expected = Vec::from([
            w(0x2_209c, 0x0100_0100),
            // T4: bit 10.
            w(0x2_229c, 0x0400_0400),
            r(0x2_209c),
            w(0x2_2098, 0xffff_ffff),
            w(0x2_2080, 0x0002_0000),
        ]);
        // B4: all eight elements, each its low dword first (B3).
        for n in 0..8 {
            expected.extend([w(0x2_2510 + 8 * n, 0), w(0x2_2514 + 8 * n, 0)]);
        }
        expected.extend([
            // A5: bit 3 on; T4: bit 10 off.
            w(0x2_229c, 0x0408_0008),
            // Index 1, as 2, for reads (6:0) and writes (13:7).
            w(0x2_20c4, 0x3fff_0102),
            // P1: the watchdog stops.
            w(0x2_2178, 1),
        ]);
        // Q23: each slot names a register that batches may use anyway.
        expected.extend((0..12).map(|slot| w(0x2_24d0 + 4 * slot, 0x2_2094)));
        expected.extend([
            // E19: both pointers are 11.
            w(0x2_23a0, 0xffff_0b0b),
            // I9: forget, then all but instruction errors masked.
            w(0x2_20b4, 0xffff_ffff),
            w(0x2_20b0, 0xffff_ffff),
            w(0x2_20b4, 0xffff_fffe),
            // Bits 0, 3 and 8.
            w(0x2_20a8, !8),
            // Goes on; bit 12: nothing is nested deeper.
            w(0x2_209c, 0x1100_0000),
            r(0x2_2080),
        ]);
        assert_eq!(mock.take(), expected);
    }

    #[test]
    fn one_that_does_not_stop_is_named() {
        let mock = Mock::default();
        // Head and tail: bits 20:2 and 20:3 are offsets.
        mock.set(0x2_2034, 0x0020_0040);
        mock.set(0x2_2030, 0x48);
        let r = BCS0.start(&mock.hw(), &MEM, &mock);
        assert_eq!(r, Err(DeviceError::Timeout("MI_MODE")));
        let r = BCS0.stop(&mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Timeout("MI_MODE")));
        assert_eq!(mock.written(0x2_20a8), [0xffff_ffff]);
        mock.gone.set(true);
        let r = BCS0.start(&mock.hw(), &MEM, &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }

    #[test]
    fn one_with_nothing_to_do_has_stopped_whatever_it_says() {
        let mock = Mock::default();
        // MI_MODE's bit 9 never comes; the head is where the tail is, after a turn of the ring.
        mock.set(0x2_2034, 0x0020_0048);
        mock.set(0x2_2030, 0x48);
        assert_eq!(BCS0.start(&mock.hw(), &MEM, &mock), Ok(()));
        assert_eq!(BCS0.stop(&mock.hw(), &mock), Ok(()));
    }

    #[test]
    fn the_first_image_of_the_blitter_sets_its_caching() {
        let mut buf = [7; 8];
        let mut out = Commands::new(&mut buf);
        BCS0.golden(&mut out).unwrap();
        // BLIT_CCTL: destinations 14:8, sources 6:0.
        assert_eq!(out.as_slice(), [0x1108_0001, 0x204, 0x202, 0]);
        assert_eq!(out.len(), BCS0.desc().golden_dwords);
        let mut out = Commands::new(&mut buf);
        CCS0.golden(&mut out).unwrap();
        assert_eq!((out.len(), CCS0.desc().golden_dwords), (0, 0));
        let mut buf = [7; 32];
        let mut out = Commands::new(&mut buf);
        RCS0.golden(&mut out).unwrap();
        assert_eq!(out.len(), RCS0.desc().golden_dwords);
    }

    #[test]
    fn the_running_context_is_read() {
        let mock = Mock::default();
        mock.set(0x2_2234, 1);
        mock.set(0x2_2238, 5 << 7);
        assert_eq!(BCS0.running(&mock.hw()), Some(5));
        mock.set(0x2_2238, 0xffff << 7);
        assert_eq!(BCS0.running(&mock.hw()), None);
        // An idle engine: bits 16, 15 and 0, and the last context still in the upper half.
        mock.set(0x2_2238, 5 << 7);
        mock.set(0x2_2234, 0x1_8001);
        assert_eq!(BCS0.running(&mock.hw()), None);
        // Nothing runs any more.
        mock.set(0x2_2238, 5 << 7);
        mock.set(0x2_2234, 0);
        assert_eq!(BCS0.running(&mock.hw()), None);
    }

    #[test]
    fn only_the_blitter_copies() {
        let mut buf = [0; 16];
        let what = PageCopy {
            from: GgttAddr(0x1000),
            to: GgttAddr(0x2000),
            pages: 1,
            memory: MemoryKind::System,
            state: None,
        };
        for engine in ALL {
            let r = engine.copy(&what, &mut Commands::new(&mut buf));
            assert_eq!(r.is_ok(), engine.class() == EngineClass::Copy);
            assert_eq!(r.is_ok(), engine.desc().copy_pages > 0);
            assert_eq!(r.is_ok(), engine.desc().fill_pages > 0);
        }
    }
}
