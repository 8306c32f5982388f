// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A modelled Sandy Bridge in this process, without QEMU or a kernel: its blitter fills a picture.
//!
//!     cargo run -p gpu-model --example in_process
//!
//! Everything is a number here as it is in the manual (SNB PRM V1P2, G45 PRM V1b chapter 8; rows of
//! coverage.rst for the offsets): the model has no names to
//! share with a driver. Where a command or a register breaks a rule of the manual, the model says so.

use gpu_model::{
    memory::VecMemory,
    model::NoIrq,
    ring::{RingConfig, RingGpu},
};
use std::{error::Error, sync::Arc};

/// Bytes of guest memory.
const MEMORY: usize = 4 << 20;
/// Where the ring, the status page and the picture are; each page is mapped to itself.
const RING: u32 = 0x1_0000;
const STATUS: u32 = 0x2_0000;
const PICTURE: u32 = 0x10_0000;
/// The picture: pixels of four bytes.
const WIDTH: u32 = 64;
const HEIGHT: u32 = 16;

/// The blitter's registers.
const BCS: u32 = 0x2_2000;

/// `XY_COLOR_BLT` of 32-bit pixels: a rectangle of one colour (G45 PRM V1b chapter 8).
fn fill(x: [u32; 2], y: [u32; 2], colour: u32) -> [u32; 6] {
    let pitch = WIDTH * 4;
    [
        // Client 2, opcode 50h, all four bytes are written, six dwords.
        0x5430_0004,
        // 32 bits, ROP F0h: the pattern.
        0x03f0_0000 | pitch,
        y[0] << 16 | x[0],
        y[1] << 16 | x[1],
        PICTURE,
        colour,
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let memory = Arc::new(VecMemory::new(MEMORY));
    let gpu = RingGpu::new(RingConfig::default(), memory.clone(), Arc::new(NoIrq));

    // Awake (FORCEWAKE_MT, row G-15).
    gpu.mmio_write32(0xa18c, 0x0001_0001);
    // The GGTT: present (bit 0), cached in the LLC (2 in bits 2:1). Then its TLB is flushed.
    for page in 1..(MEMORY as u32 / 4096) {
        gpu.gtt_write(page, page << 12 | 0x5);
    }
    gpu.mmio_write32(0x10_1008, 1);
    // The blitter's status page, and a ring of one page, enabled.
    for (register, value) in [
        (0x2080, STATUS),
        (0x38, RING),
        (0x34, 0),
        (0x30, 0),
        (0x3c, 1),
    ] {
        gpu.mmio_write32(BCS + register, value);
    }
    // GTFIFOCTL: a read lets the FIFO of register writes drain.
    gpu.mmio_read32(0x12_0008);

    let commands = [
        fill([0, WIDTH], [0, HEIGHT], 0x00ff_ffff),
        fill([4, 24], [2, 14], 0x0000_00ff),
        fill([32, 60], [5, 11], 0x0000_ff00),
    ]
    .concat();
    memory.put_dwords(RING.into(), &commands)?;
    // The tail: the ring has commands up to here.
    gpu.mmio_write32(BCS + 0x30, commands.len() as u32 * 4);
    gpu.mmio_read32(0x12_0008);
    if !gpu.run_until_idle(1000) {
        return Err("the engines do not come to rest".into());
    }

    for y in 0..HEIGHT {
        let at = |x: u32| memory.dword((PICTURE + (y * WIDTH + x) * 4).into());
        let line = (0..WIDTH).map(|x| match at(x) {
            0x00ff_ffff => '.',
            0x0000_00ff => 'b',
            0x0000_ff00 => 'g',
            _ => '?',
        });
        println!("{}", line.collect::<String>());
    }
    println!("rules broken: {:?}", gpu.lints());
    println!("registers that no document names: {:?}", gpu.undocumented());
    Ok(())
}
