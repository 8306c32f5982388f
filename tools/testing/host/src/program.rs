// SPDX-License-Identifier: GPL-2.0
//! Programs for a DG2: commands as literals (digest §2.1, by row), at addresses of a context's own space.

use crate::dg2_machine::{Dg2Machine, Object};
use crate::local::Tree;

/// What is added to an object's address in the global table to make its address in a user's space: all four
/// levels have indexes that are not zero.
pub const USER: u64 = 0x6abc_4000_0000;

/// `MI_NOOP` (row 1).
pub const NOOP: u32 = 0;
/// `MI_ARB_CHECK` (row 6).
pub const ARB_CHECK: u32 = 0x0280_0000;
/// `MI_BATCH_BUFFER_END` (row 9).
pub const END: u32 = 0x0500_0000;

fn halves(addr: u64) -> [u32; 2] {
    [addr as u32, (addr >> 32) as u32]
}

/// `MI_STORE_DATA_IMM` of a dword (row 22).
pub fn store(addr: u64, value: u32) -> [u32; 4] {
    let [low, high] = halves(addr);
    [0x1000_0002, low, high, value]
}

/// `MI_ATOMIC` that adds one to a dword (row 33, opcode 05).
pub fn increment(addr: u64) -> [u32; 3] {
    let [low, high] = halves(addr);
    [0x1780_0501, low, high]
}

/// `MI_SEMAPHORE_WAIT` in poll mode until a dword is so much or more (row 20: bit 15, relation 1).
pub fn wait(addr: u64, value: u32) -> [u32; 4] {
    let [low, high] = halves(addr);
    [0x0e00_9002, value, low, high]
}

/// `MI_LOAD_REGISTER_IMM` of a register of the engine's own (row 24).
pub fn load(offset: u32, value: u32) -> [u32; 3] {
    [0x1108_0001, offset, value]
}

/// `MI_STORE_REGISTER_MEM` of the same (row 26).
pub fn save(offset: u32, addr: u64) -> [u32; 4] {
    let [low, high] = halves(addr);
    [0x1208_0002, offset, low, high]
}

/// `MI_LOAD_REGISTER_MEM` of the same (row 30).
pub fn fetch(offset: u32, addr: u64) -> [u32; 4] {
    let [low, high] = halves(addr);
    [0x1488_0002, offset, low, high]
}

/// `MI_BATCH_BUFFER_START` that goes on elsewhere in the same space (row 34, bit 8).
pub fn jump(addr: u64) -> [u32; 3] {
    let [low, high] = halves(addr);
    [0x1880_0101, low, high]
}

/// Corners of a rectangle: the second one is outside.
pub type Corners = [(u32, u32); 2];

fn corner((x, y): (u32, u32)) -> u32 {
    y << 16 | x
}

/// `XY_FAST_COLOR_BLT` of pixels of 32 bits in rows of `pitch` bytes (digest §2.2 row 2; MOCS 1, as 2).
pub fn fill(to: u64, pitch: u32, [first, last]: Corners, colour: u32) -> [u32; 16] {
    let [low, high] = halves(to);
    let mut dwords = [0; 16];
    dwords[..8].copy_from_slice(&[
        0x5110_000e,
        2 << 21 | (pitch - 1),
        corner(first),
        corner(last),
        low,
        high,
        0,
        colour,
    ]);
    dwords
}

/// `XY_FAST_COPY_BLT` of the same (row 3), from the pixels at a corner of another surface of that pitch.
pub fn copy(to: u64, pitch: u32, [first, last]: Corners, from: u64, at: (u32, u32)) -> [u32; 10] {
    let ([to, to_high], [from, from_high]) = (halves(to), halves(from));
    [
        0x5080_0008,
        3 << 24 | pitch,
        corner(first),
        corner(last),
        to,
        to_high,
        corner(at),
        pitch,
        from,
        from_high,
    ]
}

/// A user's space, and what is in it.
#[derive(Clone, Copy, Debug)]
pub struct UserSpace {
    /// Its tables.
    pub tree: Tree,
}

impl UserSpace {
    /// One with nothing in it.
    pub fn new(m: &mut Dg2Machine) -> Self {
        Self {
            tree: Tree::new(&mut m.local),
        }
    }

    /// The address of an object in any user's space.
    pub const fn addr(object: Object) -> u64 {
        USER + object.addr as u64
    }

    /// Maps an object.
    pub fn map(&self, m: &mut Dg2Machine, object: Object) -> u64 {
        let addr = Self::addr(object);
        m.map(&self.tree, addr, object);
        addr
    }

    /// A page of the system's memory, and its address.
    pub fn page(&self, m: &mut Dg2Machine) -> (Object, u64) {
        let object = m.system(4096);
        (object, self.map(m, object))
    }

    /// Puts commands, and the end of a batch, into memory of their own.
    pub fn program(&self, m: &mut Dg2Machine, commands: &[&[u32]]) -> u64 {
        let mut dwords = commands.concat();
        dwords.extend([END, NOOP]);
        let object = m.system(4 * dwords.len() as u32);
        m.put(object, 0, &dwords);
        self.map(m, object)
    }

    /// A program that never ends: the commands over and over.
    pub fn endless(&self, m: &mut Dg2Machine, commands: &[&[u32]]) -> u64 {
        let mut dwords = commands.concat();
        let object = m.system(4096);
        let addr = Self::addr(object);
        dwords.extend(jump(addr));
        m.put(object, 0, &dwords);
        self.map(m, object)
    }
}
