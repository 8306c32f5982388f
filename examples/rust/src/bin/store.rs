// SPDX-License-Identifier: GPL-2.0
//! One batch on the render engine of a Sandy Bridge or Ivy Bridge: it stores a number, and a fence says when it is
//! done. It uses nothing but the i915 interface, so it runs on the upstream driver too.

use ouro_examples::{uapi::*, Device};
use rustix::{
    event::{poll, PollFd, PollFlags, Timespec},
    fd::{FromRawFd, OwnedFd},
};
use std::error::Error;

// G45 PRM Vol 1b, "Memory Interface Commands", and the Sandy Bridge PRM, Vol 1 Part 3.
const MI_STORE_DATA_IMM: u32 = 0x1000_0002;
const MI_BATCH_BUFFER_END: u32 = 0x0500_0000;
const NUMBER: u32 = 0x00c0_ffee;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open("/dev/dri/renderD128")?;
    let target = device.object(4096)?;
    let batch = device.object(4096)?;
    // The third dword is the address: the relocation has the kernel write it.
    device.write(
        batch,
        &[MI_STORE_DATA_IMM, 0, 0, NUMBER, MI_BATCH_BUFFER_END, 0],
    )?;
    let relocations = [drm_i915_gem_relocation_entry {
        target_handle: target,
        offset: 2 * 4,
        presumed_offset: u64::MAX,
        read_domains: I915_GEM_DOMAIN_INSTRUCTION,
        write_domain: I915_GEM_DOMAIN_INSTRUCTION,
        ..Default::default()
    }];
    // The batch is the last one.
    let mut objects = [drm_i915_gem_exec_object2::default(); 2];
    objects[0].handle = target;
    objects[1].handle = batch;
    objects[1].relocation_count = relocations.len() as u32;
    objects[1].relocs_ptr = relocations.as_ptr() as u64;
    let mut execbuffer = drm_i915_gem_execbuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: objects.len() as u32,
        batch_len: 6 * 4,
        flags: u64::from(I915_EXEC_RENDER | I915_EXEC_FENCE_OUT),
        ..Default::default()
    };
    device.call(&mut execbuffer)?;

    // SAFETY: the upper half is a new file descriptor, which is ours alone.
    let fence = unsafe { OwnedFd::from_raw_fd((execbuffer.rsvd2 >> 32) as i32) };
    // It can be read when the batch is done.
    let limit = Timespec {
        tv_sec: 20,
        tv_nsec: 0,
    };
    if poll(&mut [PollFd::new(&fence, PollFlags::IN)], Some(&limit))? != 1 {
        return Err("the batch is not done after 20 seconds".into());
    }
    // A batch that was reset is done as well: who wants to know asks.
    let mut stats = drm_i915_reset_stats::default();
    device.call(&mut stats)?;
    if stats.batch_active != 0 {
        return Err("the GPU hung in this batch, and was reset".into());
    }

    let mut value = [0];
    device.read(target, &mut value)?;
    println!("stored {:#x}, wanted {NUMBER:#x}", value[0]);
    if value[0] == NUMBER {
        Ok(())
    } else {
        Err("that is wrong".into())
    }
}
