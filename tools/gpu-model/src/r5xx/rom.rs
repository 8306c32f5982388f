// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A BIOS image of the model's own, as small as a driver can live with (digest §5.6).
//!
//! A driver for these chips wants an ATOM BIOS: a signature, the tables' directory, the clocks. This
//! one has that and no code: its command tables end at once, and its entry point returns. The card
//! presents itself as posted (CONFIG_MEMSIZE is not zero), so nothing needs to be run.

use super::chip::Chip;

/// Size of the image.
pub const SIZE: usize = 2048;

/// Offset of the PCI data structure; its device id is at 6.
const PCIR: usize = 0x60;
/// ROM header with the signature "ATOM" at 4, and the offsets of what follows.
const HEADER: usize = 0x80;
/// Name shown to people.
const NAME: usize = 0xb0;
/// Master command table: header, then offsets by command.
const COMMANDS: usize = 0xc0;
/// Master data table: header, then offsets by table.
const DATA: usize = 0x180;
/// Firmware info table, version 1.1.
const FIRMWARE: usize = 0x200;
/// Indirect I/O table: empty.
const INDIRECT_IO: usize = 0x290;
/// A command table that ends at once.
const NOTHING: usize = 0x2a0;

/// Position of a table in the master tables.
const fn slot(master: usize, number: usize) -> usize {
    master + 4 + 2 * number
}

/// Header of a table: its size, format and content revision 1.
fn table(rom: &mut [u8; SIZE], at: usize, size: u16) {
    put16(rom, at, size);
    put16(rom, at + 2, 0x0101);
}

fn put16(rom: &mut [u8; SIZE], at: usize, value: u16) {
    put(rom, at, &value.to_le_bytes());
}

fn put32(rom: &mut [u8; SIZE], at: usize, value: u32) {
    put(rom, at, &value.to_le_bytes());
}

fn put(rom: &mut [u8; SIZE], at: usize, bytes: &[u8]) {
    if let Some(to) = rom.get_mut(at..at + bytes.len()) {
        to.copy_from_slice(bytes);
    }
}

