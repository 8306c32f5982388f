// SPDX-License-Identifier: GPL-2.0
//! The picture: a client that draws through the ioctls of an ouro device.
//!
//! * [`picture`] has the scene: buffers, blitter commands, stores.
//! * [`mi`] writes the stores as dwords; [`device`] has the GPU run everything.
//! * [`report`] says what was compared and what it cost.

#![warn(missing_docs)]

pub mod device;
pub mod mi;
pub mod report;

/// The scene that was composed when this program was built.
pub mod picture {
    use anyhow::{Context, Result};
    use ouro_scene::flat::Flat;
    use ouro_scene::scene::Scene;

    /// The scene, as the build left it.
    pub fn load() -> Result<Scene> {
        Scene::from_bytes(include_bytes!(concat!(env!("OUT_DIR"), "/scene.bin")))
            .context("the scene in this program")
    }

    /// The picture for a blitter that fills and copies alone, as the build left it.
    pub fn flat() -> Result<Flat> {
        Flat::from_bytes(include_bytes!(concat!(env!("OUT_DIR"), "/flat.bin")))
            .context("the flat picture in this program")
    }
}
