// SPDX-License-Identifier: GPL-2.0
//! The picture, without a GPU.
//!
//! * [`scene`] composes: which buffers there are, which commands draw what.
//! * [`blt`] has the blitter's commands as types and as dwords.
//! * [`reference`](mod@reference) draws them in software.
//! * [`dg2`] and [`radeon`] have the commands of other engines.
//! * [`mi`] has the stores of other engines as dwords.
//! * [`plain`] resolves them for engines that know less.
//!
//! Composing means much floating point, which an emulated guest does slowly: so
//! the client composes when it is built, and carries the commands with it.

#![warn(missing_docs)]

pub mod blt;
pub mod dg2;
pub mod flat;
pub mod font;
pub mod mi;
pub mod plain;
pub mod radeon;
pub mod reference;
pub mod rop;
pub mod scene;
pub mod surface;
