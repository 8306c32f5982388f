// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Fence registers of 64 bits (SNB PRM V1P2 §4.5.4.1.1).
//!
//! Fences detile the CPU's accesses through the aperture only. A fence is written in two halves: it
//! is made invalid first and valid last, so that a mixture of the old and the new fence never takes
//! effect. Gen4 and Gen6 have the fields at different places; [`Fences::from_gen6`] is for Gen6 and
//! later.

use crate::{
    fence_regs::{BadRegion, FenceRegion, FenceRegs, Tiling},
    io::Registers,
    types::PAGE_SIZE,
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Bytes per row of an X tile; a stride is a multiple of it.
const X_STRIDE: u32 = 512;
/// Bytes per row of a Y tile; a stride is a multiple of it.
const Y_STRIDE: u32 = 128;
/// The unit of the register's stride field, in bytes.
const STRIDE_UNIT: u32 = 128;

/// A fence register of Gen6 and later.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
struct Fence {
    /// Bit 0: the fence is valid.
    valid: bool,
    /// Bit 1: Y tiles (0: X tiles).
    y: bool,
    #[bits(10)]
    __: u16,
    /// Bits 31:12: first page.
    #[bits(20)]
    first: u32,
    /// Bits 43:32: stride in units of 128 bytes, minus one. The chip's largest stride limits the
    /// bits used.
    #[bits(12)]
    stride_less_one: u16,
    /// Bits 63:44: last page, inclusive.
    #[bits(20)]
    last: u32,
}
const_assert_eq!(core::mem::size_of::<Fence>(), 8);

/// The fence registers of a chip.
pub(crate) struct Fences {
    /// Offset of the first register; each has 8 bytes.
    pub(crate) at: u32,
    /// The number of fences.
    pub(crate) count: u8,
    /// The largest stride, in bytes.
    pub(crate) max_stride: u32,
    /// Encodes a region as the value of a fence register.
    pub(crate) fields: fn(Measure) -> u64,
}

impl Fences {
    /// Creates the fences of Gen6 or later, which has them all at the same place (SNB PRM V1P2
    /// §4.5.4.1.1, V-03).
    pub(crate) const fn from_gen6(count: u8, max_stride: u32) -> Self {
        Self {
            at: 0x10_0000,
            count,
            max_stride,
            fields: from_gen6,
        }
    }

    /// Returns the register's value for a region.
    pub(crate) fn encode(&self, region: &FenceRegion) -> Result<u64, BadRegion> {
        measure(region, self.max_stride).map(self.fields)
    }
}

/// A region in the units of a fence register.
pub(crate) struct Measure {
    /// First page of the region.
    pub(crate) first: u32,
    /// Last page of the region, inclusive.
    pub(crate) last: u32,
    /// Stride in units of 128 bytes, minus one.
    pub(crate) stride_less_one: u16,
    /// Y tiles (false: X tiles).
    pub(crate) y: bool,
}

/// Encodes a region for Gen6 and later: [`Fences::fields`].
fn from_gen6(measure: Measure) -> u64 {
    Fence::new()
        .with_valid(true)
        .with_y(measure.y)
        .with_first(measure.first)
        .with_stride_less_one(measure.stride_less_one)
        .with_last(measure.last)
        .into_bits()
}

/// Converts a region to the register's units. Errors: [`BadRegion`] if a fence with strides up to
/// `max_stride` bytes cannot detile it.
fn measure(region: &FenceRegion, max_stride: u32) -> Result<Measure, BadRegion> {
    let unit = match region.tiling {
        Tiling::X => X_STRIDE,
        Tiling::Y => Y_STRIDE,
        _ => return Err(BadRegion),
    };
    let stride_fits =
        region.stride != 0 && region.stride.is_multiple_of(unit) && region.stride <= max_stride;
    let whole_pages = (region.start.0 | region.len).is_multiple_of(PAGE_SIZE) && region.len != 0;
    if !stride_fits || !whole_pages {
        return Err(BadRegion);
    }
    let last_byte = region
        .start
        .0
        .checked_add(region.len.wrapping_sub(1))
        .ok_or(BadRegion)?;
    let stride = (region.stride / STRIDE_UNIT).wrapping_sub(1);
    Ok(Measure {
        first: region.start.page(),
        last: last_byte / PAGE_SIZE,
        stride_less_one: stride as u16,
        y: region.tiling == Tiling::Y,
    })
}

impl FenceRegs for Fences {
    fn count(&self) -> u8 {
        self.count
    }

    fn check(&self, region: &FenceRegion) -> Result<(), BadRegion> {
        self.encode(region).map(|_| ())
    }

    fn set(
        &self,
        regs: &dyn Registers,
        n: u8,
        region: Option<&FenceRegion>,
    ) -> Result<(), BadRegion> {
        if n >= self.count {
            return Err(BadRegion);
        }
        let value = match region {
            Some(region) => self.encode(region)?,
            None => 0,
        };
        let low = self.at.wrapping_add(u32::from(n).wrapping_mul(8));
        regs.write32_flush(low, 0);
        regs.write32(low.wrapping_add(4), (value >> 32) as u32);
        regs.write32_flush(low, value as u32);
        Ok(())
    }
}
