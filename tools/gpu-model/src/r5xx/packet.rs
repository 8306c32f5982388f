// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Type-3 packets: opcode to action (R5xx guide §5.1.4, §5.2; digest §2.2).

use super::core::Core;
use super::cp::Lockup;
use super::lint::Rule;
use super::regs::reg;
use crate::counters::Counter;

/// Opcodes. Bit 7 says that the body begins with GUI_CONTROL.
pub(crate) mod op {
    pub const NOP: u8 = 0x10;
    pub const NEXTCHAR: u8 = 0x19;
    pub const PLY_NEXTSCAN: u8 = 0x1d;
    pub const SET_SCISSORS: u8 = 0x1e;
    pub const PRED_EXEC: u8 = 0x20;
    pub const COND_EXEC: u8 = 0x21;
    pub const WAIT_SEMAPHORE: u8 = 0x22;
    pub const WAIT_MEM: u8 = 0x23;
    pub const DRAW_VBUF: u8 = 0x28;
    pub const DRAW_IMMD: u8 = 0x29;
    pub const DRAW_INDX: u8 = 0x2a;
    pub const LOAD_PALETTE: u8 = 0x2c;
    pub const LOAD_VBPNTR: u8 = 0x2f;
    pub const CLEAR_ZMASK: u8 = 0x32;
    pub const INDX_BUFFER: u8 = 0x33;
    pub const DRAW_VBUF_2: u8 = 0x34;
    pub const DRAW_IMMD_2: u8 = 0x35;
    pub const DRAW_INDX_2: u8 = 0x36;
    pub const CLEAR_HIZ: u8 = 0x37;
    pub const CLEAR_CMASK: u8 = 0x38;
    pub const DRAW_128: u8 = 0x39;
    pub const MPEG_INDEX: u8 = 0x3a;
    pub const PAINT: u8 = 0x91;
    pub const BITBLT: u8 = 0x92;
    pub const HOSTDATA_BLT: u8 = 0x94;
    pub const POLYLINE: u8 = 0x95;
    pub const POLYSCANLINES: u8 = 0x98;
    pub const PAINT_MULTI: u8 = 0x9a;
    pub const BITBLT_MULTI: u8 = 0x9b;
    pub const TRANS_BITBLT: u8 = 0x9c;
}

fn name(opcode: u8) -> Option<&'static str> {
    Some(match opcode {
        op::NOP => "NOP",
        op::NEXTCHAR => "NEXTCHAR",
        op::PLY_NEXTSCAN => "PLY_NEXTSCAN",
        op::SET_SCISSORS => "SET_SCISSORS",
        op::PRED_EXEC => "PRED_EXEC",
        op::COND_EXEC => "COND_EXEC",
        op::WAIT_SEMAPHORE => "WAIT_SEMAPHORE",
        op::WAIT_MEM => "WAIT_MEM",
        op::DRAW_VBUF => "3D_DRAW_VBUF",
        op::DRAW_IMMD => "3D_DRAW_IMMD",
        op::DRAW_INDX => "3D_DRAW_INDX",
        op::LOAD_PALETTE => "LOAD_PALETTE",
        op::LOAD_VBPNTR => "3D_LOAD_VBPNTR",
        op::CLEAR_ZMASK => "3D_CLEAR_ZMASK",
        op::INDX_BUFFER => "INDX_BUFFER",
        op::DRAW_VBUF_2 => "3D_DRAW_VBUF_2",
        op::DRAW_IMMD_2 => "3D_DRAW_IMMD_2",
        op::DRAW_INDX_2 => "3D_DRAW_INDX_2",
        op::CLEAR_HIZ => "3D_CLEAR_HIZ",
        op::CLEAR_CMASK => "3D_CLEAR_CMASK",
        op::DRAW_128 => "3D_DRAW_128",
        op::MPEG_INDEX => "MPEG_INDEX",
        op::PAINT => "PAINT",
        op::BITBLT => "BITBLT",
        op::HOSTDATA_BLT => "HOSTDATA_BLT",
        op::POLYLINE => "POLYLINE",
        op::POLYSCANLINES => "POLYSCANLINES",
        op::PAINT_MULTI => "PAINT_MULTI",
        op::BITBLT_MULTI => "BITBLT_MULTI",
        op::TRANS_BITBLT => "TRANS_BITBLT",
        _ => return None,
    })
}

