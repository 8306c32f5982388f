// SPDX-License-Identifier: GPL-2.0
//! Copies a picture of 64 by 64 pixels from one buffer object to another, by the blitter of an Intel GPU up to Ivy
//! Bridge. It uses nothing but the i915 interface, so it runs on the upstream driver too.

use ouro_examples::{uapi::*, Device};
use std::error::Error;

const WIDTH: u32 = 64;
const HEIGHT: u32 = 64;
const PITCH: u32 = WIDTH * 4;
const PIXELS: usize = (WIDTH * HEIGHT) as usize;

// G45 PRM Vol 1b, chapter 8: client 2, opcode 53h, all four bytes written, 8 dwords.
const XY_SRC_COPY_BLT: u32 = 0x54f0_0006;
const DEPTH_32: u32 = 3 << 24;
const ROP_SOURCE: u32 = 0xcc << 16;
const MI_BATCH_BUFFER_END: u32 = 0x0500_0000;

/// The engine that blits: chips with a blitter of its own have it in another ring.
fn engine_of_blits(device: &Device) -> Result<u32, rustix::io::Errno> {
    let mut has_blitter = 0;
    device.call(&mut drm_i915_getparam {
        param: I915_PARAM_HAS_BLT as i32,
        value: &raw mut has_blitter,
    })?;
    Ok(if has_blitter != 0 {
        I915_EXEC_BLT
    } else {
        I915_EXEC_RENDER
    })
}

/// The kernel writes the address of `target` into this dword of the batch.
fn address(dword: u64, target: u32, written: bool) -> drm_i915_gem_relocation_entry {
    drm_i915_gem_relocation_entry {
        target_handle: target,
        offset: dword * 4,
        presumed_offset: u64::MAX,
        read_domains: I915_GEM_DOMAIN_RENDER,
        write_domain: if written { I915_GEM_DOMAIN_RENDER } else { 0 },
        ..Default::default()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open("/dev/dri/renderD128")?;
    let picture: Vec<u32> = (0..PIXELS as u32).map(|n| n * 0x1_0001).collect();
    let from = device.object(PIXELS * 4)?;
    let to = device.object(PIXELS * 4)?;
    let batch = device.object(4096)?;
    device.write(from, &picture)?;
    let commands = [
        XY_SRC_COPY_BLT,
        DEPTH_32 | ROP_SOURCE | PITCH,
        0,                    // y and x of the first pixel
        HEIGHT << 16 | WIDTH, // of the one behind the last
        0,                    // destination
        0,                    // y and x in the source
        PITCH,
        0, // source
        MI_BATCH_BUFFER_END,
        0,
    ];
    device.write(batch, &commands)?;

    let relocations = [address(4, to, true), address(7, from, false)];
    // The batch is the last one.
    let mut objects = [from, to, batch].map(|handle| drm_i915_gem_exec_object2 {
        handle,
        ..Default::default()
    });
    objects[2].relocation_count = relocations.len() as u32;
    objects[2].relocs_ptr = relocations.as_ptr() as u64;
    device.call(&mut drm_i915_gem_execbuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: objects.len() as u32,
        batch_len: size_of_val(&commands) as u32,
        flags: u64::from(engine_of_blits(&device)?),
        ..Default::default()
    })?;
    device.call(&mut drm_i915_gem_wait {
        bo_handle: to,
        timeout_ns: 20_000_000_000,
        ..Default::default()
    })?;

    let mut result = vec![0; PIXELS];
    device.read(to, &mut result)?;
    if result != picture {
        return Err("the copy differs".into());
    }
    println!("copied {PIXELS} pixels, all right");
    Ok(())
}
