// SPDX-License-Identifier: GPL-2.0
//! Video memory: stored as the CPU sees it, so that the guest can map it, and permuted for the chip.
//!
//! The CPU's window may detile ([`super::surface`]; R5xx guide §2.2 lists the host path among the
//! units that know tiles). A guest that has the memory mapped makes no accesses that could be
//! detiled one by one. So it is done the other way round: while a surface register covers a range,
//! the bytes there are kept in the order in which the CPU shall see them, and what the chip itself
//! accesses goes through the tile formula. Switching a surface on or off moves the bytes. A driver
//! must not let anybody look meanwhile; it cannot on a card either.

use super::surface::Surface;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use vm_memory::mmap::MmapRegion;
use vm_memory::{Bytes, FileOffset, VolatileMemory};

/// The memory of a card.
pub struct Vram {
    map: MmapRegion,
    file: Option<Arc<OwnedFd>>,
    size: u64,
    surfaces: RwLock<Vec<Surface>>,
}

impl Vram {
    /// `size` bytes of private memory, zeroed.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn private(size: u64) -> anyhow::Result<Self> {
        Ok(Vram {
            map: MmapRegion::new(size as usize)?,
            file: None,
            size,
            surfaces: RwLock::default(),
        })
    }

    /// `size` bytes of a new anonymous file that a guest can map, zeroed.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn shared(size: u64) -> anyhow::Result<Self> {
        let fd = rustix::fs::memfd_create("gpu-model-vram", rustix::fs::MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&fd, size)?;
        let at = FileOffset::new(std::fs::File::from(fd.try_clone()?), 0);
        Ok(Vram {
            map: MmapRegion::from_file(at, size as usize)?,
            file: Some(Arc::new(fd)),
            size,
            surfaces: RwLock::default(),
        })
    }

    /// The file, for the guest to map; `None` for private memory.
    pub fn file(&self) -> Option<Arc<OwnedFd>> {
        self.file.clone()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// True if all of the range exists.
    pub fn contains(&self, offset: u64, len: usize) -> bool {
        offset
            .checked_add(len as u64)
            .is_some_and(|end| end <= self.size)
    }

    /// Fills the memory with what was never written: a driver that hands it out must clear it.
    pub fn fill_with_garbage(&self, seed: u64) {
        let mut v = seed ^ 0x9e37_79b9_7f4a_7c15;
        let page: Vec<u8> = (0..512)
            .flat_map(|_| {
                v = v.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (v | 1).to_le_bytes()
            })
            .collect();
        for at in (0..self.size).step_by(page.len()) {
            self.cpu_write(at, &page);
        }
    }

    /// Reads as the CPU, through the surfaces. Bytes that do not exist read zero.
    pub fn cpu_read(&self, offset: u64, buf: &mut [u8]) {
        if !self.contains(offset, buf.len()) {
            buf.fill(0);
            return;
        }
        let all = self.map.as_volatile_slice();
        let at = offset as usize;
        // In range by the check above, so nothing here fails.
        match buf.len() {
            4 if at.is_multiple_of(4) => {
                let v: u32 = all.load(at, Ordering::Acquire).unwrap_or(0);
                buf.copy_from_slice(&v.to_le_bytes());
            }
            _ => {
                let _ = all.read_slice(buf, at);
            }
        }
    }

    /// Writes as the CPU, through the surfaces. Bytes that do not exist are dropped.
    pub fn cpu_write(&self, offset: u64, data: &[u8]) {
        if !self.contains(offset, data.len()) {
            return;
        }
        let all = self.map.as_volatile_slice();
        let at = offset as usize;
        match <[u8; 4]>::try_from(data) {
            Ok(b) if at.is_multiple_of(4) => {
                let _ = all.store(u32::from_le_bytes(b), at, Ordering::Release);
            }
            _ => {
                let _ = all.write_slice(data, at);
            }
        }
    }

    /// Reads as the chip: bytes where the tile formula puts them. All of the range must exist.
    pub fn read(&self, offset: u64, buf: &mut [u8]) {
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

    /// Changes the surfaces that detile for the CPU. They must not overlap.
    pub fn set_surfaces(&self, new: Vec<Surface>) {
        let mut now = self
            .surfaces
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for gone in now.iter().filter(|s| !new.contains(s)) {
            self.reorder(gone, false);
        }
        for added in new.iter().filter(|s| !now.contains(s)) {
            self.reorder(added, true);
        }
        *now = new;
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

/// Where the byte at the chip's offset is stored, and how many after it follow there.
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
