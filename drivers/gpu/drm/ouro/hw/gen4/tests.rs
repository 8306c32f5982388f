// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Bringing a device up as the core does.

use super::{
    reset::tests::{answers_965, answers_g4x, Device},
    Gen4, DESKTOP_965, DESKTOP_G4X, MOBILE_965, MOBILE_G4X,
};
use crate::{
    generation::{DeviceError, Generation, Layout, ResetScope, SecureBatches, Topology},
    gt::Gt,
    io::Hw,
    mock::{Access, Mock, FREE_PAGE},
    types::{CacheLevel, DmaAddr, MemoryKind, Page},
};
use std::vec::Vec;

const ALL: [&Gen4; 4] = [&DESKTOP_965, &MOBILE_965, &DESKTOP_G4X, &MOBILE_G4X];
const LAYOUT: Layout = Layout {
    scratch: Page {
        addr: DmaAddr(0x1000),
        memory: MemoryKind::System,
        cache: CacheLevel::None,
    },
    directory: None,
};

/// Returns an idle device whose resets end, and its topology.
fn device(chip: &Gen4) -> (Device, Topology) {
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
    let answer = if g4x { answers_g4x } else { answers_965 };
    (Device::new(mock, answer), topo)
}

type Begin = dyn Fn(&Gen4, &Device, &Hw<'_>, &Topology) -> Result<(), DeviceError>;

/// Starts the device; returns its accesses, and the positions of the `wanted` ones.
fn started(chip: &Gen4, wanted: &[Access]) -> (Vec<Access>, Vec<usize>) {
    begun(chip, wanted, &|chip, device, hw, topo| {
        chip.start(hw, topo, &LAYOUT, &device.mock)
    })
}

/// Starts the device with any `begin`; returns its accesses, and the positions of the `wanted`
/// ones.
fn begun(chip: &Gen4, wanted: &[Access], begin: &Begin) -> (Vec<Access>, Vec<usize>) {
    let (device, topo) = device(chip);
    device.mock.set(0x2024, 0x0100_0002);
    let hw = Hw {
        card: topo.card,
        ..device.hw()
    };
    begin(chip, &device, &hw, &topo).unwrap();
    let log = device.mock.take();
    let place = |a: &Access| log.iter().position(|b| a == b);
    let places = wanted
        .iter()
        .map(|a| place(a).unwrap_or_else(|| panic!("{a:?}")));
    let places = places.collect();
    (log, places)
}

#[test]
fn a_965_is_brought_up_without_a_reset() {
    for (chip, clocks) in [(&DESKTOP_965, 0x7081_0000), (&MOBILE_965, 0x2000_0000)] {
        let (log, order) = started(
            chip,
            // Interrupts masked, ring stopped, no context loaded, GGTT enabled, old errors, clock
            // gating, flush page, flush.
            &[
                Access::W(0x20a8, 0xffff_ffff),
                Access::W(0x203c, 0),
                Access::W(0x2180, 0),
                Access::W(0x2020, 0x7f80_0001),
                Access::W(0x2024, 0x0100_0002),
                Access::W(0x6204, clocks),
                Access::Bridge(0x70, FREE_PAGE.0 as u32 | 1),
                Access::FlushChipset,
            ],
        );
        assert!(order.is_sorted(), "{order:?}");
        // The video engine, which 965 does not have, is not touched.
        for a in log {
            assert!(!matches!(
                a,
                Access::Config(..) | Access::W(0x4000..=0x4fff, _) | Access::R(0x4000..=0x4fff)
            ));
        }
    }
}

#[test]
fn a_g4x_is_reset_before_it_is_set_up() {
    for chip in [&DESKTOP_G4X, &MOBILE_G4X] {
        let (_, order) = started(
            chip,
            // Rings stopped, both domains reset, no PPGTT, the GGTT's size, clock gating.
            &[
                Access::W(0x20a8, 0xffff_ffff),
                Access::W(0x203c, 0),
                Access::W(0x403c, 0),
                Access::Config(0xc0, 0x0d),
                Access::Config(0xc0, 0x05),
                Access::W(0x20c4, 0),
                Access::W(0x2020, 0x7f80_0006),
                Access::W(0x2024, 0x0100_0002),
                Access::W(0x6208, 0x2c0),
                Access::FlushChipset,
            ],
        );
        assert!(order.is_sorted(), "{order:?}");
    }
}

#[test]
fn after_a_hang_all_chips_are_reset() {
    for (chip, first, last) in [
        (&DESKTOP_965, 0x01, 0x00),
        (&MOBILE_965, 0x01, 0x00),
        (&DESKTOP_G4X, 0x0d, 0x05),
        (&MOBILE_G4X, 0x0d, 0x05),
    ] {
        let switch = match chip.family.table_switch {
            true => 0x7f80_0001,
            false => 0x7f80_0006,
        };
        // Ring stopped, reset (G-20), the GGTT as before (G-06).
        let wanted = [
            Access::W(0x203c, 0),
            Access::Config(0xc0, first),
            Access::Config(0xc0, last),
            Access::W(0x2020, switch),
        ];
        let (_, order) = begun(chip, &wanted, &|chip, device, hw, topo| {
            chip.restart(hw, topo, &LAYOUT, &device.mock)
        });
        assert!(order.is_sorted(), "{order:?}");
    }
}

#[test]
fn at_the_end_an_idle_965_is_not_reset() {
    // G-20: the reset of a 965 resets its display. §5.9: it disables the GGTT.
    let ring = Access::W(0x203c, 0);
    for (chip, resets, table) in [
        (&DESKTOP_965, [0x01, 0x00], 0x7f80_0001),
        (&MOBILE_965, [0x01, 0x00], 0x7f80_0001),
        (&DESKTOP_G4X, [0x0d, 0x05], 0x7f80_0006),
        (&MOBILE_G4X, [0x0d, 0x05], 0x7f80_0006),
    ] {
        let end = |idle| {
            let (device, topo) = device(chip);
            let hw = device.hw();
            chip.end_work(&hw, &topo, idle, &device.mock).unwrap();
            device.mock.take()
        };
        let [first, last] = resets.map(|byte| Access::Config(0xc0, byte));
        let wanted = [ring, first, last, Access::W(0x2020, table)];
        for idle in [false, true] {
            let log = end(idle);
            if idle && chip.family.table_switch {
                // The context is forgotten.
                assert_eq!(log, [Access::W(0x2180, 0), Access::R(0x2180)]);
                continue;
            }
            let order = wanted.map(|a| log.iter().position(|b| *b == a).unwrap());
            assert!(order.is_sorted(), "{order:?}");
        }
    }
}

#[test]
fn the_context_of_a_previous_driver_is_found() {
    // §5.8.1.2: the first switch saves it at its address. §5.8.1.1: undefined after a reset.
    for chip in [&DESKTOP_965, &MOBILE_965, &DESKTOP_G4X, &MOBILE_G4X] {
        let (device, topo) = device(chip);
        device.mock.set(0x2180, 0x0040_010d);
        let left = chip.loaded_image(&device.hw(), &topo);
        assert_eq!(left, Some(0x400..0x401));
        let written = |a: &Access| matches!(a, Access::W(..) | Access::Config(..));
        assert!(!device.mock.take().iter().any(written));
        // It is told if the device does not forget it.
        device.mock.fix(0x2180, 0x0040_010d);
        chip.start(&device.hw(), &topo, &LAYOUT, &device.mock)
            .unwrap();
        let told = device.mock.warned.borrow();
        assert!(told.iter().any(|what| what.contains("context")));
    }
}

#[test]
fn at_the_end_the_table_is_on_even_if_the_reset_fails() {
    let (device, topo) = device(&MOBILE_965);
    // The device does not report that it is in reset.
    let device = Device::new(device.mock, |value| value);
    let ended = MOBILE_965.end_work(&device.hw(), &topo, false, &device.mock);
    assert_eq!(ended, Err(DeviceError::Timeout("GDRST")));
    assert_eq!(device.mock.written(0x2020), [0x7f80_0001]);
}

#[test]
fn a_table_that_stays_off_is_found_before_it_is_written() {
    for (chip, works) in [(&DESKTOP_965, false), (&MOBILE_G4X, true)] {
        let (device, topo) = device(chip);
        device.mock.fix(0x2020, 0x7f80_0006);
        let prepared = chip.prepare(&device.hw(), &topo, &device.mock);
        assert_eq!(prepared.is_ok(), works);
    }
}

#[test]
fn any_reset_is_of_all() {
    for what in [ResetScope::All, ResetScope::Engine(1)] {
        for (chip, rings, bytes) in [
            (&DESKTOP_965, &[0x203c][..], &[1, 0][..]),
            (&MOBILE_G4X, &[0x203c, 0x403c], &[0x0d, 0x05, 0]),
        ] {
            let (device, _) = device(chip);
            chip.reset(&device.hw(), what, &device.mock).unwrap();
            for ring in rings {
                assert_eq!(device.mock.written(*ring), [0]);
            }
            let log = device.mock.take();
            for byte in bytes {
                assert!(log.contains(&Access::Config(0xc0, *byte)), "{byte}");
            }
        }
    }
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
        let (device, _) = device(chip);
        let mock = &device.mock;
        let mut gt = Gt::default();
        chip.wake(&mock.hw(), &mut gt, mock).unwrap();
        assert!(gt.awake);
        chip.sleep(&mock.hw(), &mut gt);
        assert!(!gt.awake);
        assert_eq!(mock.take(), []);
    }
}

