// SPDX-License-Identifier: GPL-2.0 OR MIT
//! 2D packets: settings into registers, data into pieces (R5xx guide §5.2.2.1 to §5.2.2.13; digest
//! §2.3 to §2.5).
//!
//! Some packets have y in the upper half of a coordinate, some x (digest, trap 1): `yx` and `xy`.

use super::brush::{code, uses_source};
use super::{host_dwords, signed14, Control, From, Load, Op, Piece};
use crate::r5xx::core::Core;
use crate::r5xx::lint::Rule;
use crate::r5xx::packet::{op, Misfit, Reader};
use crate::r5xx::regs::reg;

/// Entries of a palette, by the code of LOAD_PALETTE (§5.2.2.12).
fn palette_size(code: u32) -> Option<usize> {
    match code {
        1 => Some(16),
        2 => Some(256),
        _ => None,
    }
}

impl Core {
    /// A 2D packet's body.
    pub fn packet_2d(&mut self, opcode: u8, body: &[u32]) -> Result<(), Misfit> {
        let mut r = Reader::new(body);
        if opcode & 0x80 != 0 {
            self.settings(&mut r)?;
        }
        match opcode {
            op::LOAD_PALETTE => return self.load_palette(&mut r),
            op::HOSTDATA_BLT => {
                let (foreground, background) = (r.next()?, r.next()?);
                self.set(reg::DP_SRC_FRGD_CLR, foreground);
                self.set(reg::DP_SRC_BKGD_CLR, background);
            }
            op::TRANS_BITBLT => {
                for register in [
                    reg::CLR_CMP_CNTL,
                    reg::CLR_CMP_CLR_SRC,
                    reg::CLR_CMP_CLR_DST,
                ] {
                    let value = r.next()?;
                    self.set(register, value);
                }
            }
            _ => {}
        }
        let Some(mut op) = self.operation() else {
            // It cannot be drawn, but it has its length.
            return Ok(());
        };
        match opcode {
            op::PAINT | op::PAINT_MULTI => self.paint(opcode, &mut r, &mut op)?,
            op::BITBLT | op::BITBLT_MULTI | op::TRANS_BITBLT => {
                self.blits(opcode, &mut r, &mut op)?
            }
            op::HOSTDATA_BLT => self.glyphs(&mut r, &mut op)?,
            op::NEXTCHAR => self.next_char(&mut r, &mut op)?,
            op::POLYLINE => self.polyline(&mut r, &mut op)?,
            op::POLYSCANLINES => self.scanlines(&mut r, &mut op)?,
            op::PLY_NEXTSCAN => {
                let place = r.next()?;
                self.segments(place, r.rest(), &mut op);
            }
            // CNTL_SMALLTEXT and other codes with bit 7 were refused by name.
            _ => {}
        }
        self.queue_2d(op);
        r.end()
    }

    /// GUI_CONTROL and what it says that follows, in their fixed order (§5.2.2).
    fn settings(&mut self, r: &mut Reader<'_>) -> Result<(), Misfit> {
        let control = Control(r.next()?);
        self.set(reg::DP_GUI_MASTER_CNTL, control.0);
        self.master_control(control.0);
        for (bit, registers) in [
            (0, &[reg::SRC_PITCH_OFFSET][..]),
            (1, &[reg::DST_PITCH_OFFSET]),
            (2, &[reg::SRC_SC_BOTTOM_RIGHT]),
            (3, &[reg::SC_TOP_LEFT, reg::SC_BOTTOM_RIGHT]),
        ] {
            for register in registers.iter().filter(|_| control.bit(bit)) {
                let value = r.next()?;
                self.set(*register, value);
                if bit < 2 {
                    self.gfx.named_2d(*register);
                }
            }
        }
        self.brush_packet(control, r)?;
        if control.bit(31) {
            let place = r.next()?;
            self.set(reg::BRUSH_Y_X, place);
        }
        Ok(())
    }

