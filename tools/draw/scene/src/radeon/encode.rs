// SPDX-License-Identifier: GPL-2.0
//! Operations as commands of the 2D engine: by registers, which packets of type 0 write, or by 2D packets.
//!
//! "R5xx Acceleration" §5.2.2; registers and bits are in its digest §2.3 to §2.5 and §3.3.

use anyhow::{bail, Result};
use bitfield_struct::bitfield;

use super::stream::Stream;
use crate::plain::{Brush, Operation};
use crate::surface::{Depth, Surface, Tiling};

/// How operations are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By registers.
    Registers,
    /// By 2D packets, where these can tell it.
    Packets,
}

/// `DP_GUI_MASTER_CNTL`, which is also the first dword of a 2D packet (§5.2.2, digest §2.3).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Control {
    /// Bit 0: the source has a place of its own.
    src_pitch_offset: bool,
    /// Bit 1: so has the destination.
    dst_pitch_offset: bool,
    #[bits(2)]
    __: u8,
    /// Bits 7:4: 0 and 1 for 8 by 8 bits, 13 for one colour, 15 for none.
    #[bits(4)]
    brush: u8,
    /// Bits 11:8: 2, 3, 4, 6 for 8, 15, 16, 32 bits.
    #[bits(4)]
    dst_type: u8,
    /// Bits 13:12: 3 for pixels like the destination's.
    #[bits(2)]
    src_type: u8,
    #[bits(2)]
    __: u8,
    /// Bits 23:16.
    rop: u8,
    /// Bits 26:24: 2 for memory.
    #[bits(3)]
    src_load: u8,
    __: bool,
    /// Bit 28: no colours are compared.
    no_compare: bool,
    __: bool,
    /// Bit 30: all bits are written.
    no_mask: bool,
    __: bool,
}

/// `SRC_PITCH_OFFSET`, `DST_PITCH_OFFSET` (digest §2.3); the relocation gives the object's part.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct PitchOffset {
    /// Bits 21:0: 1024 bytes.
    #[bits(22)]
    offset: u32,
    /// Bits 29:22: 64 bytes.
    pitch: u8,
    /// Bit 30: macro tiles.
    macro_tiles: bool,
    __: bool,
}

/// Registers.
const SRC_PITCH_OFFSET: u32 = 0x1428;
const DST_PITCH_OFFSET: u32 = 0x142c;
const SRC_Y_X: u32 = 0x1434;
const DST_Y_X: u32 = 0x1438;
const DP_GUI_MASTER_CNTL: u32 = 0x146c;
const DP_BRUSH_BKGD_CLR: u32 = 0x1478;
const DP_BRUSH_FRGD_CLR: u32 = 0x147c;
const BRUSH_DATA0: u32 = 0x1480;
const DST_WIDTH_HEIGHT: u32 = 0x1598;
const DP_CNTL: u32 = 0x16c0;
const DP_WRITE_MSK: u32 = 0x16cc;
/// `DP_CNTL`: columns to the right, rows down.
const RIGHT: u32 = 1 << 0;
const DOWN: u32 = 1 << 1;
/// Opcodes (§5.2.2.7, §5.2.2.9).
const PAINT_MULTI: u8 = 0x9a;
const BITBLT_MULTI: u8 = 0x9b;
/// Rectangles that a packet may have here.
const MANY: usize = 256;

fn surface(s: &Surface) -> Result<u32> {
    let aligned = s.base.offset.is_multiple_of(1024) && s.pitch.is_multiple_of(64);
    if !aligned || s.pitch / 64 > 255 {
        bail!("the 2D engine has no such surface: {s:?}");
    }
    Ok(PitchOffset::new()
        .with_offset(s.base.offset / 1024)
        .with_pitch((s.pitch / 64) as u8)
        .with_macro_tiles(s.tiling == Tiling::X)
        .into_bits())
}

fn control(op: &Operation) -> Control {
    Control::new()
        .with_src_pitch_offset(op.source.is_some())
        .with_dst_pitch_offset(true)
        .with_brush(match &op.brush {
            Brush::Mono { ink, .. } if ink.background.is_some() => 0,
            Brush::Mono { .. } => 1,
            Brush::Solid(_) => 13,
            Brush::None | Brush::Colour(_) => 15,
        })
        .with_dst_type(match op.dst.depth {
            Depth::Bpp8 => 2,
            Depth::Bpp1555 => 3,
            Depth::Bpp565 => 4,
            Depth::Bpp32 => 6,
        })
        .with_src_type(3)
        .with_rop(op.rop.0)
        .with_src_load(2)
        .with_no_compare(true)
        .with_no_mask(op.mask == op.dst.depth.mask())
}

/// Bits of a brush: of a dword the highest comes first (§5.2.2, bit 14 of the control is 0). The matrix is
/// "in the format column-by-row", which is taken as rows of eight columns, the upper row first.
fn bits(rows: &[u8; 8]) -> [u32; 2] {
    let word = |n: usize| u32::from_be_bytes([rows[n], rows[n + 1], rows[n + 2], rows[n + 3]]);
    [word(0), word(4)]
}

