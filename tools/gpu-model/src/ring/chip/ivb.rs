// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Ivy Bridge (Gen7; IVB PRM Vol 1 Part 5, the chapter of the video engine, here VCS PRM). What it leaves out
//! is from the digest of Gen7 (V-nn) and that of upstream as a peer (A.9, I.3).

use super::{
    Array, BusLayout, Chip, ContextImage, DisplayEvents, EngineRow, Forcewake, Hooks, IrqBlock,
    Mchbar, PipeControl, Swizzling, Threads, Ways, SNB,
};
use crate::intel::clocks::Capabilities;
use crate::intel::regfile::{Domain, Write};
use crate::intel::{cmd3d, fence, mi, pte};
use crate::ring::core::Core;
use crate::ring::engine::EngineId;
use crate::ring::regs::{self, reg, ring, BlockRow, Counts, Row, ALL, MASKED, STAGES};
use crate::ring::{display, media};

/// 8086:0162 is the desktop GT2 (V-01).
pub const IVB: Chip = Chip {
    name: "ivb",
    ids: &[0x0162, 0x0152, 0x015a, 0x0156, 0x0166, 0x016a],
    engines: &[RCS, VCS, BCS],
    bus: BusLayout::GEN6,
    irq: IrqBlock::GEN6,
    // 650 MHz, which is held, to 1150: an HD Graphics 4000, as of the i7-3770 (Intel's data of the product). The lowest
    // is what owners of an HD Graphics 4000 read: 350 MHz (unix.stackexchange.com, question 404049).
    mchbar: Mchbar {
        clocks: Capabilities::new()
            .with_lowest(7)
            .with_nominal(13)
            .with_highest(23),
        ..Mchbar::GEN6
    },
    ways: Ways::GEN7,
    mi: &[mi::GEN6, mi::GEN7],
    // A.9; what it wants is what the upstream driver does (gen7_emit_flush_rcs).
    pipe_control: PipeControl {
        global: (1, 1 << 24),
        prelude: false,
        stalls: true,
    },
    pte: pte::GEN7,
    fences: fence::GEN7,
    tiled_by: Some(BCS_SWCTRL),
    swizzling: Swizzling::GEN6,
    timestamp: SNB.timestamp,
    // As its elder: no record of a machine is at hand.
    ahead: [5, 8],
    // V-04.
    forcewake: Forcewake {
        request: reg::FORCEWAKE,
        ack: reg::FORCEWAKE_ACK,
        threads: Some(Threads {
            request: FORCEWAKE_MT,
            ack: FORCEWAKE_MT_ACK,
            enable: (ECOBUS, MT_ENABLE),
        }),
    },
    always_on: &[reg::FORCEWAKE, FORCEWAKE_MT, reg::GDRST],
    fifo: Some(64),
    context: ContextImage {
        main: cxt_size(0, 0x3f) * 64,
        extended: cxt_size(9, 0x7f) * 64,
        address: 0xffff_f000,
        physical: false,
        blitter: false,
        saved: &[0x2000 + ring::INSTPM, CACHE_MODE_0, CACHE_MODE_1],
        statistics: STATISTICS,
    },
    display_events: DisplayEvents {
        vblank: 1 << 0,
        flips: &[1 << 3, 1 << 8],
    },
    display: display::REGISTERS,
    block: &[regs::BLOCK, BLOCK],
    registers: &[regs::GT, REGISTERS, DISPLAY],
    arrays: &[STREAM_OUT, media::ARRAYS],
    firmware_bits: FIRMWARE_BITS,
    gen4: None,
    hooks: Hooks {
        read: Core::media_read,
        power_on: |core| {
            // There is a display if firmware has left a picture on it.
            let strap = if core.cfg.real.lit { FUSE_LOCK } else { 0 };
            core.set(SFUSE_STRAP, strap);
            let threads = if core.cfg.legacy_forcewake {
                0
            } else {
                MT_ENABLE
            };
            core.set(ECOBUS, threads);
        },
        settle: Core::watchdogs_bark,
        ..Hooks::NONE
    },
    map: register_map!(IVB),
};

/// How the blitter's operands are tiled: no document at hand has it, the upstream driver lets programs write it.
const BCS_SWCTRL: u32 = 0x2_2200;
/// Forcewake of several threads, and the register whose bit says that it is in force (V-04).
const FORCEWAKE_MT: u32 = 0xa188;
const FORCEWAKE_MT_ACK: u32 = 0x13_0040;
const ECOBUS: u32 = 0xa180;
const MT_ENABLE: u32 = 1 << 5;
/// Zero says that the display is fused off; the lock bit, that it is not (A.9).
const SFUSE_STRAP: u32 = 0xc_2014;
const FUSE_LOCK: u32 = 1 << 13;
const CACHE_MODE_0: u32 = 0x7000;
const CACHE_MODE_1: u32 = 0x7004;

