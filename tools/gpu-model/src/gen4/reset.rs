// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The reset: byte C0h of the configuration space (G-20). Bit 0 asks for it, bit 1 says that it is under way, 3:2 are
//! the domain: 0 everything, 1 render, 3 media.
//!
//! 965 is in reset from the one write to the other: bit 1 follows bit 0. On G45 and GM45 bit 0 clears itself when a
//! domain has been reset.

use super::{bits, errors};
use crate::fault::Kind;
use crate::ring::core::Core;
use crate::ring::lint::Rule;

/// Its place.
pub(crate) const BYTE: usize = 0xc0;
const ENABLE: u8 = 1 << 0;
const STATUS: u8 = 1 << 1;
const DOMAIN: u8 = 3 << 2;
const RENDER: u8 = 1 << 2;
const MEDIA: u8 = 3 << 2;
/// How long a late one takes (habit `late_reset`), in microseconds.
const LATE_US: u64 = 50;
/// The bit of clock gating that lets a reset of the media domain through.
const VIDEO_CLOCK: u32 = 1 << 4;

/// The byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Byte {
    shown: u8,
    /// It will show this.
    later: Option<(u64, u8)>,
}

/// The byte as it reads.
pub(crate) fn byte_read(core: &mut Core, offset: usize) -> Option<u8> {
    if offset != BYTE {
        return None;
    }
    let now = core.notes.clock.now();
    core.settle();
    settle(core, now);
    Some(core.own.reset.shown)
}

/// Completes delayed effects that are due.
pub(crate) fn settle(core: &mut Core, now: u64) {
    if let Some((_, value)) = core.own.reset.later.take_if(|l| l.0 <= now) {
        core.own.reset.shown = value;
    }
}

/// The configuration space was written.
pub(crate) fn config_written(core: &mut Core, offset: usize, data: &[u8]) {
    let Some(byte) = BYTE.checked_sub(offset).and_then(|i| data.get(i)) else {
        return;
    };
    // The test capability's dword that lies here is read only.
    if data.len() != 1 {
        return;
    }
    let byte = byte & (ENABLE | DOMAIN);
    if byte & ENABLE == 0 {
        show(core, byte);
        return;
    }
    let mask = match byte & DOMAIN {
        0 => 1,
        RENDER => 1 << 1,
        MEDIA => 1 << 2,
        _ => {
            core.lint(Rule::Reserved, || format!("reset domain {byte:#x}"));
            return;
        }
    };
    if core.gen4().g4x && mask == 1 << 2 && core.get(bits::VDECCLK_GATE_D) & VIDEO_CLOCK == 0 {
        core.lint(Rule::VideoClock, || format!("{byte:#x}"));
    }
    let busy = if core.gen4().g4x { byte } else { byte | STATUS };
    if core.inject(Kind::StuckReset, "").is_some() {
        // Nothing is reset, and the byte does not move: 965 does not say that it is in reset, the others do not say
        // that they are done.
        core.own.reset.shown = byte;
        core.own.reset.later = None;
        return;
    }
    let late = core.inject(Kind::LateReset, "");
    let domain = if core.gen4().g4x { mask } else { 1 };
    core.reset_now(domain);
    let after = if core.gen4().g4x {
        byte & !ENABLE
    } else {
        busy
    };
    match late.or(core.cfg.real.late_reset.then_some(LATE_US)) {
        Some(us) => {
            core.own.reset.shown = byte;
            core.own.reset.later = Some((core.in_us(us), after));
        }
        None => show(core, after),
    }
}

fn show(core: &mut Core, value: u8) {
    if core.cfg.real.late_reset && core.own.reset.shown & STATUS != 0 && value & ENABLE == 0 {
        core.own.reset.later = Some((core.in_us(LATE_US), value));
        return;
    }
    core.own.reset = Byte {
        shown: value,
        later: None,
    };
}

/// A reset is done: bit 0 everything, 1 render, 2 media (5.9).
pub(crate) fn done(core: &mut Core, mask: u32) {
    if let Some(cache) = &core.own.cache {
        if mask & 3 != 0 {
            cache.forget();
        }
    }
    if mask & 3 != 0 {
        // Fences are invalid.
        for offset in core.cfg.chip.fences.range().step_by(4) {
            core.set(offset, 0);
        }
    }
    if mask & 1 != 0 {
        core.queued_events = 0;
        core.dark();
        super::display::dark(&mut core.own);
        // 5.9: "the GTT is disabled". Of its base and size the document says nothing.
        let lost = core.cfg.real.lost_base && !core.gen4().g4x;
        let kept = if lost { 0 } else { !1 };
        core.set(bits::PGTBL_CTL, core.get(bits::PGTBL_CTL) & kept);
    }
    errors::table_switched(core);
}
