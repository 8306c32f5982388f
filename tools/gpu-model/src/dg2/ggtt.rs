// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The global table: 64-bit entries in the upper half of BAR0, which the guest maps (digest §4.6).
//! Translations of it are never kept: the upstream driver invalidates nothing after writing one.

use crate::card_memory::CardMemory;
use std::os::fd::OwnedFd;
use std::sync::Arc;

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
pub struct Ggtt(CardMemory);

impl Ggtt {
    /// An empty table in private memory.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn private() -> anyhow::Result<Self> {
        Ok(Ggtt(CardMemory::private(SIZE)?))
    }

    /// An empty table that a guest can map.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn shared() -> anyhow::Result<Self> {
        Ok(Ggtt(CardMemory::shared("gpu-model-gtt", OFFSET, SIZE)?))
    }

    /// The file, for the guest to map.
    pub fn file(&self) -> Option<Arc<OwnedFd>> {
        self.0.file()
    }

    /// One entry; not present past the end.
    pub fn get(&self, index: u64) -> Pte {
        let mut b = [0; 8];
        if let Some(at) = index.checked_mul(8) {
            self.0.read(at, &mut b);
        }
        Pte(u64::from_le_bytes(b))
    }

    /// Sets one entry; dropped past the end.
    pub fn set(&self, index: u64, value: u64) {
        if let Some(at) = index.checked_mul(8) {
            self.0.write(at, &value.to_le_bytes());
        }
    }

    /// One half of an entry, by byte offset in the table.
    pub fn get_dword(&self, at: u64) -> u32 {
        let mut b = [0; 4];
        self.0.read(at, &mut b);
        u32::from_le_bytes(b)
    }

    /// Sets one half of an entry.
    pub fn set_dword(&self, at: u64, value: u32) {
        self.0.write(at, &value.to_le_bytes());
    }
}