/// Bases, interrupts and fault registers are Sandy Bridge's (VCS PRM 1.1.1, 1.1.6; V-17), and so is what an engine
/// decodes but for the 3D commands.
const RCS: EngineRow = EngineRow {
    // V-09.
    hws_pga: 0x4080,
    // V-06.
    mode: Some(0x0_229c),
    reports_unmasked: true,
    flush_stopped: true,
    three_d: Some(|header| cmd3d::render(&[cmd3d::COMMON, cmd3d::GEN7], header)),
    ..SNB.engines[0]
};

const VCS: EngineRow = EngineRow {
    // VCS PRM 1.1.2.2.1.
    hws_pga: 0x4180,
    // VCS PRM 1.1.3.4.
    mode: Some(0x1_229c),
    // V-13.
    sleeps: false,
    // VCS PRM 1.1.6.3.
    table_errors: false,
    // VCS PRM 1.1.5.
    watchdog: true,
    ..SNB.engines[1]
};

const BCS: EngineRow = EngineRow {
    hws_pga: 0x4280,
    mode: Some(0x2_229c),
    reports_unmasked: true,
    flush_stopped: true,
    ..SNB.engines[2]
};

/// CXT_SIZE in lines of 64 bytes: extended 90 in 15:9, VF state 45 in 5:0 (A.9). The chip's own value is in no
/// document; these are three pages.
const CXT_SIZE_VALUE: u32 = 90 << 9 | 45;

/// A field of CXT_SIZE.
const fn cxt_size(shift: u32, mask: u32) -> usize {
    (CXT_SIZE_VALUE >> shift & mask) as usize
}

/// Pairs of statistics registers saved with a context (64 bits each; offsets as the upstream driver has them).
const STATISTICS: &[&[Counts]] = &[
    &[
        (0x2290, "GPGPU_THREADS_DISPATCHED"),
        (0x2300, "HS_INVOCATION_COUNT"),
        (0x2308, "DS_INVOCATION_COUNT"),
    ],
    STAGES,
    // Two of 32 bits each. User space that has contexts relies on them to be saved.
    &[
        (0x5280, "SO_WRITE_OFFSET0, 1"),
        (0x5288, "SO_WRITE_OFFSET2, 3"),
    ],
];

/// Registers of each engine's block that differ from the family's (VCS PRM 1.1.3, 1.1.4.1).
const BLOCK: &[BlockRow] = &[
    BlockRow(ring::MI_MODE, "MI_MODE", 0, Write::Masked(0xf9ff)),
    BlockRow(ring::UHPTR, "UHPTR", 0, Write::Bits(0xffff_fff9)),
    BlockRow(
        ring::SECOND_BATCH,
        "2nd level batch address",
        0,
        Write::Bits(0xffff_fffc),
    ),
    // V-06 names the bits that the chapter reserves.
    BlockRow(0x29c, "MODE", 0, Write::Masked(0xfe00)),
];

/// Reset with an engine.
const RENDER: Domain = Domain::Engine(EngineId::Rcs as u8);
const VIDEO: Domain = Domain::Engine(EngineId::Vcs as u8);
const BLITTER: Domain = Domain::Engine(EngineId::Bcs as u8);

