// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Surfaces: fence registers that detile ranges of the CPU's aperture on VRAM (§2.2; digest §3.2,
//! §5.2).
//!
//! Bounds count from the start of VRAM; the upper bound is inclusive. The codes of pitch and tiling
//! are from radeon and radeonhd (digest §5.2); there is no code for square blocks.

use super::memory;
use crate::{
    fence_regs::{BadRegion, FenceRegion, FenceRegs, Tiling},
    io::{Hw, Registers},
    types::PAGE_SIZE,
};
use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Number of surfaces.
const COUNT: u8 = 8;
/// Enables the surfaces, and selects the byte swap of accesses outside any surface (digest §3.2).
const SURFACE_CNTL: u32 = 0x0b00;
/// Lower bound of the first surface; upper bound and [`Info`] follow; the next surface is 16 bytes
/// on.
const SURFACE0_LOWER: u32 = 0x0b04;
/// Unit of a pitch in bytes.
const PITCH_UNIT: u32 = 8;
/// Largest pitch, in bytes, that a blit and a target have: 4096 pixels of four bytes.
const MAX_PITCH: u32 = 16 * 1024;

/// Layout of a surface.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Info {
    /// Bits 15:0: bytes from one row to the next, by 8.
    pitch: u16,
    /// Bit 16: macro tiles.
    macro_tiles: bool,
    /// Bit 17: micro blocks.
    micro_blocks: bool,
    #[bits(14)]
    __: u16,
}
const_assert_eq!(core::mem::size_of::<Info>(), 4);

/// The surfaces.
pub(super) struct Surfaces;

/// The surfaces' one object.
pub(super) static SURFACES: Surfaces = Surfaces;

/// Returns lower bound, upper bound and layout.
fn encode(region: &FenceRegion) -> Result<[u32; 3], BadRegion> {
    // Bytes of a row of tiles or blocks; a pitch is a multiple of it (§2.2, §2.3).
    let (macro_tiles, micro_blocks, unit) = match region.tiling {
        Tiling::Macro => (true, false, 256),
        Tiling::MacroMicro => (true, true, 128),
        Tiling::Micro => (false, true, 16),
        Tiling::X | Tiling::Y | Tiling::Square | Tiling::MacroSquare => return Err(BadRegion),
    };
    let pitch_fits =
        region.stride != 0 && region.stride.is_multiple_of(unit) && region.stride <= MAX_PITCH;
    let whole_pages = (region.start.0 | region.len).is_multiple_of(PAGE_SIZE) && region.len != 0;
    if !pitch_fits || !whole_pages {
        return Err(BadRegion);
    }
    let info = Info::new()
        .with_pitch((region.stride / PITCH_UNIT) as u16)
        .with_macro_tiles(macro_tiles)
        .with_micro_blocks(micro_blocks);
    // `check` calls this before the BO has an address, so the layout is checked apart from it.
    let lower = region.start.0.wrapping_sub(memory::LOCAL_BASE);
    let upper = lower.checked_add(region.len.wrapping_sub(1));
    let upper = upper.filter(|u| u64::from(*u) < memory::LOCAL_MAX);
    match (region.start.0, upper) {
        (0, _) => Ok([0, 0, info.into_bits()]),
        (_, Some(upper)) => Ok([lower, upper, info.into_bits()]),
        (_, None) => Err(BadRegion),
    }
}

/// Clears surfaces that the firmware or another driver left, before the first write through the
/// aperture: they would tile the GART's entries, or swap their bytes.
pub(super) fn clear(hw: &Hw<'_>) {
    for n in 0..COUNT {
        // An empty surface is always valid.
        let _ = SURFACES.set(hw.regs, n, None);
    }
    hw.regs.write32_flush(SURFACE_CNTL, 0);
}

impl FenceRegs for Surfaces {
    fn count(&self) -> u8 {
        COUNT
    }

    /// A `start` of zero, which is no address of VRAM, stands for any address.
    fn check(&self, region: &FenceRegion) -> Result<(), BadRegion> {
        encode(region).map(|_| ())
    }

