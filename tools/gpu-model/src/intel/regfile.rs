// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A register file: definitions with reset values and write rules, and the values.

/// How a CPU write changes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Not at all.
    ReadOnly,
    /// Bits in the mask are stored.
    Bits(u32),
    /// Bits 31:16 of the data say which of 15:0 change, limited to the mask; 31:16 read zero.
    Masked(u32),
    /// Ones in the mask clear bits.
    Clear(u32),
    /// Bits in the first mask are stored, ones in the second clear bits.
    Mixed(u32, u32),
}

/// What part of the chip a register belongs to; decides which reset touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// An engine, by number.
    Engine(u8),
    /// The GT outside an engine: reset by a full GT reset.
    Gt,
    /// Survives a GT reset; only power-on resets it.
    Chip,
    /// A display register: reads zero, writes are dropped, nothing is modelled behind it.
    Display,
}

/// One register.
#[derive(Clone, Debug)]
pub struct RegDef {
    /// Byte offset.
    pub offset: u32,
    /// Name in the document.
    pub name: String,
    /// Value after reset.
    pub reset: u32,
    /// Effect of a write on the stored value.
    pub write: Write,
    /// Reset domain.
    pub domain: Domain,
}

/// Definitions by offset.
pub struct RegMap {
    defs: Vec<RegDef>,
    index: Vec<u16>,
}

impl RegMap {
    /// A map over `size` bytes of registers. A later definition of an offset replaces an earlier.
    pub fn new(size: u32, defs: Vec<RegDef>) -> Self {
        let mut index = vec![0u16; (size / 4) as usize];
        for (i, d) in defs.iter().enumerate() {
            if let Some(slot) = index.get_mut((d.offset / 4) as usize) {
                *slot = i as u16 + 1;
            }
        }
        RegMap { defs, index }
    }

    /// The definition at a byte offset.
    pub fn get(&self, offset: u32) -> Option<&RegDef> {
        let i = *self.index.get((offset / 4) as usize)?;
        self.defs.get((i as usize).checked_sub(1)?)
    }

    /// All definitions.
    pub fn iter(&self) -> impl Iterator<Item = &RegDef> {
        self.defs.iter()
    }
}

/// The value a write leaves behind.
pub fn apply(write: Write, old: u32, data: u32) -> u32 {
    match write {
        Write::ReadOnly => old,
        Write::Bits(mask) => (old & !mask) | (data & mask),
        Write::Masked(mask) => {
            let change = (data >> 16) & mask;
            (old & !change) | (data & change)
        }
        Write::Clear(mask) => old & !(data & mask),
        Write::Mixed(kept, cleared) => ((old & !kept) | (data & kept)) & !(data & cleared),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_rules() {
        // VCS PRM 1.1.2.2: without its mask bit a bit does not change.
        assert_eq!(apply(Write::Masked(0xffff), 0x0100, 0x0200_0200), 0x0300);
        assert_eq!(apply(Write::Masked(0xffff), 0x0100, 0x0000_0200), 0x0100);
        assert_eq!(apply(Write::Masked(0xffff), 0x0100, 0x0100_0000), 0x0000);
        assert_eq!(apply(Write::Masked(0x00ff), 0x0000, 0xffff_ffff), 0x00ff);
        assert_eq!(
            apply(Write::Clear(0xffff_ffff), 0x0041_0001, 0x0040_0001),
            0x0001_0000
        );
        assert_eq!(
            apply(Write::Bits(0xffff_f000), 0x0000_0fff, 0x1234_5678),
            0x1234_5fff
        );
        assert_eq!(apply(Write::ReadOnly, 7, 0xffff_ffff), 7);
        // PIPESTAT: enables above, status that ones clear below.
        let mixed = Write::Mixed(0xffff_0000, 0xffff);
        assert_eq!(apply(mixed, 0x0001_0006, 0x0002_0002), 0x0002_0004);
    }
}
