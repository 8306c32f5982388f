// SPDX-License-Identifier: GPL-2.0
//! Command streams for an R5xx that make sense, most of the time: by a grammar of state, draws and blits.
//!
//! Each piece is laid out so that what it needs ends with the object that it is in, as far as the generator
//! knows; some are moved beyond that on purpose, and some dwords of some streams are changed afterwards. What
//! one may do out of order is done so now and then: masks of pipes that hide a write, controls and comparisons of the
//! 2D engine before and behind each other, bits that change how pixels lie in memory. Forms of packets are the document's (§5.1, §5.2), registers the digest's (§3.3 to §3.5, §4.1).

mod three_d;
mod two_d;

use crate::source::Source;
use ouro_hw::fence_regs::Tiling;

/// Bytes that an object has at most.
pub const MAX_BYTES: u32 = 512 << 10;
/// Objects.
pub const OBJECTS: usize = 6;

/// A stream, and what it takes for granted of its objects.
pub struct Made {
    /// The dwords.
    pub stream: Vec<u32>,
    /// Bytes of the objects, and their tiles.
    pub objects: [(u32, Option<Tiling>); OBJECTS],
    /// Whether the stream says itself how they are tiled.
    pub knows: bool,
    /// Whether it is for a chip with a mask of units of depth: RV530.
    pub depth_pipes: bool,
}

/// A surface's tiles: macro, and the blocks.
type Tiles = (u32, u32);

/// Tiles of an object, as the fields of surfaces have them.
fn fields(tiling: Option<Tiling>) -> Tiles {
    match tiling {
        Some(Tiling::Macro) => (1, 0),
        Some(Tiling::Micro) => (0, 1),
        Some(Tiling::MacroMicro) => (1, 1),
        Some(Tiling::Square) => (0, 2),
        Some(Tiling::MacroSquare) => (1, 2),
        _ => (0, 0),
    }
}

/// Pixels and rows that are whole in memory (digest §4.1); blocks that there are not count as rows.
fn grain(pixel: u32, tiles: Tiles) -> (u32, u32) {
    let (width, rows) = match (tiles.1, pixel) {
        (1, 1) => (8, 4),
        (1, 2) => (8, 2),
        (1, 4) => (4, 2),
        (1, 8) => (2, 2),
        (2, 2) => (4, 4),
        _ => (32 / pixel, 1),
    };
    match tiles.0 {
        0 => (width, rows),
        _ => (8 * width, 8 * rows),
    }
}

/// Bytes of so many columns and rows at most, whatever the tiles: none has longer rows than 256 bytes, none
/// more rows than 32.
fn most((columns, rows): (u32, u32), pixel: u32) -> u32 {
    (columns * pixel).next_multiple_of(256) * rows.next_multiple_of(32)
}

/// Whether there are such blocks of such pixels (digest §4.1).
fn has_blocks(pixel: u32, micro: u32) -> bool {
    match micro {
        0 => true,
        1 => pixel <= 8,
        _ => pixel == 2,
    }
}

fn align_of(tiles: Tiles) -> u32 {
    match tiles.0 {
        0 => 32,
        _ => 2048,
    }
}

/// Stretches of registers that only shape what is drawn, and their bits: some of the list of digest §5.7; fields by
/// digest §3.3 to §3.5 and AMD's register pages.
const SHAPES: [(u32, u32, u32); 27] = [
    (0x1d98, 0x1dac, u32::MAX),
    (0x2090, 0x2090, 0x0001_001f),
    (0x2094, 0x2094, 0x00ff_ffff),
    (0x20b0, 0x20b0, 0xf3f),
    (0x2150, 0x216c, u32::MAX),
    (0x2180, 0x2180, 0x0001_ffff),
    (0x21dc, 0x21fc, u32::MAX),
    (0x2220, 0x222c, u32::MAX),
    (0x2290, 0x22cc, 0x8000_ffff),
    (0x2500, 0x257c, u32::MAX),
    (0x4008, 0x4008, 0xffff_0007),
    (0x4074, 0x40b0, u32::MAX),
    (0x4200, 0x420c, u32::MAX),
    (0x4264, 0x4268, u32::MAX),
    (0x42a0, 0x42b0, u32::MAX),
    (0x4300, 0x4300, 0x0007_f7ff),
    (0x4320, 0x435c, 0x07ff_ffff),
    (0x43b0, 0x43cc, u32::MAX),
    (0x4440, 0x447c, 0xdfe1_dfff),
    (0x4580, 0x45bc, u32::MAX),
    (0x4640, 0x467c, 0x03ff_ffff),
    (0x4c00, 0x4c7c, 0x00ff_ffff),
    // Nobody describes these.
    (0x2188, 0x21c4, 0),
    (0x2230, 0x226c, 0),
    (0x4118, 0x4120, 0),
    (0x4c80, 0x4dfc, 0),
    (0x4e1c, 0x4e24, 0),
];