/// Makes streams of operations.
pub struct Encoder {
    way: Way,
    /// Operations that may share a packet.
    waiting: Vec<Operation>,
}

impl Encoder {
    /// One for streams of this kind.
    pub fn new(way: Way) -> Encoder {
        Encoder {
            way,
            waiting: Vec::new(),
        }
    }

    /// Adds an operation; one with a brush of colours is not for this.
    pub fn add(&mut self, op: &Operation, out: &mut Stream) -> Result<()> {
        // A packet tells no directions, and its masks are those of registers.
        let packet = self.way == Way::Packets && !op.overlaps() && op.mask == op.dst.depth.mask();
        let fits = self.waiting.first().is_some_and(|first| {
            (first.dst, first.rop, &first.brush) == (op.dst, op.rop, &op.brush)
                && first.source.map(|s| s.surface) == op.source.map(|s| s.surface)
        });
        if !packet || !fits || self.waiting.len() == MANY {
            self.flush(out)?;
        }
        if packet {
            self.waiting.push(op.clone());
            Ok(())
        } else {
            by_registers(op, out)
        }
    }

    /// Writes what waits.
    pub fn flush(&mut self, out: &mut Stream) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        match waiting.first() {
            Some(first) => by_packet(first, &waiting, out),
            None => Ok(()),
        }
    }
}

fn by_registers(op: &Operation, out: &mut Stream) -> Result<()> {
    out.registers(DP_GUI_MASTER_CNTL, &[control(op).into_bits()]);
    if let Some(from) = &op.source {
        out.registers(SRC_PITCH_OFFSET, &[surface(&from.surface)?]);
        let place = out.dwords().len() - 1;
        out.object(from.surface.base.buffer, false, place);
    }
    out.registers(DST_PITCH_OFFSET, &[surface(&op.dst)?]);
    let place = out.dwords().len() - 1;
    out.object(op.dst.base.buffer, true, place);
    match &op.brush {
        Brush::None => {}
        Brush::Solid(colour) => out.registers(DP_BRUSH_FRGD_CLR, &[*colour]),
        Brush::Mono { rows, ink } => {
            let background = ink.background.unwrap_or(0);
            out.registers(DP_BRUSH_BKGD_CLR, &[background, ink.foreground]);
            out.registers(BRUSH_DATA0, &bits(rows));
        }
        Brush::Colour(_) => bail!("a brush of colours"),
    }
    if op.mask != op.dst.depth.mask() {
        out.registers(DP_WRITE_MSK, &[op.mask]);
    }
    // What is read must not have been written: away from the source.
    let from = op.source.filter(|_| op.overlaps());
    let right = from.is_none_or(|f| op.rect.x1 <= f.x);
    let down = from.is_none_or(|f| op.rect.y1 <= f.y);
    let (width, height) = (op.rect.width(), op.rect.height());
    let corner = |x: i32, y: i32| {
        let x = x as u32 + if right { 0 } else { width - 1 };
        let y = y as u32 + if down { 0 } else { height - 1 };
        y << 16 | x
    };
    let directions = (if right { RIGHT } else { 0 }) | (if down { DOWN } else { 0 });
    out.registers(DP_CNTL, &[directions]);
    if let Some(from) = &op.source {
        out.registers(SRC_Y_X, &[corner(from.x, from.y)]);
    }
    out.registers(DST_Y_X, &[corner(op.rect.x1, op.rect.y1)]);
    out.registers(DST_WIDTH_HEIGHT, &[width << 16 | height]);
    Ok(())
}

