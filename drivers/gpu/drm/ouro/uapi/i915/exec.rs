// SPDX-License-Identifier: GPL-2.0

//! `EXECBUFFER2`: a batch, the objects it uses, and the fences around it.
//!
//! The order of the checks is part of the interface, since user space probes with it: flags,
//! fences, context, engine, objects, relocations.

use kernel::prelude::*;
use ouro_core::sort::sort_by_key;
use ouro_hw::{generation::SecureBatches, types::GpuAddr};
use ouro_kernel::{
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
    gpu::Gpu,
    submit::{
        evict::Tries,
        exec::{Entry, Exec, Source},
        relocate::Relocation,
    },
    vm::Place,
};

/// Flags that mean something here.
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

/// Each says what the descriptor in `rsvd2` is for, so that there can be one of them.
const IN_FENCES: u64 = (abi::I915_EXEC_FENCE_IN | abi::I915_EXEC_FENCE_SUBMIT) as u64;

/// Flags of objects that mean something here.
const OBJECT_FLAGS: u64 = (abi::EXEC_OBJECT_NEEDS_FENCE
    | abi::EXEC_OBJECT_NEEDS_GTT
    | abi::EXEC_OBJECT_WRITE
    | abi::EXEC_OBJECT_SUPPORTS_48B_ADDRESS
    | abi::EXEC_OBJECT_PINNED
    | abi::EXEC_OBJECT_PAD_TO_SIZE
    | abi::EXEC_OBJECT_ASYNC
    | abi::EXEC_OBJECT_CAPTURE) as u64;

/// Largest number of objects, relocations and fences: what a signed number counts, and no more
/// memory than a client may sensibly ask for.
pub(super) const MAX_COUNT: usize = 1 << 20;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Where addresses end that have 32 bits.
const LOW: u64 = 1 << 32;

/// `GEM_EXECBUFFER2` and `GEM_EXECBUFFER2_WR` submit a batch: they look up its objects, place and
/// relocate them, and publish a request to the engine.
///
/// Errors: `EINVAL` for unknown flags and those of other engines, for a batch that does not lie in
/// its object or that the batch writes, and for relocations and addresses that cannot be; `EPERM` or `ENODEV` for
/// `SECURE` ([`may_be_secure`]); `EACCES` if another user has a device that does not keep users apart; `ENOENT`
/// for an unknown context, handle or syncobj; `EIO` if the context is banned or the device has been
/// given up; `ENOSPC` if the objects do not fit into the address space together; `EAGAIN` on a
/// non-blocking file whose context has too many requests in flight; `EFAULT`, `ENOMEM`,
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
        may_be_secure(file)?;
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
    let new_streams = flags & u64::from(abi::I915_EXEC_GEN7_SOL_RESET) != 0;
    require(!new_streams || target.engine().has_streams())?;
    gpu.working()?;
    if context.is_banned() {
        return Err(EIO);
    }
    let Objects {
        entries: objects,
        batch,
        list,
    } = objects(file, arg)?;

    // A batch is not written while it runs (by what a relocation says, it may be).
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
    // Last of all, as a call that asks what there is does not make its caller the device's user.
    client.admit()?;

    let share = gpu.share(client.quota(), &context, &target, !file.is_nonblocking())?;
    let mut exec = Exec {
        gpu: gpu.executor().clone(),
        target,
        context,
        objects,
        source: Source::Object {
            index: batch,
            start,
            len: len.min(u64::from(u32::MAX)) as u32,
            // Of what has no length, nobody says where it ends.
            check: arg.batch_len != 0,
            secure,
        },
        new_streams,
        trust_presumed: flags & u64::from(abi::I915_EXEC_NO_RELOC) != 0,
        after,
        lead,
        share: Some(share),
        address_bits: 32,
        tries: Tries::new(),
    };
    let done = exec.run(&mut signals);
    tell_relocations(&exec, &list);
    done?;

    // The request is on its way: what cannot be told user space is no reason to say that it failed.
    let offset = core::mem::offset_of!(abi::drm_i915_gem_exec_object2, offset) as u64;
    let stride = size_of::<abi::drm_i915_gem_exec_object2>() as u64;
    for ((i, entry), old) in (0u64..).zip(exec.objects.iter()).zip(list.iter()) {
        let address = canonical(entry.address.0);
        if address != old.offset {
            let at = arg
                .buffers_ptr
                .wrapping_add(i * stride)
                .wrapping_add(offset);
            let _ = uaccess::write(at, &address);
        }
    }
    if let Some(file) = signals.into_file() {
        arg.rsvd2 = (arg.rsvd2 & 0xffff_ffff) | (u64::from(file.fd() as u32) << 32);
        file.install();
    }
    Ok(())
}

