// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Video memory: stored as the CPU sees it, so that the guest can map it, and permuted for the chip.
//!
//! The CPU's window may detile ([`super::surface`]; R5xx guide §2.2 lists the host path among the units that know
//! tiles). The model does not see single accesses of a guest that has the memory mapped, and cannot detile them. So it
//! is done the other way round: while a surface register covers a range, the bytes there are kept in the order in which
//! the CPU shall see them, and the chip's own accesses go through the tile formula. Switching a surface on or off moves
//! the bytes. A driver must prevent the CPU's accesses meanwhile, as on a card.

use super::surface::Surface;
use crate::card_memory::CardMemory;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The memory of a card.
pub struct Vram {
    stored: CardMemory,
    surfaces: RwLock<Vec<Surface>>,
    /// There are any: most accesses need not look.
    has_surfaces: AtomicBool,
    /// The memory is not set up: it answers, but with nothing that was stored.
    noise: AtomicU64,
}

impl Vram {
    /// `size` bytes of private memory, zeroed.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn private(size: u64) -> anyhow::Result<Self> {
        Ok(Vram {
            stored: CardMemory::private(size)?,
            surfaces: RwLock::default(),
            has_surfaces: AtomicBool::new(false),
            noise: AtomicU64::new(0),
        })
    }

    /// `size` bytes of a new anonymous file that a guest can map, zeroed.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn shared(size: u64) -> anyhow::Result<Self> {
        Ok(Vram {
            stored: CardMemory::shared("gpu-model-vram", 0, size)?,
            surfaces: RwLock::default(),
            has_surfaces: AtomicBool::new(false),
            noise: AtomicU64::new(0),
        })
    }

    /// The file, for the guest to map; `None` for private memory.
    pub fn file(&self) -> Option<Arc<OwnedFd>> {
        self.stored.file()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.stored.size()
    }

    /// True if all of the range exists.
    pub fn contains(&self, offset: u64, len: usize) -> bool {
        self.stored.contains(offset, len)
    }

    /// Fills the memory with what was never written: a driver that hands it out must clear it.
    pub fn fill_with_garbage(&self, seed: u64) {
        self.stored.fill_with_garbage(seed, self.size());
    }

    /// Reads as the CPU, through the surfaces. Bytes that do not exist read zero.
    pub fn cpu_read(&self, offset: u64, buf: &mut [u8]) {
        if self.is_noise() {
            for b in buf {
                let n = self.noise.fetch_add(1, Ordering::Relaxed);
                *b = (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
            }
            return;
        }
        self.stored.read(offset, buf);
    }

    /// Writes as the CPU, through the surfaces. Bytes that do not exist are dropped.
    pub fn cpu_write(&self, offset: u64, data: &[u8]) {
        if !self.is_noise() {
            self.stored.write(offset, data);
        }
    }

    /// Sets whether the memory answers with noise and keeps nothing, as that of a card that was not posted. A guest
    /// that has it mapped finds garbage that it can write over; the chip does not see what it wrote.
    pub fn set_noise(&self, on: bool) {
        self.noise.store(on.into(), Ordering::Relaxed);
    }

    /// True while it does.
    pub fn is_noise(&self) -> bool {
        self.noise.load(Ordering::Relaxed) != 0
    }

    /// True if a surface turns the bytes at an offset about for the CPU.
    pub fn is_reordered(&self, offset: u64) -> bool {
        let surfaces = self.surfaces.read().unwrap_or_else(PoisonError::into_inner);
        surfaces
            .iter()
            .any(|s| (s.start..s.end()).contains(&offset))
    }

    /// Reads as the chip: bytes where the tile formula puts them. All of the range must exist.
    pub fn read(&self, offset: u64, buf: &mut [u8]) {
        if !self.has_surfaces.load(Ordering::Acquire) {
            return self.cpu_read(offset, buf);
        }
        let surfaces = self.surfaces.read().unwrap_or_else(PoisonError::into_inner);
        let mut done = 0;
        while done < buf.len() {
            let at = offset + done as u64;
            let (stored, run) = place(&surfaces, at);
            let n = (buf.len() - done).min(run as usize);
            self.cpu_read(stored, &mut buf[done..done + n]);
            done += n;
        }
    }

    /// Writes as the chip. All of the range must exist.
    pub fn write(&self, offset: u64, data: &[u8]) {
        if !self.has_surfaces.load(Ordering::Acquire) {
            return self.cpu_write(offset, data);
        }
        let surfaces = self.surfaces.read().unwrap_or_else(PoisonError::into_inner);
        let mut done = 0;
        while done < data.len() {
            let at = offset + done as u64;
            let (stored, run) = place(&surfaces, at);
            let n = (data.len() - done).min(run as usize);
            self.cpu_write(stored, &data[done..done + n]);
            done += n;
        }
    }

    /// Changes the surfaces that detile for the CPU. They must not overlap. An access of the chip while the first of
    /// them is set may find bytes in either order.
    pub fn set_surfaces(&self, new: Vec<Surface>) {
        let mut now = self
            .surfaces
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        // From now on accesses wait until the bytes have moved.
        self.has_surfaces.store(true, Ordering::Release);
        for gone in now.iter().filter(|s| !new.contains(s)) {
            self.reorder(gone, false);
        }
        for added in new.iter().filter(|s| !now.contains(s)) {
            self.reorder(added, true);
        }
        *now = new;
        self.has_surfaces.store(!now.is_empty(), Ordering::Release);
    }

    /// Moves the bytes of a surface from the chip's order to the CPU's, or back.
    fn reorder(&self, surface: &Surface, to_cpu: bool) {
        let row = surface.layout.pitch * surface.layout.row_unit();
        if row == 0 {
            return;
        }
        let mut old = vec![0; row as usize];
        let mut new = vec![0; row as usize];
        let step = surface.layout.micro.width();
        let mut base = surface.start;
        // A row of tiles at a time: tiles never mix rows of tiles.
        while base + row <= surface.end() {
            self.cpu_read(base, &mut old);
            for y in 0..surface.layout.row_unit() {
                for x in (0..surface.layout.pitch).step_by(step as usize) {
                    let linear = (y * surface.layout.pitch + x) as usize;
                    let tiled = surface.layout.offset(x, y) as usize;
                    let (from, to) = if to_cpu {
                        (tiled, linear)
                    } else {
                        (linear, tiled)
                    };
                    let n = step as usize;
                    if let (Some(to), Some(from)) =
                        (new.get_mut(to..to + n), old.get(from..from + n))
                    {
                        to.copy_from_slice(from);
                    }
                }
            }
            self.cpu_write(base, &new);
            base += row;
        }
    }
}

/// Returns where the byte at the chip's offset is stored, and how many bytes follow it there.
fn place(surfaces: &[Surface], at: u64) -> (u64, u64) {
    let mut run = u64::MAX;
    for s in surfaces {
        if at >= s.start && at < s.end() {
            let inside = at - s.start;
            let (x, y) = s.layout.position(inside);
            let stored = s.start + y * s.layout.pitch + x;
            return (stored, s.layout.micro.width() - x % s.layout.micro.width());
        }
        if at < s.start {
            run = run.min(s.start - at);
        }
    }
    (at, run)
}
