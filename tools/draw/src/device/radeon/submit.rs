// SPDX-License-Identifier: GPL-2.0
//! The submission of a stream: its dwords, and the objects that it names, in the memory that they are to be in.

use anyhow::Result;
use ouro_card::radeon::{Bo, Domain, Record};
use ouro_scene::radeon::Stream;

use super::super::Device;

/// Submits a stream and does not wait; its objects are to be in this memory.
pub fn submit(stream: &Stream, device: &Device, bos: &[Bo<'_>], domain: Domain) -> Result<()> {
    let records: Vec<Record<'_>> = stream
        .used()
        .iter()
        .map(|used| (&bos[used.buffer.0], used.write))
        .collect();
    ouro_card::radeon::submit(device, stream.dwords(), &records, domain)
}
