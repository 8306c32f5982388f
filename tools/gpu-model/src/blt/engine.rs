// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Doing a blit: operands are fetched, expanded, combined and written, line by line (G45 PRM V1b §8.2).

use super::key::{Key, Operand};
use super::mono::Mono;
use super::pattern::{fill, Cell, Pattern};
use super::rop::Rop;
use super::surface::Surface;
use super::{BltMemory, BltStats, Depth};
use crate::slip::{self, Slip};
use crate::tiling::Tiling;

/// A blit whose rectangle is clipped and not empty.
#[derive(Clone, Debug)]
pub(super) struct Blit {
    /// Depth of all colour operands (§8.2.2.2: they have one).
    pub depth: Depth,
    /// What is written.
    pub rop: Rop,
    /// Byte enables of a 32-bit pixel (the header's byte mask); all set at other depths.
    pub enable: [u8; 4],
    /// The destination.
    pub dst: Surface,
    /// First byte column of the destination.
    pub x: u64,
    /// First line of the destination.
    pub y: u64,
    /// Bytes per line.
    pub bytes: usize,
    /// Lines.
    pub lines: u64,
    /// The source.
    pub source: Source,
    /// The pattern.
    pub pattern: Pattern,
    /// Pixels of these rows whose bit is 0 are not written.
    pub pattern_mask: Option<[u8; 8]>,
    /// Pattern pixel and line that belong to destination (0, 0).
    pub seed: (u64, u64),
    /// The colour key.
    pub key: Option<Key>,
    /// Pixels of a line are done from right to left.
    pub backwards_x: bool,
    /// Lines are done from the last to the first.
    pub backwards_y: bool,
}

/// A source operand, at the first pixel of the rectangle.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The command has none: reads as 0.
    Absent,
    /// Colour pixels.
    Colour {
        /// The surface.
        surface: Surface,
        /// First byte column.
        x: u64,
        /// First line.
        y: u64,
    },
    /// One bit per pixel.
    Mono {
        /// The bits.
        mono: Mono,
        /// First pixel of a line.
        column: u64,
        /// First line.
        line: u64,
    },
}

/// Buffers of one line.
struct Line {
    source: Vec<u8>,
    pattern: Vec<u8>,
    destination: Vec<u8>,
    enable: Vec<u8>,
    /// Bits of a monochrome source, one per byte.
    bits: Vec<u8>,
    scratch: Vec<u8>,
    /// Row of the pattern that `pattern` holds.
    row: Option<usize>,
}

impl Blit {
    /// Executes the blit.
    pub fn draw(&self, mem: &mut dyn BltMemory) -> BltStats {
        let mut counted = Counted {
            mem,
            read: 0,
            written: 0,
        };
        self.draw_lines(&mut counted);
        BltStats {
            pixels: (self.bytes / self.depth.bytes()) as u64 * self.lines,
            bytes_read: counted.read,
            bytes_written: counted.written,
            violations: Vec::new(),
        }
    }

    fn draw_lines(&self, mem: &mut dyn BltMemory) {
        // Nothing can be written: no byte enabled, or a solid pattern that is also transparent (§8.9.23: no pixels are
        // drawn).
        if self.enable == [0; 4] || self.pattern_mask == Some([0; 8]) {
            return;
        }
        let cell = if self.rop.uses_pattern() {
            self.pattern.load(mem, self.depth)
        } else {
            Pattern::Absent.load(mem, self.depth)
        };
        let buffer = || vec![0; self.bytes];
        let mut line = Line {
            source: buffer(),
            pattern: buffer(),
            destination: buffer(),
            enable: buffer(),
            bits: vec![0; self.bytes.div_ceil(self.depth.bytes())],
            scratch: Vec::new(),
            row: None,
        };
        for i in 0..self.lines {
            let at = if self.backwards_y {
                self.lines - 1 - i
            } else {
                i
            };
            self.pattern_line(&cell, at, &mut line);
            let step = self.step(at);
            let mut done = 0;
            while done < self.bytes {
                let length = step.min(self.bytes - done);
                let start = if self.backwards_x {
                    self.bytes - done - length
                } else {
                    done
                };
                self.draw_part(mem, &mut line, at, start, length);
                done += length;
            }
        }
    }

    /// Returns how many bytes of a line can be read before any of them is written, with the same result as pixel by
    /// pixel: all, unless the source overlaps and the X direction is the wrong one for it.
    fn step(&self, line: u64) -> usize {
        let Source::Colour { surface, x, y } = self.source else {
            return self.bytes;
        };
        let distance = if surface.tiling == Tiling::Linear && self.dst.tiling == Tiling::Linear {
            self.dst.address(self.x, self.y + line) as i64 - surface.address(x, y + line) as i64
        } else if surface == self.dst && self.y == y {
            self.x as i64 - x as i64
        } else {
            return self.bytes;
        };
        let wrong_way = if self.backwards_x {
            distance < 0
        } else {
            distance > 0
        };
        let distance = distance.unsigned_abs();
        if !wrong_way || distance >= self.bytes as u64 {
            return self.bytes;
        }
        let pixel = self.depth.bytes();
        (distance as usize / pixel * pixel).max(pixel)
    }

