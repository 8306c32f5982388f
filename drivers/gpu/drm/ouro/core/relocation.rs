// SPDX-License-Identifier: GPL-2.0
//! Relocations: the dword that one writes, and where.
//!
//! Only chips whose commands have addresses of 32 bits have relocations; on the others, user space
//! chooses the addresses.

/// Why a relocation is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadRelocation {
    /// The offset is not dword-aligned.
    Unaligned,
    /// The dword does not lie in the BO.
    Outside,
}

/// Checks the offset of a relocation in a BO of `size` bytes.
#[inline]
pub fn place(offset: u64, size: u64) -> Result<u64, BadRelocation> {
    if offset & 3 != 0 {
        return Err(BadRelocation::Unaligned);
    }
    match offset.checked_add(4) {
        Some(end) if end <= size => Ok(offset),
        _ => Err(BadRelocation::Outside),
    }
}

/// Returns the dword for a target at `address` and a signed or unsigned `delta`: the sum wraps,
/// which is how user space expresses a negative delta.
#[inline]
pub fn value(address: u64, delta: u32) -> u32 {
    (address as u32).wrapping_add(delta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_in_the_width_of_the_command() {
        assert_eq!(value(0x1000, 0x10), 0x1010);
        assert_eq!(value(0x1000, 0xffff_fffc), 0xffc);
        assert_eq!(value(0xffff_f000, 0x2000), 0x1000);
    }

    #[test]
    fn places_end_with_the_object() {
        assert_eq!(place(4092, 4096), Ok(4092));
        assert_eq!(place(4096, 4096), Err(BadRelocation::Outside));
        assert_eq!(place(u64::MAX - 3, 4096), Err(BadRelocation::Outside));
        assert_eq!(place(2, 4096), Err(BadRelocation::Unaligned));
    }
}
