// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands that an engine runs in the middle of each context restore (K4), for registers that the
//! restore does not cover. They are behind the context in its image, so each context has its own.
//!
//! The commands and their reasons are from the upstream driver (`gt/intel_lrc.c`,
//! `gt/intel_gt_regs.h`, Linux 7.3). Upstream also loads the context's clock there, which this
//! driver does not use, and the cache control of command buffers through a general register, which
//! it then has to restore.

use super::{
    commands::{LoadRegister, PipeControl, NOOP},
    faults::{VERTEX_WATERMARK, WATERMARK},
    parts::Parts,
};
use crate::{intel::pipe_bits, types::EngineClass};

/// Dwords of a cache line; the commands fill lines.
const LINE: usize = 16;

/// Returns the commands of an engine, in one line. `None` if it has none.
pub(super) fn commands(class: EngineClass, parts: Parts) -> Option<[u32; LINE]> {
    let mut line = [NOOP; LINE];
    let mut to = line.iter_mut();
    let mut put = |dwords: &[u32]| {
        for (from, to) in dwords.iter().zip(&mut to) {
            *to = *from;
        }
    };
    let render = class == EngineClass::Render;
    // Workaround 16013000631.
    let drops = parts.any(Parts::G11) && (render || class == EngineClass::Compute);
    if render {
        // Workaround 16014892111: the register loses its value.
        let watermark = LoadRegister {
            offset: WATERMARK,
            value: VERTEX_WATERMARK,
        };
        put(&watermark.encode_absolute());
    }
    if drops {
        let drop = PipeControl {
            data_pipeline: false,
            flags: pipe_bits::INSTRUCTION_INVALIDATE,
            store: None,
        };
        put(&drop.encode());
    }
    (render || drops).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upstream's `gen12_emit_indirect_ctx_rcs` and `_xcs`: DRAW_WATERMARK at 26C0h is 3FFh.
    #[test]
    fn commands_are_those_of_upstream() {
        let mut render = [0; 16];
        render[..3].copy_from_slice(&[0x1100_0001, 0x26c0, 0x3ff]);
        assert_eq!(commands(EngineClass::Render, Parts::G10), Some(render));
        assert_eq!(commands(EngineClass::Render, Parts::G12), Some(render));
        // Bit 11: instructions.
        render[3..5].copy_from_slice(&[0x7a00_0004, 0x800]);
        let server = Parts::G11.and(Parts::SERVER);
        assert_eq!(commands(EngineClass::Render, Parts::G11), Some(render));
        assert_eq!(commands(EngineClass::Render, server), Some(render));
        let mut compute = [0; 16];
        compute[..2].copy_from_slice(&[0x7a00_0004, 0x800]);
        assert_eq!(commands(EngineClass::Compute, Parts::G11), Some(compute));
        assert_eq!(commands(EngineClass::Compute, Parts::G10), None);
        for class in [
            EngineClass::Copy,
            EngineClass::Video,
            EngineClass::VideoEnhance,
        ] {
            assert_eq!(commands(class, Parts::G11), None);
        }
    }
}
