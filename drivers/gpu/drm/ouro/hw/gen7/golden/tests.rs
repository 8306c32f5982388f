// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The golden commands: their order, lengths and values.

use super::*;
use crate::intel::ring::golden::{headers, written};

#[test]
fn the_promised_number_of_dwords() {
    // 7 dwords of registers, and the lengths of M70 below.
    assert_eq!(written(&GOLDEN).len(), 247);
}

#[test]
fn registers_of_the_context_come_first() {
    // INSTPM bit 7 set, CACHE_MODE_0 bit 0 clear, CACHE_MODE_1 bit 6 set.
    assert_eq!(
        written(&GOLDEN)[..7],
        [
            0x1100_0005,
            0x20c0,
            0x0080_0080,
            0x7000,
            0x0001_0000,
            0x7004,
            0x0040_0040
        ]
    );
}

#[test]
fn every_command_has_the_length_of_its_kind() {
    // M70: total lengths, less two.
    #[rustfmt::skip]
    let expected = [
        0x1100_0005,
        0x6904_0000, 0x6101_0008, 0x6102_0000, 0x680b_0000, 0x790d_0002, 0x7818_0000,
        0x7912_0000, 0x7913_0000, 0x7914_0000, 0x7915_0000, 0x7916_0000,
        0x7830_0000, 0x7831_0000, 0x7832_0000, 0x7833_0000, 0x7809_0001,
        0x7815_0005, 0x7819_0005, 0x781a_0005, 0x7816_0005, 0x7817_0005,
        0x7810_0004, 0x781b_0005, 0x781c_0002, 0x781d_0004, 0x7811_0005, 0x781e_0001, 0x7812_0002,
        0x7813_0005, 0x781f_000c, 0x7814_0001, 0x7820_0006,
        0x7821_0000, 0x7823_0000, 0x780e_0000, 0x7824_0000, 0x7825_0000, 0x780f_0000,
        0x7826_0000, 0x7827_0000, 0x7828_0000, 0x7829_0000, 0x782a_0000,
        0x782b_0000, 0x782c_0000, 0x782d_0000, 0x782e_0000, 0x782f_0000,
        0x780a_0001, 0x7900_0002, 0x7805_0005, 0x7806_0001, 0x7807_0001, 0x7804_0001,
        0x7918_0002, 0x7918_0002, 0x7918_0002, 0x7918_0002,
        0x790a_0001, 0x7908_0001, 0x7906_0000,
        0x7904_0002, 0x7904_0002, 0x7904_0002, 0x7904_0002,
    ];
    assert_eq!(headers(&written(&GOLDEN)), expected);
}

#[test]
fn the_values_that_are_not_zero() {
    let all = written(&GOLDEN);
    for (header, at, value) in [
        (0x7818_0000, 1, 1),
        (0x7916_0000, 1, 8),
        (0x7830_0000, 1, 0x0200_0020),
        (0x7833_0000, 1, 0x0400_0000),
        (0x7809_0001, 2, 0x2222_0000),
        (0x7813_0005, 2, 0x2000_0000),
        (0x781f_000c, 1, 0x800),
        (0x7820_0006, 4, 0x2800_0001),
        (0x7805_0005, 1, 0xe004_0000),
    ] {
        let start = all.iter().position(|d| *d == header).unwrap();
        assert_eq!(all[start + at], value, "{header:#x}");
    }
}
