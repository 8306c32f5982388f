// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Every drawing command with every raster operation at every depth, against the document's truth table evaluated bit
//! by bit (G45 PRM V1b §8.2.1.3).

use std::collections::BTreeSet;

use crate::blt_support::reference::{ordinary, DRAWING};
use crate::blt_support::{header, xy, Ram, GEN6};
use gpu_model::blt::{execute, BltState, COMMANDS};

/// Bits of P, S and D that meet in one byte in all eight ways, most significant index first: the result byte is the
/// code itself (§8.2.1.3: the codes are the truth table).
#[test]
fn code_is_the_result_of_the_three_standard_operands() {
    for depth in 0..4u32 {
        let pixel = [1usize, 2, 2, 4][depth as usize];
        for code in 0..=255u8 {
            let mut ram = Ram::new(0x1000);
            ram.put(0x100, &[0xaa; 8]); // destination
            ram.put(0x200, &[0xcc; 8]); // source
            ram.put(0x400, &[0xf0; 256]); // pattern
            let full = [
                header(0x55, 3 << 20, 9),
                depth << 24 | u32::from(code) << 16 | 8,
                xy(0, 0),
                xy(8 / pixel as i32, 1),
                0x100,
                8,
                xy(0, 0),
                0x200,
                0x400,
            ];
            execute(&full, &mut BltState::default(), &mut ram, &GEN6).unwrap();
            assert_eq!(
                ram.at(0xff, 10),
                [[0].as_slice(), &[code; 8], &[0]].concat(),
                "{code:#04x}"
            );
        }
    }
}

/// Operands that the code does not depend on are not read (§8.2.1.3).
#[test]
fn unused_operands_are_not_read() {
    for (code, read) in [
        (0x00, 0),
        (0xff, 0),
        (0xcc, 8),       // source: one line of 8 bytes
        (0xaa, 8),       // destination
        (0x66, 16),      // source and destination
        (0xf0, 64),      // pattern: 8 x 8 pixels of a byte
        (0xc0, 64 + 8),  // pattern and source
        (0xb8, 64 + 16), // all
    ] {
        let mut ram = Ram::new(0x1000);
        let full = [
            header(0x55, 3 << 20, 9),
            code << 16 | 8,
            0,
            xy(8, 1),
            0x100,
            8,
            0,
            0x200,
            0x400,
        ];
        let stats = execute(&full, &mut BltState::default(), &mut ram, &GEN6).unwrap();
        assert_eq!(stats.bytes_read, read, "{code:#04x}");
        assert_eq!(stats.bytes_written, 8, "{code:#04x}");
    }
}

#[test]
fn every_command_with_every_operation_at_every_depth() {
    let memory = Ram::noise(0x10000, 99);
    let mut commands = BTreeSet::new();
    let mut depths = BTreeSet::new();
    let mut cases = 0;
    for opcode in DRAWING {
        for depth in 0..4 {
            depths.insert(depth);
            for code in 0..=255u8 {
                for variant in 0..2 {
                    let mut draw = ordinary(opcode, depth, code);
                    draw.mono_setup = variant == 1;
                    draw.clip = (variant == 1).then_some((3, 3, 10, 6));
                    let mut expected = memory.clone();
                    draw.reference(&mut expected);
                    let mut ram = memory.clone();
                    let mut state = BltState::default();
                    for cmd in draw.encode() {
                        commands.insert(cmd[0] >> 22 & 0x7f);
                        execute(&cmd, &mut state, &mut ram, &GEN6).unwrap();
                    }
                    assert!(
                        ram.bytes == expected.bytes,
                        "opcode {opcode:#x} depth {depth} code {code:#04x} variant {variant}: {}",
                        difference(&ram, &expected)
                    );
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 23 * 4 * 256 * 2);
    assert_eq!(commands.len(), COMMANDS, "setup commands included");
    println!(
        "cover: blt {} commands x 256 rops x {} depths",
        commands.len(),
        depths.len()
    );
}

fn difference(ram: &Ram, expected: &Ram) -> String {
    let at = ram
        .bytes
        .iter()
        .zip(&expected.bytes)
        .position(|(a, b)| a != b)
        .unwrap();
    format!(
        "at {at:#x}: {:02x}, expected {:02x}",
        ram.bytes[at], expected.bytes[at]
    )
}