    fn set(
        &self,
        regs: &dyn Registers,
        n: u8,
        region: Option<&FenceRegion>,
    ) -> Result<(), BadRegion> {
        if n >= COUNT {
            return Err(BadRegion);
        }
        let [lower, upper, info] = match region {
            Some(region) if region.start.0 == 0 => return Err(BadRegion),
            Some(region) => encode(region)?,
            None => [0; 3],
        };
        let at = SURFACE0_LOWER.wrapping_add(u32::from(n).wrapping_mul(16));
        let registers = [at, at.wrapping_add(4), at.wrapping_add(8)];
        if region.is_some() && registers.map(|reg| regs.read32(reg)) == [lower, upper, info] {
            // The register still holds this surface, which may be in use. After a reset it is
            // written again.
            return Ok(());
        }
        // The layout is cleared first and written last, so that no mixture of two surfaces is ever
        // active.
        regs.write32(at.wrapping_add(8), 0);
        regs.write32(at, lower);
        regs.write32(at.wrapping_add(4), upper);
        regs.write32_flush(at.wrapping_add(8), info);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{region, Access, Mock};

    #[test]
    fn a_surface_is_told_without_tiles_first() {
        let mock = Mock::default();
        let r = region(0x8010_0000, 0x4_0000, 4096, Tiling::MacroMicro);
        SURFACES.set(&mock, 1, Some(&r)).unwrap();
        let (r, w) = (Access::R, Access::W);
        let looks = [r(0xb14), r(0xb18), r(0xb1c)];
        let log = mock.take();
        assert_eq!(log[..3], looks);
        assert_eq!(
            log[3..],
            [
                w(0xb1c, 0),
                w(0xb14, 0x0010_0000),
                w(0xb18, 0x0013_ffff),
                // Bits 16 macro, 17 micro; 4096 / 8.
                w(0xb1c, 0x0003_0200),
                r(0xb1c),
            ]
        );
        SURFACES.set(&mock, 7, None).unwrap();
        assert_eq!(mock.written(0xb74), [0]);
        assert_eq!(mock.written(0xb7c), [0, 0]);
        assert_eq!(SURFACES.set(&mock, 8, None), Err(BadRegion));
        assert_eq!(SURFACES.count(), 8);
    }

    #[test]
    fn a_surface_that_is_there_still_is_not_touched() {
        let mock = Mock::default();
        let r = region(0x8010_0000, 0x4_0000, 4096, Tiling::MacroMicro);
        mock.set(0xb14, 0x0010_0000);
        mock.set(0xb18, 0x0013_ffff);
        mock.set(0xb1c, 0x0003_0200);
        SURFACES.set(&mock, 1, Some(&r)).unwrap();
        assert!(!mock.take().iter().any(|a| matches!(a, Access::W(..))));
        // The register has lost one bit.
        mock.set(0xb1c, 0x0001_0200);
        SURFACES.set(&mock, 1, Some(&r)).unwrap();
        assert_eq!(mock.written(0xb1c), [0, 0x0003_0200]);
    }

    #[test]
    fn what_others_left_is_cleared() {
        let mock = Mock::default();
        // Translation off, bytes swapped.
        mock.set(0xb00, 0x0030_0100);
        for n in 0..8 {
            mock.set(0xb0c + 16 * n, 0x0001_0020);
        }
        clear(&mock.hw());
        for n in 0..8 {
            assert_eq!(mock.read32(0xb0c + 16 * n), 0, "{n}");
        }
        assert_eq!(mock.written(0xb00), [0]);
    }

    #[test]
    fn tiles_have_their_bits_and_pitches() {
        let info = |stride, tiling| encode(&region(0, 4096, stride, tiling)).map(|r| r[2]);
        assert_eq!(info(256, Tiling::Macro), Ok(0x0001_0020));
        assert_eq!(info(16, Tiling::Micro), Ok(0x0002_0002));
        assert_eq!(info(128, Tiling::MacroMicro), Ok(0x0003_0010));
        assert_eq!(info(16384, Tiling::Macro), Ok(0x0001_0800));
        for (stride, tiling) in [
            (128, Tiling::Macro),
            (64, Tiling::MacroMicro),
            (8, Tiling::Micro),
            (0, Tiling::Macro),
            (16640, Tiling::Macro),
            (512, Tiling::X),
            (512, Tiling::Y),
            (512, Tiling::Square),
            (512, Tiling::MacroSquare),
        ] {
            assert_eq!(info(stride, tiling), Err(BadRegion), "{stride} {tiling:?}");
        }
    }

    #[test]
    fn a_surface_lies_in_the_cards_memory() {
        for (start, len) in [
            (0x1000, 0x1000),
            (0x7fff_f000, 0x1000),
            (0xbfff_f000, 0x2000),
            (0x8000_0800, 0x1000),
            (0x8000_0000, 0),
        ] {
            let r = region(start, len, 256, Tiling::Macro);
            assert_eq!(SURFACES.check(&r), Err(BadRegion), "{start:x}");
        }
        let r = region(0, 0x1000, 256, Tiling::Macro);
        assert_eq!(SURFACES.set(&Mock::default(), 0, Some(&r)), Err(BadRegion));
    }
}
