// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the blitter's tests share: a memory, small encoders, and in [`reference`] a second blitter.

// Every test file takes its part of this.
#![allow(dead_code)]

pub mod reference;

use gpu_model::blt::{execute, BltCaps, BltMemory, BltState, BltStats};

/// Memory from address 0 on. Accesses outside read 0, are dropped and counted.
#[derive(Clone, PartialEq, Eq)]
pub struct Ram {
    pub bytes: Vec<u8>,
    pub outside: usize,
    pub reads: usize,
    pub writes: usize,
}

impl Ram {
    pub fn new(size: usize) -> Ram {
        Ram {
            bytes: vec![0; size],
            outside: 0,
            reads: 0,
            writes: 0,
        }
    }

    /// Bytes without a pattern, the same for the same seed.
    pub fn noise(size: usize, seed: u32) -> Ram {
        let mut ram = Ram::new(size);
        let mut x = seed | 1;
        for byte in &mut ram.bytes {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            *byte = (x >> 11) as u8;
        }
        ram
    }

    pub fn put(&mut self, address: usize, bytes: &[u8]) {
        self.bytes[address..address + bytes.len()].copy_from_slice(bytes);
    }

    pub fn at(&self, address: usize, length: usize) -> &[u8] {
        &self.bytes[address..address + length]
    }

    pub fn get(&self, address: i64, bytes: usize) -> u32 {
        let mut value = [0; 4];
        for (i, to) in value.iter_mut().take(bytes).enumerate() {
            *to = usize::try_from(address + i as i64)
                .ok()
                .and_then(|at| self.bytes.get(at))
                .copied()
                .unwrap_or(0);
        }
        u32::from_le_bytes(value)
    }

    pub fn set(&mut self, address: i64, bytes: usize, value: u32, enable: u32) {
        for i in 0..bytes {
            if enable >> (8 * i) & 1 == 0 {
                continue;
            }
            if let Some(to) = usize::try_from(address + i as i64)
                .ok()
                .and_then(|at| self.bytes.get_mut(at))
            {
                *to = (value >> (8 * i)) as u8;
            }
        }
    }
}

impl BltMemory for Ram {
    fn read(&mut self, addr: u64, buf: &mut [u8]) {
        self.reads += 1;
        assert!(addr + buf.len() as u64 <= 1 << 32, "read beyond 32 bits");
        for (i, to) in buf.iter_mut().enumerate() {
            *to = self
                .bytes
                .get(addr as usize + i)
                .copied()
                .unwrap_or_else(|| {
                    self.outside += 1;
                    0
                });
        }
    }

    fn write(&mut self, addr: u64, data: &[u8]) {
        self.writes += 1;
        assert!(addr + data.len() as u64 <= 1 << 32, "write beyond 32 bits");
        for (i, from) in data.iter().enumerate() {
            match self.bytes.get_mut(addr as usize + i) {
                Some(to) => *to = *from,
                None => self.outside += 1,
            }
        }
    }
}

/// A blitter without settings: Gen6.
pub const GEN6: BltCaps = BltCaps {
    swctrl: None,
    swizzle_x: gpu_model::tiling::Swizzle::None,
    swizzle_y: gpu_model::tiling::Swizzle::None,
    strict: false,
};

/// Header of client 2: opcode, bits 21:8, and the length field for `dwords` dwords.
pub fn header(opcode: u32, bits: u32, dwords: usize) -> u32 {
    2 << 29 | opcode << 22 | bits | (dwords as u32 - 2)
}

/// A coordinate dword.
pub fn xy(x: i32, y: i32) -> u32 {
    (y as u32) << 16 | (x as u32 & 0xffff)
}

/// Executes commands that must succeed and break no rule.
pub fn run(cmds: &[Vec<u32>], ram: &mut Ram) -> BltStats {
    let mut state = BltState::default();
    let mut total = BltStats::default();
    for cmd in cmds {
        let stats =
            execute(cmd, &mut state, ram, &GEN6).unwrap_or_else(|e| panic!("{cmd:x?}: {e}"));
        assert_eq!(stats.violations, [], "{cmd:x?}");
        total.pixels += stats.pixels;
        total.bytes_read += stats.bytes_read;
        total.bytes_written += stats.bytes_written;
    }
    total
}

/// 8-bit pixels of a surface at 0x1000 with 16 bytes per line, as text: '.' for 0, the digit for 1 to 9, '#' for all
/// else.
pub fn picture(ram: &Ram, lines: usize, width: usize) -> Vec<String> {
    let letter = |&byte: &u8| match byte {
        0 => '.',
        1..=9 => (b'0' + byte) as char,
        _ => '#',
    };
    let line = |y| ram.at(0x1000 + 16 * y, width).iter().map(letter).collect();
    (0..lines).map(line).collect()
}
