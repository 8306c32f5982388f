// SPDX-License-Identifier: GPL-2.0
//! R5xx: requests on the modelled cards: interrupts, copies, surfaces, streams and the known state.
//!
//! Streams are by hand from §5.1, registers by the digest's §3.3 to §3.5.

use gpu_model::{
    counters::Counter,
    r5xx::{Chip, R5xxConfig, Unit},
};
use ouro_cross::{
    r5xx_machine::{Job, Named, Object},
    R5xxMachine,
};
use ouro_hw::{
    engine::PageCopy,
    fence_regs::{FenceRegion, Tiling},
    generation::Events,
    ring::Commands,
    types::{GgttAddr, MemoryKind, Seqno},
};

const NOTHING: Job<'static> = Job {
    client: 0,
    batch: None,
    inline: &[],
};
const PAGE: u32 = 4096;

/// A register (§5.1.1).
fn set(register: u32, value: u32) -> [u32; 2] {
    [register / 4, value]
}

/// A relocation: record `n` of four dwords (digest §5.7).
fn object(n: u32) -> [u32; 2] {
    [0xc000_1000, 4 * n]
}

/// Fills a rectangle of 32-bit pixels in a surface with rows of `pitch` bytes, by registers (digest §2.3,
/// §3.3): no source, solid brush, the pattern's raster operation.
fn fill(n: u32, pitch: u32, corner: (u32, u32), size: (u32, u32), colour: u32) -> Vec<u32> {
    [
        // Destination by its register (1), brush 13 (7:4), 32 bits (11:8), source like it (13:12), ROP F0
        // (23:16), from memory (26:24), no comparison (28), no mask (30).
        &set(0x146c, 0x5200_36d2 | 0xf0 << 16)[..],
        &set(0x142c, (pitch / 64) << 22),
        &object(n),
        &set(0x147c, colour),
        &set(0x16cc, u32::MAX),
        &set(0x16c0, 3),
        &set(0x16ec, 0),
        &set(0x16f0, 0x1fff_1fff),
        &set(0x1438, corner.1 << 16 | corner.0),
        // Height in the upper half here.
        &set(0x143c, size.1 << 16 | size.0),
    ]
    .concat()
}

/// A pattern that no two dwords of share.
fn pattern(card: &R5xxMachine, object: Object, seed: u32) {
    let dwords: Vec<u32> = (0..object.bytes / 4).map(|n| seed << 24 | n).collect();
    card.put(object, 0, &dwords);
}

#[test]
fn nothing_comes_while_nobody_waits_and_every_completion_when_somebody_does() {
    for name in ["rv515", "rv530", "r580"] {
        let mut card = R5xxMachine::new(name);
        card.work(&NOTHING);
        assert_eq!(card.line.messages(), 0);
        card.arm(true);
        assert_eq!(card.line.messages(), 0, "what was before is forgotten");
        assert_eq!(card.interrupt(), Events::default());
        for n in 1..=20 {
            card.work(&NOTHING);
            assert_eq!(card.line.messages(), n, "{name}");
            let completed = Events {
                ours: true,
                completed: 1,
                errors: 0,
                overdue: 0,
            };
            assert_eq!(card.interrupt(), completed);
            assert!(!card.line.level() && !card.interrupt().ours);
        }
        card.arm(false);
        card.work(&NOTHING);
        assert_eq!(card.line.messages(), 20);
        card.assert_lawful();
    }
}

#[test]
fn an_armed_interrupt_is_armed_again_after_a_reset() {
    let mut card = R5xxMachine::new("rv515");
    card.arm(true);
    card.reset().unwrap();
    card.work(&NOTHING);
    assert_eq!(card.line.messages(), 1);
    card.assert_lawful();
}

#[test]
fn pages_are_copied_between_both_memories() {
    let mut card = R5xxMachine::new("rv515");
    for (n, pages) in [1, 3, 64].into_iter().enumerate() {
        let kinds = [card.system(pages * PAGE), card.local(pages * PAGE)];
        let more = [card.system(pages * PAGE), card.local(pages * PAGE)];
        for from in kinds {
            for to in more {
                pattern(&card, from, n as u32 + 1);
                card.put(to, 0, &vec![0xffff_ffff; (to.bytes / 4) as usize]);
                let mut buf = [0; 16];
                let mut out = Commands::new(&mut buf);
                let copy = PageCopy {
                    from: GgttAddr(from.addr),
                    to: GgttAddr(to.addr),
                    pages,
                    memory: MemoryKind::System,
                    state: None,
                };
                card.engine().copy(&copy, &mut out).unwrap();
                card.work(&Job {
                    inline: out.as_slice(),
                    ..NOTHING
                });
                for dword in 0..to.bytes / 4 {
                    assert_eq!(card.dword(to, dword), (n as u32 + 1) << 24 | dword);
                }
            }
        }
    }
    card.assert_lawful();
    assert_eq!(card.gpu.client_lints(), []);
}