/// The image of a chip.
pub fn image(chip: &Chip) -> [u8; SIZE] {
    let mut rom = [0; SIZE];
    // Signature, size in units of 512 bytes, entry point: RETF.
    put(&mut rom, 0, &[0x55, 0xaa, 0x04, 0xcb]);
    put16(&mut rom, 0x18, PCIR as u16);
    put(&mut rom, 0x30, b" 761295520");
    put16(&mut rom, 0x48, HEADER as u16);

    put(&mut rom, PCIR, b"PCIR");
    put16(&mut rom, PCIR + 4, 0x1002);
    put16(&mut rom, PCIR + 6, chip.device_id);
    put16(&mut rom, PCIR + 0x0a, 0x18);
    put(&mut rom, PCIR + 0x0e, &[0x80, 0x03]);
    put16(&mut rom, PCIR + 0x10, 0x04);
    // Bit 7: no image after this one.
    put(&mut rom, PCIR + 0x15, &[0x80]);

    table(&mut rom, HEADER, 0x24);
    put(&mut rom, HEADER + 4, b"ATOM");
    put16(&mut rom, HEADER + 0x10, NAME as u16);
    put16(&mut rom, HEADER + 0x1e, COMMANDS as u16);
    put16(&mut rom, HEADER + 0x20, DATA as u16);
    put(&mut rom, NAME, b"SYNTHR5XX");

    table(&mut rom, COMMANDS, 0xa6);
    // ASIC_Init, EnableDispPowerGating, GetMemoryClock, GetEngineClock.
    for command in [0x00, 0x0d, 0x2f, 0x30] {
        put16(&mut rom, slot(COMMANDS, command), NOTHING as u16);
    }
    table(&mut rom, NOTHING, 7);
    // End of table.
    put(&mut rom, NOTHING + 6, &[0x5b]);

    table(&mut rom, DATA, 0x48);
    put16(&mut rom, slot(DATA, 4), FIRMWARE as u16);
    put16(&mut rom, slot(DATA, 23), INDIRECT_IO as u16);
    table(&mut rom, INDIRECT_IO, 8);

    table(&mut rom, FIRMWARE, 0x59);
    // Engine and memory clock: 500 MHz, in units of 10 kHz.
    put32(&mut rom, FIRMWARE + 8, 50_000);
    put32(&mut rom, FIRMWARE + 12, 50_000);
    // Highest PLL outputs: 1200 MHz.
    for pll in 0..3 {
        put32(&mut rom, FIRMWARE + 24 + 4 * pll, 120_000);
    }
    // Highest pixel clock: 400 MHz. Reference: 27 MHz.
    put16(&mut rom, FIRMWARE + 72, 40_000);
    put16(&mut rom, FIRMWARE + 82, 2_700);

    // All bytes sum to zero.
    let sum = rom.iter().fold(0u8, |s, b| s.wrapping_add(*b));
    put(&mut rom, SIZE - 1, &[sum.wrapping_neg()]);
    rom
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that digest §5.6 prints, zeros left out, with the id of an R520.
    const PRINTED: &[(usize, &[u8])] = &[
        (0x000, &[0x55, 0xaa, 0x04, 0xcb]),
        (0x018, &[0x60]),
        (
            0x030,
            &[0x20, 0x37, 0x36, 0x31, 0x32, 0x39, 0x35, 0x35, 0x32, 0x30],
        ),
        (0x048, &[0x80]),
        (0x060, &[0x50, 0x43, 0x49, 0x52, 0x02, 0x10]),
        (0x067, &[0x71]),
        (0x06a, &[0x18]),
        (0x06e, &[0x80, 0x03, 0x04]),
        (0x075, &[0x80]),
        (0x080, &[0x24]),
        (0x082, &[0x01, 0x01, 0x41, 0x54, 0x4f, 0x4d]),
        (0x090, &[0xb0]),
        (0x09e, &[0xc0]),
        (0x0a0, &[0x80, 0x01]),
        (
            0x0b0,
            &[0x53, 0x59, 0x4e, 0x54, 0x48, 0x52, 0x35, 0x58, 0x58],
        ),
        (0x0c0, &[0xa6]),
        (0x0c2, &[0x01, 0x01, 0xa0, 0x02]),
        (0x0de, &[0xa0, 0x02]),
        (0x122, &[0xa0, 0x02, 0xa0, 0x02]),
        (0x180, &[0x48]),
        (0x182, &[0x01, 0x01]),
        (0x18d, &[0x02]),
        (0x1b2, &[0x90, 0x02]),
        (0x200, &[0x59]),
        (0x202, &[0x01, 0x01]),
        (0x208, &[0x50, 0xc3]),
        (0x20c, &[0x50, 0xc3]),
        (0x218, &[0xc0, 0xd4, 0x01]),
        (0x21c, &[0xc0, 0xd4, 0x01]),
        (0x220, &[0xc0, 0xd4, 0x01]),
        (0x248, &[0x40, 0x9c]),
        (0x252, &[0x8c, 0x0a]),
        (0x290, &[0x08]),
        (0x292, &[0x01, 0x01]),
        (0x2a0, &[0x07]),
        (0x2a2, &[0x01, 0x01]),
        (0x2a6, &[0x5b]),
        (0x7ff, &[0x4a]),
    ];

    #[test]
    fn the_image_is_the_printed_one() {
        let mut expected = [0; SIZE];
        for (at, bytes) in PRINTED {
            expected[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        let chip = Chip::named("r520").expect("a chip");
        assert_eq!(image(chip), expected);
    }

    #[test]
    fn every_chip_has_its_id_and_a_sum_of_zero() {
        for (name, id) in [
            ("rv515", 0x7140),
            ("rv530", 0x71c0),
            ("r520", 0x7100),
            ("r580", 0x7240),
        ] {
            let rom = image(Chip::named(name).expect("a chip"));
            assert_eq!(u16::from_le_bytes([rom[0x66], rom[0x67]]), id, "{name}");
            assert_eq!(rom.iter().fold(0u8, |s, b| s.wrapping_add(*b)), 0, "{name}");
        }
    }
}
