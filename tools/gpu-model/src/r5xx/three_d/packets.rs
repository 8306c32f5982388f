// SPDX-License-Identifier: GPL-2.0 OR MIT
//! 3D packets (R5xx guide §5.2.3; digest §2.6).

use super::{VfCntl, Walk};
use crate::r5xx::access::Unit;
use crate::r5xx::core::{Core, Origin};
use crate::r5xx::cp::Lockup;
use crate::r5xx::disputed::Disputed;
use crate::r5xx::lint::Rule;
use crate::r5xx::packet::{op, Misfit, Reader};
use crate::r5xx::regs::reg;
use crate::r5xx::stream::{Mover, Packet};

/// Bits of the mask of MPEG_INDEX.
const MPEG_BITS: u32 = 20;
/// Registers that the bits of its mask mean (§5.2.3.12).
const MPEG_REGISTERS: [u32; MPEG_BITS as usize] = [
    0x22d0, 0x22d8, 0x2150, 0x2154, 0x2158, 0x215c, 0x2090, 0x2094, 0x20c0, 0x4300, 0x4304, 0x4104,
    0x4610, 0x4614, 0x4618, 0x461c, 0x4600, 0x4e4c, 0x4e28, 0x4e38,
];
/// Limits of the Z and colour mask memories that the clears fill; the sizes are in no source.
const CLEAR_COUNT: u32 = 0x3fff;
/// Dwords that INDX_BUFFER moves at a time.
const MOVED: u32 = 1024;
/// Destination of INDX_BUFFER that a draw has a use for: VAP_PORT_IDX0, one register.
const INDEX_PORT: u32 = 0x8000_0000 | (reg::VAP_PORT_IDX0 / 4);

impl Core {
    /// A 3D packet's body.
    pub fn packet_3d(&mut self, level: usize, opcode: u8, body: &[u32]) -> Result<(), Misfit> {
        let mut r = Reader::new(body);
        match opcode {
            // VAP_VTX_FMT, which the microcode drops.
            op::DRAW_VBUF | op::DRAW_IMMD | op::DRAW_INDX => {
                r.next()?;
                self.draw_packet(opcode, &mut r)
            }
            op::DRAW_VBUF_2 | op::DRAW_IMMD_2 | op::DRAW_INDX_2 | op::DRAW_128 => {
                self.draw_packet(opcode, &mut r)
            }
            op::LOAD_VBPNTR => self.load_arrays(&mut r),
            op::INDX_BUFFER => self.index_buffer(level, &mut r),
            op::CLEAR_HIZ | op::CLEAR_ZMASK | op::CLEAR_CMASK => {
                let (start, count, _value) = (r.next()?, r.next()?, r.next()?);
                // On-chip memories: nothing of the card's is touched.
                if count > CLEAR_COUNT {
                    self.notes.lint(Rule::SurfaceAlign, || {
                        format!("clear {start:#x}+{count:#x}")
                    });
                }
                r.end()
            }
            op::MPEG_INDEX => self.mpeg_index(&mut r),
            _ => Ok(()),
        }
    }

    fn draw_packet(&mut self, opcode: u8, r: &mut Reader<'_>) -> Result<(), Misfit> {
        let control = VfCntl(r.next()?);
        let expected = match opcode {
            op::DRAW_VBUF | op::DRAW_VBUF_2 => control.walk() == Walk::List,
            op::DRAW_IMMD | op::DRAW_IMMD_2 => control.walk() == Walk::Data,
            op::DRAW_INDX | op::DRAW_INDX_2 => control.walk() == Walk::Indices,
            _ => matches!(control.walk(), Walk::Data | Walk::Indices),
        };
        if !expected {
            self.notes.lint(Rule::PrimWalk, || {
                format!("{opcode:#x} {:#010x}", control.0)
            });
        }
        let data = r.rest();
        // Without indices, they come by INDX_BUFFER (§5.2.3.11).
        let deferred = matches!(opcode, op::DRAW_INDX | op::DRAW_INDX_2) && data.is_empty();
        self.set(reg::VAP_VF_CNTL, control.0);
        self.vf_cntl_written(control.0);
        for dword in data {
            if self.gfx.vap_stuck() {
                return Ok(());
            }
            self.vertex_port(*dword);
        }
        if self.gfx.three.pending.is_some() && !deferred {
            self.vap_locks_up("too few dwords in the packet");
        }
        Ok(())
    }

