// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Rings, interrupts and status pages of the modelled Gen4 chips (5.3.4, 5.4 to 5.6).

use crate::gen4_rig::*;
use gpu_model::ring::chip::{G45, G965, GM45, GM965};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{RingConfig, StepResult};

#[test]
fn start_clears_the_head() {
    // 5.3.4.2: "Writing the Start Address has the side effect of clearing the Head Offset and Head Wrap Count".
    for chip in ALL {
        let rig = Rig::bare(RingConfig::of(chip));
        rig.set(0x2034, 0xffe0_0010);
        rig.set(0x2038, RING);
        assert_eq!(rig.reg(0x2034), 0);
        rig.clean();
    }
    // Real GM45s: HEAD reads START until it is written (GW23); habit `start_in_head`.
    let real = "start_in_head".parse().expect("a habit");
    for (chip, shown) in [(&GM45, RING), (&G965, 0)] {
        let rig = Rig::bare(RingConfig {
            real,
            ..RingConfig::of(chip)
        });
        rig.set(0x2038, RING);
        assert_eq!(rig.reg(0x2034), shown);
        rig.set(0x2034, 0);
        assert_eq!(rig.reg(0x2034), 0);
    }
}

#[test]
fn both_rings_of_g45_run() {
    for chip in ALL {
        let rig = Rig::new(chip);
        for e in rig.engines() {
            rig.run(*e, &[0x0040_0000 | 0x123, 0, INDEX, 0x100, 0x55]);
            assert_eq!(rig.reg(block(*e) + 0x94), 0x123, "NOPID (1.11)");
            assert_eq!(rig.reg(block(*e) + 0x34), 24);
            assert_eq!(rig.at(status_page(*e) + 0x100), 0x55);
        }
        if !rig.g4x {
            // RNG-01: no video engine on 965: nothing answers, and nothing runs.
            assert_eq!(rig.reg(0x403c), 0);
            assert_eq!(rig.gpu.undocumented(), vec![(0x403c, 1, 0)]);
            assert_eq!(rig.gpu.step(VCS), StepResult::Idle);
        } else {
            rig.clean();
        }
    }
}

#[test]
fn the_status_page_of_965_is_at_an_address_of_the_bus() {
    // G-10: a graphics address on G45; on 965 the bus, whatever the table says, and 7:4 are bits 35:32.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.gpu.gtt_write(STATUS >> 12, TARGET | 1);
        rig.run(RCS, &[INDEX, 0x100, 7]);
        let (bus, mapped) = (rig.at(STATUS + 0x100), rig.at(TARGET + 0x100));
        assert_eq!((bus, mapped), if rig.g4x { (0, 7) } else { (7, 0) });
        rig.set(0x2080, STATUS | 0x10);
        assert_eq!(
            rig.reg(0x2080),
            if rig.g4x { STATUS } else { STATUS | 0x10 }
        );
        if !rig.g4x {
            rig.run(RCS, &[INDEX, 0x100, 8]);
            assert_eq!(rig.at(STATUS + 0x100), 7, "beyond 4 GB nothing is here");
            assert_eq!(rig.gpu.lints(), vec![(Rule::HighStatusPage, 1)]);
        } else {
            rig.clean();
        }
    }
}

#[test]
fn reserved_dwords_of_the_status_page() {
    // 1.17: 16 to 1023.
    let rig = Rig::new(&G45);
    rig.run(RCS, &[INDEX, 0x40, 1]);
    rig.clean();
    rig.run(RCS, &[INDEX, 0x3c, 1]);
    assert_eq!(rig.gpu.lint_count(Rule::StatusPageReserved), 1);
    // Two dwords (1.17: length 2).
    rig.run(RCS, &[0x1080_0002, 0x48, 3, 4]);
    assert_eq!((rig.at(STATUS + 0x48), rig.at(STATUS + 0x4c)), (3, 4));
}

#[test]
fn head_reports() {
    // 1.14: HEAD to the status page, dword 4 (G-10); automatically at each 64 KB (5.3.4.2).
    let rig = Rig::new(&G965);
    rig.run(RCS, &[0, 0, 0x0380_0000]);
    assert_eq!(rig.at(STATUS + 16), 8);
    rig.put(BATCH, &[0x0380_0000, END]);
    rig.run(RCS, &[START, BATCH]);
    assert_eq!(rig.gpu.lint_count(Rule::RingOnly), 1);
}

