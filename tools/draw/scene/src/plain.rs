// SPDX-License-Identifier: GPL-2.0
//! The picture for a 2D engine that has fewer commands: rectangles of source, pattern and
//! destination, and nothing else.
//!
//! What a blitter of Sandy Bridge does by itself is resolved here: set-up, clip rectangles, fixed
//! patterns and phases of patterns; bits of text and colour keys become the runs of pixels that they let
//! through. What has to come of it is still said by the [`reference`](mod@crate::reference), from the
//! commands as they were composed.

use serde::{Deserialize, Serialize};

use crate::blt::{Blit, Command, Ink, KeyMode, Mask, Packing, Pattern, Seed, Setup};
use crate::blt::{SetupKind, Source};
use crate::reference::{fixed, inside, Blitter, Memory, ReferenceError};
use crate::rop::Rop;
use crate::scene::{Buffer, Scene, Work};
use crate::surface::{Address, Depth, Rect, Surface};

/// The pattern operand: 8 by 8 pixels, of which the first belongs to (0, 0) of the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brush {
    /// None.
    None,
    /// One colour.
    Solid(u32),
    /// Bits: bit 7 of byte n is the left end of row n. Zeros without a colour draw nothing.
    Mono {
        /// Rows.
        rows: [u8; 8],
        /// Colours.
        ink: Ink,
    },
    /// 64 pixels, row by row.
    Colour(Vec<u32>),
}

/// The source operand: pixels of a surface, from this corner on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct From {
    /// Where.
    pub surface: Surface,
    /// First column.
    pub x: i32,
    /// First row.
    pub y: i32,
}

/// A rectangle to be drawn; it is inside the surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Where.
    pub dst: Surface,
    /// Which pixels.
    pub rect: Rect,
    /// Raster operation.
    pub rop: Rop,
    /// Bits of each pixel that are written.
    pub mask: u32,
    /// Source, if there is one.
    pub source: Option<From>,
    /// Pattern.
    pub brush: Brush,
}

impl Operation {
    /// The same without a brush of colours: runs of one colour each. For what reads its own
    /// pixels that makes a difference.
    pub fn without_colour_brush(&self) -> Vec<Operation> {
        let Brush::Colour(pixels) = &self.brush else {
            return vec![self.clone()];
        };
        let at = |x: i32, y: i32| pixels[((y & 7) * 8 + (x & 7)) as usize];
        let mut colours = pixels.clone();
        colours.sort_unstable();
        colours.dedup();
        let mut runs = Vec::new();
        for colour in colours {
            for rect in runs_of(self.rect, |x, y| at(x, y) == colour) {
                runs.push(Operation {
                    rect,
                    source: self.source.map(|from| From {
                        x: from.x + rect.x1 - self.rect.x1,
                        y: from.y + rect.y1 - self.rect.y1,
                        ..from
                    }),
                    brush: Brush::Solid(colour),
                    ..self.clone()
                });
            }
        }
        runs
    }

    /// The pixels that it leaves, row by row.
    pub fn result(&self, memory: &Memory) -> Result<Vec<u32>, ReferenceError> {
        let mut out = Vec::new();
        for y in self.rect.y1..self.rect.y2 {
            for x in self.rect.x1..self.rect.x2 {
                let n = (y % 8 * 8 + x % 8) as usize;
                let pattern = match &self.brush {
                    Brush::None => Some(0),
                    Brush::Solid(colour) => Some(*colour),
                    Brush::Colour(pixels) => Some(pixels[n]),
                    Brush::Mono { rows, ink } => match rows[n / 8] & (0x80 >> (n % 8)) {
                        0 => ink.background,
                        _ => Some(ink.foreground),
                    },
                };
                let source = match &self.source {
                    Some(from) => {
                        let (x, y) = (from.x + x - self.rect.x1, from.y + y - self.rect.y1);
                        memory.pixel(&from.surface, x as u32, y as u32)?
                    }
                    None => 0,
                };
                let old = memory.pixel(&self.dst, x as u32, y as u32)?;
                let drawn = pattern.map_or(old, |p| self.rop.apply(p, source, old));
                out.push(drawn & self.mask | old & !self.mask);
            }
        }
        Ok(out)
    }

    /// Draws it by its definition alone.
    pub fn draw(&self, memory: &mut Memory) -> Result<(), ReferenceError> {
        let pixels = self.result(memory)?;
        memory.put(&self.dst, &self.rect, &pixels)
    }

    /// Whether it reads pixels that it writes.
    pub fn overlaps(&self) -> bool {
        self.source.is_some_and(|from| {
            let (w, h) = (self.rect.width() as i32, self.rect.height() as i32);
            let both = self.rect.intersect(&Rect::new(from.x, from.y, w, h));
            from.surface == self.dst && both.width() > 0 && both.height() > 0
        })
    }
}

