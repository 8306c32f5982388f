// SPDX-License-Identifier: GPL-2.0
//! Streams for DG2: its blitter's two commands, stores, and arithmetic of the streamer (digest of DG2 PRM Vol 8,
//! §2.1, §2.2; DG2 PRM Vol 8 "MI_MATH").

use bitfield_struct::bitfield;
use ouro_scene::blt::encode::EncodeError;
use ouro_scene::dg2::blt::{self, BltSurface};
use ouro_scene::dg2::Layout;
use ouro_scene::mi::NOOP;
use ouro_scene::surface::{Address, BufferId, Depth, Rect};

use super::canvas::{HEIGHT, WIDTH};
use crate::draft::{Draft, Made, PAGE};
use crate::stream::{Engine, Form, Target};

/// Blits of a stream.
const BLITS: usize = 4;
/// Stores of a stream.
const STORES: i32 = 6;

/// A surface in a buffer: the address is that of the buffer's first byte plus this offset.
struct Place {
    buffer: BufferId,
    offset: u32,
    surface: BltSurface,
}

/// Depths of which each command has all.
const DEPTHS: [Depth; 3] = [Depth::Bpp8, Depth::Bpp565, Depth::Bpp32];

fn place(draft: &mut Draft, depth: Depth, layout: Layout, is_result: bool) -> Place {
    // Two tiles across and two down.
    let (pitch, pages, offset) = match layout {
        Layout::Linear => (4 * WIDTH as u32 + 32, 1, 256),
        Layout::X => (1024, 4, 0),
        Layout::Four => (256, 4, 0),
    };
    Place {
        buffer: draft.buffer(pages * PAGE, is_result),
        offset,
        surface: BltSurface {
            address: 0,
            pitch,
            layout,
            depth,
        },
    }
}

/// A rectangle of the usual size; of tiles, across their borders.
fn rect(draft: &mut Draft, to: &Place) -> Rect {
    let random = &mut draft.random;
    let (w, h) = (random.range(1, WIDTH - 5), random.range(1, HEIGHT - 7));
    let middle = |tile: u32, unit: u32| (tile / unit) as i32;
    let (row, rows) = to.surface.layout.tile();
    match to.surface.layout {
        Layout::Linear => Rect::new(random.range(0, 6), random.range(0, 8), w, h),
        Layout::X | Layout::Four => {
            let x = middle(row, to.surface.depth.bytes()) - random.range(1, w + 1);
            let y = (rows as i32 - random.range(1, h + 1)).max(0);
            Rect::new(x, y, w, h)
        }
    }
}

fn address(draft: &mut Draft, start: usize, dword: usize, of: &Place, write: bool) {
    let target = Target::Buffer(of.buffer.0, of.offset);
    draft.patch(start + dword, target, write, Form::Qword);
}

/// The one error that there is: of a surface that the blitter has not.
fn known<T>(made: Result<T, impl Sized>) -> Result<T, EncodeError> {
    made.map_err(|_| EncodeError::NoSuchCommand)
}

fn fill_it(draft: &mut Draft, to: &Place, rect: &Rect) -> Made {
    let colour = draft.random.dword();
    let start = draft.place();
    draft.raw(&known(blt::fill(&to.surface, rect, colour, true))?);
    address(draft, start, 4, to, true);
    draft.raw(&blt::FLUSH);
    Ok(())
}

fn copy_it(
    draft: &mut Draft,
    (to, rect): (&Place, &Rect),
    (from, at): (&Place, (i32, i32)),
) -> Made {
    let start = draft.place();
    draft.raw(&known(blt::copy(&to.surface, rect, &from.surface, at))?);
    address(draft, start, 4, to, true);
    address(draft, start, 8, from, false);
    draft.raw(&blt::FLUSH);
    Ok(())
}

/// XY_FAST_COLOR_BLT at each depth, in each layout.
pub fn fill(draft: &mut Draft, case: u32) -> Made {
    let layout = Layout::ALL[case as usize / 3 % 3];
    let to = place(draft, DEPTHS[case as usize % 3], layout, true);
    for _ in 0..BLITS {
        let rect = rect(draft, &to);
        fill_it(draft, &to, &rect)?;
    }
    Ok(())
}

