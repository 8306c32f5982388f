// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The tables of workarounds ([`super::workarounds`]).
//!
//! The document has none. The source is the upstream driver, Linux 7.3: which registers it sets on
//! DG2, to which values, on which parts, and when (`gt/intel_workarounds.c`, and the first row
//! `intel_clock_gating.c`; offsets from `gt/intel_gt_regs.h` and `gt/intel_engine_regs.h`). The
//! order is that of its functions. Some workarounds are elsewhere, there and here: 14016712196 in
//! `emit`, 22011802037 in `engine` and `reset`, 14019159160 in `settings`; those in the commands of
//! a context restore in `restore`.

use super::{
    parts::Parts,
    workarounds::{
        Change::{self, Fields, Masked},
        RegisterAt::{self, Card, Own},
        Row,
    },
};
use crate::types::EngineClass::{self, Copy, Render, Video};

/// A setting for performance, recommended by Intel.
const TUNING: &str = "tuning";

const RENDER: &[EngineClass] = &[Render];
const COPY: &[EngineClass] = &[Copy];
const VIDEO: &[EngineClass] = &[Video];

const fn row(number: &'static str, name: &'static str, at: RegisterAt, change: Change) -> Row {
    Row {
        number,
        name,
        at,
        change,
        on: &[],
        parts: Parts::ALL,
        reads: true,
    }
}

/// Restricts a row to the engines `on`.
const fn of(on: &'static [EngineClass], row: Row) -> Row {
    Row { on, ..row }
}

/// Restricts a row to some parts.
const fn only(parts: Parts, row: Row) -> Row {
    Row { parts, ..row }
}

/// Marks a register that does not read back what was written.
const fn unread(row: Row) -> Row {
    Row {
        reads: false,
        ..row
    }
}

/// Sets bits of a register that is not masked.
const fn set(bits: u32) -> Change {
    Fields {
        clear: 0,
        set: bits,
    }
}

/// Clears bits.
const fn clear(bits: u32) -> Change {
    Fields {
        clear: bits,
        set: 0,
    }
}

/// Sets a field of a register that is not masked.
const fn field(all: u32, value: u32) -> Change {
    Fields {
        clear: all & !value,
        set: value,
    }
}

/// Sets bits of a masked register.
const fn enable(bits: u16) -> Change {
    Masked {
        set: bits,
        clear: 0,
    }
}

/// Sets a field of a masked register.
const fn choose(all: u16, value: u16) -> Change {
    Masked {
        set: value,
        clear: all & !value,
    }
}

/// Registers that a reset of all engines loses.
#[rustfmt::skip]
pub(super) static CARD: [Row; 14] = [
    row("22010954014", "XEHP_CLOCK_GATE_DIS", Card(0x10_1014), set(SIDEBAND_CLOCK)),
    row(TUNING, "XEHP_L3SCQREG7", Card(0xb188), set(BLEND_FILL_UNCACHED)),
    row(TUNING, "XEHP_SQCM", Card(0x8724), set(ACCESS_OF_32)),
    of(VIDEO, row("14011060649", "VDBOX_CGCTL3F10", Own(0x3f10), set(IECP_CLOCK))),
    only(Parts::G10, row("22010523718", "UNSLICE_UNIT_LEVEL_CLKGATE",
        Card(0x9434), set(CG3DDISCFEG_CLOCK))),
    only(Parts::G10, row("14011006942", "SUBSLICE_UNIT_LEVEL_CLKGATE",
        Card(0x9524), set(DSS_ROUTER_CLOCK))),
    row("14014830051", "SARB_CHICKEN1", Card(0xe90c), clear(COMP_CKN_IN)),
    // Firmware may have locked it.
    unread(row("14015795083", "MISCCPCTL", Card(0x9424), clear(RENDER_CLOCK_GATE))),
    row("18018781329", "RENDER_MOD_CTRL", Card(0xcf2c), set(FORCE_MISS_FTLB)),
    row("18018781329", "COMP_MOD_CTRL", Card(0xcf30), set(FORCE_MISS_FTLB)),
    row("18018781329", "XEHP_VDBX_MOD_CTRL", Card(0xcf34), set(FORCE_MISS_FTLB)),
    row("18018781329", "XEHP_VEBX_MOD_CTRL", Card(0xcf38), set(FORCE_MISS_FTLB)),
    row("1509235366", "XEHP_GAMCNTRL_CTRL",
        Card(0xcf54), set(INVALIDATION_NOT_BROADCAST | INVALIDATION_GLOBAL)),
    row("14010648519", "XEHP_L3NODEARBCFG", Card(0xb0b4), set(LNE_SPARE)),
];

