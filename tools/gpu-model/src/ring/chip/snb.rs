// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Sandy Bridge (Gen6; SNB PRM V1P2). Offsets that it leaves out are from the digest (G-nn); what is said of
//! an engine's block is from the VCS PRM.

use super::{
    BusLayout, Chip, ContextImage, DisplayEvents, EngineCounters, EngineRow, Forcewake, Hooks,
    IrqBits, IrqBlock, Mchbar, PipeControl, Swizzling, Ways,
};
use crate::intel::clocks::Capabilities;
use crate::intel::regfile::{Domain, Write};
use crate::intel::{cmd3d, fence, mi, pte};
use crate::ring::blit;
use crate::ring::display;
use crate::ring::engine::EngineId;
use crate::ring::regs::{self, reg, ring, BlockRow, Counts, Row, ALL, MASKED, STAGES};

const INSTDONE_2: u32 = 0x207c;
const GT_MODE: u32 = 0x20d0;
const MI_ARB_STATE: u32 = 0x20e4;
const CACHE_MODE_0: u32 = 0x2120;
const CACHE_MODE_1: u32 = 0x2124;
const CXT_SIZE: u32 = 0x21a0;
const GFX_MODE: u32 = 0x2520;
/// How the blitter's operands are tiled. No document at hand has it; upstream's selftest igt_client_tiled_blits has it
/// from Gen6 on, and sets it in batches without privilege.
const BCS_SWCTRL: u32 = 0x2_2200;

/// 8086:0116 is the mobile GT2.
pub const SNB: Chip = Chip {
    name: "snb",
    ids: &[0x0116, 0x0102, 0x0112, 0x0122, 0x0106, 0x0126, 0x010a],
    engines: &[RCS, VCS, BCS],
    bus: BusLayout::GEN6,
    irq: IrqBlock::GEN6,
    // 650 MHz, which is held, to 1300: an HD Graphics 3000, as of the i7-2620M (Intel's data of the product). The
    // lowest is the one that is held: the table of clocks that an owner of one has shown to TLP begins with it.
    mchbar: Mchbar {
        clocks: Capabilities::new()
            .with_lowest(13)
            .with_nominal(13)
            .with_highest(26),
        ..Mchbar::GEN6
    },
    ways: Ways::GEN6,
    mi: &[mi::GEN6],
    // Digest §2.4.
    pipe_control: PipeControl {
        global: (2, 1 << 2),
        prelude: true,
        stalls: false,
    },
    pte: pte::GEN6,
    fences: fence::GEN6,
    tiled_by: Some(BCS_SWCTRL),
    swizzling: Swizzling::GEN6,
    timestamp: ticks_of_80_ns,
    // Eight lines in a batch (GM45, a real machine's error record; §5.3.4.2 says one at least), five in a ring
    // (Ironlake, the same: 284 bytes).
    ahead: [5, 8],
    forcewake: Forcewake {
        request: reg::FORCEWAKE,
        ack: reg::FORCEWAKE_ACK,
        threads: None,
    },
    always_on: &[reg::FORCEWAKE, reg::GDRST],
    fifo: Some(64),
    context: ContextImage {
        main: (cxt_size(18) + cxt_size(0)) * 64,
        extended: cxt_size(6) * 64,
        address: 0xffff_f000,
        physical: false,
        blitter: false,
        saved: &[
            0x2000 + ring::INSTPM,
            CACHE_MODE_0,
            CACHE_MODE_1,
            MI_ARB_STATE,
        ],
        statistics: STATISTICS,
    },
    display_events: DisplayEvents {
        vblank: 1 << 7,
        // §5.4.4.
        flips: &[1 << 26, 1 << 27],
    },
    display: display::REGISTERS,
    block: &[regs::BLOCK, RNCID],
    registers: &[regs::GT, REGISTERS],
    arrays: &[],
    firmware_bits: FIRMWARE_BITS,
    gen4: None,
    hooks: Hooks::NONE,
    map: register_map!(SNB),
};

const RCS: EngineRow = EngineRow {
    id: EngineId::Rcs,
    base: 0x0_2000,
    // G-12.
    irq: IrqBits::Shifted(0),
    // §5.7.2.1.
    fault: Some(0x4094),
    // G-08.
    hws_pga: 0x0_4080,
    // G-24.
    reset_bit: 1 << 1,
    mode: Some(GFX_MODE),
    conditions: 0xff,
    events: 0x2f2f,
    unreported: 0,
    reports_unmasked: false,
    flush_stopped: false,
    sleeps: false,
    // VCS PRM 1.1.4.
    head_waits: true,
    renders: true,
    two_d: None,
    three_d: Some(|header| cmd3d::render(&[cmd3d::COMMON, cmd3d::GEN6], header)),
    table_errors: true,
    watchdog: false,
    counters: EngineCounters::RCS,
};

const VCS: EngineRow = EngineRow {
    id: EngineId::Vcs,
    base: 0x1_2000,
    irq: IrqBits::Shifted(12),
    fault: Some(0x4194),
    hws_pga: 0x1_4080,
    reset_bit: 1 << 2,
    mode: Some(GFX_MODE),
    // Five of the eight (VCS PRM 1.1.2.2).
    conditions: 0x1f,
    events: 0xffff,
    // Context switch, counter, notify and user (VCS PRM 1.1.6).
    unreported: 0x151,
    // VCS PRM 1.1.6.1.
    reports_unmasked: true,
    // VCS PRM 1.1.3.5.
    flush_stopped: true,
    // G-37.
    sleeps: true,
    head_waits: false,
    renders: false,
    two_d: None,
    three_d: Some(cmd3d::video),
    table_errors: true,
    watchdog: false,
    counters: EngineCounters::VCS,
};

