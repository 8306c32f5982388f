// SPDX-License-Identifier: GPL-2.0
//! Bringing a device up, as the core does it.

use super::{Gen4, DESKTOP_965, DESKTOP_G4X, MOBILE_965, MOBILE_G4X};
use crate::{
    generation::{DeviceError, Generation, Layout, ResetScope, SecureBatches, Topology},
    gt::Gt,
    io::Hw,
    mock::{Access, Mock, FREE_PAGE},
    types::{CacheLevel, DmaAddr, MemoryKind, Page},
};

const ALL: [&Gen4; 4] = [&DESKTOP_965, &MOBILE_965, &DESKTOP_G4X, &MOBILE_G4X];
const LAYOUT: Layout = Layout {
    scratch: Page {
        addr: DmaAddr(0x1000),
        memory: MemoryKind::System,
        cache: CacheLevel::None,
    },
    directory: None,
};

/// An idle device, and what it has.
fn device(chip: &Gen4) -> (Mock, Topology) {
    let mock = Mock::default();
    let g4x = !chip.family.table_switch;
    mock.memory.set(if g4x { 4 << 20 } else { 1 << 20 });
    mock.aperture.set(256 << 20);
    mock.set(0x2020, if g4x { 0x7f80_0006 } else { 0x7f80_0000 });
    for base in [0x2000, 0x4000] {
        mock.fix(base + 0x9c, 0x200);
    }
    let topo = chip.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
    mock.take();
    (mock, topo)
}

fn start(chip: &Gen4, mock: &Mock, topo: &Topology) -> Result<(), DeviceError> {
    let hw = Hw {
        card: topo.card,
        ..mock.hw()
    };
    chip.start(&hw, topo, &LAYOUT, mock)
}

#[test]
fn a_965_is_brought_up_without_a_reset() {
    for (chip, clocks) in [(&DESKTOP_965, 0x7081_0000), (&MOBILE_965, 0x2000_0000)] {
        let (mock, topo) = device(chip);
        mock.set(0x2024, 0x0100_0002);
        start(chip, &mock, &topo).unwrap();
        let log = mock.take();
        assert!(!log.iter().any(|a| matches!(a, Access::Config(..))));
        let order = [
            // Interrupts masked, the ring stopped, the table on, its old errors, clocks, the page to flush by, flushed.
            Access::W(0x20a8, 0xffff_ffff),
            Access::W(0x203c, 0),
            Access::W(0x2020, 0x7f80_0001),
            Access::W(0x2024, 0x0100_0002),
            Access::W(0x6204, clocks),
            Access::Bridge(0x70, FREE_PAGE.0 as u32 | 1),
            Access::FlushChipset,
        ]
        .map(|write| log.iter().position(|a| *a == write).unwrap());
        assert!(order.is_sorted(), "{order:?}");
        // Of the video engine, which it has not, nothing is touched.
        assert!(!log.iter().any(|a| matches!(
            a,
            Access::W(0x4000..=0x4fff, _) | Access::R(0x4000..=0x4fff)
        )));
    }
}

#[test]
fn a_g4x_is_reset_before_it_is_set_up() {
    for chip in [&DESKTOP_G4X, &MOBILE_G4X] {
        let (mock, topo) = device(chip);
        // The mock's register keeps its bit 0: in reset for ever.
        assert_eq!(
            start(chip, &mock, &topo),
            Err(DeviceError::Timeout("GDRST"))
        );
        let log = mock.take();
        assert!(log.contains(&Access::Config(0xc0, 0x0d)));
        assert!(log.contains(&Access::W(0x203c, 0)) && log.contains(&Access::W(0x403c, 0)));
        assert!(!log.iter().any(|a| matches!(a, Access::W(0x6204, _))));
    }
}

