// SPDX-License-Identifier: GPL-2.0
//! Streams of commands, each for a rule of a manual, which a card and its model run alike.
//!
//! A stream is made from a seed alone: program and comparison make the same. None can hang an engine: there is no
//! wait in it, each batch ends, each address lies in a buffer of the stream.
//!
//! | file | what |
//! | --- | --- |
//! | `stream.rs` | what a stream is |
//! | `rules.rs` | the rules, and the streams of a family |
//! | `draft.rs` | a stream in the making |
//! | `intel`, `radeon` | the streams of each rule |
//! | `file.rs` | the file that a card leaves |
//! | `random.rs` | numbers |

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod draft;
pub mod file;
mod intel;
mod radeon;
pub mod random;
mod rules;
mod stream;

pub use rules::{rules, streams, Rule};
pub use stream::{Buffer, Engine, Family, Form, Patch, Stream, Target};
