// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Logical contexts of the modelled Sandy Bridge (SNB PRM V1P2 §5.8).

use crate::snb_rig::{Rig, BATCH, TARGET};
use gpu_model::counters::Counter;
use gpu_model::ring::engine::Stop;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, RingConfig};

const RCS: EngineId = EngineId::Rcs;
/// Two context images, two pages each.
const A: u32 = 0xa0000;
const B: u32 = 0xb0000;

/// MI_SET_CONTEXT with flags: 8 GTT; 3 extended save; 2 extended restore; 1 force; 0 inhibit.
fn set(image: u32, flags: u32) -> [u32; 4] {
    [0, 0x0c00_0000, image | flags, 0]
}

fn new(image: u32) -> [u32; 4] {
    set(image, 0x109)
}

fn again(image: u32) -> [u32; 4] {
    set(image, 0x10c)
}

#[test]
fn registers_follow_their_context() {
    // §5.8.1.4: INSTPM, CACHE_MODE_0, CACHE_MODE_1, MI_ARB_STATE and the statistics are saved.
    let rig = Rig::new();
    rig.run(RCS, &new(A));
    for (r, v) in [
        (0x20c0, 0x0080_0080),
        (0x2120, 0x0001_0001),
        (0x2124, 0x0004_0004),
        (0x20e4, 0x0010_0010),
    ] {
        rig.run(RCS, &[0x1100_0001, r, v]);
    }
    rig.set(0x2310, 0x1234);
    rig.set(0x2314, 0x5678);
    rig.run(RCS, &new(B));
    for (r, v) in [
        (0x20c0, 0x0080_0000),
        (0x2120, 0x0001_0000),
        (0x2124, 0x0004_0000),
        (0x20e4, 0x0010_0000),
    ] {
        rig.run(RCS, &[0x1100_0001, r, v]);
    }
    rig.set(0x2310, 0);
    rig.run(RCS, &again(A));
    assert_eq!(rig.reg(0x20c0), 0x80);
    assert_eq!(rig.reg(0x2120), 0x01);
    assert_eq!(rig.reg(0x2124), 0x04);
    assert_eq!(rig.reg(0x20e4), 0x10);
    assert_eq!((rig.reg(0x2310), rig.reg(0x2314)), (0x1234, 0x5678));
    rig.run(RCS, &again(B));
    assert_eq!((rig.reg(0x20c0), rig.reg(0x2120)), (0, 0));
    assert_eq!(rig.gpu.counter(Counter::ContextSwitches), 4);
    rig.clean();
}

#[test]
fn ccid_shows_the_current_context() {
    // Digest G-28: valid bit 0, extended restore 2, extended save 3, address 31:12. A real machine's shows
    // bit 8 of the command too (SNB387: 7fdf310dh).
    let rig = Rig::new();
    assert_eq!(rig.reg(0x2180) & 1, 0);
    rig.run(RCS, &new(A));
    assert_eq!(rig.reg(0x2180), 0x000a_0109);
    rig.run(RCS, &again(A));
    assert_eq!(rig.reg(0x2180), 0x000a_010d, "loaded always (§5.8.1.2)");
    assert_eq!(
        rig.gpu.counter(Counter::ContextSwitches),
        1,
        "but the same one is no switch"
    );
}

#[test]
fn the_first_one_saves_nothing_and_a_switch_saves_the_old() {
    // §5.8.1.1, §5.8.1.2.
    let rig = Rig::new();
    rig.put(A, &[0x5555_5555; 1376]);
    rig.run(RCS, &new(A));
    assert_eq!(rig.at(A + 4), 0x5555_5555);
    rig.run(RCS, &new(B));
    // §5.8.1.4: an embedded MI_LOAD_REGISTER_IMM (0x22 << 23).
    assert_eq!(rig.at(A + 4) & 0xff80_0000, 0x1100_0000);
    // CXT_SIZE: ring 10 + pipelined 45 + extended 31 lines of 64 bytes: all 5504 bytes are written.
    assert_ne!(rig.at(A + 5504 - 4), 0x5555_5555);
    assert_eq!(rig.at(B + 4), 0, "the new one is not touched");
}

#[test]
fn without_extended_save_that_part_stays() {
    // §5.8.1.3: the flag that counts is the one given when the context was loaded.
    let rig = Rig::new();
    rig.put(A, &[0x5555_5555; 1376]);
    rig.run(RCS, &set(A, 0x101));
    rig.run(RCS, &set(B, 0x109));
    assert_ne!(rig.at(A + 4), 0x5555_5555);
    assert_eq!(rig.at(A + 3520), 0x5555_5555);
    assert_eq!(rig.at(A + 5500), 0x5555_5555);
}

#[test]
fn force_restore_reloads_the_same_context() {
    // §5.8.1.2, §5.8.1.4: saves, then restores.
    let rig = Rig::new();
    rig.run(RCS, &new(A));
    rig.run(RCS, &[0x1100_0001, 0x2120, 0x0001_0001]);
    rig.run(RCS, &set(A, 0x10a));
    assert_eq!(rig.reg(0x2120), 1);
    assert_eq!(rig.gpu.counter(Counter::ContextSwitches), 2);
    rig.clean();
}

