// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The diagnostics of the video engine, in words.

use super::*;
use crate::{
    engine::Engine,
    gen7::{engine::ENGINES, GT2},
    generation::Generation,
    gt::Gt,
    mock::{Access, Mock},
};
use std::{string::ToString, vec::Vec};

fn lines(engine: &dyn Engine, mock: &Mock) -> Vec<std::string::String> {
    let mut lines = Vec::new();
    engine.translations(&mock.hw(), &mut |e| lines.push(e.to_string()));
    lines
}

#[test]
fn each_tlb_has_its_registers() {
    // VCS §1.1.9.3: addresses from 14800h, 100h apart; valid bits from 14780h, 8 apart.
    let mock = Mock::default();
    mock.set(0x1_4050, 0x0040_0002);
    for (valid, bits) in [
        (0x1_4780, 0x8000_0002),
        (0x1_4784, 0x0000_0001),
        (0x1_478c, 0x8000_0000),
        (0x1_4790, 0x0000_0001),
        (0x1_479c, 0x0000_0002),
    ] {
        mock.set(valid, bits);
    }
    for (address, page) in [
        (0x1_4804, 0x0010_1000),
        (0x1_487c, 0x0020_2fff),
        (0x1_4880, 0xffff_f000),
        (0x1_49fc, 0x0030_3000),
        (0x1_4a00, 0x0040_4000),
        (0x1_4b84, 0x0050_5000),
        // Not valid.
        (0x1_4800, 0xdead_0000),
    ] {
        mock.set(address, page);
    }
    assert_eq!(
        lines(ENGINES[2], &mock),
        [
            "TLB of VCS and VMC, entry 1: 0x101000 through the GGTT",
            "TLB of VCS and VMC, entry 31: 0x202000 through the PPGTT",
            "TLB of VCS and VMC, entry 32: 0xfffff000 through the PPGTT",
            "TLB of all media clients, entry 63: 0x303000",
            "TLB of VDS and VLF FW, entry 0: 0x404000",
            "TLB of VCR, entry 33: 0x505000",
        ]
    );
    // Nothing is written, and registers of invalid entries are not read.
    assert!(!mock.take().iter().any(|a| matches!(a, Access::W(..))));
    assert!(lines(ENGINES[0], &mock).is_empty() && lines(ENGINES[1], &mock).is_empty());
    assert_eq!(mock.take(), []);
}

#[test]
fn the_first_tlb_is_divided_as_its_register_says() {
    // VCS §1.1.9.2.2: entries below bits 5:0 of 14050h are for the GGTT.
    for (control, global) in [(0, false), (1, false), (2, true), (0xffff_ffff, true)] {
        let mock = Mock::default();
        mock.set(0x1_4050, control);
        mock.set(0x1_4780, 2);
        let text = lines(ENGINES[2], &mock)[0].clone();
        assert_eq!(text.contains("GGTT"), global, "{text}");
    }
}

#[test]
fn pending_accesses_are_words() {
    // VCS §1.1.9.4: valid 14700h, ready 14708h, sections 14400h, 14500h and 14600h; the table of
    // 1.1.9.4.5.
    let mock = Mock::default();
    mock.set(0x1_4700, 0x0000_0003);
    mock.set(0x1_4704, 0x8000_0001);
    mock.set(0x1_4708, 0x0000_0002);
    mock.set(0x1_470c, 0x8000_0000);
    // Entry 0: a miss; 12345h is bits 31:12, Ah is bits 9:6, unit 8, 6 is bits 11:9.
    mock.set(0x1_4400, 0x0001_2345);
    mock.set(0x1_4500, 0xaff0_0008);
    mock.set(0x1_4600, 0xffff_fe00);
    // Entry 1: ready, without vtstatus; a page of 40 bits.
    mock.set(0x1_4404, 0x0fff_fffe);
    mock.set(0x1_4504, 0xf000_0001);
    // Entry 32: hit, not present.
    mock.set(0x1_4480, 0x8000_0001);
    mock.set(0x1_4580, 0x0000_0000);
    // Entry 63: done; bits of the entry are not part of the page.
    mock.set(0x1_44fc, 0xf000_0001);
    mock.set(0x1_45fc, 0x0000_0000);
    assert_eq!(
        lines(ENGINES[2], &mock),
        [
            "pending 0: 0x12345e80 by unit 8 (VCS write): TLB miss, waits for the page walk",
            "pending 1: 0xffffffe000 by unit 1 (VMC read or VCR read): waits for the IOMMU",
            "pending 32: 0x1000 by unit 0 (VCS read): waits for an earlier TLB miss on this page",
            "pending 63: 0x1000 by unit 0 (VCS read): translated",
        ]
    );
}

#[test]
fn a_report_says_how_batches_are_fetched() {
    // VCS §1.1.7.2: 12110h bit 5 first level, bit 6 second; §1.1.3.1: 12144h bits 31:2.
    for (state, process) in [
        (0xffff_ff9f, [false, false]),
        (0x20, [true, false]),
        (0x40, [false, true]),
    ] {
        let mock = Mock::default();
        mock.config(0x50, 0x0200);
        mock.set(0x21a8, 1);
        mock.aperture.set(256 << 20);
        let topo = GT2.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
        mock.set(0x1_2110, state);
        mock.set(0x1_2144, 0x0123_4567);
        let report = GT2.errors(&mock.hw(), &mut Gt::default(), &topo);
        let levels = |n: usize| report.engines[n].and_then(|e| e.levels);
        assert_eq!(
            levels(2),
            Some(BatchLevels {
                process,
                second: 0x0123_4564
            })
        );
        assert_eq!((levels(0), levels(1)), (None, None));
    }
}
