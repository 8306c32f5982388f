// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Colour operands in memory: rows of a linear or tiled surface, read and written in contiguous spans.

use super::BltMemory;
use crate::tiling::{self, Swizzle, Tiling};

/// Engines of Gen4 to Gen7 have 32 address bits; sums wrap. (§8.10.6 to §8.10.11 print 29 bits, from the time of 512 MB
/// of graphics memory, yet the packets have all 32.)
const ADDRESS_SPACE: u64 = 1 << 32;

/// A surface: pixel (x, y) lies at base + y * pitch + x * bytes per pixel (§8.9), or walks tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Surface {
    /// Address of pixel (0, 0).
    pub base: u64,
    /// Bytes from a line to the next.
    pub pitch: i64,
    /// How it is laid out.
    pub tiling: Tiling,
    /// Fold of bit 6, of tiled surfaces.
    pub swizzle: Swizzle,
}

impl Surface {
    /// Memory from an address on, as one line.
    pub const fn plain(base: u64) -> Surface {
        Surface {
            base,
            pitch: 0,
            tiling: Tiling::Linear,
            swizzle: Swizzle::None,
        }
    }

    /// Address of byte `x` of line `y`.
    pub fn address(&self, x: u64, y: u64) -> u64 {
        let address = self
            .base
            .wrapping_add_signed(tiling::offset(self.tiling, self.pitch, x, y));
        let address = address % ADDRESS_SPACE;
        match self.tiling {
            Tiling::Linear => address,
            _ => self.swizzle.apply(address),
        }
    }

    /// Cuts `length` bytes from byte `x` of line `y` on into runs that are contiguous in memory: the run's address, its
    /// start in the line's buffer, its length.
    fn spans(
        &self,
        x: u64,
        y: u64,
        length: usize,
    ) -> impl Iterator<Item = (u64, usize, usize)> + '_ {
        let mut done = 0;
        std::iter::from_fn(move || {
            if done >= length {
                return None;
            }
            let at = x + done as u64;
            let address = self.address(at, y);
            let run = tiling::contiguous(self.tiling, self.swizzle, at)
                .min(ADDRESS_SPACE - address)
                .min((length - done) as u64) as usize;
            let start = done;
            done += run;
            Some((address, start, run))
        })
    }

    /// Reads part of a line.
    pub fn read(&self, mem: &mut dyn BltMemory, x: u64, y: u64, buf: &mut [u8]) {
        for (address, start, run) in self.spans(x, y, buf.len()) {
            mem.read(address, &mut buf[start..start + run]);
        }
    }

    /// Writes part of a line.
    pub fn write(&self, mem: &mut dyn BltMemory, x: u64, y: u64, data: &[u8]) {
        for (address, start, run) in self.spans(x, y, data.len()) {
            mem.write(address, &data[start..start + run]);
        }
    }

    /// Writes those bytes of part of a line whose byte enable is not 0.
    pub fn write_enabled(
        &self,
        mem: &mut dyn BltMemory,
        x: u64,
        y: u64,
        data: &[u8],
        enable: &[u8],
    ) {
        for (address, start, run) in self.spans(x, y, data.len()) {
            let enable = &enable[start..start + run];
            let Some(first) = enable.iter().position(|&e| e != 0) else {
                continue;
            };
            let end = enable
                .iter()
                .rposition(|&e| e != 0)
                .map_or(run, |last| last + 1);
            let data = &data[start + first..start + end];
            let enable = &enable[first..end];
            if enable.contains(&0) {
                mem.write_enabled(address + first as u64, data, enable);
            } else {
                mem.write(address + first as u64, data);
            }
        }
    }
}
