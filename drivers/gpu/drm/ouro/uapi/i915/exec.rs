// SPDX-License-Identifier: GPL-2.0

//! `EXECBUFFER2`: submits a batch, with its BOs and fences.
//!
//! The order of the checks is part of the uAPI, since user space probes with it: flags, fences,
//! context, engine, BOs, relocations.

use core::mem::MaybeUninit;
use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::aref::ARef};
use ouro_core::{relocation, sort::sort_by_key};
use ouro_hw::{generation::SecureBatches, types::GpuAddr};
use ouro_kernel::{
    gem::{Found, SOME},
    lazy::LazyVec,
    sync_file,
    task::{self, Capability},
    uaccess,
};
use ouro_uapi::i915 as abi;

use super::{
    engines::{self, Selected},
    exec_fences::{extensions, fence_array, Signals},
    require,
};
use crate::{
    device::{Device, DrmFile},
    gem::{region, Object},
    submit::{
        evict::Tries,
        exec::{Entry, Exec, Kinds, Source},
        relocate::{Relocation, MAX_RELOCATIONS},
        scratch::Scratch,
    },
    vm::Place,
};

/// Supported flags.
const FLAGS: u64 = (abi::I915_EXEC_RING_MASK
    | abi::I915_EXEC_IS_PINNED
    | abi::I915_EXEC_NO_RELOC
    | abi::I915_EXEC_HANDLE_LUT
    | abi::I915_EXEC_BSD_MASK
    | abi::I915_EXEC_GEN7_SOL_RESET
    | abi::I915_EXEC_FENCE_IN
    | abi::I915_EXEC_FENCE_OUT
    | abi::I915_EXEC_FENCE_SUBMIT
    | abi::I915_EXEC_BATCH_FIRST
    | abi::I915_EXEC_FENCE_ARRAY
    | abi::I915_EXEC_USE_EXTENSIONS) as u64;

/// Each of these determines the meaning of the fd in `rsvd2`, so they exclude each other.
const IN_FENCES: u64 = (abi::I915_EXEC_FENCE_IN | abi::I915_EXEC_FENCE_SUBMIT) as u64;

/// Supported flags of BOs.
const OBJECT_FLAGS: u64 = (abi::EXEC_OBJECT_NEEDS_FENCE
    | abi::EXEC_OBJECT_NEEDS_GTT
    | abi::EXEC_OBJECT_WRITE
    | abi::EXEC_OBJECT_SUPPORTS_48B_ADDRESS
    | abi::EXEC_OBJECT_PINNED
    | abi::EXEC_OBJECT_PAD_TO_SIZE
    | abi::EXEC_OBJECT_ASYNC
    | abi::EXEC_OBJECT_CAPTURE) as u64;

/// Most BOs and fences of a call: the count fits in a signed integer, and the memory for it is
/// limited.
pub(super) const MAX_COUNT: usize = 1 << 20;

/// Size of a page in bytes.
const PAGE: u64 = 4096;
/// End of a 32-bit address space.
const LOW: u64 = 1 << 32;

