// SPDX-License-Identifier: GPL-2.0
//! Registers. The document has no offsets: they are from its digest, §3 and §5.2 (of textures §5.7).

use super::packets::VF_CNTL;
use super::two_d;
use crate::command::{bits, choice, flag, number, Field, Show};
use std::borrow::Cow;

/// Registers of one name, a number behind it if there are several.
struct Row {
    first: u32,
    count: u32,
    step: u32,
    name: &'static str,
}

const fn row(first: u32, count: u32, step: u32, name: &'static str) -> Row {
    Row {
        first,
        count,
        step,
        name,
    }
}

const fn one(offset: u32, name: &'static str) -> Row {
    row(offset, 1, 4, name)
}

const ROWS: &[Row] = &[
    one(0x0000, "MM_INDEX"),
    one(0x0004, "MM_DATA"),
    one(0x0008, "CLOCK_CNTL_INDEX"),
    one(0x000c, "CLOCK_CNTL_DATA"),
    one(0x0030, "PCIE_INDEX"),
    one(0x0034, "PCIE_DATA"),
    one(0x0040, "GEN_INT_CNTL"),
    one(0x0044, "GEN_INT_STATUS"),
    one(0x0070, "MC_IND_INDEX"),
    one(0x0074, "MC_IND_DATA"),
    one(0x00f0, "RBBM_SOFT_RESET"),
    one(0x00f8, "CONFIG_MEMSIZE"),
    one(0x0108, "CONFIG_APER_SIZE"),
    one(0x0130, "HOST_PATH_CNTL"),
    one(0x0134, "HDP_FB_LOCATION"),
    one(0x0160, "MSI_REARM_EN"),
    one(0x0700, "CP_RB_BASE"),
    one(0x0704, "CP_RB_CNTL"),
    one(0x070c, "CP_RB_RPTR_ADDR"),
    one(0x0710, "CP_RB_RPTR"),
    one(0x0714, "CP_RB_WPTR"),
    one(0x0718, "CP_RB_WPTR_DELAY"),
    one(0x071c, "CP_RB_RPTR_WR"),
    one(0x0720, "CP_GUI_SRC_ADDR"),
    one(0x0724, "CP_GUI_DST_ADDR"),
    one(0x0728, "CP_GUI_COMMAND"),
    one(0x0730, "CP_IB2_BASE"),
    one(0x0734, "CP_IB2_BUFSZ"),
    one(0x0738, "CP_IB_BASE"),
    one(0x073c, "CP_IB_BUFSZ"),
    one(0x0740, "CP_CSQ_CNTL"),
    one(0x0744, "CP_CSQ_MODE"),
    one(0x0770, "SCRATCH_UMSK"),
    one(0x0774, "SCRATCH_ADDR"),
    one(0x0778, "CP_RESYNC_ADDR"),
    one(0x077c, "CP_RESYNC_DATA"),
    one(0x0780, "DMA_GUI_TABLE_ADDR"),
    one(0x0790, "DMA_GUI_STATUS"),
    one(0x07a0, "DMA_VID_TABLE_ADDR"),
    one(0x07b0, "DMA_VID_STATUS"),
    one(0x07c0, "CP_STAT"),
    one(0x07d4, "CP_ME_RAM_ADDR"),
    one(0x07d8, "CP_ME_RAM_RADDR"),
    one(0x07dc, "CP_ME_RAM_DATAH"),
    one(0x07e0, "CP_ME_RAM_DATAL"),
    one(0x0b00, "SURFACE_CNTL"),
    row(0x0b04, 8, 16, "SURFACE_LOWER"),
    row(0x0b08, 8, 16, "SURFACE_UPPER"),
    row(0x0b0c, 8, 16, "SURFACE_INFO"),
    one(0x0e40, "RBBM_STATUS"),
    one(0x1428, "SRC_PITCH_OFFSET"),
    one(0x142c, "DST_PITCH_OFFSET"),
    one(0x1434, "SRC_Y_X"),
    one(0x1438, "DST_Y_X"),
    one(0x143c, "DST_HEIGHT_WIDTH"),
    one(0x146c, "DP_GUI_MASTER_CNTL"),
    one(0x1474, "BRUSH_Y_X"),
    one(0x1478, "DP_BRUSH_BKGD_CLR"),
    one(0x147c, "DP_BRUSH_FRGD_CLR"),
    row(0x1480, 64, 4, "BRUSH_DATA"),
    one(0x1598, "DST_WIDTH_HEIGHT"),
    one(0x15c0, "CLR_CMP_CNTL"),
    one(0x15c4, "CLR_CMP_CLR_SRC"),
    one(0x15c8, "CLR_CMP_CLR_DST"),
    one(0x15cc, "CLR_CMP_MSK"),
    one(0x15d8, "DP_SRC_FRGD_CLR"),
    one(0x15dc, "DP_SRC_BKGD_CLR"),
    row(0x15e0, 8, 4, "SCRATCH_REG"),
    one(0x1600, "DST_LINE_START"),
    one(0x1604, "DST_LINE_END"),
    one(0x1608, "DST_LINE_PATCOUNT"),
    one(0x16c0, "DP_CNTL"),
    one(0x16cc, "DP_WRITE_MSK"),
    one(0x16d0, "DP_CNTL_XDIR_YDIR_YMAJOR"),
    one(0x16e0, "DEFAULT_OFFSET"),
    one(0x16e4, "DEFAULT_PITCH"),
    one(0x16e8, "DEFAULT_SC_BOTTOM_RIGHT"),
    one(0x16ec, "SC_TOP_LEFT"),
    one(0x16f0, "SC_BOTTOM_RIGHT"),
    one(0x16f4, "SRC_SC_BOTTOM_RIGHT"),
    one(0x170c, "DST_PIPE_CONFIG"),
    one(0x1714, "DSTCACHE_CTLSTAT"),
    one(0x1720, "WAIT_UNTIL"),
    one(0x1724, "ISYNC_CNTL"),
    one(0x172c, "RBBM_GUICNTL"),
    row(0x17c0, 8, 4, "HOST_DATA"),
    one(0x17e0, "HOST_DATA_LAST"),
    one(0x1d98, "VAP_VPORT_XSCALE"),
    one(0x1d9c, "VAP_VPORT_XOFFSET"),
    one(0x1da0, "VAP_VPORT_YSCALE"),
    one(0x1da4, "VAP_VPORT_YOFFSET"),
    one(0x1da8, "VAP_VPORT_ZSCALE"),
    one(0x1dac, "VAP_VPORT_ZOFFSET"),
    row(0x2000, 16, 4, "VAP_PORT_DATA"),
    row(0x2040, 16, 4, "VAP_PORT_IDX"),
    one(0x2080, "VAP_CNTL"),
    one(0x2084, "VAP_VF_CNTL"),
    one(0x2088, "VAP_ALT_NUM_VERTICES"),
    one(0x208c, "VAP_INDEX_OFFSET"),
    row(0x2090, 2, 4, "VAP_OUT_VTX_FMT"),
    one(0x20b0, "VAP_VTE_CNTL"),
    one(0x20b4, "VAP_VTX_SIZE"),
    one(0x20b8, "VAP_PORT_DATA_IDX_128"),
    one(0x20c0, "VAP_VTX_NUM_ARRAYS"),
    one(0x2134, "VAP_VF_MAX_VTX_INDX"),
    one(0x2138, "VAP_VF_MIN_VTX_INDX"),
    one(0x2140, "VAP_CNTL_STATUS"),
    row(0x2150, 8, 4, "VAP_PROG_STREAM_CNTL"),
    one(0x2180, "VAP_VTX_STATE_CNTL"),
    one(0x2184, "VAP_VSM_VTX_ASSM"),
    row(0x2188, 16, 4, "VTX_STATE_IND_REG"),
    one(0x21dc, "VAP_PSC_SGN_NORM_CNTL"),
    row(0x21e0, 8, 4, "VAP_PROG_STREAM_CNTL_EXT"),
    one(0x2200, "VAP_PVS_VECTOR_INDX_REG"),
    one(0x2204, "VAP_PVS_VECTOR_DATA_REG"),
    one(0x2208, "VAP_PVS_VECTOR_DATA_REG_128"),
    one(0x2218, "VAP_TEX_TO_COLOR_CNTL"),
    one(0x221c, "VAP_CLIP_CNTL"),
    one(0x2220, "VAP_GB_VERT_CLIP_ADJ"),
    one(0x2224, "VAP_GB_VERT_DISC_ADJ"),
    one(0x2228, "VAP_GB_HORZ_CLIP_ADJ"),
    one(0x222c, "VAP_GB_HORZ_DISC_ADJ"),
    row(0x2230, 16, 4, "VAP_PVS_FLOW_CNTL_ADDRS"),
    one(0x2284, "VAP_PVS_STATE_FLUSH_REG"),
    one(0x2288, "VAP_PVS_VTX_TIMEOUT_REG"),
    row(0x2290, 16, 4, "VAP_PVS_FLOW_CNTL_LOOP_INDEX"),
    one(0x22d0, "VAP_PVS_CODE_CNTL_0"),
    one(0x22d4, "VAP_PVS_CONST_CNTL"),
    one(0x22d8, "VAP_PVS_CODE_CNTL_1"),
    one(0x22dc, "VAP_PVS_FLOW_CNTL_OPC"),
    row(0x2500, 16, 8, "VAP_PVS_FLOW_CNTL_ADDRS_LW"),
    row(0x2504, 16, 8, "VAP_PVS_FLOW_CNTL_ADDRS_UW"),
    one(0x3428, "RB2D_DSTCACHE_MODE"),
    one(0x342c, "RB2D_DSTCACHE_CTLSTAT"),
    row(0x4000, 2, 4, "GB_VAP_RASTER_VTX_FMT"),
    one(0x4008, "GB_ENABLE"),
    row(0x4010, 2, 4, "GB_MSPOS"),
    one(0x4018, "GB_TILE_CONFIG"),
    one(0x401c, "GB_SELECT"),
    one(0x4020, "GB_AA_CONFIG"),
    one(0x4024, "GB_FIFO_SIZE"),
    one(0x4028, "GB_Z_PEQ_CONFIG"),
    one(0x402c, "GB_PIPE_SELECT"),
    row(0x4074, 16, 4, "RS_IP"),
    one(0x4100, "TX_INVALTAGS"),
    one(0x4104, "TX_ENABLE"),
    one(0x4124, "GB_PIPE_SELECT2"),
    one(0x4128, "GB_FIFO_SIZE2"),
    one(0x4200, "GA_POINT_S0"),
    one(0x4204, "GA_POINT_T0"),
    one(0x4208, "GA_POINT_S1"),
    one(0x420c, "GA_POINT_T1"),
    one(0x4250, "GA_US_VECTOR_INDEX"),
    one(0x4254, "GA_US_VECTOR_DATA"),
    one(0x425c, "GA_IDLE"),
    one(0x4274, "GA_ENHANCE"),
    one(0x4278, "GA_COLOR_CONTROL"),
    one(0x4288, "GA_POLY_MODE"),
    one(0x428c, "GA_ROUND_MODE"),
    one(0x42a0, "SU_TEX_WRAP"),
    one(0x42c8, "SU_REG_DEST"),
    one(0x4300, "RS_COUNT"),
    one(0x4304, "RS_INST_COUNT"),
    row(0x4320, 16, 4, "RS_INST"),
    one(0x43a4, "SC_HYPERZ_EN"),
    row(0x43e0, 2, 4, "SC_SCISSOR"),
    row(0x4400, 16, 4, "TX_FILTER0"),
    row(0x4440, 16, 4, "TX_FILTER1"),
    row(0x4480, 16, 4, "TX_FORMAT0"),
    row(0x44c0, 16, 4, "TX_FORMAT1"),
    row(0x4500, 16, 4, "TX_FORMAT2"),
    row(0x4540, 16, 4, "TX_OFFSET"),
    one(0x4600, "US_CONFIG"),
    one(0x4604, "US_PIXSIZE"),
    one(0x4624, "US_FC_CTRL"),
    one(0x4630, "US_CODE_ADDR"),
    one(0x4634, "US_CODE_RANGE"),
    one(0x4638, "US_CODE_OFFSET"),
    one(0x4e00, "RB3D_CCTL"),
    one(0x4e04, "RB3D_BLENDCNTL"),
    one(0x4e0c, "RB3D_COLOR_CHANNEL_MASK"),
    row(0x4e28, 4, 4, "RB3D_COLOROFFSET"),
    row(0x4e38, 4, 4, "RB3D_COLORPITCH"),
    one(0x4e4c, "RB3D_DSTCACHE_CTLSTAT"),
    one(0x4f00, "ZB_CNTL"),
    one(0x4f10, "ZB_FORMAT"),
    one(0x4f18, "ZB_ZCACHE_CTLSTAT"),
    one(0x4f1c, "ZB_BW_CNTL"),
    one(0x4f20, "ZB_DEPTHOFFSET"),
    one(0x4f24, "ZB_DEPTHPITCH"),
    one(0x4f30, "ZB_ZMASK_OFFSET"),
    one(0x4f34, "ZB_ZMASK_PITCH"),
    one(0x4f44, "ZB_HIZ_OFFSET"),
    one(0x4f54, "ZB_HIZ_PITCH"),
    one(0x4f58, "ZB_ZPASS_DATA"),
    one(0x4f5c, "ZB_ZPASS_ADDR"),
    one(0x6080, "D1CRTC_CONTROL"),
    one(0x6540, "DxMODE_INT_MASK"),
    one(0x6880, "D2CRTC_CONTROL"),
    one(0x7edc, "DISP_INTERRUPT_STATUS"),
];

