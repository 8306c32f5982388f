// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The command processor: ring, packets, indirect buffers, scratch registers, waits, interrupts, reset
//! (R5xx guide §4, §5.1, §5.2.4, §5.2.5).

use crate::r5xx_rig::{config, packet, type0, type3, Rig, GTT, INDIRECT, RING, WRITE_BACK};
use gpu_model::counters::Counter;
use gpu_model::r5xx::{Lockup, Rule};

const NOP: u32 = 0x8000_0000;

/// Digest §2.9: the ring test, and that the register is mirrored to its place (§4.9).
#[test]
fn ring_test() {
    for name in ["rv515", "rv530", "r520", "r580"] {
        let rig = Rig::with(config(name));
        rig.set(0x15e0, 0xcafe_dead);
        rig.run(&[type0(0x15e0, 1), 0xdead_beef]);
        assert_eq!(rig.reg(0x15e0), 0xdead_beef, "{name}");
        assert_eq!(rig.guest(WRITE_BACK), 0xdead_beef, "{name}");
        rig.clean();
    }
}

/// §4.9: eight registers, a mask bit for each, the address in units of dwords.
#[test]
fn scratch_registers_are_mirrored_by_their_mask() {
    let rig = Rig::new();
    rig.set(0x770, 0b1010_1010);
    let values: Vec<u32> = (0..8).map(|n| 0x100 + n).collect();
    let mut stream = vec![type0(0x15e0, 8)];
    stream.extend(&values);
    rig.run(&stream);
    for n in 0..8u32 {
        let mirrored = if n % 2 == 1 { 0x100 + n } else { 0 };
        assert_eq!(rig.reg(0x15e0 + 4 * n), 0x100 + n);
        assert_eq!(rig.guest(WRITE_BACK + 4 * u64::from(n)), mirrored, "{n}");
    }
    rig.clean();
}

/// §5.1.1: consecutive registers, or all to one.
#[test]
fn type_0() {
    let rig = Rig::new();
    rig.run(&[type0(0x15e0, 3), 1, 2, 3]);
    assert_eq!(
        (rig.reg(0x15e0), rig.reg(0x15e4), rig.reg(0x15e8)),
        (1, 2, 3)
    );
    rig.run(&[type0(0x15e0, 3) | 1 << 15, 4, 5, 6]);
    assert_eq!(
        (rig.reg(0x15e0), rig.reg(0x15e4), rig.reg(0x15e8)),
        (6, 2, 3)
    );
    rig.clean();
}

/// §5.1.2: two registers of 11 bits each; 0x15e0 / 4 = 0x578, 0x15fc / 4 = 0x57f.
#[test]
fn type_1() {
    let rig = Rig::new();
    rig.run(&[0x4000_0000 | 0x57f << 11 | 0x578, 0xaa, 0xbb]);
    assert_eq!((rig.reg(0x15e0), rig.reg(0x15fc)), (0xaa, 0xbb));
    rig.clean();
}

/// §5.1.3: one dword, whatever its other bits.
#[test]
fn type_2() {
    let rig = Rig::new();
    rig.run(&[NOP, NOP | 0x3fff_ffff, type0(0x15e0, 1), 7]);
    assert_eq!(rig.reg(0x15e0), 7);
    rig.clean();
}

/// §4.4: packets go over the end of the ring, and the read pointer is told at every block and when the
/// ring runs empty.
#[test]
fn the_ring_wraps() {
    let rig = Rig::new();
    for n in 0..100u32 {
        let mut stream = vec![type3(0x10, 38)];
        stream.extend([0x5555_5555; 38]);
        stream.extend([type0(0x15e0, 1), n]);
        rig.run(&stream);
        assert_eq!(rig.guest(WRITE_BACK), n);
        assert_eq!(rig.guest(WRITE_BACK + 1024), (n + 1) * 41 % 1024);
        assert_eq!(rig.reg(0x710), (n + 1) * 41 % 1024);
    }
    rig.clean();
}

/// §4.4: nothing is fetched while both pointers are the same.
#[test]
fn the_write_pointer_is_the_trigger() {
    let rig = Rig::new();
    rig.put_guest(RING, &[type0(0x15e0, 1), 1, type0(0x15e0, 1), 2]);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 0);
    rig.set(0x714, 2);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
    // Half a packet waits for the other.
    rig.set(0x714, 3);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
    rig.set(0x714, 4);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 2);
    rig.clean();
}

