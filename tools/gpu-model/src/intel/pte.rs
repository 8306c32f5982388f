// SPDX-License-Identifier: GPL-2.0
//! Gen6 page-table and page-directory entries (SNB PRM V1P2 §2.2.2.1, §2.3.1, §2.3.2.1).

/// Bytes in a page.
pub const PAGE: u32 = 4096;

/// A page-table entry, of the global table and of a per-process one alike.
///
/// Bits 31:12 are address bits 31:12, bits 11:4 are address bits 39:32, bit 3 is the graphics data
/// type, bits 2:1 the cacheability, bit 0 says valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pte(pub u32);

impl Pte {
    /// Bit 0.
    pub fn valid(self) -> bool {
        self.0 & 1 != 0
    }

    /// The 40-bit bus address of the page.
    pub fn address(self) -> u64 {
        u64::from(self.0 & 0xffff_f000) | (u64::from(self.0 & 0x0ff0) << 28)
    }

    /// Bits 2:1: 1 uncached, 2 cached in the LLC; 0 and 3 are reserved for Gen6.
    pub fn cacheability(self) -> u32 {
        (self.0 >> 1) & 3
    }
}

/// A page-directory entry: address coded as in [`Pte`], bit 1 says 32 KB pages, bit 0 valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pde(pub u32);

impl Pde {
    /// Bit 0.
    pub fn valid(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bit 1: the page table below describes 32 KB pages.
    pub fn big_pages(self) -> bool {
        self.0 & 2 != 0
    }

    /// The 40-bit bus address of the page table.
    pub fn table(self) -> u64 {
        Pte(self.0).address()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_bits_above_32_sit_in_11_4() {
        // §2.2.2.1: bits 11:4 carry PA[39:32].
        assert_eq!(Pte(0x1234_5001).address(), 0x00_1234_5000);
        assert_eq!(Pte(0x1234_5ff3).address(), 0xff_1234_5000);
        assert_eq!(Pte(0x0000_0ab3).address(), 0xab_0000_0000);
        assert!(Pte(0x0000_0001).valid());
        assert!(!Pte(0xffff_fffe).valid());
        assert_eq!(Pte(0x0000_0005).cacheability(), 2);
        assert_eq!(Pte(0x0000_0003).cacheability(), 1);
    }

    #[test]
    fn directory_entry() {
        let pde = Pde(0x8000_0023);
        assert!(pde.valid() && pde.big_pages());
        assert_eq!(pde.table(), 0x02_8000_0000);
        assert!(!Pde(0x8000_0001).big_pages());
    }
}
