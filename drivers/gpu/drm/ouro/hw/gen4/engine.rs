// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The engines. The render engine also executes the blitter's commands; G4X has a video engine,
//! too, with its own ring (§5.3.4).
//!
//! There is one set of error registers and one status report, those of the render engine.

use super::{
    emit, golden, names,
    regs::{
        self, Base, ERROR_COMMAND_PRIVILEGE, ERROR_MEMORY_PRIVILEGE, ERROR_PAGE_TABLE,
        ERROR_PAGE_TABLE_G4X, ERROR_REFRESH, HWS_PGA, INSTDONE_2, MASTER_ERROR, RENDER_USER, VIDEO,
        VIDEO_USER,
    },
};
use crate::{
    engine::{Engine, EngineDesc, StatusPage},
    generation::DeviceError,
    intel::ring::{
        emit::Recipe,
        engine::{desc, in_table, Kind, RingEngine},
        golden::Golden,
        interrupts::Interrupts,
        RingChip,
    },
    report::{BitName, FaultKind, Names},
};

/// The status changes that the render engine does not write to the HWSP: all but the user interrupt
/// (§5.5). Upstream does the same: it found that interrupts after a reset are lost otherwise.
const UNREPORTED: u32 = !RENDER_USER;

/// Creates the description of a chip, with the values that both families share. There is no gate,
/// as the line is high while the identity is not zero; one mask, for the whole device; and errors
/// are edges (G-14, G-15).
const fn chip(
    engines: &'static [&'static RingEngine],
    status_page: fn(StatusPage) -> Result<u32, DeviceError>,
    names: &'static [BitName],
) -> RingChip {
    RingChip {
        engines,
        wake: None,
        interrupts: Interrupts {
            gate: None,
            mask: regs::DEVICE_IMR,
            identity: regs::IIR,
            enable: regs::IER,
            others: &[],
        },
        // The reset is in configuration space: see `reset`.
        reset: None,
        status_page,
        engine_masks: false,
        sync_flush: false,
        chipset_flush: true,
        error_edge: true,
        translation_errors: regs::PGTBL_ER,
        translation_names: names,
        // Only PGTBL_ER has details of a fault.
        fault_kinds: [FaultKind::InvalidEntry; 4],
        table_errors: regs::PGTBL_ER,
        load_directory: |_, _, _| (),
    }
}

/// Returns the value of the HWSP register for a page at a bus address: bits 31:12 of the address,
/// and bits 35:32 in 7:4 (G-10).
fn on_bus(page: StatusPage) -> Result<u32, DeviceError> {
    let StatusPage::Bus(addr) = page else {
        return Err(DeviceError::Unsupported("HWSP in the GGTT"));
    };
    let high = ((addr.0 >> 28) as u32) & 0xf0;
    Ok((addr.0 as u32 & 0xffff_f000) | high)
}

/// 965.
pub(super) static CHIP_965: RingChip = chip(&RINGS_965, on_bus, names::TABLE);
/// G4X.
pub(super) static CHIP_G4X: RingChip = chip(&RINGS_G4X, in_table, names::TABLE);

/// Creates a render engine, with the values that both families share.
const fn render(
    chip: &'static RingChip,
    desc: &'static EngineDesc,
    recipe: &'static Recipe,
    errors: u32,
    golden: &'static Golden,
    names: &'static Names,
) -> RingEngine {
    RingEngine {
        chip,
        desc,
        kind: Kind::Render,
        base: Base::RENDER,
        status_page: Base::RENDER.at(HWS_PGA),
        unreported: Some(UNREPORTED),
        fault: None,
        more_units: Some(Base::RENDER.at(INSTDONE_2)),
        details: None,
        reset: None,
        user: RENDER_USER,
        error: MASTER_ERROR,
        errors,
        recipe,
        handshake: false,
        streams: None,
        golden: Some(golden),
        checker: None,
        names,
    }
}

/// Returns the core's description of a render engine.
const fn render_desc(recipe: &Recipe, golden: &Golden) -> EngineDesc {
    desc(Kind::Render, Base::RENDER, recipe, Some(golden))
}

