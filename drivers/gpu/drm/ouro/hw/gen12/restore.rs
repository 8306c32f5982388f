// SPDX-License-Identifier: GPL-2.0
//! Commands that an engine runs in the middle of each restore of a context (K4), for registers that it does not
//! restore itself. They stand behind the context in its image, so each context has its own.
//!
//! Which ones, and for what, is the upstream driver's word (`gt/intel_lrc.c`, `gt/intel_gt_regs.h`, Linux 7.3).
//! It also loads the context's clock there, which nobody reads here, and the cache control of command buffers, by
//! a general register that it then has to load as well.

use super::{
    commands::{LoadRegister, PipeControl, NOOP},
    faults::{VERTEX_WATERMARK, WATERMARK},
    parts::Parts,
};
use crate::{intel::pipe_bits, types::EngineClass};

/// Dwords of a line, of which the commands are so many.
const LINE: usize = 16;

/// The commands of an engine, in one line. None if it has none.
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
        // Workaround 16014892111: the register forgets.
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
