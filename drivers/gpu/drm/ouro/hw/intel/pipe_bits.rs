// SPDX-License-Identifier: GPL-2.0
//! Bits of the second dword of `PIPE_CONTROL` that are the same on all machines that have it: what it flushes,
//! drops and waits for.
//!
//! §2.4 of the digest of Sandy Bridge; §2.2 row 1 of that of DG2.

/// Bit 0: write back the depth cache.
pub(crate) const DEPTH_FLUSH: u32 = 1 << 0;
/// Bit 1: wait for pixels before this one. On Gen6.
pub(crate) const SCOREBOARD_STALL: u32 = 1 << 1;
/// Bit 2: drop cached state.
pub(crate) const STATE_INVALIDATE: u32 = 1 << 2;
/// Bit 3: drop cached constants.
pub(crate) const CONSTANT_INVALIDATE: u32 = 1 << 3;
/// Bit 4: drop cached vertices.
pub(crate) const VERTEX_INVALIDATE: u32 = 1 << 4;
/// Bit 5: write back the data cache.
pub(crate) const DATA_FLUSH: u32 = 1 << 5;
/// Bit 10: drop cached textures.
pub(crate) const TEXTURE_INVALIDATE: u32 = 1 << 10;
/// Bit 11: drop cached instructions.
pub(crate) const INSTRUCTION_INVALIDATE: u32 = 1 << 11;
/// Bit 12: write back the render target cache.
pub(crate) const RENDER_FLUSH: u32 = 1 << 12;
/// Bit 18: drop translations. On Gen6, only with a store.
pub(crate) const TLB_INVALIDATE: u32 = 1 << 18;
/// Bit 20: the parser waits too.
pub(crate) const COMMAND_STALL: u32 = 1 << 20;
/// Bits 15:14 are 1: store the data.
pub(crate) const STORE: u32 = 1 << 14;

/// Whatever others may have changed is dropped: translations, instructions, textures, vertices, constants and state.
pub(crate) const INVALIDATE: u32 = TLB_INVALIDATE
    | INSTRUCTION_INVALIDATE
    | TEXTURE_INVALIDATE
    | VERTEX_INVALIDATE
    | CONSTANT_INVALIDATE
    | STATE_INVALIDATE;
/// Whatever was drawn is written back.
pub(crate) const FLUSH: u32 = RENDER_FLUSH | DEPTH_FLUSH | DATA_FLUSH;