/// Tells user space which addresses stand in its objects now, where they are not what it believed.
fn tell_relocations(exec: &Exec, list: &[abi::drm_i915_gem_exec_object2]) {
    let field = core::mem::offset_of!(abi::drm_i915_gem_relocation_entry, presumed_offset) as u64;
    let stride = size_of::<abi::drm_i915_gem_relocation_entry>() as u64;
    for (entry, o) in exec.objects.iter().zip(list.iter()) {
        for (i, r) in (0u64..).zip(entry.relocations.iter()) {
            if r.written {
                let at = o.relocs_ptr.wrapping_add(i * stride).wrapping_add(field);
                let _ = uaccess::write(at, &r.presumed);
            }
        }
    }
}

/// What can be said without looking anything up.
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
    // All ones are what an old program left there.
    require(arg.DR1 == 0 && (arg.DR4 == 0 || arg.DR4 == u32::MAX))?;
    require(arg.rsvd1 & !u64::from(abi::I915_EXEC_CONTEXT_ID_MASK) == 0)?;
    require((arg.batch_start_offset | arg.batch_len) & 7 == 0)?;
    Ok(())
}

/// Whether this file may send a batch that runs with privilege, and by which it could reach everything.
///
/// Errors: `ENODEV` for chips whose interface knows no such batches any more; `EPERM` if nobody may, or the file is
/// not that of the device's current master and an administrator.
fn may_be_secure(file: &DrmFile) -> Result {
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

/// An address as user space sees it: bit 47 is repeated in the bits above it.
fn canonical(address: u64) -> u64 {
    ((address << 16) as i64 >> 16) as u64
}

/// The opposite. Errors: `EINVAL` for one that is none of a space of so many bytes.
fn plain(address: u64, space: u64) -> Result<u64> {
    if space <= LOW {
        return Ok(address);
    }
    let plain = address & (space - 1);
    require(canonical(plain) == address)?;
    Ok(plain)
}

/// The objects of a batch.
struct Objects {
    entries: KVVec<Entry>,
    /// Which of them is the batch.
    batch: usize,
    /// As user space lists them, in the same order.
    list: KVVec<abi::drm_i915_gem_exec_object2>,
}

/// The region where an object has to be when it is used, where there is one to choose. On chips without
/// memory of their own an object comes back by itself.
fn wanted(gpu: &Gpu, object: &Object) -> Option<usize> {
    let mut best = object.placements().iter().take(1);
    best.find(|region| gpu.is_discrete() && *region != region::SYSTEM)
}

/// Looks the objects up, and reads their relocations.
fn objects(file: &DrmFile, arg: &abi::drm_i915_gem_execbuffer2) -> Result<Objects> {
    let count = arg.buffer_count as usize;
    let list: KVVec<abi::drm_i915_gem_exec_object2> = uaccess::read_array(arg.buffers_ptr, count)?;
    let batch = if arg.flags & u64::from(abi::I915_EXEC_BATCH_FIRST) != 0 {
        0
    } else {
        count - 1
    };

    let gpu = file.gpu();
    let space = gpu.space_size();
    let mut entries: KVVec<Entry> = KVVec::with_capacity(count, GFP_KERNEL)?;
    for o in list.iter() {
        let object = Object::lookup(file, o.handle)?;
        require(o.flags & !OBJECT_FLAGS == 0)?;
        require(o.rsvd2 == 0)?;
        require(o.alignment == 0 || o.alignment.is_power_of_two())?;
        let pad = match o.flags & u64::from(abi::EXEC_OBJECT_PAD_TO_SIZE) {
            0 => 0,
            _ => o.pad_to_size,
        };
        require(pad & 4095 == 0 && pad <= space)?;
        let limit = match o.flags & u64::from(abi::EXEC_OBJECT_SUPPORTS_48B_ADDRESS) {
            // The last page stays free, as some commands take the address behind the end.
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
                // What stands in the commands already.
                rather: plain(o.offset, space).ok().map(GpuAddr),
            }
        };
        entries.push(
            Entry {
                pinned: None,
                place,
                wanted: wanted(gpu, &object),
                object,
                pad,
                write: o.flags & u64::from(abi::EXEC_OBJECT_WRITE) != 0,
                unordered: o.flags & u64::from(abi::EXEC_OBJECT_ASYNC) != 0,
                capture: o.flags & u64::from(abi::EXEC_OBJECT_CAPTURE) != 0,
                presumed: o.offset,
                relocations: LazyVec::new(),
                address: GpuAddr(0),
                placed: false,
            },
            GFP_KERNEL,
        )?;
    }
    let mut total = 0usize;
    for o in list.iter() {
        total = total.saturating_add(o.relocation_count as usize);
    }
    require(total <= MAX_COUNT)?;
    // Where addresses have more bits than the field of the old commands, user space gives them itself.
    require(total == 0 || space <= LOW)?;
    let handles = Handles::new(&list, arg.flags)?;
    for (i, o) in list.iter().enumerate() {
        if o.relocation_count != 0 {
            relocations(&mut entries, &handles, i, o)?;
        }
    }
    Ok(Objects {
        entries,
        batch,
        list,
    })
}

