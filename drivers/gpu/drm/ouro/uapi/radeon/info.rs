// SPDX-License-Identifier: GPL-2.0

//! `INFO`: one number about the device for each request. Some requests read a parameter from where
//! the answer is written.

use kernel::prelude::*;
use ouro_kernel::uaccess;
use ouro_uapi::radeon as abi;

use super::{domain, require};
use crate::{
    device::{Device, DrmFile},
    gpu::Gpu,
};

/// Frequency in kHz of the reference clock (digest §5.6: 27 MHz on these boards).
const CRYSTAL_KHZ: u32 = 27_000;

/// An answer of 32 or 64 bits.
enum Answer {
    Word(u32),
    Long(u64),
}

/// `INFO` writes one number about the device to the address `value`; `request` selects which, and
/// its width.
///
/// Errors: `EINVAL` for an unknown request, an invalid parameter, and for features that these chips
/// do not have; `EFAULT`.
pub(super) fn info(_: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_info) -> Result {
    match answer(file.gpu(), arg)? {
        Answer::Word(word) => uaccess::write(arg.value, &word),
        Answer::Long(long) => uaccess::write(arg.value, &long),
    }
}

fn answer(gpu: &Gpu, arg: &abi::drm_radeon_info) -> Result<Answer> {
    let hardware = gpu.hardware();
    let vram_used = || domain::vram(gpu).map_or(0, |(_, r)| r.size() - r.free().unwrap_or(0));
    let word = match arg.request {
        abi::RADEON_INFO_DEVICE_ID => hardware.chip().device.into(),
        abi::RADEON_INFO_NUM_GB_PIPES => hardware.topology().pipes.colour.into(),
        abi::RADEON_INFO_NUM_Z_PIPES => hardware.topology().pipes.depth.into(),
        abi::RADEON_INFO_ACCEL_WORKING | abi::RADEON_INFO_ACCEL_WORKING2 => {
            gpu.working().is_ok().into()
        }
        // One client could have them; the checker grants them to none.
        abi::RADEON_INFO_WANT_HYPERZ | abi::RADEON_INFO_WANT_CMASK => {
            let wanted: u32 = uaccess::read(arg.value)?;
            require(wanted <= 1)?;
            0
        }
        // Units that exist once, and features without a restriction.
        abi::RADEON_INFO_FUSION_GART_WORKING
        | abi::RADEON_INFO_MAX_SE
        | abi::RADEON_INFO_ACTIVE_CU_COUNT
        | abi::RADEON_INFO_SI_CP_DMA_COMPUTE
        | abi::RADEON_INFO_VA_UNMAP_WORKING => 1,
        abi::RADEON_INFO_CLOCK_CRYSTAL_FREQ => CRYSTAL_KHZ,
        // The driver does not read the firmware's clock tables; there is no sensor, and no video
        // engine with firmware.
        abi::RADEON_INFO_MAX_SCLK
        | abi::RADEON_INFO_CURRENT_GPU_SCLK
        | abi::RADEON_INFO_CURRENT_GPU_MCLK
        | abi::RADEON_INFO_CURRENT_GPU_TEMP
        | abi::RADEON_INFO_VCE_FW_VERSION
        | abi::RADEON_INFO_VCE_FB_VERSION
        | abi::RADEON_INFO_FASTFB_WORKING => 0,
        // No register may be read, and there is no display.
        abi::RADEON_INFO_READ_REG | abi::RADEON_INFO_CRTC_FROM_ID => {
            uaccess::read::<u32>(arg.value)?;
            return Err(EINVAL);
        }
        abi::RADEON_INFO_RING_WORKING => {
            let ring: u32 = uaccess::read(arg.value)?;
            match ring {
                abi::RADEON_CS_RING_GFX => gpu.working().is_ok().into(),
                abi::RADEON_CS_RING_COMPUTE
                | abi::RADEON_CS_RING_DMA
                | abi::RADEON_CS_RING_UVD
                | abi::RADEON_CS_RING_VCE => 0,
                _ => return Err(EINVAL),
            }
        }
        abi::RADEON_INFO_GPU_RESET_COUNTER => gpu.recovery().resets() as u32,
        abi::RADEON_INFO_NUM_BYTES_MOVED => return Ok(Answer::Long(gpu.counts().moved)),
        abi::RADEON_INFO_VRAM_USAGE => return Ok(Answer::Long(vram_used())),
        abi::RADEON_INFO_GTT_USAGE => {
            let all = gpu.counts().object_pages * 4096;
            return Ok(Answer::Long(all.saturating_sub(vram_used())));
        }
        _ => return Err(EINVAL),
    };
    Ok(Answer::Word(word))
}
