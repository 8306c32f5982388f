// SPDX-License-Identifier: GPL-2.0
//! Local memory: the card's own, seen by the CPU through BAR2 (digest §5.2). Its last 256th is the flat
//! CCS, one byte of compression state for each 256 bytes, which only the blitter reaches.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use vm_memory::mmap::MmapRegion;
use vm_memory::{Bytes, FileOffset, VolatileMemory};

/// The memory of a card.
pub struct Lmem {
    map: MmapRegion,
    file: Option<Arc<OwnedFd>>,
    size: u64,
}

impl Lmem {
    /// `size` bytes of private memory, zeroed.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn private(size: u64) -> anyhow::Result<Self> {
        Ok(Lmem {
            map: MmapRegion::new(size as usize)?,
            file: None,
            size,
        })
    }

    /// `size` bytes that a guest can map, zeroed.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn shared(size: u64) -> anyhow::Result<Self> {
        let fd = rustix::fs::memfd_create("gpu-model-lmem", rustix::fs::MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&fd, size)?;
        let at = FileOffset::new(std::fs::File::from(fd.try_clone()?), 0);
        Ok(Lmem {
            map: MmapRegion::from_file(at, size as usize)?,
            file: Some(Arc::new(fd)),
            size,
        })
    }

    /// The file, for the guest to map; `None` for private memory.
    pub fn file(&self) -> Option<Arc<OwnedFd>> {
        self.file.clone()
    }

    /// Size in bytes, the flat CCS included.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where the flat CCS begins, in units of 64 KB as the register has it.
    pub fn ccs_base(&self) -> u64 {
        (self.size - self.size / 256) & !0xffff
    }

    /// Fills the first `len` bytes with what was never written: a driver that hands memory out must
    /// clear it.
    pub fn fill_with_garbage(&self, seed: u64, len: u64) {
        let mut v = seed ^ 0x9e37_79b9_7f4a_7c15;
        let page: Vec<u8> = (0..512)
            .flat_map(|_| {
                v = v.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (v | 1).to_le_bytes()
            })
            .collect();
        for at in (0..len.min(self.size)).step_by(page.len()) {
            self.write(at, &page);
        }
    }

    fn inside(&self, at: u64, len: usize) -> bool {
        at.checked_add(len as u64)
            .is_some_and(|end| end <= self.size)
    }

    /// Reads. Bytes that do not exist read zero. Aligned dwords and quadwords are single accesses.
    pub fn read(&self, at: u64, buf: &mut [u8]) {
        if !self.inside(at, buf.len()) {
            buf.fill(0);
            return;
        }
        let all = self.map.as_volatile_slice();
        let place = at as usize;
        // In range by the check above, so nothing here fails.
        match buf.len() {
            4 if at.is_multiple_of(4) => {
                let v: u32 = all.load(place, Ordering::Acquire).unwrap_or(0);
                buf.copy_from_slice(&v.to_le_bytes());
            }
            8 if at.is_multiple_of(8) => {
                let v: u64 = all.load(place, Ordering::Acquire).unwrap_or(0);
                buf.copy_from_slice(&v.to_le_bytes());
            }
            _ => {
                let _ = all.read_slice(buf, place);
            }
        }
    }

    /// Writes. Bytes that do not exist are dropped.
    pub fn write(&self, at: u64, data: &[u8]) {
        if !self.inside(at, data.len()) {
            return;
        }
        let all = self.map.as_volatile_slice();
        let place = at as usize;
        match (<[u8; 4]>::try_from(data), <[u8; 8]>::try_from(data)) {
            (Ok(b), _) if at.is_multiple_of(4) => {
                let _ = all.store(u32::from_le_bytes(b), place, Ordering::Release);
            }
            (_, Ok(b)) if at.is_multiple_of(8) => {
                let _ = all.store(u64::from_le_bytes(b), place, Ordering::Release);
            }
            _ => {
                let _ = all.write_slice(data, place);
            }
        }
    }

    /// One little-endian quadword, zero outside.
    pub fn qword(&self, at: u64) -> u64 {
        let mut b = [0; 8];
        self.read(at, &mut b);
        u64::from_le_bytes(b)
    }
}
