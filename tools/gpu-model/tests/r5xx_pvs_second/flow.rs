// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The flow control unit: R5xx guide §6.5.5, digest of 3D, §3.4.

use super::{bit, field, Machine, Open};

/// A loop or a call that is under way.
pub struct Nested {
    entry: usize,
    /// Rounds that are left; of a call none.
    count: u32,
    /// The index outside.
    outer: Option<i32>,
}

/// A field of 16 bits that has an address.
fn address(word: u32, low: u32) -> Result<u32, Open> {
    match field(word, low + 15, low) {
        n @ 0..=1023 => Ok(n),
        _ => Err(Open::PastEnd),
    }
}

impl Machine<'_> {
    /// After an instruction: the next one, if it is another than the one behind it.
    pub(super) fn flow(&mut self, pc: u32) -> Result<Option<u32>, Open> {
        // Ends, from the innermost outwards.
        while let Some(top) = self.nested.last_mut() {
            let entry = top.entry;
            if address(self.regs.uw[entry], 0)? != pc {
                break;
            }
            let back = address(self.regs.uw[entry], 16)?;
            let is_call = self.regs.opc >> (2 * entry) & 3 == 3;
            if !is_call && top.count > 1 {
                top.count -= 1;
                let step = i32::from(field(self.regs.loop_index[entry], 15, 8) as u8 as i8);
                self.index = self.index.map(|i| (i + step).clamp(-256, 255));
                return Ok(Some(back));
            }
            if is_call {
                self.nested.pop();
                return Ok(Some(back));
            }
            self.index = top.outer;
            self.nested.pop();
        }
        // Beginnings, by number.
        let mut here = Vec::new();
        for entry in 0..16 {
            let kind = self.regs.opc >> (2 * entry) & 3;
            if kind != 0 && address(self.regs.lw[entry], 0)? == pc {
                here.push((entry, kind));
            }
        }
        if here.len() > 1 && here.iter().any(|(_, kind)| *kind != 2) {
            return Err(Open::Shared);
        }
        let mut next = None;
        for (entry, kind) in here {
            if kind == 1 {
                return Ok(Some(address(self.regs.lw[entry], 16)?));
            }
            let back = address(self.regs.uw[entry], 16)?;
            let mut nested = Nested {
                entry,
                count: 0,
                outer: self.index,
            };
            if kind == 2 {
                nested.count = field(self.regs.lw[entry], 31, 16);
                if !(1..256).contains(&nested.count) {
                    return Err(Open::Count);
                }
                let word = self.regs.loop_index[entry];
                if !bit(word, 31) {
                    self.index = Some(field(word, 7, 0) as i32);
                }
                next = Some(back);
            } else {
                next = Some(address(self.regs.lw[entry], 16)?);
            }
            self.nested.push(nested);
            if self.nested.len() > 8 {
                return Err(Open::Nesting);
            }
        }
        Ok(next)
    }
}
