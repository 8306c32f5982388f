// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The three engines. None has a checker: the chip confines an unprivileged batch (§5.3.7.6, G-44).

use super::{
    emit, golden, names,
    regs::{Base, HWS_PGA_GEN6, INSTDONE_2},
    CHIP,
};
use crate::{
    engine::Engine,
    intel::{
        processor::{
            engines::{desc, plain},
            names::{BLITTER as BLITTER_NAMES, VIDEO as VIDEO_NAMES},
        },
        ring::engine::{Kind, RingEngine},
    },
};

/// The render engine.
pub(crate) static RENDER: RingEngine = RingEngine {
    more_units: Some(Base::RENDER.at(INSTDONE_2)),
    golden: Some(&golden::GOLDEN),
    ..plain(
        &CHIP,
        Kind::Render,
        &desc(Kind::Render, &emit::RENDER, Some(&golden::GOLDEN)),
        &emit::RENDER,
        Base::RENDER.at(HWS_PGA_GEN6),
        &names::RENDER,
    )
};

/// The blitter.
pub(crate) static BLITTER: RingEngine = plain(
    &CHIP,
    Kind::Blitter,
    &desc(Kind::Blitter, &emit::BLITTER, None),
    &emit::BLITTER,
    Base::BLITTER.at(HWS_PGA_GEN6),
    &BLITTER_NAMES,
);

/// The video engine.
pub(crate) static VIDEO: RingEngine = RingEngine {
    handshake: true,
    ..plain(
        &CHIP,
        Kind::Video,
        &desc(Kind::Video, &emit::VIDEO, None),
        &emit::VIDEO,
        Base::VIDEO.at(HWS_PGA_GEN6),
        &VIDEO_NAMES,
    )
};

/// The engines, in the order of the topology.
pub(super) static RINGS: [&RingEngine; 3] = [&RENDER, &BLITTER, &VIDEO];
/// The engines, for the core.
pub(super) static ENGINES: [&dyn Engine; 3] = [&RENDER, &BLITTER, &VIDEO];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::EngineMemory,
        generation::DeviceError,
        mock::{Access, Mock},
        types::{EngineClass, GgttAddr},
    };

    const MEM: EngineMemory = EngineMemory {
        directory: Some(GgttAddr(0x0010_0000)),
        ..crate::mock::MEMORY
    };

    /// Returns a device whose engine at `base` is idle.
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
                // G-25: stop, idle, head to tail, disable, head and tail to zero; interrupts
                // masked.
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
            assert_eq!(r, Err(DeviceError::Timeout(name)));
        }
        // Its ring is not empty, and it does not stop.
        let mock = device(0x2_2000);
        mock.fix(0x2_209c, 0);
        mock.set(0x2_2030, 0x48);
        let r = BLITTER.start(&mock.hw(), &MEM, &mock);
        assert_eq!(r, Err(DeviceError::Timeout("MI_MODE")));
    }

    #[test]
    fn an_engine_with_an_empty_ring_is_idle_whatever_it_says() {
        // UW17: bit 9 of MI_MODE stays clear; the head, which counts wraps above bit 20, is at the
        // tail.
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
        // The ring is disabled only when the head is at the tail.
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
        // The second flush succeeds: no warning.
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
        assert_eq!(r, Err(DeviceError::Timeout("MI_MODE")));
        assert_eq!(mock.written(0x2_203c), [0]);
        mock.set(0x2_2030, 0x48);
        assert_eq!(BLITTER.halt_hung(&mock.hw(), &mock), Ok(()));
        // The head does not move either.
        mock.fix(0x2_2034, 0x40);
        assert_eq!(BLITTER.halt_hung(&mock.hw(), &mock), Ok(()));
        mock.gone.set(true);
        assert_eq!(BLITTER.halt_hung(&mock.hw(), &mock), Err(DeviceError::Gone));
        assert_eq!(BLITTER.stop(&mock.hw(), &mock), Err(DeviceError::Gone));
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
        // UW46: no engine is reset alone.
        assert_eq!(RINGS.map(|e| e.desc().reset_group), [None; 3]);
        // Digest 2.5: only the blitter copies. A page is a row; the number of rows is signed and
        // has 16 bits.
        assert_eq!(RINGS.map(|e| e.desc().copy_pages), [0, 32767, 0]);
        assert_eq!(
            RINGS.map(|e| e.desc().id.class),
            [EngineClass::Render, EngineClass::Copy, EngineClass::Video]
        );
    }
}
