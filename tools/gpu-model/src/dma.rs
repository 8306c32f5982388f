// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Guest memory as vfio-user hands it over: pieces of files, mapped and unmapped at run time.
//!
//! QEMU cuts guest RAM at firmware areas and at 4 GiB, so one access may cross pieces. Areas that
//! come without a descriptor (ROM, other devices' BARs) are accepted and answer as unmapped.

use crate::memory::{GuestMemory, MemoryError};
use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::RwLock;
use vm_memory::mmap::MmapRegion;
use vm_memory::{Bytes, FileOffset, VolatileMemory};

struct Piece {
    iova: u64,
    size: u64,
    writable: bool,
    map: Option<MmapRegion>,
}

/// The DMA map of one vfio-user client. An unmap waits for accesses in flight.
#[derive(Default)]
pub struct DmaMemory {
    pieces: RwLock<Vec<Piece>>,
}

impl DmaMemory {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `size` bytes at bus address `iova`, backed by `file` from `offset` on.
    ///
    /// # Errors
    /// The error of `mmap`, when the descriptor cannot be mapped; `InvalidInput` for an empty piece, or
    /// one that is not in its file or wraps.
    pub fn map(
        &self,
        iova: u64,
        size: u64,
        offset: u64,
        writable: bool,
        file: Option<File>,
    ) -> io::Result<()> {
        let map = match file {
            None => None,
            Some(file) => {
                check(&file, iova, size, offset)?;
                let prot = libc_prot(writable);
                let at = FileOffset::new(file, offset);
                let region = MmapRegion::build(Some(at), size as usize, prot, MAP_SHARED_NORESERVE)
                    .map_err(io::Error::other)?;
                Some(region)
            }
        };
        let mut pieces = self.pieces.write().unwrap_or_else(|e| e.into_inner());
        pieces.push(Piece {
            iova,
            size,
            writable,
            map,
        });
        Ok(())
    }

    /// Takes away all pieces that lie inside the range.
    pub fn unmap(&self, iova: u64, size: u64) {
        let end = iova.saturating_add(size);
        let mut pieces = self.pieces.write().unwrap_or_else(|e| e.into_inner());
        pieces.retain(|p| p.iova < iova || p.iova.saturating_add(p.size) > end);
    }

    /// Takes everything away.
    pub fn clear(&self) {
        self.pieces
            .write()
            .unwrap_or_else(|e| e.into_inner())
            .clear();
    }

    /// Runs `f(piece, offset in piece, range of the buffer)` over the pieces that cover the range.
    fn each(
        &self,
        addr: u64,
        len: usize,
        mut f: impl FnMut(&MmapRegion, bool, usize, std::ops::Range<usize>) -> Result<(), MemoryError>,
    ) -> Result<(), MemoryError> {
        let pieces = self.pieces.read().unwrap_or_else(|e| e.into_inner());
        let mut done = 0;
        while done < len {
            let at = addr
                .checked_add(done as u64)
                .ok_or(MemoryError::Unmapped(addr))?;
            let found = pieces
                .iter()
                .find(|p| p.map.is_some() && at >= p.iova && at - p.iova < p.size)
                .and_then(|p| p.map.as_ref().map(|m| (p, m)));
            let (piece, map) = found.ok_or(MemoryError::Unmapped(at))?;
            let offset = at - piece.iova;
            let n = (len - done).min((piece.size - offset) as usize);
            f(map, piece.writable, offset as usize, done..done + n)?;
            done += n;
        }
        Ok(())
    }
}

/// Refuses what would kill the process at its first use: a piece that lies outside of its file.
fn check(file: &File, iova: u64, size: u64, offset: u64) -> io::Result<()> {
    let metadata = file.metadata()?;
    let end = offset.checked_add(size);
    let inside = !metadata.is_file() || end.is_some_and(|end| end <= metadata.len());
    if size == 0 || iova.checked_add(size).is_none() || !inside {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(())
}

/// `PROT_READ`, with `PROT_WRITE` for memory the device may write.
fn libc_prot(writable: bool) -> i32 {
    1 | if writable { 2 } else { 0 }
}

/// `MAP_SHARED | MAP_NORESERVE` of Linux.
const MAP_SHARED_NORESERVE: i32 = 0x01 | 0x4000;

impl GuestMemory for DmaMemory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        self.each(addr, buf.len(), |map, _, offset, range| {
            let all = map.as_volatile_slice();
            let bad = |_| MemoryError::Unmapped(addr);
            let part = &mut buf[range];
            match (part.len(), offset % part.len().max(1)) {
                (4, 0) => {
                    let v: u32 = all.load(offset, Ordering::Acquire).map_err(bad)?;
                    part.copy_from_slice(&v.to_le_bytes());
                    Ok(())
                }
                (8, 0) => {
                    let v: u64 = all.load(offset, Ordering::Acquire).map_err(bad)?;
                    part.copy_from_slice(&v.to_le_bytes());
                    Ok(())
                }
                _ => all.read_slice(part, offset).map_err(bad),
            }
        })
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.each(addr, data.len(), |map, writable, offset, range| {
            if !writable {
                return Err(MemoryError::ReadOnly(addr));
            }
            let all = map.as_volatile_slice();
            let bad = |_| MemoryError::Unmapped(addr);
            let part = &data[range];
            match (<[u8; 4]>::try_from(part), <[u8; 8]>::try_from(part)) {
                (Ok(b), _) if offset % 4 == 0 => all
                    .store(u32::from_le_bytes(b), offset, Ordering::Release)
                    .map_err(bad),
                (_, Ok(b)) if offset % 8 == 0 => all
                    .store(u64::from_le_bytes(b), offset, Ordering::Release)
                    .map_err(bad),
                _ => all.write_slice(part, offset).map_err(bad),
            }
        })
    }
}