/// A part of the picture.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// What is drawn, in order.
    pub operations: Vec<Operation>,
}

/// The picture.
#[derive(Clone, Debug)]
pub struct Plain {
    /// Parts, in order.
    pub parts: Vec<Part>,
    /// What stands in all buffers when everything was drawn.
    pub expected: Memory,
}

/// What a command is without set-up.
struct Raster {
    dst: Surface,
    rect: Rect,
    visible: Rect,
    rop: Rop,
    mask: u32,
    brush: Brush,
}

impl Raster {
    fn operation(&self, rect: Rect, source: Option<From>) -> Operation {
        Operation {
            dst: self.dst,
            rect,
            rop: self.rop,
            mask: self.mask,
            source,
            brush: self.brush.clone(),
        }
    }
}

/// Bits in rows, as text and mono sources have them.
struct Bits<'a> {
    bytes: &'a [u8],
    first: usize,
    stride: usize,
    ink: Ink,
}

impl Bits<'_> {
    fn get(&self, x: i32, y: i32) -> bool {
        let n = self.first + y as usize * self.stride + x as usize;
        self.bytes
            .get(n / 8)
            .is_some_and(|b| b & (0x80 >> (n % 8)) != 0)
    }
}

/// The runs of pixels for which `there` is so, as rectangles of one row.
fn runs_of(visible: Rect, there: impl Fn(i32, i32) -> bool) -> Vec<Rect> {
    let mut runs = Vec::new();
    for y in visible.y1..visible.y2 {
        let mut x = visible.x1;
        while x < visible.x2 {
            let start = x;
            let state = there(x, y);
            while x < visible.x2 && there(x, y) == state {
                x += 1;
            }
            if state {
                runs.push(Rect::new(start, y, x - start, 1));
            }
        }
    }
    runs
}

/// Resolves commands one after the other.
struct Resolver {
    setup: Option<Setup>,
    clip: Option<Rect>,
    out: Vec<Operation>,
}

impl Resolver {
    fn raster(
        &self,
        dst: Surface,
        rect: Rect,
        clip: Option<Rect>,
        (rop, mask): (Rop, Mask),
    ) -> Raster {
        let mut visible = rect.intersect(&dst.rect());
        if let Some(clip) = clip {
            visible = visible.intersect(&clip);
        }
        let mask = match dst.depth {
            Depth::Bpp32 => {
                (if mask.rgb { 0x00ff_ffff } else { 0 })
                    | (if mask.alpha { 0xff00_0000 } else { 0 })
            }
            other => other.mask(),
        };
        Raster {
            dst,
            rect,
            visible,
            rop,
            mask,
            brush: Brush::None,
        }
    }

    fn push(&mut self, raster: &Raster, rect: Rect, source: Option<From>) {
        if rect.width() > 0 && rect.height() > 0 {
            self.out.push(raster.operation(rect, source));
        }
    }

    /// A source of bits: runs of each colour. The source becomes a pattern of that colour, so the
    /// raster operation may not read a pattern besides.
    fn bits(&mut self, mut raster: Raster, bits: &Bits<'_>) -> Result<(), ReferenceError> {
        if raster.rop.reads_pattern() {
            return Err(ReferenceError::Operand(raster.rop.0));
        }
        // Bits 3:2 and 1:0 of the code are what S = 1 and S = 0 give; those of P are 7:4 and 3:0.
        let code = raster.rop.0;
        let (one, zero) = (code >> 2 & 3, code & 3);
        raster.rop = Rop(one << 6 | one << 4 | zero << 2 | zero);
        let (left, top) = (raster.rect.x1, raster.rect.y1);
        let colours = [
            (Some(bits.ink.foreground), true),
            (bits.ink.background, false),
        ];
        for (colour, state) in colours {
            let Some(colour) = colour else { continue };
            raster.brush = Brush::Solid(colour);
            for run in runs_of(raster.visible, |x, y| bits.get(x - left, y - top) == state) {
                self.push(&raster, run, None);
            }
        }
        Ok(())
    }

    fn with_setup(&self, name: &'static str) -> Result<(Setup, Option<Rect>), ReferenceError> {
        let setup = self.setup.clone().ok_or(ReferenceError::NoSetup(name))?;
        let clip = self.clip;
        Ok((setup, clip))
    }

    fn text(&mut self, rect: Rect, packing: Packing, bytes: &[u8]) -> Result<(), ReferenceError> {
        let (setup, clip) = self.with_setup("text")?;
        let SetupKind::Text { transparent, .. } = setup.kind else {
            return Err(ReferenceError::NoSetup("text"));
        };
        let clip = clip.filter(|_| setup.clip);
        let raster = self.raster(setup.dst, rect, clip, (setup.rop, setup.mask));
        let width = rect.width() as usize;
        let bits = Bits {
            bytes,
            first: 0,
            stride: match packing {
                Packing::Bit => width,
                Packing::Byte => width.next_multiple_of(8),
            },
            ink: Ink {
                foreground: setup.foreground,
                background: (!transparent).then_some(setup.background),
            },
        };
        self.bits(raster, &bits)
    }