/// §4.8: the read pointer takes CP_RB_RPTR_WR when the write pointer is written, with the enable bit
/// only.
#[test]
fn the_read_pointer_is_set_with_the_write_pointer() {
    let rig = Rig::new();
    rig.set(0x740, 0);
    rig.set(0x71c, 0x80);
    rig.set(0x714, 0x80);
    assert_eq!(rig.reg(0x710), 0);
    rig.set(0x704, rig.reg(0x704) | 1 << 31);
    assert_eq!(rig.reg(0x710), 0);
    rig.set(0x714, 0x80);
    assert_eq!(rig.reg(0x710), 0x80);
}

/// §4.6, §4.10: a buffer, then the packet after the one that started it.
#[test]
fn indirect_buffers() {
    let rig = Rig::new();
    rig.put_guest(INDIRECT, &[type0(0x15e0, 1), 0x11, NOP, NOP]);
    rig.put_guest(
        INDIRECT + 0x100,
        &[
            type0(0x730, 2),
            GTT + INDIRECT as u32,
            4,
            type0(0x15e4, 1),
            0x22,
        ],
    );
    rig.run(&[
        type0(0x738, 2),
        GTT + INDIRECT as u32 + 0x100,
        5,
        type0(0x15e8, 1),
        0x33,
    ]);
    assert_eq!(
        (rig.reg(0x15e0), rig.reg(0x15e4), rig.reg(0x15e8)),
        (0x11, 0x22, 0x33)
    );
    assert_eq!(rig.gpu.lockup(), None);
    assert_eq!(rig.gpu.counter(Counter::Batches), 2);
    // The second level and the scratch registers are none of a program's business.
    assert_eq!(rig.gpu.lint_count(Rule::PrivilegedRegister), 4);
}

/// §4.10 and digest D3, D5, D6: starts and ends of buffers that put the streams out of step.
#[test]
fn indirect_buffers_that_lock_up() {
    let ib = GTT + INDIRECT as u32;
    let cases: &[(&str, &[u32], &[u32], Rule)] = &[
        (
            "the size first, then the base",
            &[type0(0x73c, 1) | 1 << 16, 4, 0],
            &[NOP; 4],
            Rule::IbSizeNotLast,
        ),
        (
            "the size by a type-1 packet, first",
            &[0x4000_0000 | 0x578 << 11 | 0x1cf, 4, 0],
            &[NOP; 4],
            Rule::IbSizeNotLast,
        ),
        (
            "the second level from the ring",
            &[type0(0x730, 2), ib, 4],
            &[NOP; 4],
            Rule::IbLevel,
        ),
        (
            "an end in a type-0 packet",
            &[type0(0x738, 2), ib, 2],
            &[type0(0x2080, 2), 0],
            Rule::IbUnderrun,
        ),
        (
            "an end in a type-3 packet",
            &[type0(0x738, 2), ib, 2],
            &[type3(0x10, 2), 0],
            Rule::IbUnderrun,
        ),
    ];
    for (name, ring, buffer, rule) in cases {
        let rig = Rig::new();
        rig.put_guest(INDIRECT, buffer);
        rig.run(ring);
        rig.run(&[type0(0x15e0, 1), 1]);
        assert_eq!(rig.gpu.lockup(), Some(Lockup::Stream), "{name}");
        assert_eq!(rig.gpu.lint_count(*rule), 1, "{name}");
        assert_eq!(rig.reg(0x15e0), 0, "{name}");
        // Busy, and the read pointer stands still.
        assert_eq!(rig.reg(0xe40) >> 31, 1, "{name}");
    }
}

/// Digest §1.F and §5.2: the reset of a locked-up command processor in the kernel's order.
#[test]
fn soft_reset() {
    let rig = Rig::new();
    rig.run(&[type0(0x73c, 2), 4, 0]);
    assert!(rig.gpu.lockup().is_some());
    let control = rig.reg(0x704);
    rig.set(0x740, 0);
    rig.set(0x704, control | 1 << 31);
    rig.set(0x71c, 0);
    rig.set(0x714, 0);
    rig.set(0xf0, 0x2004);
    rig.set(0xf0, 0);
    rig.set(0xf0, 1);
    // Held in reset, nothing runs.
    rig.set(0x740, 4 << 28);
    rig.submit(&[type0(0x15e0, 1), 1]);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 0);
    rig.set(0xf0, 0);
    assert_eq!(rig.gpu.lockup(), None);
    assert_eq!(rig.reg(0xe40) & (1 << 26 | 1 << 20), 0);
    rig.set(0x704, control);
    // §4.8: the ring's place is kept, the read pointer is zero.
    assert_eq!(rig.reg(0x700), GTT);
    rig.settle();
    assert_eq!((rig.reg(0x15e0), rig.reg(0x710)), (1, 2));
}

