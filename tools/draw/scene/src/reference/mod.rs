// SPDX-License-Identifier: GPL-2.0
//! The blitter in software: draws the same [`Command`]s into plain memory.
//!
//! Written from G45 PRM Vol 1b §8.2 and §8.9, pixel by pixel, for clearness more
//! than for speed. It refuses what the document leaves open, so that a picture
//! that it draws is one that a GPU must draw the same way.

mod operand;

use thiserror::Error;

use crate::blt::{Blit, Command, Key, KeyMode, Mask, Packing, Seed, Setup, SetupKind, Source};
use crate::rop::Rop;
use crate::surface::{Address, BufferId, Depth, Rect, Surface, Tiling};
pub(crate) use operand::fixed;
use operand::{Bits, PatternPixels, SourcePixels};

/// Why a command is not drawn.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReferenceError {
    /// A command reads or writes outside a buffer.
    #[error("buffer {0}: byte {1} is outside")]
    Outside(usize, usize),
    /// A value is stored off a multiple of its size.
    #[error("a store at {0:#x} is not aligned")]
    Unaligned(u32),
    /// A command needs a set-up that was not given.
    #[error("{0} without its set-up")]
    NoSetup(&'static str),
    /// Source and destination overlap and have different bases: the document promises nothing (§8.9.15).
    #[error("overlap with different bases")]
    Overlap,
    /// The raster operation reads an operand that the command does not have.
    #[error("raster operation {0:02x} reads an operand that is not there")]
    Operand(u8),
    /// A pattern code that is reserved (§8.9.14).
    #[error("fixed pattern {0} is reserved")]
    FixedPattern(u8),
    /// Both kinds of pattern transparency draw nothing (§8.9.23).
    #[error("a solid pattern cannot be transparent")]
    SolidTransparent,
}

/// The memory of a scene: one piece for each buffer.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Contents, by [`BufferId`].
    pub buffers: Vec<Vec<u8>>,
}

impl Memory {
    /// `len` bytes (at most 8) from an address, least significant first.
    fn read(&self, buffer: BufferId, offset: usize, len: usize) -> Result<u64, ReferenceError> {
        let piece = self
            .buffers
            .get(buffer.0)
            .and_then(|b| b.get(offset..offset + len));
        let piece = piece.ok_or(ReferenceError::Outside(buffer.0, offset))?;
        Ok(piece
            .iter()
            .rev()
            .fold(0, |v, byte| (v << 8) | u64::from(*byte)))
    }

    /// Writes the `len` low bytes of `value`.
    fn write(
        &mut self,
        buffer: BufferId,
        offset: usize,
        len: usize,
        value: u64,
    ) -> Result<(), ReferenceError> {
        let piece = self
            .buffers
            .get_mut(buffer.0)
            .and_then(|b| b.get_mut(offset..offset + len));
        let piece = piece.ok_or(ReferenceError::Outside(buffer.0, offset))?;
        piece.copy_from_slice(&value.to_le_bytes()[..len]);
        Ok(())
    }

    /// One pixel.
    pub fn pixel(&self, surface: &Surface, x: u32, y: u32) -> Result<u32, ReferenceError> {
        let at = surface.offset(x, y) as usize;
        Ok(self.read(surface.base.buffer, at, surface.depth.bytes() as usize)? as u32)
    }

    /// Writes pixels of a rectangle, row by row.
    pub fn put(
        &mut self,
        surface: &Surface,
        rect: &Rect,
        pixels: &[u32],
    ) -> Result<(), ReferenceError> {
        let rows = pixels.chunks((rect.width() as usize).max(1));
        for (y, row) in (rect.y1..rect.y2).zip(rows) {
            for (x, value) in (rect.x1..rect.x2).zip(row) {
                self.set_pixel(surface, x as u32, y as u32, *value)?;
            }
        }
        Ok(())
    }

    fn set_pixel(
        &mut self,
        surface: &Surface,
        x: u32,
        y: u32,
        value: u32,
    ) -> Result<(), ReferenceError> {
        let at = surface.offset(x, y) as usize;
        self.write(
            surface.base.buffer,
            at,
            surface.depth.bytes() as usize,
            u64::from(value),
        )
    }

    /// `count` pixels of one row of a linear surface.
    fn fill_row(
        &mut self,
        surface: &Surface,
        x: u32,
        y: u32,
        count: u32,
        colour: u32,
    ) -> Result<(), ReferenceError> {
        let (at, size) = (
            surface.offset(x, y) as usize,
            surface.depth.bytes() as usize,
        );
        let buffer = surface.base.buffer.0;
        let row = self
            .buffers
            .get_mut(buffer)
            .and_then(|b| b.get_mut(at..at + count as usize * size));
        let row = row.ok_or(ReferenceError::Outside(buffer, at))?;
        for pixel in row.chunks_exact_mut(size) {
            pixel.copy_from_slice(&colour.to_le_bytes()[..size]);
        }
        Ok(())
    }

