// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Page-table and page-directory entries (SNB PRM V1P2 §2.2.2.1, §2.3.1, §2.3.2.1).

/// Bytes in a page.
pub const PAGE: u32 = 4096;

/// A page-table entry, of the global table and of a per-process one alike.
///
/// Bits 31:12 are address bits 31:12, bit 0 says valid; what lies between is a chip's ([`PteFormat`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pte(pub u32);

impl Pte {
    /// Bit 0.
    pub fn valid(self) -> bool {
        self.0 & 1 != 0
    }

    /// Bits 2:1: where its data may be cached.
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
}

/// How a chip's entries are laid out.
#[derive(Clone, Copy, Debug)]
pub struct PteFormat {
    /// Bits of an entry that are address bits from 32 upwards, from bit 4 on.
    pub high: u32,
    /// Values of the cacheability that are reserved, as a mask of four bits.
    pub reserved: u32,
    /// The cacheability of uncached memory.
    pub uncached: u32,
}

/// Bits 11:4 are address bits 39:32; cacheability is 1 (uncached) or 2 (cached in the LLC), 0 and 3 are
/// reserved for Gen6.
pub const GEN6: PteFormat = PteFormat {
    high: 0xff0,
    reserved: 0b1001,
    uncached: 1,
};

/// The same; a cacheability of 3 is L3 and LLC (digest of Gen7, 4.1).
pub const GEN7: PteFormat = PteFormat {
    reserved: 0b0001,
    ..GEN6
};

/// Bits 7:4 are address bits 35:32; a type of 0 is unsnooped main memory, 3 is snooped, 1 and 2 are reserved
/// (digest of Gen4, G-08; G45 PRM V1b 4.6.1).
pub const GEN4: PteFormat = PteFormat {
    high: 0xf0,
    reserved: 0b0110,
    uncached: 0,
};

impl PteFormat {
    /// The bus address of a page.
    pub fn address(self, pte: Pte) -> u64 {
        u64::from(pte.0 & 0xffff_f000) | (u64::from(pte.0 & self.high) << 28)
    }

    /// The bus address of a page table.
    pub fn table(self, pde: Pde) -> u64 {
        self.address(Pte(pde.0))
    }

    /// True for a cacheability that is reserved.
    pub fn is_reserved(self, pte: Pte) -> bool {
        self.reserved >> pte.cacheability() & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_bits_above_32_sit_in_11_4() {
        // §2.2.2.1: bits 11:4 carry PA[39:32].
        assert_eq!(GEN6.address(Pte(0x1234_5001)), 0x00_1234_5000);
        assert_eq!(GEN6.address(Pte(0x1234_5ff3)), 0xff_1234_5000);
        assert_eq!(GEN6.address(Pte(0x0000_0ab3)), 0xab_0000_0000);
        assert!(Pte(0x0000_0001).valid());
        assert!(!Pte(0xffff_fffe).valid());
        assert_eq!(Pte(0x0000_0005).cacheability(), 2);
        assert_eq!(Pte(0x0000_0003).cacheability(), 1);
        let reserved = |pte| GEN6.is_reserved(Pte(pte));
        assert!(reserved(0x1) && !reserved(0x3) && !reserved(0x5) && reserved(0x7));
    }

    #[test]
    fn gen4_has_36_bits_and_two_types() {
        // G-08.
        assert_eq!(GEN4.address(Pte(0x1234_50f1)), 0xf_1234_5000);
        assert_eq!(GEN4.address(Pte(0x1234_5f01)), 0x0_1234_5000);
        let reserved = |pte| GEN4.is_reserved(Pte(pte));
        assert!(!reserved(0x1) && reserved(0x3) && reserved(0x5) && !reserved(0x7));
    }

    #[test]
    fn directory_entry() {
        let pde = Pde(0x8000_0023);
        assert!(pde.valid() && pde.big_pages());
        assert_eq!(GEN6.table(pde), 0x02_8000_0000);
        assert!(!Pde(0x8000_0001).big_pages());
    }
}
