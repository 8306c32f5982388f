// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Reports in words.

use super::*;
use crate::{gen7::GT2, generation::Generation, gt::Gt, mock::Mock, report::FaultKind};
use std::string::ToString;

#[test]
fn no_bit_has_two_names() {
    for table in [TRANSLATION, RENDER_UNITS, SLICE_UNITS] {
        assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(table.iter().all(|(bit, _)| *bit < 32));
    }
}

#[test]
fn a_report_says_what_failed_and_who_is_busy() {
    let mock = Mock::default();
    mock.config(0x50, 0x0200);
    mock.set(0x21a8, 1);
    mock.aperture.set(256 << 20);
    let topo = GT2.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
    mock.set(0x12_0008, 0x40);
    mock.fix(0x206c, !(1 << 7));
    mock.fix(0x7100, !(1 << 16));
    // V-17: page 31:12, 11 GGTT, source 10:3, kind 2:1, valid; VCS §1.1.9.4.6: source 8.
    for (kind, said) in [
        (0, FaultKind::InvalidEntry),
        (1, FaultKind::InvalidDirectory),
        (2, FaultKind::NoDirectory),
        (3, FaultKind::NoDirectory),
    ] {
        mock.set(0x4194, 0x0123_4000 | (8 << 3) | (kind << 1) | 1);
        let report = GT2.errors(&mock.hw(), &mut Gt::default(), &topo);
        let fault = report.engines[2].and_then(|e| e.fault).unwrap();
        assert_eq!((fault.addr, fault.global), (0x0123_4000, false));
        assert_eq!((fault.source, fault.kind), (8, said));
        let text = report.to_string();
        assert!(text.contains("by unit 8 (VCS write)"), "{text}");
        assert!(text.contains("busy units: SOL VSC ("), "{text}");
    }
}
