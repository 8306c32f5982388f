// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Local memory: the card's own, seen by the CPU through BAR2 (digest §5.2). Its last 256th is the flat
//! CCS, one byte of compression state for each 256 bytes, which only the blitter reaches.

use crate::card_memory::CardMemory;
use std::ops::Deref;

/// The memory of a card, the flat CCS included.
pub struct Lmem(CardMemory);

impl Deref for Lmem {
    type Target = CardMemory;

    fn deref(&self) -> &CardMemory {
        &self.0
    }
}

impl Lmem {
    /// `size` bytes of private memory, zeroed.
    ///
    /// # Errors
    /// When there is not so much.
    pub fn private(size: u64) -> anyhow::Result<Self> {
        Ok(Lmem(CardMemory::private(size)?))
    }

    /// `size` bytes that a guest can map, zeroed.
    ///
    /// # Errors
    /// When the file cannot be made or mapped.
    pub fn shared(size: u64) -> anyhow::Result<Self> {
        Ok(Lmem(CardMemory::shared("gpu-model-lmem", 0, size)?))
    }

    /// Returns the beginning of the flat CCS, in units of 64 KB as the register has it.
    pub fn ccs_base(&self) -> u64 {
        (self.size() - self.size() / 256) & !0xffff
    }

    /// One little-endian quadword, zero outside.
    pub fn qword(&self, at: u64) -> u64 {
        let mut b = [0; 8];
        self.read(at, &mut b);
        u64::from_le_bytes(b)
    }
}
