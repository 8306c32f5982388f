// SPDX-License-Identifier: GPL-2.0
//! The picture: a client that draws through the ioctls of an ouro device.
//!
//! * [`scene`] composes: which buffers there are, which commands draw what.
//! * [`reference`](mod@reference) draws the scene in software; a picture without a GPU.
//! * [`blt`] writes the same commands as dwords; [`device`] has the GPU run them.
//! * [`report`] says what was compared and what it cost.

#![warn(missing_docs)]

pub mod blt;
pub mod device;
pub mod font;
pub mod mi;
pub mod reference;
pub mod report;
pub mod rop;
pub mod scene;
pub mod surface;