/// Registers that a reset of an engine loses; render's include those that render and compute share,
/// since they are reset together.
#[rustfmt::skip]
pub(super) static ENGINE: [Row; 19] = [
    of(RENDER, row(TUNING, "RT_CTRL", Card(0xe530), field(STACK_IDS, STACK_IDS_512))),
    // The oldest thread first is best elsewhere.
    only(Parts::SERVER, of(RENDER, row(TUNING, "ROW_CHICKEN4",
        Card(0xe48c), choose(THREAD_ORDER, THREADS_IN_TURN)))),
    // User space assumes this for border colours, with bindless samplers.
    of(RENDER, row(TUNING, "SAMPLER_MODE", Card(0xe18c), enable(INDIRECT_STATE_BASE))),
    of(RENDER, row("22013037850", "LSC_CHICKEN_BIT_0_UDW", Card(0xe7cc), set(NO_EVICTION_OF_128))),
    of(RENDER, row("18017747507", "VFG_PREEMPTION_CHICKEN",
        Card(0x83b4), enable(NO_LOOP_PREEMPTION))),
    of(RENDER, row("22014226127", "LSC_CHICKEN_BIT_0", Card(0xe7c8), set(NO_D8_D16_COALESCING))),
    of(RENDER, row("14015227452", "ROW_CHICKEN4", Card(0xe48c), enable(NO_BBL_SYSPIPE))),
    of(RENDER, row("22015475538", "LSC_CHICKEN_BIT_0_UDW", Card(0xe7cc), set(NO_CHAIN_2XSIMD8))),
    of(RENDER, row("18028616096", "LSC_CHICKEN_BIT_0_UDW", Card(0xe7cc), set(UGM_FRAGMENTS_3))),
    // 22013059131, too.
    only(Parts::G11, of(RENDER, row("22012826095", "LSC_CHICKEN_BIT_0_UDW",
        Card(0xe7cc), field(BANK_REQUESTS, BANK_REQUESTS_2)))),
    only(Parts::G11, of(RENDER, row("22013059131", "LSC_CHICKEN_BIT_0",
        Card(0xe7c8), set(ONE_MESSAGE_PER_FRAGMENT)))),
    // It can only be written.
    only(Parts::G11, of(RENDER, unread(row("22012654132", "CACHE_MODE_SS",
        Card(0xe420), enable(PREFETCH_INTO_IC))))),
    of(RENDER, row("1509727124", "SAMPLER_MODE", Card(0xe18c), enable(NO_POWER_OPTIMIZATION))),
    of(RENDER, row("22012856258", "ROW_CHICKEN2", Card(0xe4f4), enable(NO_READ_SUPPRESSION))),
    // 14013347512, too.
    of(RENDER, row("22010960976", "XEHP_HDC_CHICKEN0", Card(0xe5f0), choose(L1_FLUSH_EVENTS, 0))),
    of(RENDER, unread(row("14015150844", "XEHP_HDC_CHICKEN0",
        Card(0xe5f0), enable(NO_ATOMIC_CHAINS)))),
    of(RENDER, row("18019627453", "CS_DEBUG_MODE1", Card(0x20ec), enable(NO_FF_CLOCK_GATE))),
    // Preemption control by batches (CS_CHICKEN1) applies within 3D commands only.
    of(RENDER, row(TUNING, "FF_SLICE_CS_CHICKEN1", Card(0x20e0), enable(PREEMPTION_BY_CONTEXT))),
    // 16018063123, too.
    of(COPY, row("16018031267", "ECOSKPD", Own(0x1d0), choose(BLITTER_ORDER, BLITTERS_IN_TURN))),
];

