// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Walking a context image: it is a stream of register loads (D15), and a register is found by its
//! command, not at a fixed offset (digest §4.2: the printed offsets contradict each other).
//!
//! The image was written by the device: nothing in it is trusted.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// The header of `MI_LOAD_REGISTER_IMM` (digest §2.1 row 24).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Load {
    /// Bits 7:0: dwords after the first two.
    pub(super) length: u8,
    /// Bits 11:8: bytes that are not written.
    #[bits(4)]
    pub(super) disabled: u8,
    /// Bit 12: posted writes.
    pub(super) posted: bool,
    #[bits(4)]
    __: u8,
    /// Bit 17: offsets are mapped to the engine's unit.
    pub(super) remap: bool,
    #[bits(1)]
    __: u8,
    /// Bit 19: offsets count from the engine's base.
    pub(super) own: bool,
    #[bits(3)]
    __: u8,
    /// Bits 31:23: the opcode.
    #[bits(9)]
    pub(super) opcode: u16,
}
const_assert_eq!(core::mem::size_of::<Load>(), 4);

/// [`Load::opcode`].
const LOAD: u16 = 0x22;
/// Opcodes below this one have one dword (L4).
const LONG: u32 = 0x10;
/// The end of a batch.
const END: u32 = 0x0a;

impl Load {
    /// The header of a load of `registers` of the engine's own, as images have them.
    pub(super) const fn of_image(registers: u8) -> Self {
        Self::new()
            .with_opcode(LOAD)
            .with_own(true)
            .with_posted(true)
            .with_length(registers.wrapping_mul(2).wrapping_sub(1))
    }
}

/// Bits of a register's offset within its engine (D16).
const WITHIN: u32 = 0xffc;

/// Iterates over the engine's own registers in an image: index of the value in dwords, and the
/// register's offset from the engine's base. Ends at the end of the batch or image, and at a dword
/// that is no MI command.
#[derive(Clone, Debug)]
pub(super) struct Registers<'a> {
    image: &'a [u32],
    at: usize,
    /// End of the current load, and whether its registers are the engine's own.
    load: (usize, bool),
}

impl<'a> Registers<'a> {
    /// Creates it for an image without its first page.
    pub(super) fn new(image: &'a [u32]) -> Self {
        Self {
            image,
            at: 0,
            load: (0, false),
        }
    }

    /// Skips a command; `None` at the end.
    fn command(&mut self) -> Option<()> {
        let header = *self.image.get(self.at)?;
        let opcode = header >> 23;
        if header >> 29 != 0 || opcode == END {
            return None;
        }
        let load = Load::from_bits(header);
        if load.opcode() == LOAD {
            let first = self.at.checked_add(1)?;
            // A register and its value, so an odd count means pairs; half a pair is none.
            let dwords = (usize::from(load.length()) + 1) & !1;
            self.at = first;
            self.load = (first.checked_add(dwords)?, load.own() && !load.remap());
            return Some(());
        }
        let dwords = match opcode < LONG {
            true => 1,
            false => (header & 0xff) as usize + 2,
        };
        self.at = self.at.checked_add(dwords)?;
        Some(())
    }
}

impl Iterator for Registers<'_> {
    type Item = (usize, u32);

    fn next(&mut self) -> Option<(usize, u32)> {
        loop {
            if self.at >= self.load.0 {
                self.command()?;
                continue;
            }
            let offset = *self.image.get(self.at)?;
            let value = self.at.checked_add(1)?;
            self.image.get(value)?;
            self.at = value.checked_add(1)?;
            if self.load.1 {
                return Some((value, offset & WITHIN));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn headers_are_the_literal_ones_of_2_3() {
        let of = |n| Load::of_image(n).into_bits();
        assert_eq!(
            [of(15), of(13), of(9), of(55)],
            [0x1108_101d, 0x1108_1019, 0x1108_1011, 0x1108_106d]
        );
    }

    #[test]
    fn registers_are_found_behind_their_headers() {
        let image = [
            // A no-op; two of the engine's own, one said with its base; then one from memory.
            0,
            0x1108_1003,
            0x2_2244,
            0x11,
            0x34,
            0x22,
            0x1480_0002,
            0xa8,
            0,
            0,
            // Two absolute ones, and one of a unit that is mapped; then the end.
            0x1100_1003,
            0x2_2200,
            1,
            0x2_2204,
            2,
            0x1102_1001,
            0x4400,
            3,
            0x0500_0000,
            0x1108_1001,
            0x38,
            9,
        ];
        let found: Vec<_> = Registers::new(&image).collect();
        assert_eq!(found, [(3, 0x244), (5, 0x34)]);
    }

    #[test]
    fn pipeline_state_ends_it() {
        let image = [0x1108_1001, 0x30, 5, 0x7a00_0004, 0x1108_1001, 0x34, 6];
        let found: Vec<_> = Registers::new(&image).collect();
        assert_eq!(found, [(2, 0x30)]);
    }

    proptest! {
        #[test]
        fn any_image_has_an_end(image in proptest::collection::vec(any::<u32>(), 0..300)) {
            let mut last = None;
            for (at, offset) in Registers::new(&image) {
                prop_assert!(at < image.len() && offset < 0x1000 && last < Some(at));
                last = Some(at);
            }
        }
    }
}
