// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The register file: every register that the document names or the digest knows an offset of, with
//! its reset value, the bits that can be written, and who may write it. Effects are in `mmio`.
//!
//! The document has no offsets (digest §0); they are from digest §3 and §5.2. An access to any other
//! offset is *undocumented*. What a program may write through the command processor is marked by its
//! class: a register that steers the chip itself must not appear in a program's stream.

use super::config::MMIO_SIZE;
use std::sync::OnceLock;

/// Offsets of registers that have an effect.
pub mod reg {
    #![allow(missing_docs)]
    pub const MM_INDEX: u32 = 0x0000;
    pub const MM_DATA: u32 = 0x0004;
    pub const CLOCK_CNTL_INDEX: u32 = 0x0008;
    pub const CLOCK_CNTL_DATA: u32 = 0x000c;
    pub const PCIE_INDEX: u32 = 0x0030;
    pub const PCIE_DATA: u32 = 0x0034;
    pub const GEN_INT_CNTL: u32 = 0x0040;
    pub const GEN_INT_STATUS: u32 = 0x0044;
    pub const MC_IND_INDEX: u32 = 0x0070;
    pub const MC_IND_DATA: u32 = 0x0074;
    pub const RBBM_SOFT_RESET: u32 = 0x00f0;
    pub const CONFIG_MEMSIZE: u32 = 0x00f8;
    pub const CONFIG_APER_SIZE: u32 = 0x0108;
    pub const VGA_MEMORY_BASE: u32 = 0x0310;
    pub const VGA_HDP_CONTROL: u32 = 0x0328;
    pub const HOST_PATH_CNTL: u32 = 0x0130;
    pub const HDP_FB_LOCATION: u32 = 0x0134;
    pub const MSI_REARM_EN: u32 = 0x0160;
    pub const CP_RB_BASE: u32 = 0x0700;
    pub const CP_RB_CNTL: u32 = 0x0704;
    pub const CP_RB_RPTR_ADDR: u32 = 0x070c;
    pub const CP_RB_RPTR: u32 = 0x0710;
    pub const CP_RB_WPTR: u32 = 0x0714;
    pub const CP_RB_WPTR_DELAY: u32 = 0x0718;
    pub const CP_RB_RPTR_WR: u32 = 0x071c;
    pub const CP_GUI_SRC_ADDR: u32 = 0x0720;
    pub const CP_GUI_DST_ADDR: u32 = 0x0724;
    pub const CP_GUI_COMMAND: u32 = 0x0728;
    pub const CP_IB2_BASE: u32 = 0x0730;
    pub const CP_IB2_BUFSZ: u32 = 0x0734;
    pub const CP_IB_BASE: u32 = 0x0738;
    pub const CP_IB_BUFSZ: u32 = 0x073c;
    pub const CP_CSQ_CNTL: u32 = 0x0740;
    pub const CP_CSQ_MODE: u32 = 0x0744;
    pub const SCRATCH_UMSK: u32 = 0x0770;
    pub const SCRATCH_ADDR: u32 = 0x0774;
    pub const CP_RESYNC_ADDR: u32 = 0x0778;
    pub const CP_RESYNC_DATA: u32 = 0x077c;
    pub const DMA_GUI_TABLE_ADDR: u32 = 0x0780;
    pub const DMA_GUI_STATUS: u32 = 0x0790;
    pub const DMA_VID_TABLE_ADDR: u32 = 0x07a0;
    pub const DMA_VID_STATUS: u32 = 0x07b0;
    pub const CP_STAT: u32 = 0x07c0;
    pub const CP_ME_RAM_ADDR: u32 = 0x07d4;
    pub const CP_ME_RAM_RADDR: u32 = 0x07d8;
    pub const CP_ME_RAM_DATAH: u32 = 0x07dc;
    pub const CP_ME_RAM_DATAL: u32 = 0x07e0;
    pub const CP_CSQ_STAT: u32 = 0x07f8;
    pub const CP_CSQ2_STAT: u32 = 0x07fc;
    pub const SURFACE_CNTL: u32 = 0x0b00;
    pub const SURFACE0_LOWER: u32 = 0x0b04;
    pub const SURFACE_END: u32 = 0x0b84;
    pub const RBBM_STATUS: u32 = 0x0e40;
    pub const CP_CSQ_APER_PRIMARY: u32 = 0x1000;
    pub const CP_CSQ_APER_INDIRECT: u32 = 0x1300;
    pub const CP_CSQ_APER_END: u32 = 0x1400;
    pub const SRC_PITCH_OFFSET: u32 = 0x1428;
    pub const DST_PITCH_OFFSET: u32 = 0x142c;
    pub const SRC_Y_X: u32 = 0x1434;
    pub const DST_Y_X: u32 = 0x1438;
    pub const DST_HEIGHT_WIDTH: u32 = 0x143c;
    pub const DP_GUI_MASTER_CNTL: u32 = 0x146c;
    pub const BRUSH_Y_X: u32 = 0x1474;
    pub const DP_BRUSH_BKGD_CLR: u32 = 0x1478;
    pub const DP_BRUSH_FRGD_CLR: u32 = 0x147c;
    pub const BRUSH_DATA0: u32 = 0x1480;
    pub const DST_WIDTH_HEIGHT: u32 = 0x1598;
    pub const CLR_CMP_CNTL: u32 = 0x15c0;
    pub const CLR_CMP_CLR_SRC: u32 = 0x15c4;
    pub const CLR_CMP_CLR_DST: u32 = 0x15c8;
    pub const CLR_CMP_MSK: u32 = 0x15cc;
    pub const DP_SRC_FRGD_CLR: u32 = 0x15d8;
    pub const DP_SRC_BKGD_CLR: u32 = 0x15dc;
    pub const SCRATCH_REG0: u32 = 0x15e0;
    pub const DST_LINE_START: u32 = 0x1600;
    pub const DST_LINE_END: u32 = 0x1604;
    pub const DST_LINE_PATCOUNT: u32 = 0x1608;
    pub const DP_CNTL: u32 = 0x16c0;
    pub const DP_WRITE_MSK: u32 = 0x16cc;
    pub const DP_CNTL_XDIR_YDIR_YMAJOR: u32 = 0x16d0;
    pub const DEFAULT_OFFSET: u32 = 0x16e0;
    pub const DEFAULT_PITCH: u32 = 0x16e4;
    pub const DEFAULT_SC_BOTTOM_RIGHT: u32 = 0x16e8;
    pub const SC_TOP_LEFT: u32 = 0x16ec;
    pub const SC_BOTTOM_RIGHT: u32 = 0x16f0;
    pub const SRC_SC_BOTTOM_RIGHT: u32 = 0x16f4;
    pub const DST_PIPE_CONFIG: u32 = 0x170c;
    pub const DSTCACHE_CTLSTAT: u32 = 0x1714;
    pub const WAIT_UNTIL: u32 = 0x1720;
    pub const ISYNC_CNTL: u32 = 0x1724;
    pub const HOST_DATA0: u32 = 0x17c0;
    pub const HOST_DATA_LAST: u32 = 0x17e0;
    pub const VAP_VPORT_XSCALE: u32 = 0x1d98;
    pub const VAP_PORT_DATA0: u32 = 0x2000;
    pub const VAP_PORT_IDX0: u32 = 0x2040;
    pub const VAP_PORT_END: u32 = 0x2080;
    pub const VAP_CNTL: u32 = 0x2080;
    pub const VAP_VF_CNTL: u32 = 0x2084;
    pub const VAP_ALT_NUM_VERTICES: u32 = 0x2088;
    pub const VAP_INDEX_OFFSET: u32 = 0x208c;
    pub const VAP_OUT_VTX_FMT_0: u32 = 0x2090;
    pub const VAP_OUT_VTX_FMT_1: u32 = 0x2094;
    pub const VAP_VTE_CNTL: u32 = 0x20b0;
    pub const VAP_VTX_SIZE: u32 = 0x20b4;
    pub const VAP_PORT_DATA_IDX_128: u32 = 0x20b8;
    pub const VAP_VTX_NUM_ARRAYS: u32 = 0x20c0;
    pub const VAP_VTX_AOS_ATTR01: u32 = 0x20c4;
    pub const VAP_VF_MAX_VTX_INDX: u32 = 0x2134;
    pub const VAP_VF_MIN_VTX_INDX: u32 = 0x2138;
    pub const VAP_CNTL_STATUS: u32 = 0x2140;
    pub const VAP_PROG_STREAM_CNTL_0: u32 = 0x2150;
    pub const VAP_PSC_SGN_NORM_CNTL: u32 = 0x21dc;
    pub const VAP_PROG_STREAM_CNTL_EXT_0: u32 = 0x21e0;
    pub const VAP_PVS_VECTOR_INDX: u32 = 0x2200;
    pub const VAP_PVS_VECTOR_DATA: u32 = 0x2204;
    pub const VAP_PVS_VECTOR_DATA_128: u32 = 0x2208;
    pub const VAP_CLIP_CNTL: u32 = 0x221c;
    pub const VAP_GB_VERT_CLIP_ADJ: u32 = 0x2220;
    pub const VAP_GB_HORZ_CLIP_ADJ: u32 = 0x2228;
    pub const VAP_PVS_STATE_FLUSH: u32 = 0x2284;
    pub const VAP_PVS_FLOW_CNTL_LOOP_INDEX_0: u32 = 0x2290;
    pub const VAP_PVS_CODE_CNTL_0: u32 = 0x22d0;
    pub const VAP_PVS_CONST_CNTL: u32 = 0x22d4;
    pub const VAP_PVS_FLOW_CNTL_OPC: u32 = 0x22dc;
    pub const VAP_PVS_FLOW_CNTL_ADDRS_LW_0: u32 = 0x2500;
    pub const RB2D_DSTCACHE_MODE: u32 = 0x3428;
    pub const RB2D_DSTCACHE_CTLSTAT: u32 = 0x342c;
    pub const GB_ENABLE: u32 = 0x4008;
    pub const GB_MSPOS0: u32 = 0x4010;
    pub const GB_TILE_CONFIG: u32 = 0x4018;
    pub const GB_SELECT: u32 = 0x401c;
    pub const GB_PIPE_SELECT: u32 = 0x402c;
    pub const RS_IP_0: u32 = 0x4074;
    pub const TX_INVALTAGS: u32 = 0x4100;
    pub const TX_ENABLE: u32 = 0x4104;
    pub const GB_PIPE_SELECT2: u32 = 0x4124;
    pub const GA_POINT_S0: u32 = 0x4200;
    pub const GA_POINT_SIZE: u32 = 0x421c;
    pub const GA_POINT_MINMAX: u32 = 0x4230;
    pub const GA_LINE_CNTL: u32 = 0x4234;
    pub const GA_LINE_STIPPLE_CONFIG: u32 = 0x4238;
    pub const GA_US_VECTOR_INDEX: u32 = 0x4250;
    pub const GA_US_VECTOR_DATA: u32 = 0x4254;
    pub const GA_ENHANCE: u32 = 0x4274;
    pub const GA_COLOR_CONTROL: u32 = 0x4278;
    pub const GA_POLY_MODE: u32 = 0x4288;
    pub const GA_ROUND_MODE: u32 = 0x428c;
    pub const GA_OFFSET: u32 = 0x4290;
    pub const GA_FOG_SCALE: u32 = 0x4294;
    pub const SU_POLY_OFFSET_FRONT_SCALE: u32 = 0x42a4;
    pub const SU_POLY_OFFSET_ENABLE: u32 = 0x42b4;
    pub const SU_CULL_MODE: u32 = 0x42b8;
    pub const SU_DEPTH_SCALE: u32 = 0x42c0;
    pub const SU_DEPTH_OFFSET: u32 = 0x42c4;
    pub const SU_REG_DEST: u32 = 0x42c8;
    pub const GB_AA_CONFIG: u32 = 0x4020;
    pub const RS_INST_COUNT: u32 = 0x4304;
    pub const RS_INST_0: u32 = 0x4320;
    pub const SC_EDGERULE: u32 = 0x43a8;
    pub const SC_CLIP_0_A: u32 = 0x43b0;
    pub const SC_CLIP_RULE: u32 = 0x43d0;
    pub const SC_SCISSOR0: u32 = 0x43e0;
    pub const SC_SCISSOR1: u32 = 0x43e4;
    pub const SC_SCREENDOOR: u32 = 0x43e8;
    pub const TX_FILTER0: u32 = 0x4400;
    pub const TX_FILTER1: u32 = 0x4440;
    pub const TX_FORMAT0: u32 = 0x4480;
    pub const TX_FORMAT1: u32 = 0x44c0;
    pub const TX_FORMAT2: u32 = 0x4500;
    pub const TX_OFFSET: u32 = 0x4540;
    pub const TX_BORDER_COLOR_0: u32 = 0x45c0;
    pub const US_CONFIG: u32 = 0x4600;
    pub const US_FC_BOOL_CONST: u32 = 0x4620;
    pub const US_CODE_ADDR: u32 = 0x4630;
    pub const US_CODE_RANGE: u32 = 0x4634;
    pub const US_CODE_OFFSET: u32 = 0x4638;
    pub const US_OUT_FMT0: u32 = 0x46a4;
    pub const FG_FOG_BLEND: u32 = 0x4bc0;
    pub const FG_ALPHA_FUNC: u32 = 0x4bd4;
    pub const FG_DEPTH_SRC: u32 = 0x4bd8;
    pub const FG_ALPHA_VALUE: u32 = 0x4be0;
    pub const FG_ZBREG_DEST: u32 = 0x4be8;
    pub const US_FC_INT_CONST_0: u32 = 0x4c00;
    pub const RB3D_CCTL: u32 = 0x4e00;
    pub const RB3D_BLENDCNTL: u32 = 0x4e04;
    pub const RB3D_COLOR_CHANNEL_MASK: u32 = 0x4e0c;
    pub const RB3D_ROPCNTL: u32 = 0x4e18;
    pub const RB3D_COLOROFFSET0: u32 = 0x4e28;
    pub const RB3D_COLORPITCH0: u32 = 0x4e38;
    pub const RB3D_COLORPITCH_END: u32 = 0x4e48;
    pub const RB3D_DSTCACHE_CTLSTAT: u32 = 0x4e4c;
    pub const RB3D_AARESOLVE_OFFSET: u32 = 0x4e80;
    pub const RB3D_AARESOLVE_PITCH: u32 = 0x4e84;
    pub const RB3D_AARESOLVE_CTL: u32 = 0x4e88;
    pub const RB3D_DISCARD_SRC_PIXEL_LTE: u32 = 0x4ea0;
    pub const RB3D_CONSTANT_COLOR_AR: u32 = 0x4ef8;
    pub const ZB_CNTL: u32 = 0x4f00;
    pub const ZB_ZSTENCILCNTL: u32 = 0x4f04;
    pub const ZB_STENCILREFMASK: u32 = 0x4f08;
    pub const ZB_FORMAT: u32 = 0x4f10;
    pub const ZB_ZTOP: u32 = 0x4f14;
    pub const ZB_ZCACHE_CTLSTAT: u32 = 0x4f18;
    pub const ZB_BW_CNTL: u32 = 0x4f1c;
    pub const ZB_DEPTHOFFSET: u32 = 0x4f20;
    pub const ZB_DEPTHPITCH: u32 = 0x4f24;
    pub const ZB_DEPTHCLEARVALUE: u32 = 0x4f28;
    pub const ZB_ZPASS_DATA: u32 = 0x4f58;
    pub const ZB_ZPASS_ADDR: u32 = 0x4f5c;
    pub const ZB_STENCILREFMASK_BF: u32 = 0x4fd4;
}

