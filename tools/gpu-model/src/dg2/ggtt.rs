// SPDX-License-Identifier: GPL-2.0
//! The global table: 64-bit entries in the upper half of BAR0, which the guest maps (digest §4.6).
//! Translations of it are never kept: the upstream driver invalidates nothing after writing one.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use vm_memory::mmap::MmapRegion;
use vm_memory::{Bytes, FileOffset, VolatileMemory};

/// Where the table begins in BAR0, and in its file.
pub const OFFSET: u64 = 8 << 20;
/// Size of the table in bytes: 4 GB of addresses.
pub const SIZE: u64 = 8 << 20;

/// One entry: bit 0 present, bit 1 local memory, 45:12 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pte(pub u64);

impl Pte {
    /// Bit 0.
    pub fn present(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bit 1.
    pub fn local(self) -> bool {
        self.0 & 2 != 0
    }

    /// Bits 45:12.
    pub fn address(self) -> u64 {
        self.0 & 0x3fff_ffff_f000
    }
}

/// The table.
pub struct Ggtt {
    map: MmapRegion,
    file: Option<Arc<OwnedFd>>,
}

impl Ggtt {
    /// An empty table in private memory.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn private() -> anyhow::Result<Self> {
        Ok(Ggtt {
            map: MmapRegion::new(SIZE as usize)?,
            file: None,
        })
    }

    /// An empty table that a guest can map.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn shared() -> anyhow::Result<Self> {
        let fd = rustix::fs::memfd_create("gpu-model-gtt", rustix::fs::MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&fd, OFFSET + SIZE)?;
        let at = FileOffset::new(std::fs::File::from(fd.try_clone()?), OFFSET);
        Ok(Ggtt {
            map: MmapRegion::from_file(at, SIZE as usize)?,
            file: Some(Arc::new(fd)),
        })
    }

    /// The file, for the guest to map.
    pub fn file(&self) -> Option<Arc<OwnedFd>> {
        self.file.clone()
    }

    /// One entry; not present past the end.
    pub fn get(&self, index: u64) -> Pte {
        let at = index.checked_mul(8).filter(|at| *at < SIZE);
        let load = |at: u64| {
            let all = self.map.as_volatile_slice();
            all.load(at as usize, Ordering::Acquire).unwrap_or(0)
        };
        Pte(at.map_or(0, load))
    }

    /// Sets one entry; dropped past the end.
    pub fn set(&self, index: u64, value: u64) {
        if let Some(at) = index.checked_mul(8).filter(|at| *at < SIZE) {
            let all = self.map.as_volatile_slice();
            // In range by the check above, so the store cannot fail.
            let _ = all.store(value, at as usize, Ordering::Release);
        }
    }

    /// One half of an entry, by byte offset in the table.
    pub fn get_dword(&self, at: u64) -> u32 {
        (self.get(at / 8).0 >> (8 * (at & 4))) as u32
    }

    /// Sets one half of an entry.
    pub fn set_dword(&self, at: u64, value: u32) {
        let shift = 8 * (at & 4);
        let rest = self.get(at / 8).0 & !(0xffff_ffff << shift);
        self.set(at / 8, rest | u64::from(value) << shift);
    }
}