#[test]
fn copies_touch_nothing_else() {
    let mut card = R5xxMachine::new("r520");
    let (from, to) = (card.local(2 * PAGE), card.system(2 * PAGE));
    card.gpu.take_accesses();
    let mut buf = [0; 16];
    let mut out = Commands::new(&mut buf);
    let copy = PageCopy {
        from: GgttAddr(from.addr),
        to: GgttAddr(to.addr),
        pages: 2,
        memory: MemoryKind::System,
        state: None,
    };
    card.engine().copy(&copy, &mut out).unwrap();
    card.work(&Job {
        inline: out.as_slice(),
        ..NOTHING
    });
    let (accesses, lost) = card.gpu.take_accesses();
    assert_eq!(lost, 0);
    for (write, object) in [(false, from), (true, to)] {
        let mut bytes = 0;
        for a in accesses
            .iter()
            .filter(|a| a.unit == Unit::TwoD && a.write == write)
        {
            let inside =
                a.addr >= object.addr.into() && a.end() <= (object.addr + object.bytes).into();
            assert!(inside, "{a:x?}");
            bytes += a.len;
        }
        assert_eq!(bytes, 8192);
    }
}

#[test]
fn surfaces_show_rows_where_there_are_tiles() {
    // Digest §4.1: four bytes a pixel, pitch 256 pixels; places of these pixels.
    const PIXELS: [(u32, u32); 5] = [(1, 0), (0, 1), (5, 3), (33, 17), (255, 63)];
    for (tiling, places) in [
        (Tiling::MacroMicro, [0x4, 0x10, 0x134, 0x4814, 0xfffc]),
        (Tiling::Macro, [0x4, 0x100, 0x314, 0x4184, 0xfffc]),
        (Tiling::Micro, [0x4, 0x10, 0x834, 0x4114, 0xfffc]),
    ] {
        let mut card = R5xxMachine::new("rv515");
        // Not the first object, nor at a multiple of its size.
        card.local(PAGE);
        let object = card.local(64 * 1024);
        let fences = card.topo.fences.unwrap();
        let region = FenceRegion {
            start: GgttAddr(object.addr),
            len: 64 * 1024,
            stride: 1024,
            tiling,
        };
        fences.check(&region).unwrap();
        for n in 0..fences.count() {
            let last = n.checked_sub(1);
            if let Some(last) = last {
                fences.set(&card.windows.regs, last, None).unwrap();
            }
            fences.set(&card.windows.regs, n, Some(&region)).unwrap();
            for (x, y) in PIXELS {
                card.put(object, y * 256 + x, &[y << 16 | x | 1 << 31]);
            }
            fences.set(&card.windows.regs, n, None).unwrap();
            for ((x, y), at) in PIXELS.into_iter().zip(places) {
                let dword = card.dword(object, at / 4);
                assert_eq!(dword, y << 16 | x | 1 << 31, "{tiling:?} {n}");
            }
        }
        card.assert_lawful();
    }
}

#[test]
fn a_stream_is_checked_copied_and_run() {
    let mut card = R5xxMachine::new("rv515");
    let objects = [card.local(PAGE), card.system(PAGE)];
    for (n, object) in objects.into_iter().enumerate() {
        // Rows of 256 bytes: 16 of them.
        let stream = fill(n as u32, 256, (3, 2), (5, 4), 0x8000_0042);
        card.exec(1, &stream, &Named::new(&objects)).unwrap();
        for y in 0..16 {
            for x in 0..64 {
                let inside = (3..8).contains(&x) && (2..6).contains(&y);
                let expected = if inside { 0x8000_0042 } else { 0 };
                assert_eq!(card.dword(object, y * 64 + x), expected, "{x} {y}");
            }
        }
    }
    // A row more than there is.
    let stream = fill(0, 256, (0, 13), (1, 4), 1);
    assert!(card.exec(1, &stream, &Named::new(&objects)).is_err());
    card.assert_lawful();
    assert_eq!(card.gpu.client_lints(), []);
}

#[test]
fn registers_are_known_before_each_batch() {
    let mut card = R5xxMachine::new("rv515");
    let objects = [card.local(PAGE)];
    let named = Named::new(&objects);
    // A target, its pitch, the channels, depth and textures on; an array with its place (digest §3.4, §3.5).
    let stream = [
        &set(0x4e28, 0)[..],
        &object(0),
        &set(0x4e38, 6 << 21 | 64),
        &set(0x4e0c, 0xf),
        &set(0x4f00, 2),
        &set(0x4104, 1),
        &[0xc002_2f00, 1, 0x101, 0],
        &object(0),
    ]
    .concat();
    let left = [0x4e28, 0x4e38, 0x4e0c, 0x4f00, 0x4104, 0x20c0, 0x20c8];
    for other in [1, 2] {
        card.exec(1, &stream, &named).unwrap();
        assert_eq!(card.gpu.mmio_read32(0x4e28), objects[0].addr);
        for register in left {
            assert_ne!(card.gpu.mmio_read32(register), 0, "{register:x}");
        }
        // The same client, and another one.
        card.exec(other, &[0x8000_0000], &named).unwrap();
        for register in left {
            assert_eq!(card.gpu.mmio_read32(register), 0, "{register:x}");
        }
    }
    card.assert_lawful();
}