/// §4.8: the read pointer resets to zero; stale commands run again if the write pointer does not
/// match.
#[test]
fn a_reset_alone_replays_the_ring() {
    let rig = Rig::new();
    rig.run(&[type0(0x15e0, 1), 5]);
    rig.set(0x15e0, 0);
    rig.set(0xf0, 1);
    rig.set(0xf0, 0);
    assert_eq!((rig.reg(0x710), rig.reg(0x714)), (0, 2));
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 5);
}

/// §4.12, §4.13: 40 bits, the high part first, the address goes on.
#[test]
fn microcode_memory() {
    let rig = Rig::bare(config("rv515"));
    rig.set(0x7d4, 0x10);
    for (high, low) in [(0x1ab, 0x1111_1111), (0x02, 0x2222_2222)] {
        rig.set(0x7dc, high);
        rig.set(0x7e0, low);
    }
    rig.set(0x7d8, 0x10);
    assert_eq!((rig.reg(0x7dc), rig.reg(0x7e0)), (0xab, 0x1111_1111));
    assert_eq!((rig.reg(0x7dc), rig.reg(0x7e0)), (0x02, 0x2222_2222));
    rig.clean();
}

/// Digest B8: without microcode the first type-3 packet is the last.
#[test]
fn no_microcode_no_type_3() {
    let rig = Rig::bare(config("rv515"));
    rig.start_gart();
    rig.start_ring();
    rig.run(&[type0(0x15e0, 1), 1]);
    assert_eq!(rig.reg(0x15e0), 1);
    rig.run(&packet(0x10, &[0]));
    assert_eq!(rig.gpu.lockup(), Some(Lockup::NoMicrocode));
}

/// §4.3, §4.11: off, push and pull of the ring and of the indirect stream; the place of the pushed
/// dword does not matter.
#[test]
fn pushed_streams() {
    let rig = Rig::new();
    rig.set(0x740, 15 << 28);
    rig.set(0x1000, type0(0x15e0, 1));
    rig.set(0x12fc, 0x41);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 0x41);
    // The size is still to be written, and comes before the data here (§4.10).
    rig.set(0x1000, type0(0x738, 2));
    rig.set(0x1000, 0);
    rig.set(0x1000, 3);
    rig.settle();
    rig.set(0x1300, type0(0x2080, 1));
    rig.set(0x1300, 0x42);
    rig.settle();
    assert_eq!(rig.reg(0x2080), 0x42);
    rig.set(0x1004, type0(0x15e0, 1));
    rig.set(0x1004, 0x43);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 0x41, "the buffer has a dword to come");
    rig.set(0x13fc, NOP);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 0x43);
    rig.clean();
    // Off: nothing is taken.
    rig.set(0x740, 0);
    rig.set(0x1000, 0);
    assert_eq!(rig.gpu.lint_count(Rule::StreamOff), 1);
}

/// §4.3: the mode is switched when all is quiet.
#[test]
fn the_mode_changes_when_quiet() {
    let rig = Rig::new();
    rig.set(0x740, 15 << 28);
    rig.set(0x1000, type0(0x15e0, 1));
    rig.set(0x740, 4 << 28);
    assert_eq!(rig.gpu.lint_count(Rule::ModeChanged), 1);
    let rig = Rig::new();
    rig.run(&[type0(0x15e0, 1), 1]);
    rig.set(0x740, 0);
    rig.set(0x740, 2 << 28);
    rig.clean();
}

/// Digest §3.2: bit 26 raises bit 25, which stays until it is written; the enable decides on the line.
#[test]
fn software_interrupt() {
    let rig = Rig::new();
    rig.run(&[type0(0x44, 1), 1 << 26]);
    assert_eq!(rig.reg(0x44) & 1 << 25, 1 << 25);
    assert!(!rig.level());
    rig.set(0x40, 1 << 25);
    assert!(rig.level());
    rig.set(0x44, 1 << 25);
    assert_eq!(rig.reg(0x44) & 1 << 25, 0);
    assert!(!rig.level());
    rig.clean();
}

