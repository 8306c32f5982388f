// SPDX-License-Identifier: GPL-2.0
//! Stores, registers and batches of the ring streamers (SNB PRM Vol 1 Part 2 §5.3, IVB VCS PRM 1.2; what these
//! name without bits is in G45 PRM Vol 1b §1).

use bitfield_struct::bitfield;
use ouro_scene::mi::{prologue, store, Layout};
use ouro_scene::scene::{Store, Storer};
use ouro_scene::surface::{Address, BufferId};

use crate::draft::{Draft, Made, PAGE};
use crate::stream::{Engine, Family, Form, Target};

/// Stores of a stream.
const STORES: i32 = 6;

/// MI_NOOP with a number that a register keeps (G45 PRM Vol 1b §1.13).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Noop {
    /// Bits 21:0: the number.
    #[bits(22)]
    number: u32,
    /// Bit 22: it is kept.
    keep: bool,
    #[bits(9)]
    __: u16,
}

/// Header of commands about batches and registers.
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
struct Header {
    /// Bits 7:0: dwords less two.
    length: u8,
    /// Bit 8, of MI_BATCH_BUFFER_START: not privileged, in the per-process table.
    non_secure: bool,
    #[bits(12)]
    __: u16,
    /// Bit 21, of MI_CONDITIONAL_BATCH_BUFFER_END: memory is compared.
    compare: bool,
    /// Bit 22: the address is a global one.
    global: bool,
    /// Bits 28:23: which command.
    #[bits(6)]
    opcode: u8,
    /// Bits 31:29: 0.
    #[bits(3)]
    client: u8,
}

/// MI_STORE_REGISTER_MEM.
const STORE_REGISTER: u8 = 0x24;
/// MI_BATCH_BUFFER_START.
const BATCH_START: u8 = 0x31;
/// MI_CONDITIONAL_BATCH_BUFFER_END.
const CONDITIONAL_END: u8 = 0x36;
/// NOPID of an engine's registers (SNB PRM Vol 1 Part 3 §1; the blitter's are 20000h higher).
const NOPID: u32 = 0x2094;
/// TIMESTAMP of the render engine.
const TIMESTAMP: u32 = 0x2358;

fn layout(family: Family) -> Layout {
    match family {
        Family::Gen4 => Layout::Render,
        _ => Layout::Rings,
    }
}

/// A place for a qword in a buffer, of which none is taken twice. Bit 5 of it is clear, since MI_FLUSH_DW must not
/// store a qword where it is set (IVB VCS PRM 1.2.7).
fn place(draft: &mut Draft, buffer: BufferId, n: i32) -> Address {
    let offset = (256 * n + 8 * draft.random.range(0, 31)) as u32 & !0x20;
    Address { buffer, offset }
}

/// Stores at random places of a page.
fn stores(draft: &mut Draft, by: Storer) -> Made {
    draft.is_global = true;
    let buffer = draft.buffer(PAGE, true);
    let layout = layout(draft.family);
    draft.raw(&prologue(layout, by));
    for n in 0..STORES {
        let store_it = Store {
            at: place(draft, buffer, n),
            value: draft.random.qword(),
        };
        draft.packet(store(layout, by, &store_it));
    }
    Ok(())
}

/// MI_STORE_DATA_IMM of a dword, also to an odd one.
pub fn store_dword(draft: &mut Draft, case: u32) -> Made {
    draft.engine = match case % 2 {
        0 => Engine::Render,
        _ => Engine::Blitter,
    };
    stores(draft, Storer::RenderDword)?;
    let odd = Store {
        at: Address {
            buffer: BufferId(0),
            offset: 0x804,
        },
        value: draft.random.qword(),
    };
    draft.packet(store(layout(draft.family), Storer::RenderDword, &odd));
    Ok(())
}

/// MI_STORE_DATA_IMM of a qword.
pub fn store_qword(draft: &mut Draft, case: u32) -> Made {
    draft.engine = match case % 2 {
        0 => Engine::Render,
        _ => Engine::Blitter,
    };
    stores(draft, Storer::RenderQword)
}

/// MI_FLUSH_DW that stores a qword afterwards.
pub fn flush_dw(draft: &mut Draft, case: u32) -> Made {
    let by = match case % 2 {
        0 => (Engine::Blitter, Storer::CopyFlush),
        _ => (Engine::Video, Storer::VideoFlush),
    };
    draft.engine = by.0;
    stores(draft, by.1)
}

