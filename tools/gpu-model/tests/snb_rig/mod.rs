// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A test rig with a modelled Sandy Bridge.

#![allow(dead_code)]

#[path = "../ring_rig/mod.rs"]
mod ring_rig;

pub use ring_rig::*;

use gpu_model::ring::{EngineId, RingConfig};

/// Its values.
pub struct Snb;

impl TestChip for Snb {
    const WAKE: u32 = 0xa18c;
    const HANDSHAKE: bool = true;

    fn hws_pga(e: EngineId) -> u32 {
        block(e) + 0x2080
    }

    fn choices() -> RingConfig {
        RingConfig::default()
    }
}

/// The test rig.
pub type Rig = ring_rig::Rig<Snb>;
