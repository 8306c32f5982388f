// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of Gen4. The document has few offsets (3.1 of the digest); the others are the digest's (G-nn) or the
//! list of what upstream touches on G45 (peer digest I.2).

use crate::gen4::{bits, dpfc, fbc};
use crate::intel::regfile::{Domain, Write};
use crate::ring::engine::EngineId;
use crate::ring::regs::{reg, ring, Array, BlockRow, Counts, Row, ALL, MASKED, STAGES};

pub const INSTPM: u32 = 0x20c0;
pub const CACHE_MODE_0: u32 = 0x2120;
pub const CACHE_MODE_1: u32 = 0x2124;
pub const MI_ARB_STATE: u32 = 0x20e4;
const PEG_BAND_GAP_DATA: u32 = 0x1_4d68;

/// Reset with the render engine.
const RENDER: Domain = Domain::Engine(EngineId::Rcs as u8);
/// Reset with everything.
const ALL_OF_IT: Domain = Domain::Gt;
/// Kept by every reset but that of the power.
const KEPT: Domain = Domain::Chip;

/// Each engine's block (G-04, G-05, G-11, G-17). The rest of the render engine's is in [`GEN4`]: the other one's
/// is not known.
pub const BLOCK: &[BlockRow] = &[
    // Bits 20:3; the semaphore bit 0 is nowhere said where (G-35).
    BlockRow(ring::TAIL, "RING_TAIL", 0, Write::Bits(0x001f_fff8)),
    BlockRow(ring::HEAD, "RING_HEAD", 0, Write::Bits(0xffff_fffc)),
    BlockRow(ring::START, "RING_START", 0, Write::Bits(0xffff_f000)),
    BlockRow(ring::CTL, "RING_CTL", 0, Write::Bits(0x001f_f107)),
    BlockRow(ring::IPEIR, "IPEIR", 0, ALL),
    BlockRow(ring::IPEHR, "IPEHR", 0, Write::ReadOnly),
    BlockRow(ring::INSTDONE, "INSTDONE", 0xffff_ffff, Write::ReadOnly),
    BlockRow(ring::INSTPS, "INSTPS", 0, Write::ReadOnly),
    BlockRow(ring::ACTHD, "ACTHD", 0, Write::ReadOnly),
    BlockRow(ring::DMA_FADD, "DMA_FADD", 0, Write::ReadOnly),
    // 5.9: zero.
    BlockRow(ring::NOPID, "NOPID", 0, Write::Bits(0x003f_ffff)),
    BlockRow(ring::MI_MODE, "MI_MODE", 0, Write::Masked(0xfdff)),
    BlockRow(ring::UHPTR, "UHPTR", 0, Write::Bits(0x001f_fff9)),
    // GW08.
    BlockRow(ring::BB_ADDR, "BBADDR", 0, Write::ReadOnly),
];

/// Registers of all four.
pub const GEN4: &[Row] = &[
    // G-06: 31:12 and 7:4 base, 3:1 size, 0 enable. The firmware writes it before; what a reset leaves of it is in
    // `crate::gen4::reset`.
    Row(
        bits::PGTBL_CTL,
        "PGTBL_CTL",
        0,
        Write::Bits(0xffff_f0ff),
        KEPT,
    ),
    // 5.7.2: cleared by no write.
    Row(reg::PGTBL_ER, "PGTBL_ER", 0, Write::ReadOnly, ALL_OF_IT),
    Row(0x207c, "INSTDONE_1", 0xffff_ffff, Write::ReadOnly, RENDER),
    // 5.9: masked after a reset. The chip's, whatever engine is reset.
    Row(0x2098, "HWSTAM", 0xffff_ffff, ALL, RENDER),
    Row(0x20a0, "IER", 0, ALL, ALL_OF_IT),
    Row(0x20a4, "IIR", 0, Write::Clear(0xffff_ffff), ALL_OF_IT),
    Row(0x20a8, "IMR", 0xffff_ffff, ALL, ALL_OF_IT),
    Row(0x20ac, "ISR", 0, Write::ReadOnly, ALL_OF_IT),
    Row(0x20b0, "EIR", 0, Write::ReadOnly, RENDER),
    Row(0x20b4, "EMR", 0xffff_ffff, ALL, ALL_OF_IT),
    Row(0x20b8, "ESR", 0, Write::ReadOnly, RENDER),
    Row(INSTPM, "INSTPM", 0, MASKED, RENDER),
    // I.2; what it does is display.
    Row(0x20e0, "FW_BLC_SELF", 0, ALL, KEPT),
    Row(MI_ARB_STATE, "MI_ARB_STATE", 0, MASKED, RENDER),
    Row(CACHE_MODE_0, "CACHE_MODE_0", 0, MASKED, RENDER),
    Row(CACHE_MODE_1, "CACHE_MODE_1", 0, MASKED, RENDER),
    // G-19: harmless.
    Row(0x2170, "GFX_FLSH_CNTL", 0, ALL, KEPT),
    Row(bits::CCID, "CCID", 0, ALL, RENDER),
    // 5.8.1, G-16: lines of 64 bytes less one; 2 KB and an extended part of 1 KB, which are this model's.
    Row(0x21a0, "CXT_SIZE", 47, ALL, RENDER),
    Row(0x21d0, "ECOSKPD", 0, MASKED, RENDER),
    // I.2.
    Row(PEG_BAND_GAP_DATA, "PEG_BAND_GAP_DATA", 0, ALL, KEPT),
];

