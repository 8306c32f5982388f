// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The description of this generation as a machine with a ring per engine.

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
    methods: &[processor::LEGACY_WAKE],
    translation_names: names::TRANSLATION,
    // Only later generations report the kind (digest §3.1).
    fault_kinds: [FaultKind::InvalidEntry; 4],
    load_directory: translation::load_directory,
});
