// SPDX-License-Identifier: GPL-2.0
//! The command that flushes the render engine. The others that the driver writes are those of [`crate::intel::mi`].
//!
//! SNB PRM V1P2 §5.3.8 says what it does; its bits are from §2.4 of the digest.

use crate::{intel::mi::GLOBAL, types::GgttAddr};

/// `PIPE_CONTROL`: the flush of the render engine (§5.3.8, digest §2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PipeControl {
    /// What to flush, invalidate and wait for: constants of this type.
    pub(crate) flags: u32,
    /// A quadword to store behind it, as with [`crate::intel::mi::Flush::store`].
    pub(crate) store: Option<(GgttAddr, u32)>,
}

impl PipeControl {
    /// Bit 0: write back the depth cache.
    pub(crate) const DEPTH_FLUSH: u32 = 1 << 0;
    /// Bit 1: wait for pixels before this one.
    pub(crate) const SCOREBOARD_STALL: u32 = 1 << 1;
    /// Bit 2: drop cached state.
    pub(crate) const STATE_INVALIDATE: u32 = 1 << 2;
    /// Bit 3: drop cached constants.
    pub(crate) const CONSTANT_INVALIDATE: u32 = 1 << 3;
    /// Bit 4: drop cached vertices.
    pub(crate) const VERTEX_INVALIDATE: u32 = 1 << 4;
    /// Bit 5: write back the data cache.
    pub(crate) const DATA_FLUSH: u32 = 1 << 5;
    /// Bit 10: drop cached textures.
    pub(crate) const TEXTURE_INVALIDATE: u32 = 1 << 10;
    /// Bit 11: drop cached instructions.
    pub(crate) const INSTRUCTION_INVALIDATE: u32 = 1 << 11;
    /// Bit 12: write back the render target cache.
    pub(crate) const RENDER_FLUSH: u32 = 1 << 12;
    /// Bits 15:14 are 1: store the data.
    const STORE: u32 = 1 << 14;
    /// Bit 18: drop translations. Only with a store.
    pub(crate) const TLB_INVALIDATE: u32 = 1 << 18;
    /// Bit 20: the parser waits too.
    pub(crate) const COMMAND_STALL: u32 = 1 << 20;

    /// The dwords. The header is of the 3D client: type 3, subtype 3, opcode 2, subopcode 0.
    pub(crate) const fn encode(self) -> [u32; 5] {
        let header = 0x7a00_0000 | 3;
        match self.store {
            Some((addr, value)) => [
                header,
                self.flags | Self::STORE,
                (addr.0 & 0xffff_fff8) | GLOBAL,
                value,
                0,
            ],
            None => [header, self.flags, 0, 0, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipe_control_has_the_global_bit_in_its_address() {
        // Digest §2.4: bit 2 of dword 2 on this generation.
        let p = PipeControl {
            flags: PipeControl::COMMAND_STALL,
            store: Some((GgttAddr(0x3000), 5)),
        };
        assert_eq!(p.encode(), [0x7a00_0003, 0x0010_4000, 0x3004, 5, 0]);
        let p = PipeControl {
            flags: PipeControl::COMMAND_STALL | PipeControl::SCOREBOARD_STALL,
            store: None,
        };
        assert_eq!(p.encode(), [0x7a00_0003, 0x0010_0002, 0, 0, 0]);
    }

    #[test]
    fn pipe_control_flags_are_those_of_digest_2_4() {
        for (flag, bit) in [
            (PipeControl::DEPTH_FLUSH, 0),
            (PipeControl::SCOREBOARD_STALL, 1),
            (PipeControl::STATE_INVALIDATE, 2),
            (PipeControl::CONSTANT_INVALIDATE, 3),
            (PipeControl::VERTEX_INVALIDATE, 4),
            (PipeControl::DATA_FLUSH, 5),
            (PipeControl::TEXTURE_INVALIDATE, 10),
            (PipeControl::INSTRUCTION_INVALIDATE, 11),
            (PipeControl::RENDER_FLUSH, 12),
            (PipeControl::TLB_INVALIDATE, 18),
            (PipeControl::COMMAND_STALL, 20),
        ] {
            assert_eq!(flag, 1 << bit);
        }
    }
}