#[test]
fn automatic_head_reports() {
    // 5.3.4.2: "whenever the Head Offset crosses either a 64KB or 128KB boundary"; 2:1 of the control, 1 and 3 (G-04).
    for (code, reported) in [(0, 0), (1, 0x1_0008), (3, 0)] {
        let rig = Rig::new(&G45);
        rig.set(0x203c, 0);
        rig.set(0x2038, 0x10_0000);
        rig.set(0x2034, 0xfff8);
        rig.set(0x2030, 0xfff8);
        rig.set(0x203c, 0x0003_f001 | code << 1);
        rig.run(RCS, &[0, 0, 0, 0]);
        // At the first command behind the boundary: the report comes when it is passed.
        let got = rig.at(STATUS + 16);
        assert_eq!(got != 0, reported != 0, "{code}");
        assert!(
            reported == 0 || (0x1_0000..=reported).contains(&got),
            "{got:#x}"
        );
        rig.clean();
    }
}

#[test]
fn a_partial_command_waits_for_its_rest() {
    // 5.3.4.2: "submitting partial commands is UNDEFINED".
    let rig = Rig::new(&G965);
    rig.put(RING, &[STORE, 0, TARGET, 7]);
    rig.set(0x2030, 8);
    rig.settle();
    assert_eq!((rig.at(TARGET), rig.reg(0x2034)), (0, 0));
    assert_eq!(rig.gpu.lint_count(Rule::PartialCommand), 1);
    rig.set(0x2030, 16);
    rig.settle();
    assert_eq!((rig.at(TARGET), rig.reg(0x2034)), (7, 16));
}

#[test]
fn a_user_interrupt_is_an_edge() {
    // 5.4.7, 5.6; G-13: bit 1 for the render engine, 25 for the video engine.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.unmask_interrupts();
        for (e, bit) in rig.engines().iter().zip([1 << 1, 1 << 25]) {
            let before = rig.rises();
            rig.run(*e, &[USER]);
            assert_eq!(rig.reg(0x20a4), bit, "{chip:?}");
            assert_eq!(rig.reg(0x20ac), 0, "the status falls again");
            assert!(rig.level());
            assert_eq!(rig.rises(), before + 1);
            rig.set(0x20a4, bit);
            assert!(!rig.level());
            assert_eq!(rig.reg(0x20a4), 0);
        }
        rig.clean();
    }
}

#[test]
fn masked_and_disabled_interrupts() {
    // 5.6: IMR keeps it from IIR, IER from the line.
    let rig = Rig::new(&G45);
    rig.set(0x20a0, 1 << 1);
    rig.run(RCS, &[USER]);
    assert_eq!((rig.reg(0x20a4), rig.level()), (0, false));
    // The edge has passed: opening the mask brings nothing back.
    rig.set(0x20a8, 0);
    assert_eq!(rig.reg(0x20a4), 0);
    rig.set(0x20a0, 0);
    rig.run(RCS, &[USER]);
    assert_eq!((rig.reg(0x20a4), rig.level()), (2, false));
    rig.set(0x20a0, 1 << 1);
    assert!(rig.level(), "a level");
    rig.clean();
}

#[test]
fn a_second_event_is_kept() {
    // G-14: "can queue two events".
    let rig = Rig::new(&GM965);
    rig.unmask_interrupts();
    rig.run(RCS, &[USER, USER, USER]);
    rig.set(0x20a4, 2);
    assert_eq!(rig.reg(0x20a4), 2, "the second");
    assert!(rig.level());
    rig.set(0x20a4, 2);
    assert_eq!((rig.reg(0x20a4), rig.level()), (0, false));
    rig.clean();
}

#[test]
fn status_changes_are_written_to_the_page() {
    // 5.5: any change of an unmasked bit writes all of ISR to dword 0.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.put(STATUS, &[0xdead]);
        rig.run(RCS, &[USER]);
        assert_eq!(rig.at(STATUS), 0xdead, "masked");
        rig.set(0x2098, !(1 << 1));
        rig.run(RCS, &[USER]);
        assert_eq!(rig.at(STATUS), 0, "what it was after the pulse");
        rig.clean();
    }
}

#[test]
fn sync_flush() {
    // 5.3.11.2: INSTPM bit 5 (G-11) clears itself, ISR bit 12 (G-13) toggles, and dword 0 shows it.
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.set(0x2098, !(1 << 12));
        rig.set(0x20c0, 0x0020_0020);
        assert_eq!(rig.reg(0x20c0), 0);
        assert_eq!(rig.at(STATUS), 1 << 12);
        rig.set(0x20c0, 0x0020_0020);
        assert_eq!(rig.at(STATUS), 0);
        rig.clean();
        // 5.4.3: not as an interrupt.
        rig.set(0x20a0, 1 << 12);
        assert_eq!(rig.gpu.lint_count(Rule::SyncStatusEnabled), 1);
    }
}

