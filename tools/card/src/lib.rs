// SPDX-License-Identifier: GPL-2.0
//! A GPU as a program sees it: a render node, its ioctls, and buffer objects.
//!
//! | file | what |
//! | --- | --- |
//! | `node.rs` | finding and opening a node, calls by their number |
//! | `handle.rs` | the handle of an object |
//! | `i915` | objects of the i915 interface, of cards with and without memory of their own |
//! | `radeon` | objects of the radeon interface |
//! | `sys.rs` | ioctl and mmap: all that needs `unsafe` |

#![warn(missing_docs)]

mod handle;
pub mod i915;
mod node;
pub mod radeon;
mod sys;

pub use node::{nodes, Node};
pub use sys::Mapping;

/// The uAPI of the kernel and our own, from their headers.
#[allow(
    missing_docs,
    dead_code,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case
)]
#[allow(clippy::all, rustdoc::all)]
pub mod uapi {
    include!(concat!(env!("OUT_DIR"), "/uapi.rs"));
}

/// Longest wait for anything, in nanoseconds: a GPU that needs longer hangs.
pub const PATIENCE: i64 = 60_000_000_000;
