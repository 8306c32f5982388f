// SPDX-License-Identifier: GPL-2.0

//! Our own ioctls (`include/uapi/drm/ouro_drm.h`), the same on every chip.

use kernel::prelude::*;
use ouro_hw::types::PAGE_SIZE;
use ouro_kernel::{
    task::{self, Capability},
    uaccess,
};
use ouro_uapi::ouro as abi;
use zerocopy::{Immutable, IntoBytes};

use super::require;
use crate::{
    device::{Device, DrmFile},
    gem::region::Kind,
};

/// Returns whether the caller may see what other clients do, as counters of the whole device tell.
fn sees_others() -> bool {
    task::capable(Capability::Perfmon)
}

/// Copies a string into a fixed field that ends with a zero byte, truncated if necessary.
fn text<const N: usize>(s: &str) -> [u8; N] {
    let mut out = [0; N];
    for (o, b) in out.iter_mut().take(N - 1).zip(s.bytes()) {
        *o = b;
    }
    out
}

/// `OURO_DEVICE` describes the device: its chip, its backend, its address widths. `flags` and `pad`
/// must be zero.
///
/// Errors: `EINVAL` for flags or padding.
pub(super) fn device(_: &Device, file: &DrmFile, arg: &mut abi::drm_ouro_device) -> Result {
    require(arg.flags == 0 && arg.pad == 0)?;
    let gpu = file.gpu();
    let hardware = gpu.hardware();
    let chip = hardware.chip();
    let topology = hardware.topology();
    *arg = abi::drm_ouro_device {
        pci_vendor: chip.vendor,
        pci_device: chip.device,
        revision: gpu.revision().into(),
        n_engines: topology.engines.len() as u32,
        n_regions: gpu.regions().len() as u32,
        backend: text(hardware.generation().name()),
        chip: text(chip.name),
        gpu_address_bits: gpu.space_size().next_power_of_two().ilog2(),
        dma_bits: hardware.generation().dma_bits().into(),
        gpu_address_space: gpu.space_size(),
        ..Default::default()
    };
    Ok(())
}

/// Writes up to `count` entries to `ptr`, and returns their total number in `count`.
fn list<T: IntoBytes + Immutable>(arg: &mut abi::drm_ouro_list, entries: &KVec<T>) -> Result {
    require(arg.stride as usize == size_of::<T>())?;
    let room = arg.count as usize;
    let mut at = arg.ptr;
    for e in entries.iter().take(room) {
        uaccess::write(at, e)?;
        at = at.wrapping_add(size_of::<T>() as u64);
    }
    arg.count = entries.len() as u32;
    Ok(())
}

/// `OURO_ENGINES` lists the engines with their counters, which are 0 without `CAP_PERFMON`.
/// `stride` must be the size of an entry; up to `count` entries are written to `ptr`, and `count`
/// returns their total number.
///
/// Errors: `EINVAL` for another stride; `EFAULT`, `ENOMEM`.
pub(super) fn engines(_: &Device, file: &DrmFile, arg: &mut abi::drm_ouro_list) -> Result {
    let mut entries = KVec::new();
    let sees_others = sees_others();
    for engine in file.gpu().engines() {
        let id = file.gpu().name_of(engine).ok_or(EINVAL)?;
        // Engines of a class are fewer than ten.
        let mut name: [u8; 16] = text(id.class.prefix());
        if let Some(end) = name.iter_mut().find(|b| **b == 0) {
            *end = b'0' + id.instance;
        }
        let mut entry = abi::drm_ouro_engine {
            engine_class: id.class as u16,
            instance: id.instance.into(),
            name,
            ..Default::default()
        };
        if sees_others {
            let counts = engine.counts();
            entry.submitted = counts.submitted;
            entry.completed = counts.completed;
            entry.port_writes = counts.port_writes;
            entry.context_switches = counts.switches;
        }
        entries.push(entry, GFP_KERNEL)?;
    }
    list(arg, &entries)
}

/// `OURO_REGIONS` lists the memory regions and how much of them is used, which is 0 without
/// `CAP_PERFMON`. Arguments: as for [`engines`].
///
/// Errors: those of [`engines`].
pub(super) fn regions(_: &Device, file: &DrmFile, arg: &mut abi::drm_ouro_list) -> Result {
    let gpu = file.gpu();
    let sees_others = sees_others();
    let mut entries = KVec::new();
    for region in gpu.regions() {
        let size = region.size();
        let (kind, used) = match region.kind() {
            Kind::System => {
                let used = gpu.counts().object_pages * u64::from(PAGE_SIZE);
                (abi::drm_ouro_region_kind_OURO_REGION_SYSTEM, used)
            }
            Kind::Local => {
                let used = size - region.free().unwrap_or(0);
                (abi::drm_ouro_region_kind_OURO_REGION_LOCAL, used)
            }
        };
        entries.push(
            abi::drm_ouro_region {
                kind: kind as u16,
                instance: region.instance(),
                size,
                cpu_visible: region.visible(),
                used: if sees_others { used } else { 0 },
                ..Default::default()
            },
            GFP_KERNEL,
        )?;
    }
    list(arg, &entries)
}

/// `OURO_STATS` returns the driver's counters, which are 0 without `CAP_PERFMON`; `resets` is 0
/// without `CAP_SYS_ADMIN`, as in `GET_RESET_STATS`. `flags` and `pad` must be zero.
///
/// Errors: `EINVAL` for flags or padding.
pub(super) fn stats(_: &Device, file: &DrmFile, arg: &mut abi::drm_ouro_stats) -> Result {
    require(arg.flags == 0 && arg.pad == 0)?;
    let gpu = file.gpu();
    let resets = match task::capable(Capability::SysAdmin) {
        true => gpu.recovery().resets(),
        false => 0,
    };
    if !sees_others() {
        *arg = abi::drm_ouro_stats {
            resets,
            ..Default::default()
        };
        return Ok(());
    }
    let hw = gpu.hardware().counts();
    let core = gpu.counts();
    let aperture = gpu.aperture().map(|a| a.counts()).unwrap_or_default();
    let (mut requests, mut completed) = (0, 0);
    let (mut lite_restores, mut preemptions) = (0, 0);
    for engine in gpu.engines() {
        let counts = engine.counts();
        requests += counts.submitted;
        completed += counts.completed;
        lite_restores += counts.lite_restores;
        preemptions += counts.preemptions;
    }
    *arg = abi::drm_ouro_stats {
        requests,
        completed,
        port_writes: hw.gt.port_writes,
        port_extra_reads: hw.gt.port_extra_reads,
        port_extra_writes: hw.gt.port_extra_writes,
        fifo_reads: hw.gt.fifo_reads,
        reg_reads: hw.reads,
        reg_writes: hw.writes,
        pte_writes: hw.pte_writes,
        interrupts: hw.interrupts,
        irq_arms: hw.gt.irq_arms,
        wakes: hw.gt.wakes,
        objects: core.objects,
        object_bytes: core.object_bytes,
        object_pages: core.object_pages,
        contexts: core.contexts,
        fences: core.fences,
        table_flushes: hw.table_flushes,
        resets,
        aperture_views: aperture.views,
        fence_writes: aperture.fence_writes,
        fence_steals: aperture.stolen,
        lite_restores,
        preemptions,
        moves: core.moves,
        ..Default::default()
    };
    Ok(())
}