fn by_packet(first: &Operation, all: &[Operation], out: &mut Stream) -> Result<()> {
    let mut body = vec![control(first).into_bits()];
    if let Some(from) = &first.source {
        body.push(surface(&from.surface)?);
    }
    body.push(surface(&first.dst)?);
    match &first.brush {
        Brush::None => {}
        Brush::Solid(colour) => body.push(*colour),
        Brush::Mono { rows, ink } => {
            body.extend(ink.background);
            body.push(ink.foreground);
            body.extend(bits(rows));
        }
        Brush::Colour(_) => bail!("a brush of colours"),
    }
    for op in all {
        if let Some(from) = &op.source {
            body.push((from.x as u32) << 16 | from.y as u32);
        }
        body.push((op.rect.x1 as u32) << 16 | op.rect.y1 as u32);
        body.push(op.rect.width() << 16 | op.rect.height());
    }
    // Packets go to the right and down, whatever went another way before.
    out.registers(DP_CNTL, &[RIGHT | DOWN]);
    // Behind the header and the control.
    let place = out.dwords().len() + 2;
    match &first.source {
        Some(from) => {
            out.command(BITBLT_MULTI, &body);
            out.object(from.surface.base.buffer, false, place);
            out.object(first.dst.base.buffer, true, place + 1);
        }
        None => {
            out.command(PAINT_MULTI, &body);
            out.object(first.dst.base.buffer, true, place);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blt::Ink;
    use crate::plain::From;
    use crate::rop::Rop;
    use crate::surface::{Address, BufferId, Rect};

    const PLACE: Surface = Surface {
        base: Address {
            buffer: BufferId(0),
            offset: 2048,
        },
        pitch: 256,
        width: 64,
        height: 16,
        depth: Depth::Bpp32,
        tiling: Tiling::Linear,
    };

    fn fill(x: i32) -> Operation {
        Operation {
            dst: PLACE,
            rect: Rect::new(x, 4, 5, 3),
            rop: Rop::PATTERN,
            mask: u32::MAX,
            source: None,
            brush: Brush::Solid(0xc0ffee),
        }
    }

    fn encoded(way: Way, ops: &[Operation]) -> Vec<u32> {
        let (mut out, mut encoder) = (Stream::default(), Encoder::new(way));
        for op in ops {
            encoder.add(op, &mut out).expect("it can be said");
        }
        encoder.flush(&mut out).expect("it can be said");
        out.dwords().to_vec()
    }

    /// Digest §2.1, §2.3, §3.3: headers are places of registers by four, and C0001000h for a relocation.
    #[test]
    fn a_fill_by_registers() {
        let expected = [
            0x51b,
            0x52f0_36d2,
            0x50b,
            0x0100_0002,
            0xc000_1000,
            0,
            0x51f,
            0xc0ffee,
            0x5b0,
            3,
            0x50e,
            0x0004_0009,
            0x566,
            0x0005_0003,
        ];
        assert_eq!(encoded(Way::Registers, &[fill(9)]), expected);
    }

    /// §5.2.2.7: PAINT_MULTI, 9Ah, has x and width in the upper halves; two rectangles of the same share one.
    #[test]
    fn fills_by_a_packet() {
        let expected = [
            0x5b0,
            3,
            0xc006_9a00,
            0x52f0_36d2,
            0x0100_0002,
            0xc0ffee,
            0x0009_0004,
            0x0005_0003,
            0x0014_0004,
            0x0005_0003,
            0xc000_1000,
            0,
        ];
        assert_eq!(encoded(Way::Packets, &[fill(9), fill(20)]), expected);
    }

    /// §5.2.2.9: BITBLT_MULTI, 9Bh; one that reads its own pixels goes by registers, from its end.
    #[test]
    fn copies() {
        let source = |buffer, x, y| {
            let base = Address {
                buffer: BufferId(buffer),
                offset: 2048,
            };
            Some(From {
                surface: Surface { base, ..PLACE },
                x,
                y,
            })
        };
        let copy = |source| Operation {
            rop: Rop::SOURCE,
            brush: Brush::None,
            source,
            ..fill(9)
        };
        let expected = [
            0x5b0,
            3,
            0xc005_9b00,
            0x52cc_36f3,
            0x0100_0002,
            0x0100_0002,
            0x0001_0002,
            0x0009_0004,
            0x0005_0003,
            0xc000_1000,
            0,
            0xc000_1000,
            4,
        ];
        assert_eq!(encoded(Way::Packets, &[copy(source(7, 1, 2))]), expected);
        // From (7, 3) to (9, 4): from the last column and row, at (11, 5) and (13, 6).
        let expected = [
            0x51b,
            0x52cc_36f3,
            0x50a,
            0x0100_0002,
            0xc000_1000,
            0,
            0x50b,
            0x0100_0002,
            0xc000_1000,
            0,
            0x5b0,
            0,
            0x50d,
            0x0005_000b,
            0x50e,
            0x0006_000d,
            0x566,
            0x0005_0003,
        ];
        assert_eq!(encoded(Way::Packets, &[copy(source(0, 7, 3))]), expected);
    }

    /// Digest §2.4: bits with two colours are four dwords, with one colour three; in registers background
    /// first.
    #[test]
    fn brushes_of_bits() {
        let brush = |background| Brush::Mono {
            rows: [0x80, 1, 2, 3, 4, 5, 6, 0x87],
            ink: Ink {
                foreground: 0xf,
                background,
            },
        };
        let op = |background| Operation {
            brush: brush(background),
            ..fill(9)
        };
        let two = encoded(Way::Packets, &[op(Some(0xb))]);
        assert_eq!(
            two[2..9],
            [
                0xc007_9a00,
                0x52f0_3602,
                0x0100_0002,
                0xb,
                0xf,
                0x8001_0203,
                0x0405_0687
            ]
        );
        let one = encoded(Way::Packets, &[op(None)]);
        assert_eq!(
            one[2..8],
            [
                0xc006_9a00,
                0x52f0_3612,
                0x0100_0002,
                0xf,
                0x8001_0203,
                0x0405_0687
            ]
        );
        let one = encoded(Way::Registers, &[op(None)]);
        assert_eq!(
            one[6..12],
            [0x0001_051e, 0, 0xf, 0x0001_0520, 0x8001_0203, 0x0405_0687]
        );
    }

    #[test]
    fn a_mask_goes_by_a_register() {
        let op = Operation {
            mask: 0x00ff_ffff,
            ..fill(9)
        };
        let stream = encoded(Way::Packets, &[op]);
        assert_eq!(stream[..2], [0x51b, 0x12f0_36d2]);
        assert_eq!(stream[8..10], [0x5b3, 0x00ff_ffff]);
    }
}