/// Digest §5.2: after a message there is no other until 1 is written to MSI_REARM_EN.
#[test]
fn messages_are_armed_again() {
    use gpu_model::model::GpuModel;
    let rig = Rig::new();
    // The MSI capability's enable bit.
    rig.gpu.config_write(0x82, &[1, 0]);
    rig.set(0x40, 1 << 25);
    let raise = [type0(0x44, 1), 1 << 26];
    rig.run(&raise);
    assert_eq!(rig.messages(), 1);
    rig.set(0x44, 1 << 25);
    rig.run(&raise);
    assert_eq!(rig.messages(), 1, "not armed");
    rig.set(0x160, 1);
    assert_eq!(rig.messages(), 2, "pending, told when armed");
    rig.set(0x44, 1 << 25);
    rig.set(0x160, 1);
    assert_eq!(rig.messages(), 2, "nothing is pending");
    rig.run(&raise);
    assert_eq!(rig.messages(), 3);
    rig.clean();
}

/// §5.2.4.1: the packet spins until the slot is zero, and may put a value there.
#[test]
fn semaphores() {
    let rig = Rig::new();
    // By the host: the address, then the low part alone.
    rig.set(0x7d4, 0xfd);
    rig.set(0x7e0, 1);
    let mut stream = packet(0x22, &[0xfd, 9]);
    stream.extend([type0(0x15e0, 1), 1]);
    rig.run(&stream);
    assert_eq!(rig.reg(0x15e0), 0);
    rig.set(0x7d4, 0xfd);
    rig.set(0x7e0, 0);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
    rig.set(0x7d8, 0xfd);
    rig.reg(0x7dc);
    assert_eq!(rig.reg(0x7e0), 9);
    // A free slot does not hold up, and without a value keeps its own.
    let mut stream = packet(0x22, &[0xff]);
    stream.extend([type0(0x15e0, 1), 2]);
    rig.run(&stream);
    assert_eq!(rig.reg(0x15e0), 2);
    rig.clean();
    rig.run(&packet(0x22, &[0x10]));
    assert_eq!(rig.gpu.lint_count(Rule::SemaphoreSlot), 1);
}

/// §5.2.5.2: {value, 2} in memory; the packet goes on at zero. Without the 2 it is documented to hang.
#[test]
fn semaphores_in_memory() {
    let rig = Rig::new();
    let object = GTT + 0x3000;
    rig.put_guest(0x3000, &[1, 2]);
    let mut stream = packet(0x23, &[object, 2]);
    stream.extend([type0(0x15e0, 1), 1]);
    rig.run(&stream);
    assert_eq!(rig.reg(0x15e0), 0);
    rig.put_guest(0x3000, &[0]);
    rig.settle();
    assert_eq!(rig.reg(0x15e0), 1);
    rig.clean();
    for (name, memory, len) in [("companion", [0, 3], 2), ("length", [0, 2], 1)] {
        let rig = Rig::new();
        rig.put_guest(0x3000, &memory);
        rig.run(&packet(0x23, &[object, len]));
        assert_eq!(rig.gpu.lockup(), Some(Lockup::Wait), "{name}");
        assert_eq!(rig.gpu.lint_count(Rule::WaitMemShape), 1, "{name}");
    }
}

/// §5.2.5.1 with the address that the printed form lacks (GARBLE 3).
#[test]
fn conditional_execution() {
    let rig = Rig::new();
    for (condition, expected) in [(0, 0), (1, 5)] {
        rig.set(0x15e0, 0);
        rig.set(0x15e4, 0);
        rig.put_guest(0x3000, &[condition]);
        let mut stream = packet(0x21, &[GTT + 0x3000, 2, 2]);
        stream.extend([type0(0x15e0, 1), 5, type0(0x15e4, 1), 6]);
        rig.run(&stream);
        assert_eq!((rig.reg(0x15e0), rig.reg(0x15e4)), (expected, 6));
    }
    rig.clean();
    rig.run(&packet(0x21, &[2, 2]));
    assert_eq!(rig.gpu.lint_count(Rule::CondExecAddress), 1);
}

/// §5.2.4: 31:24 a device each, 22:0 how many dwords; this is the first device.
#[test]
fn predicated_execution() {
    let rig = Rig::new();
    for (devices, expected) in [(0x02, 0), (0x01, 5), (0xff, 5)] {
        rig.set(0x15e0, 0);
        let mut stream = packet(0x20, &[devices << 24 | 2]);
        stream.extend([type0(0x15e0, 1), 5, type0(0x15e4, 1), 6]);
        rig.run(&stream);
        assert_eq!((rig.reg(0x15e0), rig.reg(0x15e4)), (expected, 6));
    }
    rig.clean();
}

