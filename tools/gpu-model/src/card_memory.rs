// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Memory that a card has itself, and that its guest may map: video memory, local memory, a global
//! page table.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use vm_memory::mmap::MmapRegion;
use vm_memory::{Bytes, FileOffset, VolatileMemory};

/// Bytes, zero at first.
pub struct CardMemory {
    map: MmapRegion,
    file: Option<Arc<OwnedFd>>,
    size: u64,
}

impl CardMemory {
    /// `size` bytes of private memory.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn private(size: u64) -> anyhow::Result<Self> {
        Ok(CardMemory {
            map: MmapRegion::new(size as usize)?,
            file: None,
            size,
        })
    }

    /// `size` bytes of a new anonymous file, from `offset` on, that a guest can map.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn shared(name: &str, offset: u64, size: u64) -> anyhow::Result<Self> {
        let fd = rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&fd, offset + size)?;
        let at = FileOffset::new(std::fs::File::from(fd.try_clone()?), offset);
        Ok(CardMemory {
            map: MmapRegion::from_file(at, size as usize)?,
            file: Some(Arc::new(fd)),
            size,
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
    pub fn contains(&self, at: u64, len: usize) -> bool {
        at.checked_add(len as u64)
            .is_some_and(|end| end <= self.size)
    }

    /// Reads. A range that does not exist reads zero. Aligned dwords and quadwords are single accesses.
    pub fn read(&self, at: u64, buf: &mut [u8]) {
        if !self.contains(at, buf.len()) {
            buf.fill(0);
            return;
        }
        let all = self.map.as_volatile_slice();
        let place = at as usize;
        // In range by the check above, so none of these fails.
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

    /// Writes. A range that does not exist is left alone.
    pub fn write(&self, at: u64, data: &[u8]) {
        if !self.contains(at, data.len()) {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_exist_is_zero_and_stays_so() {
        for memory in [
            CardMemory::private(8192).expect("memory"),
            CardMemory::shared("test", 4096, 8192).expect("memory"),
        ] {
            memory.write(8190, &[1; 4]);
            memory.write(u64::MAX, &[1; 4]);
            let mut b = [7; 2];
            memory.read(8190, &mut b);
            assert_eq!(b, [0, 0]);
            for at in [8189, 8192, u64::MAX - 1] {
                let mut b = [7; 4];
                memory.read(at, &mut b);
                assert_eq!(b, [0; 4], "{at}");
            }
        }
    }

    #[test]
    fn accesses_of_all_sizes_see_each_other() {
        let memory = CardMemory::shared("test", 0, 4096).expect("memory");
        memory.write(8, &0x0807_0605_0403_0201u64.to_le_bytes());
        memory.write(12, &0xddcc_bbaau32.to_le_bytes());
        memory.write(9, &[0xee]);
        let mut b = [0; 8];
        memory.read(8, &mut b);
        assert_eq!(b, [1, 0xee, 3, 4, 0xaa, 0xbb, 0xcc, 0xdd]);
        let mut b = [0; 4];
        memory.read(12, &mut b);
        assert_eq!(b, [0xaa, 0xbb, 0xcc, 0xdd]);
        let mut b = [0; 3];
        memory.read(9, &mut b);
        assert_eq!(b, [0xee, 3, 4]);
    }

    #[test]
    fn garbage_is_everywhere_and_the_same_again() {
        let memories = [1, 1, 2].map(|seed| {
            let memory = CardMemory::private(16384).expect("memory");
            memory.fill_with_garbage(seed, 8192);
            let mut b = vec![0; 16384];
            memory.read(0, &mut b);
            b
        });
        assert_eq!(memories[0], memories[1]);
        assert_ne!(memories[0], memories[2]);
        // Every quadword of the first half, none of the second.
        let (first, second) = memories[0].split_at(8192);
        assert!(first.chunks(8).all(|q| q.iter().any(|b| *b != 0)));
        assert!(second.iter().all(|b| *b == 0));
    }
}
