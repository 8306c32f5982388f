// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Modelled GPUs: software that behaves as the hardware documents say, on a PCI bus.
//!
//! A model is a library first: [`ring::RingGpu`], [`r5xx::R5xx`] and [`dg2::Dg2`] can be driven in process, command by
//! command, without QEMU. [`server`] is one door into it, speaking vfio-user. Nothing here is shared with the
//! driver: the model is a second, independent reading of the documents.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod blt;
pub mod card_memory;
pub mod chaos;
pub mod clock;
pub mod counters;
pub mod device;
pub mod dg2;
pub mod dma;
pub mod fault;
pub mod gen4;
pub mod habits;
pub mod intel;
pub(crate) mod later;
pub mod ledger;
pub mod memory;
pub mod model;
pub mod notes;
pub mod pace;
pub mod pci;
pub mod r5xx;
pub mod ring;
pub mod server;
pub mod slip;
pub mod test_capability;
pub mod tiling;
pub mod trace;