/// XY_FAST_COPY_BLT at each depth, between layouts.
pub fn copy(draft: &mut Draft, case: u32) -> Made {
    let layouts = [
        (Layout::Linear, Layout::Linear),
        (Layout::X, Layout::Linear),
        (Layout::Linear, Layout::X),
        (Layout::Four, Layout::Linear),
        (Layout::Linear, Layout::Four),
    ];
    let (to, from) = layouts[case as usize / 3 % layouts.len()];
    let depth = DEPTHS[case as usize % 3];
    let to = place(draft, depth, to, true);
    let from = place(draft, depth, from, false);
    for _ in 0..BLITS {
        let rect = rect(draft, &to);
        let at = (draft.random.range(0, 6), draft.random.range(0, 8));
        copy_it(draft, (&to, &rect), (&from, at))?;
    }
    Ok(())
}

/// A larger fill and a copy of it, whose time is of interest.
pub fn bulk(draft: &mut Draft, case: u32) -> Made {
    const BYTES: usize = 256 << 10;
    let whole = |draft: &mut Draft, is_result| Place {
        buffer: match is_result {
            true => draft.buffer_of(vec![0; BYTES], true),
            false => draft.buffer(BYTES, false),
        },
        offset: 0,
        surface: BltSurface {
            address: 0,
            pitch: 1024,
            layout: Layout::Linear,
            depth: Depth::Bpp32,
        },
    };
    let rect = Rect::new(0, 0, 256, 256);
    let to = whole(draft, true);
    if case == 0 {
        return fill_it(draft, &to, &rect);
    }
    let from = whole(draft, false);
    copy_it(draft, (&to, &rect), (&from, (0, 0)))
}

/// Dword 0 of MI commands.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Header {
    /// Bits 7:0: dwords less two.
    length: u8,
    /// Bit 8, of MI_BATCH_BUFFER_START: the per-process table.
    per_process: bool,
    #[bits(5)]
    __: u8,
    /// Bits 15:14, of MI_FLUSH_DW: 1 stores a qword afterwards.
    #[bits(2)]
    post_sync: u8,
    #[bits(5)]
    __: u8,
    /// Bit 21, of MI_STORE_DATA_IMM: a qword.
    qword: bool,
    __: bool,
    /// Bits 28:23: which command.
    #[bits(6)]
    opcode: u8,
    /// Bits 31:29: 0.
    #[bits(3)]
    client: u8,
}

/// An instruction of MI_MATH.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Instruction {
    /// Bits 9:0.
    #[bits(10)]
    second: u16,
    /// Bits 19:10.
    #[bits(10)]
    first: u16,
    /// Bits 31:20.
    #[bits(12)]
    opcode: u16,
}

/// The engines in turn, with their register blocks.
fn engine(draft: &mut Draft, case: u32) -> u32 {
    let (engine, block) = match case % 2 {
        0 => (Engine::Render, 0x2000),
        _ => (Engine::Blitter, 0x2_2000),
    };
    draft.engine = engine;
    block
}

/// A place for a qword, of which none is taken twice. Bit 5 of it is clear, as MI_FLUSH_DW wants it (digest of DG2 PRM
/// Vol 8, §2.1 row 27).
fn qword(draft: &mut Draft, buffer: BufferId, n: i32) -> Address {
    let offset = (256 * n + 8 * draft.random.range(0, 31)) as u32 & !0x20;
    Address { buffer, offset }
}

/// MI_STORE_DATA_IMM of a dword.
fn store(draft: &mut Draft, at: Address) {
    let header = Header::new().with_opcode(0x20).with_length(2);
    let value = draft.random.dword();
    draft.with_address(&[header.into_bits(), 0, 0, value], 1, at, true);
}

/// MI_STORE_DATA_IMM of dwords and qwords.
pub fn stores(draft: &mut Draft, case: u32) -> Made {
    engine(draft, case);
    let buffer = draft.buffer(PAGE, true);
    for n in 0..STORES {
        let at = qword(draft, buffer, n);
        if n % 2 == 0 {
            let offset = at.offset + 4;
            store(draft, Address { buffer, offset });
            continue;
        }
        let header = Header::new()
            .with_opcode(0x20)
            .with_length(3)
            .with_qword(true);
        let (low, high) = (draft.random.dword(), draft.random.dword());
        draft.with_address(&[header.into_bits(), 0, 0, low, high], 1, at, true);
    }
    Ok(())
}

