// SPDX-License-Identifier: GPL-2.0
//! Registers, translation table and aperture as base address registers have them, on chips without memory of their own
//! (G-02).

use crate::{
    generation::{DeviceError, Mapping, Window, Windows},
    io::Hw,
    types::PAGE_SIZE,
};

/// Bytes of a MiB.
pub(crate) const MIB: u64 = 1 << 20;
/// That of registers and table.
pub(crate) const REGISTER_BAR: u8 = 0;
/// The aperture's.
const APERTURE_BAR: u8 = 2;
/// Apertures that there are, in bytes (SNB PRM V1P2 §4.4).
const APERTURES: [u64; 4] = [64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB];

/// The windows, with so many bytes of registers, and the table from `table_at` on.
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

/// Bytes of the aperture, if it is one that there is, and a table of so many entries reaches to its end.
pub(crate) fn aperture(hw: &Hw<'_>, gtt_entries: u32) -> Result<u64, DeviceError> {
    let aperture = hw.platform.bar_len(APERTURE_BAR);
    let reach = u64::from(gtt_entries).wrapping_mul(PAGE_SIZE.into());
    match APERTURES.contains(&aperture) && aperture <= reach {
        true => Ok(aperture),
        false => Err(DeviceError::Unsupported("size of the aperture")),
    }
}
