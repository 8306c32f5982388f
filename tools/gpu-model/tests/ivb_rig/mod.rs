// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A test rig with a modelled Ivy Bridge.
//!
//! Offsets are the chapter's (VCS PRM 1.1.1: the render engine's, video 10000h higher); what it leaves
//! out is from the digest, §5 (V-nn).

#![allow(dead_code)]

#[path = "../ring_rig/mod.rs"]
mod ring_rig;

pub use ring_rig::*;

use gpu_model::ring::chip::IVB;
use gpu_model::ring::{EngineId, RingConfig};

pub const RCS: EngineId = EngineId::Rcs;
pub const VCS: EngineId = EngineId::Vcs;
pub const BCS: EngineId = EngineId::Bcs;
/// All of them.
pub const ENGINES: [EngineId; 3] = [RCS, VCS, BCS];

/// MI_STORE_DATA_IMM through the global table: 0x20 << 23, bit 22, length 2 (1.2.12).
pub const STORE_GLOBAL: u32 = 0x1040_0002;
/// The same through the per-process table.
pub const STORE: u32 = 0x1000_0002;
/// MI_BATCH_BUFFER_START, secure and non-secure, and of the second level (1.2.6).
pub const START: u32 = 0x1880_0000;
pub const START_NS: u32 = 0x1880_0100;
pub const SECOND: u32 = 0x18c0_0000;
pub const SECOND_NS: u32 = 0x18c0_0100;
/// MI_BATCH_BUFFER_END (1.2.4).
pub const END: u32 = 0x0500_0000;
/// MI_LOAD_REGISTER_IMM of one register (1.2.8).
pub const LRI: u32 = 0x1100_0001;

/// Its values.
pub struct Ivb;

impl TestChip for Ivb {
    /// Of several threads (V-04).
    const WAKE: u32 = 0xa188;
    const HANDSHAKE: bool = false;

    /// VCS PRM 1.1.2.2.1; V-09 for the others.
    fn hws_pga(e: EngineId) -> u32 {
        match e {
            EngineId::Rcs => 0x4080,
            EngineId::Vcs => 0x4180,
            EngineId::Bcs => 0x4280,
        }
    }

    fn choices() -> RingConfig {
        RingConfig::of(&IVB)
    }
}

/// HWS_PGA of an engine.
pub fn hws_pga(e: EngineId) -> u32 {
    Ivb::hws_pga(e)
}

/// The test rig.
pub type Rig = ring_rig::Rig<Ivb>;

impl Rig {
    /// A per-process table for an engine: its directory in the global table's entries from `slot` on,
    /// one page table at `table`. The groups of PP_DCLV, then PP_DIR_BASE (V-05), then bit 9 of MODE
    /// (1.1.3.4).
    pub fn process_table(&self, e: EngineId, slot: u32, table: u32, groups: u32) {
        self.gpu.gtt_write(slot, table | 1);
        self.set(block(e) + 0x220, groups);
        self.set(block(e) + 0x228, (slot * 4) << 10);
        self.set(block(e) + 0x29c, 0x0200_0200);
    }
}