/// What G45 and GM45 have more: the per-process table (GTT-09, GTT-10; G-07), which stays off.
pub const G4X: &[Row] = &[
    Row(bits::PGTBL_CTL2, "PGTBL_CTL2", 0, ALL, ALL_OF_IT),
    Row(bits::PGTBL_STR2, "PGTBL_STR2", 0, ALL, ALL_OF_IT),
    // G-17, G-36.
    Row(bits::GFX_MODE, "GFX_MODE", 0, MASKED, ALL_OF_IT),
];

/// Statistics, 64 bits each (1.7, 5.8): places of the elder's successors, since the document has none.
pub const STATISTICS: &[&[Counts]] = &[STAGES];

/// Display registers with something behind them (G-32), and clock gating (G-33).
pub const DISPLAY: &[Row] = &[
    Row(0x6200, "DSPCLK_GATE_D", 0, ALL, KEPT),
    Row(0x6204, "RENCLK_GATE_D1", 0, ALL, KEPT),
    Row(0x6208, "RENCLK_GATE_D2", 0, ALL, KEPT),
    Row(bits::VDECCLK_GATE_D, "VDECCLK_GATE_D", 0, ALL, KEPT),
    Row(0x6210, "RAMCLK_GATE_D", 0, ALL, KEPT),
    Row(0x6214, "DEUC", 0, ALL, KEPT),
    // 1.21, G-32: bit 17 and 18 enable, 15:0 are status that ones clear.
    Row(
        0x7_0024,
        "PIPEASTAT",
        0,
        Write::Mixed(0xffff_0000, 0xffff),
        KEPT,
    ),
    Row(
        0x7_1024,
        "PIPEBSTAT",
        0,
        Write::Mixed(0xffff_0000, 0xffff),
        KEPT,
    ),
    Row(0x6_1110, "PORT_HOTPLUG_EN", 0, ALL, KEPT),
    Row(0x6_1114, "PORT_HOTPLUG_STAT", 0, Write::Clear(!0), KEPT),
    Row(0x7_0038, "DSPFW2", 0, ALL, KEPT),
];

/// The block of the compressor of GM45 (7.2).
pub const DPFC: &[Row] = &[
    Row(fbc::BASE, "DPFC_CB_BASE", 0, Write::Bits(0x0fff_f000), KEPT),
    Row(
        fbc::CONTROL,
        "DPFC_CONTROL",
        0,
        Write::Bits(0xefff_86ff),
        KEPT,
    ),
    Row(
        dpfc::RECOMP,
        "DPFC_RECOMP_CTL",
        0,
        Write::Bits(0x0fff_003f),
        KEPT,
    ),
    Row(dpfc::STATUS, "DPFC_STATUS", 0, Write::ReadOnly, KEPT),
    Row(0x3214, "DPFC_STATUS_2", 0, Write::ReadOnly, KEPT),
    Row(
        fbc::FENCE_OFFSET,
        "DPFC_CPU_FENCE_OFFSET",
        0,
        Write::Bits(0x003f_ffff),
        KEPT,
    ),
    Row(dpfc::SLB, "DPFC_SLB_DATA", 0, Write::Bits(0), KEPT),
    Row(0x3220, "DPFC_DEBUG_STATUS", 0, Write::Clear(0x7f), KEPT),
    Row(0x3224, "DPFC_EXTRA", 0, Write::Bits(1 << 31), KEPT),
];