    /// Stores dwords or qwords, as MI_STORE_DATA_IMM does: on a multiple of their size.
    pub fn store(&mut self, at: Address, bytes: usize, value: u64) -> Result<(), ReferenceError> {
        if !(at.offset as usize).is_multiple_of(bytes) {
            return Err(ReferenceError::Unaligned(at.offset));
        }
        self.write(at.buffer, at.offset as usize, bytes, value)
    }
}

/// A rectangle to draw, with its operands at hand.
struct Raster<'a> {
    dst: &'a Surface,
    rect: Rect,
    clip: Option<Rect>,
    rop: Rop,
    mask: Mask,
    key: Option<Key>,
    source: SourcePixels,
    pattern: PatternPixels,
}

/// The blitter: what the set-up commands left, and nothing else.
#[derive(Default)]
pub struct Blitter {
    setup: Option<Setup>,
    clip: Option<Rect>,
}

impl Blitter {
    /// A blitter without set-up.
    pub fn new() -> Blitter {
        Blitter::default()
    }

    /// Draws one command; the count of pixels that it looked at.
    pub fn draw(&mut self, memory: &mut Memory, command: &Command) -> Result<u64, ReferenceError> {
        match command {
            Command::LinearFill {
                at,
                pitch,
                width,
                height,
                depth,
                rop,
                mask,
                colour,
            } => {
                let (dst, rect) = linear(*at, *pitch, *width, *height, *depth);
                let pattern = PatternPixels::Solid(*colour);
                raster(
                    memory,
                    Raster {
                        dst: &dst,
                        rect,
                        clip: None,
                        rop: *rop,
                        mask: *mask,
                        key: None,
                        source: SourcePixels::None,
                        pattern,
                    },
                )
            }
            Command::LinearCopy {
                to,
                to_pitch,
                from,
                from_pitch,
                width,
                height,
                depth,
                rop,
            } => {
                let (dst, rect) = linear(*to, *to_pitch, *width, *height, *depth);
                let (src, _) = linear(*from, *from_pitch, *width, *height, *depth);
                // From left to right and top to bottom: safe if the destination lies before the source.
                if overlaps(&dst, &rect, &src, (0, 0)) && to.offset > from.offset {
                    return Err(ReferenceError::Overlap);
                }
                let source = SourcePixels::capture(memory, &src, 0, 0, &rect)?;
                raster(
                    memory,
                    Raster {
                        dst: &dst,
                        rect,
                        clip: None,
                        rop: *rop,
                        mask: Mask::ALL,
                        key: None,
                        source,
                        pattern: PatternPixels::None,
                    },
                )
            }
            Command::Blit(blit) => self.blit(memory, blit),
            Command::Setup(setup) => {
                self.clip = Some(setup.clip_rect);
                self.setup = Some(setup.clone());
                Ok(0)
            }
            Command::SetupClip { rect } => {
                self.clip = Some(*rect);
                Ok(0)
            }
            Command::Pixel { x, y, .. } => {
                let setup = self
                    .setup
                    .clone()
                    .ok_or(ReferenceError::NoSetup("XY_PIXEL_BLT"))?;
                let rect = Rect::new(i32::from(*x), i32::from(*y), 1, 1);
                // The clip rectangle acts on pixels whether or not clipping is on (§8.9.4).
                self.with_setup(
                    memory,
                    &setup,
                    rect,
                    true,
                    SourcePixels::None,
                    PatternPixels::Solid(setup.background),
                )
            }
            Command::Scanlines { rect, seed, .. } => {
                let setup = self
                    .setup
                    .clone()
                    .ok_or(ReferenceError::NoSetup("XY_SCANLINES_BLT"))?;
                let pattern = setup_pattern(memory, &setup, *seed)?;
                self.with_setup(
                    memory,
                    &setup,
                    *rect,
                    setup.clip,
                    SourcePixels::None,
                    pattern,
                )
            }
            Command::Text {
                rect, at, packing, ..
            } => {
                let setup = self
                    .setup
                    .clone()
                    .ok_or(ReferenceError::NoSetup("XY_TEXT_BLT"))?;
                let bits = Bits::from_memory(memory, *at, text_bits(rect, *packing))?;
                self.text(memory, &setup, rect, bits, *packing)
            }
            Command::TextImmediate {
                rect,
                data,
                packing,
                ..
            } => {
                let setup = self
                    .setup
                    .clone()
                    .ok_or(ReferenceError::NoSetup("XY_TEXT_IMMEDIATE_BLT"))?;
                self.text(memory, &setup, rect, Bits::from_dwords(data), *packing)
            }
        }
    }