#[test]
fn rules_of_rings() {
    // 5.3.4.2, 5.3.4.5.
    let rig = Rig::new(&G45);
    rig.submit(RCS, &[0, 0]);
    rig.set(0x203c, 0);
    assert_eq!(rig.gpu.lint_count(Rule::DisabledNonEmpty), 1);
    let rig = Rig::new(&G45);
    rig.set(0x2034, 0x20);
    rig.set(0x2030, 0x10);
    assert_eq!(rig.gpu.lint_count(Rule::HeadAboveTail), 1);
    // "The wrap should only occur between commands."
    let rig = Rig::new(&G45);
    rig.set(0x203c, 0);
    rig.set(0x2034, 0xff8);
    rig.set(0x2030, 0xff8);
    rig.set(0x203c, 1);
    rig.run(RCS, &[STORE, 0, 0x8_0000, 7]);
    assert_eq!(
        (rig.at(0x8_0000), rig.gpu.lint_count(Rule::CommandWraps)),
        (7, 1)
    );
    // 5.3.4.3: uncached main memory.
    let rig = Rig::new(&G45);
    rig.gpu.gtt_write(RING >> 12, RING | 7);
    rig.run(RCS, &[USER]);
    assert!(rig.gpu.lint_count(Rule::SnoopedStream) > 0);
}

#[test]
fn a_wrap_is_counted() {
    // 5.3.4.2: the wrap count is incremented whenever the head comes back to the start.
    let rig = Rig::new(&GM45);
    rig.set(0x203c, 0);
    rig.set(0x2034, 0xff0);
    rig.set(0x2030, 0xff0);
    rig.set(0x203c, 1);
    rig.run(RCS, &[0, 0, 0, 0, 0, 0]);
    assert_eq!(rig.reg(0x2034), 0x0020_0008);
    rig.clean();
}

#[test]
fn a_pending_head() {
    // 1.2, 5.3.7.5: UHPTR 2134h (G-17).
    let rig = Rig::new(&G45);
    rig.put(RING + 0x100, &[STORE, 0, TARGET, 5]);
    rig.set(0x2134, 0x101);
    rig.submit(RCS, &[0x0280_0000, 0]);
    rig.set(0x2030, 0x110);
    rig.settle();
    assert_eq!(rig.at(TARGET), 5);
    assert_eq!(rig.reg(0x2134) & 1, 0);
    assert_eq!(rig.reg(0x2034), 0x110);
    rig.clean();
}

#[test]
fn an_unknown_command_stops_the_streamer() {
    // 5.7.1: a Command Error; EIR bit 0 (G-15), the header in IPEHR. Only a reset helps (5.3.7.6).
    for chip in ALL {
        let rig = Rig::new(chip);
        rig.unmask_interrupts();
        rig.set(0x20b4, 0);
        rig.submit(RCS, &[0x1f80_0000, 0, STORE, 0, TARGET, 7]);
        rig.gpu.run_until_idle(100);
        assert_eq!(rig.reg(0x2068), 0x1f80_0000);
        assert_eq!(rig.reg(0x20b0), 1);
        assert_eq!(rig.reg(0x20a4), 1 << 15);
        assert_eq!(rig.at(TARGET), 0);
        assert_eq!(rig.gpu.step(RCS), StepResult::Stopped);
    }
    // 2.13: the video engine has fewer commands.
    let rig = Rig::new(&G45);
    rig.set(0x20b4, 0);
    rig.submit(VCS, &[0x0c00_0000, 0]);
    rig.gpu.run_until_idle(100);
    assert_eq!(rig.gpu.step(VCS), StepResult::Stopped);
    assert_eq!((rig.reg(0x20b0), rig.reg(0x4068)), (1, 0x0c00_0000));
}

#[test]
fn a_hang_shows_where() {
    // GW05 to GW09: HEAD behind the start, ACTHD at the next command, BBADDR the same with bits 1:0 set, DMA_FADD
    // eight lines ahead, EIR zero.
    let rig = Rig::new(&GM45);
    rig.put(BATCH, &[0, 0x0280_0000, 0x0280_0000, END]);
    rig.gpu.inject("hang@3".parse().expect("a fault"));
    rig.submit(RCS, &[START_NS, BATCH]);
    rig.gpu.run_until_idle(100);
    assert_eq!(rig.reg(0x2034), 8);
    assert_eq!(rig.reg(0x2074), BATCH + 8);
    assert_eq!(rig.reg(0x2140), (BATCH + 8) | 3);
    assert_eq!(rig.reg(0x2078), BATCH + 8 * 64);
    assert_eq!((rig.reg(0x20b0), rig.reg(0x2024)), (0, 0));
    assert_eq!(rig.reg(0x206c) & 1, 0, "INSTDONE");
}

#[test]
fn time_stamps() {
    // G-40: on G45 the upper dword ticks every 1024 ns.
    let rig = Rig::new(&G45);
    rig.gpu.clock().advance_to(10 * 1024);
    assert_eq!(rig.reg(0x235c), 10);
    assert_eq!(rig.reg(0x2358) & 0xf_ffff, 0);
    rig.clean();
}
