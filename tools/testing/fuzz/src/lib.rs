// SPDX-License-Identifier: GPL-2.0
//! Fuzz targets: each takes any bytes, does with them what an outsider could, and panics if a
//! promise is broken.
//!
//! Outsiders are the device (registers, what the GPU wrote over memory), user space (sizes, addresses,
//! orders of calls) and, for the models, the guest. The same targets run bounded in `cargo test`
//! (`tests/bounded.rs`), without end in the program `ouro-fuzz`, and guided by coverage under cargo-fuzz
//! (`cargo-fuzz/`) where there is one.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod backend;
mod card;
pub use card::topology;
mod checker;
mod decode;
mod encoders;
pub mod gen7;
pub mod grammar;
mod hang;
mod kinds;
mod lists;
mod model;
mod ports;
mod posts;
mod ranges;
pub mod source;
pub mod streams;
mod values;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "backend",
        run: backend::run,
    },
    Target {
        name: "checker",
        run: checker::run,
    },
    Target {
        name: "decode",
        run: decode::run,
    },
    Target {
        name: "encoders",
        run: encoders::run,
    },
    Target {
        name: "gen7-copies",
        run: gen7::copies::run,
    },
    Target {
        name: "gen7-parser",
        run: gen7::run,
    },
    Target {
        name: "hang",
        run: hang::run,
    },
    Target {
        name: "lists",
        run: lists::run,
    },
    Target {
        name: "model",
        run: model::run,
    },
    Target {
        name: "ports",
        run: ports::run,
    },
    Target {
        name: "posts",
        run: posts::run,
    },
    Target {
        name: "ranges",
        run: ranges::run,
    },
    Target {
        name: "streams",
        run: streams::run,
    },
    Target {
        name: "values",
        run: values::run,
    },
];

/// The target with a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|t| t.name == name)
}