/// Digest D6: what borrows the second indirect buffer cannot be in it.
#[test]
fn nested_borrowers_lock_up() {
    let bodies: [(u32, &[u32]); 3] = [
        (0x23, &[GTT + 0x3000, 2]),
        (0x21, &[GTT + 0x3000, 2, 0]),
        (0x33, &[0x8000_0810, GTT + 0x3000, 1]),
    ];
    for (opcode, body) in bodies {
        let rig = Rig::new();
        rig.put_guest(INDIRECT, &packet(opcode, body));
        let second = [
            type0(0x730, 2),
            GTT + INDIRECT as u32,
            body.len() as u32 + 1,
        ];
        rig.put_guest(INDIRECT + 0x100, &second);
        rig.run(&[type0(0x738, 2), GTT + INDIRECT as u32 + 0x100, 3]);
        assert_eq!(rig.gpu.lint_count(Rule::NestedWait), 1, "{opcode:#x}");
        assert_eq!(rig.gpu.lockup(), Some(Lockup::Stream), "{opcode:#x}");
    }
}

/// §4.9: waits for the engines hold up what follows; one for a display that is off never ends.
#[test]
fn wait_until() {
    let rig = Rig::new();
    rig.run(&[type0(0x1720, 1), 0x0003_0200, type0(0x15e0, 1), 1]);
    assert_eq!(rig.reg(0x15e0), 1);
    rig.clean();
    rig.run(&[type0(0x1720, 1), 1, type0(0x15e0, 1), 2]);
    assert_eq!(rig.reg(0x15e0), 1);
    assert_eq!(rig.gpu.lockup(), Some(Lockup::Wait));
    assert_eq!(rig.gpu.lint_count(Rule::ImpossibleWait), 1);
}

/// §4.9: the value comes when the colour caches are done; there are eight entries.
#[test]
fn resync() {
    let rig = Rig::new();
    rig.run(&[type0(0x778, 2), 3, 0xabcd]);
    assert_eq!(rig.reg(0x15ec), 0);
    rig.run(&[type0(0x4e4c, 1), 1 << 4]);
    assert_eq!(rig.guest(WRITE_BACK + 12), 0xabcd);
    rig.clean();
    for n in 0..9 {
        rig.run(&[type0(0x778, 2), 3, n]);
    }
    assert_eq!(rig.gpu.lint_count(Rule::ResyncOverflow), 1);
}

/// Digest H5: an unknown packet is skipped by its length. Its low bits are reserved.
#[test]
fn unknown_packets() {
    let rig = Rig::new();
    let mut stream = packet(0x77, &[1, 2, 3]);
    stream.extend([type0(0x15e0, 1), 1]);
    rig.run(&stream);
    assert_eq!(rig.reg(0x15e0), 1);
    assert_eq!(rig.gpu.lint_count(Rule::UnknownOpcode), 1);
    rig.run(&[type3(0x10, 1) | 1, 0]);
    assert_eq!(rig.gpu.lint_count(Rule::ReservedBits), 1);
}

/// Upstream's commands at start, around an indirect buffer, and for a fence (digest §2.9) break no rule.
#[test]
fn the_kernels_own_streams() {
    let rig = Rig::new();
    rig.run(&[
        0x5c9,
        0x33,
        0x5c8,
        0x30000,
        0x5c3,
        0x8000_0000,
        0x1007,
        0,
        0x1002,
        0,
        // SU_REG_DEST: as many bits as there are pipes.
        0x10b2,
        1,
        0x823,
        0,
        0x1393,
        0xa,
        0x13c6,
        3,
        0x5c8,
        0x30000,
        0x1008,
        0,
        0x1393,
        0xa,
        0x13c6,
        3,
        0x1004,
        0x6666_6666,
        0x1005,
        0x0666_6666,
        0x109d,
        3,
        0x10a2,
        0x120,
        0x10a3,
        5,
        0x832,
        0,
    ]);
    rig.put_guest(INDIRECT, &[NOP; 16]);
    rig.run(&[0x1_01ce, GTT + INDIRECT as u32, 16]);
    rig.set(0x40, 1 << 25);
    rig.run(&[
        0x10f8,
        0,
        0x10f9,
        0,
        0x1393,
        2,
        0x13c6,
        1,
        0x5c8,
        0x30200,
        0x4c,
        0x0880_0000,
        0x4c,
        0x0080_0000,
        0x579,
        42,
        0x11,
        0x0400_0000,
    ]);
    assert_eq!(rig.guest(WRITE_BACK + 4), 42);
    assert!(rig.level());
    rig.clean();
    assert_eq!(rig.reg(0xe40), 0x1000_0140);
}
