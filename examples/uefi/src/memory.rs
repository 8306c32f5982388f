// SPDX-License-Identifier: GPL-2.0
//! Pages that the device reaches, by the addresses that the processor has for them.

use alloc::{vec, vec::Vec};
use core::ptr::NonNull;
use ouro_hw::types::PAGE_SIZE;
use uefi::{
    boot::{self, AllocateType},
    mem::memory_map::MemoryType,
};

/// Where the page for the writes of flushes is, behind the ring.
pub const SCRATCH: u32 = 0x9_0000;

/// Pages in one piece, which are zero at first. They stay until the machine is switched off, since a device knows them.
pub struct Pages {
    start: NonNull<u8>,
    count: u32,
}

impl Pages {
    /// Takes pages below 4 GiB, which all chips reach.
    pub fn new(count: u32) -> uefi::Result<Self> {
        let below = AllocateType::MaxAddress(0xffff_ffff);
        let start = boot::allocate_pages(below, MemoryType::LOADER_DATA, count as usize)?;
        let pages = Self { start, count };
        pages.write(0, &vec![0; (count * PAGE_SIZE / 4) as usize]);
        Ok(pages)
    }

    /// The address of the first one: firmware maps memory to itself.
    pub fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    fn dword(&self, offset: u32) -> *mut u32 {
        assert!(offset.is_multiple_of(4) && offset < self.count * PAGE_SIZE);
        self.start.as_ptr().wrapping_add(offset as usize).cast()
    }

    /// Writes dwords at an offset in bytes.
    pub fn write(&self, offset: u32, dwords: &[u32]) {
        for (n, dword) in dwords.iter().enumerate() {
            // SAFETY: it is in these pages, by the assertion above. The device may read it at the same time.
            unsafe { self.dword(offset + n as u32 * 4).write_volatile(*dword) };
        }
    }

    /// Reads a dword at an offset in bytes.
    pub fn read(&self, offset: u32) -> u32 {
        // SAFETY: as above; the device may write it at the same time.
        unsafe { self.dword(offset).read_volatile() }
    }

    /// A copy of all of them.
    pub fn bytes(&self) -> Vec<u8> {
        let all = (0..self.count * PAGE_SIZE).step_by(4);
        all.flat_map(|at| self.read(at).to_le_bytes()).collect()
    }
}