/// Whose a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The host's: bus, interrupts, memory controller, command processor. No program has a business
    /// there.
    Host,
    /// Drawing state.
    Draw,
    /// The 2D engine's default place and clip, and the set-up of pipes: drawing state that the driver
    /// alone sets.
    Setup,
    /// A display register: storage, with nothing behind it.
    Display,
}

/// A range of registers with one definition.
struct Range {
    first: u32,
    last: u32,
    name: &'static str,
    reset: u32,
    mask: u32,
    class: Class,
}

const fn host(first: u32, last: u32, name: &'static str) -> Range {
    Range {
        first,
        last,
        name,
        reset: 0,
        mask: !0,
        class: Class::Host,
    }
}

const fn draw(first: u32, last: u32, name: &'static str) -> Range {
    Range {
        first,
        last,
        name,
        reset: 0,
        mask: !0,
        class: Class::Draw,
    }
}

const fn setup(offset: u32, name: &'static str) -> Range {
    Range {
        first: offset,
        last: offset,
        name,
        reset: 0,
        mask: !0,
        class: Class::Setup,
    }
}

const fn display(first: u32, last: u32, name: &'static str) -> Range {
    Range {
        first,
        last,
        name,
        reset: 0,
        mask: !0,
        class: Class::Display,
    }
}

