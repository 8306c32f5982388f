// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts and errors of the modelled Sandy Bridge through every mask (SNB PRM V1P2 §5.4–5.7;
//! VCS PRM 1.1.6; digest G-11..G-14).

use crate::snb_rig::{block, status_page, Rig};
use gpu_model::counters::Counter;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{EngineId, ENGINES};

/// MI_USER_INTERRUPT.
const USER: [u32; 2] = [0x0100_0000, 0];
/// Bit of each engine's user interrupt (digest G-12).
const BITS: [(EngineId, u32); 3] = [
    (EngineId::Rcs, 1 << 0),
    (EngineId::Vcs, 1 << 12),
    (EngineId::Bcs, 1 << 22),
];

#[test]
fn user_interrupts_reach_the_line() {
    for (e, bit) in BITS {
        let rig = Rig::new();
        rig.unmask_interrupts();
        rig.run(e, &USER);
        assert_eq!(rig.reg(0x44018), bit, "{}", e.name());
        assert_eq!(rig.messages(), 1);
        assert!(rig.gpu.line());
        rig.run(e, &USER);
        assert_eq!(rig.messages(), 1, "still asserted: no new edge");
        rig.set(0x44018, bit);
        assert_eq!(rig.reg(0x44018), 0);
        assert!(!rig.gpu.line());
        rig.run(e, &USER);
        assert_eq!(rig.messages(), 2);
        rig.clean();
    }
}

#[test]
fn each_mask_stops_it() {
    // Ring mask, GTIMR: not latched. GTIER, DEIER 31: latched but not sent.
    for (e, bit) in BITS {
        for (mask, value, latched) in [
            (block(e) + 0xa8, bit, false),
            (0x44014, bit, false),
            (0x4401c, !bit & 0xfeff_bffb, true),
            (0x4400c, 0, true),
        ] {
            let rig = Rig::new();
            rig.unmask_interrupts();
            rig.set(mask, value);
            rig.run(e, &USER);
            assert_eq!(
                rig.reg(0x44018),
                if latched { bit } else { 0 },
                "{} {mask:#x}",
                e.name()
            );
            assert_eq!(rig.messages(), 0, "{} {mask:#x}", e.name());
        }
    }
}

#[test]
fn the_master_enable_gives_a_new_message() {
    // Peer digest A.4: a handler clears bit 31, acknowledges, sets it again.
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.run(EngineId::Rcs, &USER);
    assert_eq!(rig.messages(), 1);
    rig.set(0x4400c, 0);
    rig.set(0x44018, 1);
    rig.run(EngineId::Bcs, &USER);
    assert_eq!(rig.messages(), 1);
    rig.set(0x4400c, 0x8000_0000);
    assert_eq!(rig.messages(), 2, "what came meanwhile");
    rig.set(0x44018, 1 << 22);
    assert!(!rig.gpu.line());
}

#[test]
fn enabling_later_sends_what_is_latched() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.set(0x4401c, 0);
    rig.run(EngineId::Vcs, &USER);
    assert_eq!(rig.messages(), 0);
    rig.set(0x4401c, 1 << 12);
    assert_eq!(rig.messages(), 1);
    // A mask opened later does not bring back what it kept out.
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.set(0x120a8, 0xffff_ffff);
    rig.run(EngineId::Vcs, &USER);
    rig.set(0x120a8, 0);
    assert_eq!(rig.reg(0x44018), 0);
}

#[test]
fn power_management_events() {
    // Digest G-14.
    let rig = Rig::new();
    rig.unmask_interrupts();
    rig.gpu.raise_pm(0x20);
    assert_eq!(rig.reg(0x44028), 0, "masked");
    rig.set(0x44024, 0xffff_ffdf);
    rig.gpu.raise_pm(0x30);
    assert_eq!(rig.reg(0x44028), 0x20);
    assert_eq!(rig.messages(), 0);
    rig.set(0x4402c, 0x20);
    assert_eq!(rig.messages(), 1);
    rig.set(0x44028, 0x20);
    assert!(!rig.gpu.line());
}

#[test]
fn sync_status_must_not_be_an_interrupt() {
    // §5.4.3.
    let rig = Rig::new();
    rig.set(0x4401c, 1 << 2);
    assert_eq!(rig.gpu.lint_count(Rule::SyncStatusEnabled), 1);
}

