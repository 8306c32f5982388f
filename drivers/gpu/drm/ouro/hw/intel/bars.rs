// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The BARs of chips without VRAM: registers and GGTT in BAR 0, the aperture in BAR 2 (G-02).

use crate::{
    generation::{DeviceError, Mapping, Window, Windows},
    io::Hw,
    types::PAGE_SIZE,
};

/// Bytes of a MiB.
pub(crate) const MIB: u64 = 1 << 20;
/// The BAR of the registers and the GGTT.
pub(crate) const REGISTER_BAR: u8 = 0;
/// The BAR of the aperture.
const APERTURE_BAR: u8 = 2;
/// The possible sizes of the aperture, in bytes (SNB PRM V1P2 §4.4).
const APERTURES: [u64; 4] = [64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB];

/// Returns the windows of a chip with `register_bytes` of registers whose GGTT begins at `table_at`
/// of BAR 0.
pub(crate) const fn windows(register_bytes: u32, table_at: u32) -> Windows {
    const fn window(bar: u8, start: u32, len: u32, mapping: Mapping) -> Window {
        Window {
            bar,
            start,
            len,
            mapping,
        }
    }
    Windows {
        regs: window(REGISTER_BAR, 0, register_bytes, Mapping::Uncached),
        gtt: window(REGISTER_BAR, table_at, 0, Mapping::WriteCombining),
        aperture: Some(window(APERTURE_BAR, 0, 0, Mapping::WriteCombining)),
        local: None,
    }
}

/// Returns the size of the aperture in bytes. Errors: [`DeviceError::Unsupported`] for a size that
/// the document does not list, or one that a GGTT of `gtt_entries` entries does not cover.
pub(crate) fn aperture(hw: &Hw<'_>, gtt_entries: u32) -> Result<u64, DeviceError> {
    let aperture = hw.platform.bar_len(APERTURE_BAR);
    let reach = u64::from(gtt_entries).wrapping_mul(PAGE_SIZE.into());
    match APERTURES.contains(&aperture) && aperture <= reach {
        true => Ok(aperture),
        false => Err(DeviceError::Unsupported("aperture size")),
    }
}