/// MI_FLUSH_DW that stores a qword afterwards.
pub fn flush(draft: &mut Draft, case: u32) -> Made {
    draft.engine = match case % 2 {
        0 => Engine::Blitter,
        _ => Engine::Video,
    };
    let buffer = draft.buffer(PAGE, true);
    for n in 0..STORES {
        let at = qword(draft, buffer, n);
        let header = Header::new()
            .with_opcode(0x26)
            .with_length(3)
            .with_post_sync(1);
        let (low, high) = (draft.random.dword(), draft.random.dword());
        draft.with_address(&[header.into_bits(), 0, 0, low, high], 1, at, true);
    }
    Ok(())
}

/// Registers of a general purpose, from 600h of an engine's block on: two dwords each.
const GPR: u32 = 0x600;

fn load_register(draft: &mut Draft, register: u32, value: u64) {
    let header = Header::new().with_opcode(0x22).with_length(3);
    draft.raw(&[
        header.into_bits(),
        register,
        value as u32,
        register + 4,
        (value >> 32) as u32,
    ]);
}

fn store_register(draft: &mut Draft, register: u32, at: Address) {
    let header = Header::new().with_opcode(0x24).with_length(2);
    for half in [0, 4] {
        let offset = at.offset + half;
        let command = [header.into_bits(), register + half, 0, 0];
        draft.with_address(&command, 2, Address { offset, ..at }, true);
    }
}

/// MI_MATH: an operation of two registers, its result and its flags.
pub fn math(draft: &mut Draft, case: u32) -> Made {
    const LOAD: u16 = 0x080;
    const LOAD_INVERTED: u16 = 0x480;
    const STORE: u16 = 0x180;
    const STORE_INVERTED: u16 = 0x580;
    const SOURCE_A: u16 = 0x20;
    const SOURCE_B: u16 = 0x21;
    const RESULT: u16 = 0x31;
    const ZERO: u16 = 0x32;
    const CARRY: u16 = 0x33;
    // Sum, difference, and, or, exclusive or; a shift to the left.
    const OPERATIONS: [u16; 6] = [0x100, 0x101, 0x102, 0x103, 0x104, 0x105];
    let block = engine(draft, case);
    let buffer = draft.buffer(PAGE, true);
    for (n, operation) in OPERATIONS.into_iter().enumerate() {
        let a = draft.random.qword();
        // Equal once in a while, so that there is a zero; shifts are by less than a qword has.
        let b = match n {
            1 if case >= 2 => a,
            5 => draft.random.range(0, 64) as u64,
            _ => draft.random.qword(),
        };
        load_register(draft, block + GPR, a);
        load_register(draft, block + GPR + 8, b);
        let second = match case % 4 {
            3 if n != 5 => LOAD_INVERTED,
            _ => LOAD,
        };
        let instruction = |opcode, first, second| {
            Instruction::new()
                .with_opcode(opcode)
                .with_first(first)
                .with_second(second)
                .into_bits()
        };
        let header = Header::new().with_opcode(0x1a).with_length(6 - 1);
        draft.raw(&[
            header.into_bits(),
            instruction(LOAD, SOURCE_A, 0),
            instruction(second, SOURCE_B, 1),
            instruction(operation, 0, 0),
            instruction(STORE, 2, RESULT),
            instruction(STORE, 3, CARRY),
            instruction(STORE_INVERTED, 4, ZERO),
        ]);
        for register in 2..5 {
            let offset = (128 * n + 8 * register as usize) as u32;
            let at = Address { buffer, offset };
            store_register(draft, block + GPR + 8 * register, at);
        }
    }
    Ok(())
}

/// MI_BATCH_BUFFER_START in a batch: what is jumped over is not done.
pub fn chain(draft: &mut Draft, case: u32) -> Made {
    engine(draft, case);
    let buffer = draft.buffer(PAGE, true);
    for n in 0..3 {
        let header = Header::new()
            .with_opcode(0x31)
            .with_length(1)
            .with_per_process(true);
        let at = qword(draft, buffer, 3 * n);
        store(draft, at);
        let from = draft.place() + 1;
        draft.raw(&[header.into_bits(), 0, 0]);
        let at = qword(draft, buffer, 3 * n + 1);
        store(draft, at);
        // A batch begins on a qword.
        if !draft.place().is_multiple_of(2) {
            draft.raw(&[NOOP]);
        }
        let to = draft.place();
        draft.patch(from, Target::Batch(to), false, Form::Qword);
        let at = qword(draft, buffer, 3 * n + 2);
        store(draft, at);
    }
    Ok(())
}
