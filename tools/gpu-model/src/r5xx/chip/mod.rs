// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What differs between the chips: one file each, and the list of them.
//!
//! The document covers the family and names no chip's registers; what stands in these files is from
//! the digest, §5.1 to §5.3.

mod r520;
mod r580;
mod rv515;
mod rv530;

/// Where a chip keeps things in its memory controller's indirect registers (digest §5.2), and what
/// is idle or fixed there.
#[derive(Debug, PartialEq, Eq)]
pub struct McLayout {
    /// MC_FB_LOCATION: first and last 64 KB of video memory.
    pub fb_location: u8,
    /// MC_AGP_LOCATION, AGP_BASE, AGP_BASE_2.
    pub agp: [u8; 3],
    /// The status register and its idle bit.
    pub status: (u8, u32),
    /// The control register that tells the memory's width, and its value.
    pub control: (u8, u32),
}

/// One chip.
#[derive(Debug, PartialEq, Eq)]
pub struct Chip {
    /// Name on the command line.
    pub name: &'static str,
    /// PCI device id; the vendor is 1002.
    pub device_id: u16,
    /// PCI revision.
    pub revision: u8,
    /// Its memory controller's registers.
    pub mc: McLayout,
    /// GB_PIPE_SELECT (0x402c) as fused: 13:12 pipes - 1, 11:8 which.
    pub pipe_select: u32,
    /// Z pipes behind the pixel pipe, where they are counted apart (GB_PIPE_SELECT2, 0x4124); else 0.
    pub z_pipes: u32,
}

impl Chip {
    /// The chips that are served.
    pub const ALL: &'static [&'static Chip] =
        &[&rv515::CHIP, &rv530::CHIP, &r520::CHIP, &r580::CHIP];

    /// The chip with a name.
    pub fn named(name: &str) -> Option<&'static Chip> {
        Self::ALL.iter().copied().find(|c| c.name == name)
    }

    /// Number of pixel pipes.
    pub fn pipes(&self) -> u32 {
        (self.pipe_select >> 12 & 3) + 1
    }
}
