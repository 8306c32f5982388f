// SPDX-License-Identifier: GPL-2.0
//! Streams of commands: packets ("R5xx Acceleration" §5.1), the objects that they name by relocations
//! (its digest §5.7), and the call that submits them.

use anyhow::Result;
use bitfield_struct::bitfield;

use super::super::Device;
use ouro_card::radeon::{Bo, Domain};
use ouro_card::uapi::*;
use ouro_scene::surface::BufferId;

/// Dwords after which a stream is closed.
const FULL: usize = 8 << 10;

/// Header of a packet of type 0, which writes registers one after the other (§5.1.1).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct RegisterHeader {
    /// Bits 12:0: the first register, in dwords.
    #[bits(13)]
    pub index: u16,
    #[bits(3)]
    __: u8,
    /// Bits 29:16: registers less one.
    #[bits(14)]
    pub count_less_one: u16,
    /// Bits 31:30: 0.
    #[bits(2)]
    pub kind: u8,
}

/// Header of a packet of type 3, a command (§5.1.4).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub struct CommandHeader {
    __: u8,
    /// Bits 15:8.
    pub opcode: u8,
    /// Bits 29:16: dwords that follow less one.
    #[bits(14)]
    pub count_less_one: u16,
    /// Bits 31:30: 3.
    #[bits(2)]
    pub kind: u8,
}

/// The command that does nothing (§5.2.4), which carries relocations.
const NOP: u8 = 0x10;
/// Dwords of a record in the list of relocations.
const RECORD_DWORDS: u32 = 4;

/// An object in a stream.
#[derive(Clone, Copy)]
struct Used {
    buffer: BufferId,
    write: bool,
}

/// Commands in the making.
#[derive(Clone, Default)]
pub struct Stream {
    dwords: Vec<u32>,
    used: Vec<Used>,
}

impl Stream {
    /// Registers, from one on.
    pub fn registers(&mut self, first: u32, values: &[u32]) {
        let header = RegisterHeader::new()
            .with_index((first / 4) as u16)
            .with_count_less_one(values.len() as u16 - 1);
        self.dwords.push(header.into_bits());
        self.dwords.extend_from_slice(values);
    }

    /// A command.
    pub fn command(&mut self, opcode: u8, body: &[u32]) {
        let header = CommandHeader::new()
            .with_kind(3)
            .with_opcode(opcode)
            .with_count_less_one(body.len() as u16 - 1);
        self.dwords.push(header.into_bits());
        self.dwords.extend_from_slice(body);
    }

    /// The object that the packet before this means.
    pub fn object(&mut self, buffer: BufferId, write: bool) {
        let place = match self.used.iter_mut().position(|u| u.buffer == buffer) {
            Some(place) => place,
            None => {
                self.used.push(Used { buffer, write });
                self.used.len() - 1
            }
        };
        self.used[place].write |= write;
        self.command(NOP, &[place as u32 * RECORD_DWORDS]);
    }

    /// Whether it should be submitted before more is added.
    pub fn is_full(&self) -> bool {
        self.dwords.len() >= FULL
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.dwords.is_empty()
    }

    /// Its dwords.
    #[cfg(test)]
    pub fn dwords(&self) -> &[u32] {
        &self.dwords
    }

    /// Submits it and does not wait; its objects are to be in this memory.
    pub fn submit(&self, device: &Device, bos: &[Bo<'_>], domain: Domain) -> Result<()> {
        let relocations: Vec<drm_radeon_cs_reloc> = self
            .used
            .iter()
            .map(|used| drm_radeon_cs_reloc {
                handle: bos[used.buffer.0].handle(),
                read_domains: if used.write { 0 } else { domain.bit() },
                write_domain: if used.write { domain.bit() } else { 0 },
                flags: 0,
            })
            .collect();
        // Tiles are as the stream says; the ring is the only one.
        let flags = [RADEON_CS_KEEP_TILING_FLAGS, RADEON_CS_RING_GFX];
        let chunks = [
            drm_radeon_cs_chunk {
                chunk_id: RADEON_CHUNK_ID_IB,
                length_dw: self.dwords.len() as u32,
                chunk_data: self.dwords.as_ptr() as u64,
            },
            drm_radeon_cs_chunk {
                chunk_id: RADEON_CHUNK_ID_RELOCS,
                length_dw: relocations.len() as u32 * RECORD_DWORDS,
                chunk_data: relocations.as_ptr() as u64,
            },
            drm_radeon_cs_chunk {
                chunk_id: RADEON_CHUNK_ID_FLAGS,
                length_dw: flags.len() as u32,
                chunk_data: flags.as_ptr() as u64,
            },
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
        device.call("RADEON_CS", DRM_RADEON_CS, &mut submit)
    }
}
