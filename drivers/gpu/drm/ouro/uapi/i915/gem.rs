// SPDX-License-Identifier: GPL-2.0

//! Buffer objects: creation, access by the CPU, waiting.

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

/// Nanoseconds that a client may be ahead of the GPU when `THROTTLE` returns.
const AHEAD_NS: u64 = 20_000_000;

fn lookup(file: &DrmFile, handle: u32) -> Result<ARef<Object>> {
    Object::lookup(file, handle)
}

/// What cards with memory of their own refuse, by `i915_drm.h`: with `error`.
fn integrated(file: &DrmFile, error: Error) -> Result {
    if file.gpu().is_discrete() {
        return Err(error);
    }
    Ok(())
}

/// Waits until the GPU does not write the object any more (or, `all`, use it at all).
fn wait_idle(object: &Object, all: bool) -> Result {
    object
        .resv()
        .wait(Usage::for_access(all), Interruptible::Yes, FOREVER)
        .map(|_| ())
}

/// `GEM_PREAD` copies bytes of an object to the caller's memory, when the GPU has stopped writing
/// the object.
///
/// Errors: `EOPNOTSUPP` on cards with memory of their own; `ENOENT`; `EINVAL` for a range that is
/// not in the object, and for memory of a process; `EFAULT`, `ENOMEM`, `ERESTARTSYS`, `EINTR` if
/// the caller has been killed.
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

/// `GEM_PWRITE` copies bytes of the caller's memory to an object, when the GPU has stopped using
/// the object.
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

/// `GEM_MMAP` maps an object into the caller's address space, cached or write-combined.
///
/// Errors: `EOPNOTSUPP` on cards with memory of their own; `EINVAL` for an unknown flag or a range
/// that is empty, not in the object, or not of whole pages; `ENOENT`; `ENXIO` for a buffer of
/// another device and for memory of a process; those of `mmap`.
pub(super) fn mmap(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_mmap) -> Result {
    integrated(file, EOPNOTSUPP)?;
    let kind = match u32::try_from(arg.flags).map_err(|_| EINVAL)? {
        0 => kind::CACHED,
        abi::I915_MMAP_WC => kind::WRITE_COMBINED,
        _ => return Err(EINVAL),
    };
    let object = lookup(file, arg.handle)?;
    if object.attachment().is_some() || object.user().is_some() {
        // Its pages are somebody else's.
        return Err(ENXIO);
    }
    access::range(&object, arg.offset, arg.size)?;
    let offset = object.mmap_offset(kind)?.wrapping_add(arg.offset);
    arg.addr_ptr = file.vm_mmap(offset, arg.size as usize, true)? as u64;
    Ok(())
}

