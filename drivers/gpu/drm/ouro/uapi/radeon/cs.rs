// SPDX-License-Identifier: GPL-2.0

//! `CS`: a command stream and its relocations.
//!
//! A stream comes in chunks. The relocation chunk lists BOs; where the stream needs an address, it
//! names an index in that list. Everything is copied once, before it is checked.

use kernel::prelude::*;
use ouro_core::sort::sort_by_key;
use ouro_hw::{types::GpuAddr, EngineClass};
use ouro_kernel::{fence::Fence, lazy::LazyVec, resv::Slate, uaccess};
use ouro_uapi::radeon as abi;

use super::{
    domain::{self, ALL, CPU, GTT, VRAM},
    require, tiling,
};
use crate::{
    device::{Device, DrmFile},
    gem::Object,
    gpu::Gpu,
    submit::{
        evict::Tries,
        exec::{Entry, Exec, Kinds, Publish, Source},
        lists::balanced::Target,
        stream::{Name, Stream},
    },
    vm::Place,
};

/// Most chunks of a call: more than there are kinds.
const MAX_CHUNKS: u32 = 8;
/// Most relocations of a stream.
const MAX_RELOCS: usize = 1 << 16;
/// Dwords per relocation.
const RELOC_DWORDS: usize = size_of::<abi::drm_radeon_cs_reloc>() / 4;
/// Dwords of the flags chunk that are used: flags, ring, priority.
const FLAGS_DWORDS: usize = 3;

/// The copied chunks.
#[derive(Default)]
struct Chunks {
    stream: Option<KVVec<u32>>,
    relocs: Option<KVVec<abi::drm_radeon_cs_reloc>>,
    flags: Option<KVVec<u32>>,
}

/// Publishes the fence to the BOs' reservations only.
struct Quiet;

impl Publish for Quiet {
    fn prepare(&mut self, _: &Fence) -> Result {
        Ok(())
    }

    fn publish(&mut self, _: &Fence) {}
}

/// `CS` submits a command stream: the checker reads the copied stream, and if that passes, it is
/// published as a request.
///
/// There must be exactly one IB chunk, of at most [`Stream::MAX_DWORDS`] dwords, and at most one
/// chunk each of relocations and flags; the ring must be GFX. `gart_limit` and `vram_limit` return
/// the sizes of GART and VRAM.
///
/// Errors: `EINVAL` for a stream that the checker refuses, and for invalid chunks; `ENOENT` for an
/// unknown handle; `EAGAIN` on a non-blocking file with too many requests in flight; `EIO` if the
/// context is banned or the device is wedged; `EFAULT`, `ENOMEM`, `ENOSPC`, `ERESTARTSYS`,
/// `ENODEV`.
pub(super) fn cs(_: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_cs) -> Result {
    let chunks = Chunks::read(arg)?;
    let client = file.inner();
    let gpu = client.gpu();
    let knows_tiling = flags(chunks.flags.as_deref().unwrap_or(&[]))?;
    let context = client.context(0)?;
    gpu.working()?;
    if context.is_banned() {
        return Err(EIO);
    }
    let relocs = chunks.relocs.as_deref().unwrap_or(&[]);
    let (objects, names) = objects(file, relocs)?;
    let stream = Stream::new(chunks.stream.ok_or(EINVAL)?, names, knows_tiling)?;
    let engine = gpu.engine(EngineClass::Render, 0).ok_or(ENODEV)?;

    let target = Target::One(engine);
    let share = gpu.share(client.quota(), &context, &target, !file.is_nonblocking())?;
    let mut exec = Exec {
        gpu: gpu.executor().clone(),
        target,
        context,
        objects: objects.into(),
        slate: Slate::new(),
        source: Source::Stream(stream),
        new_streams: false,
        // Addresses are written into the copy, not into BOs.
        trust_presumed: true,
        after: LazyVec::new(),
        lead: None,
        share: Some(share),
        kinds: Kinds::default(),
        tries: Tries::new(),
    };
    exec.run(&mut Quiet)?;
    arg.gart_limit = gpu.space().size();
    arg.vram_limit = domain::vram(gpu).map_or(0, |(_, region)| region.size());
    Ok(())
}

impl Chunks {
    fn read(arg: &abi::drm_radeon_cs) -> Result<Self> {
        require(arg.num_chunks != 0 && arg.num_chunks <= MAX_CHUNKS)?;
        let pointers: KVVec<u64> = uaccess::read_array(arg.chunks, arg.num_chunks as usize)?;
        let mut all = Self::default();
        for pointer in pointers.iter() {
            let chunk: abi::drm_radeon_cs_chunk = uaccess::read(*pointer)?;
            let dwords = chunk.length_dw as usize;
            match chunk.chunk_id {
                abi::RADEON_CHUNK_ID_IB => {
                    require(all.stream.is_none() && dwords <= Stream::MAX_DWORDS)?;
                    all.stream = Some(uaccess::read_array(chunk.chunk_data, dwords)?);
                }
                abi::RADEON_CHUNK_ID_RELOCS => {
                    require(all.relocs.is_none() && dwords % RELOC_DWORDS == 0)?;
                    let count = dwords / RELOC_DWORDS;
                    require(count <= MAX_RELOCS)?;
                    all.relocs = Some(uaccess::read_array(chunk.chunk_data, count)?);
                }
                abi::RADEON_CHUNK_ID_FLAGS => {
                    require(all.flags.is_none() && dwords != 0)?;
                    let dwords = dwords.min(FLAGS_DWORDS);
                    all.flags = Some(uaccess::read_array(chunk.chunk_data, dwords)?);
                }
                // This includes the chunks of chips with an address space per client.
                _ => return Err(EINVAL),
            }
        }
        Ok(all)
    }
}