    fn blit(&mut self, memory: &Memory, blit: &Blit) -> Result<(), ReferenceError> {
        let clip = if blit.clip {
            Some(self.clip.ok_or(ReferenceError::NoSetup("clip"))?)
        } else {
            None
        };
        let mut raster = self.raster(blit.dst, blit.rect, clip, (blit.rop, blit.mask));
        raster.brush = brush(memory, &blit.pattern, blit.dst.depth)?;
        match &blit.source {
            Source::None => self.push(&raster, raster.visible, None),
            Source::Colour { surface, x, y } => {
                let from = |r: Rect| From {
                    surface: *surface,
                    x: i32::from(*x) + r.x1 - raster.rect.x1,
                    y: i32::from(*y) + r.y1 - raster.rect.y1,
                };
                let rects = match &blit.key {
                    None => vec![raster.visible],
                    Some(key) => {
                        let at = |x: i32, y: i32| {
                            let (s, px, py) = match key.mode {
                                KeyMode::Source => {
                                    let f = from(Rect::new(x, y, 1, 1));
                                    (surface, f.x, f.y)
                                }
                                KeyMode::Destination => (&blit.dst, x, y),
                            };
                            memory.pixel(s, px as u32, py as u32).unwrap_or(0)
                        };
                        let wanted = key.mode == KeyMode::Destination;
                        runs_of(raster.visible, |x, y| {
                            inside(key, blit.dst.depth, at(x, y)) == wanted
                        })
                    }
                };
                for rect in rects {
                    self.push(&raster, rect, Some(from(rect)));
                }
            }
            Source::Mono { at, bit, ink } => {
                let bits = Bits {
                    bytes: bytes_at(memory, *at)?,
                    first: usize::from(*bit),
                    stride: (blit.rect.width() as usize + usize::from(*bit)).next_multiple_of(16),
                    ink: *ink,
                };
                self.bits(raster, &bits)?;
            }
            Source::MonoImmediate { data, ink } => {
                let bytes: Vec<u8> = data.iter().flat_map(|d| d.to_le_bytes()).collect();
                let bits = Bits {
                    bytes: &bytes,
                    first: 0,
                    stride: (blit.rect.width() as usize).next_multiple_of(16),
                    ink: *ink,
                };
                self.bits(raster, &bits)?;
            }
        }
        Ok(())
    }

    fn command(&mut self, memory: &Memory, command: &Command) -> Result<(), ReferenceError> {
        match command {
            // The picture has none of them: only the sheets beside it do.
            Command::LinearFill { .. } => return Err(ReferenceError::NoSetup("COLOR_BLT")),
            Command::LinearCopy { .. } => return Err(ReferenceError::NoSetup("SRC_COPY_BLT")),
            Command::Blit(blit) => self.blit(memory, blit)?,
            Command::Setup(setup) => {
                self.clip = Some(setup.clip_rect);
                self.setup = Some(setup.clone());
            }
            Command::SetupClip { rect } => self.clip = Some(*rect),
            Command::Pixel { x, y, .. } => {
                let (setup, clip) = self.with_setup("XY_PIXEL_BLT")?;
                let rect = Rect::new(i32::from(*x), i32::from(*y), 1, 1);
                let mut raster = self.raster(setup.dst, rect, clip, (setup.rop, setup.mask));
                raster.brush = Brush::Solid(setup.background);
                self.push(&raster, raster.visible, None);
            }
            Command::Scanlines { rect, seed, .. } => {
                let (setup, clip) = self.with_setup("XY_SCANLINES_BLT")?;
                let clip = clip.filter(|_| setup.clip);
                let mut raster = self.raster(setup.dst, *rect, clip, (setup.rop, setup.mask));
                let ink = Ink {
                    foreground: setup.foreground,
                    background: Some(setup.background),
                };
                raster.brush = match &setup.kind {
                    SetupKind::MonoPattern { solid: true, .. } => Brush::Solid(setup.background),
                    SetupKind::MonoPattern {
                        rows, transparent, ..
                    } => Brush::Mono {
                        rows: turned(rows, *seed),
                        ink: Ink {
                            background: ink.background.filter(|_| !transparent),
                            ..ink
                        },
                    },
                    SetupKind::Text {
                        pattern: Some(at), ..
                    } => {
                        let pattern = Pattern::Colour {
                            at: *at,
                            seed: *seed,
                        };
                        brush(memory, &pattern, setup.dst.depth)?
                    }
                    SetupKind::Text { pattern: None, .. } => {
                        return Err(ReferenceError::NoSetup("colour pattern"))
                    }
                };
                self.push(&raster, raster.visible, None);
            }
            Command::Text {
                rect, at, packing, ..
            } => self.text(*rect, *packing, bytes_at(memory, *at)?)?,
            Command::TextImmediate {
                rect,
                data,
                packing,
                ..
            } => {
                let bytes: Vec<u8> = data.iter().flat_map(|d| d.to_le_bytes()).collect();
                self.text(*rect, *packing, &bytes)?;
            }
        }
        Ok(())
    }
}

