// SPDX-License-Identifier: GPL-2.0
//! Draws: targets, textures, arrays, indices (digest §2.6, §3.4, §3.5).

use super::{align_of, grain, has_blocks, most, Generator, Tiles};

/// A colour target's format and its bytes (digest §3.5).
const COLOURS: [(u32, u32); 11] = [
    (9, 1),
    (3, 2),
    (4, 2),
    (13, 2),
    (15, 2),
    (5, 4),
    (6, 4),
    (11, 4),
    (12, 4),
    (10, 8),
    (7, 16),
];
/// A texture's format, bytes of what is fetched at once, and texels on a side of that (digest §3.5).
const TEXELS: [(u32, u32, u32); 14] = [
    (0x00, 1, 1),
    (0x02, 1, 1),
    (0x01, 2, 1),
    (0x03, 2, 1),
    (0x0a, 2, 1),
    (0x18, 2, 1),
    (0x04, 4, 1),
    (0x0c, 4, 1),
    (0x1b, 4, 1),
    (0x0e, 8, 1),
    (0x1c, 8, 1),
    (0x1d, 16, 1),
    (0x0f, 8, 4),
    (0x10, 16, 4),
];
impl Generator<'_, '_> {
    /// A count of pixels, which each of up to four units writes: all at once, or one after the other by the mask of
    /// pipes, or of units of depth. Mostly, the mask is full again behind it.
    pub(super) fn query(&mut self) {
        self.set(0x4f58, &[0]);
        let (register, units) = match self.made.depth_pipes && self.s.flag() {
            true => (0x4be8, 2),
            false => (0x42c8, 4),
        };
        let masks = match self.s.below(3) {
            0 => vec![None],
            1 => vec![Some(self.s.below(1 << units) as u32)],
            _ => (0..=self.s.below(units)).map(|n| Some(1 << n)).collect(),
        };
        for mask in &masks {
            if let Some(mask) = mask {
                self.set(register, &[*mask]);
            }
            self.count();
        }
        if masks[0].is_some() && !self.one_in(64) {
            self.set(register, &[(1 << units) - 1]);
        }
    }

    /// Where the units that the masks select write their count.
    fn count(&mut self) {
        let object = self.object_with(16, 0);
        let offset = self.offset(object, 16, 4);
        self.set(0x4f5c, &[offset]);
        self.relocation(object);
    }

    /// Both masks of RV530, in any order: that of the units of depth is behind that of the pipes. Mostly, it is written
    /// by all pipes, and both are full at the end. A scene before and one behind show what a unit has missed.
    pub(super) fn nested_masks(&mut self) {
        self.deep = self.one_in(4);
        self.targets();
        self.scene(true);
        if self.deep {
            // A mask that stays, as the write that fills it reaches no pipe.
            let (depth, raster) = (self.s.below(3) as u32, self.s.below(15) as u32);
            for (register, mask) in [
                (0x4be8, depth),
                (0x42c8, raster),
                (0x4be8, 3),
                (0x42c8, 0xf),
            ] {
                self.set(register, &[mask]);
            }
            self.targets();
            return self.scene(true);
        }
        let mut raster = 0xf;
        for _ in 0..self.some(6) {
            if self.s.flag() {
                raster = [0xf, self.s.below(16) as u32][self.s.below(2) as usize];
                self.set(0x42c8, &[raster]);
            } else if raster == 0xf || self.one_in(8) {
                let depth = self.s.below(4) as u32;
                self.set(0x4be8, &[depth]);
            }
            if self.one_in(3) {
                self.count();
            }
        }
        if !self.one_in(16) {
            let mut full = [(0x42c8, 0xf), (0x4be8, 3)];
            if raster == 0xf && self.s.flag() || self.one_in(16) {
                full.reverse();
            }
            for (register, all) in full {
                self.set(register, &[all]);
            }
        }
        self.scene(true);
    }