/// `GEM_EXECBUFFER2` and `GEM_EXECBUFFER2_WR` submit a batch: they look up its BOs, bind and
/// relocate them, and publish a request to the engine.
///
/// `buffers_ptr` is an array of `buffer_count` BOs; the batch is the last one, or the first with
/// `BATCH_FIRST`, from `batch_start_offset` on for `batch_len` bytes (both multiples of 8; a length
/// of zero means up to the BO's end). `rsvd1` is the context id. With `FENCE_IN` or `FENCE_SUBMIT`,
/// the lower half of `rsvd2` is a sync file to wait for, or whose request must be submitted before;
/// with `FENCE_OUT`, the upper half returns one. `cliprects_ptr` is an array of syncobjs with
/// `FENCE_ARRAY`, and a chain of extensions with `USE_EXTENSIONS`. The offsets of BOs, and the
/// presumed offsets of relocations, return the new addresses.
///
/// Errors: `EINVAL` for unknown flags and flags of other engines, for a batch that does not lie in
/// its BO or that the batch writes, and for invalid relocations and addresses; `EPERM` or `ENODEV`
/// for `SECURE` ([`check_secure`]); `EACCES` if another user has a device that does not isolate
/// users; `ENOENT` for an unknown context, handle or syncobj; `EIO` if the context is banned or the
/// device is wedged; `ENOSPC` if the BOs do not fit into the address space together; `EAGAIN` on a
/// non-blocking file with too many requests or checked copies in flight; `EFAULT`, `ENOMEM`,
/// `ERESTARTSYS`, `ENODEV`.
pub(super) fn execbuffer2(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_execbuffer2,
) -> Result {
    let client = file.inner();
    let gpu = client.gpu();
    let flags = arg.flags;
    check(arg)?;
    let secure = flags & u64::from(abi::I915_EXEC_SECURE) != 0;
    if secure {
        check_secure(file)?;
    }

    let mut after = LazyVec::new();
    let mut signals = Signals::new(flags & u64::from(abi::I915_EXEC_FENCE_OUT) != 0);
    if flags & u64::from(abi::I915_EXEC_FENCE_ARRAY) != 0 {
        fence_array(file, arg, &mut after, &mut signals)?;
    } else if flags & u64::from(abi::I915_EXEC_USE_EXTENSIONS) != 0 {
        extensions(file, arg.cliprects_ptr, &mut after, &mut signals)?;
    }
    let mut lead = None;
    if flags & IN_FENCES != 0 {
        let fence = sync_file::fence_of_fd(arg.rsvd2 as u32 as i32)?;
        if flags & u64::from(abi::I915_EXEC_FENCE_SUBMIT) != 0 {
            lead = Some(fence);
        } else {
            after.push(fence, GFP_KERNEL)?;
        }
    }

    let Selected { context, target } =
        engines::select(gpu, client.context(arg.rsvd1 as u32)?, flags)?;
    let reset_stream_output = flags & u64::from(abi::I915_EXEC_GEN7_SOL_RESET) != 0;
    require(!reset_stream_output || target.engine().has_stream_output())?;
    gpu.working()?;
    if context.skips_batches() {
        return Err(EIO);
    }
    let (mut few, mut many) = (MaybeUninit::uninit(), LazyVec::new());
    let list = list(arg, &mut few, &mut many)?;
    let batch = match flags & u64::from(abi::I915_EXEC_BATCH_FIRST) {
        0 => list.len() - 1,
        _ => 0,
    };
    let mut scratch = Scratch::take(client.scratch())?;
    let objects = objects(file, flags, list, core::mem::take(&mut scratch.entries))?;

    // The batch must not be declared as written (a relocation's write domain is allowed).
    let written = u64::from(abi::EXEC_OBJECT_WRITE);
    require(list.get(batch).is_some_and(|o| o.flags & written == 0))?;
    let batch_size = objects.get(batch).ok_or(EINVAL)?.object.bytes();
    let start = u64::from(arg.batch_start_offset);
    let len = match arg.batch_len {
        0 => batch_size.checked_sub(start).ok_or(EINVAL)?,
        n => u64::from(n),
    };
    require(start.checked_add(len).is_some_and(|end| end <= batch_size))?;
    require(len != 0)?;
    // Last, so that a call that only probes does not make its caller the device's user.
    client.admit()?;

    let share = gpu.share(client.quota(), &context, &target, !file.is_nonblocking())?;
    let mut exec = Exec {
        gpu: gpu.executor().clone(),
        target,
        context,
        objects,
        slate: core::mem::take(&mut scratch.slate),
        source: Source::Object {
            index: batch,
            start,
            len: len.min(u64::from(u32::MAX)) as u32,
            // A batch without a length has no known end to check.
            check: arg.batch_len != 0,
            secure,
        },
        reset_stream_output,
        trust_presumed: flags & u64::from(abi::I915_EXEC_NO_RELOC) != 0,
        after,
        lead,
        share: Some(share),
        may_wait: !file.is_nonblocking(),
        kinds: Kinds::default(),
        tries: Tries::new(),
    };
    let done = exec.run(&mut signals);
    if exec.kinds.relocated {
        tell_relocations(&exec, list);
    }
    done?;

    // The request is published: a failure to write results is not reported as a failure of the
    // call.
    let offset = core::mem::offset_of!(abi::drm_i915_gem_exec_object2, offset) as u64;
    let stride = size_of::<abi::drm_i915_gem_exec_object2>() as u64;
    let mut at = arg.buffers_ptr.wrapping_add(offset);
    for entry in exec.objects.iter() {
        let address = canonical(entry.address.0);
        if address != entry.presumed {
            let _ = uaccess::write(at, &address);
        }
        at = at.wrapping_add(stride);
    }
    scratch.entries = exec.objects;
    scratch.slate = exec.slate;
    scratch.give_back(client.scratch());
    if let Some(file) = signals.into_file() {
        arg.rsvd2 = (arg.rsvd2 & 0xffff_ffff) | (u64::from(file.fd() as u32) << 32);
        file.install();
    }
    Ok(())
}