/// The render engine of 965. Command errors stay masked, as in upstream: the engine stops, and the
/// hang check finds it.
static RENDER_965: RingEngine = render(
    &CHIP_965,
    &render_desc(&emit::RENDER_965, &golden::GOLDEN_965),
    &emit::RENDER_965,
    ERROR_PAGE_TABLE | ERROR_REFRESH,
    &golden::GOLDEN_965,
    &names::RENDER_965,
);

/// The render engine of G4X.
static RENDER_G4X: RingEngine = render(
    &CHIP_G4X,
    &render_desc(&emit::RENDER_G4X, &golden::GOLDEN_G4X),
    &emit::RENDER_G4X,
    ERROR_PAGE_TABLE_G4X | ERROR_MEMORY_PRIVILEGE | ERROR_COMMAND_PRIVILEGE | ERROR_REFRESH,
    &golden::GOLDEN_G4X,
    &names::RENDER_G4X,
);

/// The video engine. It has no status report, and no error registers that are known to work (G-15).
static VIDEO_G4X: RingEngine = RingEngine {
    chip: &CHIP_G4X,
    desc: &desc(Kind::Video, VIDEO, &emit::VIDEO, None),
    kind: Kind::Video,
    base: VIDEO,
    status_page: VIDEO.at(HWS_PGA),
    unreported: None,
    fault: None,
    more_units: None,
    details: None,
    reset: None,
    user: VIDEO_USER,
    error: 0,
    errors: 0,
    recipe: &emit::VIDEO,
    handshake: false,
    streams: None,
    golden: None,
    checker: None,
    names: &names::VIDEO,
};

