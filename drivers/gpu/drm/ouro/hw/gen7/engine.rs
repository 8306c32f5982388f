// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The three engines.

use super::{check, details, emit, golden, names, regs, CHIP};
use crate::{
    engine::{Engine, EngineDesc},
    intel::{
        processor::{
            engines,
            names::{BLITTER as BLITTER_NAMES, VIDEO as VIDEO_NAMES},
        },
        ring::{
            emit::Recipe,
            engine::{Kind, RingEngine},
            golden::Golden,
            regs::ERROR_INSTRUCTION,
        },
    },
};

/// Bits 31:29 of a ring's address are zero: the ring is below 512 MiB (VCS-033). The upstream
/// driver has no such limit.
const RING_END: u64 = 512 << 20;

/// Returns the core's description of an engine. Each engine has its own reset group.
const fn desc(kind: Kind, recipe: &Recipe, golden: Option<&Golden>) -> EngineDesc {
    EngineDesc {
        ring_end: RING_END,
        reset_group: Some(kind as u8),
        ..engines::desc(kind, recipe, golden)
    }
}

/// The render engine.
static RENDER: RingEngine = RingEngine {
    more_units: Some(regs::SC_INSTDONE),
    reset: Some(regs::GDRST_RENDER),
    streams: Some(emit::restart_streams),
    golden: Some(&golden::GOLDEN),
    checker: Some(&check::RENDER),
    ..engines::plain(
        &CHIP,
        Kind::Render,
        &desc(Kind::Render, &emit::RENDER, Some(&golden::GOLDEN)),
        &emit::RENDER,
        regs::HWS_PGA_RENDER,
        &names::RENDER,
    )
};

/// The blitter.
static BLITTER: RingEngine = RingEngine {
    reset: Some(regs::GDRST_BLITTER),
    checker: Some(&check::BLITTER),
    ..engines::plain(
        &CHIP,
        Kind::Blitter,
        &desc(Kind::Blitter, &emit::BLITTER, None),
        &emit::BLITTER,
        regs::HWS_PGA_BLITTER,
        &BLITTER_NAMES,
    )
};

/// The video engine. Only Gen6 needs a wake-up before a tail (V-13). The engine has one kind of
/// error (VCS-080, VCS-081).
static VIDEO: RingEngine = RingEngine {
    reset: Some(regs::GDRST_VIDEO),
    errors: ERROR_INSTRUCTION,
    checker: Some(&check::VIDEO),
    details: Some(&details::VIDEO),
    ..engines::plain(
        &CHIP,
        Kind::Video,
        &desc(Kind::Video, &emit::VIDEO, None),
        &emit::VIDEO,
        regs::HWS_PGA_VIDEO,
        &VIDEO_NAMES,
    )
};

/// The engines, in the order of the topology.
pub(super) static RINGS: [&RingEngine; 3] = [&RENDER, &BLITTER, &VIDEO];
/// The engines, for the core.
pub(super) static ENGINES: [&dyn Engine; 3] = [&RENDER, &BLITTER, &VIDEO];

#[cfg(test)]
mod tests;
