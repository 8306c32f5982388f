// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge (Gen6; SNB PRM V1P2). Offsets that it leaves out are from the digest (G-nn); what is said of
//! an engine's block is from the VCS PRM.

use super::{Chip, EngineCounters, EngineRow, PipeControl};
use crate::intel::{cmd3d, fence, mi, pte};
use crate::ring::blit;
use crate::ring::engine::EngineId;
use crate::ring::regs::reg;

/// 8086:0116 is the mobile GT2.
pub static SNB: Chip = Chip {
    name: "snb",
    ids: &[0x0116, 0x0102, 0x0112, 0x0122, 0x0106, 0x0126, 0x010a],
    engines: &[RCS, VCS, BCS],
    mi: mi::GEN6,
    // Digest §2.4.
    pipe_control: PipeControl {
        global: (2, 1 << 2),
        prelude: true,
    },
    pte: pte::GEN6,
    fences: fence::GEN6,
    // Eight lines in a batch (GM45, a real machine's error record; §5.3.4.2 says one at least), five in a ring
    // (Ironlake, the same: 284 bytes).
    ahead: [5, 8],
};

const RCS: EngineRow = EngineRow {
    id: EngineId::Rcs,
    base: 0x0_2000,
    // G-12.
    irq_shift: 0,
    // §5.7.2.1.
    fault: 0x4094,
    // G-08.
    hws_pga: 0x0_4080,
    // G-24.
    reset_bit: 1 << 1,
    mode: reg::GFX_MODE,
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
    three_d: Some(|header| cmd3d::render(cmd3d::GEN6, header)),
    counters: EngineCounters::RCS,
};

const VCS: EngineRow = EngineRow {
    id: EngineId::Vcs,
    base: 0x1_2000,
    irq_shift: 12,
    fault: 0x4194,
    hws_pga: 0x1_4080,
    reset_bit: 1 << 2,
    mode: reg::GFX_MODE,
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
    counters: EngineCounters::VCS,
};

const BCS: EngineRow = EngineRow {
    id: EngineId::Bcs,
    base: 0x2_2000,
    irq_shift: 22,
    fault: 0x4294,
    hws_pga: 0x2_4080,
    reset_bit: 1 << 3,
    mode: reg::GFX_MODE,
    conditions: 0xff,
    events: 0xffff,
    unreported: 0,
    reports_unmasked: false,
    flush_stopped: false,
    sleeps: false,
    head_waits: false,
    renders: false,
    two_d: Some(blit::decode),
    three_d: None,
    counters: EngineCounters::BCS,
};
