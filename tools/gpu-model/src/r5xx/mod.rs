// SPDX-License-Identifier: GPL-2.0 OR MIT
//! R5xx: RV515, RV530, R520, R580 (1002:7140, 71c0, 7100, 7240).
//!
//! | file | what |
//! | --- | --- |
//! | `chip/` | what differs between the chips, a file each |
//! | `config.rs`, `rom.rs` | choices, PCI configuration space; the BIOS image |
//! | `regs.rs`, `mmio.rs` | the register file; accesses and their effects |
//! | `indirect.rs` | registers behind index and data: memory controller, PCIE, PLL, video memory |
//! | `mc.rs`, `vram.rs`, `surface.rs`, `tile.rs` | addresses, the GART; video memory, detiled for the CPU |
//! | `access.rs` | what was read and written, byte for byte |
//! | `irq.rs`, `reset.rs`, `later.rs` | interrupts; soft reset; what a fault has put off |
//! | `cp.rs`, `stream.rs`, `microcode.rs` | the command processor, its streams, its memory |
//! | `packet.rs`, `control.rs` | type-3 packets; those that wait or decide |
//! | `gfx.rs` | the queue of drawing work, and who waits for it |
//! | `two_d/` | the 2D engine |
//! | `pipes.rs` | which pipes a register write reaches |
//! | `three_d/` | draws: what they consume and can access; their vertices and pixels |
//! | `pvs/` | the vertex shader |
//! | `us/` | the pixel shader |
//! | `dma.rs` | the two DMA channels |
//! | `disputed.rs` | registers that are understood in two ways |
//! | `lint.rs` | rules that are watched |
//! | `real.rs` | what real cards do and a kind one spares its driver |
//! | `core.rs`, `device.rs`, `bus.rs` | the state; the device as a library: [`R5xx`]; as a transport sees it |

pub mod access;
mod bus;
pub mod chip;
pub mod config;
pub(crate) mod control;
pub(crate) mod core;
pub(crate) mod cp;
pub mod device;
pub(crate) mod disputed;
pub(crate) mod dma;
pub(crate) mod gfx;
pub(crate) mod indirect;
pub mod irq;
pub(crate) mod later;
pub mod lint;
pub mod mc;
pub(crate) mod microcode;
pub(crate) mod mmio;
pub mod notes;
pub(crate) mod packet;
pub(crate) mod pipes;
pub mod pvs;
pub mod real;
pub mod regs;
pub(crate) mod reset;
pub mod rom;
pub(crate) mod stream;
pub mod surface;
pub(crate) mod three_d;
pub mod tile;
pub(crate) mod two_d;
pub mod us;
pub mod vram;

pub use crate::device::StepResult;
pub use access::{Access, Unit};
pub use chip::Chip;
pub use config::R5xxConfig;
pub use cp::Lockup;
pub use device::R5xx;
pub use lint::Rule;
pub use real::Real;
pub use three_d::ShadedVertex;
