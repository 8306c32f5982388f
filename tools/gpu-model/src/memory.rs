// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Guest memory as a device sees it over DMA, and an in-process stand-in for tests.

use std::sync::Mutex;

/// What a DMA access can meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// No memory answers at this bus address.
    #[error("no guest memory at {0:#x}")]
    Unmapped(u64),
    /// The memory there may only be read.
    #[error("guest memory at {0:#x} is read-only")]
    ReadOnly(u64),
}

/// Guest physical memory, by bus address. Accesses may cross any boundary.
///
/// Four- and eight-byte accesses that are naturally aligned are single, so that a CPU polling a
/// fence never sees half of it.
pub trait GuestMemory: Send + Sync {
    /// Fills `buf` from `addr`. On an error the contents of `buf` are unspecified.
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError>;
    /// Stores `data` at `addr`. On an error a leading part may have been stored.
    fn write(&self, addr: u64, data: &[u8]) -> Result<(), MemoryError>;
}

/// Plain memory at one bus address, for tests.
pub struct VecMemory {
    base: u64,
    bytes: Mutex<Vec<u8>>,
}

impl VecMemory {
    /// `size` zeroed bytes at bus address 0.
    pub fn new(size: usize) -> Self {
        Self::at(0, size)
    }

    /// `size` zeroed bytes at bus address `base`.
    pub fn at(base: u64, size: usize) -> Self {
        VecMemory {
            base,
            bytes: Mutex::new(vec![0; size]),
        }
    }

    /// One little-endian dword; zero where there is no memory.
    pub fn dword(&self, addr: u64) -> u32 {
        let mut b = [0; 4];
        match self.read(addr, &mut b) {
            Ok(()) => u32::from_le_bytes(b),
            Err(_) => 0,
        }
    }

    /// Stores consecutive little-endian dwords.
    pub fn put_dwords(&self, addr: u64, dwords: &[u32]) -> Result<(), MemoryError> {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.write(addr, &bytes)
    }

    fn range(
        &self,
        addr: u64,
        len: usize,
        total: usize,
    ) -> Result<std::ops::Range<usize>, MemoryError> {
        let start = addr
            .checked_sub(self.base)
            .ok_or(MemoryError::Unmapped(addr))?;
        let end = start.checked_add(len as u64).filter(|e| *e <= total as u64);
        match end {
            Some(end) => Ok(start as usize..end as usize),
            None => Err(MemoryError::Unmapped(addr)),
        }
    }
}

impl GuestMemory for VecMemory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        let bytes = lock(&self.bytes);
        let range = self.range(addr, buf.len(), bytes.len())?;
        buf.copy_from_slice(&bytes[range]);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        let mut bytes = lock(&self.bytes);
        let range = self.range(addr, data.len(), bytes.len())?;
        bytes[range].copy_from_slice(data);
        Ok(())
    }
}

/// Locks, and goes on with the data of a thread that died: a model must not take QEMU with it.
pub(crate) fn lock<T: ?Sized>(m: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    m.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