#[test]
fn a_table_that_stays_off_is_found_before_it_is_written() {
    let (mock, topo) = device(&DESKTOP_965);
    mock.fix(0x2020, 0x7f80_0000);
    assert!(DESKTOP_965.prepare(&mock.hw(), &topo, &mock).is_err());
    let (mock, topo) = device(&MOBILE_G4X);
    mock.fix(0x2020, 0x7f80_0006);
    assert_eq!(MOBILE_G4X.prepare(&mock.hw(), &topo, &mock), Ok(()));
    assert_eq!(mock.written(0x20c4), [0]);
}

#[test]
fn any_reset_is_of_all() {
    for what in [ResetScope::All, ResetScope::Engine(1)] {
        let (mock, _) = device(&DESKTOP_G4X);
        let late = Err(DeviceError::Timeout("GDRST"));
        assert_eq!(DESKTOP_G4X.reset(&mock.hw(), what, &mock), late);
        assert_eq!(mock.written(0x203c), [0]);
        assert_eq!(mock.written(0x403c), [0]);
        assert!(mock.take().contains(&Access::Config(0xc0, 0x0d)));
    }
    let (mock, _) = device(&MOBILE_965);
    assert!(MOBILE_965
        .reset(&mock.hw(), ResetScope::All, &mock)
        .is_err());
    assert!(mock.take().contains(&Access::Config(0xc0, 1)));
}

#[test]
fn windows_are_those_of_g_02() {
    for (chip, at) in [
        (&DESKTOP_965, 512 << 10),
        (&MOBILE_965, 512 << 10),
        (&DESKTOP_G4X, 2 << 20),
        (&MOBILE_G4X, 2 << 20),
    ] {
        let w = chip.windows();
        assert_eq!((w.regs.bar, w.regs.start, w.regs.len), (0, 0, 512 << 10));
        assert_eq!((w.gtt.bar, w.gtt.start, w.gtt.len), (0, at, 0));
        assert_eq!(w.aperture.map(|a| a.bar), Some(2));
        assert!(w.local.is_none());
    }
}

#[test]
fn it_needs_no_waking() {
    for chip in ALL {
        let (mock, _) = device(chip);
        let mut gt = Gt::default();
        chip.wake(&mock.hw(), &mut gt, &mock).unwrap();
        assert!(gt.awake);
        chip.sleep(&mock.hw(), &mut gt);
        assert!(!gt.awake);
        assert_eq!(mock.take(), []);
    }
}

#[test]
fn stopping_masks_all() {
    for chip in ALL {
        let (mock, _) = device(chip);
        chip.stop(&mock.hw());
        assert_eq!(mock.written(0x20a8), [0xffff_ffff]);
        assert_eq!(mock.written(0x20a0), [0]);
    }
}

#[test]
fn what_user_space_is_told() {
    for chip in ALL {
        assert_eq!(chip.name(), "gen4");
        assert_eq!(chip.secure_batches(), SecureBatches::Master);
        assert!(chip.reset_empties_fences());
        assert!(!chip.keeps_leftovers() && !chip.holds_entries());
        let (mock, _) = device(chip);
        mock.set(0x2358, 0x89ab_cdef);
        mock.set(0x235c, 7);
        assert_eq!(chip.user_register(&mock.hw(), 0x2358), Some(0x7_89ab_cdef));
        assert_eq!(chip.user_register(&mock.hw(), 0x2350), None);
    }
}

#[test]
fn firmware_says_where_its_picture_is() {
    for chip in ALL {
        let (mock, topo) = device(chip);
        mock.set(0x7_1400, 0x8000_0000);
        mock.set(0x7_0008, 0x8000_0000);
        mock.set(0x6_001c, 0x03ff_02ff);
        mock.set(0x7_0180, 0x8000_0000);
        mock.set(0x7_0188, 4096);
        mock.set(0x7_019c, 0x0010_0000);
        let mut found = std::vec::Vec::new();
        chip.scanouts(&mock.hw(), &topo, &mut |s| found.push((s.first, s.entries)));
        assert_eq!(found, [(0x100, 768)]);
    }
}