/// The name of the register at a byte offset.
pub fn name(offset: u32) -> Option<Cow<'static, str>> {
    ROWS.iter().find_map(|r| {
        let behind = offset.checked_sub(r.first)?;
        let n = behind / r.step;
        let here = n < r.count && behind.is_multiple_of(r.step);
        here.then(|| match r.count {
            1 => Cow::Borrowed(r.name),
            _ => Cow::Owned(format!("{}{n}", r.name)),
        })
    })
}

/// WAIT_UNTIL (digest §3.2).
const WAIT: &[Field] = &[
    flag(0, 8, "video DMA idle"),
    flag(0, 9, "GUI DMA idle"),
    flag(0, 14, "2D idle"),
    flag(0, 15, "3D idle"),
    flag(0, 16, "2D idle and clean"),
    flag(0, 17, "3D idle and clean"),
    flag(0, 18, "host idle and clean"),
    flag(0, 28, "VAP idle"),
];

/// SC_SCISSOR0 and 1 (digest §3.5).
const SCISSOR: &[Field] = &[number(0, 12, 0, "x"), number(0, 25, 13, "y")];

/// RB3D_COLORPITCH (digest §3.5).
const COLOR: &[Field] = &[
    bits(0, 13, 1, "pitch 2 x", Show::Number),
    flag(0, 16, "macro-tiled"),
    choice(0, 18, 17, "micro", TILES),
    choice(
        0,
        24,
        21,
        "format",
        &[
            (3, "1555"),
            (4, "565"),
            (5, "2101010"),
            (6, "8888"),
            (7, "32x4 float"),
            (9, "8"),
            (10, "16x4"),
            (13, "88"),
            (15, "4444"),
        ],
    ),
];

