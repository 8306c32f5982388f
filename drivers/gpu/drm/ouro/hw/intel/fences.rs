// SPDX-License-Identifier: GPL-2.0
//! Detiling fences of 64 bits (SNB PRM V1P2 §4.5.4.1.1).
//!
//! They hold for the CPU's accesses through the aperture only. Each is 64 bits, written in two
//! halves: it is made invalid first and valid last, so that no mixture of two ever acts. Where the fields are differs
//! from Gen4 to Gen6; [`from_gen6`] has them as from Gen6 on.

use crate::{
    fence_regs::{BadRegion, FenceRegion, FenceRegs, Tiling},
    io::Registers,
    types::PAGE_SIZE,
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Bytes of a row of an X tile, of which a stride is a multiple.
const X_STRIDE: u32 = 512;
/// Bytes of a row of a Y tile.
const Y_STRIDE: u32 = 128;
/// Bytes in which the register counts a stride.
const STRIDE_UNIT: u32 = 128;

/// A fence register, from Gen6 on.
#[bitfield(u64)]
#[derive(PartialEq, Eq)]
struct Fence {
    /// Bit 0.
    valid: bool,
    /// Bit 1: Y tiles, not X.
    y: bool,
    #[bits(10)]
    __: u16,
    /// Bits 31:12: first page.
    #[bits(20)]
    first: u32,
    /// Bits 43:32: stride in 128 bytes, less one. How many of them there are, the greatest stride says.
    #[bits(12)]
    stride_less_one: u16,
    /// Bits 63:44: last page, which is in it.
    #[bits(20)]
    last: u32,
}
const_assert_eq!(core::mem::size_of::<Fence>(), 8);

/// The fences of a chip.
pub(crate) struct Fences {
    /// The first one's register; each has 8 bytes.
    pub(crate) at: u32,
    /// How many there are.
    pub(crate) count: u8,
    /// The greatest stride, in bytes.
    pub(crate) max_stride: u32,
    /// What a register holds for a region.
    pub(crate) fields: fn(Measure) -> u64,
}

impl Fences {
    /// What the register holds for a region.
    pub(crate) fn encode(&self, region: &FenceRegion) -> Result<u64, BadRegion> {
        measure(region, self.max_stride).map(self.fields)
    }
}

/// A region as fences have it.
pub(crate) struct Measure {
    /// Its first page.
    pub(crate) first: u32,
    /// Its last page.
    pub(crate) last: u32,
    /// Its stride in 128 bytes, less one.
    pub(crate) stride_less_one: u16,
    /// Y tiles, not X.
    pub(crate) y: bool,
}

/// [`Fences::fields`], from Gen6 on.
pub(crate) fn from_gen6(measure: Measure) -> u64 {
    Fence::new()
        .with_valid(true)
        .with_y(measure.y)
        .with_first(measure.first)
        .with_stride_less_one(measure.stride_less_one)
        .with_last(measure.last)
        .into_bits()
}

/// Measures a region, if a fence with strides up to `max_stride` bytes can have it.
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
