// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The card as a driver finds it: configuration space, BIOS image, registers that must have a
//! meaning, memory ranges, the GART (digest §5).

use crate::r5xx_rig::{config, Rig, GTT, TABLE};
use gpu_model::counters::Counter;
use gpu_model::model::GpuModel;
use gpu_model::r5xx::Rule;

fn config_dword(rig: &Rig, offset: u64) -> u32 {
    let mut b = [0; 4];
    rig.gpu.config_read(offset, &mut b);
    u32::from_le_bytes(b)
}

/// §5.1: ids; class 0380; BAR0 memory, BAR2 registers of 64 KB, an I/O BAR, a ROM.
#[test]
fn configuration_space() {
    for (name, id) in [
        ("rv515", 0x7140),
        ("rv530", 0x71c0),
        ("r520", 0x7100),
        ("r580", 0x7240),
    ] {
        let rig = Rig::bare(config(name));
        assert_eq!(config_dword(&rig, 0), id << 16 | 0x1002, "{name}");
        assert_eq!(config_dword(&rig, 8) >> 8, 0x03_8000, "{name}");
        for (bar, sized) in [
            (0x10, 0xff00_000c),
            (0x18, 0xffff_0004),
            (0x20, 0x0000_ff01),
            (0x30, 0xffff_f801),
        ] {
            rig.gpu.config_write(bar, &[0xff; 4]);
            assert_eq!(config_dword(&rig, bar), sized, "{name} {bar:#x}");
        }
    }
}

/// Ids of the capabilities, in their order.
fn capabilities(rig: &Rig) -> Vec<u8> {
    let mut at = config_dword(rig, 0x34) & 0xff;
    let mut ids = Vec::new();
    while at != 0 {
        let word = config_dword(rig, at.into());
        ids.push(word as u8);
        at = word >> 8 & 0xff;
    }
    ids
}

/// §5.1: without a PCI Express capability a driver enables no GART. MSI can be left out.
#[test]
fn capability_list() {
    let rig = Rig::bare(config("r520"));
    assert_eq!(capabilities(&rig), [0x01, 0x10, 0x05, 0x09]);
    assert!(rig.gpu.has_msi());
    let mut cfg = config("r520");
    cfg.msi = false;
    let rig = Rig::bare(cfg);
    assert_eq!(capabilities(&rig), [0x01, 0x10, 0x09]);
    assert!(!rig.gpu.has_msi());
}

/// The signature, the sum, and who made it, through the ROM's BAR.
#[test]
fn the_rom_is_readable() {
    let rig = Rig::bare(config("r580"));
    let mut image = [0; 2048];
    rig.gpu.bar_read(6, 0, &mut image);
    assert_eq!(image[..2], [0x55, 0xaa]);
    assert_eq!(&image[0x84..0x88], b"ATOM");
    assert_eq!(image.iter().fold(0u8, |s, b| s.wrapping_add(*b)), 0);
    rig.gpu.bar_write(6, 0, &[0; 4]);
    rig.gpu.bar_read(6, 0, &mut image[..4]);
    assert_eq!(image[..2], [0x55, 0xaa], "read-only");
}

/// §5.5, numbers 2, 5, 10, 12: idle, fuses, sizes, displays off.
#[test]
fn what_a_driver_reads_first() {
    for (name, pipes) in [
        ("rv515", 0x100),
        ("rv530", 0x100),
        ("r520", 0x3f00),
        ("r580", 0x3f00),
    ] {
        let rig = Rig::bare(config(name));
        for (offset, expected) in [
            (0x0e40, 0x1000_0140),
            (0x402c, pipes),
            (0x00f8, 16 << 20),
            (0x0108, 8 << 20),
            (0x6080, 0),
            (0x6880, 0),
            (0x0740, 0),
            (0x0704, 0),
            (0x0770, 0),
        ] {
            assert_eq!(rig.reg(offset), expected, "{name} {offset:#06x}");
        }
        rig.clean();
    }
}