/// Writes the new addresses of changed relocations to user space.
fn tell_relocations(exec: &Exec, list: &[abi::drm_i915_gem_exec_object2]) {
    let field = core::mem::offset_of!(abi::drm_i915_gem_relocation_entry, presumed_offset) as u64;
    let stride = size_of::<abi::drm_i915_gem_relocation_entry>();
    for (entry, o) in exec.objects.iter().zip(list.iter()) {
        let mut i = 0;
        // Most often all of them are written, or none.
        for run in entry
            .relocations
            .chunk_by(|a, b| a.was_written() == b.was_written())
        {
            if run.first().is_some_and(Relocation::was_written) {
                let at = (i * stride) as u64 + field;
                let at = o.relocs_ptr.wrapping_add(at);
                let _ = uaccess::write_fields(at, stride, run, |r| &r.presumed);
            }
            i += run.len();
        }
    }
}

/// Checks everything that needs no lookup.
fn check(arg: &abi::drm_i915_gem_execbuffer2) -> Result {
    let has = |flag: u32| arg.flags & u64::from(flag) != 0;
    require(arg.buffer_count != 0 && arg.buffer_count as usize <= MAX_COUNT)?;
    require(arg.flags & !(FLAGS | u64::from(abi::I915_EXEC_SECURE)) == 0)?;
    require(arg.flags & IN_FENCES != IN_FENCES)?;
    require(!(has(abi::I915_EXEC_FENCE_ARRAY) && has(abi::I915_EXEC_USE_EXTENSIONS)))?;
    if !has(abi::I915_EXEC_FENCE_ARRAY) && !has(abi::I915_EXEC_USE_EXTENSIONS) {
        require(arg.num_cliprects == 0 && arg.cliprects_ptr == 0)?;
    }
    if has(abi::I915_EXEC_USE_EXTENSIONS) {
        require(arg.num_cliprects == 0)?;
    }
    // Old programs leave all ones there.
    require(arg.DR1 == 0 && (arg.DR4 == 0 || arg.DR4 == u32::MAX))?;
    require(arg.rsvd1 & !u64::from(abi::I915_EXEC_CONTEXT_ID_MASK) == 0)?;
    require((arg.batch_start_offset | arg.batch_len) & 7 == 0)?;
    Ok(())
}

/// Checks whether this file may submit secure batches, which can access everything.
///
/// Errors: `ENODEV` on chips whose uAPI has no secure batches any more; `EPERM` if no client may,
/// or if the file is not the current DRM master's or its process lacks `CAP_SYS_ADMIN`.
fn check_secure(file: &DrmFile) -> Result {
    match file.gpu().hardware().generation().secure_batches() {
        SecureBatches::Unknown => Err(ENODEV),
        SecureBatches::Nobody => Err(EPERM),
        SecureBatches::Master => {
            match file.is_current_master() && task::capable(Capability::SysAdmin) {
                true => Ok(()),
                false => Err(EPERM),
            }
        }
    }
}

