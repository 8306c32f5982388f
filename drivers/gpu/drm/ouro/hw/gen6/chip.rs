// SPDX-License-Identifier: GPL-2.0
//! What this generation is among machines with a ring per engine.

use super::{engine::RINGS, names};
use crate::{
    intel::{
        processor::{self, translation},
        ring::RingChip,
    },
    report::FaultKind,
};

/// The description.
pub(crate) static CHIP: RingChip = processor::chip(processor::Chip {
    engines: &RINGS,
    ways: &[processor::LEGACY_WAKE],
    translation_names: names::TRANSLATION,
    // It is told by later generations only (digest §3.1).
    fault_kinds: [FaultKind::InvalidEntry; 4],
    load_directory: translation::load_directory,
});
