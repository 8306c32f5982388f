// SPDX-License-Identifier: GPL-2.0
//! Blits, which registers start (digest §2.3, §3.3).

use super::{align_of, grain, most, Generator};

impl Generator<'_, '_> {
    /// A blit by registers.
    pub(super) fn blit(&mut self) {
        let (code, pixel) = [(2, 1), (3, 2), (4, 2), (6, 4)][self.s.below(4) as usize];
        let (columns, rows) = (self.some(120), self.some(60));
        let rop = [0xf0, 0xcc, 0x5a, 0x00, self.s.u8().into()][self.s.below(5) as usize];
        let brush = [13, 13, 15, self.s.below(16) as u32][self.s.below(4) as usize];
        self.set(0x146c, &[0x5200_3003 | rop << 16 | code << 8 | brush << 4]);
        let colours = [self.s.u32(), self.s.u32(), self.s.u32(), self.s.u32()];
        self.set(0x1478, &colours);
        self.set(0x16cc, &[u32::MAX]);
        self.set(0x16ec, &[0, 0x1fff_1fff]);
        let (right, down) = (!self.one_in(4), !self.one_in(4));
        self.set(0x16c0, &[u32::from(right) | u32::from(down) << 1]);
        for (register, corner) in [(0x1428, 0x1434), (0x142c, 0x1438)] {
            let is_source = register == 0x1428;
            let (x, y) = (self.s.below(20) as u32, self.s.below(20) as u32);
            let bytes = most((x + columns, y + rows), pixel);
            // Of blocks of more bytes than there are in any kind of the source's, it finds none.
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
            self.set(register, &[fields | (pitch / 64) << 22 | (offset / 1024)]);
            self.relocation(object);
            let from = if right { x } else { x + columns - 1 };
            let top = if down { y } else { y + rows - 1 };
            self.set(corner, &[top << 16 | from]);
        }
        if self.s.flag() {
            self.set(0x143c, &[rows << 16 | columns]);
        } else {
            self.set(0x1598, &[columns << 16 | rows]);
        }
    }
}