impl Range {
    /// Bits that can be written; the others read as the reset value has them.
    const fn bits(self, mask: u32) -> Self {
        Range { mask, ..self }
    }

    /// Value after reset.
    const fn value(self, reset: u32) -> Self {
        Range { reset, ..self }
    }
}

/// Later entries replace earlier ones.
const TABLE: &[Range] = &[
    host(0x0000, 0x0004, "MM_INDEX, MM_DATA"),
    host(0x0008, 0x0008, "CLOCK_CNTL_INDEX").bits(0xbf),
    host(0x000c, 0x000c, "CLOCK_CNTL_DATA"),
    host(0x0010, 0x002c, "BIOS_0_SCRATCH to BIOS_7_SCRATCH"),
    host(0x0030, 0x0030, "PCIE_INDEX").bits(0x7ff),
    host(0x0034, 0x0034, "PCIE_DATA"),
    host(0x0040, 0x0044, "GEN_INT_CNTL, GEN_INT_STATUS"),
    host(0x004c, 0x004c, "BUS_CNTL"),
    host(0x0070, 0x0074, "MC_IND_INDEX, MC_IND_DATA"),
    host(0x00f0, 0x00f0, "RBBM_SOFT_RESET").bits(0x7fff),
    host(0x00f8, 0x00f8, "CONFIG_MEMSIZE"),
    host(0x0108, 0x0108, "CONFIG_APER_SIZE").bits(0),
    host(0x0130, 0x0130, "HOST_PATH_CNTL"),
    host(0x0134, 0x0134, "HDP_FB_LOCATION").bits(0xffff),
    host(0x0160, 0x0160, "MSI_REARM_EN").bits(0),
    display(0x0218, 0x0218, "CRTC_GUI_TRIG_VLINE"),
    display(0x0300, 0x0338, "VGA"),
    host(0x0700, 0x0700, "CP_RB_BASE").bits(!3),
    host(0x0704, 0x0704, "CP_RB_CNTL").bits(0x880f_3f3f),
    host(0x070c, 0x070c, "CP_RB_RPTR_ADDR"),
    host(0x0710, 0x0710, "CP_RB_RPTR").bits(0),
    host(
        0x0714,
        0x071c,
        "CP_RB_WPTR, CP_RB_WPTR_DELAY, CP_RB_RPTR_WR",
    ),
    host(
        0x0720,
        0x0728,
        "CP_GUI_SRC_ADDR, CP_GUI_DST_ADDR, CP_GUI_COMMAND",
    ),
    host(0x0730, 0x0730, "CP_IB2_BASE").bits(!3),
    host(0x0734, 0x0734, "CP_IB2_BUFSZ").bits(0x7f_ffff),
    host(0x0738, 0x0738, "CP_IB_BASE").bits(!3),
    host(0x073c, 0x073c, "CP_IB_BUFSZ").bits(0x7f_ffff),
    host(0x0740, 0x0744, "CP_CSQ_CNTL, CP_CSQ_MODE"),
    host(0x0770, 0x0770, "SCRATCH_UMSK").bits(0x3_00ff),
    host(0x0774, 0x0774, "SCRATCH_ADDR").bits(!31),
    host(0x0778, 0x0778, "CP_RESYNC_ADDR").bits(7),
    host(0x077c, 0x077c, "CP_RESYNC_DATA"),
    host(0x0780, 0x0790, "DMA_GUI"),
    host(0x0794, 0x0794, "DMA_GUI_ACT_DSCRPTR").bits(0),
    host(0x07a0, 0x07b0, "DMA_VID"),
    host(0x07b4, 0x07b4, "DMA_VID_ACT_DSCRPTR").bits(0),
    host(0x07c0, 0x07c0, "CP_STAT").bits(0),
    host(0x07d4, 0x07e0, "CP_ME_RAM"),
    host(0x07f0, 0x07f4, "CP_CSQ_ADDR, CP_CSQ_DATA"),
    host(0x07f8, 0x07fc, "CP_CSQ_STAT, CP_CSQ2_STAT").bits(0),
    host(0x0b00, 0x0b80, "SURFACE"),
    host(0x0e40, 0x0e40, "RBBM_STATUS").bits(0),
    host(0x1000, 0x13fc, "CP_CSQ_APER"),
    draw(0x1428, 0x142c, "SRC_PITCH_OFFSET, DST_PITCH_OFFSET"),
    draw(0x1434, 0x143c, "SRC_Y_X, DST_Y_X, DST_HEIGHT_WIDTH"),
    draw(0x146c, 0x146c, "DP_GUI_MASTER_CNTL"),
    draw(0x1474, 0x157c, "BRUSH"),
    draw(0x1598, 0x1598, "DST_WIDTH_HEIGHT"),
    draw(0x15c0, 0x15cc, "CLR_CMP"),
    draw(0x15d8, 0x15dc, "DP_SRC_FRGD_CLR, DP_SRC_BKGD_CLR"),
    host(0x15e0, 0x15fc, "SCRATCH_REG0 to SCRATCH_REG7"),
    draw(0x1600, 0x1608, "DST_LINE"),
    draw(0x16c0, 0x16c0, "DP_CNTL").value(3),
    draw(0x16cc, 0x16cc, "DP_WRITE_MSK").value(!0),
    draw(0x16d0, 0x16d0, "DP_CNTL_XDIR_YDIR_YMAJOR"),
    setup(0x16e0, "DEFAULT_OFFSET"),
    setup(0x16e4, "DEFAULT_PITCH"),
    draw(0x16e8, 0x16e8, "DEFAULT_SC_BOTTOM_RIGHT").value(0x1fff_1fff),
    draw(
        0x16ec,
        0x16f4,
        "SC_TOP_LEFT, SC_BOTTOM_RIGHT, SRC_SC_BOTTOM_RIGHT",
    ),
    setup(0x170c, "DST_PIPE_CONFIG"),
    draw(0x1714, 0x1714, "DSTCACHE_CTLSTAT").bits(0xf),
    draw(0x1720, 0x1720, "WAIT_UNTIL"),
    setup(0x1724, "ISYNC_CNTL"),
    draw(0x172c, 0x172c, "RBBM_GUICNTL"),
    draw(0x17c0, 0x17e0, "HOST_DATA"),
    draw(0x1d98, 0x1dac, "VAP_VPORT"),
    draw(0x2000, 0x2080, "VAP_PORT, VAP_CNTL"),
    draw(0x2084, 0x2094, "VAP_VF_CNTL to VAP_OUT_VTX_FMT_1"),
    draw(0x2098, 0x20b0, "VAP_VPORT, VAP_VTE_CNTL"),
    draw(0x20b4, 0x20b8, "VAP_VTX_SIZE, VAP_PORT_DATA_IDX_128"),
    draw(0x20c0, 0x2120, "VAP_VTX_AOS"),
    draw(0x2134, 0x2134, "VAP_VF_MAX_VTX_INDX")
        .bits(0xff_ffff)
        .value(0xff_ffff),
    draw(0x2138, 0x2138, "VAP_VF_MIN_VTX_INDX").bits(0xff_ffff),
    draw(0x2140, 0x2140, "VAP_CNTL_STATUS").bits(0x103),
    draw(0x2150, 0x216c, "VAP_PROG_STREAM_CNTL"),
    draw(0x2180, 0x21c4, "VAP_VTX_STATE"),
    draw(
        0x21dc,
        0x21fc,
        "VAP_PSC_SGN_NORM_CNTL, VAP_PROG_STREAM_CNTL_EXT",
    ),
    draw(0x2200, 0x2208, "VAP_PVS_VECTOR"),
    draw(
        0x2218,
        0x222c,
        "VAP_TEX_TO_COLOR_CNTL, VAP_CLIP_CNTL, VAP_GB",
    ),
    draw(0x2230, 0x226c, "VAP_PVS_FLOW_CNTL_ADDRS"),
    draw(0x2284, 0x2284, "VAP_PVS_STATE_FLUSH_REG"),
    draw(0x2288, 0x2288, "VAP_PVS_VTX_TIMEOUT_REG").value(!0),
    draw(0x2290, 0x22dc, "VAP_PVS_FLOW_CNTL, VAP_PVS_CODE_CNTL"),
    draw(0x2500, 0x257c, "VAP_PVS_FLOW_CNTL_ADDRS_LW, _UW"),
    setup(0x3428, "RB2D_DSTCACHE_MODE"),
    draw(0x342c, 0x342c, "RB2D_DSTCACHE_CTLSTAT").bits(0xf),
    draw(0x4000, 0x4014, "GB_VAP_RASTER_VTX_FMT, GB_ENABLE, GB_MSPOS"),
    setup(0x4018, "GB_TILE_CONFIG"),
    draw(0x401c, 0x4024, "GB_SELECT, GB_AA_CONFIG, GB_FIFO_SIZE"),
    draw(0x4028, 0x4028, "GB_Z_PEQ_CONFIG"),
    host(0x402c, 0x402c, "GB_PIPE_SELECT").bits(0),
    draw(0x4074, 0x40b0, "RS_IP"),
    draw(0x4100, 0x4120, "TX_INVALTAGS, TX_ENABLE"),
    host(0x4124, 0x4128, "GB_PIPE_SELECT2, GB_FIFO_SIZE2"),
    draw(0x4200, 0x420c, "GA_POINT"),
    draw(0x4214, 0x4214, "GA_TRIANGLE_STIPPLE"),
    draw(0x421c, 0x421c, "GA_POINT_SIZE"),
    draw(0x4230, 0x4238, "GA_POINT_MINMAX, GA_LINE"),
    draw(0x4250, 0x4258, "GA_US_VECTOR"),
    draw(0x425c, 0x425c, "GA_IDLE").bits(0),
    draw(0x4260, 0x4268, "GA_LINE"),
    setup(0x4274, "GA_ENHANCE"),
    draw(0x4278, 0x4298, "GA_COLOR_CONTROL to GA_FOG_OFFSET"),
    draw(0x42a0, 0x42c4, "SU"),
    draw(0x42c8, 0x42c8, "SU_REG_DEST").bits(15).value(15),
    draw(0x4300, 0x4304, "RS_COUNT, RS_INST_COUNT"),
    draw(0x4320, 0x435c, "RS_INST"),
    draw(0x43a4, 0x43e8, "SC"),
    draw(0x4400, 0x447c, "TX_FILTER"),
    draw(0x4480, 0x44fc, "TX_FORMAT0, TX_FORMAT1"),
    draw(0x4500, 0x457c, "TX_FORMAT2, TX_OFFSET"),
    draw(0x4580, 0x4604, "TX_CHROMA_KEY, TX_BORDER_COLOR, US_CONFIG"),
    draw(0x4610, 0x467c, "US"),
    draw(0x46a4, 0x46b4, "US_OUT_FMT"),
    draw(0x46c0, 0x46c4, "US_W_FMT"),
    draw(0x4bc0, 0x4bd8, "FG"),
    draw(0x4be0, 0x4be4, "FG_ALPHA"),
    draw(0x4be8, 0x4be8, "FG_ZBREG_DEST").bits(3).value(3),
    draw(0x4c00, 0x4dfc, "US_ALU_CONST"),
    draw(0x4e00, 0x4e24, "RB3D"),
    draw(0x4e28, 0x4e48, "RB3D_COLOROFFSET, RB3D_COLORPITCH"),
    draw(0x4e4c, 0x4e4c, "RB3D_DSTCACHE_CTLSTAT").bits(0x1f),
    draw(0x4e50, 0x4e7c, "RB3D"),
    draw(0x4e80, 0x4e88, "RB3D_AARESOLVE"),
    draw(0x4ea0, 0x4ea4, "RB3D_DISCARD_SRC_PIXEL"),
    draw(0x4ef8, 0x4efc, "RB3D_CONSTANT_COLOR"),
    draw(0x4f00, 0x4f14, "ZB"),
    draw(0x4f18, 0x4f18, "ZB_ZCACHE_CTLSTAT").bits(3),
    draw(0x4f1c, 0x4f28, "ZB"),
    draw(0x4f30, 0x4f34, "ZB_ZMASK"),
    draw(0x4f44, 0x4f5c, "ZB_HIZ, ZB_ZPASS"),
    draw(0x4fd4, 0x4fd4, "ZB_STENCILREFMASK_BF"),
    display(0x6000, 0x7ffc, "display"),
];