    /// A write that the masks of pipes keep from some, or all: of a scissor, a place, a pitch, or a whole scene; and
    /// one before it that they get. Seldom, as it is refused.
    pub(super) fn behind_masks(&mut self) {
        if !self.one_in(12) {
            return self.scene(true);
        }
        self.targets();
        let mask = self.s.below(16) as u32;
        let (columns, rows) = self.extent;
        match self.s.below(3) {
            0 => self.set(0x43e4, &[0x1fff << 13 | (columns - 1)]),
            1 => self.set(0x4e38, &[6 << 21 | 0x1ffe]),
            _ => {}
        }
        self.set(0x42c8, &[mask]);
        match self.s.below(3) {
            0 => self.set(0x43e4, &[(rows - 1) << 13 | (columns - 1)]),
            1 => self.targets(),
            _ => self.scene(true),
        }
        if !self.one_in(4) {
            self.set(0x42c8, &[0xf]);
        }
        self.scene(true);
    }

    /// Targets, textures, arrays; and a draw, or none.
    pub(super) fn scene(&mut self, draws: bool) {
        if !self.one_in(6) {
            self.targets();
        }
        if self.one_in(3) {
            self.textures();
        }
        let walk = 1 + self.s.below(3) as u32;
        if walk != 3 {
            self.arrays(walk == 2);
        }
        if draws {
            match walk {
                1 => self.draw_indexed(),
                2 => self.draw_list(),
                _ => self.draw_embedded(),
            }
        }
        // More from the same arrays, without saying anything anew.
        if walk == 2 && self.s.flag() {
            self.draw_list();
        }
    }

    /// Flushes of the caches of colour and depth, and a wait for the 3D engine, without which no register of a target
    /// may change behind a draw (AMD's page of `RB3D_COLOROFFSET`). Seldom one of them is missing or early.
    fn flushes(&mut self) {
        let mut all = [(0x4e4c, 0xa), (0x4f18, 3), (0x1720, 1 << 17)];
        let missing = if self.one_in(48) { self.s.below(3) } else { 3 };
        if self.one_in(48) {
            all.rotate_right(1);
        }
        for (n, (register, value)) in (0..).zip(all) {
            if n != missing {
                self.set(register, &[value]);
            }
        }
    }

    fn targets(&mut self) {
        if !self.one_in(64) {
            self.flushes();
        }
        let config = match self.s.below(8) {
            0..=5 => 0,
            // Now and then three samples, which are refused.
            _ if self.one_in(24) => 1 << 1 | 1,
            _ => [0, 2, 3][self.s.below(3) as usize] << 1 | 1,
        };
        self.samples = match config & 1 {
            0 => 1,
            _ => [2, 3, 4, 6][config as usize >> 1],
        };
        // Fewer pixels, so that all samples have room.
        let (columns, rows) = match self.samples {
            1 => (self.some(100), self.some(70)),
            _ => (self.some(40), self.some(40)),
        };
        self.extent = (columns, rows);
        self.set(0x43e4, &[(rows - 1) << 13 | (columns - 1)]);
        self.set(0x4020, &[config]);
        let count = if self.one_in(4) {
            1 + self.s.below(4) as u32
        } else {
            1
        };
        // The first one's pixels again, or others that shaders put out; each with a format of its own, mostly.
        let own = u32::from(!self.one_in(32));
        match self.s.below(3) {
            0 => self.set(0x4e00, &[own << 14]),
            _ => self.set(0x4e00, &[own << 14 | (count - 1) << 5]),
        }
        let put_out = if self.one_in(32) { 4 } else { count };
        let formats = [0, 1, 2, 3].map(|n| if n < put_out { 0x1b00 } else { 0x1b0f });
        self.set(0x46a4, &formats);
        let channels = if self.one_in(8) { 0 } else { 0xffff };
        self.set(0x4e0c, &[channels]);
        // What changes how pixels lie in memory, or what of it is read.
        let bit = self.s.below(18);
        match self.s.below(250) {
            0 => self.set(0x4e00, &[1 << [7, 9, 10, 13][bit as usize % 4]]),
            1 => self.set(0x4f1c, &[1 << bit]),
            3 => self.set(0x4e88, &[1]),
            2 => self.set(0x4e18, &[0x604]),
            _ => {}
        }
        // Clears of colour along with depth, of macro tiles.
        self.clears = self.made.knows && self.one_in(16);
        if self.clears || self.one_in(8) {
            self.set(0x4f1c, &[u32::from(self.clears) << 5]);
        }
        let blend = self.s.below(2) as u32;
        self.set(0x4e04, &[blend << 2 | blend]);
        let mut first = (0, (0, 0));
        for n in 0..count {
            // Samples have blocks, of which there are none of sixteen bytes.
            let formats = COLOURS.len() - usize::from(self.samples > 1 && !self.one_in(32));
            let (code, pixel) = COLOURS[self.s.below(formats as u64) as usize];
            let tiles = self.colour(0x4e28 + 4 * n, 0x4e38 + 4 * n, code, pixel);
            if n == 0 {
                first = (pixel, tiles);
            }
        }
        let depth = self.s.below(3) == 2 || self.clears || self.deep;
        let uses = if depth { 1 + self.s.below(7) as u32 } else { 0 };
        self.set(0x4f00, &[uses]);
        if depth {
            self.depth();
        }
        let resolves = self.samples > 1 && self.s.flag();
        self.set(0x4e88, &[u32::from(resolves)]);
        if resolves {
            self.resolve(first.0, first.1);
        }
    }