/// The block of the compressor of GM965 (6.2.1; G-31).
pub const FBC: &[Row] = &[
    Row(fbc::BASE, "FBC_CFB_BASE", 0, Write::Bits(0xffff_f000), KEPT),
    Row(
        fbc::LENGTHS,
        "FBC_LL_BASE",
        0,
        Write::Bits(0xffff_f000),
        KEPT,
    ),
    Row(fbc::CONTROL, "FBC_CONTROL", 0, ALL, KEPT),
    Row(fbc::COMMAND, "FBC_COMMAND", 0, Write::Bits(1), KEPT),
    Row(fbc::STATUS, "FBC_STATUS", 0, Write::ReadOnly, KEPT),
    Row(fbc::CONTROL2, "FBC_CONTROL2", 0, Write::Bits(0x1f), KEPT),
    Row(fbc::FENCE_OFFSET, "FBC_YFENCE_DISP", 0, ALL, KEPT),
    Row(fbc::MODIFICATIONS, "FBC_MOD_CTR", 0, ALL, KEPT),
];

/// Tags of GM965's compressor.
pub const FBC_TAGS: &[Array] = &[Array(fbc::TAGS, 49, "FBC_TAG", ALL, KEPT)];

/// Display registers that read zero (I.2, G-32).
pub const SHOWN: &[(u32, &str)] = &[
    (0x5100, "GMBUS0"),
    (0x5110, "GMBUS4"),
    (0x6_0000, "pipe A horizontal total"),
    (0x6_0004, "pipe A horizontal blank"),
    (0x6_0008, "pipe A horizontal sync"),
    (0x6_000c, "pipe A vertical total"),
    (0x6_0010, "pipe A vertical blank"),
    (0x6_0014, "pipe A vertical sync"),
    (0x6_001c, "pipe A source size"),
    (0x6_1000, "pipe B horizontal total"),
    (0x6_1004, "pipe B horizontal blank"),
    (0x6_1008, "pipe B horizontal sync"),
    (0x6_100c, "pipe B vertical total"),
    (0x6_1010, "pipe B vertical blank"),
    (0x6_1014, "pipe B vertical sync"),
    (0x6_101c, "pipe B source size"),
    (0x6_1100, "ADPA"),
    (0x6_1140, "SDVOB"),
    (0x6_1160, "SDVOC"),
    (0x6_1180, "LVDS"),
    (0x6_1200, "panel power status"),
    (0x6_1204, "panel power control"),
    (0x6_4100, "display port B"),
    (0x6_4200, "display port C"),
    (0x6_4300, "display port D"),
    (0x7_0000, "pipe A line"),
    (0x7_0008, "pipe A"),
    (0x7_0030, "DSPARB"),
    (0x7_0034, "DSPFW1"),
    (0x7_003c, "DSPFW3"),
    (0x7_0040, "pipe A frame"),
    (0x7_0080, "cursor A"),
    (0x7_0084, "cursor A base"),
    (0x7_0088, "cursor A place"),
    (0x7_00c0, "cursor B"),
    (0x7_00c4, "cursor B base"),
    (0x7_00c8, "cursor B place"),
    (0x7_0180, "plane A"),
    (0x7_0184, "plane A offset"),
    (0x7_0188, "plane A stride"),
    (0x7_019c, "plane A surface"),
    (0x7_01a4, "plane A tile offset"),
    (0x7_01ac, "plane A live surface"),
    (0x7_1000, "pipe B line"),
    (0x7_1008, "pipe B"),
    (0x7_1040, "pipe B frame"),
    (0x7_1180, "plane B"),
    (0x7_1184, "plane B offset"),
    (0x7_1188, "plane B stride"),
    (0x7_119c, "plane B surface"),
    (0x7_11a4, "plane B tile offset"),
    (0x7_1400, "VGA control"),
    (0x7_2180, "plane C"),
    (0x7_3180, "sprite"),
];

/// Bits that firmware has set in registers that upstream reads before it writes (habit `bits`; peer digest I.2).
pub const FIRMWARE_BITS: &[(u32, u32, &str)] = &[
    (
        bits::VDECCLK_GATE_D,
        1 << 9,
        "VDECCLK_GATE_D: upstream adds bit 4 for a reset, and puts it back",
    ),
    (
        PEG_BAND_GAP_DATA,
        1 << 8,
        "PEG_BAND_GAP_DATA: upstream sets the low four bits",
    ),
];