/// §5.2: the two layouts of the memory controller; bit 23 of the index makes a write.
#[test]
fn memory_controllers_differ() {
    for (name, location, status, idle) in [
        ("rv515", 0x01, 0x08, 1 << 4),
        ("rv530", 0x04, 0x00, 1 << 1),
        ("r520", 0x04, 0x00, 1 << 1),
        ("r580", 0x04, 0x00, 1 << 1),
    ] {
        let rig = Rig::bare(config(name));
        assert_eq!(rig.mc(status) & idle, idle, "{name}");
        // 15:0 first, 31:16 last 64 KB: 16 MB at 0.
        assert_eq!(rig.mc(location), 0x00ff_0000, "{name}");
        rig.set_mc(location, 0x10ff_1000);
        assert_eq!(rig.mc(location), 0x10ff_1000, "{name}");
        rig.set(0x70, 0x7f_0000 | location);
        rig.set(0x74, 0);
        assert_eq!(rig.mc(location), 0x10ff_1000, "{name}: no write bit");
        rig.clean();
    }
}

/// §5.5, number 1: the PLL's index is written as a byte; bit 7 lets the data be written.
#[test]
fn pll_by_bytes() {
    let rig = Rig::bare(config("rv515"));
    rig.gpu.bar_write(2, 0x08, &[0x80 | 0x0f]);
    rig.set(0x0c, 0x1234_5678);
    rig.gpu.bar_write(2, 0x08, &[0x0f]);
    rig.set(0x0c, 0);
    assert_eq!(rig.reg(0x0c), 0x1234_5678);
    rig.gpu.bar_write(2, 0x08, &[0x0d]);
    assert_eq!(rig.reg(0x0c), 0);
    rig.clean();
    rig.gpu.bar_write(2, 0x10, &[1]);
    assert_eq!(rig.gpu.lint_count(Rule::BadAccess), 1);
}

/// §5.1: MM_INDEX reaches registers, and with bit 31 video memory, through the I/O ports as well.
#[test]
fn mm_index() {
    let rig = Rig::bare(config("rv515"));
    rig.put(0x4000, &[0xcafe_f00d]);
    rig.gpu.bar_write(4, 0, &0x8000_4000u32.to_le_bytes());
    let mut b = [0; 4];
    rig.gpu.bar_read(4, 4, &mut b);
    assert_eq!(u32::from_le_bytes(b), 0xcafe_f00d);
    rig.gpu.bar_write(4, 4, &7u32.to_le_bytes());
    assert_eq!(rig.at(0x4000), 7);
    rig.set(0, 0x15e0);
    rig.set(4, 0xdead_beef);
    assert_eq!(rig.reg(0x15e0), 0xdead_beef);
    rig.clean();
}

/// §5.5, number 13, but said out loud.
#[test]
fn an_undocumented_register_is_reported() {
    let rig = Rig::bare(config("rv515"));
    rig.set(0x0038, 1);
    assert_eq!(rig.reg(0x0038), 0);
    assert_eq!(rig.gpu.undocumented(), [(0x38, 1, 1)]);
    assert!(rig.gpu.strict_failure());
}

/// §4.4: an entry's address, and that entries without permission are as if unmapped: reads give what
/// lies at the discard address, writes are lost, the first is kept in the error register.
#[test]
fn gart_entries() {
    let rig = Rig::new();
    rig.clean();
    // The first page of the range is the ring's; give it another.
    rig.put_guest(0x8_0000, &[0x1111_2222]);
    rig.map(5, 0x8_0000);
    rig.flush_gart();
    // Scratch 0 is mirrored to a page that leads there.
    rig.set(0x774, GTT + 0x5000);
    rig.set(0x15e0, 0x77);
    assert_eq!(rig.guest(0x8_0000), 0x77);
    rig.clean();
    // Unsnooped, neither readable nor writeable: the dummy of the digest.
    rig.set_entry(5, 0x0008_0001);
    rig.flush_gart();
    rig.set(0x15e0, 0x88);
    assert_eq!(rig.guest(0x8_0000), 0x77);
    assert_eq!(rig.gpu.lint_count(Rule::GartUnbound), 1);
    assert_eq!(rig.pcie(0x18) & !0xfff, GTT + 0x5000);
    rig.set_pcie(0x18, 0);
    assert_eq!(rig.pcie(0x18), 0);
}

