// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The micro-engine's RAM: 256 words of 40 bits, four of which are semaphores (R5xx guide §4.12,
//! §4.13, §5.2.4.1).
//!
//! The program itself is not run: packets do what the document says. It must be there all the same.

use super::core::Core;
use super::regs::reg;

/// Words of the RAM.
const WORDS: usize = 256;
/// First of the four slots that are semaphores.
pub const SEMAPHORES: u32 = 0xfc;

/// The RAM with its ports.
pub(crate) struct MicroEngine {
    ram: [u64; WORDS],
    written: [bool; WORDS],
    write_at: u8,
    read_at: u8,
    high: u32,
    hold: u64,
}

impl Default for MicroEngine {
    fn default() -> Self {
        MicroEngine {
            ram: [0; WORDS],
            written: [false; WORDS],
            write_at: 0,
            read_at: 0,
            high: 0,
            hold: 0,
        }
    }
}

impl MicroEngine {
    /// True once every word below the semaphores has been written.
    pub fn is_loaded(&self) -> bool {
        self.written.iter().take(SEMAPHORES as usize).all(|w| *w)
    }

    /// The value of a semaphore slot.
    pub fn semaphore(&self, slot: u32) -> u32 {
        self.ram[slot as usize & (WORDS - 1)] as u32
    }

    /// Sets a semaphore slot.
    pub fn set_semaphore(&mut self, slot: u32, value: u32) {
        let word = &mut self.ram[slot as usize & (WORDS - 1)];
        *word = *word & !0xffff_ffff | u64::from(value);
    }

    /// The address for reads: the word is fetched ahead, and the address goes on (§4.13).
    fn fetch(&mut self) {
        self.hold = self.ram[usize::from(self.read_at)];
        self.read_at = self.read_at.wrapping_add(1);
    }
}

impl Core {
    /// A port of the RAM is read.
    pub fn me_read(&mut self, offset: u32) -> u32 {
        let me = &mut self.cp.me;
        match offset {
            reg::CP_ME_RAM_ADDR => me.write_at.into(),
            reg::CP_ME_RAM_RADDR => me.read_at.into(),
            reg::CP_ME_RAM_DATAH => (me.hold >> 32) as u32 & 0xff,
            _ => {
                let low = me.hold as u32;
                me.fetch();
                low
            }
        }
    }

    /// A port of the RAM is written: the high part is held, the low part commits both (§4.12). A
    /// semaphore is set with the low part alone (§5.2.4.1).
    pub fn me_write(&mut self, offset: u32, data: u32) {
        let me = &mut self.cp.me;
        match offset {
            reg::CP_ME_RAM_ADDR => me.write_at = data as u8,
            reg::CP_ME_RAM_RADDR => {
                me.read_at = data as u8;
                me.fetch();
            }
            reg::CP_ME_RAM_DATAH => me.high = data & 0xff,
            _ => {
                let at = usize::from(me.write_at);
                me.ram[at] = u64::from(me.high) << 32 | u64::from(data);
                me.written[at] = true;
                me.write_at = me.write_at.wrapping_add(1);
            }
        }
    }
}
