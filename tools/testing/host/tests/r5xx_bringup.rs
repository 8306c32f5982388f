// SPDX-License-Identifier: GPL-2.0
//! R5xx: the backend against the modelled cards, from power-on to the first request.
//!
//! The cards have all habits of real ones (`gpu_model::r5xx::Real`): they forget in a reset of the memory
//! controller, want the bus off meanwhile and waits between the steps of the pipes' set-up, and have what
//! firmware leaves.

use gpu_model::{
    counters::Counter,
    fault::{Fault, Kind},
    model::GpuModel,
    r5xx::Rule,
};
use ouro_cross::{
    r5xx_machine::{config, Job},
    R5xxMachine,
};
use ouro_hw::{generation::DeviceError, types::Seqno, Platform};

const CHIPS: [&str; 4] = ["rv515", "rv530", "r520", "r580"];

const NOTHING: Job<'static> = Job {
    client: 0,
    batch: None,
    inline: &[],
};

#[test]
fn every_family_comes_up_and_answers() {
    for name in CHIPS {
        let mut card = R5xxMachine::new(name);
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(1), "{name}");
        card.assert_lawful();
    }
}

#[test]
fn it_is_what_the_model_says() {
    // The model's default: 16 MiB, all of them in sight. The first 516 KiB are the table and the page of
    // zeros.
    for name in CHIPS {
        let card = R5xxMachine::new(name);
        let local = card.topo.local.unwrap();
        let usable = (16 << 20) - (512 << 10) - 4096;
        assert_eq!((local.size, local.cpu_visible), (usable, usable), "{name}");
        assert_eq!(card.topo.gtt_entries, 128 * 1024);
        assert_eq!(card.chip.generation.name(), "r5xx");
    }
}

#[test]
fn a_part_of_the_memory_may_be_out_of_sight() {
    let mut small = config("rv515");
    small.vram = 32 << 20;
    small.aperture = 16 << 20;
    let card = R5xxMachine::with(small);
    let local = card.topo.local.unwrap();
    assert_eq!(local.size - local.cpu_visible, 16 << 20);
    card.assert_lawful();
}

#[test]
fn one_posted_write_starts_a_request_and_no_register_is_read() {
    let mut card = R5xxMachine::new("rv515");
    card.work(&NOTHING);
    let count = |card: &R5xxMachine| {
        [Counter::RegReads, Counter::RegWrites, Counter::WptrWrites].map(|c| card.gpu.counter(c))
    };
    let before = count(&card);
    for _ in 0..5 {
        card.work(&NOTHING);
    }
    let after = count(&card);
    assert_eq!(after[0] - before[0], 0, "reads");
    assert_eq!((after[1] - before[1], after[2] - before[2]), (5, 5));
}

#[test]
fn the_ring_goes_round() {
    let mut card = R5xxMachine::new("rv515");
    // 256 KiB; each request is 32 dwords at least.
    for _ in 0..3000 {
        card.work(&NOTHING);
    }
    assert_eq!(card.done(), Seqno(3000));
    card.assert_lawful();
}

#[test]
fn bring_up_again_and_again() {
    let mut card = R5xxMachine::new("r520");
    for n in 1..=3 {
        card.start().unwrap();
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(n));
    }
    card.assert_lawful();
}

#[test]
fn a_card_that_is_gone_is_found_out() {
    let mut card = R5xxMachine::new("rv515");
    card.gpu.remove();
    assert_eq!(card.start(), Err(DeviceError::Gone));
    assert_eq!(card.reset(), Err(DeviceError::Gone));
    card.submit(&NOTHING);
    card.run();
    assert_eq!(card.done(), Seqno(0));
    assert!(!card.interrupt().ours);
}

#[test]
fn a_hang_is_cured_by_a_reset() {
    for name in CHIPS {
        let mut card = R5xxMachine::new(name);
        card.work(&NOTHING);
        card.gpu.inject(Fault::once(Kind::Hang).on("cp"));
        card.submit(&NOTHING);
        card.run();
        assert_eq!(card.done(), Seqno(1), "{name}");
        let activity = card.engine().activity(&card.windows.hw());
        assert!(!activity.idle && activity.head != activity.tail, "{name}");
        card.reset().unwrap();
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(3), "{name}");
        card.assert_lawful();
    }
}

/// Whether bit 2 of the command register lets it be master of the bus.
fn is_master(card: &R5xxMachine) -> bool {
    card.windows.board.config32(4) & 1 << 2 != 0
}

/// What the table says of switching itself on: register 10 behind PCIE_INDEX, bit 0 (digest §5.2).
fn table_is_on(card: &R5xxMachine) -> bool {
    card.gpu.mmio_write32(0x30, 0x10);
    card.gpu.mmio_read32(0x34) & 1 != 0
}

fn always(kind: Kind) -> Fault {
    Fault {
        times: 0,
        ..Fault::once(kind)
    }
}