#[test]
fn memories_of_shaders_are_cleared_for_another_client_only() {
    let mut card = R5xxMachine::new("rv515");
    let named = Named::default();
    let cost = |card: &mut R5xxMachine, client: u32| {
        let before = card.gpu.counter(Counter::CsRegWrites);
        card.exec(client, &[0x8000_0000], &named).unwrap();
        card.gpu.counter(Counter::CsRegWrites) - before
    };
    let first = cost(&mut card, 1);
    let again = cost(&mut card, 1);
    // 1288 vectors of four dwords, 512 slots of six, 256 constants of four; six places, a flush
    // and the mask of pipes (digest §2.8, §4.5).
    assert_eq!(first - again, 5152 + 3072 + 1024 + 6 + 1 + 1);
    assert_eq!(cost(&mut card, 2), first);
    // Requests of the kernel's leave nothing behind.
    card.work(&NOTHING);
    assert_eq!(cost(&mut card, 2), again);
    assert_eq!(cost(&mut card, 1), first);
    // What a reset leaves is not known.
    card.reset().unwrap();
    assert_eq!(cost(&mut card, 1), first);
    card.assert_lawful();
}

#[test]
fn a_draw_reads_and_writes_what_it_was_told() {
    let mut card = R5xxMachine::new("r580");
    let objects = [card.local(4 * PAGE), card.system(PAGE)];
    let stream = [
        // 64 by 16 pixels of four bytes; four dwords a vertex, three of them, without a gap.
        &set(0x43e4, 15 << 13 | 63)[..],
        &set(0x4e0c, 0xf),
        &set(0x4e28, 0),
        &object(0),
        &set(0x4e38, 6 << 21 | 64),
        // The last vertex: the model clamps lists, too.
        &set(0x2134, 2),
        &[0xc002_2f00, 1, 0x404, 16],
        &object(1),
        &[0xc000_3400, 3 << 16 | 2 << 4 | 4],
    ]
    .concat();
    card.exec(1, &stream, &Named::new(&objects)).unwrap();
    let (accesses, lost) = card.gpu.take_accesses();
    assert_eq!(lost, 0);
    let of = |unit: Unit| {
        let all = accesses.iter().filter(|a| a.unit == unit);
        let from = all.clone().map(|a| a.addr).min().unwrap();
        (from, all.map(|a| a.end()).max().unwrap())
    };
    let at = |n: usize| u64::from(objects[n].addr);
    assert_eq!(of(Unit::Vertex), (at(1) + 16, at(1) + 16 + 48));
    assert_eq!(of(Unit::Color), (at(0), at(0) + 64 * 16 * 4));
    assert_eq!(card.gpu.counter(Counter::Draws3d), 1);
    card.assert_lawful();
    assert_eq!(card.gpu.client_lints(), []);
}

#[test]
fn the_number_comes_when_the_work_is_done() {
    let mut config = R5xxConfig::new(Chip::named("rv515").unwrap());
    config.delay_ns = 1_000_000;
    let mut card = R5xxMachine::with(config);
    let objects = [card.local(PAGE)];
    let copy = card
        .check(&fill(0, 256, (0, 0), (1, 1), 7), &Named::new(&objects))
        .unwrap();
    let batch = Some(card.place(&copy));
    card.submit(&Job { batch, ..NOTHING });
    while card.done() == Seqno(0) {
        assert_eq!(card.dword(objects[0], 1), 0);
        let before = card.dword(objects[0], 0);
        card.gpu.step();
        let clock = card.gpu.clock();
        clock.advance_to(clock.now() + 10_000);
        assert!(
            card.done() == Seqno(0) || before == 7,
            "the number came first"
        );
    }
    card.assert_lawful();
}

/// Digest §4.4, §5.2: a write through an entry without bit 2 is discarded where the table checks that.
#[test]
fn no_batch_writes_the_kernels_own_commands() {
    let mut card = R5xxMachine::new("rv515");
    let own = card.system(PAGE);
    // Fills by registers, past the checker: one pixel of the place itself.
    let hostile = |at: u32| {
        let offset = at / 1024;
        [
            &set(0x146c, 0x52f0_36d2)[..],
            &set(0x147c, 0x0bad_beef),
            &set(0x142c, 4 << 22 | offset),
            &set(0x1438, 0),
            &set(0x1598, 1 << 16 | 1),
        ]
        .concat()
    };
    for object in card.kernels() {
        let batch = Some(card.place(&hostile(object.addr)));
        card.submit(&Job { batch, ..NOTHING });
        assert!(card.run());
        assert_ne!(card.dword(object, 0), 0x0bad_beef, "{:x}", object.addr);
    }
    // The same stream reaches what may be written.
    let batch = Some(card.place(&hostile(own.addr)));
    card.submit(&Job { batch, ..NOTHING });
    assert!(card.run());
    assert_eq!(card.dword(own, 0), 0x0bad_beef);
}