    /// Where a surface is that has all that is drawn: its object, tiles, pitch in pixels and offset.
    fn surface(
        &mut self,
        pixel: u32,
        samples: u32,
        tiles: Option<Tiles>,
    ) -> (usize, Tiles, u32, u32) {
        let (columns, rows) = self.extent;
        let guess = most((columns, rows), pixel) * samples;
        let object = self.object_with(guess, pixel);
        let tiles = match tiles {
            Some(tiles) => tiles,
            None => self.tiles(object, pixel),
        };
        let (width, height) = grain(pixel, tiles);
        // Pitches are of four pixels at least, by their fields.
        let pitch = columns.next_multiple_of(width.max(4));
        let height = self.believed(height, tiles.0);
        let mut bytes = pitch * rows.next_multiple_of(height) * pixel * samples;
        let mut align = align_of(tiles);
        // Samples have macro tiles with blocks, whatever the bits say; now and then, not for who goes by the bits.
        if samples > 1 && !self.one_in(32) {
            for micro in [1, 2].into_iter().filter(|m| has_blocks(pixel, *m)) {
                let (width, height) = grain(pixel, (1, micro));
                let all = pitch.next_multiple_of(width) * rows.next_multiple_of(height);
                bytes = bytes.max(all * pixel * samples);
            }
            align = align_of((1, 1));
        }
        let offset = self.offset(object, bytes, align);
        (object, tiles, pitch, offset)
    }

    /// Rows that are whole in memory; now and then, those that somebody takes for whole who forgets about macro tiles.
    fn believed(&mut self, rows: u32, macro_tiles: u32) -> u32 {
        match macro_tiles != 0 && self.one_in(20) {
            true => rows / 8,
            false => rows,
        }
    }

    fn colour(&mut self, offset_at: u32, pitch_at: u32, code: u32, pixel: u32) -> Tiles {
        let samples = self.samples;
        let (object, tiles, pitch, offset) = self.surface(pixel, samples, None);
        self.set(offset_at, &[offset]);
        self.relocation(object);
        self.set(
            pitch_at,
            &[code << 21 | tiles.1 << 17 | tiles.0 << 16 | pitch],
        );
        if !self.made.knows {
            self.relocation(object);
        }
        tiles
    }

    fn depth(&mut self) {
        let formats = [(0, 2), (1, 2), (2, 4)];
        // Blocks of objects are mostly those of four bytes.
        let first = if self.made.knows || self.one_in(8) {
            0
        } else {
            2
        };
        let (format, pixel) = formats[first + self.s.below(3 - first as u64) as usize];
        self.set(0x4f10, &[format]);
        let samples = self.samples;
        // Of the blocks of two bytes, the depth unit has square ones only.
        let blocks = match self.made.knows && pixel == 2 && !self.one_in(24) {
            true => {
                let micro = 2 * self.s.below(2) as u32;
                Some((self.s.below(2) as u32 | u32::from(self.clears), micro))
            }
            false => None,
        };
        let (object, tiles, pitch, offset) = self.surface(pixel, samples, blocks);
        self.set(0x4f20, &[offset]);
        self.relocation(object);
        self.set(0x4f24, &[tiles.1 << 17 | tiles.0 << 16 | pitch]);
        if !self.made.knows {
            self.relocation(object);
        }
    }

    fn resolve(&mut self, pixel: u32, tiles: Tiles) {
        let (object, _, pitch, offset) = self.surface(pixel, 1, Some(tiles));
        self.set(0x4e80, &[offset]);
        self.relocation(object);
        self.set(0x4e84, &[pitch]);
    }

