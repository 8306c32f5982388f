// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The three engines: the parts of their descriptions that both generations share.

use super::gt_regs::{
    FAULT_BLITTER, FAULT_RENDER, FAULT_VIDEO, GT_BLITTER_ERROR, GT_BLITTER_USER, GT_RENDER_ERROR,
    GT_RENDER_USER, GT_VIDEO_ERROR, GT_VIDEO_USER,
};
use crate::{
    engine::EngineDesc,
    intel::ring::{
        emit::Recipe,
        engine::{self, Kind, RingEngine, NOTHING_REPORTED, RENDER_UNREPORTED},
        golden::Golden,
        regs::{Base, ERROR_INSTRUCTION, ERROR_PAGE_TABLE},
        RingChip,
    },
    report::Names,
};

/// Returns the base of an engine's registers.
const fn base(kind: Kind) -> Base {
    match kind {
        Kind::Render => Base::RENDER,
        Kind::Blitter => Base::BLITTER,
        Kind::Video => Base::VIDEO,
    }
}

/// Returns the core's description of an engine without a reset of its own.
pub(crate) const fn desc(kind: Kind, recipe: &Recipe, golden: Option<&Golden>) -> EngineDesc {
    engine::desc(kind, base(kind), recipe, golden)
}

/// Creates an engine with only the parts that both generations share. `status_page` is the register
/// with the address of its HWSP.
pub(crate) const fn plain(
    chip: &'static RingChip,
    kind: Kind,
    desc: &'static EngineDesc,
    recipe: &'static Recipe,
    status_page: u32,
    names: &'static Names,
) -> RingEngine {
    let (unreported, fault, user, error) = match kind {
        Kind::Render => (
            RENDER_UNREPORTED,
            FAULT_RENDER,
            GT_RENDER_USER,
            GT_RENDER_ERROR,
        ),
        Kind::Blitter => (
            NOTHING_REPORTED,
            FAULT_BLITTER,
            GT_BLITTER_USER,
            GT_BLITTER_ERROR,
        ),
        Kind::Video => (NOTHING_REPORTED, FAULT_VIDEO, GT_VIDEO_USER, GT_VIDEO_ERROR),
    };
    RingEngine {
        chip,
        desc,
        kind,
        base: base(kind),
        status_page,
        unreported: Some(unreported),
        fault: Some(fault),
        more_units: None,
        reset: None,
        user,
        error,
        errors: ERROR_INSTRUCTION | ERROR_PAGE_TABLE,
        recipe,
        handshake: false,
        streams: None,
        golden: None,
        checker: None,
        names,
        details: None,
    }
}
