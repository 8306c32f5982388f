// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Pieces that several Intel chips share: page tables, translation caches, fences, command decode.

pub mod clocks;
pub mod cmd3d;
pub mod fence;
pub mod gtt;
pub mod mi;
pub mod pte;
pub mod regfile;
pub mod standby;
pub mod tlb;
