// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The array of global page-table entries: private memory of the chip that the CPU sees through
//! the upper half of BAR0 (SNB PRM V1P2 §2.2.1, §4.6.1).

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use vm_memory::mmap::MmapRegion;
use vm_memory::{Bytes, FileOffset, VolatileMemory};

/// Storage of page-table entries by index.
pub trait PteArray: Send + Sync {
    /// Number of entries.
    fn len(&self) -> u32;
    /// True if there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// One entry; zero (invalid) past the end.
    fn get(&self, index: u32) -> u32;
    /// Sets one entry; dropped past the end.
    fn set(&self, index: u32, value: u32);
}

/// Entries in ordinary memory.
pub struct HeapPtes(Vec<AtomicU32>);

impl HeapPtes {
    /// `count` zeroed entries.
    pub fn new(count: u32) -> Self {
        HeapPtes((0..count).map(|_| AtomicU32::new(0)).collect())
    }
}

impl PteArray for HeapPtes {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn get(&self, index: u32) -> u32 {
        self.0
            .get(index as usize)
            .map_or(0, |e| e.load(Ordering::Acquire))
    }

    fn set(&self, index: u32, value: u32) {
        if let Some(e) = self.0.get(index as usize) {
            e.store(value, Ordering::Release);
        }
    }
}

/// Entries in a file that the guest maps too, so that writing one costs no trap.
pub struct SharedPtes {
    map: MmapRegion,
    count: u32,
    file: Arc<OwnedFd>,
    offset: u64,
}

impl SharedPtes {
    /// `count` zeroed entries at `offset` of a new anonymous file of `file_size` bytes.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn new(count: u32, offset: u64, file_size: u64) -> anyhow::Result<Self> {
        let fd = rustix::fs::memfd_create("gpu-model-gtt", rustix::fs::MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&fd, file_size)?;
        let at = FileOffset::new(std::fs::File::from(fd.try_clone()?), offset);
        let map = MmapRegion::from_file(at, count as usize * 4)?;
        Ok(SharedPtes {
            map,
            count,
            file: Arc::new(fd),
            offset,
        })
    }

    /// The file, for the guest to map.
    pub fn file(&self) -> Arc<OwnedFd> {
        self.file.clone()
    }

    /// Returns where in the file the entries start.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl PteArray for SharedPtes {
    fn len(&self) -> u32 {
        self.count
    }

    fn get(&self, index: u32) -> u32 {
        let at = index as usize * 4;
        self.map
            .as_volatile_slice()
            .load(at, Ordering::Acquire)
            .unwrap_or(0)
    }

    fn set(&self, index: u32, value: u32) {
        if index < self.count {
            // In range by the check above, so the store cannot fail.
            let _ =
                self.map
                    .as_volatile_slice()
                    .store(value, index as usize * 4, Ordering::Release);
        }
    }
}
