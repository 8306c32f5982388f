// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Engines on threads: blits and stores under way while registers are used, tables changed and
//! engines reset from outside.

use crate::snb_rig::CountIrq;
use gpu_model::memory::VecMemory;
use gpu_model::ring::{RingConfig, RingGpu};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A bound for things that happen in microseconds: not a measurement.
const PATIENCE: Duration = Duration::from_secs(120);

struct Running {
    gpu: RingGpu,
    memory: Arc<VecMemory>,
    irq: Arc<CountIrq>,
    tail: u32,
}

impl Running {
    fn new() -> Running {
        let memory = Arc::new(VecMemory::new(8 << 20));
        let irq = Arc::new(CountIrq::default());
        let gpu = RingGpu::in_real_time(RingConfig::default(), memory.clone(), irq.clone());
        gpu.mmio_write32(0xa18c, 1);
        for page in 1..2048 {
            gpu.gtt_write(page, (page << 12) | 5);
        }
        gpu.start_engines();
        let mut r = Running {
            gpu,
            memory,
            irq,
            tail: 0,
        };
        r.enable();
        r
    }

    /// The blitter ring, one page at 0x30000, status page 0x42000, user interrupt on.
    fn enable(&mut self) {
        let enable = [
            (0x24080, 0x42000),
            (0x22038, 0x30000),
            (0x22030, 0),
            (0x220a8, !(1 << 22)),
            (0x44014, !(1 << 22)),
            (0x4401c, 1 << 22),
            (0x4400c, 1 << 31),
            (0x2203c, 1),
        ];
        enable
            .iter()
            .for_each(|(r, v)| self.gpu.mmio_write32(*r, *v));
        self.tail = 0;
    }

    fn submit(&mut self, dwords: &[u32]) {
        for d in dwords {
            self.memory
                .put_dwords(u64::from(0x30000 + self.tail), &[*d])
                .expect("memory");
            self.tail = (self.tail + 4) % 4096;
        }
        self.gpu.mmio_write32(0x22030, self.tail);
    }

    fn wait(&self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < PATIENCE, "{what} does not come");
            std::thread::yield_now();
        }
    }
}

/// Fills 1024 x 512 pixels of 32 bits at 0x200000 with `colour`, then stores `number`.
fn big_fill(colour: u32, number: u32) -> [u32; 12] {
    [
        0x5430_0004,
        0x03f0_1000,
        0,
        0x0200_0400,
        0x20_0000,
        colour,
        0x1320_4001,
        0x100,
        number, // MI_FLUSH_DW into the status page
        0x0100_0000,
        0,
        0,
    ]
}

#[test]
fn numbers_arrive_in_order_with_their_interrupts() {
    let mut r = Running::new();
    for n in 1..=40 {
        r.submit(&big_fill(n, n));
        r.wait("the number", |r| r.memory.dword(0x42100) == n);
        assert_eq!(r.memory.dword(0x20_0000), n);
        assert_eq!(r.memory.dword(0x20_0000 + 511 * 4096 + 1023 * 4), n);
        r.wait("the interrupt", |r| r.gpu.mmio_read32(0x44018) == 1 << 22);
        r.gpu.mmio_write32(0x44018, 1 << 22);
    }
    assert_eq!(r.irq.0.load(Ordering::SeqCst), 40);
    assert_eq!(r.gpu.lints(), vec![]);
}

#[test]
fn registers_answer_while_a_blit_runs() {
    let mut r = Running::new();
    for n in 1..=10 {
        r.submit(&big_fill(n, n));
    }
    // The translation unit is away with the blit: invalidation and a directory wait for it.
    r.wait("the last number", |r| {
        r.gpu.mmio_write32(0x101008, 1);
        r.gpu.mmio_write32(0x22220, 1);
        r.gpu.mmio_write32(0x22228, 0x0040_0000);
        r.gpu.mmio_read32(0x22074);
        r.memory.dword(0x42100) == 10
    });
    assert_eq!(r.gpu.lints(), vec![]);
}

#[test]
fn a_reset_in_the_middle_ends_the_work() {
    let mut r = Running::new();
    for n in 1..=20u32 {
        r.memory.put_dwords(0x42100, &[0]).expect("memory");
        r.submit(&big_fill(n, n));
        if n % 2 == 0 {
            std::thread::yield_now();
        }
        r.gpu.mmio_write32(0x941c, 8);
        assert_eq!(r.gpu.mmio_read32(0x941c), 0);
        // From here on nothing touches memory: what is written now stays.
        r.memory
            .put_dwords(0x20_0000, &[0x5555_5555])
            .expect("memory");
        r.memory
            .put_dwords(0x20_0000 + 511 * 4096, &[0x5555_5555])
            .expect("memory");
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(r.memory.dword(0x20_0000), 0x5555_5555);
        assert_eq!(r.memory.dword(0x20_0000 + 511 * 4096), 0x5555_5555);
        assert_eq!(r.gpu.mmio_read32(0x2203c), 0);
        r.enable();
        r.submit(&big_fill(0x100 + n, 0x100 + n));
        r.wait("work after the reset", |r| {
            r.memory.dword(0x42100) == 0x100 + n
        });
        r.gpu.mmio_write32(0x44018, 1 << 22);
    }
}

#[test]
fn threads_stop_and_start() {
    let mut r = Running::new();
    r.gpu.stop_engines();
    r.submit(&big_fill(1, 1));
    assert_eq!(r.memory.dword(0x42100), 0);
    r.gpu.start_engines();
    r.gpu.start_engines();
    r.wait("the number", |r| r.memory.dword(0x42100) == 1);
}

#[test]
fn a_semaphore_is_seen_across_threads() {
    let mut r = Running::new();
    // Blitter waits for its register 0x22040; the render ring sets it.
    r.submit(&[0x0b14_0001, 4, 0, 0x1040_0002, 0, 0x8_0000, 7, 0]);
    r.wait("the wait", |r| r.gpu.mmio_read32(0x2203c) & 0x400 != 0);
    r.memory
        .put_dwords(0x10000, &[0x1100_0001, 0x22040, 5, 0])
        .expect("memory");
    for (reg, v) in [(0x2038, 0x10000), (0x203c, 1), (0x2030, 16)] {
        r.gpu.mmio_write32(reg, v);
    }
    r.wait("the store", |r| r.memory.dword(0x8_0000) == 7);
}
