// SPDX-License-Identifier: GPL-2.0
//! Relocations: the value that one writes, and where.

/// Why a relocation is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadRelocation {
    /// The offset is not dword-aligned.
    Unaligned,
    /// The value does not lie in the BO.
    Outside,
}

/// Checks the offset of a value of `bytes` (4 or 8) in a BO of `size` bytes.
///
/// A value may straddle pages, but not the BO's end.
#[inline]
pub fn place(offset: u64, bytes: u64, size: u64) -> Result<u64, BadRelocation> {
    if offset & 3 != 0 {
        return Err(BadRelocation::Unaligned);
    }
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(offset),
        _ => Err(BadRelocation::Outside),
    }
}

/// Returns the value for a target at `address` and a signed or unsigned `delta`: the sum wraps at
/// the width of an address in commands, which is how user space expresses a negative delta.
#[inline]
pub fn value(address: u64, delta: u32, bits: u8) -> u64 {
    let sum = address.wrapping_add(u64::from(delta));
    match bits {
        0..=63 => sum & ((1 << bits) - 1),
        _ => sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_in_the_width_of_the_command() {
        assert_eq!(value(0x1000, 0x10, 32), 0x1010);
        assert_eq!(value(0x1000, 0xffff_fffc, 32), 0xffc);
        assert_eq!(value(0xffff_f000, 0x2000, 32), 0x1000);
        assert_eq!(value(0x1_0000_0000, 8, 64), 0x1_0000_0008);
    }

    #[test]
    fn places_end_with_the_object() {
        assert_eq!(place(4092, 4, 4096), Ok(4092));
        assert_eq!(place(4096, 4, 4096), Err(BadRelocation::Outside));
        assert_eq!(place(4092, 8, 4096), Err(BadRelocation::Outside));
        assert_eq!(place(u64::MAX - 3, 4, 4096), Err(BadRelocation::Outside));
        assert_eq!(place(2, 4, 4096), Err(BadRelocation::Unaligned));
    }
}
