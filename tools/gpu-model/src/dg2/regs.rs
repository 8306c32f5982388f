// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Offsets of registers (digest §3.2, §3.3, §5.8), and the time stamp's tick. Their definitions are
//! in `table`, effects beyond storing in `mmio`.

/// Size of the part of BAR0 that has registers.
pub const MMIO_SIZE: u32 = 4 << 20;

/// Offsets in an engine's block (digest §3.2).
pub mod ring {
    #![allow(missing_docs)]
    pub const EXCC: u32 = 0x028;
    pub const TAIL: u32 = 0x030;
    pub const HEAD: u32 = 0x034;
    pub const START: u32 = 0x038;
    pub const CTL: u32 = 0x03c;
    pub const ACTHD_UDW: u32 = 0x05c;
    pub const IPEIR: u32 = 0x064;
    pub const IPEHR: u32 = 0x068;
    pub const INSTDONE: u32 = 0x06c;
    pub const INSTPS: u32 = 0x070;
    pub const ACTHD: u32 = 0x074;
    pub const DMA_FADD: u32 = 0x078;
    pub const HWS_PGA: u32 = 0x080;
    pub const CMD_BUF_CCTL: u32 = 0x084;
    pub const ID: u32 = 0x08c;
    pub const NOPID: u32 = 0x094;
    pub const HWSTAM: u32 = 0x098;
    pub const MI_MODE: u32 = 0x09c;
    pub const IMR: u32 = 0x0a8;
    pub const EIR: u32 = 0x0b0;
    pub const EMR: u32 = 0x0b4;
    pub const ESR: u32 = 0x0b8;
    pub const INSTPM: u32 = 0x0c0;
    pub const R_PWR_CLK_STATE: u32 = 0x0c8;
    pub const RESET_CTL: u32 = 0x0d0;
    pub const BB_STATE: u32 = 0x110;
    pub const PRT_BB_STATE: u32 = 0x120;
    pub const BB_HEAD: u32 = 0x140;
    pub const BB_START_ADDR: u32 = 0x150;
    pub const BB_OFFSET: u32 = 0x158;
    pub const BB_HEAD_UDW: u32 = 0x168;
    pub const BB_START_ADDR_UDW: u32 = 0x170;
    pub const PR_CTR_CTL: u32 = 0x178;
    pub const PR_CTR_THRSH: u32 = 0x17c;
    pub const BB_PER_CTX_PTR: u32 = 0x1c0;
    pub const INDIRECT_CTX: u32 = 0x1c4;
    pub const INDIRECT_CTX_OFFSET: u32 = 0x1c8;
    pub const PREDICATION_MASK: u32 = 0x1fc;
    pub const CSB_INTERRUPT_MASK: u32 = 0x218;
    pub const WPARID: u32 = 0x21c;
    pub const ELSP: u32 = 0x230;
    pub const EXECLIST_STATUS: u32 = 0x234;
    pub const EXECLIST_STATUS_HI: u32 = 0x238;
    pub const CURRENT_LRCA: u32 = 0x240;
    pub const CTX_CONTROL: u32 = 0x244;
    pub const PDP0: u32 = 0x270;
    pub const GFX_MODE: u32 = 0x29c;
    pub const TIMESTAMP: u32 = 0x358;
    pub const CSB_LOW: u32 = 0x370;
    pub const CSB_POINTER: u32 = 0x3a0;
    pub const CTX_TIMESTAMP: u32 = 0x3a8;
    pub const CSB_HIGH: u32 = 0x3c0;
    pub const CS_MI_ADDRESS_OFFSET: u32 = 0x3b4;
    pub const SET_PREDICATE_RESULT: u32 = 0x3b8;
    pub const PREDICATE_RESULT_2: u32 = 0x3bc;
    pub const PREDICATE_SRC0: u32 = 0x400;
    pub const PREDICATE_SRC1: u32 = 0x408;
    pub const PREDICATE_DATA: u32 = 0x410;
    pub const PREDICATE_RESULT: u32 = 0x418;
    pub const PREDICATE_RESULT_1: u32 = 0x41c;
    pub const NONPRIV: u32 = 0x4d0;
    pub const SQ: u32 = 0x510;
    pub const EXECLIST_CONTROL: u32 = 0x550;
    pub const BB_STACK: u32 = 0x588;
    pub const GPR: u32 = 0x600;
}

/// Offsets of single registers (digest §3.3, §5.8).
pub mod reg {
    #![allow(missing_docs)]
    pub const RPM_CONFIG0: u32 = 0x0d00;
    pub const MOCS: u32 = 0x4000;
    pub const TILE0_ADDR_RANGE: u32 = 0x4900;
    pub const FLAT_CCS_BASE: u32 = 0x4910;
    pub const MIRROR_FUSE3: u32 = 0x9118;
    pub const FUSE1: u32 = 0x911c;
    pub const FUSE_EU: u32 = 0x9134;
    pub const FUSE_GEOMETRY_DSS: u32 = 0x913c;
    pub const FUSE_VDBOX_VEBOX: u32 = 0x9140;
    pub const FUSE_COMPUTE_DSS: u32 = 0x9144;
    pub const GDRST: u32 = 0x941c;
    pub const GUC_STATUS: u32 = 0xc000;
    /// Size of the GuC's memory; bit 0 is its lock.
    pub const GUC_WOPCM_SIZE: u32 = 0xc050;
    /// Where the GuC loads from; bit 0 is its lock.
    pub const DMA_GUC_WOPCM_OFFSET: u32 = 0xc340;
    pub const FAULT_TLB_DATA0: u32 = 0xceb8;
    pub const FAULT_TLB_DATA1: u32 = 0xcebc;
    pub const RING_FAULT: u32 = 0xcec4;
    pub const GUC_TLB_INV: u32 = 0xcee8;
    pub const GU_CNTL_PROTECTED: u32 = 0x10_100c;
    pub const GU_CNTL: u32 = 0x10_1010;
    pub const GU_DEBUG: u32 = 0x10_1018;
    pub const DISPLAY_INT_CTL: u32 = 0x4_4200;
    pub const DSMBASE: u32 = 0x10_80c0;
    pub const GSMBASE: u32 = 0x10_8100;
    pub const PCODE_MAILBOX: u32 = 0x13_8124;
    pub const PCODE_DATA: u32 = 0x13_8128;
    pub const PCODE_DATA1: u32 = 0x13_812c;
    pub const MSTR_TILE: u32 = 0x19_0008;
    pub const GFX_MSTR: u32 = 0x19_0010;
    pub const INTR_DW0: u32 = 0x19_0018;
    pub const INTR_DW1: u32 = 0x19_001c;
    pub const IDENTITY0: u32 = 0x19_0060;
    pub const IDENTITY1: u32 = 0x19_0064;
    pub const SELECTOR0: u32 = 0x19_0070;
    pub const SELECTOR1: u32 = 0x19_0074;
}

/// Tick of the time stamp: RPM_CONFIG0 says a crystal of 19.2 MHz (bits 5:3 = 1) and a shift of 3
/// (bits 2:1), so ticks come at 19.2 MHz (digest §3.3 row 1).
pub const RPM_CONFIG0_VALUE: u32 = 1 << 3 | 3 << 1;

/// Ticks of the time stamp in so many nanoseconds: 19.2 MHz are 12 in 625.
pub fn ticks(ns: u64) -> u64 {
    (u128::from(ns) * 12 / 625) as u64
}

pub use super::table::map;
