// SPDX-License-Identifier: GPL-2.0
//! A card's file beside its model: the same streams run on the model in this process, and what differs is said by
//! rule. Neither this project's driver nor another has a part in it: the model has its streams straight from here.
//!
//! | file | what |
//! | --- | --- |
//! | `machine` | a model with memory, and a ring or a list to give it streams by |
//! | `compare.rs` | differences, by rule |

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod compare;
mod machine;

pub use compare::{compare, run, run_rules, Difference, Verdict};
pub use machine::{build, build_for, Machine};
