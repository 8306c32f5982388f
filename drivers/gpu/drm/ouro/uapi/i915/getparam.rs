// SPDX-License-Identifier: GPL-2.0

//! `GETPARAM`: one number for one parameter.

use kernel::prelude::*;
use ouro_hw::{
    generation::{SecureBatches, Translation},
    EngineClass,
};
use ouro_kernel::{
    task::{self, Capability},
    uaccess,
};
use ouro_uapi::i915 as abi;

use super::engine_class;
use crate::{
    device::{Device, DrmFile},
    reset::Allowed,
};

/// The argument. That of a 32-bit program has eight bytes, with the address where a 64-bit one has
/// padding.
#[repr(C)]
#[derive(FromBytes)]
pub(super) struct GetParam {
    param: i32,
    compat_value: u32,
    value: u64,
}
const _: () = assert!(size_of::<GetParam>() == size_of::<abi::drm_i915_getparam>());

impl GetParam {
    /// Returns the address that the number is written to.
    fn value(&self) -> u64 {
        match task::is_compat() {
            true => self.compat_value.into(),
            false => self.value,
        }
    }
}

/// `GETPARAM` writes a number about the device to the address `value`; `param` selects which.
///
/// Errors: `EINVAL` for an unknown parameter, `ENODEV` for one that does not apply to this chip or
/// driver, `EFAULT`.
pub(super) fn getparam(_: &Device, file: &DrmFile, arg: &mut GetParam) -> Result {
    let gpu = file.gpu();
    let topology = gpu.hardware().topology();
    let has = |class| topology.engines.iter().any(|e| e.desc().id.class == class);
    let second_video = gpu.engine(EngineClass::Video, 1).is_some();

    let value: i32 = match arg.param as u32 {
        abi::I915_PARAM_CHIPSET_ID => i32::from(gpu.hardware().chip().device),
        abi::I915_PARAM_REVISION => i32::from(gpu.revision()),
        abi::I915_PARAM_NUM_FENCES_AVAIL => topology.fences.map_or(0, |f| i32::from(f.count())),
        abi::I915_PARAM_HAS_BSD => has(EngineClass::Video).into(),
        abi::I915_PARAM_HAS_BLT => has(EngineClass::Copy).into(),
        abi::I915_PARAM_HAS_VEBOX => has(EngineClass::VideoEnhance).into(),
        abi::I915_PARAM_HAS_BSD2 => second_video.into(),
        abi::I915_PARAM_HAS_LLC => topology.coherence.is_llc().into(),
        abi::I915_PARAM_HAS_ALIASING_PPGTT => match topology.space {
            Translation::Global => 0,
            // Directories per context are not reported: user space must not rely on what it would
            // infer.
            Translation::Aliasing { .. } | Translation::PerContextDirectory { .. } => 1,
            Translation::PerContext { bits, .. } => {
                if bits > 32 {
                    3
                } else {
                    2
                }
            }
        },
        abi::I915_PARAM_CS_TIMESTAMP_FREQUENCY => topology.timestamp_hz as i32,
        // An engine with context images isolates contexts from each other.
        abi::I915_PARAM_HAS_CONTEXT_ISOLATION => {
            let engines = gpu
                .engines()
                .iter()
                .filter(|e| e.has_lists() || gpu.has_images(e));
            let classes = engines.map(|e| 1i32 << engine_class(e.hw().desc().id.class));
            classes.fold(0, |all, class| all | class)
        }
        abi::I915_PARAM_SUBSLICE_TOTAL => topology.shaders.ok_or(ENODEV)?.count() as i32,
        abi::I915_PARAM_EU_TOTAL => {
            let shaders = topology.shaders.ok_or(ENODEV)?;
            (shaders.count() * shaders.units.count_ones()) as i32
        }
        abi::I915_PARAM_MMAP_VERSION => 1,
        abi::I915_PARAM_MMAP_GTT_VERSION => 4,
        // Processes do not flush their memory for the device.
        abi::I915_PARAM_HAS_USERPTR_PROBE => topology.coherence.snoops().into(),
        // Writes through the aperture are in memory before the next batch starts.
        abi::I915_PARAM_MMAP_GTT_COHERENT => (topology.aperture != 0).into(),

        // Features that this driver has on every chip.
        abi::I915_PARAM_HAS_GEM
        | abi::I915_PARAM_HAS_PAGEFLIPPING
        | abi::I915_PARAM_HAS_EXECBUF2
        | abi::I915_PARAM_HAS_RELAXED_FENCING
        | abi::I915_PARAM_HAS_COHERENT_RINGS
        | abi::I915_PARAM_HAS_RELAXED_DELTA
        | abi::I915_PARAM_HAS_GEN7_SOL_RESET
        | abi::I915_PARAM_HAS_WAIT_TIMEOUT
        | abi::I915_PARAM_HAS_PRIME_VMAP_FLUSH
        | abi::I915_PARAM_HAS_PINNED_BATCHES
        | abi::I915_PARAM_HAS_EXEC_NO_RELOC
        | abi::I915_PARAM_HAS_EXEC_HANDLE_LUT
        | abi::I915_PARAM_HAS_COHERENT_PHYS_GTT
        | abi::I915_PARAM_HAS_EXEC_SOFTPIN
        | abi::I915_PARAM_HAS_EXEC_ASYNC
        | abi::I915_PARAM_HAS_EXEC_FENCE
        | abi::I915_PARAM_HAS_EXEC_SUBMIT_FENCE
        | abi::I915_PARAM_HAS_EXEC_BATCH_FIRST
        | abi::I915_PARAM_HAS_EXEC_FENCE_ARRAY
        | abi::I915_PARAM_HAS_EXEC_CAPTURE
        | abi::I915_PARAM_HAS_EXEC_TIMELINE_FENCES => 1,

        // 2: a hung engine is reset while the others work; 1: all engines are reset together.
        abi::I915_PARAM_HAS_GPU_RESET => match gpu.recovery().allowed() {
            Allowed::None => 0,
            Allowed::Engine if topology.resets_engines() => 2,
            Allowed::All | Allowed::Engine => 1,
        },

        // The version of the command parser's rules; 0 if batches are not checked.
        abi::I915_PARAM_CMD_PARSER_VERSION => {
            let checkers = topology.engines.iter().filter_map(|e| e.checker());
            checkers.map(|c| i32::from(c.version())).max().unwrap_or(0)
        }

        abi::I915_PARAM_HAS_SCHEDULER if gpu.has_scheduler() => {
            (abi::I915_SCHEDULER_CAP_ENABLED
                | abi::I915_SCHEDULER_CAP_PRIORITY
                | abi::I915_SCHEDULER_CAP_PREEMPTION) as i32
        }
        abi::I915_PARAM_HAS_SCHEDULER => 0,

        // Whether the caller may submit secure batches once it is DRM master.
        abi::I915_PARAM_HAS_SECURE_BATCHES => {
            let secure = gpu.hardware().generation().secure_batches();
            let may = secure == SecureBatches::Master && task::capable(Capability::SysAdmin);
            may.into()
        }

        // Features that this driver does not have.
        abi::I915_PARAM_HAS_SEMAPHORES
        | abi::I915_PARAM_HAS_RESOURCE_STREAMER
        | abi::I915_PARAM_HAS_POOLED_EU
        | abi::I915_PARAM_MIN_EU_IN_POOL
        | abi::I915_PARAM_HAS_OVERLAY => 0,

        abi::I915_PARAM_IRQ_ACTIVE
        | abi::I915_PARAM_ALLOW_BATCHBUFFER
        | abi::I915_PARAM_LAST_DISPATCH
        | abi::I915_PARAM_HAS_EXEC_CONSTANTS
        | abi::I915_PARAM_SLICE_MASK
        | abi::I915_PARAM_SUBSLICE_MASK
        | abi::I915_PARAM_HUC_STATUS
        | abi::I915_PARAM_PXP_STATUS => return Err(ENODEV),

        _ => return Err(EINVAL),
    };
    uaccess::write(arg.value(), &value)
}