/// The generator.
struct Generator<'a, 'b> {
    s: &'a mut Source<'b>,
    made: Made,
    /// Columns and rows that are drawn, and samples of each pixel.
    extent: (u32, u32),
    samples: u32,
    /// Whether draws clear colour along with depth.
    clears: bool,
    /// Whether all draws have a depth target.
    deep: bool,
    /// The last vertex that arrays are laid out for, and what is added to each index.
    last_vertex: u32,
    index_offset: u32,
}

/// Makes a stream.
pub fn make(s: &mut Source<'_>) -> Made {
    let knows = s.below(4) != 0;
    let depth_pipes = s.below(4) == 3;
    let objects = std::array::from_fn(|_| {
        let tilings = [
            None,
            None,
            Some(Tiling::Macro),
            Some(Tiling::Micro),
            Some(Tiling::MacroMicro),
            Some(Tiling::Square),
            Some(Tiling::MacroSquare),
            None,
        ];
        let bytes = match s.below(4) {
            0 => 1 + s.below(8192) as u32,
            1 => 4096 * (1 + s.below(16) as u32),
            _ => MAX_BYTES / 2 + s.below(u64::from(MAX_BYTES) / 2) as u32,
        };
        (bytes, tilings[s.below(8) as usize])
    });
    let mut generator = Generator {
        s,
        made: Made {
            stream: Vec::new(),
            objects,
            knows,
            depth_pipes,
        },
        extent: (1, 1),
        samples: 1,
        clears: false,
        deep: false,
        last_vertex: 0,
        index_offset: 0,
    };
    let pieces = 1 + generator.s.below(8);
    for _ in 0..pieces {
        generator.piece();
    }
    if generator.s.below(4) == 3 {
        generator.spoil();
    }
    generator.made
}

impl Generator<'_, '_> {
    fn one_in(&mut self, n: u64) -> bool {
        self.s.below(n) == n - 1
    }

    /// A number from 1 on, mostly a small one.
    fn some(&mut self, most: u32) -> u32 {
        let end = match self.s.below(4) {
            0 => 4,
            1 | 2 => 20,
            _ => most,
        };
        1 + self.s.below(u64::from(end.min(most))) as u32
    }

    fn put(&mut self, dwords: &[u32]) {
        self.made.stream.extend_from_slice(dwords);
    }

    /// Registers, one after the other (§5.1.1).
    fn set(&mut self, register: u32, values: &[u32]) {
        let count = values.len() as u32 - 1;
        self.put(&[count << 16 | (register / 4)]);
        self.put(values);
    }

    /// A command (§5.1.4).
    fn command(&mut self, opcode: u32, body: &[u32]) {
        let count = body.len() as u32 - 1;
        self.put(&[3 << 30 | count << 16 | opcode << 8]);
        self.put(body);
    }

    /// A relocation (digest §5.7).
    fn relocation(&mut self, n: usize) {
        self.put(&[0xc000_1000, n as u32 * 4]);
    }

    /// An object.
    fn any_object(&mut self) -> usize {
        self.s.below(OBJECTS as u64) as usize
    }

    /// One that has so many bytes, and, if it says how it is tiled, tiles for such pixels, if any has.
    fn object_with(&mut self, bytes: u32, pixel: u32) -> usize {
        let first = self.any_object();
        let fits = |n: &usize| {
            let (size, tiling) = self.made.objects[*n];
            size >= bytes && (self.made.knows || pixel == 0 || has_blocks(pixel, fields(tiling).1))
        };
        (0..OBJECTS)
            .map(|n| (first + n) % OBJECTS)
            .find(fits)
            .unwrap_or(first)
    }

