// SPDX-License-Identifier: GPL-2.0
//! A card that reads as one does which its firmware has set up: what an R5xx has.

use ouro_hw::chips;
use ouro_hw::generation::Topology;
use ouro_hw::io::{Hw, Platform, Registers};
use std::sync::OnceLock;

/// The card.
struct PostedCard;

/// Bytes of its memory.
const MEMORY: u32 = 256 << 20;

impl Registers for PostedCard {
    fn read32(&self, offset: u32) -> u32 {
        // Digest of the document, 5.2: size of the memory, and half of what the CPU sees.
        match offset {
            0xf8 => MEMORY,
            0x108 => MEMORY / 2,
            _ => 0,
        }
    }

    fn write32(&self, _: u32, _: u32) {}

    fn write64(&self, _: u32, _: u64) {}
}

impl Platform for PostedCard {
    fn config32(&self, offset: u16) -> u32 {
        // Identity; the first capability, which says PCI Express.
        match offset {
            0x00 => 0x7140_1002,
            0x34 => 0x40,
            0x40 => 0x10,
            _ => 0,
        }
    }

    fn bar_len(&self, _: u8) -> u64 {
        MEMORY.into()
    }

    fn iommu(&self) -> bool {
        false
    }

    fn set_master(&self, _: bool) {}

    fn warn(&self, _: &'static str) {}
}

/// What it has.
pub fn topology() -> &'static Topology {
    static TOPOLOGY: OnceLock<Topology> = OnceLock::new();
    TOPOLOGY.get_or_init(|| {
        let chip = chips::lookup(chips::ATI, 0x7140).expect("it is in the list");
        let hw = Hw {
            regs: &PostedCard,
            gtt: &PostedCard,
            platform: &PostedCard,
            firmware: &[],
            card: 0,
        };
        chip.generation.probe(&hw, chip).expect("a good card")
    })
}
