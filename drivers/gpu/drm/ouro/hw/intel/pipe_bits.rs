// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Bits of the second dword of `PIPE_CONTROL` that are the same on all chips with the command:
//! flushes, invalidations and stalls.
//!
//! §2.4 of the digest of Sandy Bridge; §2.2 row 1 of the digest of DG2.

/// Bit 0: flush the depth cache.
pub(crate) const DEPTH_FLUSH: u32 = 1 << 0;
/// Bit 1: stall until earlier pixels are done. On Gen6.
pub(crate) const SCOREBOARD_STALL: u32 = 1 << 1;
/// Bit 2: invalidate the state cache.
pub(crate) const STATE_INVALIDATE: u32 = 1 << 2;
/// Bit 3: invalidate the constant cache.
pub(crate) const CONSTANT_INVALIDATE: u32 = 1 << 3;
/// Bit 4: invalidate the vertex cache.
pub(crate) const VERTEX_INVALIDATE: u32 = 1 << 4;
/// Bit 5: flush the data cache.
pub(crate) const DATA_FLUSH: u32 = 1 << 5;
/// Bit 7: flushed data has reached memory when the store is done. From Gen7 on (V-10); on DG2 as
/// upstream sets it (`gen12_emit_fini_breadcrumb_rcs`).
pub(crate) const FLUSH_ENABLE: u32 = 1 << 7;
/// Bit 10: invalidate the texture cache.
pub(crate) const TEXTURE_INVALIDATE: u32 = 1 << 10;
/// Bit 11: invalidate the instruction cache.
pub(crate) const INSTRUCTION_INVALIDATE: u32 = 1 << 11;
/// Bit 12: flush the render target cache.
pub(crate) const RENDER_FLUSH: u32 = 1 << 12;
/// Bit 18: invalidate the TLBs. On Gen6, only with a store.
pub(crate) const TLB_INVALIDATE: u32 = 1 << 18;
/// Bit 20: stall the command streamer.
pub(crate) const COMMAND_STALL: u32 = 1 << 20;
/// Bits 15:14 are 1: store the data.
pub(crate) const STORE: u32 = 1 << 14;

/// Invalidates all read caches and the TLBs: other clients may have changed the memory.
pub(crate) const INVALIDATE: u32 = TLB_INVALIDATE
    | INSTRUCTION_INVALIDATE
    | TEXTURE_INVALIDATE
    | VERTEX_INVALIDATE
    | CONSTANT_INVALIDATE
    | STATE_INVALIDATE;
/// Flushes all caches with rendered data.
pub(crate) const FLUSH: u32 = RENDER_FLUSH | DEPTH_FLUSH | DATA_FLUSH;