#[test]
fn an_image_that_was_never_saved_is_found() {
    // §5.8.1.3: restore inhibit is mandatory for it.
    let rig = Rig::new();
    rig.run(RCS, &again(A));
    assert_eq!(rig.gpu.lint_count(Rule::ContextFabricated), 1);
    // A changed image is found as well; a copy of a saved one is good.
    let rig = Rig::new();
    rig.run(RCS, &new(A));
    rig.run(RCS, &new(B));
    for at in (0..8192).step_by(4) {
        rig.put(0xc0000 + at, &[rig.at(A + at)]);
    }
    rig.run(RCS, &again(0xc0000));
    rig.clean();
    rig.put(A + 12, &[rig.at(A + 12) ^ 1]);
    rig.run(RCS, &again(A));
    assert_eq!(rig.gpu.lint_count(Rule::ContextFabricated), 1);
}

#[test]
fn not_in_a_batch() {
    // §5.8.1.2.
    let rig = Rig::new();
    rig.put(BATCH, &[0x0c00_0000, A | 0x109, 0, 0x0500_0000]);
    rig.run(RCS, &[0x1880_0000, BATCH, 0x1040_0002, 0, TARGET, 1]);
    assert_eq!(rig.gpu.stop_reason(RCS), Stop::Error);
    assert_eq!(rig.reg(0x2068), 0x0c00_0000);
    assert_eq!(rig.at(TARGET), 0);
}

#[test]
fn physical_addresses_are_prohibited() {
    // §4.6.1; DW1 bit 8 must be 1.
    let rig = Rig::new();
    rig.run(RCS, &set(A, 0x009));
    assert_eq!(rig.gpu.stop_reason(RCS), Stop::Error);
}

#[test]
fn a_noop_must_follow_and_flags_exclude_each_other() {
    let rig = Rig::new();
    rig.run(RCS, &[0x0c00_0000, A | 0x109, 0x1040_0002, 0, TARGET, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::SetContextNoNoop), 1);
    rig.run(RCS, &set(B, 0x10b));
    assert_eq!(rig.gpu.lint_count(Rule::SetContextFlags), 1);
}

#[test]
fn a_switch_flushes_translations() {
    // §5.3.10.5.
    let rig = Rig::new();
    rig.run(RCS, &[0x1040_0002, 0, TARGET, 1]);
    rig.gpu.gtt_write(TARGET >> 12, 0x0009_0005);
    rig.run(RCS, &new(A));
    rig.run(RCS, &[0x1040_0002, 0, TARGET, 2]);
    assert_eq!((rig.at(0x80000), rig.at(0x90000)), (1, 2));
}

#[test]
fn state_commands_belong_to_the_context() {
    // The 3D state itself is not modelled; its digest is saved and restored with the image.
    let rig = Rig::new();
    rig.run(RCS, &new(A));
    rig.run(RCS, &[0x7810_0004, 1, 2, 3, 4, 5]);
    rig.run(RCS, &new(B));
    let first: Vec<u32> = (0..880).map(|i| rig.at(A + 4 * i)).collect();
    rig.run(RCS, &[0x7810_0004, 6, 6, 6, 6, 6]);
    rig.run(RCS, &again(A));
    rig.run(RCS, &again(B));
    let second: Vec<u32> = (0..880).map(|i| rig.at(A + 4 * i)).collect();
    assert_eq!(first, second, "unchanged by what another context did");
    rig.run(RCS, &again(A));
    rig.run(RCS, &[0x7810_0004, 7, 7, 7, 7, 7]);
    rig.run(RCS, &again(B));
    let third: Vec<u32> = (0..880).map(|i| rig.at(A + 4 * i)).collect();
    assert_ne!(first, third);
    rig.clean();
}

#[test]
fn reset_forgets_the_current_context() {
    // §5.9: undefined, and not valid.
    let rig = Rig::new();
    rig.run(RCS, &new(A));
    rig.set(0x941c, 2);
    assert_eq!(rig.reg(0x2180) & 1, 0);
    rig.put(A, &[0x5555_5555; 8]);
    rig.start_ring(RCS);
    rig.run(RCS, &new(B));
    assert_eq!(rig.at(A + 4), 0x5555_5555, "nothing was saved");
}

#[test]
fn images_are_in_the_global_table() {
    // §5.3.6.1, §4.6.2: with PPGTT on as well.
    let rig = Rig::new();
    for n in 0..512 {
        rig.gpu.gtt_write(0x400 + n, 0x0010_0001);
    }
    rig.set(0x2220, 0xffff_ffff);
    rig.set(0x2228, 0x0040_0000);
    rig.set(0x2520, 0x0200_0200);
    rig.run(RCS, &new(A));
    rig.run(RCS, &new(B));
    assert_eq!(rig.at(A + 4) & 0xff80_0000, 0x1100_0000);
    rig.clean();
}

#[test]
fn undefined_after_reset() {
    // §5.9: context state is; here it is garbage from the seed, so that no test relies on it.
    let counts = |seed| {
        let rig = Rig::with(RingConfig {
            seed,
            ..RingConfig::default()
        });
        rig.set(0x2310, 0);
        rig.set(0x941c, 1);
        (rig.reg(0x2310), rig.reg(0x2180))
    };
    assert_ne!(counts(1), counts(2));
    assert_eq!(counts(1), counts(1));
    assert_ne!(counts(1).0, 0);
}
