// SPDX-License-Identifier: GPL-2.0 OR MIT
//! BLT commands in words, for traces.

use std::fmt::Write;

use super::opcode::{self, control, header, Command, Field, Immediate};
use super::Depth;

/// One line that says what a command is: its name, the header's switches, each operand with its register.
///
/// Takes anything: what is not a command, undefined, or cut short is said so.
pub fn decode(cmd: &[u32]) -> String {
    let Some(&first) = cmd.first() else {
        return "empty".into();
    };
    if opcode::length(first).is_none() {
        return format!("not a BLT command ({first:#010x})");
    }
    let Some(command) = Command::of(first) else {
        return format!(
            "undefined BLT opcode {:#04x} ({first:#010x})",
            opcode::opcode(first)
        );
    };
    let mut out = String::from(command.name);
    switches(command, first, &mut out);
    for (i, field) in command.fields.iter().enumerate() {
        let Some(&dword) = cmd.get(i + 1) else {
            out.push_str(" (cut short)");
            return out;
        };
        out.push(' ');
        operand(command, *field, dword, &mut out);
    }
    let rest = cmd.len().saturating_sub(command.dwords());
    match command.immediate {
        Immediate::None if rest == 0 => {}
        Immediate::None => append(&mut out, format_args!(" (and {rest} dwords more)")),
        Immediate::Source => append(&mut out, format_args!(" immediate source of {rest} dwords")),
        Immediate::Pattern => append(
            &mut out,
            format_args!(" immediate pattern of {rest} dwords"),
        ),
    }
    out
}

/// Appends; a string takes everything.
fn append(out: &mut String, args: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(args);
}

fn switches(command: &Command, dword: u32, out: &mut String) {
    let defined = command.header;
    let mut field = |mask: u32, name: &str| {
        if defined & mask == mask {
            append(
                out,
                format_args!(" {name}={}", (dword & mask) >> mask.trailing_zeros()),
            );
        }
    };
    field(header::MASK, "mask");
    if command.fields.contains(&Field::KeyLow) {
        field(header::KEY_MODE, "key");
    } else if command.opcode != 0x59 {
        field(header::BIT_POSITION, "bit");
    } else {
        field(header::FIXED_PATTERN, "fixed");
    }
    if command.fields.contains(&Field::SrcBase) {
        field(header::SRC_TILED, "src-tiled");
    }
    if matches!(command.opcode, 0x26 | 0x31) {
        field(header::BYTE_PACKED, "byte-packed");
    }
    field(header::DST_TILED, "dst-tiled");
    field(header::SEED_X, "seed-x");
    field(header::SEED_Y, "seed-y");
}

fn operand(command: &Command, field: Field, dword: u32, out: &mut String) {
    let (x, y) = (dword as i16, (dword >> 16) as i16);
    match field {
        Field::Control => {
            let depth = match Depth::of(dword) {
                Depth::Bpp8 => "8",
                Depth::Rgb565 => "565",
                Depth::Argb1555 => "1555",
                Depth::Argb8888 => "8888",
            };
            append(
                out,
                format_args!(
                    "depth={depth} rop={:02x} pitch={}",
                    (dword >> 16) as u8,
                    dword as i16
                ),
            );
            for (bit, name) in [
                (control::SOLID, " solid"),
                (
                    control::CLIP,
                    if command.opcode == 0x43 {
                        " right-to-left"
                    } else {
                        " clip"
                    },
                ),
                (control::SRC_TRANSPARENT, " src-transparent"),
                (control::PAT_TRANSPARENT, " pat-transparent"),
            ] {
                if command.control & dword & bit != 0 {
                    out.push_str(name);
                }
            }
        }
        Field::Size => append(
            out,
            format_args!("size={} bytes x {} lines", dword & 0xffff, dword >> 16),
        ),
        Field::DstFirst => append(out, format_args!("dst=({x},{y})")),
        Field::DstEnd => append(out, format_args!("end=({x},{y})")),
        Field::SrcFirst => append(out, format_args!("src=({x},{y})")),
        Field::ClipFirst => append(out, format_args!("clip=({x},{y})")),
        Field::ClipEnd => append(out, format_args!("clip-end=({x},{y})")),
        Field::SrcPitch => append(out, format_args!("src-pitch={x}")),
        other => append(out, format_args!("{}={dword:#010x}", name(other))),
    }
}

/// Name of an operand that is shown as a number.
const fn name(field: Field) -> &'static str {
    match field {
        Field::Control => "control",
        Field::Size => "size",
        Field::DstBase => "dst-base",
        Field::DstFirst => "dst",
        Field::DstEnd => "end",
        Field::SrcPitch => "src-pitch",
        Field::SrcFirst => "src",
        Field::SrcBase => "src-base",
        Field::MonoSource => "mono-src",
        Field::SrcBackground => "src-bg",
        Field::SrcForeground => "src-fg",
        Field::KeyLow => "key-low",
        Field::KeyHigh => "key-high",
        Field::PatternBase => "pat-base",
        Field::PatternBackground => "pat-bg",
        Field::PatternForeground => "pat-fg",
        Field::PatternLow => "pat-low",
        Field::PatternHigh => "pat-high",
        Field::ClipFirst => "clip",
        Field::ClipEnd => "clip-end",
        Field::SetupBackground => "setup-bg",
        Field::SetupForeground => "setup-fg",
        Field::SetupPattern => "setup-pat",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_words() {
        for (cmd, expected) in [
            (
                &[
                    0x5430_0804u32,
                    0x43f0_0080,
                    0x0002_0001,
                    0x0004_0003,
                    0x0010_0000,
                    0xff00_ff00,
                ][..],
                "XY_COLOR_BLT mask=3 dst-tiled=1 depth=8888 rop=f0 pitch=128 clip dst=(1,2) end=(3,4) \
                 dst-base=0x00100000 pat-bg=0xff00ff00",
            ),
            (
                &[0x50f0_0004, 0x40cc_ffc0, 0x0002_0010, 0x2000, 0x40, 0x3000],
                "SRC_COPY_BLT mask=3 depth=8 rop=cc pitch=-64 right-to-left size=16 bytes x 2 lines \
                 dst-base=0x00002000 src-pitch=64 src-base=0x00003000",
            ),
            (&[0x4900_0000], "XY_PIXEL_BLT dst-tiled=0 (cut short)"),
            (
                &[0x4c41_0003, 0, 0x0008_0008, 1, 2],
                "XY_TEXT_IMMEDIATE_BLT byte-packed=1 dst-tiled=0 dst=(0,0) end=(8,8) immediate source of 2 dwords",
            ),
            (&[0x4100_0000], "undefined BLT opcode 0x04 (0x41000000)"),
            (&[0x1800_0000], "not a BLT command (0x18000000)"),
            (&[], "empty"),
        ] {
            assert_eq!(decode(cmd), expected);
        }
    }
}
