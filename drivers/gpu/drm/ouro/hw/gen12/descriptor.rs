// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Context descriptors in the submission queue (D:Context Descriptor Format, digest §4.1).
//!
//! The document has two layouts of the upper half; this is the one of Xe-HP (C4), not the general
//! one (C3), which has other fields.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

use crate::types::GgttAddr;

/// The context id that means no context: an idle engine reports it (C5).
pub(super) const IDLE: u16 = 0xffff;

/// A descriptor.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Bit 0: the element is valid.
    pub(super) valid: bool,
    /// Bit 1: reload the root tables of the PPGTT.
    pub(super) force_root: bool,
    /// Bit 2: restore the whole image, even if the context runs.
    pub(super) force_restore: bool,
    /// Bits 4:3: kind of the PPGTT: 3 has four levels.
    #[bits(2)]
    pub(super) space: u8,
    /// Bit 5: coherent with a shared cache; DG2 has none.
    pub(super) coherent: bool,
    /// Bits 7:6: fault handling: 0 stops the engine.
    #[bits(2)]
    pub(super) fault: u8,
    /// Bit 8: batches use the PPGTT.
    pub(super) own_space: bool,
    /// Bits 10:9: how it shares units with other engines. Has no effect on the order of the queue.
    #[bits(2)]
    pub(super) priority: u8,
    #[bits(1)]
    __: u8,
    /// Bits 31:12: GGTT address of the image, in pages.
    #[bits(20)]
    pub(super) image: u32,
    /// Bits 37:32: number of the virtual function: zero.
    #[bits(6)]
    pub(super) function: u8,
    #[bits(1)]
    __: u8,
    /// Bits 54:39: context id.
    pub(super) id: u16,
    #[bits(3)]
    __: u8,
    /// Bits 63:58: a counter that distinguishes submissions.
    #[bits(6)]
    pub(super) counter: u8,
}
const_assert_eq!(core::mem::size_of::<Descriptor>(), 8);

/// [`Descriptor::space`]: 48 bits, four levels.
const FOUR_LEVELS: u8 = 3;
/// Bit 2, for a descriptor in integer form.
pub(super) const FORCE_RESTORE: u64 = 1 << 2;

/// Returns the descriptor of context `id` whose image is at `image`; `None` if `id` is out of
/// range, or the image is not page-aligned.
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

/// Returns the context id in the upper half of a descriptor.
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
        // C5: 0xffff means an idle engine; 0 is not used.
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