    /// 3D_LOAD_VBPNTR: number of arrays, then two attributes and their addresses at a time; the last
    /// address of an odd number is left out (§5.2.3.9).
    fn load_arrays(&mut self, r: &mut Reader<'_>) -> Result<(), Misfit> {
        let number = r.next()?;
        let count = number & 31;
        if count == 0 || count > super::ARRAYS {
            self.notes
                .lint(Rule::VertexArrays, || format!("{count} arrays"));
        }
        self.set(reg::VAP_VTX_NUM_ARRAYS, number);
        let dwords = (3 * count).div_ceil(2).min(24);
        for n in 0..dwords {
            let value = r.next()?;
            self.set(reg::VAP_VTX_AOS_ATTR01 + 4 * n, value);
        }
        r.end()
    }

    /// INDX_BUFFER: moves dwords from memory to a register, by way of the second indirect buffer
    /// (§5.2.3.11). Any register: that is what makes it dangerous.
    fn index_buffer(&mut self, level: usize, r: &mut Reader<'_>) -> Result<(), Misfit> {
        let (head, base, size) = (r.next()?, r.next()?, r.next()? & 0x7f_ffff);
        if self.borrow_ib2(level) {
            return Ok(());
        }
        if head & !0x7_0000 != INDEX_PORT {
            let client = std::mem::take(&mut self.notes.client);
            self.notes.lint(Rule::IndexPort, || format!("{head:#010x}"));
            self.notes.client = client;
        }
        if size == 0 {
            self.dispute(Disputed::NoIndices);
            self.lock_up(Lockup::Wait);
            return Ok(());
        }
        let mover = Mover {
            at: u64::from(base & !3),
            left: size,
            skip: head >> 16 & 7,
            to: (head & 0x1fff) * 4,
            one: head >> 31 != 0,
        };
        self.cp.streams.all[level].packet = Some(Packet::Move(mover));
        r.end()
    }

    /// Goes on with an INDX_BUFFER: some dwords at a time, so that others get their turn.
    pub fn move_dwords(&mut self, level: usize, mut m: Mover) {
        let some = m.left.min(MOVED);
        for _ in 0..some {
            if self.gfx.vap_stuck() || self.cp.lockup.is_some() {
                return;
            }
            let dword = self.mc.read32(Unit::Index, m.at);
            m.at += 4;
            m.left -= 1;
            if m.skip > 0 {
                m.skip -= 1;
                continue;
            }
            self.reg_write(m.to, dword, Origin::Cp(false));
            if !m.one {
                m.to = (m.to + 4) & 0x7fff;
            }
        }
        if m.left > 0 {
            self.cp.streams.all[level].packet = Some(Packet::Move(m));
        } else if self.gfx.three.pending.is_some() {
            self.vap_locks_up("too few dwords in the index buffer");
        }
    }

    /// MPEG_INDEX: registers by a mask, then rectangles by their first index (§5.2.3.12).
    fn mpeg_index(&mut self, r: &mut Reader<'_>) -> Result<(), Misfit> {
        let mask = r.next()?;
        for (n, register) in MPEG_REGISTERS.iter().enumerate() {
            if mask >> n & 1 != 0 {
                let value = r.next()?;
                self.stream_write(*register, value, false);
            }
        }
        let control = r.next()?;
        let number = r.next()? & 0x3fff;
        let firsts = r.take(number as usize)?;
        self.set(reg::VAP_VF_CNTL, control);
        self.vf_cntl_written(control);
        // i, i + 1, i + 2, i + 3 for each, two indices in a dword.
        for first in firsts {
            let index = |n: u32| first.wrapping_add(n) & 0xffff;
            for pair in [index(0) | index(1) << 16, index(2) | index(3) << 16] {
                if !self.gfx.vap_stuck() {
                    self.vertex_port(pair);
                }
            }
        }
        if self.gfx.three.pending.is_some() {
            self.vap_locks_up("too few rectangles");
        }
        // The rest are dummies.
        Ok(())
    }
}
