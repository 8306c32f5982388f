// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Scanouts that the firmware left on each pipe.

use crate::{gen7::GT2, generation::Generation, mock::Mock};
use std::vec::Vec;

#[test]
fn what_each_pipe_shows_is_found() {
    for n in 0..3 {
        let mock = Mock::default();
        mock.config(0x50, 0x0200);
        mock.set(0x21a8, 1);
        mock.aperture.set(256 << 20);
        let topo = GT2.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
        mock.set(0x4_1000, 0x2000_0000);
        mock.set(0x7_0008 + n * 0x1000, 0x8000_0000);
        // A sprite of 640 by 480, and a cursor of 64 by 64 in colours.
        mock.set(0x7_0280 + n * 0x1000, 0x8000_0000);
        mock.set(0x7_0288 + n * 0x1000, 4096);
        mock.set(0x7_0290 + n * 0x1000, 0x01df_027f);
        mock.set(0x7_029c + n * 0x1000, 0x0080_0000);
        mock.set(0x7_0080 + n * 0x1000, 0x27);
        mock.set(0x7_0084 + n * 0x1000, 0x0030_0000);
        let mut found = Vec::new();
        GT2.scanouts(&mock.hw(), &topo, &mut |s| found.push((s.first, s.entries)));
        let mut expected = [(0x800, 480), (0x300, 4)].to_vec();
        if n == 0 {
            expected.push((0, 64));
        }
        assert_eq!(found, expected);
    }
}
