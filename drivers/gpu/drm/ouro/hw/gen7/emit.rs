// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The commands of a request that are specific to this generation.
//!
//! ```text
//! render                                     video, blitter
//!   PIPE_CONTROL  stall                        MI_FLUSH_DW   invalidate TLBs (and video caches)
//!   PIPE_CONTROL  invalidate TLBs, read caches
//!   PIPE_CONTROL  flush the write caches       MI_FLUSH_DW   flush
//!   MI_LOAD_REGISTER_IMM  groups, directory    MI_LOAD_REGISTER_IMM  groups, directory
//!   MI_STORE_REGISTER_MEM directory            MI_STORE_REGISTER_MEM directory
//!   MI_LOAD_REGISTER_IMM  INSTPM               MI_LOAD_REGISTER_IMM  INSTPM
//!   PIPE_CONTROL  flush the write caches       MI_FLUSH_DW   flush
//!   PIPE_CONTROL  both once more               MI_FLUSH_DW   invalidate TLBs once more
//!   MI_ARB_ON_OFF, MI_NOOP, MI_SET_CONTEXT,    -
//!     MI_NOOP, MI_ARB_ON_OFF
//!   the kernel's own commands                  the kernel's own commands
//!                                              video, with a watchdog: load THRSH, CNTR
//!   MI_BATCH_BUFFER_START                      MI_BATCH_BUFFER_START
//!                                              video, with a watchdog: MI_FLUSH_DW, stop CNTR
//!   PIPE_CONTROL  flush the write caches,      MI_FLUSH_DW   store the seqno, invalidate TLBs
//!                 store the seqno              32 x MI_STORE_DATA_INDEX of the seqno
//!                                              MI_FLUSH_DW   flush
//!   MI_USER_INTERRUPT, MI_NOOP                 MI_USER_INTERRUPT, MI_NOOP
//! ```
//!
//! A `PIPE_CONTROL` that invalidates state must follow one that stalls the parser, and at least
//! each fourth one that does more than invalidate must stall it: here all do (UW41). Preemption is
//! disabled while the engine switches contexts (`WaProgramMiArbOnOffAroundMiSetContext`). On the
//! engines without a 3D pipeline the interrupt may overtake the seqno, unless repeated stores of
//! the seqno and a flush precede the interrupt (V-10, UW42). Only a command with a store
//! invalidates the TLBs (VCS §1.2.7); its address has bit 5 clear (an erratum, VCS-066).
//!
//! A request loads a page directory if it differs from the engine's, or has got entries since it
//! was loaded (VCS-004): see [`emit_directory`]. A flush with a store separates the first
//! invalidation from the load, and the load from the second invalidation, as in upstream
//! (`switch_mm`, `load_pd_dir`). Upstream found the first of them to be vital: the invalidation and
//! its own store are not enough of a barrier before the load.

use core::num::NonZeroU32;

use super::{
    regs::{self, Base, SO_WRITE_OFFSET},
    translation::{emit_directory, LOAD_DWORDS},
};
use crate::{
    engine::EngineMemory,
    intel::{
        mi::{Flush, LoadRegisters, StoreStatus, ARB_OFF, ARB_ON, NOOP},
        pipe_bits,
        ring::{
            emit::{drop_blitter, drop_video, number_at, Recipe},
            engine::SEQNO_AT,
            pipe_control::{PipeControl, MEDIA_STATE_CLEAR},
            watchdog::Watchdog,
        },
    },
    ring::{Commands, Overflow},
    types::{GgttAddr, Seqno},
};

/// The number of additional stores of the seqno (V-10).
const STORES: usize = 32;

/// Requests of the render engine.
pub(super) static RENDER: Recipe = Recipe {
    load: Some(load_render),
    switch: Some([&[ARB_OFF, NOOP], &[NOOP, ARB_ON]]),
    ..Recipe::new(
        drop_render,
        finish_render,
        8 + 4 + LOAD_DWORDS + 4 + 8 + 6 + 4,
    )
};
/// Requests of the blitter.
pub(super) static BLITTER: Recipe = Recipe {
    load: Some(|slot, mem, out| load_other(Base::BLITTER, slot, mem, out)),
    ..Recipe::new(drop_blitter, finish_other, OTHER_DWORDS)
};
/// Requests of the video engine.
pub(super) static VIDEO: Recipe = Recipe {
    load: Some(|slot, mem, out| load_other(Base::VIDEO, slot, mem, out)),
    watchdog: Some(&WATCHDOG),
    ..Recipe::new(drop_video, finish_other, OTHER_DWORDS + Watchdog::DWORDS)
};
/// The largest number of dwords on the engines without a 3D pipeline.
const OTHER_DWORDS: usize = 4 + 4 + LOAD_DWORDS + 4 + 4 + 4 + 3 * STORES + 4;

/// Assumed length of a tick of the video engine's watchdog.
const TICK_NS: NonZeroU32 = NonZeroU32::new(80).unwrap();
/// The video engine's watchdog. The length of a tick is not documented: the threshold counts
/// "clocks [...] the engine is expected to run". The driver assumes the tick of the engine's
/// timestamp, 80 ns (VCS §1.1.9.5), with which the value after a reset is 110 ms.
static WATCHDOG: Watchdog = Watchdog {
    counter: regs::VCS_CNTR,
    threshold: regs::VCS_THRSH,
    interrupt: regs::GT_VIDEO_WATCHDOG,
    tick_ns: TICK_NS,
};

fn drop_render(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&PipeControl::STALL.encode_dword())?;
    let flags = pipe_bits::INVALIDATE | MEDIA_STATE_CLEAR | pipe_bits::COMMAND_STALL;
    out.put(&PipeControl::storing(flags, mem.scratch, 0).encode_dword())
}

/// Flushes the write caches, and then stores a dword.
fn flush_render(at: GgttAddr, number: u32, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let flags = pipe_bits::FLUSH | pipe_bits::FLUSH_ENABLE | pipe_bits::COMMAND_STALL;
    out.put(&PipeControl::storing(flags, at, number).encode_dword())
}

fn finish_render(seqno: Seqno, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    flush_render(number_at(mem)?, seqno.0, out)
}

/// Loads a page directory on the render engine.
fn load_render(slot: GgttAddr, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    flush_render(mem.scratch, 0, out)?;
    emit_directory(Base::RENDER, slot, mem, out)?;
    flush_render(mem.scratch, 0, out)
}

/// Loads a page directory on an engine without a 3D pipeline.
fn load_other(
    engine: Base,
    slot: GgttAddr,
    mem: &EngineMemory,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    flush_other(mem, out)?;
    emit_directory(engine, slot, mem, out)?;
    flush_other(mem, out)
}

/// Flushes an engine without a 3D pipeline; it stores 0 afterwards.
fn flush_other(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&Flush::storing(mem.scratch, 0).encode())
}

fn finish_other(seqno: Seqno, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let store = Flush {
        invalidate_tlb: true,
        ..Flush::storing(number_at(mem)?, seqno.0)
    };
    out.put(&store.encode())?;
    let again = StoreStatus {
        offset: SEQNO_AT,
        value: seqno.0,
    };
    again.put_times::<STORES>(out)?;
    flush_other(mem, out)
}

/// Resets the write offsets of the four stream output buffers.
pub(super) fn restart_streams(out: &mut Commands<'_>) -> Result<(), Overflow> {
    LoadRegisters(&[0, 4, 8, 12].map(|n| (SO_WRITE_OFFSET + n, 0))).put(out)
}

#[cfg(test)]
mod tests;