/// PIPE_CONTROL that stores a qword afterwards.
pub fn pipe_control(draft: &mut Draft, _case: u32) -> Made {
    draft.engine = Engine::Render;
    stores(draft, Storer::PipeControl)
}

/// A store of a dword, by the way of the stream's engine.
fn mark(draft: &mut Draft, buffer: BufferId, n: i32) {
    let value = Store {
        at: place(draft, buffer, n),
        value: draft.random.qword(),
    };
    draft.packet(store(layout(draft.family), Storer::RenderDword, &value));
}

/// A register, stored.
fn store_register(draft: &mut Draft, register: u32, at: Address) {
    let header = Header::new().with_opcode(STORE_REGISTER).with_length(1);
    draft.with_address(&[header.into_bits(), register, 0], 2, at, true);
}

/// MI_NOOP with a number, which MI_STORE_REGISTER_MEM stores.
pub fn register(draft: &mut Draft, case: u32) -> Made {
    let base = match case % 2 {
        0 => 0,
        _ => 0x2_0000,
    };
    draft.engine = match base {
        0 => Engine::Render,
        _ => Engine::Blitter,
    };
    draft.is_global = true;
    let buffer = draft.buffer(PAGE, true);
    for n in 0..STORES {
        let number = draft.random.dword() & 0x3f_ffff;
        let noop = Noop::new().with_number(number).with_keep(n % 3 != 2);
        draft.raw(&[noop.into_bits()]);
        let at = place(draft, buffer, n);
        store_register(draft, NOPID + base, at);
    }
    Ok(())
}

/// The time stamp, before and after some stores: it differs from run to run.
pub fn timestamps(draft: &mut Draft, _case: u32) -> Made {
    draft.engine = Engine::Render;
    draft.is_global = true;
    draft.is_volatile = true;
    let buffer = draft.buffer_of(vec![0; PAGE], true);
    for n in 0..4 {
        let offset = 8 * n;
        store_register(draft, TIMESTAMP, Address { buffer, offset });
        store_register(
            draft,
            TIMESTAMP + 4,
            Address {
                buffer,
                offset: offset + 4,
            },
        );
        for n in 4..8 {
            mark(draft, buffer, n);
        }
    }
    Ok(())
}

/// MI_BATCH_BUFFER_START in a batch: what is jumped over is not done.
pub fn chain(draft: &mut Draft, case: u32) -> Made {
    draft.engine = match case % 2 {
        0 => Engine::Render,
        _ => Engine::Blitter,
    };
    draft.is_global = true;
    let buffer = draft.buffer(PAGE, true);
    for n in 0..3 {
        mark(draft, buffer, 3 * n);
        let header = Header::new().with_opcode(BATCH_START).with_non_secure(true);
        draft.raw(&[header.into_bits()]);
        let from = draft.place();
        draft.raw(&[0]);
        mark(draft, buffer, 3 * n + 1);
        let to = draft.place();
        draft.patch(from, Target::Batch(to), false, Form::Dword);
        mark(draft, buffer, 3 * n + 2);
    }
    Ok(())
}

/// MI_CONDITIONAL_BATCH_BUFFER_END: it goes on if memory, under its mask, is greater than the number.
pub fn conditional_end(draft: &mut Draft, case: u32) -> Made {
    draft.engine = Engine::Render;
    draft.is_global = true;
    let buffer = draft.buffer(PAGE, true);
    // Mask, then value. One greater: on; equal: the end. Of bits that the mask has not, nothing counts.
    let value = draft.random.dword() & 0x00ff_ffff | 0x1000;
    let (mask, number) = match case % 4 {
        0 => (u32::MAX, value - 1),
        1 => (u32::MAX, value),
        2 => (0x00ff_0fff, (value & 0x00ff_0fff).saturating_sub(1)),
        _ => (0x00ff_0fff, value),
    };
    let mut bytes = mask.to_le_bytes().to_vec();
    bytes.extend((value | 0xff00_0000 & !mask).to_le_bytes());
    let operand = draft.buffer_of(bytes, false);
    mark(draft, buffer, 0);
    let header = Header::new()
        .with_opcode(CONDITIONAL_END)
        .with_compare(true)
        .with_length(1);
    let at = Address {
        buffer: operand,
        offset: 0,
    };
    draft.with_address(&[header.into_bits(), number, 0], 2, at, false);
    mark(draft, buffer, 1);
    Ok(())
}