    /// An offset into an object such that so many bytes end with it; now and then a step too far.
    fn offset(&mut self, object: usize, bytes: u32, align: u32) -> u32 {
        let room = self.made.objects[object].0.saturating_sub(bytes);
        let exact = room / align * align;
        match self.s.below(256) {
            0 => 0,
            255 => exact + align,
            _ => exact,
        }
    }

    /// Tiles of a surface in an object.
    fn tiles(&mut self, object: usize, pixel: u32) -> Tiles {
        let tiles = match self.made.knows {
            false => fields(self.made.objects[object].1),
            true => {
                let micro = [0, 0, 1, u32::from(pixel == 2) * 2][self.s.below(4) as usize];
                (self.s.below(2) as u32 | u32::from(self.clears), micro)
            }
        };
        match (pixel, self.made.knows) {
            (16, true) => (tiles.0, 0),
            _ => tiles,
        }
    }

    fn piece(&mut self) {
        match self.s.below(13) {
            12 if self.made.depth_pipes && self.s.flag() => self.nested_masks(),
            12 => self.behind_masks(),
            0 => self.shapes(),
            1 => self.nothing(),
            2 => self.wait(),
            3 => self.blit(),
            4 => self.rectangles(),
            5 => self.query(),
            6 => self.scene(false),
            _ => self.scene(true),
        }
    }

    /// Registers that have no say in what memory is touched.
    fn shapes(&mut self) {
        for _ in 0..self.some(6) {
            let (first, last, bits) = SHAPES[self.s.below(SHAPES.len() as u64) as usize];
            let bits = if self.one_in(200) { u32::MAX } else { bits };
            let register = first + 4 * self.s.below(u64::from((last - first) / 4) + 1) as u32;
            let room = (last - register) / 4 + 1;
            let values = (0..self.some(room)).map(|_| self.s.odd() as u32 & bits);
            let values: Vec<u32> = values.collect();
            self.set(register, &values);
        }
        // A memory of the engines, through one register over and over (15).
        let (index, data) = [(0x2200, 0x2208), (0x4250, 0x4254)][self.s.below(2) as usize];
        let place = self.s.below(512) as u32;
        self.set(index, &[place]);
        let dwords = 4 * self.some(16);
        self.put(&[(dwords - 1) << 16 | 1 << 15 | (data / 4)]);
        for _ in 0..dwords {
            let value = self.s.u32();
            self.put(&[value]);
        }
    }

    fn nothing(&mut self) {
        let body: Vec<u32> = (0..self.some(20)).map(|_| self.s.u32()).collect();
        self.command(0x10, &body);
        for _ in 0..self.s.below(4) {
            let filler = 2 << 30 | self.s.u32() >> 2;
            self.put(&[filler]);
        }
    }

    /// Flushes, and waits for what will come.
    fn wait(&mut self) {
        for (register, value) in [(0x4e4c, 0xa), (0x4f18, 3), (0x1714, 0xf), (0x2284, 0)] {
            if self.s.flag() {
                self.set(register, &[value]);
            }
        }
        let bit = [9, 14, 15, 16, 17, 18, 28][self.s.below(7) as usize];
        self.set(0x1720, &[1 << bit]);
    }

    /// Changes some dwords, or takes some out.
    fn spoil(&mut self) {
        for _ in 0..self.some(3) {
            let len = self.made.stream.len() as u64;
            if len == 0 {
                return;
            }
            let at = self.s.below(len) as usize;
            let dword = &mut self.made.stream[at];
            match self.s.below(6) {
                0 => *dword ^= 1 << self.s.below(32),
                1 => *dword = dword.wrapping_add(1),
                2 => *dword = dword.wrapping_sub(1),
                3 => *dword = self.s.odd() as u32,
                4 => drop(self.made.stream.remove(at)),
                _ => self.made.stream.insert(at, self.s.u32()),
            }
        }
    }
}
