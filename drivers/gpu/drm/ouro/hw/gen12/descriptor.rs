// SPDX-License-Identifier: GPL-2.0
//! What stands for a context in the submission queue (D:Context Descriptor Format, digest §4.1).
//!
//! The document has two layouts of the upper half; this is the one of Xe-HP (C4), not the general one
//! (C3), of which DG2 would read other numbers.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

use crate::types::GgttAddr;

/// The number of a context that is none: what an idle engine says it runs (C5).
pub(super) const IDLE: u16 = 0xffff;

/// A descriptor.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Bit 0: the element is used.
    pub(super) valid: bool,
    /// Bit 1: the roots of the address space are loaded again.
    pub(super) force_root: bool,
    /// Bit 2: all is loaded again, even if the context runs.
    pub(super) force_restore: bool,
    /// Bits 4:3: the address space: 3 is one of four levels.
    #[bits(2)]
    pub(super) space: u8,
    /// Bit 5: coherent with a shared cache, of which there is none.
    pub(super) coherent: bool,
    /// Bits 7:6: what a fault does: 0 is to stop.
    #[bits(2)]
    pub(super) fault: u8,
    /// Bit 8: batches have an address space of their own.
    pub(super) own_space: bool,
    /// Bits 10:9: how it shares units with other engines. Not about order in the queue.
    #[bits(2)]
    pub(super) priority: u8,
    #[bits(1)]
    __: u8,
    /// Bits 31:12: where the image is in the global table, in pages.
    #[bits(20)]
    pub(super) image: u32,
    /// Bits 37:32: number of the virtual function: none.
    #[bits(6)]
    pub(super) function: u8,
    #[bits(1)]
    __: u8,
    /// Bits 54:39: number of the context.
    pub(super) id: u16,
    #[bits(3)]
    __: u8,
    /// Bits 63:58: a counter that tells submissions apart.
    #[bits(6)]
    pub(super) counter: u8,
}
const_assert_eq!(core::mem::size_of::<Descriptor>(), 8);

/// [`Descriptor::space`]: 48 bits, four levels.
const FOUR_LEVELS: u8 = 3;
/// Bit 2, in a descriptor that is a number already.
pub(super) const FORCE_RESTORE: u64 = 1 << 2;

/// The descriptor of the context `id` whose image is at `image`, or `None` where that is no number of a
/// context, or the image begins within a page.
pub(super) fn descriptor(image: GgttAddr, id: u32) -> Option<u64> {
    let id = u16::try_from(id)
        .ok()
        .filter(|id| *id != 0 && *id != IDLE)?;
    if !image.0.is_multiple_of(crate::types::PAGE_SIZE) {
        return None;
    }
    Some(
        Descriptor::new()
            .with_valid(true)
            .with_space(FOUR_LEVELS)
            .with_own_space(true)
            .with_image(image.page())
            .with_id(id)
            .into_bits(),
    )
}

/// The number of the context that an upper half of a descriptor is about.
pub(super) fn id_of(upper: u32) -> Option<u32> {
    let id = Descriptor::from_bits(u64::from(upper) << 32).id();
    (id != 0 && id != IDLE).then_some(id.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_that_of_4_1() {
        // Bits 0 valid, 4:3 = 3, 8 own space, 31:12 the image, 54:39 the number.
        let d = descriptor(GgttAddr(0x0123_4000), 1);
        assert_eq!(d, Some(0x0000_0080_0123_4119));
        let d = descriptor(GgttAddr(0xffff_f000), 0xfffe);
        assert_eq!(d, Some(0x007f_ff00_ffff_f119));
        // "Dword form: counter 31:26, number 22:7": 0x119 of the low half is 0x80 of the upper one.
        assert_eq!(id_of(0x80), Some(1));
        assert_eq!(id_of(0xfc00_0080), Some(1));
    }

    #[test]
    fn what_is_no_context_has_none() {
        // C5: 0xffff is kept for an engine that is idle; 0 is not given out.
        for id in [0, 0xffff, 0x1_0000, u32::MAX] {
            assert_eq!(descriptor(GgttAddr(0x1000), id), None);
        }
        assert_eq!(descriptor(GgttAddr(0x1004), 1), None);
        assert_eq!(id_of(0xffff << 7), None);
        assert_eq!(id_of(0), None);
    }

    #[test]
    fn restore_is_bit_2() {
        assert_eq!(
            Descriptor::new().with_force_restore(true).into_bits(),
            FORCE_RESTORE
        );
        assert_eq!(FORCE_RESTORE, 4);
    }
}