    fn brush_packet(&mut self, control: Control, r: &mut Reader<'_>) -> Result<(), Misfit> {
        let (colours, data): (&[u32], u32) = match control.brush() {
            code::MONO => (&[reg::DP_BRUSH_BKGD_CLR, reg::DP_BRUSH_FRGD_CLR], 2),
            code::MONO_TRANSPARENT => (&[reg::DP_BRUSH_FRGD_CLR], 2),
            code::PEN => (&[reg::DP_BRUSH_BKGD_CLR, reg::DP_BRUSH_FRGD_CLR], 1),
            code::PEN_TRANSPARENT => (&[reg::DP_BRUSH_FRGD_CLR], 1),
            code::COLOUR => (&[], 16 * control.brush_bytes()),
            code::SOLID | code::SOLID_2 => (&[reg::DP_BRUSH_FRGD_CLR], 0),
            _ => (&[], 0),
        };
        for colour in colours {
            let value = r.next()?;
            self.set(*colour, value);
        }
        for n in 0..data {
            let value = r.next()?;
            self.set(reg::BRUSH_DATA0 + 4 * n, value);
        }
        Ok(())
    }

    /// A coordinate of 14 bits, whose upper copies must agree.
    fn coordinate(&mut self, half: u32) -> i32 {
        let value = signed14(half);
        if value != i32::from(half as u16 as i16) {
            self.notes
                .lint(Rule::Coordinate, || format!("{:#06x}", half & 0xffff));
        }
        value
    }

    /// A coordinate with y above.
    fn yx(&mut self, v: u32) -> (i32, i32) {
        (self.coordinate(v & 0xffff), self.coordinate(v >> 16))
    }

    /// A coordinate with x above.
    fn xy(&mut self, v: u32) -> (i32, i32) {
        (self.coordinate(v >> 16), self.coordinate(v & 0xffff))
    }

    /// DP_CNTL: to the left, upwards.
    fn directions(&self) -> (bool, bool) {
        let d = self.get(reg::DP_CNTL);
        (d & 1 == 0, d & 2 == 0)
    }

    /// Returns the offset of a rectangle's upper left corner from the place that a packet names, on a card whose
    /// packets follow DP_CNTL.
    fn corner(&self, w: u32, h: u32) -> (i32, i32) {
        let (left, up) = self.directions();
        let far = |on: bool, n: u32| {
            let on = on && self.cfg.real.directed;
            if on {
                n as i32 - 1
            } else {
                0
            }
        };
        (far(left, w), far(up, h))
    }

    fn paint(&mut self, opcode: u8, r: &mut Reader<'_>, op: &mut Op) -> Result<(), Misfit> {
        self.check_area(op);
        while !r.is_empty() {
            let (place, size) = (r.next()?, r.next()?);
            let (x, y, w, h) = if opcode == op::PAINT {
                let (x, y) = self.yx(place);
                let (right, bottom) = self.yx(size);
                (x, y, (right - x).max(0) as u32, (bottom - y).max(0) as u32)
            } else {
                let (x, y) = self.xy(place);
                let (w, h) = (size >> 16, size & 0xffff);
                let (dx, dy) = self.corner(w, h);
                (x - dx, y - dy, w, h)
            };
            op.pieces.push(Piece::Rect {
                x,
                y,
                w,
                h,
                from: From::Nothing,
                up: false,
                left: false,
            });
        }
        Ok(())
    }

    fn blits(&mut self, opcode: u8, r: &mut Reader<'_>, op: &mut Op) -> Result<(), Misfit> {
        loop {
            let (src, dst, size) = (r.next()?, r.next()?, r.next()?);
            let ((sx, sy), (x, y)) = (self.xy(src), self.xy(dst));
            let (w, h) = (size >> 16 & 0x3fff, size & 0x3fff);
            let (dx, dy) = self.corner(w, h);
            let (sx, sy, x, y) = (sx - dx, sy - dy, x - dx, y - dy);
            let from = if uses_source(op.rop) {
                From::Memory(sx, sy)
            } else {
                From::Nothing
            };
            let (left, up) = if self.cfg.real.directed {
                self.directions()
            } else {
                (x > sx, y > sy)
            };
            // The document does not say how overlap is handled: as if all were read first.
            op.pieces.push(Piece::Rect {
                x,
                y,
                w,
                h,
                from,
                up,
                left,
            });
            if opcode != op::BITBLT_MULTI || r.is_empty() {
                break;
            }
        }
        if uses_source(op.rop) && op.src.is_none() {
            // From the host, in a packet that has no data: the engine waits without end.
            self.notes
                .lint(Rule::RasterCount, || "no data in the packet".into());
            op.pieces.clear();
        }
        Ok(())
    }

