// SPDX-License-Identifier: GPL-2.0

//! `REG_READ`: registers of 64 bits that the backend lets user space read.

use kernel::prelude::*;
use ouro_uapi::i915 as abi;

use super::require;
use crate::{
    device::{Device, DrmFile},
    submit::request::Awake,
};

/// `REG_READ` reads a register that user space may read.
///
/// Errors: `EINVAL` for any other register, and for another flag than `I915_REG_READ_8B_WA`;
/// `ENODEV`.
pub(super) fn read(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_reg_read) -> Result {
    // Registers are aligned, and flags stand in the bits that are free. The one that is known asks
    // for two reads of 32 bits, as they are made here anyway.
    let flags = arg.offset & 7;
    require(flags & !u64::from(abi::I915_REG_READ_8B_WA) == 0)?;
    let offset = u32::try_from(arg.offset - flags).map_err(|_| EINVAL)?;
    let gpu = file.gpu();
    gpu.usable()?;
    let hardware = gpu.hardware();
    let value = {
        let _awake = Awake::new(hardware)?;
        hardware.generation().user_register(&hardware.hw(), offset)
    };
    // The device may sleep again.
    gpu.retirer().wind();
    arg.val = value.ok_or(EINVAL)?;
    Ok(())
}