/// Registers in context images.
#[rustfmt::skip]
pub(super) static CONTEXT: [Row; 8] = [
    of(RENDER, row(TUNING, "CHICKEN_RASTER_2", Card(0x6208), enable(FAST_CLIP))),
    of(RENDER, row(TUNING, "XEHP_L3SQCREG5", Card(0xb158), field(PWM_TIMER, PWM_TIMER_127))),
    of(RENDER, row(TUNING, "XEHP_FF_MODE2", Card(0x6604), field(TDS_TIMER, TDS_TIMER_128))),
    of(RENDER, row("16013271637", "XEHP_SLICE_COMMON_ECO_CHICKEN1",
        Card(0x731c), enable(NO_MSAA_BYPASS))),
    of(RENDER, row("14014947963", "VF_PREEMPTION", Card(0x83a4), choose(VERTICES, VERTICES_16384))),
    of(RENDER, row("18018764978", "XEHP_PSS_MODE2", Card(0x703c), enable(SCOREBOARD_STALL_FLUSH))),
    of(RENDER, row("18019271663", "CACHE_MODE_1", Card(0x7004), enable(NO_MSAA_REDUCTION))),
    of(RENDER, row("14019877138", "XEHP_PSS_CHICKEN", Card(0x7044), enable(FD_END_COLLECT))),
];

/// DRAW_WATERMARK, which is loaded within each restore ([`super::restore`]).
pub(super) const WATERMARK: u32 = 0x26c0;
/// Its value: bits 9:0, of vertices.
pub(super) const VERTEX_WATERMARK: u32 = 0x3ff;

/// Registers that batches of an engine may write: user space sets them, as Intel recommends.
pub(super) const fn open(class: EngineClass) -> &'static [u32] {
    match class {
        // COMMON_SLICE_CHICKEN3, COMMON_SLICE_CHICKEN1.
        Render => &[0x7304, 0x7010],
        _ => &[],
    }
}

// The bits and fields, by their effect.
const PREEMPTION_BY_CONTEXT: u16 = 1 << 14;
const BLEND_FILL_UNCACHED: u32 = 1 << 3;
const ACCESS_OF_32: u32 = 1 << 30;
const SIDEBAND_CLOCK: u32 = 1 << 17;
const IECP_CLOCK: u32 = 1 << 22;
const CG3DDISCFEG_CLOCK: u32 = 1 << 17;
const DSS_ROUTER_CLOCK: u32 = 1 << 28;
const COMP_CKN_IN: u32 = 3 << 29;
const RENDER_CLOCK_GATE: u32 = 1 << 1;
const FORCE_MISS_FTLB: u32 = 1 << 3;
const INVALIDATION_NOT_BROADCAST: u32 = 1 << 12;
const INVALIDATION_GLOBAL: u32 = 1 << 2;
const LNE_SPARE: u32 = 1 << 19;

const STACK_IDS: u32 = 3 << 5;
const STACK_IDS_512: u32 = 2 << 5;
const THREAD_ORDER: u16 = 3 << 2;
const THREADS_IN_TURN: u16 = 2 << 2;
const NO_BBL_SYSPIPE: u16 = 1 << 11;
const INDIRECT_STATE_BASE: u16 = 1 << 0;
const NO_POWER_OPTIMIZATION: u16 = 1 << 9;
const NO_EVICTION_OF_128: u32 = 1 << 4;
const BANK_REQUESTS: u32 = 7 << 5;
const BANK_REQUESTS_2: u32 = 2 << 5;
const NO_CHAIN_2XSIMD8: u32 = 1 << 23;
const UGM_FRAGMENTS_3: u32 = 1 << 26;
const ONE_MESSAGE_PER_FRAGMENT: u32 = 1 << 15;
const NO_D8_D16_COALESCING: u32 = 1 << 30;
const NO_LOOP_PREEMPTION: u16 = 1 << 4;
const PREFETCH_INTO_IC: u16 = 1 << 3;
const NO_READ_SUPPRESSION: u16 = 1 << 15;
const L1_FLUSH_EVENTS: u16 = 7 << 11;
const NO_ATOMIC_CHAINS: u16 = 1 << 3;
const NO_FF_CLOCK_GATE: u16 = 1 << 1;
const BLITTER_ORDER: u16 = 3 << 11;
const BLITTERS_IN_TURN: u16 = 1 << 11;

const FAST_CLIP: u16 = 1 << 5;
const PWM_TIMER: u32 = 0x3ff;
const PWM_TIMER_127: u32 = 0x7f;
const TDS_TIMER: u32 = 0xff << 16;
const TDS_TIMER_128: u32 = 4 << 16;
const NO_MSAA_BYPASS: u16 = 1 << 14;
const VERTICES: u16 = u16::MAX;
const VERTICES_16384: u16 = 0x4000;
const SCOREBOARD_STALL_FLUSH: u16 = 1 << 5;
const NO_MSAA_REDUCTION: u16 = 1 << 11;
const FD_END_COLLECT: u16 = 1 << 5;
