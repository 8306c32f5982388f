// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands that the driver writes, beside those of all Intel chips ([`crate::intel::mi`]): one
//! type each, turned into dwords by `encode`.
//!
//! The document names them and leaves their bits out; those are from digest §2.1 and §2.2, cited by
//! row. A header is `opcode << 23 | flags | dwords - 2`.

pub(super) use crate::intel::mi::{mi, Flush, ARB_OFF, ARB_ON, NOOP, USER_INTERRUPT};
use crate::{
    intel::{
        mi::{batch_start, REGISTER},
        pipe_bits,
    },
    types::{GgttAddr, GpuAddr},
};

/// `MI_SET_PREDICATE` of mode 0: no later command is skipped (row 2).
pub(super) const PREDICATE_OFF: u32 = 0x01 << 23;
/// `MI_ARB_CHECK`: a preemption point (row 6, F2).
pub(super) const ARB_CHECK: u32 = 0x05 << 23;
/// `MI_ARB_CHECK` that stops the pre-parser (row 6: bit 8 says that bit 0 counts; T4).
pub(super) const PARSE_AHEAD_OFF: u32 = ARB_CHECK | 1 << 8 | 1;
/// `MI_ARB_CHECK` that restarts the pre-parser.
pub(super) const PARSE_AHEAD_ON: u32 = ARB_CHECK | 1 << 8;
/// `MI_BATCH_BUFFER_END` with the bit that marks the end of an image (row 9, D15).
pub(super) const IMAGE_END: u32 = 0x0a << 23 | 1;

/// `MI_FLUSH_DW` without a store: a flush that the parser waits for (row 27, S4).
pub(super) const STALLING_FLUSH: [u32; 4] = [mi(0x26, 4), 0, 0, 0];

/// Bits of an address in a PPGTT that a command can encode: 48 (§2.1).
const ADDRESS_BITS: u32 = 48;

/// Returns an address as two dwords; `None` if it has bits that no command can encode.
pub(super) fn split(addr: GpuAddr) -> Option<[u32; 2]> {
    (addr.0 >> ADDRESS_BITS == 0).then_some([addr.0 as u32, (addr.0 >> 32) as u32])
}

/// `MI_BATCH_BUFFER_START` (row 34).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BatchStart {
    addr: [u32; 2],
    user: bool,
}

impl BatchStart {
    /// Returns the command for `addr`, a quadword (J3); `None` if no command can encode that
    /// address.
    pub(super) fn at(addr: GpuAddr, user: bool) -> Option<Self> {
        let addr = split(addr).filter(|_| addr.0.is_multiple_of(8))?;
        Some(Self { addr, user })
    }

    /// Returns the dwords.
    pub(super) const fn encode(self) -> [u32; 3] {
        [batch_start(3, self.user), self.addr[0], self.addr[1]]
    }
}

/// `MI_LOAD_REGISTER_IMM` of one of the executing engine's own registers (row 24).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LoadRegister {
    /// Offset of the register from the engine's base.
    pub(super) offset: u32,
    /// The value to load.
    pub(super) value: u32,
}

impl LoadRegister {
    /// Bit 19: the offset is relative to the engine's base.
    pub(super) const OWN: u32 = 1 << 19;

    /// Returns the dwords.
    pub(super) const fn encode(self) -> [u32; 3] {
        [mi(0x22, 3) | Self::OWN, self.offset & REGISTER, self.value]
    }

    /// Returns the dwords for a register of the device, by its absolute offset.
    pub(super) const fn encode_absolute(self) -> [u32; 3] {
        [mi(0x22, 3), self.offset & REGISTER, self.value]
    }
}

/// `MI_LOAD_REGISTER_MEM` of a register of the engine, from the GGTT (row 30).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LoadFromMemory {
    /// Offset of the register from the engine's base.
    pub(super) offset: u32,
    /// The dword to load.
    pub(super) from: GgttAddr,
}

impl LoadFromMemory {
    /// Bit 22: the address is a GGTT address.
    const GLOBAL: u32 = 1 << 22;

    /// Returns the dwords.
    pub(super) const fn encode(self) -> [u32; 4] {
        let header = mi(0x29, 4) | Self::GLOBAL | LoadRegister::OWN;
        [header, self.offset & REGISTER, self.from.0 & !3, 0]
    }
}

/// `MI_LOAD_REGISTER_REG` between registers of the engine (row 31).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CopyRegister {
    /// Offset of the source from the engine's base.
    pub(super) from: u32,
    /// Offset of the destination.
    pub(super) to: u32,
}

impl CopyRegister {
    /// Bit 18: the source's offset is relative to the engine's base.
    const OWN_SOURCE: u32 = 1 << 18;

    /// Returns the dwords.
    pub(super) const fn encode(self) -> [u32; 3] {
        let header = mi(0x2a, 3) | Self::OWN_SOURCE | LoadRegister::OWN;
        [header, self.from & REGISTER, self.to & REGISTER]
    }
}

