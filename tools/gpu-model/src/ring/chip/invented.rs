// SPDX-License-Identifier: GPL-2.0 OR MIT
//! An invented chip that tests that nothing is hard-coded.

use super::*;
use crate::intel::regfile::Domain;
use crate::memory::VecMemory;
use crate::model::NoIrq;
use crate::ring::regs::{self, ring, ALL, MASKED};
use crate::ring::{RingConfig, RingGpu, StepResult};
use std::sync::Arc;

/// Forcewake of threads, and what says that it is in force.
const WAKE: u32 = 0xa188;
const WAKE_ACK: u32 = 0x13_0040;
const WAKE_ENABLE: u32 = 0xa180;
/// A register that counts its reads and has no other use.
const COUNT: u32 = 0x4_5f00;

/// Render and video, each with a mode register in its own block.
const ENGINES: &[EngineRow] = &[
    EngineRow {
        mode: Some(0x229c),
        hws_pga: 0x4080,
        ..SNB.engines[0]
    },
    EngineRow {
        base: 0x6000,
        mode: Some(0x629c),
        hws_pga: 0x4180,
        fault: Some(0x4_5f10),
        sleeps: false,
        ..SNB.engines[1]
    },
];

const REGISTERS: &[Row] = &[
    Row(0x229c, "MODE", 0, MASKED, Domain::Engine(0)),
    Row(0x629c, "MODE", 0, MASKED, Domain::Engine(1)),
    Row(WAKE, "FORCEWAKE", 0, MASKED, Domain::Chip),
    Row(WAKE_ACK, "FORCEWAKE_ACK", 0, ALL, Domain::Chip),
    Row(WAKE_ENABLE, "ECOBUS", 0, ALL, Domain::Chip),
    Row(COUNT, "COUNT", 0, ALL, Domain::Chip),
];

const INVENTED: Chip = Chip {
    name: "invented",
    ids: &[0x1234],
    engines: ENGINES,
    forcewake: Forcewake {
        threads: Some(Threads {
            request: WAKE,
            ack: WAKE_ACK,
            enable: (WAKE_ENABLE, 1 << 5),
        }),
        ..SNB.forcewake
    },
    always_on: &[0xa18c, WAKE, WAKE_ENABLE, 0x941c],
    fifo: None,
    registers: &[regs::GT, REGISTERS],
    hooks: Hooks {
        power_on: |core| core.set(WAKE_ENABLE, 1 << 5),
        read: |core, offset| {
            if offset != COUNT {
                return None;
            }
            let n = core.get(COUNT) + 1;
            core.set(COUNT, n);
            Some(n)
        },
        written: |core, offset, old, new, _| {
            if offset == 0x6000 + ring::NOPID && old != new {
                core.set(COUNT, 100);
            }
        },
        // MI opcode 29h, which Sandy Bridge does not have: NOPID becomes what stands in the command.
        command: |core, e, d| {
            (d[0] >> 23 == 0x29).then(|| {
                core.set_ring(e, ring::NOPID, d[1]);
                Flow::Next
            })
        },
        ..Hooks::NONE
    },
    mi: &[&[
        crate::intel::mi::one(0, "MI_NOOP", crate::intel::mi::ALL),
        crate::intel::mi::many(0x29, "MI_OWN", crate::intel::mi::ALL, 2, 2, 0x3f),
    ]],
    map: register_map!(INVENTED),
    ..SNB
};

fn gpu() -> RingGpu {
    let cfg = RingConfig {
        prefetch: false,
        ..RingConfig::of(&INVENTED)
    };
    RingGpu::new(cfg, Arc::new(VecMemory::new(1 << 20)), Arc::new(NoIrq))
}

#[test]
fn threads_wake_where_they_are_in_force() {
    let gpu = gpu();
    // Two threads request; the GT sleeps when both have released.
    gpu.mmio_write32(WAKE, 0x0003_0003);
    assert_eq!(gpu.mmio_read32(WAKE_ACK), 3);
    gpu.mmio_write32(WAKE, 0x0001_0000);
    assert_eq!(gpu.mmio_read32(WAKE_ACK), 2);
    gpu.mmio_write32(0xa18c, 0);
    assert_eq!(gpu.mmio_read32(WAKE_ACK), 2, "the other register is dead");
    gpu.mmio_write32(WAKE, 0x0002_0000);
    assert_eq!(gpu.mmio_read32(WAKE_ACK), 0);

    gpu.mmio_write32(WAKE_ENABLE, 0);
    gpu.mmio_write32(WAKE, 0x0001_0001);
    assert_eq!(gpu.mmio_read32(WAKE_ACK), 0);
    gpu.mmio_write32(0xa18c, 1);
    assert_eq!(gpu.mmio_read32(0x13_0090), 1);
}

#[test]
fn engines_and_commands_are_the_chips() {
    let gpu = gpu();
    gpu.mmio_write32(WAKE, 0x0001_0001);
    gpu.gtt_write(1, 0x1005);
    gpu.aperture_write(0x1000, &0x1480_0000u32.to_le_bytes());
    gpu.aperture_write(0x1004, &0x0012_3456u32.to_le_bytes());
    gpu.mmio_write32(0x6000 + ring::START, 0x1000);
    gpu.mmio_write32(0x6000 + ring::TAIL, 8);
    gpu.mmio_write32(0x6000 + ring::CTL, 1);
    assert_eq!(gpu.step(EngineId::Vcs), StepResult::Ran);
    assert_eq!(gpu.mmio_read32(0x6000 + ring::NOPID), 0x0012_3456);
    assert_eq!(gpu.step(EngineId::Bcs), StepResult::Idle, "there is none");
}

#[test]
fn hooks_see_reads_and_writes() {
    let gpu = gpu();
    gpu.mmio_write32(WAKE, 0x0001_0001);
    assert_eq!((gpu.mmio_read32(COUNT), gpu.mmio_read32(COUNT)), (1, 2));
    gpu.mmio_write32(0x6000 + ring::NOPID, 5);
    assert_eq!(gpu.mmio_read32(COUNT), 101);
}