/// Returns whether the stream says how BOs are tiled. `chunk` is flags, ring and priority, as far
/// as user space has sent them; the priority has no effect on a ring.
fn flags(chunk: &[u32]) -> Result<bool> {
    const FLAGS: u32 = abi::RADEON_CS_KEEP_TILING_FLAGS | abi::RADEON_CS_END_OF_FRAME;
    let flags = chunk.first().copied().unwrap_or(0);
    let ring = chunk.get(1).copied().unwrap_or(abi::RADEON_CS_RING_GFX);
    require(flags & !FLAGS == 0)?;
    require(ring == abi::RADEON_CS_RING_GFX)?;
    Ok(flags & abi::RADEON_CS_KEEP_TILING_FLAGS != 0)
}

/// Returns the region where a relocation wants its BO.
fn wanted(gpu: &Gpu, domains: u32) -> Option<u8> {
    if domains & VRAM != 0 {
        domain::vram(gpu).and_then(|(number, _)| u8::try_from(number).ok())
    } else {
        Some(domain::SYSTEM as u8)
    }
}

/// Looks up the BOs, each once, and the BO that each relocation names.
fn objects(
    file: &DrmFile,
    relocs: &[abi::drm_radeon_cs_reloc],
) -> Result<(KVVec<Entry>, KVVec<Name>)> {
    let gpu = file.gpu();
    let mut names = KVVec::with_capacity(relocs.len(), GFP_KERNEL)?;
    let mut order = KVVec::with_capacity(relocs.len(), GFP_KERNEL)?;
    for (n, reloc) in relocs.iter().enumerate() {
        require(reloc.flags & !abi::RADEON_RELOC_PRIO_MASK == 0)?;
        let domains = reloc.read_domains | reloc.write_domain;
        // The GPU cannot access the CPU domain.
        require(domains & !ALL == 0 && domains & (VRAM | GTT) != 0)?;
        require(reloc.write_domain & CPU == 0)?;
        let (object, tiling) = (n, None);
        names.push(Name { object, tiling }, GFP_KERNEL)?;
        order.push((reloc.handle, n), GFP_KERNEL)?;
    }
    // The relocations of a BO follow each other then, and name the first of them.
    if !order.is_sorted() {
        sort_by_key(&mut order, |named| *named);
    }
    for same in order.chunk_by(|a, b| a.0 == b.0) {
        let first = same.first().map_or(0, |named| named.1);
        for (_, n) in same {
            names.get_mut(*n).ok_or(EINVAL)?.object = first;
        }
    }
    // BOs are in the order in which they are named first.
    let mut handles = KVVec::with_capacity(relocs.len(), GFP_KERNEL)?;
    for (n, reloc) in relocs.iter().enumerate() {
        let first = names.get(n).ok_or(EINVAL)?.object;
        let place = match first == n {
            true => handles.len(),
            // That one has its place.
            false => names.get(first).ok_or(EINVAL)?.object,
        };
        if first == n {
            handles.push(reloc.handle, GFP_KERNEL)?;
        }
        names.get_mut(n).ok_or(EINVAL)?.object = place;
    }

    let mut entries = KVVec::with_capacity(handles.len(), GFP_KERNEL)?;
    for object in Object::lookup_many(file, handles.iter().copied())? {
        let align = object.align();
        entries.push(
            Entry {
                pinned: None,
                object,
                place: Place::Within {
                    range: (0, u64::MAX),
                    align,
                    rather: None,
                },
                wanted: None,
                pad: 0,
                write: false,
                unordered: false,
                capture: false,
                presumed: 0,
                relocations: LazyVec::new(),
                address: GpuAddr(0),
                placed: false,
            },
            GFP_KERNEL,
        )?;
    }
    for (reloc, name) in relocs.iter().zip(names.iter_mut()) {
        let entry = entries.get_mut(name.object).ok_or(EINVAL)?;
        entry.write |= reloc.write_domain != 0;
        let domains = match reloc.write_domain {
            0 => reloc.read_domains,
            written => written,
        };
        // The preferred region of several relocations.
        entry.wanted = entry.wanted.max(wanted(gpu, domains));
        name.tiling = tiling::of(&entry.object);
    }
    Ok((entries, names))
}
