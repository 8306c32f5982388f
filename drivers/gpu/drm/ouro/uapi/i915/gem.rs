// SPDX-License-Identifier: GPL-2.0

//! BOs: CPU access, domains, caching, waiting.

use kernel::{prelude::*, sync::aref::ARef};
use ouro_hw::types::CacheLevel;
use ouro_kernel::{
    fence,
    resv::{HasResv, Usage},
    time, uaccess,
    wait::{Interruptible, Waited, FOREVER},
};
use ouro_uapi::i915 as abi;

use super::{engine_class, require};
use crate::{
    device::{Device, DrmFile},
    gem::{access, bind, bo::kind, caches, contents, Object},
    submit::Tracker,
};

/// Nanoseconds that a client may be ahead of the GPU after `THROTTLE`.
const AHEAD_NS: u64 = 20_000_000;

fn lookup(file: &DrmFile, handle: u32) -> Result<ARef<Object>> {
    Object::lookup(file, handle)
}

/// Returns `error` on cards with VRAM, whose uAPI does not have the ioctl (`i915_drm.h`).
fn integrated(file: &DrmFile, error: Error) -> Result {
    if file.gpu().is_discrete() {
        return Err(error);
    }
    Ok(())
}

/// Waits until the GPU does not write the BO any more; with `all`, until it does not use it.
fn wait_idle(object: &Object, all: bool) -> Result {
    object
        .resv()
        .wait(Usage::for_access(all), Interruptible::Yes, FOREVER)
        .map(|_| ())
}

/// `GEM_PREAD` copies bytes of a BO, `size` from `offset` on, to `data_ptr`, after the GPU has
/// stopped writing the BO.
///
/// Errors: `EOPNOTSUPP` on cards with VRAM; `ENOENT`; `EINVAL` for a range that is not in the BO,
/// and for a userptr; `EFAULT`, `ENOMEM`, `ERESTARTSYS`, `EINTR` if the caller has been killed.
pub(super) fn pread(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_pread) -> Result {
    integrated(file, EOPNOTSUPP)?;
    if arg.size == 0 {
        return Ok(());
    }
    let object = lookup(file, arg.handle)?;
    access::range(&object, arg.offset, arg.size)?;
    wait_idle(&object, false)?;
    access::read(&object, arg.offset, arg.size, arg.data_ptr)
}

/// `GEM_PWRITE` copies bytes from `data_ptr` to a BO, `size` at `offset`, after the GPU has stopped
/// using the BO.
///
/// Errors: those of [`pread`].
pub(super) fn pwrite(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_pwrite) -> Result {
    integrated(file, EOPNOTSUPP)?;
    if arg.size == 0 {
        return Ok(());
    }
    let object = lookup(file, arg.handle)?;
    access::range(&object, arg.offset, arg.size)?;
    wait_idle(&object, true)?;
    access::write(&object, arg.offset, arg.size, arg.data_ptr)
}

/// `GEM_MMAP` maps `size` bytes of a BO from `offset` on into the caller's address space, cached,
/// or write-combined with `I915_MMAP_WC`. Returns `addr_ptr`.
///
/// Errors: `EOPNOTSUPP` on cards with VRAM; `EINVAL` for an unknown flag or a range that is empty,
/// not in the BO, or not of whole pages; `ENOENT`; `ENXIO` for an imported BO and for a userptr;
/// those of `mmap`.
pub(super) fn mmap(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_mmap) -> Result {
    integrated(file, EOPNOTSUPP)?;
    let kind = match u32::try_from(arg.flags).map_err(|_| EINVAL)? {
        0 => kind::CACHED,
        abi::I915_MMAP_WC => kind::WRITE_COMBINED,
        _ => return Err(EINVAL),
    };
    let object = lookup(file, arg.handle)?;
    if object.attachment().is_some() || object.user().is_some() {
        // Its pages are not the driver's.
        return Err(ENXIO);
    }
    access::range(&object, arg.offset, arg.size)?;
    let offset = object.mmap_offset(kind)?.wrapping_add(arg.offset);
    arg.addr_ptr = file.vm_mmap(offset, arg.size as usize, true)? as u64;
    Ok(())
}