    /// A bitmap of the packet's own dwords.
    fn glyph(&mut self, place: u32, size: u32, raster: &[u32], op: &mut Op) {
        let (x, y) = self.yx(place);
        let (w, h) = (size & 0xffff, size >> 16);
        let need = host_dwords(w, h, op.bytes, op.mono);
        if raster.len() != need {
            self.notes.lint(Rule::RasterCount, || {
                format!("{} for {w}x{h}", raster.len())
            });
        }
        op.pieces.push(Piece::Rect {
            x,
            y,
            w,
            h,
            from: From::Dwords(raster.to_vec()),
            up: false,
            left: false,
        });
    }

    fn glyphs(&mut self, r: &mut Reader<'_>, op: &mut Op) -> Result<(), Misfit> {
        let control = Control(self.get(reg::DP_GUI_MASTER_CNTL));
        if !matches!(control.load(), Some(Load::Host(_))) {
            self.notes
                .lint(Rule::GuiControl, || "host data, loaded from memory".into());
        }
        while !r.is_empty() {
            let (place, size, number) = (r.next()?, r.next()?, r.next()?);
            let raster = r.take((number & 0x3fff) as usize)?;
            self.glyph(place, size, raster, op);
        }
        Ok(())
    }

    /// NEXTCHAR: one more character with the colours that there are (§5.2.2.6).
    fn next_char(&mut self, r: &mut Reader<'_>, op: &mut Op) -> Result<(), Misfit> {
        let (place, size) = (r.next()?, r.next()?);
        self.glyph(place, size, r.rest(), op);
        Ok(())
    }

    /// POLYLINE: each segment ends where the next begins; the pen goes on (§5.2.2.4).
    fn polyline(&mut self, r: &mut Reader<'_>, op: &mut Op) -> Result<(), Misfit> {
        self.check_pen(op);
        let first = r.next()?;
        let mut from = self.yx(first);
        let mut phase = self.get(reg::BRUSH_Y_X) >> 16 & 31;
        while !r.is_empty() {
            let next = r.next()?;
            let to = self.yx(next);
            op.pieces.push(Piece::Line { from, to, phase });
            phase += (to.0 - from.0).abs().max((to.1 - from.1).abs()) as u32;
            from = to;
        }
        Ok(())
    }

    fn scanlines(&mut self, r: &mut Reader<'_>, op: &mut Op) -> Result<(), Misfit> {
        let scans = r.next()?;
        for _ in 0..scans {
            let lines = (r.next()? & 0x3fff) as usize;
            let place = r.next()?;
            let segments = r.take(lines)?;
            self.segments(place, segments, op);
        }
        Ok(())
    }

    /// Segments of one scan: start and end columns over a height (§5.2.2.5).
    fn segments(&mut self, place: u32, segments: &[u32], op: &mut Op) {
        self.check_area(op);
        let y = self.coordinate(place & 0xffff);
        for segment in segments {
            let (x, end) = (
                self.coordinate(segment & 0xffff),
                self.coordinate(segment >> 16),
            );
            op.pieces.push(Piece::Rect {
                x,
                y,
                w: (end - x).max(0) as u32,
                h: place >> 16,
                from: From::Nothing,
                up: false,
                left: false,
            });
        }
    }

    fn load_palette(&mut self, r: &mut Reader<'_>) -> Result<(), Misfit> {
        let code = r.next()?;
        let Some(entries) = palette_size(code) else {
            self.notes
                .lint(Rule::GuiControl, || format!("palette {code:#x}"));
            return Ok(());
        };
        self.gfx.two.palette = r.take(entries)?.to_vec();
        r.end()
    }
}
