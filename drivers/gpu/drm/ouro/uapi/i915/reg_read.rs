// SPDX-License-Identifier: GPL-2.0

//! `REG_READ`: the 64-bit registers that user space may read.

use kernel::prelude::*;
use ouro_uapi::i915 as abi;

use super::require;
use crate::{
    device::{Device, DrmFile},
    submit::request::Awake,
};

/// `REG_READ` returns in `val` the 64-bit register at `offset`. The low bits of `offset` may be the
/// flag `I915_REG_READ_8B_WA`.
///
/// Errors: `EINVAL` for a register that user space may not read, and for other flags; `ENODEV`.
pub(super) fn read(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_reg_read) -> Result {
    // Offsets are aligned, and the low bits are flags. The known one asks for two 32-bit reads,
    // which is how registers are read here anyway.
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
    gpu.retirer().start_tick();
    arg.val = value.ok_or(EINVAL)?;
    Ok(())
}