#[test]
fn status_changes_are_written_to_the_status_page() {
    // §5.5: a clear bit of HWSTAM reports either edge; whole image to dword 0, ring-local bits.
    for e in ENGINES {
        let rig = Rig::new();
        let shift = [0, 12, 22][e as usize];
        let sync = 1u32 << (2 + shift);
        rig.put(status_page(e), &[0xffff_ffff]);
        rig.set(block(e) + 0x9c, 0x0100_0100);
        rig.set(block(e) + 0xc0, 0x0020_0020);
        assert_eq!(rig.at(status_page(e)), 0xffff_ffff, "masked");
        rig.set(block(e) + 0x98, !sync);
        // The video engine wants its interrupt mask open as well (VCS PRM 1.1.6.1).
        rig.set(block(e) + 0xa8, !sync);
        rig.set(block(e) + 0xc0, 0x0020_0020);
        assert_eq!(rig.at(status_page(e)), 0, "falling edge, {}", e.name());
        rig.set(block(e) + 0xc0, 0x0020_0020);
        assert_eq!(rig.at(status_page(e)), 4, "rising edge, {}", e.name());
        rig.clean();
    }
    let rig = Rig::new();
    rig.put(status_page(EngineId::Vcs), &[0xffff_ffff]);
    rig.set(0x12098, !(1 << 14));
    rig.set(0x1209c, 0x0100_0100);
    rig.set(0x120c0, 0x0020_0020);
    assert_eq!(
        rig.at(status_page(EngineId::Vcs)),
        0xffff_ffff,
        "mask still closed"
    );
}

#[test]
fn user_interrupts_of_the_video_engine_are_not_in_the_image() {
    // VCS PRM 1.1.6: always zero there.
    let rig = Rig::new();
    rig.set(0x12098, !(1 << 12));
    rig.set(0x120a8, 0);
    rig.put(status_page(EngineId::Vcs), &[0xffff_ffff]);
    rig.run(EngineId::Vcs, &USER);
    assert_eq!(rig.at(status_page(EngineId::Vcs)), 0);
}

#[test]
fn errors_go_through_emr_to_the_master_error() {
    // §5.7.1: ESR raw, EMR mask, EIR sticky; any bit is the master error, bit 3 of the ring.
    for (e, master) in [
        (EngineId::Rcs, 1 << 3),
        (EngineId::Vcs, 1 << 15),
        (EngineId::Bcs, 1 << 25),
    ] {
        let rig = Rig::new();
        rig.unmask_interrupts();
        rig.run(e, &[0x2000_0000, 0]);
        assert_eq!(rig.reg(block(e) + 0xb8), 1, "ESR");
        assert_eq!(rig.reg(block(e) + 0xb0), 0, "masked after reset (§5.9)");
        assert_eq!(rig.messages(), 0);
        // Opening the mask lets it through: the error persists.
        rig.set(block(e) + 0xb4, 0xffff_fffe);
        assert_eq!(rig.reg(block(e) + 0xb4), 0x0000_fffe);
        assert_eq!(rig.reg(block(e) + 0xb0), 1);
        assert_eq!(rig.reg(0x44010), master);
        assert_eq!(rig.reg(0x44018), master);
        assert_eq!(rig.messages(), 1);
        // §5.7.3: cleared in EIR, it comes back unless masked.
        rig.set(block(e) + 0xb0, 1);
        assert_eq!(rig.reg(block(e) + 0xb0), 1);
        rig.set(block(e) + 0xb4, 0xffff);
        rig.set(block(e) + 0xb0, 1);
        assert_eq!(rig.reg(block(e) + 0xb0), 0);
        assert_eq!(rig.reg(0x44010), 0);
        rig.set(0x44018, master);
        assert!(!rig.gpu.line());
        // Writing zeros to EIR does nothing.
        rig.set(block(e) + 0xb4, 0);
        rig.set(block(e) + 0xb0, 0);
        assert_eq!(rig.reg(block(e) + 0xb0), 1);
        // A reset ends it.
        rig.set(0x941c, 1);
        assert_eq!(
            (
                rig.reg(block(e) + 0xb0),
                rig.reg(block(e) + 0xb8),
                rig.reg(0x44010)
            ),
            (0, 0, 0)
        );
    }
}

#[test]
fn counters_of_interrupts() {
    let rig = Rig::new();
    rig.unmask_interrupts();
    for e in ENGINES {
        rig.run(e, &USER);
        rig.set(0x44018, 0xffff_ffff);
    }
    assert_eq!(rig.gpu.counter(Counter::Interrupts), 3);
    assert_eq!(rig.gpu.counter(Counter::RcsUserInterrupts), 1);
    assert_eq!(rig.gpu.counter(Counter::VcsUserInterrupts), 1);
    assert_eq!(rig.gpu.counter(Counter::BcsUserInterrupts), 1);
    assert_eq!(
        rig.gpu.counter(Counter::BcsTailWrites),
        2,
        "set-up and one submission"
    );
}