#[test]
fn stopping_masks_all() {
    for chip in ALL {
        let (device, _) = device(chip);
        let mock = &device.mock;
        chip.stop(&mock.hw());
        assert_eq!(mock.written(0x20a8), [0xffff_ffff]);
        assert_eq!(mock.written(0x20a0), [0]);
    }
}

#[test]
fn a_965_loses_its_display_in_a_reset() {
    // G-20: the byte at C0h resets the display of a 965, too, and media and render of a G4X.
    for (chip, darkens) in [
        (&DESKTOP_965, true),
        (&MOBILE_965, true),
        (&DESKTOP_G4X, false),
        (&MOBILE_G4X, false),
    ] {
        assert_eq!(chip.reset_darkens(), darkens);
    }
}

#[test]
fn what_user_space_is_told() {
    for chip in ALL {
        assert_eq!(chip.name(), "gen4");
        assert_eq!(chip.secure_batches(), SecureBatches::Master);
        assert!(chip.reset_empties_fences());
        assert!(!chip.keeps_leftovers() && !chip.holds_entries());
        let (device, _) = device(chip);
        let mock = &device.mock;
        mock.set(0x2358, 0x89ab_cdef);
        mock.set(0x235c, 7);
        assert_eq!(chip.user_register(&mock.hw(), 0x2358), Some(0x7_89ab_cdef));
        assert_eq!(chip.user_register(&mock.hw(), 0x2350), None);
    }
}

#[test]
fn firmware_says_where_its_picture_is() {
    for chip in ALL {
        let (device, topo) = device(chip);
        let mock = &device.mock;
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
