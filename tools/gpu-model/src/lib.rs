// SPDX-License-Identifier: GPL-2.0
//! Modelled GPUs: software that behaves as the hardware documents say, on a PCI bus.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod blt;
pub mod tiling;
