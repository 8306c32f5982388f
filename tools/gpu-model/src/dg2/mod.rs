// SPDX-License-Identifier: GPL-2.0 OR MIT
//! DG2 (8086:56a0): command streamers by execlists, local memory (DG2 PRM Vol 8 "Command Stream
//! Programming"; most of what surrounds the streamers is in no document, and from the digest).
//!
//! | file | what |
//! | --- | --- |
//! | `config.rs` | choices, PCI configuration space |
//! | `engine.rs` | the engines: places, numbers, state |
//! | `regs.rs`, `table.rs`, `storage.rs`, `mmio.rs` | the register file; accesses and their effects |
//! | `forcewake.rs`, `pcode.rs`, `reset.rs`, `watchdog.rs`, `later.rs` | power, mailbox, resets, time |
//! | `standby.rs` | when it is in render standby |
//! | `irq.rs` | the interrupt tree |
//! | `ggtt.rs`, `ppgtt.rs`, `tlb.rs`, `lmem.rs`, `mem.rs` | tables, local memory, translation, faults |
//! | `order.rs` | posted writes |
//! | `execlist.rs`, `context.rs` | queues, switches, status; context images |
//! | `stream.rs`, `mi.rs`, `prefetch.rs` | fetch, decode, advance, preemption; fetching ahead |
//! | `command.rs`, `predicate.rs`, `privilege.rs` | commands that steer the stream; predication; privilege |
//! | `transfer.rs`, `semaphore.rs`, `atomic.rs`, `alu.rs`, `flush.rs` | commands that move data, wait, compute, flush |
//! | `blt.rs`, `blt_old.rs`, `tile.rs` | the blitter |
//! | `lint.rs` | rules that are watched |
//! | `real.rs`, `foreign.rs`, `l3.rs`, `lit.rs`, `workarounds.rs` | what real machines do and a kind model does not |
//! | `core.rs`, `device.rs`, `bus.rs` | the state; the device as a library: [`Dg2`]; as a transport sees it |

pub(crate) mod alu;
pub(crate) mod atomic;
pub(crate) mod blt;
mod blt_old;
mod bus;
pub(crate) mod command;
pub mod config;
pub(crate) mod context;
pub(crate) mod core;
pub mod device;
pub mod engine;
pub mod execlist;
pub(crate) mod flush;
pub mod forcewake;
pub(crate) mod foreign;
pub mod ggtt;
pub mod irq;
pub(crate) mod l3;
pub(crate) mod later;
pub mod lint;
pub(crate) mod lit;
pub mod lmem;
pub(crate) mod mem;
pub mod mi;
pub(crate) mod mmio;
pub(crate) mod order;
pub(crate) mod pcode;
pub(crate) mod ppgtt;
pub(crate) mod predicate;
pub(crate) mod prefetch;
pub mod privilege;
pub mod real;
pub mod regs;
pub(crate) mod reset;
pub(crate) mod semaphore;
pub(crate) mod standby;
pub(crate) mod storage;
pub(crate) mod stream;
pub(crate) mod table;
pub mod tile;
pub(crate) mod tlb;
pub(crate) mod transfer;
pub(crate) mod watchdog;
pub(crate) mod workarounds;

pub use crate::device::StepResult;
pub use config::Dg2Config;
pub use device::Dg2;
pub use engine::{Class, EngineId, ENGINES};
pub use lint::Rule;
pub use real::Real;
