// SPDX-License-Identifier: GPL-2.0
//! Structures of the driver's core that depend neither on the kernel nor on a register, and so are
//! tested on the host: address allocation ([`range`]), the port of a ring ([`port`]), relocations
//! ([`relocation`]), hangcheck ([`hang`]), the time limit for becoming idle ([`patience`]), sorting
//! ([`sort`]), memory as text ([`ascii85`]), the parts of a BO that the aperture maps ([`view`])
//! and when it must not be accessed ([`veil`]), sets of ranges ([`disjoint`]), runs of slots
//! ([`slots`]), flushes of the CPU's caches ([`coherence`]), freed memory that TLBs may still lead
//! to ([`quarantine`]), module parameters ([`choice`]). For execlists: the scheduler ([`sched`]),
//! the contexts by their state ([`roster`]), the port ([`list`]), the context status buffer
//! ([`events`]), bursts of events ([`burst`]), and load balancing between engines ([`balance`]).
//!
//! Nothing here allocates, takes a lock or waits. Memory comes through [`range::Arena`].

#![cfg_attr(not(CONFIG_RUST), no_std)]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod ascii85;
pub mod balance;
pub mod burst;
pub mod choice;
pub mod coherence;
pub mod disjoint;
pub mod events;
pub mod hang;
mod heap;
pub mod list;
pub mod patience;
pub mod port;
pub mod quarantine;
pub mod range;
pub mod relocation;
pub mod roster;
pub mod sched;
pub mod slots;
pub mod sort;
pub mod veil;
pub mod view;