/// A body that is not what its packet needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It ends too early: the microcode takes the next packets for the rest.
    Short,
    /// So many dwords are left over.
    Long(usize),
}

/// Reads a body from its beginning to its end.
pub(crate) struct Reader<'a> {
    left: &'a [u32],
}

impl<'a> Reader<'a> {
    pub fn new(body: &'a [u32]) -> Self {
        Reader { left: body }
    }

    /// The next dword.
    pub fn next(&mut self) -> Result<u32, Misfit> {
        let (first, rest) = self.left.split_first().ok_or(Misfit::Short)?;
        self.left = rest;
        Ok(*first)
    }

    /// So many dwords.
    pub fn take(&mut self, n: usize) -> Result<&'a [u32], Misfit> {
        let (taken, rest) = self.left.split_at_checked(n).ok_or(Misfit::Short)?;
        self.left = rest;
        Ok(taken)
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u32] {
        std::mem::take(&mut self.left)
    }

    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// There must be nothing left.
    pub fn end(&self) -> Result<(), Misfit> {
        match self.left.len() {
            0 => Ok(()),
            n => Err(Misfit::Long(n)),
        }
    }
}

impl Core {
    /// Executes a type-3 packet with its whole body.
    pub fn execute(&mut self, level: usize, header: u32, body: &[u32]) {
        let opcode = (header >> 8) as u8;
        let Some(name) = name(opcode) else {
            // The microcode skips what it does not know (digest H5).
            self.notes
                .lint(Rule::UnknownOpcode, || format!("{header:#010x}"));
            return;
        };
        self.trace(level, name, header, body);
        let done = match opcode {
            op::NOP => Ok(()),
            op::PRED_EXEC => {
                self.pred_exec(level, body);
                Ok(())
            }
            op::COND_EXEC => {
                self.cond_exec(level, body);
                Ok(())
            }
            op::WAIT_SEMAPHORE => {
                self.wait_semaphore(body);
                Ok(())
            }
            op::WAIT_MEM => {
                self.wait_mem(level, body);
                Ok(())
            }
            op::SET_SCISSORS => self.set_scissors(body),
            _ if opcode & 0x80 != 0
                || matches!(opcode, op::NEXTCHAR | op::PLY_NEXTSCAN | op::LOAD_PALETTE) =>
            {
                self.packet_2d(opcode, body)
            }
            _ => self.packet_3d(level, opcode, body),
        };
        match done {
            Ok(()) => {}
            Err(Misfit::Short) => {
                self.notes.lint(Rule::ShortPacket, || {
                    format!("{name} {} dwords", body.len())
                });
                self.lock_up(Lockup::Stream);
            }
            Err(Misfit::Long(n)) => self
                .notes
                .lint(Rule::LongPacket, || format!("{name} {n} dwords left")),
        }
    }

    /// SET_SCISSORS (§5.2.2.13).
    fn set_scissors(&mut self, body: &[u32]) -> Result<(), Misfit> {
        let mut r = Reader::new(body);
        let (top_left, bottom_right) = (r.next()?, r.next()?);
        self.set(reg::SC_TOP_LEFT, top_left);
        self.set(reg::SC_BOTTOM_RIGHT, bottom_right);
        r.end()
    }

    /// Counts what did not pass through the register file.
    pub fn count_pixels(&mut self, n: u64) {
        self.notes.counters.add(Counter::Pixels2d, n);
    }
}