fn bytes_at(memory: &Memory, at: Address) -> Result<&[u8], ReferenceError> {
    memory
        .buffers
        .get(at.buffer.0)
        .and_then(|b| b.get(at.offset as usize..))
        .ok_or(ReferenceError::Outside(at.buffer.0, at.offset as usize))
}

/// Rows of a pattern so that its first pixel belongs to (0, 0).
fn turned(rows: &[u8; 8], seed: Seed) -> [u8; 8] {
    std::array::from_fn(|y| rows[(y + usize::from(seed.y)) % 8].rotate_left(u32::from(seed.x % 8)))
}

/// A pattern as a brush.
fn brush(memory: &Memory, pattern: &Pattern, depth: Depth) -> Result<Brush, ReferenceError> {
    let colour = |bytes: &[u8], seed: Seed| {
        let size = depth.bytes() as usize;
        let pixel = |n: usize| {
            bytes[n * size..][..size]
                .iter()
                .rev()
                .fold(0, |v, b| v << 8 | u32::from(*b))
        };
        Brush::Colour(
            (0..64)
                .map(|n| {
                    let x = (n + usize::from(seed.x)) % 8;
                    let y = (n / 8 + usize::from(seed.y)) % 8;
                    pixel(y * 8 + x)
                })
                .collect(),
        )
    };
    Ok(match pattern {
        Pattern::None => Brush::None,
        Pattern::Solid(colour) => Brush::Solid(*colour),
        Pattern::Colour { at, seed } => {
            let bytes = bytes_at(memory, *at)?;
            let size = 64 * depth.bytes() as usize;
            let end = at.offset as usize + size;
            let outside = ReferenceError::Outside(at.buffer.0, end);
            colour(bytes.get(..size).ok_or(outside)?, *seed)
        }
        Pattern::ColourImmediate { data, seed } => {
            let bytes: Vec<u8> = data.iter().flat_map(|d| d.to_le_bytes()).collect();
            let size = 64 * depth.bytes() as usize;
            let short = ReferenceError::Outside(0, bytes.len());
            colour(bytes.get(..size).ok_or(short)?, *seed)
        }
        Pattern::Mono { rows, ink, seed } => Brush::Mono {
            rows: turned(rows, *seed),
            ink: *ink,
        },
        Pattern::Fixed { code, ink, seed } => Brush::Mono {
            rows: turned(
                &fixed(*code).ok_or(ReferenceError::FixedPattern(*code))?,
                *seed,
            ),
            ink: *ink,
        },
    })
}

impl Plain {
    /// The picture of a scene. Values that are stored there become pixels.
    pub fn of(scene: &Scene) -> Result<Plain, ReferenceError> {
        let mut memory = Memory {
            buffers: scene.buffers.iter().map(Buffer::contents).collect(),
        };
        let mut blitter = Blitter::new();
        let mut resolver = Resolver {
            setup: None,
            clip: None,
            out: Vec::new(),
        };
        let mut parts = Vec::new();
        for section in &scene.sections {
            match &section.work {
                Work::Blits(commands) => {
                    for command in commands {
                        resolver.command(&memory, command)?;
                        blitter.draw(&mut memory, command)?;
                    }
                }
                Work::Stores { by, list, .. } => {
                    for store in list {
                        memory.store(store.at, by.bytes(), store.value)?;
                        for n in 0..by.bytes() as u32 / 4 {
                            let offset = store.at.offset + 4 * n;
                            let (x, y) = (
                                offset % scene.picture.pitch / 4,
                                offset / scene.picture.pitch,
                            );
                            let colour = (store.value >> (32 * n)) as u32;
                            resolver.out.push(Operation {
                                dst: scene.picture,
                                rect: Rect::new(x as i32, y as i32, 1, 1),
                                rop: Rop::PATTERN,
                                mask: u32::MAX,
                                source: None,
                                brush: Brush::Solid(colour),
                            });
                        }
                    }
                }
            }
            parts.push(Part {
                name: section.name.clone(),
                operations: std::mem::take(&mut resolver.out),
            });
        }
        Ok(Plain {
            parts,
            expected: memory,
        })
    }
}

#[cfg(test)]
mod tests;
