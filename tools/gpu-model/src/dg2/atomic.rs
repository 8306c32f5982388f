// SPDX-License-Identifier: GPL-2.0 OR MIT
//! MI_ATOMIC (digest §2.1 row 33 and the list of opcodes below that table; the document names the
//! command only). Operands are inline (bit 18) or in general registers, R1 and R2, which is recollection
//! of older chips. The old value goes to R4 if bit 16 asks for it (witness VW17, a test of the vendor's).

use super::command::{address, GLOBAL};
use super::core::Core;
use super::engine::EngineId;
use super::lint::Rule;
use super::mem::Faulted;
use super::regs::ring;
use super::stream::Flow;

/// R4, the register of the returned value.
const RETURNED: u32 = ring::GPR + 8 * 4;

/// The new value of a location, of `bits` bits; `None` if it does not change. `op` is the operation
/// without the size that its opcode has.
fn combine(op: u32, old: u64, a: u64, b: u64, bits: u32) -> Option<Option<u64>> {
    let mask = if bits == 32 { 0xffff_ffff } else { u64::MAX };
    let signed = |v: u64| {
        if bits == 32 {
            v as u32 as i32 as i64
        } else {
            v as i64
        }
    };
    let new = match op {
        0x01 => old & a,
        0x02 => old | a,
        0x03 => old ^ a,
        0x04 => a,
        0x05 => old.wrapping_add(1),
        // Decrement, and pre-decrement, which differ in what they return.
        0x06 | 0x0f => old.wrapping_sub(1),
        0x07 => old.wrapping_add(a),
        0x08 => old.wrapping_sub(a),
        0x09 => a.wrapping_sub(old),
        0x0a => return Some((signed(a) > signed(old)).then_some(a)),
        0x0b => return Some((signed(a) < signed(old)).then_some(a)),
        0x0c => return Some((a > old).then_some(a)),
        0x0d => return Some((a < old).then_some(a)),
        // Compare with the first operand, write the second.
        0x0e => return Some((old == a).then_some(b)),
        _ => return None,
    };
    Some(Some(new & mask))
}

impl Core {
    /// Reads, combines, writes; other engines see one access. Earlier stores are seen (S5).
    pub fn atomic(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let global = d[0] & GLOBAL != 0;
        let Some(space) = self.space(e, global, "MI_ATOMIC") else {
            return Ok(Flow::Next);
        };
        let (size, opcode) = (d[0] >> 19 & 3, d[0] >> 8 & 0xff);
        let (quad, op) = match size {
            0 if opcode < 0x20 => (false, opcode),
            1 if opcode & 0xe0 == 0x20 => (true, opcode & 0x1f),
            // Sixteen bytes: compare and write alone.
            2 if opcode == 0x4e => return self.atomic_oct(e, d),
            _ => return Ok(self.atomic_reserved(e, d[0])),
        };
        let (a, b) = self.operands(e, d);
        let (bits, va) = if quad {
            (64, address(d, 1) & !7)
        } else {
            (32, address(d, 1) & !3)
        };
        self.drain(e);
        let old = if quad {
            self.load64(e, space, va)?
        } else {
            self.load32(e, space, va)?.into()
        };
        let cut = |v: u64| if quad { v } else { v & 0xffff_ffff };
        let Some(new) = combine(op, old, cut(a), cut(b), bits) else {
            return Ok(self.atomic_reserved(e, d[0]));
        };
        if let Some(new) = new {
            self.store_now(e, space, va, &new.to_le_bytes()[..bits as usize / 8])?;
        }
        if d[0] & 1 << 16 != 0 {
            let returned = if op == 0x0f { new.unwrap_or(old) } else { old };
            self.set_ering(e, RETURNED, returned as u32);
            if quad {
                self.set_ering(e, RETURNED + 4, (returned >> 32) as u32);
            }
        }
        Ok(Flow::Next)
    }

    /// Both operands' low quadwords: interleaved in the command, or R1 and R2.
    fn operands(&self, e: EngineId, d: &[u32]) -> (u64, u64) {
        if d[0] & 1 << 18 != 0 {
            let dword = |i: usize| u64::from(d.get(i).copied().unwrap_or(0));
            (dword(3) | dword(5) << 32, dword(4) | dword(6) << 32)
        } else {
            (self.gpr(e, 1), self.gpr(e, 2))
        }
    }

    fn atomic_oct(&mut self, e: EngineId, d: &[u32]) -> Result<Flow, Faulted> {
        let global = d[0] & GLOBAL != 0;
        let Some(space) = self.space(e, global, "MI_ATOMIC") else {
            return Ok(Flow::Next);
        };
        if d[0] & 1 << 18 == 0 || d.len() < 11 {
            return Ok(self.atomic_reserved(e, d[0]));
        }
        let pick = |at: usize| -> Vec<u8> {
            let dwords = (0..4).map(|i| d[at + 2 * i]);
            dwords.flat_map(u32::to_le_bytes).collect()
        };
        let va = address(d, 1) & !15;
        self.drain(e);
        let mut old = [0; 16];
        self.load(e, space, va, &mut old)?;
        if old[..] == pick(3) {
            self.store_now(e, space, va, &pick(4))?;
        }
        Ok(Flow::Next)
    }

    fn atomic_reserved(&mut self, e: EngineId, header: u32) -> Flow {
        self.notes
            .lint(Rule::Reserved, || format!("{} {header:#010x}", e.name()));
        Flow::Next
    }

    /// A general register.
    pub fn gpr(&self, e: EngineId, n: u32) -> u64 {
        let at = ring::GPR + 8 * n;
        u64::from(self.ering(e, at)) | u64::from(self.ering(e, at + 4)) << 32
    }

    /// Sets a general register.
    pub fn set_gpr(&mut self, e: EngineId, n: u32, value: u64) {
        let at = ring::GPR + 8 * n;
        self.set_ering(e, at, value as u32);
        self.set_ering(e, at + 4, (value >> 32) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_digest_2_1() {
        for (op, old, a, new) in [
            (0x01, 0xf0f0, 0xff00, Some(0xf000)),
            (0x02, 0xf0f0, 0x0f00, Some(0xfff0)),
            (0x03, 0xf0f0, 0xffff, Some(0x0f0f)),
            (0x04, 1, 7, Some(7)),
            (0x05, 0xffff_ffff, 0, Some(0)),
            (0x06, 0, 0, Some(0xffff_ffff)),
            (0x07, 0xffff_fffe, 3, Some(1)),
            (0x08, 2, 3, Some(0xffff_ffff)),
            (0x09, 2, 3, Some(1)),
            (0x0a, 0xffff_ffff, 1, Some(1)),
            (0x0b, 0xffff_ffff, 1, None),
            (0x0c, 0xffff_ffff, 1, None),
            (0x0d, 0xffff_ffff, 1, Some(1)),
            (0x0f, 5, 0, Some(4)),
        ] {
            assert_eq!(combine(op, old, a, 0, 32), Some(new), "{op:#x}");
        }
        assert_eq!(combine(0x0e, 5, 5, 9, 32), Some(Some(9)));
        assert_eq!(combine(0x0e, 5, 6, 9, 32), Some(None));
        assert_eq!(combine(0x05, u64::MAX, 0, 0, 64), Some(Some(0)));
        assert_eq!(combine(0x00, 0, 0, 0, 32), None);
    }
}
