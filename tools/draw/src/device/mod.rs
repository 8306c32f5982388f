// SPDX-License-Identifier: GPL-2.0
//! The GPU, as a program sees it: a render node and its ioctls.

mod batch;
mod bo;
mod compare;
mod node;
mod run;
mod swizzle;
mod sys;

pub use compare::{Difference, Mismatch};
pub use node::{Device, Identity};
pub use run::{draw, Drawn, EngineCost};

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