#[test]
fn a_card_that_is_not_posted_gets_no_table() {
    let gone = Err(DeviceError::Unsupported("card not posted by its firmware"));
    for name in CHIPS {
        // It sleeps, and nobody runs its firmware when it wakes.
        let mut card = R5xxMachine::new(name);
        card.work(&NOTHING);
        card.gpu.inject(Fault::once(Kind::Unposted));
        card.gpu.reset();
        card.gpu.config_write(4, &[6, 0]);
        assert_eq!(card.resume(), gone, "{name}");
        assert_eq!(card.start(), gone, "{name}");
        assert!(!table_is_on(&card), "{name}");
        assert_eq!(card.gpu.counter(Counter::Resets), 0, "{name}");
        card.assert_lawful();
        // Neither is it another one for those who look at it for the first time.
        let found = card.chip.generation.probe(&card.windows.hw(), card.chip);
        assert_eq!(found.err(), gone.err(), "{name}");
    }
}

#[test]
fn a_card_that_is_posted_comes_out_of_sleep() {
    for name in CHIPS {
        let mut card = R5xxMachine::new(name);
        card.work(&NOTHING);
        card.gpu.reset();
        card.gpu.config_write(4, &[6, 0]);
        card.resume().unwrap();
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(2), "{name}");
        card.assert_lawful();
    }
}

#[test]
fn it_is_no_master_of_the_bus_until_its_table_is_proved() {
    let mut card = R5xxMachine::stopped(config("rv515")).unwrap();
    assert!(!is_master(&card) && !table_is_on(&card));
    card.start().unwrap();
    assert!(is_master(&card) && table_is_on(&card));
    // The bus is off while it is reset, and stays so until it is started again.
    let generation = card.chip.generation;
    let all = ouro_hw::ResetScope::All;
    generation
        .reset(&card.windows.hw(), all, &card.time)
        .unwrap();
    assert!(!is_master(&card));
    card.start().unwrap();
    assert!(is_master(&card));
    card.assert_lawful();
}

#[test]
fn entries_that_are_written_do_not_switch_the_table_on() {
    let card = R5xxMachine::stopped(config("r520")).unwrap();
    card.chip.generation.gtt_flush(&card.windows.hw());
    assert!(!table_is_on(&card));
}

#[test]
fn what_a_reset_forgets_is_told_again() {
    for name in CHIPS {
        let mut card = R5xxMachine::new(name);
        let local = card.local(4096);
        card.put(local, 0, &[0x1234_5678]);
        card.gpu.inject(Fault::once(Kind::Hang).on("cp"));
        card.submit(&NOTHING);
        card.run();
        // The memory controller says that it is busy, and is reset as well: with it the table's place is
        // forgotten, and where memory is.
        card.gpu.inject(always(Kind::BusyMc));
        let before = card.gpu.counter(Counter::Resets);
        card.reset().unwrap();
        // VAP and GA, CP, MC.
        assert_eq!(card.gpu.counter(Counter::Resets) - before, 3, "{name}");
        card.work(&NOTHING);
        assert_eq!(card.done(), Seqno(2), "{name}");
        assert_eq!(card.dword(local, 0), 0x1234_5678, "{name}");
        card.assert_lawful();
    }
}

#[test]
fn a_memory_controller_that_is_never_idle_is_told_of() {
    let mut card = R5xxMachine::stopped(config("r520")).unwrap();
    card.gpu.inject(always(Kind::BusyMc));
    card.start().unwrap();
    card.work(&NOTHING);
    let warned = card.windows.board.warned.lock().unwrap();
    assert_eq!(warned[0], "memory controller not idle in time (MC_STATUS)");
    drop(warned);
    card.assert_lawful();
}

#[test]
fn what_firmware_left_does_not_reach_the_table() {
    // Surface 0 is on over the table; text modes have memory at address 0. Taken over by somebody else again
    // and again, there is nothing new to find.
    for name in CHIPS {
        let mut card = R5xxMachine::new(name);
        assert_eq!(card.gpu.mmio_read32(0xb0c), 0, "{name}");
        for rule in [Rule::TableInSurface, Rule::VgaMemory] {
            assert_eq!(card.gpu.lint_count(rule), 0, "{name}");
        }
        card.work(&NOTHING);
    }
}

#[test]
fn events_of_others_are_not_ours() {
    let mut card = R5xxMachine::new("rv515");
    // Bits 0 and 19 of GEN_INT_STATUS are there, and nothing clears them.
    assert_eq!(card.gpu.mmio_read32(0x44) & 0x8_0001, 0x8_0001);
    assert!(!card.interrupt().ours);
    card.arm(true);
    assert!(!card.interrupt().ours);
    card.work(&NOTHING);
    assert!(card.interrupt().ours);
    assert!(!card.interrupt().ours);
    // Done, while nobody waits: latched, and the line is low.
    card.arm(false);
    card.work(&NOTHING);
    assert!(!card.line.level() && !card.interrupt().ours);
    card.arm(true);
    card.work(&NOTHING);
    assert!(card.interrupt().ours);
}

#[test]
fn a_message_on_its_way_does_not_end_all_messages() {
    // R520 has messages, one for each time that it is told that the last one came.
    let mut card = R5xxMachine::new("r520");
    card.gpu.config_write(0x82, &[1, 0]);
    card.arm(true);
    card.work(&NOTHING);
    let sent = card.line.messages();
    // Somebody saw the number, and waits no more, before the handler runs. It finds nothing.
    card.arm(false);
    card.arm(true);
    assert!(!card.interrupt().ours);
    card.work(&NOTHING);
    assert_eq!(card.line.messages(), sent + 1);
}
