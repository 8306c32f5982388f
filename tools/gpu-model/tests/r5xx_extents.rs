// SPDX-License-Identifier: GPL-2.0 OR MIT
//! How far surfaces extend by other readings of their registers: an object that holds what the first reading touches
//! may be too small for the second. (R5xx guide §2.2, §2.3, §5.2.2; digest of 3D, §10.3, §12.5, §12.6, §13.6.)

use crate::r5xx_rig::{packet, Rig};
use gpu_model::r5xx::{Access, Rule, Unit};

/// The destination's, or colour 0's, first byte.
const BASE: u64 = 0x10_0000;

/// Returns whether all accesses of a unit are in an object.
fn inside(all: &[Access], unit: Unit, object: std::ops::Range<u64>) -> bool {
    let mine = all.iter().filter(|a| a.unit == unit);
    mine.into_iter()
        .all(|a| object.start <= a.addr && a.end() <= object.end)
}

fn disputed(rig: &Rig) -> bool {
    rig.gpu.lint_count(Rule::Disputed) != 0
}

fn pair(high: i32, low: i32) -> u32 {
    (high as u32 & 0xffff) << 16 | (low as u32 & 0xffff)
}

/// Runs a program; what was accessed.
fn run(dwords: &[u32]) -> (Rig, Vec<Access>) {
    let rig = Rig::new();
    rig.gpu.take_accesses();
    rig.run_indirect(dwords);
    let (all, lost) = rig.gpu.take_accesses();
    assert_eq!(lost, 0);
    (rig, all)
}

/// Pitch 256, at 0x100000; a source of the same pitch at 0x300000.
const TO: u32 = 4 << 22 | 0x400;
const FROM: u32 = 4 << 22 | 0xc00;

/// PAINT_MULTI of one rectangle: destination given, clipped to (0, 0) to (8191, 8191), solid brush, 8888, PATCOPY.
fn paint((x, y): (i32, i32), (w, h): (i32, i32)) -> (Rig, Vec<Access>) {
    let settings = [0x50f0_36da, TO, 0, 0x1fff_1fff, 7];
    run(&packet(
        0x9a,
        &[&settings[..], &[pair(x, y), pair(w, h)]].concat(),
    ))
}

/// §5.2.2.7: y-coordinates range from -8192 to 8191. Of 8196 rows from 8191 on, the second is -8192, and those from
/// the 8194th on are 0, 1, 2. Row 8191 is at 8191 * 256 = 0x1FFF00.
#[test]
fn rows_past_8191_wrap() {
    let row = BASE + 0x1f_ff00;
    let (rig, all) = paint((3, 8191), (1, 8193));
    assert!(inside(&all, Unit::TwoD, row..row + 256));
    assert!(!disputed(&rig), "up to -1");
    let (rig, all) = paint((3, 8191), (1, 8196));
    assert!(!inside(&all, Unit::TwoD, row..row + 256));
    assert!(inside(&all, Unit::TwoD, BASE..row + 256));
    let wrapped = Access::write(Unit::TwoD, BASE + 12, 2 * 256 + 4);
    assert!(all.contains(&wrapped), "{all:x?}");
    assert!(disputed(&rig));
    assert_eq!(rig.at(BASE as u32 + 12), 0, "drawn as before");
}

/// So do columns. Of 8200 from 8190 on, the last six are 0 to 5.
#[test]
fn columns_past_8191_wrap() {
    let (rig, all) = paint((8190, 0), (8200, 2));
    let wrapped = Access::write(Unit::TwoD, BASE, 256 + 6 * 4);
    assert!(all.contains(&wrapped), "{all:x?}");
    assert!(disputed(&rig));
    let (rig, all) = paint((8180, 0), (11, 2));
    assert!(!all.contains(&wrapped));
    assert!(!disputed(&rig));
}

/// §5.2.2.9: the source's coordinates have the same range. Of 8196 columns from 8191 on, the last three are 0 to 2;
/// they go to 1 to 3.
#[test]
fn columns_of_a_source_wrap() {
    let copy = |w| {
        // BITBLT_MULTI: source and destination given, both clipped, no brush, 8888, SRCCOPY.
        let settings = [0x52cc_36ff, FROM, TO, 0x1fff_1fff, 0, 0x1fff_1fff];
        let blit = [pair(8191, 0), pair(-8192, 0), pair(w, 2)];
        run(&packet(0x9b, &[&settings[..], &blit].concat()))
    };
    let (rig, all) = copy(8196);
    assert!(
        all.contains(&Access::read(Unit::TwoD, 0x30_0000, 256 + 12)),
        "{all:x?}"
    );
    assert!(
        all.contains(&Access::write(Unit::TwoD, BASE + 4, 256 + 12)),
        "{all:x?}"
    );
    assert!(disputed(&rig));
    let (rig, all) = copy(8193);
    assert!(inside(&all, Unit::TwoD, 0..0), "{all:x?}");
    assert!(!disputed(&rig));
}