/// Returns the canonical form of an address: bit 47 is repeated in the bits above it.
fn canonical(address: u64) -> u64 {
    ((address << 16) as i64 >> 16) as u64
}

/// Converts a canonical address back. Errors: `EINVAL` if it is not canonical, or not in a space of
/// `space` bytes.
fn plain(address: u64, space: u64) -> Result<u64> {
    if space <= LOW {
        return Ok(address);
    }
    let plain = address & (space.next_power_of_two() - 1);
    require(canonical(plain) == address)?;
    Ok(plain)
}

/// Reads the list of BOs, into `few` if that has room, else into `many`. It has at least one.
fn list<'a>(
    arg: &abi::drm_i915_gem_execbuffer2,
    few: &'a mut MaybeUninit<[abi::drm_i915_gem_exec_object2; SOME]>,
    many: &'a mut LazyVec<abi::drm_i915_gem_exec_object2>,
) -> Result<&'a [abi::drm_i915_gem_exec_object2]> {
    let count = arg.buffer_count as usize;
    require(count != 0)?;
    if count <= SOME {
        return uaccess::read_few(arg.buffers_ptr, count, few);
    }
    *many = uaccess::read_array(arg.buffers_ptr, count)?.into();
    Ok(many)
}

/// Returns the region where a BO must be when it is used, on a card with VRAM.
fn wanted(object: &Object) -> Option<u8> {
    let mut best = object.placements().iter().take(1);
    let best = best.find(|region| *region != region::SYSTEM)?;
    u8::try_from(best).ok()
}

/// Looks up the BOs, and reads their relocations. Returns them in `entries`, which is empty.
fn objects(
    file: &DrmFile,
    flags: u64,
    list: &[abi::drm_i915_gem_exec_object2],
    mut entries: LazyVec<Entry>,
) -> Result<LazyVec<Entry>> {
    let gpu = file.gpu();
    let (space, discrete) = (gpu.space_size(), gpu.is_discrete());
    if entries.capacity() < list.len() {
        entries.reserve(list.len(), GFP_KERNEL_ACCOUNT)?;
    }
    let mut total = 0usize;
    let mut found = Found::none();
    for some in list.chunks(SOME) {
        found.look_up(file, some, |o| o.handle);
        for o in some {
            let object: ARef<Object> = found.next().flatten().ok_or(ENOENT)?;
            total = total.saturating_add(o.relocation_count as usize);
            let wanted = match discrete {
                true => wanted(&object),
                // On chips without VRAM a BO moves back by itself.
                false => None,
            };
            // There is capacity.
            let _ = entries.push_within_capacity(entry(object, wanted, o, space)?);
        }
    }
    require(total <= MAX_RELOCATIONS)?;
    if total == 0 {
        return Ok(entries);
    }
    // If addresses are wider than the field in old commands, user space must use softpin.
    require(space <= LOW)?;
    let handles = Handles::new(list, flags)?;
    for (i, o) in list.iter().enumerate() {
        if o.relocation_count != 0 {
            relocations(&mut entries, &handles, i, o)?;
        }
    }
    Ok(entries)
}