const BCS: EngineRow = EngineRow {
    id: EngineId::Bcs,
    base: 0x2_2000,
    irq: IrqBits::Shifted(22),
    fault: Some(0x4294),
    hws_pga: 0x2_4080,
    reset_bit: 1 << 3,
    events: 0xffff,
    head_waits: false,
    renders: false,
    two_d: Some(blit::decode),
    three_d: None,
    counters: EngineCounters::BCS,
    ..RCS
};

/// The time stamp: 36 bits, in ticks of 80 ns (VCS PRM 1.1.9.5).
pub(super) fn ticks_of_80_ns(ns: u64) -> u64 {
    (ns / 80) & ((1 << 36) - 1)
}

/// CXT_SIZE in lines of 64 bytes: power 4, ring 10, render 20, extended 31, pipelined 45. The
/// chip's own value is in no document; ring + extended + pipelined make 5504 bytes, two pages.
const CXT_SIZE_VALUE: u32 = 4 << 24 | 10 << 18 | 20 << 12 | 31 << 6 | 45;

/// A field of CXT_SIZE.
const fn cxt_size(shift: u32) -> usize {
    (CXT_SIZE_VALUE >> shift & 0x3f) as usize
}

/// Pairs of statistics registers saved with a context (64 bits each).
const STATISTICS: &[&[Counts]] = &[
    &[
        (0x2280, "SO_PRIM_STORAGE_NEEDED"),
        (0x2288, "SO_NUM_PRIMS_WRITTEN"),
    ],
    STAGES,
];

/// The context id that an engine is woken with (G-37).
const RNCID: &[BlockRow] = &[
    BlockRow(ring::RNCID_LO, "RNCID", 0, ALL),
    BlockRow(ring::RNCID_HI, "RNCID (high)", 0, ALL),
];

/// Reset with the render engine.
const RENDER: Domain = Domain::Engine(EngineId::Rcs as u8);

/// Registers that are this chip's own.
const REGISTERS: &[Row] = &[
    Row(reg::PGTBL_ER, "PGTBL_ER", 0, Write::ReadOnly, RENDER),
    Row(
        INSTDONE_2,
        "INSTDONE_2",
        0xffff_ffff,
        Write::ReadOnly,
        RENDER,
    ),
    Row(0x2084, "3D_CHICKEN", 0, MASKED, RENDER),
    Row(0x208c, "3D_CHICKEN2", 0, MASKED, RENDER),
    Row(0x2090, "3D_CHICKEN3", 0, MASKED, RENDER),
    Row(GT_MODE, "GT_MODE", 0, MASKED, RENDER),
    Row(MI_ARB_STATE, "MI_ARB_STATE", 0, MASKED, RENDER),
    Row(CACHE_MODE_0, "CACHE_MODE_0", 0, MASKED, RENDER),
    Row(CACHE_MODE_1, "CACHE_MODE_1", 0, MASKED, RENDER),
    Row(0x2000 + ring::CCID, "CCID", 0, ALL, RENDER),
    Row(
        CXT_SIZE,
        "CXT_SIZE",
        CXT_SIZE_VALUE,
        Write::ReadOnly,
        RENDER,
    ),
    Row(GFX_MODE, "GFX_MODE", 0, MASKED, RENDER),
    // Video: no documented bits (VCS PRM 1.1.3.9).
    Row(
        0x1_20a0,
        "GAC_MODE",
        0,
        MASKED,
        Domain::Engine(EngineId::Vcs as u8),
    ),
    Row(
        BCS_SWCTRL,
        "BCS_SWCTRL",
        0,
        MASKED,
        Domain::Engine(EngineId::Bcs as u8),
    ),
    // The upstream driver takes the blitter's fault register for this one.
    Row(
        0x4394,
        "fault register of no Gen6 engine",
        0,
        Write::ReadOnly,
        Domain::Gt,
    ),
];

/// Bits that firmware has set in registers that the upstream driver reads before it writes: which
/// bits a machine's firmware sets is nowhere said, so they are any that upstream does not set.
const FIRMWARE_BITS: &[(u32, u32, &str)] = &[
    (0x9400, 1 << 16, "UCGCTL1: upstream adds two units"),
    (
        reg::TILECTL,
        1 << 3,
        "TILECTL: upstream adds bit 0 if memory is swizzled",
    ),
    (
        reg::GAM_ECOCHK,
        1 << 1,
        "GAM_ECOCHK: upstream adds bits 10, 4 and 3",
    ),
    (
        reg::GAC_ECO_BITS,
        1 << 4,
        "GAC_ECO_BITS: upstream adds bits 13, 9 and 8",
    ),
    (reg::GAB_CTL, 1 << 4, "GAB_CTL: upstream adds bit 8"),
    (
        0x4_2000,
        1 << 3,
        "display chicken 1: upstream adds bits 22 and 21",
    ),
    (
        0x4_2004,
        1 << 3,
        "display chicken 2: upstream adds bits 25, 22 and 21",
    ),
];