/// Registers that are this chip's own. Those that no document names are upstream's (A.9, I.3): those of its
/// list for the engine are reset with it, those of its list for the GT are not.
const REGISTERS: &[Row] = &[
    // VCS PRM 1.1.4: bits 8 and 2:1 are not on all engines.
    Row(
        0x0_203c,
        "RCS RING_CTL",
        0,
        Write::Bits(0x001f_f001),
        RENDER,
    ),
    Row(0x1_203c, "VCS RING_CTL", 0, Write::Bits(0x001f_f107), VIDEO),
    Row(
        0x2_203c,
        "BCS RING_CTL",
        0,
        Write::Bits(0x001f_f007),
        BLITTER,
    ),
    // VCS PRM 1.1.3.2, 1.1.3.9, 1.1.3.10, 1.1.5.
    Row(0x1_20a0, "GAC_MODE", 0, MASKED, VIDEO),
    Row(0x1_2178, "VCS CNTR", 0xffff_ffff, ALL, VIDEO),
    Row(0x1_217c, "VCS THRSH", 0x0015_0000, ALL, VIDEO),
    Row(
        0x1_21a8,
        "VCS CXT_SIZE",
        0x0004_0d00,
        Write::Bits(0x001f_1f00),
        VIDEO,
    ),
    Row(
        0x1_24c8,
        "VCS PREEMPTION_HINT_UDW",
        0,
        Write::Bits(0xffff),
        VIDEO,
    ),
    // VCS PRM 1.1.9.2.1.
    Row(
        0x1_4040,
        "GFX_PEND_TLB",
        0,
        Write::Bits(0xbfbf_bfbf),
        Domain::Gt,
    ),
    Row(reg::PGTBL_ER, "PGTBL_ER", 0, Write::ReadOnly, RENDER),
    Row(0x2000 + ring::CCID, "CCID", 0, ALL, RENDER),
    Row(0x21a8, "CXT_SIZE", CXT_SIZE_VALUE, Write::ReadOnly, RENDER),
    Row(0x2090, "3D_CHICKEN3", 0, MASKED, RENDER),
    Row(0x20a0, "FF_THREAD_MODE", 0, ALL, RENDER),
    Row(0x20e4, "MI_ARB_STATE", 0, MASKED, RENDER),
    Row(0x2400, "MI_PREDICATE_SRC0", 0, ALL, RENDER),
    Row(0x2404, "MI_PREDICATE_SRC0 (high)", 0, ALL, RENDER),
    Row(0x2408, "MI_PREDICATE_SRC1", 0, ALL, RENDER),
    Row(0x240c, "MI_PREDICATE_SRC1 (high)", 0, ALL, RENDER),
    Row(0x2418, "MI_PREDICATE_RESULT", 0, ALL, RENDER),
    Row(0x2420, "3DPRIM_END_OFFSET", 0, ALL, RENDER),
    Row(0x2430, "3DPRIM_START_VERTEX", 0, ALL, RENDER),
    Row(0x2434, "3DPRIM_VERTEX_COUNT", 0, ALL, RENDER),
    Row(0x2438, "3DPRIM_INSTANCE_COUNT", 0, ALL, RENDER),
    Row(0x243c, "3DPRIM_START_INSTANCE", 0, ALL, RENDER),
    Row(0x2440, "3DPRIM_BASE_VERTEX", 0, ALL, RENDER),
    Row(0x2500, "GPGPU_DISPATCHDIMX", 0, ALL, RENDER),
    Row(0x2504, "GPGPU_DISPATCHDIMY", 0, ALL, RENDER),
    Row(0x2508, "GPGPU_DISPATCHDIMZ", 0, ALL, RENDER),
    Row(CACHE_MODE_0, "CACHE_MODE_0", 0, MASKED, RENDER),
    Row(CACHE_MODE_1, "CACHE_MODE_1", 0, MASKED, RENDER),
    Row(0x7008, "GT_MODE", 0, MASKED, RENDER),
    Row(0x7010, "COMMON_SLICE_CHICKEN1", 0, MASKED, Domain::Gt),
    Row(0x7100, "SC_INSTDONE", 0xffff_ffff, Write::ReadOnly, RENDER),
    Row(0xe100, "HALF_SLICE_CHICKEN1", 0, MASKED, Domain::Gt),
    Row(0xf100, "HALF_SLICE_CHICKEN1 of GT2", 0, MASKED, Domain::Gt),
    Row(
        0xe160,
        "SAMPLER_INSTDONE",
        0xffff_ffff,
        Write::ReadOnly,
        RENDER,
    ),
    Row(0xe164, "ROW_INSTDONE", 0xffff_ffff, Write::ReadOnly, RENDER),
    Row(0xe4f4, "ROW_CHICKEN2", 0, MASKED, Domain::Gt),
    Row(0xf4f4, "ROW_CHICKEN2 of GT2", 0, MASKED, Domain::Gt),
    Row(0x900c, "MBCUNIT_SNPCR", 0, ALL, Domain::Gt),
    Row(0x9030, "SQ_CHICKEN_MBCUNIT", 0, ALL, Domain::Gt),
    Row(0x940c, "UCGCTL4", 0, ALL, Domain::Chip),
    Row(0xb01c, "L3CNTLREG1", 0, ALL, Domain::Gt),
    Row(0xb020, "L3CNTLREG2", 0, ALL, Domain::Gt),
    Row(0xb024, "L3CNTLREG3", 0, ALL, Domain::Gt),
    Row(0xb030, "L3_CHICKEN_MODE", 0, ALL, Domain::Gt),
    Row(0xb034, "L3SQCREG4", 0, ALL, Domain::Gt),
    Row(0xb100, "L3SQCREG1", 0, ALL, Domain::Gt),
    Row(ECOBUS, "ECOBUS", 0, Write::ReadOnly, Domain::Chip),
    Row(
        FORCEWAKE_MT,
        "FORCEWAKE_MT",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    Row(
        FORCEWAKE_MT_ACK,
        "FORCEWAKE_MT_ACK",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(BCS_SWCTRL, "BCS_SWCTRL", 0, MASKED, BLITTER),
    // Upstream takes the blitter's fault register for this one.
    Row(
        0x4394,
        "fault register of no engine",
        0,
        Write::ReadOnly,
        Domain::Gt,
    ),
    // With the display fused off upstream leaves the block as it is: its master bit is on (A.9).
    Row(reg::DEIER, "DEIER", 1 << 31, ALL, Domain::Chip),
    Row(
        0x4_4040,
        "display error interrupt",
        0,
        Write::Clear(!0),
        Domain::Chip,
    ),
    Row(
        0x4_200c,
        "display clock gating 3",
        0,
        Write::ReadOnly,
        Domain::Display,
    ),
    Row(
        0x4_2014,
        "display fuses",
        0,
        Write::ReadOnly,
        Domain::Display,
    ),
    Row(
        0x4_5010,
        "display arbiter 2",
        0,
        Write::ReadOnly,
        Domain::Display,
    ),
    Row(SFUSE_STRAP, "SFUSE_STRAP", 0, Write::ReadOnly, Domain::Chip),
];

/// A display register: it reads zero, and drops what is written.
const fn shown(offset: u32, name: &'static str) -> Row {
    Row(offset, name, 0, Write::ReadOnly, Domain::Display)
}

/// What the display has more than its elder's: a third pipe, and sprites and a cursor elsewhere (offsets as the
/// upstream driver has them).
const DISPLAY: &[Row] = &[
    shown(0x6_201c, "pipe C source size"),
    shown(0x7_0280, "sprite A"),
    shown(0x7_029c, "sprite A surface"),
    shown(0x7_1080, "cursor B"),
    shown(0x7_1084, "cursor B base"),
    shown(0x7_1088, "cursor B place"),
    shown(0x7_1280, "sprite B"),
    shown(0x7_129c, "sprite B surface"),
    shown(0x7_2000, "pipe C line"),
    shown(0x7_2008, "pipe C"),
    shown(0x7_2040, "pipe C frame"),
    shown(0x7_2080, "cursor C"),
    shown(0x7_2084, "cursor C base"),
    shown(0x7_2088, "cursor C place"),
    shown(0x7_2180, "plane C"),
    shown(0x7_2184, "plane C offset"),
    shown(0x7_2188, "plane C stride"),
    shown(0x7_219c, "plane C surface"),
    shown(0x7_21a4, "plane C tile offset"),
    shown(0x7_21ac, "plane C live surface"),
    shown(0x7_2280, "sprite C"),
    shown(0x7_229c, "sprite C surface"),
];

/// Stream output: 64 bits each for four streams, and an offset for each.
const STREAM_OUT: &[Array] = &[
    Array(0x5200, 8, "SO_NUM_PRIMS_WRITTEN", ALL, RENDER),
    Array(0x5240, 8, "SO_PRIM_STORAGE_NEEDED", ALL, RENDER),
    Array(0x5280, 4, "SO_WRITE_OFFSET", ALL, RENDER),
];

/// Bits that firmware has set in registers that the upstream driver reads before it writes (I.3): any that
/// it does not set.
const FIRMWARE_BITS: &[(u32, u32, &str)] = &[
    (0x900c, 1 << 4, "MBCUNIT_SNPCR: upstream sets 22:21"),
    (0x9030, 1 << 4, "SQ_CHICKEN_MBCUNIT: upstream sets bit 11"),
    (
        reg::TILECTL,
        1 << 3,
        "TILECTL: upstream adds bit 0 if memory is swizzled",
    ),
    (
        reg::GAM_ECOCHK,
        1 << 1,
        "GAM_ECOCHK: upstream sets bit 3, clears bit 4",
    ),
    (reg::GAC_ECO_BITS, 1 << 4, "GAC_ECO_BITS: upstream adds 9:8"),
];