    /// Brings the pattern's row for a line into the buffer.
    fn pattern_line(&self, cell: &Cell, line: u64, buffers: &mut Line) {
        if !self.rop.uses_pattern() {
            return;
        }
        let row = if cell.solid {
            0
        } else {
            ((self.y + line + self.seed.1) % 8) as usize
        };
        if buffers.row != Some(row) {
            let first = self.x / self.depth.bytes() as u64 + self.seed.0;
            cell.line(row, (first % 8) as usize, &mut buffers.pattern);
            buffers.row = Some(row);
        }
    }

    /// Does `length` bytes of a line, from byte `start` of it on.
    fn draw_part(
        &self,
        mem: &mut dyn BltMemory,
        buffers: &mut Line,
        line: u64,
        start: usize,
        length: usize,
    ) {
        let Line {
            source,
            pattern,
            destination,
            enable,
            bits,
            scratch,
            row: _,
        } = buffers;
        let (source, pattern) = (&mut source[..length], &pattern[start..start + length]);
        let (destination, enable) = (&mut destination[..length], &mut enable[..length]);
        let pixel = self.depth.bytes();
        let (x, y) = (self.x + start as u64, self.y + line);
        let key_operand = self.key.map(|key| key.operand);

        let mut masked = self.enable != [0xff; 4];
        if masked {
            fill(enable, u32::from_le_bytes(self.enable), pixel);
        } else if self.has_masks() {
            enable.fill(0xff);
        }

        match &self.source {
            Source::Absent => {}
            Source::Colour {
                surface,
                x: source_x,
                y: source_y,
            } => {
                if self.rop.uses_source() || key_operand == Some(Operand::Source) {
                    surface.read(mem, source_x + start as u64, source_y + line, source);
                }
            }
            Source::Mono {
                mono,
                column,
                line: first,
            } => {
                if self.rop.uses_source() || mono.transparent {
                    let bits = &mut bits[..length.div_ceil(pixel)];
                    mono.line(
                        mem,
                        first + line,
                        column + (start / pixel) as u64,
                        scratch,
                        bits,
                    );
                    expand(bits, mono.background, mono.foreground, pixel, source);
                    if mono.transparent {
                        masked = true;
                        let leaves = u8::from(slip::is(Slip::MonoZerosDrawn));
                        disable(enable, pixel, |i| bits[i] == leaves);
                    }
                }
            }
        }
        if let Some(rows) = self.pattern_mask {
            masked = true;
            let row = rows[((y + self.seed.1) % 8) as usize];
            let first = x / pixel as u64 + self.seed.0;
            disable(enable, pixel, |i| {
                row & (0x80 >> ((first + i as u64) % 8)) == 0
            });
        }
        if self.rop.uses_destination() || key_operand == Some(Operand::Destination) {
            self.dst.read(mem, x, y, destination);
        }
        if let Some(key) = self.key {
            masked = true;
            let compared: &[u8] = match key.operand {
                Operand::Source => source,
                Operand::Destination => destination,
            };
            disable(enable, pixel, |i| {
                let mut value = [0; 4];
                value[..pixel].copy_from_slice(&compared[i * pixel..(i + 1) * pixel]);
                !key.writes(self.depth, u32::from_le_bytes(value))
            });
        }

        let out: &[u8] = match self.rop {
            Rop::SOURCE => source,
            Rop::PATTERN => pattern,
            rop => {
                rop.apply(pattern, source, destination);
                destination
            }
        };
        if masked {
            self.dst.write_enabled(mem, x, y, out, enable);
        } else {
            self.dst.write(mem, x, y, out);
        }
    }

    /// Returns whether single pixels may be left out.
    fn has_masks(&self) -> bool {
        self.key.is_some()
            || self.pattern_mask.is_some()
            || matches!(&self.source, Source::Mono { mono, .. } if mono.transparent)
    }
}

/// Gives every bit its colour.
fn expand(bits: &[u8], background: u32, foreground: u32, bytes_per_pixel: usize, out: &mut [u8]) {
    let colours = [background.to_le_bytes(), foreground.to_le_bytes()];
    for (bit, pixel) in bits.iter().zip(out.chunks_exact_mut(bytes_per_pixel)) {
        pixel.copy_from_slice(&colours[usize::from(*bit)][..bytes_per_pixel]);
    }
}

/// Takes away the byte enables of the pixels that `leave` names.
fn disable(enable: &mut [u8], bytes_per_pixel: usize, leave: impl Fn(usize) -> bool) {
    for (i, pixel) in enable.chunks_exact_mut(bytes_per_pixel).enumerate() {
        if leave(i) {
            pixel.fill(0);
        }
    }
}

/// Memory that counts what passes through it.
struct Counted<'a> {
    mem: &'a mut dyn BltMemory,
    read: u64,
    written: u64,
}

impl BltMemory for Counted<'_> {
    fn read(&mut self, addr: u64, buf: &mut [u8]) {
        self.read += buf.len() as u64;
        self.mem.read(addr, buf);
    }

    fn write(&mut self, addr: u64, data: &[u8]) {
        self.written += data.len() as u64;
        self.mem.write(addr, data);
    }

    fn write_enabled(&mut self, addr: u64, data: &[u8], enable: &[u8]) {
        self.written += enable.iter().filter(|&&e| e != 0).count() as u64;
        self.mem.write_enabled(addr, data, enable);
    }
}