/// `PIPE_CONTROL`: the flush of render and compute, with a store of a quadword behind it (§2.2 row
/// 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PipeControl {
    /// Bit 9 of the header: flushes the pipeline of untyped data.
    pub(super) data_pipeline: bool,
    /// The flushes, invalidations and stalls: those of [`pipe_bits`], and those below.
    pub(super) flags: u32,
    /// GGTT address of a quadword to store, and its low half; the upper half is zero.
    pub(super) store: Option<(GgttAddr, u32)>,
}

impl PipeControl {
    /// Bit 29: invalidates the command cache.
    pub(super) const COMMAND_INVALIDATE: u32 = 1 << 29;
    /// Bit 28: flushes tiles. 3D.
    pub(super) const TILE_FLUSH: u32 = 1 << 28;
    /// Bit 27: flushes L3.
    pub(super) const L3_FLUSH: u32 = 1 << 27;
    /// Returns the bits without those that an engine without a 3D pipeline does not have.
    pub(super) const ONLY_3D: u32 = Self::TILE_FLUSH
        | pipe_bits::RENDER_FLUSH
        | pipe_bits::VERTEX_INVALIDATE
        | pipe_bits::DEPTH_FLUSH;

    /// Bit 24: the address is a GGTT address.
    const GLOBAL: u32 = 1 << 24;
    /// Bit 9 of the header.
    const DATA_PIPELINE: u32 = 1 << 9;

    /// Returns the dwords.
    pub(super) const fn encode(self) -> [u32; 6] {
        let header = 0x7a00_0004
            | if self.data_pipeline {
                Self::DATA_PIPELINE
            } else {
                0
            };
        match self.store {
            Some((at, value)) => [
                header,
                self.flags | pipe_bits::STORE | Self::GLOBAL,
                at.0 & 0xffff_fff8,
                0,
                value,
                0,
            ],
            None => [header, self.flags, 0, 0, 0, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_2_1() {
        assert_eq!(
            [
                PREDICATE_OFF,
                USER_INTERRUPT,
                ARB_CHECK,
                ARB_OFF,
                ARB_ON,
                IMAGE_END
            ],
            [
                0x0080_0000,
                0x0100_0000,
                0x0280_0000,
                0x0400_0000,
                0x0400_0001,
                0x0500_0001
            ]
        );
        let load = LoadRegister {
            offset: 0x204,
            value: 7,
        };
        // Row 24: 0x11000000, length 1, bit 19.
        assert_eq!(load.encode(), [0x1108_0001, 0x204, 7]);
    }

    /// Bits 22, 19 and 18, as in upstream's `gen12_emit_timestamp_wa`.
    #[test]
    fn registers_are_loaded_from_memory_and_from_registers() {
        let load = LoadFromMemory {
            offset: 0x600,
            from: GgttAddr(0x0045_7214),
        };
        assert_eq!(load.encode(), [0x14c8_0002, 0x600, 0x0045_7214, 0]);
        let copy = CopyRegister {
            from: 0x600,
            to: 0x84,
        };
        assert_eq!(copy.encode(), [0x150c_0001, 0x600, 0x84]);
    }

    #[test]
    fn batches_are_anywhere_in_48_bits() {
        let start = |addr, user| BatchStart::at(GpuAddr(addr), user).map(BatchStart::encode);
        assert_eq!(
            start(0xffff_1234_5678, true),
            Some([0x1880_0101, 0x1234_5678, 0xffff])
        );
        assert_eq!(start(0x8, false), Some([0x1880_0001, 8, 0]));
        for no in [0x1_0000_0000_0000, u64::MAX, 4, 1] {
            assert_eq!(start(no, true), None);
        }
    }

    #[test]
    fn a_flush_stores_a_dword_of_the_global_table() {
        let flush = Flush {
            invalidate_tlb: true,
            invalidate_video: true,
            store: (GgttAddr(0x0040_0200), 9),
        };
        // Row 27: bits 18, 15:14, 7; length 2; bit 2 of the address.
        assert_eq!(flush.encode_wide(), [0x1304_4082, 0x0040_0204, 0, 9]);
        // G7: bit 5 must always be clear.
        let odd = Flush {
            store: (GgttAddr(0x0040_0220), 9),
            ..flush
        };
        assert_eq!(odd.encode_wide()[1] & 0x20, 0);
    }

    #[test]
    fn a_pipe_control_has_six_dwords() {
        let stall = PipeControl {
            data_pipeline: true,
            flags: pipe_bits::COMMAND_STALL,
            store: Some((GgttAddr(0x0040_0200), 9)),
        };
        // §2.2 row 1: header bit 9; flags 24, 20, 15:14.
        assert_eq!(
            stall.encode(),
            [0x7a00_0204, 0x0110_4000, 0x0040_0200, 0, 9, 0]
        );
        let depth = PipeControl {
            data_pipeline: false,
            flags: pipe_bits::DEPTH_FLUSH,
            store: None,
        };
        assert_eq!(depth.encode(), [0x7a00_0004, 1, 0, 0, 0, 0]);
    }
}
