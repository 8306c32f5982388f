// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Differences of the command streamers between documents.

/// What becomes of a store to the global table from a non-secure batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalStore {
    /// An instruction error (SNB PRM V1P2 §5.3.7.6).
    Error,
    /// Its address is translated, and nothing is written: "with byte enables turned off" (VCS PRM 1.2.12).
    Dropped,
}

/// The ways of a chip's streamers.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// MI_BATCH_BUFFER_START has a second level, bit 22 (VCS PRM 1.2.6).
    pub second_level: bool,
    /// See [`GlobalStore`].
    pub global_store: GlobalStore,
    /// MI_STORE_REGISTER_MEM does not reach 0x8800 to 0x88ff, and from 0x40000 on what was just written
    /// alone (VCS PRM 1.2.11).
    pub store_limits: bool,
    /// Byte write disables of MI_LOAD_REGISTER_IMM are all or none (VCS PRM 1.2.8).
    pub whole_registers: bool,
    /// Commands that have a global bit must set it while the per-process table is off (VCS PRM 1.2.11,
    /// 1.2.12, 1.2.18).
    pub global_bit: bool,
    /// MI_UPDATE_GTT's bit 22 is documented: it must be set (VCS PRM 1.2.16).
    pub update_gtt: bool,
    /// GFDT in MI_FLUSH_DW needs a store (VCS PRM 1.2.7).
    pub gfdt_store: bool,
    /// Cycles to 0x4f100 are counted there (VCS PRM 1.1.3.5, 1.2.7).
    pub flush_cycles: bool,
    /// MI_MODE has bit 15, suspend flush, and 11, invalidate UHPTR (VCS PRM 1.1.3.3).
    pub mode_bits: bool,
    /// A ring may be disabled whatever is in it; if it is empty, loaded state is void (VCS PRM 1.1.4).
    pub disabled_at_will: bool,
    /// Arbitration must be on when a ring runs empty (VCS PRM 1.2.3), not at the end of a batch
    /// (SNB PRM V1P2 §5.3.7.1).
    pub arbitration_at_end: bool,
    /// PP_DCLV is written before PP_DIR_BASE (VCS PRM 1.1.4).
    pub groups_first: bool,
    /// HWSTAM lets one bit through at most (VCS PRM 1.1.6.1).
    pub one_reported: bool,
    /// Sync status and page fault are levels, cleared by their cause's end (VCS PRM 1.1.6); else one
    /// toggles (SNB PRM V1P2 §5.3.11.2) and the other is a pulse.
    pub status_levels: bool,
    /// A fault record has its type in 2:1 (digest of Gen7, V-17).
    pub fault_types: bool,
    /// HWS_PGA after a reset.
    pub status_page: u32,
    /// Bits of HWS_PGA that are stored.
    pub status_page_bits: u32,
    /// The bit of EIR that is an error of the page table.
    pub table_error: u32,
    /// HEAD of real machines shows START once that is written (habit `start_in_head`).
    pub start_in_head: bool,
    /// Streams cache translations until they are told not to. Without it an entry that is written counts at once.
    pub stream_tlb: bool,
    /// MI_MODE must let MI_FLUSH through (bit 12, digest G-09).
    pub flush_by_mode: bool,
}

impl Ways {
    /// Those of Gen6.
    pub const GEN6: Ways = Ways {
        second_level: false,
        global_store: GlobalStore::Error,
        store_limits: false,
        whole_registers: false,
        global_bit: false,
        update_gtt: false,
        gfdt_store: false,
        flush_cycles: false,
        mode_bits: false,
        disabled_at_will: false,
        arbitration_at_end: false,
        groups_first: false,
        one_reported: false,
        status_levels: false,
        fault_types: false,
        status_page: 0x1fff_f000,
        status_page_bits: 0xffff_f000,
        table_error: 1 << 4,
        start_in_head: false,
        stream_tlb: true,
        flush_by_mode: true,
    };

    /// Those of Gen7. The chapter is the video engine's; the other engines are taken to be alike.
    pub const GEN7: Ways = Ways {
        second_level: true,
        global_store: GlobalStore::Dropped,
        store_limits: true,
        whole_registers: true,
        global_bit: true,
        update_gtt: true,
        gfdt_store: true,
        flush_cycles: true,
        mode_bits: true,
        disabled_at_will: true,
        arbitration_at_end: true,
        groups_first: true,
        one_reported: true,
        status_levels: true,
        fault_types: true,
        status_page: 0,
        ..Ways::GEN6
    };
}