    fn textures(&mut self) {
        let mut units = 0;
        for _ in 0..self.some(3) {
            let unit = self.s.below(16) as u32;
            self.texture(unit);
            units |= 1 << unit;
        }
        self.set(0x4104, &[units]);
    }

    fn texture(&mut self, unit: u32) {
        let (format, bytes, side) = TEXELS[self.s.below(TEXELS.len() as u64) as usize];
        let kind = [0u32, 0, 0, 1, 2][self.s.below(5) as usize];
        let (width, mut height) = (self.some(100), self.some(60));
        // Faces of a cube are squares, mostly.
        if kind == 2 && !self.one_in(48) {
            height = width;
        }
        // Only a deep one has a depth, mostly.
        let deep = match kind == 1 || self.one_in(48) {
            true => self.s.below(3) as u32,
            false => 0,
        };
        let wraps = [self.s.below(8) as u32, self.s.below(8) as u32];
        // With a pitch there is one level, mostly, and the columns that wrap are inside.
        let by_pitch = self.one_in(4);
        let levels = match by_pitch && !self.one_in(48) {
            true => 0,
            false => self.s.below(12).saturating_sub(5) as u32,
        };
        let sides = (width.next_power_of_two(), height.next_power_of_two());
        let layers = [1, 1 << deep, 6][kind as usize] * if levels == 0 { 1 } else { 2 };
        let object = self.object_with(most(sides, bytes) * layers, bytes);
        // Compressed blocks have no tiles, mostly.
        let tiles = match side > 1 && self.made.knows && !self.one_in(48) {
            true => (0, 0),
            false => self.tiles(object, bytes),
        };
        // As much as it can be: sides up to the next power of two, all levels of whole tiles.
        let (grain_columns, grain_rows) = grain(bytes, tiles);
        let grain_rows = self.believed(grain_rows, tiles.0);
        let clamps = matches!(wraps[0], 2 | 4 | 6) || self.one_in(48);
        let columns = match clamps {
            true => width,
            false => width.next_power_of_two(),
        };
        let pitch = (columns + 7) & !7;
        // Layers of a texture with a pitch are apart as if it had none.
        let layered = kind == 2 || kind == 1 && deep > 0;
        let mut total = 0;
        for level in 0..=levels {
            let at = |side: u32| (side.next_power_of_two() >> level).max(1);
            let columns = match (by_pitch, layered) {
                (false, _) => at(width),
                (true, false) => (pitch >> level).max(1),
                (true, true) => (pitch >> level).max(at(width)),
            };
            let columns = columns.div_ceil(side).next_multiple_of(grain_columns);
            let rows = at(height).div_ceil(side).next_multiple_of(grain_rows);
            let layers = match kind {
                1 => ((1u32 << deep) >> level).max(1),
                2 => 6,
                _ => 1,
            };
            total += columns * rows * bytes * layers;
        }
        let offset = self.offset(object, total, align_of(tiles));
        // The logical id is the unit, and the finest level one that there is; mostly.
        let id = if self.one_in(120) {
            self.s.below(16) as u32
        } else {
            unit
        };
        let finest = match self.s.below(120) {
            0 => self.s.below(16) as u32,
            n => (n as u32 % (levels + 1)).min(15),
        };
        let filter = id << 28 | finest << 17 | wraps[1] << 3 | wraps[0];
        self.set(0x4400 + 4 * unit, &[filter]);
        // Where macro tiles end.
        let switch = self.s.below(2) as u32;
        self.set(0x4440 + 4 * unit, &[switch << 22]);
        let size = (width - 1) | (height - 1) << 11 | deep << 22 | levels << 26;
        self.set(0x4480 + 4 * unit, &[size | u32::from(by_pitch) << 31]);
        self.set(0x44c0 + 4 * unit, &[format | kind << 25]);
        self.set(0x4500 + 4 * unit, &[pitch - 1]);
        self.set(0x4540 + 4 * unit, &[offset | tiles.1 << 3 | tiles.0 << 2]);
        self.relocation(object);
    }

