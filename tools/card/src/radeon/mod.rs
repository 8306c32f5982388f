// SPDX-License-Identifier: GPL-2.0
//! Objects and submissions of the radeon interface.

mod bo;

pub use bo::{Bo, Domain};

use anyhow::Result;

use crate::uapi::*;
use crate::Node;

/// An object that a stream names, and whether it is written.
pub type Record<'a> = (&'a Bo<'a>, bool);

/// Submits dwords and does not wait; the objects are to be in this memory. A dword of the stream names a record by
/// its place times four.
///
/// # Errors
/// What the driver answers.
pub fn submit(node: &Node, dwords: &[u32], objects: &[Record<'_>], domain: Domain) -> Result<()> {
    let records: Vec<drm_radeon_cs_reloc> = objects
        .iter()
        .map(|(bo, write)| drm_radeon_cs_reloc {
            handle: bo.handle(),
            read_domains: if *write { 0 } else { domain.bit() },
            write_domain: if *write { domain.bit() } else { 0 },
            flags: 0,
        })
        .collect();
    // Tiles are as the stream says; the ring is the only one.
    let flags = [RADEON_CS_KEEP_TILING_FLAGS, RADEON_CS_RING_GFX];
    let chunk = |chunk_id, length_dw: usize, data: *const u32| drm_radeon_cs_chunk {
        chunk_id,
        length_dw: length_dw as u32,
        chunk_data: data as u64,
    };
    let record_dwords = size_of::<drm_radeon_cs_reloc>() / 4;
    let chunks = [
        chunk(RADEON_CHUNK_ID_IB, dwords.len(), dwords.as_ptr()),
        chunk(
            RADEON_CHUNK_ID_RELOCS,
            records.len() * record_dwords,
            records.as_ptr().cast(),
        ),
        chunk(RADEON_CHUNK_ID_FLAGS, flags.len(), flags.as_ptr()),
    ];
    let pointers: Vec<u64> = chunks
        .iter()
        .map(|chunk| std::ptr::from_ref(chunk) as u64)
        .collect();
    let mut submit = drm_radeon_cs {
        num_chunks: pointers.len() as u32,
        chunks: pointers.as_ptr() as u64,
        ..Default::default()
    };
    node.call("RADEON_CS", DRM_RADEON_CS, &mut submit)
}