/// Translations are kept until bit 8 of TX_GART_CNTL says otherwise.
#[test]
fn gart_translations_are_kept() {
    let rig = Rig::new();
    rig.set(0x774, GTT + 0x5000);
    rig.set(0x15e0, 1);
    rig.map(5, 0x8_0000);
    rig.set(0x15e0, 2);
    assert_eq!((rig.guest(0x5000), rig.guest(0x8_0000)), (2, 0));
    rig.flush_gart();
    rig.set(0x15e0, 3);
    assert_eq!((rig.guest(0x5000), rig.guest(0x8_0000)), (2, 3));
    assert!(rig.gpu.counter(Counter::TlbFlushes) >= 3);
    rig.clean();
}

/// Out of the range, and with the GART off: the access reaches nothing, and is reported.
#[test]
fn addresses_of_nothing() {
    let rig = Rig::new();
    rig.set(0x774, 0x7000_0000);
    rig.set(0x15e0, 1);
    assert_eq!(rig.gpu.lint_count(Rule::Unmapped), 1);
    rig.set_pcie(0x10, 0);
    rig.set(0x774, GTT);
    rig.set(0x15e0, 1);
    assert_eq!(rig.gpu.lint_count(Rule::Unmapped), 2);
    assert_eq!(rig.guest(0), 0);
}

/// The table's last page is its end (trap 8).
#[test]
fn the_end_is_the_last_page() {
    let rig = Rig::new();
    rig.set(0x774, GTT + 0xf_f000);
    rig.set(0x15e0, 9);
    assert_eq!(rig.guest(0xf_f000), 9);
    rig.set_pcie(0x16, GTT + 0xf_e000);
    rig.flush_gart();
    rig.set(0x15e0, 10);
    assert_eq!(rig.guest(0xf_f000), 9);
    assert_eq!(rig.gpu.lint_count(Rule::Unmapped), 1);
}

/// Video memory is where MC_FB_LOCATION says, and no larger than it is.
#[test]
fn video_memory_moves() {
    let mut cfg = config("rv515");
    cfg.vram = 8 << 20;
    cfg.aperture = 8 << 20;
    let rig = Rig::bare(cfg);
    rig.set_mc(0x01, 0x10ff_1000);
    rig.set(0x770, 1);
    rig.set(0x774, 0x1000_2000);
    rig.set(0x15e0, 0x55);
    assert_eq!(rig.at(0x2000), 0x55);
    rig.clean();
    // Sixteen megabytes are announced, eight are there.
    rig.set(0x774, 0x1080_0000);
    rig.set(0x15e0, 0x66);
    assert_eq!(rig.gpu.lint_count(Rule::BeyondVram), 1);
    assert_eq!(rig.at(0), 0);
}

/// The table must lie in video memory.
#[test]
fn a_table_outside_translates_nothing() {
    let rig = Rig::new();
    rig.set_pcie(0x13, GTT);
    rig.flush_gart();
    rig.set(0x15e0, 1);
    assert_eq!(rig.gpu.lint_count(Rule::TableOutside), 1);
    rig.set_pcie(0x13, TABLE as u32);
    rig.flush_gart();
    rig.set(0x15e0, 2);
    assert_eq!(rig.guest(0x1000), 2);
}

#[test]
fn a_card_that_was_pulled_reads_all_ones() {
    let rig = Rig::new();
    rig.gpu.remove();
    assert_eq!(rig.reg(0x0e40), !0);
    assert_eq!(rig.at(0), !0);
    assert_eq!(config_dword(&rig, 0), !0);
    // The test capability's bit 3 puts it back, as after power-on.
    rig.gpu.config_write(0xc4, &8u32.to_le_bytes());
    assert_eq!(config_dword(&rig, 0), 0x7140_1002);
    assert_eq!(rig.reg(0x0740), 0);
}

/// Guest memory is out of reach while bus mastering is off.
#[test]
fn bus_mastering_is_obeyed() {
    let mut cfg = config("rv515");
    cfg.watch_bus_master = true;
    let rig = Rig::with(cfg);
    rig.set(0x15e0, 1);
    assert_eq!(rig.guest(0x1000), 0);
    assert_eq!(rig.gpu.lint_count(Rule::NoBusMaster), 1);
    rig.gpu.config_write(4, &[6, 0]);
    rig.set(0x15e0, 2);
    assert_eq!(rig.guest(0x1000), 2);
}