/// `GEM_MMAP_OFFSET` and `GEM_MMAP_GTT` return the offset at which `mmap` shows an object.
///
/// Errors: `EINVAL` for an extension or an unknown kind of mapping; `EFAULT`; `ENOENT`; `ENODEV`
/// for a kind that the chip does not have, and for memory of a process.
pub(super) fn mmap_offset(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_mmap_offset,
) -> Result {
    if arg.extensions != 0 {
        // There are none for this ioctl: whatever is chained is not known. An unreadable chain
        // is a fault first.
        let _name: u32 = uaccess::read(arg.extensions.wrapping_add(8))?;
        return Err(EINVAL);
    }
    // The old form of this ioctl has no flags, and asks for the aperture.
    let kind = match u32::try_from(arg.flags).map_err(|_| EINVAL)? {
        abi::I915_MMAP_OFFSET_FIXED if file.gpu().is_discrete() => {
            match lookup(file, arg.handle)?.is_windowed() {
                // No cache of the CPU's has any of it.
                true => kind::WRITE_COMBINED,
                // Of memory of the system's the card sees what is in the CPU's caches.
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
            // Only where the placement of an object decides how it is seen.
            lookup(file, arg.handle)?;
            return Err(ENODEV);
        }
        _ => return Err(EINVAL),
    };
    let object = lookup(file, arg.handle)?;
    if object.user().is_some() {
        // The process has it at hand.
        return Err(ENODEV);
    }
    arg.offset = object.mmap_offset(kind)?;
    Ok(())
}

/// `GEM_SET_DOMAIN` gives an object its memory and waits until the CPU may read it, or write it
/// with a write domain.
///
/// Errors: `ENODEV` on cards with memory of their own; `EINVAL` for a domain other than `CPU`,
/// `GTT` and `WC`, and for a write domain that is not the one read domain; `ENOENT`; `EFAULT` if
/// the contents were thrown away; `ENOMEM`, `ERESTARTSYS`.
pub(super) fn set_domain(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_set_domain,
) -> Result {
    const DOMAINS: u32 =
        abi::I915_GEM_DOMAIN_CPU | abi::I915_GEM_DOMAIN_GTT | abi::I915_GEM_DOMAIN_WC;
    let (read, write) = (arg.read_domains, arg.write_domain);
    integrated(file, ENODEV)?;
    // The GPU's own domains are not for user space; who writes a domain reads that one alone.
    require((read | write) & !DOMAINS == 0)?;
    require(write == 0 || read == write)?;
    if read == 0 {
        return Ok(());
    }
    let object = lookup(file, arg.handle)?;
    // Pages first: without memory the caller hears of it here and not by a signal later.
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

/// `GEM_SW_FINISH` does nothing: there is no display that shows an object.
///
/// Errors: `ENOENT`.
pub(super) fn sw_finish(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_sw_finish,
) -> Result {
    // It is about what a display shows.
    lookup(file, arg.handle).map(|_| ())
}

/// `GEM_SET_CACHING` chooses whether the GPU snoops the CPU's caches for an object, when nothing
/// uses the object.
///
/// Errors: `ENODEV` on cards with memory of their own, and for `CACHED` where the GPU sees nothing of
/// the CPU's caches; `EINVAL` for an unknown level; `ENOENT`; `ENXIO` for memory of a process, unless
/// `CACHED`; `ERESTARTSYS`.
pub(super) fn set_caching(
    _: &Device,
    file: &DrmFile,
    arg: &mut abi::drm_i915_gem_caching,
) -> Result {
    integrated(file, ENODEV)?;
    let cache = match arg.caching {
        abi::I915_CACHING_CACHED if file.gpu().coherence().snoops() => CacheLevel::Coherent,
        abi::I915_CACHING_CACHED => return Err(ENODEV),
        // No chip here writes through for the display, so that it is as good as uncached.
        abi::I915_CACHING_NONE | abi::I915_CACHING_DISPLAY => CacheLevel::None,
        _ => return Err(EINVAL),
    };
    let object = lookup(file, arg.handle)?;
    if object.user().is_some() {
        // It is as the process has it.
        return match arg.caching {
            abi::I915_CACHING_CACHED => Ok(()),
            _ => Err(ENXIO),
        };
    }
    bind::set_cache(&object, cache)
}

/// `GEM_GET_CACHING` returns what [`set_caching`] chose; `DISPLAY` reads as `NONE`.
///
/// Errors: `ENODEV` on cards with memory of their own, `ENOENT`.
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

/// `GEM_MADVISE` says whether the contents of an object are needed, and returns whether they are
/// still there.
///
/// Errors: `EINVAL` for anything but `WILLNEED` and `DONTNEED`, `ENOENT`.
pub(super) fn madvise(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_madvise) -> Result {
    let needed = match arg.madv {
        abi::I915_MADV_WILLNEED => true,
        abi::I915_MADV_DONTNEED => false,
        _ => return Err(EINVAL),
    };
    arg.retained = contents::advise(&*lookup(file, arg.handle)?, needed).into();
    Ok(())
}

/// `GEM_THROTTLE` waits for the requests of the file that were published more than [`AHEAD_NS`]
/// ago.
///
/// Errors: `EIO` if the device has been given up; `ENOMEM`, `ERESTARTSYS`.
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

/// `GEM_BUSY` returns the classes of the engines that read an object, and the one that writes it.
///
/// Errors: `ENOENT`, `ENOMEM`.
pub(super) fn busy(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_busy) -> Result {
    let object = lookup(file, arg.handle)?;
    let idle = object.resv().test_signaled(Usage::Read);
    arg.busy = match idle {
        true => 0,
        false => classes(&object)?,
    };
    // Whoever asks may be the first to see an end, which the client's time on the engine ends with: after the look
    // above, since a fence is found to be signaled by what the engine has written a moment ago.
    if arg.busy == 0 {
        for engine in file.gpu().engines() {
            if !engine.is_idle() {
                engine.advance();
            }
        }
    }
    Ok(())
}

/// The classes of the engines that use an object: of those that read it a bit each in the upper half, of the one that
/// writes it the number plus one in the lower. Errors: `ENOMEM`.
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

/// `GEM_WAIT` waits until the GPU has stopped using an object, and returns what is left of the
/// timeout.
///
/// Errors: `EINVAL` for a flag, `ENOENT`, `ETIME` if the object is still busy, `ERESTARTSYS`.
pub(super) fn wait(_: &Device, file: &DrmFile, arg: &mut abi::drm_i915_gem_wait) -> Result {
    require(arg.flags == 0)?;
    let object = lookup(file, arg.bo_handle)?;
    let start = time::monotonic_ns();
    // Below zero is for ever.
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

/// `GEM_GET_APERTURE` returns the size of the address space, and how many of its bytes are free.
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
