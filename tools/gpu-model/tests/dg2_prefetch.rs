// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands that are changed after they were fetched (DG2 PRM Vol 8 "Command Fetch", "Advanced Command
//! Prefetch", "Self-Modifying Code"; bits of MI_ARB_CHECK and GFX_MODE from the digest).

use crate::dg2_rig::*;
use gpu_model::dg2::{Dg2Config, EngineId};

const E: EngineId = EngineId::Bcs;

fn rig(prefetch: bool) -> Rig {
    Rig::with(Dg2Config {
        prefetch,
        ..Dg2Config::default()
    })
}

/// A store of a dword that changes the one at `at` of the user space to 2, and a flush after it.
fn change(at: u32) -> Vec<u32> {
    vec![0x1000_0002, at, 1, 2, 0x1300_0001, 0, 0]
}

/// Runs a batch that changes the value of a store which lies `gap` padding dwords behind.
fn modified(rig: &Rig, gap: usize) -> u32 {
    let value = 0x8_0000 + 4 * (7 + gap as u32 + 3);
    let mut all = change(value);
    all.extend(vec![NOOP; gap]);
    all.extend([0x1000_0002, 0x40, 1, 1]);
    rig.run_batch(E, &all);
    rig.at(0x10_0040)
}

#[test]
fn commands_ahead_are_fetched() {
    // Sixteen lines of 64 bytes: 1 KB. Nearer, the old command runs; farther, the new one.
    assert_eq!(modified(&rig(true), 8), 1);
    assert_eq!(modified(&rig(true), 200), 1);
    assert_eq!(modified(&rig(true), 300), 2);
    assert_eq!(modified(&rig(false), 8), 2);
}

/// Runs a batch that changes another one and starts it. `before` is executed first.
fn modified_batch(rig: &Rig, before: &[u32]) -> u32 {
    rig.batch(0x8_1000, &[0x0280_0100, 0x1000_0002, 0x40, 1, 1]);
    let start = [0x18c0_0101, 0x8_1000, 1];
    rig.run_batch(E, &[before, &change(0x8_1010), &start].concat());
    rig.at(0x10_0040)
}

#[test]
fn the_pre_parser_goes_into_batches() {
    assert_eq!(modified_batch(&rig(true), &[]), 1);
    assert_eq!(modified_batch(&rig(false), &[]), 2);
}

#[test]
fn the_pre_parser_can_be_off() {
    // MI_ARB_CHECK bit 0, with its mask in bit 8; the batch turns it on again (0x02800100).
    let r = rig(true);
    assert_eq!(modified_batch(&r, &[0x0280_0101]), 2);
    // It is on again: in the next request the same goes wrong.
    assert_eq!(modified_batch(&r, &[]), 1);
    // Without the mask nothing changes.
    assert_eq!(modified_batch(&rig(true), &[0x0280_0001]), 1);
    // GFX_MODE bit 10 turns it off for all.
    let r = rig(true);
    r.eset(E, 0x29c, 0x0400_0400);
    assert_eq!(modified_batch(&r, &[]), 2);
    r.clean();
}

#[test]
fn fetching_ahead_is_no_access() {
    let r = rig(true);
    // The batch ends at the end of what is mapped.
    r.put(0x10_0000 + 0x1f_fff8, &[BATCH_END, NOOP]);
    r.run(E, &start(USER + 0x1f_fff8));
    r.clean();
    // A ring is always read as it is: more was appended while the engine waited.
    r.append(0, &[0x0e40_c003, 1, 0x12_0000, 0, 0, NOOP]);
    r.load(E, &[descriptor(0)]);
    r.settle();
    r.append(0, &store(SYSTEM + 0x2_0004, 9));
    r.load(E, &[descriptor(0)]);
    r.put(0x2_0000, &[1]);
    r.settle();
    assert_eq!(r.at(0x2_0004), 9);
    r.clean();
}

/// Two requests of one context, with the batch's address bound to another page in between. Each request
/// invalidates before it starts the batch; `bracketed` with the pre-parser off meanwhile (MI_ARB_CHECK).
fn rebound(r: &Rig, bracketed: bool) -> u32 {
    let invalidate = [0x1304_0001, 0, 0];
    let request = match bracketed {
        true => [
            &[0x0280_0101],
            &invalidate[..],
            &[0x0280_0100],
            &start(USER + 0x8_0000),
        ]
        .concat(),
        false => [&invalidate[..], &start(USER + 0x8_0000)].concat(),
    };
    r.batch(0x8_0000, &[0x1000_0002, 0x40, 1, 1]);
    r.batch(0x9_0000, &[0x1000_0002, 0x40, 1, 2]);
    r.run(E, &request);
    assert_eq!(r.at(0x10_0040), 1);
    r.put_local64(ROOT + 0x3000 + 8 * 0x80, 0x19_0003);
    r.run(E, &request);
    r.clean();
    r.at(0x10_0040)
}

#[test]
fn the_pre_parser_runs_past_an_invalidation() {
    assert_eq!(rebound(&rig(true), false), 1);
    assert_eq!(rebound(&rig(true), true), 2);
    assert_eq!(rebound(&rig(false), false), 2);
    // GFX_MODE bit 10 has it off for all.
    let r = rig(true);
    r.eset(E, 0x29c, 0x0400_0400);
    assert_eq!(rebound(&r, false), 2);
}

/// An engine does not read old translations again when its context comes again: only an invalidation or another context
/// helps.
#[test]
fn a_context_that_comes_again_keeps_its_translations() {
    for (other, seen) in [(false, 1), (true, 2)] {
        let r = rig(false);
        r.batch(0x8_0000, &[0x1000_0002, 0x40, 1, 1]);
        r.batch(0x9_0000, &[0x1000_0002, 0x40, 1, 2]);
        r.run(E, &start(USER + 0x8_0000));
        r.put_local64(ROOT + 0x3000 + 8 * 0x80, 0x19_0003);
        if other {
            r.context(1);
            r.append(1, &[NOOP, NOOP]);
            r.load(E, &[descriptor(1)]);
            r.settle();
        }
        r.run(E, &start(USER + 0x8_0000));
        assert_eq!(r.at(0x10_0040), seen, "another context in between: {other}");
        r.clean();
    }
}

/// A command of the ring that changes the one behind it: dword 10 of the ring.
#[test]
fn the_ring_is_fetched_ahead() {
    for (prefetch, stored) in [(true, 1), (false, 2)] {
        let r = rig(prefetch);
        let change = [&store(0x101_0000 + 40, 2)[..], &[0x1300_0001, 0, 0]].concat();
        r.run(E, &[&change[..], &store(SYSTEM + 0x2_0004, 1)].concat());
        assert_eq!(r.at(0x2_0004), stored);
        r.clean();
    }
}

/// A batch that starts itself is fetched in each round: who ends it by writing into it is heard.
#[test]
fn a_loop_sees_its_end() {
    let r = rig(true);
    r.put(0x18_0000, &[ARB_CHECK, 0x1880_0101, 0x8_0000, 1]);
    r.context(0);
    r.append(0, &start(USER + 0x8_0000));
    r.load(E, &[descriptor(0)]);
    assert!(!r.gpu.run_until_idle(50));
    r.put(0x18_0000, &[BATCH_END]);
    r.settle();
    r.clean();
}