/// What names the target of a relocation.
enum Handles {
    /// A place in the list, of so many.
    Lut(usize),
    /// A handle: sorted, each with its place.
    Sorted(KVVec<(u32, u32)>),
}

impl Handles {
    fn new(list: &[abi::drm_i915_gem_exec_object2], flags: u64) -> Result<Self> {
        if flags & u64::from(abi::I915_EXEC_HANDLE_LUT) != 0 {
            return Ok(Self::Lut(list.len()));
        }
        let mut sorted = KVVec::with_capacity(list.len(), GFP_KERNEL)?;
        for (i, o) in (0u32..).zip(list.iter()) {
            sorted.push((o.handle, i), GFP_KERNEL)?;
        }
        sort_by_key(&mut sorted, |entry| *entry);
        Ok(Self::Sorted(sorted))
    }

    /// The place of a target in the list.
    fn find(&self, target: u32) -> Result<usize> {
        match self {
            Self::Lut(len) => Some(target as usize).filter(|t| t < len),
            Self::Sorted(sorted) => sorted
                .binary_search_by_key(&target, |h| h.0)
                .ok()
                .and_then(|at| sorted.get(at))
                .map(|h| h.1 as usize),
        }
        .ok_or(ENOENT)
    }
}

/// Reads and checks the relocations of object `index`.
fn relocations(
    entries: &mut KVVec<Entry>,
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
    let relocations: KVVec<abi::drm_i915_gem_relocation_entry> =
        uaccess::read_array(o.relocs_ptr, count)?;
    let mut out = KVVec::with_capacity(count, GFP_KERNEL)?;
    for r in relocations.iter() {
        let target = handles.find(r.target_handle)?;
        // One domain can be written, and only the GPU's.
        require(r.write_domain & r.write_domain.wrapping_sub(1) == 0)?;
        require((r.write_domain | r.read_domains) & !GPU_DOMAINS == 0)?;
        let size = entries.get(index).ok_or(EINVAL)?.object.bytes();
        ouro_core::relocation::place(r.offset, 4, size).map_err(|_| EINVAL)?;
        if r.write_domain != 0 {
            // The old way to say that the batch writes it.
            if let Some(target) = entries.get_mut(target) {
                target.write = true;
            }
        }
        out.push(
            Relocation {
                target,
                delta: r.delta,
                offset: r.offset,
                presumed: r.presumed_offset,
                written: false,
            },
            GFP_KERNEL,
        )?;
    }
    if let Some(entry) = entries.get_mut(index) {
        entry.relocations = out.into();
    }
    Ok(())
}