/// `GEM_MMAP_OFFSET` and `GEM_MMAP_GTT` return in `offset` the `mmap` offset of a BO. `flags` is
/// the kind of mapping: on cards with VRAM only `FIXED`, on others `GTT`, `WC`, `WB` or `UC`.
///
/// Errors: `EINVAL` for an extension or an unknown kind; `EFAULT`; `ENOENT`; `ENODEV` for a kind
/// that the chip does not have, and for a userptr.
pub(super) fn mmap_offset(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_mmap_offset,
) -> Result {
    if arg.extensions != 0 {
        // There are no extensions of this ioctl, so any is unknown. An unreadable one is `EFAULT`
        // first.
        let _name: u32 = uaccess::read(arg.extensions.wrapping_add(8))?;
        return Err(EINVAL);
    }
    // The old form of the ioctl has no flags, and means the aperture.
    let kind = match u32::try_from(arg.flags).map_err(|_| EINVAL)? {
        abi::I915_MMAP_OFFSET_FIXED if file.gpu().is_discrete() => {
            match lookup(file, arg.handle)?.is_windowed() {
                // The CPU's caches hold no VRAM.
                true => kind::WRITE_COMBINED,
                // The card snoops the CPU's caches for system memory.
                false => kind::CACHED,
            }
        }
        abi::I915_MMAP_OFFSET_GTT
        | abi::I915_MMAP_OFFSET_WC
        | abi::I915_MMAP_OFFSET_WB
        | abi::I915_MMAP_OFFSET_UC
            if file.gpu().is_discrete() =>
        {
            return Err(ENODEV)
        }
        abi::I915_MMAP_OFFSET_GTT => {
            file.gpu().aperture().ok_or(ENODEV)?;
            kind::APERTURE
        }
        abi::I915_MMAP_OFFSET_WC => kind::WRITE_COMBINED,
        abi::I915_MMAP_OFFSET_WB => kind::CACHED,
        abi::I915_MMAP_OFFSET_UC => kind::UNCACHED,
        abi::I915_MMAP_OFFSET_FIXED => {
            // It is for chips where the region of a BO determines the caching.
            lookup(file, arg.handle)?;
            return Err(ENODEV);
        }
        _ => return Err(EINVAL),
    };
    let object = lookup(file, arg.handle)?;
    if object.user().is_some() {
        // The process can access its memory itself.
        return Err(ENODEV);
    }
    arg.offset = object.mmap_offset(kind)?;
    Ok(())
}

/// `GEM_SET_DOMAIN` allocates the BO's memory, waits until the CPU may access it, and flushes
/// caches as the domain demands. `read_domains` is `CPU`, `GTT`, `WC` or zero; `write_domain` is
/// zero or the same one domain, and then the wait is for readers, too.
///
/// Errors: `ENODEV` on cards with VRAM; `EINVAL` for other domains; `ENOENT`; `EFAULT` if the
/// contents were purged; `ENOMEM`, `ERESTARTSYS`.
pub(super) fn set_domain(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_set_domain,
) -> Result {
    const DOMAINS: u32 =
        abi::I915_GEM_DOMAIN_CPU | abi::I915_GEM_DOMAIN_GTT | abi::I915_GEM_DOMAIN_WC;
    let (read, write) = (arg.read_domains, arg.write_domain);
    integrated(file, ENODEV)?;
    // The GPU's domains are not for user space; a write domain must be the only read domain.
    require((read | write) & !DOMAINS == 0)?;
    require(write == 0 || read == write)?;
    if read == 0 {
        return Ok(());
    }
    let object = lookup(file, arg.handle)?;
    // Allocate memory here, where a failure can be reported; a fault could only send a signal.
    wait_idle(&object, write != 0)?;
    contents::populate(&object)?;
    if read & abi::I915_GEM_DOMAIN_CPU != 0 {
        caches::cpu_domain(&object, write != 0)?;
    }
    if read & !abi::I915_GEM_DOMAIN_CPU != 0 {
        caches::uncached_domain(&object, write != 0)?;
    }
    Ok(())
}

/// `GEM_SW_FINISH` does nothing but look the BO up: there is no display that shows a BO.
///
/// Errors: `ENOENT`.
pub(super) fn sw_finish(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_sw_finish,
) -> Result {
    // It concerns BOs that a display shows.
    lookup(file, arg.handle).map(|_| ())
}

/// `GEM_SET_CACHING` selects whether the GPU snoops the CPU's caches for a BO (`CACHED`) or not
/// (`NONE`, `DISPLAY`), once the BO is idle.
///
/// Errors: `ENODEV` on cards with VRAM, and for `CACHED` on chips that cannot snoop; `EINVAL` for
/// an unknown level; `ENOENT`; `ENXIO` for a userptr, unless `CACHED`; `ERESTARTSYS`.
pub(super) fn set_caching(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_caching,
) -> Result {
    integrated(file, ENODEV)?;
    let cache = match arg.caching {
        abi::I915_CACHING_CACHED if file.gpu().coherence().snoops() => CacheLevel::Coherent,
        abi::I915_CACHING_CACHED => return Err(ENODEV),
        // No chip here has a write-through level for the display, so that equals uncached.
        abi::I915_CACHING_NONE | abi::I915_CACHING_DISPLAY => CacheLevel::None,
        _ => return Err(EINVAL),
    };
    let object = lookup(file, arg.handle)?;
    if object.user().is_some() {
        // A userptr is cached as the process maps it.
        return match arg.caching {
            abi::I915_CACHING_CACHED => Ok(()),
            _ => Err(ENXIO),
        };
    }
    bind::set_cache(&object, cache)
}