    /// Vertices up to one, and arrays that have them. Limits are for indices: where there are none, they may be higher.
    fn arrays(&mut self, is_list: bool) {
        self.last_vertex = self.some(300) - 1;
        self.index_offset = if self.one_in(5) { self.some(40) } else { 0 };
        let first = if self.one_in(4) {
            self.s.below(u64::from(self.last_vertex) + 1) as u32
        } else {
            0
        };
        // What is added to indices is added before the limits (25 bits, with a sign), and may be negative. In lists it
        // may move the last vertex.
        let (last, moved) = (self.last_vertex, self.index_offset);
        let down = !is_list && self.s.flag();
        let (limit, offset) = match is_list {
            true => (last + moved, moved),
            false if down => (last, moved.wrapping_neg() & 0x1ff_ffff),
            false => (last, moved),
        };
        self.set(0x2134, &[limit, first]);
        self.set(0x208c, &[offset]);
        // Now and then as a client lays them out that forgets what is added.
        let believed = if self.one_in(6) { last } else { limit };
        let number = self.some(16);
        let mut body = vec![number];
        let mut objects = Vec::new();
        for n in 0..number {
            let count = self.some(127);
            let stride = match self.s.below(4) {
                0 => 0,
                1 => self.s.below(128) as u32,
                _ => count.min(127),
            };
            let bytes = (believed * stride + count) * 4;
            let object = self.object_with(bytes, 0);
            let offset = self.offset(object, bytes, 4);
            let what = stride << 8 | count;
            match n % 2 {
                0 => body.extend([what, offset]),
                _ => {
                    let pair = body.len() - 2;
                    body[pair] |= what << 16;
                    body.push(offset);
                }
            }
            objects.push(object);
        }
        self.command(0x2f, &body);
        for object in objects {
            self.relocation(object);
        }
    }

    /// What is drawn (digest §2.6), with the number of vertices here or in the other register.
    fn control(&mut self, walk: u32, vertices: u32) -> u32 {
        let primitive = match self.s.below(200) {
            0 => self.s.below(16) as u32,
            n => [1, 2, 3, 4, 5, 6, 12, 13, 14, 15][n as usize % 10],
        };
        // Indices that are two, or are not used again; bits that mean nothing.
        let primitive = match self.s.below(200) {
            0 => primitive | 1 << [6, 10, 12, 13, 15][self.s.below(5) as usize],
            _ => primitive,
        };
        if self.one_in(5) {
            self.set(0x2088, &[vertices]);
            let other = self.s.below(1 << 16) as u32;
            return other << 16 | 1 << 14 | walk << 4 | primitive;
        }
        vertices << 16 | walk << 4 | primitive
    }

    /// The packet in one of its two forms: with a dword of format, or without.
    fn draw(&mut self, [old, new]: [u32; 2], body: &[u32]) {
        if self.s.flag() {
            let format = self.s.u32();
            self.command(old, &[&[format], body].concat());
        } else {
            self.command(new, body);
        }
    }

    fn draw_list(&mut self) {
        let vertices = match self.s.below(4) {
            0 => 1 + self.s.below(u64::from(self.last_vertex) + 1) as u32,
            _ => self.last_vertex + 1,
        };
        let control = self.control(2, vertices);
        self.draw([0x28, 0x34], &[control]);
    }

    fn draw_embedded(&mut self) {
        let (size, vertices) = (self.some(127), self.some(60));
        self.set(0x20b4, &[size]);
        let control = self.control(3, vertices);
        let dwords = size * vertices - u32::from(self.one_in(32));
        let mut body = vec![control];
        body.extend((0..dwords).map(|n| n.wrapping_mul(0x9e37_79b9)));
        self.draw([0x29, 0x35], &body);
    }

    fn draw_indexed(&mut self) {
        let vertices = self.some(2000);
        let wide = self.s.flag();
        let control = self.control(1, vertices) | u32::from(wide) << 11;
        let dwords = if wide { vertices } else { vertices.div_ceil(2) };
        if self.s.flag() {
            let mut body = vec![control];
            body.extend((0..dwords).map(|n| n.wrapping_mul(0x9e37_79b9)));
            self.draw([0x2a, 0x36], &body);
            return;
        }
        self.draw([0x2a, 0x36], &[control]);
        let object = self.object_with(dwords * 4, 0);
        let offset = self.offset(object, dwords * 4, 4);
        self.command(0x33, &[0x8000_0810, offset, dwords]);
        self.relocation(object);
    }
}
