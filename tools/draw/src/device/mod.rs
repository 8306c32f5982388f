// SPDX-License-Identifier: GPL-2.0
//! The GPU, as a program sees it: a render node and its ioctls.
//!
//! What is common is here: [`Device`] finds the node, `compare` looks at what was drawn,
//! `cost` counts. Each interface has a folder of its own, which makes objects, submits and waits.

mod compare;
mod cost;
mod i915;
mod node;
mod radeon;

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

pub use compare::{Difference, Mismatch};
pub use cost::EngineCost;
pub use i915::swizzle::Swizzle;
pub use node::{Device, Identity};

use crate::report::{Coverage, Lists};
use ouro_card::{uapi, PATIENCE};
use ouro_scene::scene::Scene;

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Drawn {
    /// Pixels compared.
    pub pixels_checked: u64,
    /// Bytes compared.
    pub bytes_checked: u64,
    /// What is wrong.
    pub differences: Vec<Difference>,
    /// What was drawn.
    pub coverage: Coverage,
    /// Submissions, by engine.
    pub submissions: BTreeMap<String, u64>,
    /// Submissions, by the way they say addresses and commands.
    pub ways: BTreeMap<String, u64>,
    /// Operations of the picture that the GPU cannot do and were done in software, and all of them.
    pub in_software: Option<(u64, u64)>,
    /// What became of lists of contexts, where engines take them.
    pub lists: Option<Lists>,
    /// Cost of submissions.
    pub costs: Vec<EngineCost>,
    /// Interrupts from first to last.
    pub interrupts: u64,
    /// Resets of an engine or the device meanwhile: what an engine ran then is not drawn.
    pub resets: u64,
    /// Bit 6 of tiled addresses, where tiles may be swizzled.
    pub swizzle: Option<Swizzle>,
    /// Drawing and reading back.
    pub seconds: f64,
    /// Drawing the same in software.
    pub software_seconds: f64,
    /// The picture's bytes.
    #[serde(skip)]
    pub picture: Vec<u8>,
}

impl Drawn {
    /// Notes what the device has counted from `before` to `after`.
    fn counted(&mut self, before: &uapi::drm_ouro_stats, after: &uapi::drm_ouro_stats) {
        self.interrupts = after.interrupts - before.interrupts;
        self.resets = after.resets - before.resets;
    }
}

/// A driver that is not ours, as far as it can be asked.
pub struct Peer {
    /// PCI vendor id.
    pub vendor: u16,
    /// PCI device id.
    pub device: u16,
    /// Names of its engines.
    pub engines: Vec<String>,
}

/// What differs between the interfaces.
pub trait Personality: Sync {
    /// Name of the DRM driver that it is.
    fn name(&self) -> &'static str;

    /// Asks a driver without our own ioctls what it drives.
    fn peer(&self, device: &Device) -> Result<Peer>;

    /// Draws the picture in all ways that the interface has, and compares all of it with what the
    /// software draws.
    fn draw(&self, device: &Device, scene: &Scene) -> Result<Drawn>;
}

/// All interfaces.
static PERSONALITIES: [&dyn Personality; 2] = [&i915::I915, &radeon::Radeon];