static RINGS_965: [&RingEngine; 1] = [&RENDER_965];
static RINGS_G4X: [&RingEngine; 2] = [&RENDER_G4X, &VIDEO_G4X];
/// The engines of 965, in the order of the topology.
pub(super) static ENGINES_965: [&dyn Engine; 1] = [&RENDER_965];
/// The engines of G4X, in the order of the topology.
pub(super) static ENGINES_G4X: [&dyn Engine; 2] = [&RENDER_G4X, &VIDEO_G4X];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{EngineMemory, Submission},
        gt::Gt,
        intel::ring::{errors, interrupts},
        io::Platform,
        mock::{Access, Mock},
        ring::Commands,
        types::{DmaAddr, GgttAddr, RingOffset},
    };
    use std::string::ToString;

    fn memory(status: StatusPage) -> EngineMemory {
        EngineMemory {
            ring: GgttAddr(0x0001_0000),
            status,
            scratch: GgttAddr(0x0003_0000),
            directory: None,
            card: 0,
        }
    }
    const IN_TABLE: StatusPage = StatusPage::Ggtt(GgttAddr(0x0002_0000));
    const ON_BUS: StatusPage = StatusPage::Bus(DmaAddr(0x0123_4000));

    fn device() -> Mock {
        let mock = Mock::default();
        for base in [0x2000, 0x4000] {
            mock.fix(base + 0x9c, 0x200);
        }
        mock
    }

    /// Asserts that these writes were done in this order.
    fn in_order(log: &[Access], writes: &[(u32, u32)]) {
        let mut rest = log;
        for (at, value) in writes {
            let found = rest.iter().position(|a| *a == Access::W(*at, *value));
            let found = found.unwrap_or_else(|| panic!("{at:#x}"));
            rest = &rest[found + 1..];
        }
    }

    #[test]
    fn a_ring_is_started_in_the_order_of_g_21() {
        for (engine, status, page) in [
            (&RENDER_G4X, IN_TABLE, 0x0002_0000),
            (&RENDER_965, ON_BUS, 0x0123_4000),
        ] {
            let mock = device();
            engine.start(&mock.hw(), &memory(status), &mock).unwrap();
            let log = mock.take();
            in_order(
                &log,
                &[
                    // Stop; disable; head and tail 0; HWSP, status mask but for bit 1.
                    (0x209c, 0x0100_0100),
                    (0x203c, 0),
                    (0x2034, 0),
                    (0x2030, 0),
                    (0x2080, page),
                    (0x2098, 0xffff_fffd),
                    // The start clears the head (§5.3.4.2), which is written after it; 16 pages,
                    // enable; run.
                    (0x2038, 0x0001_0000),
                    (0x2034, 0),
                    (0x203c, 0xf001),
                    (0x209c, 0x0100_0000),
                ],
            );
            // No engine mask, no synchronous flush.
            let touched = |at| log.iter().any(|a| matches!(a, Access::W(o, _) if *o == at));
            assert!(!touched(0x20a8) && !touched(0x20c0));
        }
    }

    #[test]
    fn a_head_that_shows_the_start_is_written_until_it_does_not() {
        // Witness GW23, GW24: after this start a GM45 read 02001000h, also after one more write.
        let mock = device();
        let mem = EngineMemory {
            ring: GgttAddr(0x0200_1000),
            ..memory(IN_TABLE)
        };
        mock.script(0x2034, &[0, 0, 0, 0x0200_1000, 0x0200_1000, 0]);
        RENDER_G4X.start(&mock.hw(), &mem, &mock).unwrap();
        let log = mock.take();
        let start = log
            .iter()
            .position(|a| *a == Access::W(0x2038, 0x0200_1000));
        let enable = log.iter().position(|a| *a == Access::W(0x203c, 0xf001));
        let between = &log[start.unwrap()..enable.unwrap()];
        let written = between.iter().filter(|a| **a == Access::W(0x2034, 0));
        assert_eq!(written.count(), 3);
    }

    #[test]
    fn video_has_a_ring_and_a_status_page_alone() {
        let mock = device();
        VIDEO_G4X
            .start(&mock.hw(), &memory(IN_TABLE), &mock)
            .unwrap();
        assert_eq!(mock.written(0x4080), [0x0002_0000]);
        assert_eq!(mock.written(0x4038), [0x0001_0000]);
        for nothing in [0x4098, 0x40a8, 0x40b0, 0x40b4, 0x40c0, 0x2098, 0x20b4] {
            assert_eq!(mock.written(nothing), [], "{nothing:#x}");
        }
    }

    #[test]
    fn a_status_page_is_where_the_family_has_it() {
        // G-10: bits 35:32 in 7:4.
        assert_eq!(
            on_bus(StatusPage::Bus(DmaAddr(0xa_1234_5000))),
            Ok(0x1234_50a0)
        );
        let mock = device();
        assert!(RENDER_965
            .start(&mock.hw(), &memory(IN_TABLE), &mock)
            .is_err());
        assert!(RENDER_G4X
            .start(&mock.hw(), &memory(ON_BUS), &mock)
            .is_err());
        assert_eq!(mock.written(0x203c), [0, 0], "neither runs");
    }

    #[test]
    fn errors_let_through_are_those_of_the_family() {
        // G-15: 965 bits 4 and 1; G4X bits 5, 4, 3 and 1.
        for (engine, status, mask) in [(&RENDER_965, ON_BUS, !0x12), (&RENDER_G4X, IN_TABLE, !0x3a)]
        {
            let mock = device();
            engine.start(&mock.hw(), &memory(status), &mock).unwrap();
            assert_eq!(mock.written(0x20b4), [mask]);
        }
    }

    #[test]
    fn the_chipset_is_flushed_before_a_tail() {
        // §5.3.9, G-19: the chipset is flushed before the tail.
        for (engine, at) in [
            (&RENDER_965, 0x2030),
            (&RENDER_G4X, 0x2030),
            (&VIDEO_G4X, 0x4030),
        ] {
            let mock = device();
            let _ = mock.flush_page(None);
            let mut gt = Gt {
                awake: true,
                ..Gt::default()
            };
            let tail = Submission::Tail(RingOffset(0x1238));
            engine.submit(&mock.hw(), &mut gt, tail, &mock).unwrap();
            assert_eq!(mock.take(), [Access::FlushChipset, Access::W(at, 0x1238)]);
            assert_eq!(gt.counts.port_writes, 1);
        }
    }

    #[test]
    fn interrupts_have_one_mask_and_no_gate() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        interrupts::on(&CHIP_G4X, &mock.hw(), &mut gt);
        let all = 0xffff_ffff;
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                w(0x20a8, all),
                r(0x20a8),
                w(0x20a0, 0),
                // The identity may queue a second event (G-14).
                w(0x20a4, all),
                r(0x20a4),
                w(0x20a4, all),
                r(0x20a4),
                // Only errors are unmasked; bits 25, 15 and 1 are enabled.
                w(0x20a8, !0x8000),
                w(0x20a0, 0x0200_8002),
                r(0x20a0),
            ]
        );
        for (engine, open) in [(0, 0x8002u32), (1, 0x0200_8002)] {
            interrupts::arm(&CHIP_G4X, &mock.hw(), &mut gt, engine, true);
            assert_eq!(mock.take(), [w(0x20a8, !open), r(0x20a8)]);
        }
    }

    #[test]
    fn an_interrupt_is_read_and_written_back() {
        for (identity, completed, errors) in [
            (2, 1, 0),
            (0x0200_0000, 2, 0),
            (0x8000, 0, 1),
            (0x0200_8002, 3, 1),
        ] {
            let mock = Mock::default();
            mock.set(0x20a4, identity);
            let events = interrupts::ack(&CHIP_G4X, &mock.hw());
            assert!(events.ours);
            assert_eq!((events.completed, events.errors), (completed, errors));
            assert_eq!(
                mock.take(),
                [Access::R(0x20a4), Access::W(0x20a4, identity)]
            );
        }
        // The interrupt line may be shared with another device.
        for identity in [0, u32::MAX] {
            let mock = Mock::default();
            mock.set(0x20a4, identity);
            assert!(!interrupts::ack(&CHIP_965, &mock.hw()).ours);
            assert_eq!(mock.take(), [Access::R(0x20a4)]);
        }
    }

    #[test]
    fn an_error_that_stays_is_masked_behind_an_edge() {
        let mock = device();
        mock.fix(0x20b0, 0x20);
        mock.set(0x20b4, !0x3a);
        mock.set(0x2024, 0x0100_0002);
        mock.set(0x2068, 0x1100_0001);
        let report = errors::report(&CHIP_G4X, &mock.hw());
        // §5.7.3: source, EIR, then the interrupt; EMR all ones meanwhile (G-15).
        assert_eq!(mock.written(0x2024), [0x0100_0002]);
        assert_eq!(mock.written(0x20b0), [0x20, 0x20]);
        assert_eq!(mock.written(0x20b4), [u32::MAX, !0x1a]);
        assert_eq!(mock.written(0x20a4), [0x8000]);
        for at in 0x4000..0x4100 {
            assert_eq!(mock.written(at), [], "{at:#x}");
        }
        let text = report.to_string();
        assert!(text.contains("(page table)"), "{text}");
        assert!(
            text.contains("(PTE maps no memory, invalid PTE of the render cache)"),
            "{text}"
        );
        assert_eq!(report.engines[0].unwrap().ipehr, 0x1100_0001);
        assert_eq!(report.engines[1].unwrap().eir, 0);
    }

    #[test]
    fn video_has_no_errors_of_its_own() {
        let mock = device();
        mock.set(0x40b0, u32::MAX);
        mock.set(0x4068, 0x7000_0000);
        let report = errors::report(&CHIP_G4X, &mock.hw());
        assert!(!report.is_error());
        assert_eq!(report.engines[1].unwrap().ipehr, 0x7000_0000);
        let read = [0x40b0, 0x40b4, 0x40b8].map(Access::R);
        assert!(!mock.take().iter().any(|a| read.contains(a)));
    }

    #[test]
    fn engines_are_described() {
        let described = |engines: &[&dyn Engine]| {
            engines
                .iter()
                .map(|e| {
                    (
                        e.desc().id.to_string(),
                        e.desc().registers,
                        e.desc().contexts,
                    )
                })
                .collect::<std::vec::Vec<_>>()
        };
        let render = ("rcs0".to_string(), 0x2000, true);
        assert_eq!(described(&ENGINES_965), std::slice::from_ref(&render));
        assert_eq!(
            described(&ENGINES_G4X),
            [render, ("vcs0".to_string(), 0x4000, false)]
        );
        for engine in ENGINES_965.iter().chain(&ENGINES_G4X) {
            let desc = engine.desc();
            // Both are reset together (digest 2.7); no page copies, stream output or checker.
            assert_eq!(
                (desc.reset_group, desc.copy_pages, desc.fill_pages),
                (None, 0, 0)
            );
            assert!(engine.checker().is_none());
            assert!(engine
                .restart_streams(&mut Commands::new(&mut [0; 16]))
                .is_err());
        }
    }
}
