// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The flush command of the render engine. [`crate::intel::mi`] has the other commands that the
//! driver writes.
//!
//! SNB PRM V1P2 §5.3.8 describes it; the bits are from §2.4 of the digest.

use crate::{
    intel::{mi::GLOBAL, pipe_bits},
    types::GgttAddr,
};

/// `PIPE_CONTROL`: the flush of the render engine (§5.3.8, digest §2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PipeControl {
    /// The flushes, invalidations and stalls: bits of [`pipe_bits`].
    pub(crate) flags: u32,
    /// GGTT address and value of a quadword to store afterwards; see
    /// [`crate::intel::mi::Flush::store`].
    pub(crate) store: Option<(GgttAddr, u32)>,
}

/// Bit 16 of the flags: clear the state of the media pipeline. From Gen7 on.
pub(crate) const MEDIA_STATE_CLEAR: u32 = 1 << 16;
/// Bit 24 of the flags: the store's address is a GGTT address. From Gen7 on; earlier, a bit of the
/// address.
const STORE_GLOBAL: u32 = 1 << 24;

impl PipeControl {
    /// Makes the parser wait for the engine, and does nothing else.
    pub(crate) const STALL: Self = Self {
        flags: pipe_bits::SCOREBOARD_STALL | pipe_bits::COMMAND_STALL,
        store: None,
    };

    /// Creates a command with a store.
    pub(crate) const fn storing(flags: u32, at: GgttAddr, number: u32) -> Self {
        Self {
            flags,
            store: Some((at, number)),
        }
    }

    /// Returns the dwords for Gen7: a dword is stored, and a flag selects the GGTT. The header:
    /// client 3D (type 3), subtype 3, opcode 2, subopcode 0.
    pub(crate) const fn encode_dword(self) -> [u32; 4] {
        let header = 0x7a00_0000 | 2;
        match self.store {
            Some((addr, value)) => [
                header,
                self.flags | pipe_bits::STORE | STORE_GLOBAL,
                addr.0 & 0xffff_fffc,
                value,
            ],
            None => [header, self.flags, 0, 0],
        }
    }

    /// Returns the dwords for Gen6. The header: client 3D (type 3), subtype 3, opcode 2, subopcode
    /// 0.
    pub(crate) const fn encode(self) -> [u32; 5] {
        let header = 0x7a00_0000 | 3;
        match self.store {
            Some((addr, value)) => [
                header,
                self.flags | pipe_bits::STORE,
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
            flags: pipe_bits::COMMAND_STALL,
            store: Some((GgttAddr(0x3000), 5)),
        };
        assert_eq!(p.encode(), [0x7a00_0003, 0x0010_4000, 0x3004, 5, 0]);
        let p = PipeControl {
            flags: pipe_bits::COMMAND_STALL | pipe_bits::SCOREBOARD_STALL,
            store: None,
        };
        assert_eq!(p.encode(), [0x7a00_0003, 0x0010_0002, 0, 0, 0]);
    }

    #[test]
    fn on_gen7_the_global_bit_is_a_flag() {
        // Bits 7, 16 and 24 of dword 1: the public XML of Gen7's commands.
        let p = PipeControl {
            flags: pipe_bits::COMMAND_STALL | pipe_bits::FLUSH_ENABLE | MEDIA_STATE_CLEAR,
            store: Some((GgttAddr(0x3000), 5)),
        };
        assert_eq!(p.encode_dword(), [0x7a00_0002, 0x0111_4080, 0x3000, 5]);
        let p = PipeControl {
            flags: pipe_bits::COMMAND_STALL | pipe_bits::SCOREBOARD_STALL,
            store: None,
        };
        assert_eq!(p.encode_dword(), [0x7a00_0002, 0x0010_0002, 0, 0]);
    }

    #[test]
    fn pipe_control_flags_are_those_of_digest_2_4() {
        for (flag, bit) in [
            (pipe_bits::DEPTH_FLUSH, 0),
            (pipe_bits::SCOREBOARD_STALL, 1),
            (pipe_bits::STATE_INVALIDATE, 2),
            (pipe_bits::CONSTANT_INVALIDATE, 3),
            (pipe_bits::VERTEX_INVALIDATE, 4),
            (pipe_bits::DATA_FLUSH, 5),
            (pipe_bits::FLUSH_ENABLE, 7),
            (pipe_bits::TEXTURE_INVALIDATE, 10),
            (pipe_bits::INSTRUCTION_INVALIDATE, 11),
            (pipe_bits::RENDER_FLUSH, 12),
            (pipe_bits::TLB_INVALIDATE, 18),
            (pipe_bits::COMMAND_STALL, 20),
        ] {
            assert_eq!(flag, 1 << bit);
        }
    }
}