/// `GEM_GET_CACHING` returns the level that [`set_caching`] selected; `DISPLAY` reads as `NONE`.
///
/// Errors: `ENODEV` on cards with VRAM, `ENOENT`.
pub(super) fn get_caching(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_caching,
) -> Result {
    integrated(file, ENODEV)?;
    arg.caching = match lookup(file, arg.handle)?.cache() {
        CacheLevel::None => abi::I915_CACHING_NONE,
        CacheLevel::Coherent => abi::I915_CACHING_CACHED,
    };
    Ok(())
}

/// `GEM_MADVISE` marks the contents of a BO as needed (`WILLNEED`) or purgeable (`DONTNEED`), and
/// returns in `retained` whether they still exist.
///
/// Errors: `EINVAL` for other advice, `ENOENT`.
pub(super) fn madvise(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_madvise) -> Result {
    let needed = match arg.madv {
        abi::I915_MADV_WILLNEED => true,
        abi::I915_MADV_DONTNEED => false,
        _ => return Err(EINVAL),
    };
    arg.retained = contents::advise(&*lookup(file, arg.handle)?, needed).into();
    Ok(())
}

/// `GEM_THROTTLE` waits for the file's requests that were published more than [`AHEAD_NS`] ago. It
/// has no arguments.
///
/// Errors: `EIO` if the device is wedged; `ENOMEM`, `ERESTARTSYS`.
pub(super) fn throttle(_: &Device, file: &DrmFile, _: &mut ()) -> Result {
    file.gpu().working()?;
    let before = time::monotonic_ns().saturating_sub(AHEAD_NS);
    for context in file.contexts()?.iter() {
        for engine in file.gpu().engines() {
            let fence = {
                let timelines = context.timelines().lock();
                let timeline = timelines.get(engine.index());
                timeline.and_then(|t| t.published_by(before).cloned())
            };
            if let Some(fence) = fence {
                let _ = fence.wait(Interruptible::Yes, FOREVER)?;
            }
        }
    }
    Ok(())
}

/// `GEM_BUSY` returns in `busy` the classes of the engines that read a BO (upper half, a bit each),
/// and the class plus one of the engine that writes it (lower half).
///
/// Errors: `ENOENT`, `ENOMEM`.
pub(super) fn busy(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_busy) -> Result {
    let idle = Object::with(file, arg.handle, |o| o.resv().test_signaled(Usage::Read))?;
    arg.busy = match idle {
        true => 0,
        false => classes(&*lookup(file, arg.handle)?)?,
    };
    // The caller may be the first to notice a completion, which ends the client's time on the
    // engine. Retire it after the check above, because a fence may have become signalled a moment
    // ago.
    if arg.busy == 0 && file.gpu().retirer().live() != 0 {
        for engine in file.gpu().engines() {
            if !engine.is_idle() {
                engine.advance();
            }
        }
    }
    Ok(())
}

/// Returns the classes of the engines that use a BO: a bit for each class of readers in the upper
/// half, the class of the writer plus one in the lower half. Errors: `ENOMEM`.
fn classes(object: &Object) -> Result<u32> {
    let mut busy = 0u32;
    let mut fences = KVVec::new();
    for (usage, write) in [(Usage::Read, false), (Usage::Write, true)] {
        fences.clear();
        object.resv().collect(usage, &mut fences)?;
        for f in fences.iter() {
            let class = fence::with_timeline::<Tracker, _>(f, |t, _| {
                engine_class(t.engine().hw().desc().id.class)
            });
            let Some(class) = class else { continue };
            busy |= 0x1_0000 << class;
            if write {
                busy |= u32::from(class) + 1;
            }
        }
    }
    Ok(busy)
}

/// `GEM_WAIT` waits until the GPU does not use a BO any more, for at most `timeout_ns` (forever if
/// negative), which returns the remaining time. `flags` must be zero.
///
/// Errors: `EINVAL` for a flag, `ENOENT`, `ETIME` if the BO is still busy, `ERESTARTSYS`.
pub(super) fn wait(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_wait) -> Result {
    require(arg.flags == 0)?;
    let object = lookup(file, arg.bo_handle)?;
    if object.resv().test_signaled(Usage::Read) {
        return Ok(());
    }
    let start = time::monotonic_ns();
    // A negative timeout means forever.
    let limit = u64::try_from(arg.timeout_ns).map_or(FOREVER, time::ns);
    let done = object.resv().wait(Usage::Read, Interruptible::Yes, limit);
    if arg.timeout_ns > 0 {
        let spent = time::monotonic_ns().wrapping_sub(start);
        let spent = i64::try_from(spent).unwrap_or(i64::MAX);
        arg.timeout_ns = arg.timeout_ns.saturating_sub(spent).max(0);
    }
    match done? {
        Waited::Done(_) => Ok(()),
        Waited::TimedOut => {
            arg.timeout_ns = 0;
            Err(ETIME)
        }
    }
}

/// `GEM_GET_APERTURE` returns the size of the global address space, and how many of its bytes are
/// free. All fields are output.
///
/// Errors: none of its own.
pub(super) fn get_aperture(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_get_aperture,
) -> Result {
    let space = file.gpu().space();
    arg.aper_size = space.size();
    arg.aper_available_size = space.free();
    Ok(())
}
