// SPDX-License-Identifier: GPL-2.0
//! Streams for Intel's engines.
//!
//! | file | what |
//! | --- | --- |
//! | `canvas.rs` | surfaces and operands from random numbers |
//! | `blt.rs` | fills, copies, clipping, masks, pitches, tiles |
//! | `dg2.rs` | all of DG2 |
//! | `expand.rs` | patterns, monochrome operands, text, keys |
//! | `mi.rs` | stores, registers, batches |

pub mod blt;
pub mod canvas;
pub mod dg2;
pub mod expand;
pub mod mi;