/// Checks what user space says of a BO, in an address space of `space` bytes.
#[inline]
fn entry(
    object: ARef<Object>,
    wanted: Option<u8>,
    o: &abi::drm_i915_gem_exec_object2,
    space: u64,
) -> Result<Entry> {
    require(o.flags & !OBJECT_FLAGS == 0)?;
    require(o.rsvd2 == 0)?;
    require(o.alignment == 0 || o.alignment.is_power_of_two())?;
    let pad = match o.flags & u64::from(abi::EXEC_OBJECT_PAD_TO_SIZE) {
        0 => 0,
        _ => o.pad_to_size,
    };
    require(pad & 4095 == 0 && pad <= space)?;
    let limit = match o.flags & u64::from(abi::EXEC_OBJECT_SUPPORTS_48B_ADDRESS) {
        // The last page stays unused, because some commands take the address behind the end.
        0 if space > LOW => LOW - PAGE,
        _ => space,
    };
    let place = if o.flags & u64::from(abi::EXEC_OBJECT_PINNED) != 0 {
        let offset = plain(o.offset, space)?;
        require(offset & 4095 == 0)?;
        require(o.alignment == 0 || offset & (o.alignment - 1) == 0)?;
        require(
            offset
                .checked_add(object.bytes())
                .is_some_and(|e| e <= limit),
        )?;
        Place::At(GpuAddr(offset))
    } else {
        Place::Within {
            range: (0, limit),
            align: o.alignment.max(4096),
            // This address is in the commands already.
            preferred: plain(o.offset, space).ok().map(GpuAddr),
        }
    };
    Ok(Entry {
        pinned: None,
        place,
        wanted,
        object,
        pad,
        write: o.flags & u64::from(abi::EXEC_OBJECT_WRITE) != 0,
        unordered: o.flags & u64::from(abi::EXEC_OBJECT_ASYNC) != 0,
        capture: o.flags & u64::from(abi::EXEC_OBJECT_CAPTURE) != 0,
        presumed: o.offset,
        relocations: LazyVec::new(),
        address: GpuAddr(0),
        placed: false,
    })
}

/// How relocations name their targets.
enum Handles {
    /// By index in the list, which has so many BOs.
    Lut(u32),
    /// By handle: sorted handles, each with its index.
    Sorted(KVVec<(u32, u32)>),
}

impl Handles {
    fn new(list: &[abi::drm_i915_gem_exec_object2], flags: u64) -> Result<Self> {
        if flags & u64::from(abi::I915_EXEC_HANDLE_LUT) != 0 {
            return Ok(Self::Lut(list.len() as u32));
        }
        let mut sorted = KVVec::with_capacity(list.len(), GFP_KERNEL)?;
        for (i, o) in (0u32..).zip(list.iter()) {
            sorted.push((o.handle, i), GFP_KERNEL)?;
        }
        sort_by_key(&mut sorted, |entry| *entry);
        Ok(Self::Sorted(sorted))
    }

    /// Returns the index of a target in the list. Errors: `ENOENT`.
    fn find(&self, target: u32) -> Result<u32> {
        match self {
            Self::Lut(len) => Some(target).filter(|t| t < len),
            Self::Sorted(sorted) => sorted
                .binary_search_by_key(&target, |h| h.0)
                .ok()
                .and_then(|at| sorted.get(at))
                .map(|h| h.1),
        }
        .ok_or(ENOENT)
    }
}

/// Reads and checks the relocations of BO `index`.
fn relocations(
    entries: &mut [Entry],
    handles: &Handles,
    index: usize,
    o: &abi::drm_i915_gem_exec_object2,
) -> Result {
    const GPU_DOMAINS: u32 = abi::I915_GEM_DOMAIN_RENDER
        | abi::I915_GEM_DOMAIN_SAMPLER
        | abi::I915_GEM_DOMAIN_COMMAND
        | abi::I915_GEM_DOMAIN_INSTRUCTION
        | abi::I915_GEM_DOMAIN_VERTEX;
    let count = o.relocation_count as usize;
    let size = entries.get(index).ok_or(EINVAL)?.object.bytes();
    type Given = abi::drm_i915_gem_relocation_entry;
    let out = uaccess::read_map(o.relocs_ptr, count, GFP_KERNEL_ACCOUNT, |r: &Given| {
        let target = handles.find(r.target_handle)?;
        // At most one domain is written, and all are domains of the GPU.
        require(r.write_domain & r.write_domain.wrapping_sub(1) == 0)?;
        require((r.write_domain | r.read_domains) & !GPU_DOMAINS == 0)?;
        relocation::place(r.offset, size).map_err(|_| EINVAL)?;
        if r.write_domain != 0 {
            // The old way to declare that the batch writes the target.
            if let Some(target) = entries.get_mut(target as usize) {
                target.write = true;
            }
        }
        Ok(Relocation::new(
            target,
            r.delta,
            r.offset,
            r.presumed_offset,
        ))
    })?;
    if let Some(entry) = entries.get_mut(index) {
        entry.relocations = out.into();
    }
    Ok(())
}