    fn text(
        &self,
        memory: &mut Memory,
        setup: &Setup,
        rect: &Rect,
        bits: Bits,
        packing: Packing,
    ) -> Result<u64, ReferenceError> {
        let SetupKind::Text { transparent, .. } = setup.kind else {
            return Err(ReferenceError::NoSetup("text"));
        };
        let stride = text_stride(rect, packing);
        let background = (!transparent).then_some(setup.background);
        let source = SourcePixels::Mono {
            bits,
            first: 0,
            stride,
            foreground: setup.foreground,
            background,
        };
        self.with_setup(
            memory,
            setup,
            *rect,
            setup.clip,
            source,
            PatternPixels::None,
        )
    }

    fn with_setup(
        &self,
        memory: &mut Memory,
        setup: &Setup,
        rect: Rect,
        clip: bool,
        source: SourcePixels,
        pattern: PatternPixels,
    ) -> Result<u64, ReferenceError> {
        let clip = clip.then_some(self.clip.unwrap_or(setup.clip_rect));
        raster(
            memory,
            Raster {
                dst: &setup.dst,
                rect,
                clip,
                rop: setup.rop,
                mask: setup.mask,
                key: None,
                source,
                pattern,
            },
        )
    }

    fn blit(&mut self, memory: &mut Memory, blit: &Blit) -> Result<u64, ReferenceError> {
        let source = match &blit.source {
            Source::None => SourcePixels::None,
            Source::Colour { surface, x, y } => {
                if overlaps(
                    &blit.dst,
                    &blit.rect,
                    surface,
                    (i32::from(*x), i32::from(*y)),
                ) && surface.base != blit.dst.base
                {
                    return Err(ReferenceError::Overlap);
                }
                SourcePixels::capture(memory, surface, i32::from(*x), i32::from(*y), &blit.rect)?
            }
            Source::Mono { at, bit, ink } => {
                let stride = mono_stride(&blit.rect, *bit);
                let bits = Bits::from_memory(memory, *at, stride * blit.rect.height() as usize)?;
                SourcePixels::Mono {
                    bits,
                    first: usize::from(*bit),
                    stride,
                    foreground: ink.foreground,
                    background: ink.background,
                }
            }
            Source::MonoImmediate { data, ink } => SourcePixels::Mono {
                bits: Bits::from_dwords(data),
                first: 0,
                stride: mono_stride(&blit.rect, 0),
                foreground: ink.foreground,
                background: ink.background,
            },
        };
        let pattern = PatternPixels::of(memory, &blit.pattern, blit.dst.depth)?;
        let clip = if blit.clip {
            Some(self.clip.ok_or(ReferenceError::NoSetup("clip"))?)
        } else {
            None
        };
        raster(
            memory,
            Raster {
                dst: &blit.dst,
                rect: blit.rect,
                clip,
                rop: blit.rop,
                mask: blit.mask,
                key: blit.key,
                source,
                pattern,
            },
        )
    }
}

/// A linear command's operand as a surface and the rectangle it covers.
fn linear(base: Address, pitch: u16, width: u16, height: u16, depth: Depth) -> (Surface, Rect) {
    let width = u32::from(width) / depth.bytes();
    let surface = Surface {
        base,
        pitch: u32::from(pitch),
        width,
        height: u32::from(height),
        depth,
        tiling: Tiling::Linear,
    };
    (surface, surface.rect())
}

/// Bits from one row of a mono source to the next: rows start on 16 bits (§8.2.2.3).
fn mono_stride(rect: &Rect, bit: u8) -> usize {
    (rect.width() as usize + usize::from(bit)).next_multiple_of(16)
}

/// Bits from one row of text to the next (§8.9.6).
fn text_stride(rect: &Rect, packing: Packing) -> usize {
    match packing {
        Packing::Bit => rect.width() as usize,
        Packing::Byte => (rect.width() as usize).next_multiple_of(8),
    }
}

fn text_bits(rect: &Rect, packing: Packing) -> usize {
    text_stride(rect, packing) * rect.height() as usize
}

/// The pattern that a set-up command gave to XY_SCANLINES_BLT.
fn setup_pattern(
    memory: &Memory,
    setup: &Setup,
    seed: Seed,
) -> Result<PatternPixels, ReferenceError> {
    match &setup.kind {
        SetupKind::MonoPattern {
            solid: true,
            transparent: true,
            ..
        } => Err(ReferenceError::SolidTransparent),
        SetupKind::MonoPattern { solid: true, .. } => Ok(PatternPixels::Solid(setup.background)),
        SetupKind::MonoPattern {
            rows, transparent, ..
        } => Ok(PatternPixels::Mono {
            rows: *rows,
            seed,
            foreground: setup.foreground,
            background: (!transparent).then_some(setup.background),
        }),
        SetupKind::Text {
            pattern: Some(at), ..
        } => PatternPixels::from_memory(memory, *at, setup.dst.depth, seed),
        SetupKind::Text { pattern: None, .. } => Err(ReferenceError::NoSetup("colour pattern")),
    }
}