/// Definitions by offset.
pub(super) struct RegMap {
    index: Vec<u8>,
}

impl RegMap {
    fn get(&self, offset: u32) -> Option<&'static Range> {
        let n = *self.index.get((offset / 4) as usize)?;
        TABLE.get(usize::from(n).checked_sub(1)?)
    }
}

fn map() -> &'static RegMap {
    static MAP: OnceLock<RegMap> = OnceLock::new();
    MAP.get_or_init(|| {
        let mut index = vec![0; (MMIO_SIZE / 4) as usize];
        for (n, range) in TABLE.iter().enumerate() {
            for slot in index
                .iter_mut()
                .take((range.last / 4 + 1) as usize)
                .skip((range.first / 4) as usize)
            {
                *slot = n as u8 + 1;
            }
        }
        RegMap { index }
    })
}

/// Whose the register at an offset is; `None` if no document knows it.
pub fn class(offset: u32) -> Option<Class> {
    map().get(offset).map(|r| r.class)
}

/// Name of the register, or of its group.
pub fn name(offset: u32) -> Option<&'static str> {
    map().get(offset).map(|r| r.name)
}

/// Returns the value of a register after a write of `data` to `old`.
pub fn merge(offset: u32, old: u32, data: u32) -> u32 {
    match map().get(offset) {
        Some(r) => (old & !r.mask) | (data & r.mask),
        None => old,
    }
}

/// Returns a register's value after a reset.
pub fn reset_value(offset: u32) -> u32 {
    map().get(offset).map_or(0, |r| r.reset)
}

/// All registers at their reset values.
pub fn power_on() -> Vec<u32> {
    let mut values = vec![0; (MMIO_SIZE / 4) as usize];
    for (n, v) in values.iter_mut().enumerate() {
        *v = reset_value(4 * n as u32);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_a_byte_is_enough() {
        assert!(TABLE.len() < 255);
        assert!(TABLE.iter().all(|r| r.first % 4 == 0 && r.last >= r.first));
    }

    /// The upstream driver lets programs write these without a look (digest §5.7): some ends.
    #[test]
    fn programs_may_draw() {
        for offset in [0x1434, 0x146c, 0x1720, 0x2080, 0x2257, 0x4e7c, 0x4fd4] {
            assert_eq!(class(offset), Some(Class::Draw), "{offset:#x}");
        }
        for offset in [0x0704, 0x073c, 0x0780, 0x0044, 0x15e0, 0x00f0] {
            assert_eq!(class(offset), Some(Class::Host), "{offset:#x}");
        }
        assert_eq!(class(0x0038), None);
    }
}
