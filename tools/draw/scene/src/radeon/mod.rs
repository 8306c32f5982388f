// SPDX-License-Identifier: GPL-2.0
//! Commands of R5xx's 2D engine: packets with the objects that they name, and operations as packets.

mod encode;
mod stream;

pub use encode::{Encoder, Way};
pub use stream::{Stream, Used, RECORD_DWORDS};
