// SPDX-License-Identifier: GPL-2.0
//! `ouro_hw` before any kernel: a UEFI program finds a Sandy Bridge, starts its blitter, fills a picture of four pages,
//! copies it, and prints a checksum of the copy.

#![no_main]
#![no_std]

extern crate alloc;

mod board;
mod memory;

use alloc::{format, string::String, vec};
use board::{Bar, Board};
use memory::{Pages, SCRATCH};
use ouro_hw::{
    chips,
    engine::{EngineMemory, PageCopy, StatusPage, Submission, Switch},
    generation::Layout,
    io::{Hw, SleepWait},
    ring::{Commands, Overflow, Ring},
    types::{CacheLevel, DmaAddr, EngineClass, GgttAddr, MemoryKind, Page, Seqno, PAGE_SIZE},
    Emit, Gt,
};
use uefi::{prelude::*, println, runtime::ResetType};

/// Pages of the picture: one is a row of 1024 pixels of four bytes.
const ROWS: u32 = 4;
/// GGTT addresses: the ring and its pages, the picture, its copy. Firmware may show a picture of its own below.
const BASE: u32 = 0x0100_0000;
const PICTURE: u32 = BASE + 0x10_0000;
const COPY: u32 = BASE + 0x20_0000;

/// `XY_COLOR_BLT` of 32-bit pixels (G45 PRM V1b chapter 8): client 2, opcode 50h, all bytes written; ROP F0h: the colour.
fn fill(x: [u32; 2], y: [u32; 2], colour: u32) -> [u32; 6] {
    let (from, to) = (y[0] << 16 | x[0], y[1] << 16 | x[1]);
    [
        0x5430_0004,
        0x03f0_0000 | PAGE_SIZE,
        from,
        to,
        PICTURE,
        colour,
    ]
}

/// Text of an error that has no message of its own.
fn full(_: Overflow) -> String {
    "commands do not fit".into()
}

fn run() -> Result<u32, String> {
    let board = Board::find(chips::INTEL).map_err(|e| format!("{e}"))?;
    let chip = chips::lookup(board.vendor, board.device).ok_or("no backend has this chip")?;
    let said = |e: ouro_hw::generation::DeviceError| format!("{e}");
    println!(
        "{}: PCI {:04x}:{:04x}",
        chip.name, board.vendor, board.device
    );

    let generation = chip.generation;
    let windows = generation.windows();
    let regs = Bar::new(&board, windows.regs);
    let gtt = Bar::new(&board, windows.gtt);
    let mut hw = Hw {
        regs: &regs,
        gtt: &gtt,
        platform: &board,
        firmware: &[],
        card: 0,
    };
    let mut gt = Gt::default();
    generation.wake(&hw, &mut gt, &board).map_err(said)?;
    let topology = generation.probe(&hw, chip).map_err(said)?;
    hw.card = topology.card;
    generation.prepare(&hw, &topology, &board).map_err(said)?;

    // Memory, and the GGTT: all of it maps a scratch page but for what is needed.
    let scratch = Pages::new(1).map_err(|e| format!("{e}"))?;
    let page = |addr| Page {
        addr: DmaAddr(addr),
        memory: MemoryKind::System,
        cache: CacheLevel::Coherent,
    };
    let entry = |addr| topology.pages.entry(page(addr)) as u32;
    gtt.fill(topology.gtt_entries, entry(scratch.address()));
    let bind = |pages: &Pages, at: u32| {
        for n in 0..pages.count() {
            hw.gtt.write32(
                (at / PAGE_SIZE + n) * 4,
                entry(pages.address() + u64::from(n * PAGE_SIZE)),
            );
        }
    };
    let engine = *topology
        .engines
        .iter()
        .find(|e| e.desc().id.class == EngineClass::Copy)
        .ok_or("it has no blitter")?;
    let desc = engine.desc();
    let new = |count, at| {
        let pages = Pages::new(count).map_err(|e| format!("{e}"))?;
        bind(&pages, at);
        Ok::<_, String>(pages)
    };
    let ring = new(desc.ring_bytes / PAGE_SIZE, BASE)?;
    let status = new(1, BASE + 0x8_0000)?;
    let _flushes = new(1, BASE + SCRATCH)?;
    let _picture = new(ROWS, PICTURE)?;
    let copy = new(ROWS, COPY)?;

    let layout = Layout {
        scratch: page(scratch.address()),
        directory: None,
    };
    generation
        .start(&hw, &topology, &layout, &board)
        .map_err(said)?;
    generation.gtt_on(&hw, true);
    generation.gtt_flush(&hw);
    hw.platform.set_master(true);
    let memory = EngineMemory {
        ring: GgttAddr(BASE),
        status: StatusPage::Ggtt(GgttAddr(BASE + 0x8_0000)),
        scratch: GgttAddr(BASE + SCRATCH),
        directory: None,
        card: topology.card,
    };
    engine.start(&hw, &memory, &board).map_err(said)?;

    // One request: two fills, then the copy.
    let mut room = vec![0; 64];
    let mut inline = Commands::new(&mut room);
    inline
        .put(&fill([0, 1024], [0, ROWS], 0x0033_6699))
        .map_err(full)?;
    inline
        .put(&fill([256, 768], [1, 3], 0x00ff_cc00))
        .map_err(full)?;
    let pages = PageCopy {
        from: GgttAddr(PICTURE),
        to: GgttAddr(COPY),
        pages: ROWS,
        memory: MemoryKind::System,
        state: None,
    };
    // A blitter that reads what it has just written flushes in between: each is a request of its own.
    let mut later = vec![0; 64];
    let mut copying = Commands::new(&mut later);
    engine.copy(&pages, &mut copying).map_err(full)?;

    let mut tail = Ring::new(desc.ring_bytes);
    for (seqno, commands) in [(1, inline.as_slice()), (2, copying.as_slice())] {
        let request = Emit {
            switch: Switch::Stay,
            directory: None,
            known: None,
            batch: None,
            inline: commands,
            watchdog: None,
            seqno: Seqno(seqno),
        };
        let mut room = vec![0; desc.emit_dwords + commands.len()];
        let mut out = Commands::new(&mut room);
        engine.emit(&request, &memory, &mut out).map_err(full)?;
        let slot = tail.reserve(out.len()).ok_or("the ring is full")?;
        ring.write(slot.start.0, out.as_slice());
        engine
            .submit(&hw, &mut gt, Submission::Tail(slot.tail), &board)
            .map_err(said)?;
    }
    let done = || Seqno(status.read(desc.seqno_at)).passed(Seqno(2));
    board
        .poll(10_000_000, &mut || done())
        .map_err(|_| "the blitter does not come to its end")?;

    let sum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
    let sum = sum.checksum(&copy.bytes());
    engine.stop(&hw, &board).map_err(said)?;
    hw.platform.set_master(false);
    generation.stop(&hw);
    Ok(sum)
}

#[entry]
fn main() -> Status {
    match run() {
        Ok(sum) => println!("checksum {sum:08x}"),
        Err(what) => println!("failed: {what}"),
    }
    uefi::runtime::reset(ResetType::SHUTDOWN, Status::SUCCESS, None)
}
