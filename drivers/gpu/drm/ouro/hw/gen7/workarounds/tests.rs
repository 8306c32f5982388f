// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The writes of each list.

use super::*;
use crate::{
    gen7::CHIP,
    intel::ring::fixes,
    mock::{Access, Mock},
};
use std::vec::Vec;

/// Returns the writes of a list, on a device that reads `ones` in one register.
fn written(list: Fixes, ones: u32) -> Vec<(u32, u32)> {
    let mock = Mock::default();
    mock.set(0x12_0008, 0x40);
    mock.set(ones, u32::MAX);
    fixes::apply(&CHIP, &mock.hw(), list, &mock).unwrap();
    let writes = mock.take().into_iter().filter_map(|a| match a {
        Access::W(at, value) => Some((at, value)),
        _ => None,
    });
    writes.collect()
}

#[test]
fn the_devices_are_upstreams() {
    let gt2 = [
        (0xa090, 0),
        (0xa094, 0),
        (0xe4f4, 0x0001_0001),
        (0xf4f4, 0x0001_0001),
        (0x9404, 0x2000),
        (0x9030, 0x800),
        (0x900c, 0x0020_0000),
        (0x7010, 0x0400_0000),
        (0xb01c, 0x3c47_ff8c),
        (0xb030, 0x2000_0000),
        (0xb034, 0),
    ];
    assert_eq!(written(DEVICE_GT2, 0), gt2);
    let gt1: Vec<_> = gt2.into_iter().filter(|w| w.0 != 0xf4f4).collect();
    assert_eq!(written(DEVICE_GT1, 0), gt1);
}

#[test]
fn the_render_engines_are_upstreams() {
    let gt1 = [
        (0x2090, 0x0400_0400),
        (0x20a0, 0),
        (0xe100, 0x0008_0008),
        (0x229c, 0x2800_2800),
        (0x7008, 0x0280_0200),
        (0x209c, 0x4000_4000),
    ];
    assert_eq!(written(RENDER_GT1, 0), gt1);
    let gt2: Vec<_> = gt1.into_iter().filter(|w| w.0 != 0xe100).collect();
    assert_eq!(written(RENDER_GT2, 0), gt2);
}

#[test]
fn bits_of_others_stay() {
    for (at, value) in [
        (0x9404, u32::MAX),
        (0x9030, u32::MAX),
        (0x900c, 0xffbf_ffff),
        (0xb034, 0xf7ff_ffff),
    ] {
        assert!(written(DEVICE_GT2, at).contains(&(at, value)), "{at:#x}");
    }
    assert!(written(RENDER_GT2, 0x20a0).contains(&(0x20a0, 0xfff8_8f8f)));
}
