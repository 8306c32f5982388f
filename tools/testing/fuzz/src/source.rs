// SPDX-License-Identifier: GPL-2.0
//! Bytes turned into choices. When they run out, every choice is zero.

/// The bytes that are left.
#[derive(Clone, Debug)]
pub struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    /// From these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Source(bytes)
    }

    /// True if nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// A byte.
    pub fn u8(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    /// A yes or no.
    pub fn flag(&mut self) -> bool {
        self.u8() & 1 != 0
    }

    /// A dword.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes([self.u8(), self.u8(), self.u8(), self.u8()])
    }

    /// A quadword.
    pub fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: u64) -> u64 {
        match end {
            0..=0x100 => u64::from(self.u8()) % end,
            _ => self.u64() % end,
        }
    }

    /// A number of any size, small ones and those near a limit more often than chance has it.
    pub fn odd(&mut self) -> u64 {
        let v = self.u64();
        match self.u8() % 6 {
            0 => v % 64,
            1 => u64::MAX - v % 64,
            2 => (1 << (v % 64)) - 1,
            3 => 1 << (v % 64),
            4 => v & 0xffff_ffff,
            _ => v,
        }
    }
}