const TILES: &[(u32, &str)] = &[(0, "linear"), (1, "tiled"), (2, "square")];

/// GEN_INT_STATUS (digest §3.2).
const INTERRUPTS: &[Field] = &[
    flag(0, 0, "display"),
    flag(0, 16, "probe fault"),
    flag(0, 18, "scratch"),
    flag(0, 19, "idle"),
    flag(0, 21, "protection fault"),
    flag(0, 25, "software interrupt"),
    flag(0, 26, "raise software interrupt"),
];

/// RB3D_DSTCACHE_CTLSTAT (digest §3.5).
const COLOR_CACHE: &[Field] = &[
    number(0, 1, 0, "flush"),
    number(0, 3, 2, "free"),
    flag(0, 4, "say when"),
];

/// ZB_ZCACHE_CTLSTAT (digest §3.5).
const DEPTH_CACHE: &[Field] = &[flag(0, 0, "flush"), flag(0, 1, "free")];

/// What is in a register.
pub fn fields(offset: u32) -> &'static [Field] {
    match offset {
        0x0044 => INTERRUPTS,
        0x1428 => two_d::SOURCE,
        0x142c => two_d::DESTINATION,
        0x146c => two_d::CONTROL,
        0x1720 => WAIT,
        0x2084 => VF_CNTL,
        0x43e0 | 0x43e4 => SCISSOR,
        0x4e38..=0x4e44 => COLOR,
        0x4e4c => COLOR_CACHE,
        0x4f18 => DEPTH_CACHE,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_offset() {
        // Digest §3.1 to §3.5.
        for (offset, expected) in [
            (0x0044, Some("GEN_INT_STATUS")),
            (0x0714, Some("CP_RB_WPTR")),
            (0x073c, Some("CP_IB_BUFSZ")),
            (0x0b18, Some("SURFACE_UPPER1")),
            (0x15e0, Some("SCRATCH_REG0")),
            (0x15fc, Some("SCRATCH_REG7")),
            (0x2040, Some("VAP_PORT_IDX0")),
            (0x2514, Some("VAP_PVS_FLOW_CNTL_ADDRS_UW2")),
            (0x43e4, Some("SC_SCISSOR1")),
            (0x4e44, Some("RB3D_COLORPITCH3")),
            (0x4f5c, Some("ZB_ZPASS_ADDR")),
            (0x0b10, None),
            (0x7ffc, None),
        ] {
            assert_eq!(name(offset).as_deref(), expected, "{offset:#x}");
        }
    }

    #[test]
    fn a_register_has_one_name() {
        let all = |r: &Row| {
            (0..r.count)
                .map(|n| r.first + n * r.step)
                .collect::<Vec<_>>()
        };
        let mut offsets: Vec<_> = ROWS.iter().flat_map(all).collect();
        let count = offsets.len();
        offsets.sort_unstable();
        offsets.dedup();
        assert_eq!(offsets.len(), count);
        assert!(offsets.iter().all(|o| o % 4 == 0 && *o < 0x8000));
    }
}
