// SPDX-License-Identifier: GPL-2.0

//! `CS`: a command stream and its relocations.
//!
//! A stream comes in chunks. The relocation chunk lists BOs; where the stream needs an address, it
//! names an index in that list. Everything is copied once, before it is checked.

use core::mem::MaybeUninit;
use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::aref::ARef};
use ouro_core::sort::sort_by_key;
use ouro_hw::{types::GpuAddr, EngineClass};
use ouro_kernel::{
    fence::Fence,
    gem::{Found, SOME},
    lazy::LazyVec,
    uaccess,
};
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
        scratch::Scratch,
        stream::{Name, Stream},
    },
    vm::Place,
};

/// Most chunks of a call: more than there are kinds.
const MAX_CHUNKS: usize = 8;
/// Most relocations of a stream.
const MAX_RELOCS: usize = 1 << 16;
/// Dwords per relocation.
const RELOC_DWORDS: usize = size_of::<abi::drm_radeon_cs_reloc>() / 4;
/// Dwords of the flags chunk that are used: flags, ring, priority.
const FLAGS_DWORDS: usize = 3;

/// The copied chunks, except for the stream.
struct Chunks<'a> {
    relocs: &'a [abi::drm_radeon_cs_reloc],
    knows_tiling: bool,
}

/// Room for the relocations: for some of them, and for many.
struct Room {
    some: MaybeUninit<[abi::drm_radeon_cs_reloc; SOME]>,
    many: LazyVec<abi::drm_radeon_cs_reloc>,
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
/// unknown handle; `EAGAIN` on a non-blocking file with too many requests or copies in flight;
/// `EIO` if the context is banned or the device is wedged; `EFAULT`, `ENOMEM`, `ENOSPC`,
/// `ERESTARTSYS`, `ENODEV`.
pub(super) fn cs(_: &Device, file: &DrmFile, arg: &mut abi::drm_radeon_cs) -> Result {
    let client = file.inner();
    let mut scratch = Scratch::take(client.scratch())?;
    let mut room = Room {
        some: MaybeUninit::uninit(),
        many: LazyVec::new(),
    };
    let chunks = Chunks::read(arg, &mut scratch.stream.dwords, &mut room)?;
    let gpu = client.gpu();
    let context = client.context(0)?;
    gpu.working()?;
    if context.skips_batches() {
        return Err(EIO);
    }
    let mut stream = core::mem::take(&mut scratch.stream);
    let mut objects = core::mem::take(&mut scratch.entries);
    look_up(file, chunks.relocs, &mut objects, &mut stream.names)?;
    stream.knows_tiling = chunks.knows_tiling;
    stream.begin()?;
    let engine = gpu.engine(EngineClass::Render, 0).ok_or(ENODEV)?;

    let target = Target::One(engine);
    let share = gpu.share(client.quota(), &context, &target, !file.is_nonblocking())?;
    let mut exec = Exec {
        gpu: gpu.executor().clone(),
        target,
        context,
        objects,
        slate: core::mem::take(&mut scratch.slate),
        source: Source::Stream(stream),
        reset_stream_output: false,
        // Addresses are written into the copy, not into BOs.
        trust_presumed: true,
        after: LazyVec::new(),
        lead: None,
        share: Some(share),
        may_wait: !file.is_nonblocking(),
        kinds: Kinds::default(),
        tries: Tries::new(),
    };
    exec.run(&mut Quiet)?;
    scratch.entries = exec.objects;
    scratch.slate = exec.slate;
    if let Source::Stream(stream) = exec.source {
        scratch.stream = stream;
    }
    scratch.give_back(client.scratch());
    arg.gart_limit = gpu.space().size();
    arg.vram_limit = domain::vram(gpu).map_or(0, |(_, region)| region.size());
    Ok(())
}

impl<'a> Chunks<'a> {
    /// Reads them; the stream into `stream`.
    fn read(arg: &abi::drm_radeon_cs, stream: &mut KVVec<u32>, room: &'a mut Room) -> Result<Self> {
        require(arg.num_chunks != 0)?;
        let mut pointers = MaybeUninit::<[u64; MAX_CHUNKS]>::uninit();
        let pointers = uaccess::read_few(arg.chunks, arg.num_chunks as usize, &mut pointers)?;
        let (mut has_stream, mut flags) = (false, None);
        let (mut relocs, mut room): (&[_], _) = (&[], Some(room));
        for pointer in pointers {
            let chunk: abi::drm_radeon_cs_chunk = uaccess::read(*pointer)?;
            let dwords = chunk.length_dw as usize;
            match chunk.chunk_id {
                abi::RADEON_CHUNK_ID_IB => {
                    require(!has_stream && dwords <= Stream::MAX_DWORDS)?;
                    uaccess::read_over(chunk.chunk_data, dwords, stream)?;
                    has_stream = true;
                }
                abi::RADEON_CHUNK_ID_RELOCS => {
                    // There is room for one.
                    let Room { some, many } = room.take().ok_or(EINVAL)?;
                    require(dwords % RELOC_DWORDS == 0)?;
                    let count = dwords / RELOC_DWORDS;
                    require(count <= MAX_RELOCS)?;
                    relocs = if count > SOME {
                        uaccess::read_over(chunk.chunk_data, count, many)?;
                        many
                    } else {
                        uaccess::read_few(chunk.chunk_data, count, some)?
                    };
                }
                abi::RADEON_CHUNK_ID_FLAGS => {
                    require(flags.is_none() && dwords != 0)?;
                    let mut some = MaybeUninit::<[u32; FLAGS_DWORDS]>::uninit();
                    let dwords = dwords.min(FLAGS_DWORDS);
                    let chunk = uaccess::read_few(chunk.chunk_data, dwords, &mut some)?;
                    flags = Some(knows_tiling(chunk)?);
                }
                // This includes the chunks of chips with an address space per client.
                _ => return Err(EINVAL),
            }
        }
        require(has_stream)?;
        let knows_tiling = flags.unwrap_or(false);
        Ok(Self {
            relocs,
            knows_tiling,
        })
    }
}

/// Returns whether the stream says how BOs are tiled. `chunk` is flags, ring and priority, as far
/// as user space has sent them; the priority has no effect on a ring.
fn knows_tiling(chunk: &[u32]) -> Result<bool> {
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

/// Finds out which BO each relocation names: `names` are as many. BOs are in the order in which
/// they are named first. Errors: `ENOMEM`.
fn number(relocs: &[abi::drm_radeon_cs_reloc], names: &mut [Name]) -> Result {
    // Most often all are different.
    if relocs.is_sorted_by(|a, b| a.handle < b.handle) {
        for (n, name) in names.iter_mut().enumerate() {
            name.object = n;
        }
        return Ok(());
    }
    let mut order = KVVec::with_capacity(relocs.len(), GFP_KERNEL)?;
    for (n, reloc) in relocs.iter().enumerate() {
        order.push((reloc.handle, n), GFP_KERNEL)?;
    }
    // The relocations of a BO follow each other then, and name the first of them.
    sort_by_key(&mut order, |named| *named);
    for same in order.chunk_by(|a, b| a.0 == b.0) {
        let first = same.first().map_or(0, |named| named.1);
        for (_, n) in same {
            names.get_mut(*n).ok_or(EINVAL)?.object = first;
        }
    }
    let mut count = 0;
    for n in 0..names.len() {
        let first = names.get(n).ok_or(EINVAL)?.object;
        let place = match first == n {
            true => count,
            // That one has its place.
            false => names.get(first).ok_or(EINVAL)?.object,
        };
        count += usize::from(first == n);
        names.get_mut(n).ok_or(EINVAL)?.object = place;
    }
    Ok(())
}

/// Looks up the BOs, each once, and the BO that each relocation names. Both lists are empty.
fn look_up(
    file: &DrmFile,
    relocs: &[abi::drm_radeon_cs_reloc],
    entries: &mut KVVec<Entry>,
    names: &mut KVVec<Name>,
) -> Result {
    let gpu = file.gpu();
    if names.capacity() < relocs.len() {
        names.reserve(relocs.len(), GFP_KERNEL_ACCOUNT)?;
    }
    if entries.capacity() < relocs.len() {
        entries.reserve(relocs.len(), GFP_KERNEL_ACCOUNT)?;
    }
    for reloc in relocs {
        require(reloc.flags & !abi::RADEON_RELOC_PRIO_MASK == 0)?;
        let domains = reloc.read_domains | reloc.write_domain;
        // The GPU cannot access the CPU domain.
        require(domains & !ALL == 0 && domains & (VRAM | GTT) != 0)?;
        require(reloc.write_domain & CPU == 0)?;
        let (object, tiling) = (0, None);
        // There is capacity, here and below.
        let _ = names.push_within_capacity(Name { object, tiling });
    }
    number(relocs, names)?;
    let mut found = Found::none();
    for (some, names) in relocs.chunks(SOME).zip(names.chunks_mut(SOME)) {
        found.look_up(file, some, |reloc| reloc.handle);
        for (reloc, name) in some.iter().zip(names) {
            let object: ARef<Object> = found.next().flatten().ok_or(ENOENT)?;
            if name.object == entries.len() {
                let _ = entries.push_within_capacity(entry(object));
            }
            // Of one handle, another thread may have made another BO meanwhile: the first one
            // counts.
            let entry = entries.get_mut(name.object).ok_or(EINVAL)?;
            name.tiling = tiling::of(&entry.object);
            entry.write |= reloc.write_domain != 0;
            let domains = match reloc.write_domain {
                0 => reloc.read_domains,
                written => written,
            };
            // The preferred region of several relocations.
            entry.wanted = entry.wanted.max(wanted(gpu, domains));
        }
    }
    Ok(())
}

/// Returns a BO of a list, which no relocation has said anything of.
fn entry(object: ARef<Object>) -> Entry {
    let align = object.align();
    Entry {
        pinned: None,
        object,
        place: Place::Within {
            range: (0, u64::MAX),
            align,
            preferred: None,
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
    }
}
