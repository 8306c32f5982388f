// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Intel chips whose engines read commands from ring buffers: Sandy Bridge (Gen6), 8086:0116 and its relatives.
//!
//! | file | what |
//! | --- | --- |
//! | `chip/` | the chips, a file each: what differs between them |
//! | `config.rs` | choices, PCI configuration space |
//! | `regs.rs`, `display.rs` | the register file |
//! | `mmio.rs` | register accesses and their effects |
//! | `gt.rs` | forcewake, FIFO, reset, pcode, TLB invalidation |
//! | `wake.rs` | wakes and FIFOs that are slow |
//! | `standby.rs`, `clocks.rs` | when the GT is in render standby, and when it is at work |
//! | `later.rs` | what a fault has put off |
//! | `irq.rs`, `errors.rs` | interrupts; errors and fault records |
//! | `mmu.rs`, `aperture.rs` | translation for engines and for the CPU |
//! | `engine.rs`, `exec.rs` | command streamers |
//! | `mi_exec.rs`, `flush.rs`, `context.rs`, `blit.rs` | commands |
//! | `real.rs`, `lit.rs` | habits of real machines; the picture that firmware has left |
//! | `media.rs`, `watchdog.rs` | what the video engine has besides: statistics, TLBs shown, a timer |
//! | `lint.rs` | rules that are watched |
//! | `writes.rs` | what batches wrote, for tests of checkers |
//! | `device.rs` | the device as a library: [`RingGpu`] |
//! | `bus.rs` | the device as a transport sees it |

pub(crate) mod aperture;
pub(crate) mod blit;
mod bus;
pub mod chip;
pub(crate) mod clocks;
pub mod config;
pub(crate) mod context;
pub(crate) mod core;
pub mod device;
pub mod display;
pub mod engine;
pub mod errors;
pub(crate) mod exec;
pub(crate) mod flush;
pub(crate) mod gt;
pub mod irq;
pub(crate) mod later;
pub mod lint;
pub(crate) mod lit;
pub(crate) mod media;
pub(crate) mod mi_exec;
pub(crate) mod mmio;
pub mod mmu;
pub mod real;
pub mod regs;
pub(crate) mod standby;
pub(crate) mod wake;
pub(crate) mod watchdog;
pub mod writes;

pub use crate::device::StepResult;
pub use chip::Chip;
pub use config::{FifoDrain, RingConfig};
pub use device::RingGpu;
pub use engine::{EngineId, ENGINES};
pub use real::Real;
pub use writes::Wrote;
