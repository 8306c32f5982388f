// SPDX-License-Identifier: GPL-2.0
//! Blits, which registers start or packets are (§5.2.2; digest §2.3, §2.4, §3.3).

use super::{align_of, grain, most, Generator};

/// A surface with a rectangle at its end.
struct Flat {
    /// What its register, or its dword of a packet, is.
    value: u32,
    object: usize,
    /// The rectangle's upper left corner.
    corner: (u32, u32),
}

impl Generator<'_, '_> {
    /// The type of a destination, and its bytes.
    fn kind(&mut self) -> (u32, u32) {
        [(2, 1), (3, 2), (4, 2), (6, 4)][self.s.below(4) as usize]
    }

    fn rop(&mut self) -> u32 {
        [0xf0, 0xcc, 0x5a, 0x00, self.s.u8().into()][self.s.below(5) as usize]
    }

    /// A surface for a rectangle of so many columns and rows. A source has no blocks.
    fn flat(&mut self, (columns, rows): (u32, u32), pixel: u32, is_source: bool) -> Flat {
        let (mut x, y) = (self.s.below(20) as u32, self.s.below(20) as u32);
        // As far to the right as coordinates go, which are 8191 at most; now and then, too far.
        if pixel == 1 && self.one_in(6) {
            x = 8192 - columns + u32::from(self.one_in(6)) * x;
        }
        let bytes = most((x + columns, y + rows), pixel);
        // There are no blocks of pixels of 16 bytes, nor square ones of four.
        let object = self.object_with(bytes, if is_source { 16 } else { pixel.max(4) });
        let mut tiles = self.tiles(object, pixel);
        if self.made.knows {
            tiles.1 = if is_source { 0 } else { tiles.1.min(1) };
        }
        let (width, height) = grain(pixel, tiles);
        let pitch = ((x + columns).next_multiple_of(width) * pixel).next_multiple_of(256);
        let bytes = pitch * (y + rows).next_multiple_of(height);
        let offset = self.offset(object, bytes, 1024.max(align_of(tiles)));
        let fields = tiles.1 << 31 | tiles.0 << 30;
        Flat {
            value: fields | (pitch / 64) << 22 | (offset / 1024),
            object,
            corner: (x, y),
        }
    }

    /// A blit by registers.
    pub(super) fn blit(&mut self) {
        let (code, pixel) = self.kind();
        let (columns, rows) = (self.some(120), self.some(60));
        let rop = self.rop();
        let brush = [13, 13, 15, self.s.below(16) as u32][self.s.below(4) as usize];
        let control = 0x5200_3003 | rop << 16 | code << 8 | brush << 4;
        self.set(0x146c, &[control]);
        let colours = [self.s.u32(), self.s.u32(), self.s.u32(), self.s.u32()];
        self.set(0x1478, &colours);
        self.set(0x16cc, &[u32::MAX]);
        self.set(0x16ec, &[0, 0x1fff_1fff]);
        if self.one_in(12) {
            self.act(control);
        }
        let (right, down) = (!self.one_in(4), !self.one_in(4));
        let directions = u32::from(right) | u32::from(down) << 1;
        // Bits 4:3 tile the destination.
        let tiles = if self.one_in(48) {
            self.s.below(4) as u32
        } else {
            0
        };
        self.set(0x16c0, &[directions | tiles << 3]);
        for (register, corner) in [(0x1428, 0x1434), (0x142c, 0x1438)] {
            let flat = self.flat((columns, rows), pixel, register == 0x1428);
            self.set(register, &[flat.value]);
            self.relocation(flat.object);
            let (x, y) = flat.corner;
            let from = if right { x } else { x + columns - 1 };
            let top = if down { y } else { y + rows - 1 };
            self.set(corner, &[top << 16 | from]);
            if self.one_in(24) {
                self.act(control);
            }
        }
        if self.s.flag() {
            self.set(0x143c, &[rows << 16 | columns]);
        } else {
            self.set(0x1598, &[columns << 16 | rows]);
        }
    }

    /// What acts when it is written: a control that loads default surfaces (bits 0 and 1 clear) or clears the functions
    /// of comparing (28), functions that are set again; in any order. The control is as before at the end, mostly.
    fn act(&mut self, control: u32) {
        for _ in 0..self.some(4) {
            match self.s.below(3) {
                0 => {
                    let bits = self.s.below(4) as u32 | (self.s.below(2) as u32) << 28;
                    self.set(0x146c, &[control & !(3 | 1 << 28) | bits]);
                }
                1 => {
                    let function = [0, 1, 4, 5, 7][self.s.below(5) as usize];
                    let (which, shift) = (self.s.below(3) as u32, 8 * self.s.below(2));
                    self.set(0x15c0, &[which << 24 | function << shift]);
                }
                _ => {
                    let colours = [self.s.u32(), self.s.u32(), self.s.u32()];
                    self.set(0x15c4, &colours);
                }
            }
        }
        if !self.one_in(6) {
            self.set(0x146c, &[control]);
        }
    }

    /// A packet that fills or copies one rectangle, or some of the same size.
    pub(super) fn rectangles(&mut self) {
        let (code, pixel) = self.kind();
        let size = (self.some(120), self.some(60));
        let opcode = [0x92, 0x9a, 0x9b][self.s.below(3) as usize];
        let copies = opcode != 0x9a;
        let count = if opcode == 0x92 { 1 } else { self.some(5) };
        let (brush, dwords) = [(0, 4), (1, 3), (13, 1), (14, 1), (15, 0)][self.s.below(5) as usize];
        let rop = if copies { self.rop() } else { 0xf0 };
        let control = 0x5200_3002 | rop << 16 | code << 8 | brush << 4 | u32::from(copies);
        // To the right, down.
        self.set(0x16c0, &[3]);
        let mut flats = Vec::new();
        if copies {
            flats.push(self.flat(size, pixel, true));
        }
        flats.push(self.flat(size, pixel, false));
        let mut body = vec![control];
        body.extend(flats.iter().map(|f| f.value));
        body.extend((0..dwords).map(|_| self.s.u32()));
        for n in 0..count {
            // The first one where the surface ends, the others before it.
            let corners = flats
                .iter()
                .map(|f| (f.corner.0 / (n + 1), f.corner.1 / (n + 1)));
            body.extend(corners.map(|(x, y)| x << 16 | y));
            body.push(size.0 << 16 | size.1);
        }
        self.command(opcode, &body);
        for flat in flats {
            self.relocation(flat.object);
        }
    }
}