/// Whether a colour source and the destination share bytes; for equal surfaces that is told by coordinates.
fn overlaps(dst: &Surface, rect: &Rect, src: &Surface, from: (i32, i32)) -> bool {
    if dst.base.buffer != src.base.buffer {
        return false;
    }
    let source = Rect::new(from.0, from.1, rect.width() as i32, rect.height() as i32);
    let span = |s: &Surface, r: &Rect| {
        let last = s.offset(r.x2.max(1) as u32 - 1, r.y2.max(1) as u32 - 1) + s.depth.bytes();
        (s.offset(r.x1.max(0) as u32, r.y1.max(0) as u32), last)
    };
    if dst == src {
        let both = rect.intersect(&source);
        return both.width() > 0 && both.height() > 0;
    }
    let (a, b) = (span(dst, rect), span(src, &source));
    a.0 < b.1 && b.0 < a.1
}

/// The channels that a key compares: those of the depth, without alpha (§8.10.1).
pub(crate) fn inside(key: &Key, depth: Depth, pixel: u32) -> bool {
    let channels: &[(u32, u32)] = match depth {
        Depth::Bpp8 => &[(0, 0xff)],
        Depth::Bpp565 => &[(0, 0x1f), (5, 0x3f), (11, 0x1f)],
        Depth::Bpp1555 => &[(0, 0x1f), (5, 0x1f), (10, 0x1f)],
        Depth::Bpp32 => &[(0, 0xff), (8, 0xff), (16, 0xff)],
    };
    channels.iter().all(|(shift, mask)| {
        let of = |v: u32| (v >> shift) & mask;
        of(key.low) <= of(pixel) && of(pixel) <= of(key.high)
    })
}

/// Draws one rectangle (§8.2.1, §8.9).
fn raster(memory: &mut Memory, r: Raster) -> Result<u64, ReferenceError> {
    if (r.rop.reads_source() && matches!(r.source, SourcePixels::None))
        || (r.rop.reads_pattern() && matches!(r.pattern, PatternPixels::None))
    {
        return Err(ReferenceError::Operand(r.rop.0));
    }
    let mut visible = r.rect.intersect(&Rect {
        x1: 0,
        y1: 0,
        x2: i32::MAX,
        y2: i32::MAX,
    });
    if let Some(clip) = r.clip {
        visible = visible.intersect(&clip);
    }
    let depth = r.dst.depth;
    let channels = match (depth, r.mask) {
        (Depth::Bpp32, mask) => {
            (if mask.rgb { 0x00ff_ffff } else { 0 }) | (if mask.alpha { 0xff00_0000 } else { 0 })
        }
        (other, _) => other.mask(),
    };
    let plain = channels == depth.mask() && !r.rop.reads_destination() && r.key.is_none();
    let mut pixels = 0;
    if let (true, Rop::PATTERN, PatternPixels::Solid(colour), Tiling::Linear) =
        (plain, r.rop, &r.pattern, r.dst.tiling)
    {
        // Most of a picture is this: whole rows of one colour.
        for y in visible.y1..visible.y2 {
            memory.fill_row(r.dst, visible.x1 as u32, y as u32, visible.width(), *colour)?;
        }
        return Ok(u64::from(visible.width()) * u64::from(visible.height()));
    }
    for y in visible.y1..visible.y2 {
        for x in visible.x1..visible.x2 {
            pixels += 1;
            let (column, row) = ((x - r.rect.x1) as usize, (y - r.rect.y1) as usize);
            let (Some(source), Some(pattern)) =
                (r.source.at(column, row), r.pattern.at(x as u32, y as u32))
            else {
                continue;
            };
            let (ux, uy) = (x as u32, y as u32);
            let old = if plain {
                0
            } else {
                memory.pixel(r.dst, ux, uy)?
            };
            let drawn = match &r.key {
                Some(
                    key @ Key {
                        mode: KeyMode::Source,
                        ..
                    },
                ) => !inside(key, depth, source),
                Some(key) => inside(key, depth, old),
                None => true,
            };
            if drawn {
                let new = r.rop.apply(pattern, source, old);
                memory.set_pixel(r.dst, ux, uy, (new & channels) | (old & !channels))?;
            }
        }
    }
    Ok(pixels)
}

#[cfg(test)]
mod tests;
