// SPDX-License-Identifier: GPL-2.0
//! Structures of the driver's core that need neither a kernel nor a register, and so are tested on
//! the host: who gets which addresses ([`range`]), what a ring takes next ([`port`]), what
//! a relocation writes ([`relocation`]), whether an engine hangs ([`hang`]), how long it may take to
//! become idle ([`patience`]), sorting ([`sort`]), how memory is shown as text ([`ascii85`]), which part of an
//! object a view of it shows ([`view`]) and when it must not be seen ([`veil`]), what must not be given out
//! ([`disjoint`]), which lines of the CPU's caches are flushed when ([`coherence`]), what the module's parameters
//! say ([`choice`]). Where contexts are listed: who runs next ([`sched`]), what of that an
//! engine has ([`list`]), what it says of them ([`events`]), and which of several engines runs one ([`balance`]).
//!
//! Nothing here allocates by itself, takes a lock or waits. Memory comes through [`range::Arena`].

#![cfg_attr(not(CONFIG_RUST), no_std)]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod ascii85;
pub mod balance;
pub mod choice;
pub mod coherence;
pub mod disjoint;
pub mod events;
pub mod hang;
mod heap;
pub mod list;
pub mod patience;
pub mod port;
pub mod range;
pub mod relocation;
pub mod sched;
pub mod sort;
pub mod veil;
pub mod view;
