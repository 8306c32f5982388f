// SPDX-License-Identifier: GPL-2.0
//! The comparison finds what is wrong with a model: each rule that the model reads wrong on request is found by the
//! streams of a rule that is about it.

use std::collections::HashMap;

use gpu_model::slip::{self, Slip};
use ouro_compare::{build, run_rules};

/// Model, what it reads wrong, and a rule whose streams say so.
const FAULTS: &[(&str, Slip, &str)] = &[
    ("snb", Slip::RopInverted, "rop"),
    ("snb", Slip::RopSourceForDestination, "rop"),
    ("snb", Slip::RopPatternForSource, "rop"),
    ("snb", Slip::ClipEndInclusive, "clip"),
    ("snb", Slip::ClipFirstExclusive, "clip"),
    ("snb", Slip::ClipIgnored, "clip"),
    ("snb", Slip::ClipKeepsSource, "clip"),
    ("snb", Slip::EndInclusive, "fill"),
    ("snb", Slip::NegativeSourceKept, "negative-source"),
    ("snb", Slip::PixelNotClipped, "lines"),
    ("snb", Slip::PitchUnsigned, "negative-pitch"),
    ("snb", Slip::TiledPitchInBytes, "tiles"),
    ("snb", Slip::MaskSwapped, "mask"),
    ("snb", Slip::MaskIgnored, "mask"),
    ("snb", Slip::NeverRightToLeft, "overlap"),
    ("snb", Slip::NeverUpwards, "overlap"),
    ("snb", Slip::SeedXIgnored, "pattern"),
    ("snb", Slip::SeedYIgnored, "mono-pattern"),
    ("snb", Slip::PatternBitsReversed, "mono-pattern"),
    ("snb", Slip::PatternRowsReversed, "mono-pattern"),
    ("snb", Slip::FixedPatternsMirrored, "fixed-pattern"),
    ("snb", Slip::MonoBitsReversed, "mono-source"),
    ("snb", Slip::MonoRowsOnBytes, "mono-source"),
    ("snb", Slip::MonoFirstBitIgnored, "mono-source"),
    ("snb", Slip::MonoZerosDrawn, "mono-source"),
    ("snb", Slip::TextRowsOnBits, "text"),
    ("snb", Slip::ColoursSwapped, "text"),
    ("snb", Slip::KeyInverted, "key"),
    ("snb", Slip::KeyHighExclusive, "key"),
    ("snb", Slip::SetupMaskIgnored, "text"),
    ("snb", Slip::StoreHighBitsLost, "store-dword"),
    ("snb", Slip::StoreQwordSwapped, "store-qword"),
    ("snb", Slip::StoreQwordHalf, "store-qword"),
    ("snb", Slip::ConditionalEndOnEqual, "conditional-end"),
    ("snb", Slip::ConditionalMaskIgnored, "conditional-end"),
    ("snb", Slip::NoopNumberShort, "store-register"),
    ("snb", Slip::StoreRegisterShifted, "store-register"),
    ("snb", Slip::ChainIgnored, "chain"),
    ("snb", Slip::FlushStoresDword, "flush-dw"),
    ("snb", Slip::PipeControlSilent, "pipe-control"),
    ("dg2", Slip::FastEndInclusive, "fast-fill"),
    ("dg2", Slip::FastPitchNotLessOne, "fast-fill"),
    ("dg2", Slip::FastColourFirstByte, "fast-fill"),
    ("dg2", Slip::TileFourByRows, "fast-fill"),
    ("dg2", Slip::FastPitchInBytes, "fast-copy"),
    ("dg2", Slip::FastSourceIgnored, "fast-copy"),
    ("dg2", Slip::MathCarryLost, "math"),
    ("dg2", Slip::MathDifferenceReversed, "math"),
    ("dg2", Slip::MathLoadNotInverted, "math"),
    ("dg2", Slip::MathShiftByAny, "math"),
    ("dg2", Slip::StoreQwordSwapped, "store-data"),
    ("dg2", Slip::StoreQwordHalf, "store-data"),
    ("dg2", Slip::FlushStoresDword, "flush-dw"),
    ("dg2", Slip::ChainIgnored, "chain"),
    ("rv515", Slip::EndInclusive, "fill"),
    ("rv515", Slip::PitchHalved, "fill"),
    ("rv515", Slip::RopInverted, "rop"),
    ("rv515", Slip::RopSourceForDestination, "rop"),
    ("rv515", Slip::RopPatternForSource, "rop"),
    ("rv515", Slip::NeverRightToLeft, "overlap"),
    ("rv515", Slip::NeverUpwards, "overlap"),
    ("rv515", Slip::MaskIgnored, "mask"),
    ("rv515", Slip::PatternBitsReversed, "brush"),
    ("rv515", Slip::PatternRowsReversed, "brush"),
    ("rv515", Slip::MonoZerosDrawn, "brush"),
    ("rv515", Slip::MacroTileByColumns, "tiles"),
];

/// The seed that the program uses.
const SEED: u64 = 1;

#[test]
fn each_fault_of_the_model_is_found() {
    for (chip, faults) in [("snb", 30), ("dg2", 6), ("rv515", 6)] {
        let of_chip = FAULTS.iter().filter(|(model, ..)| *model == chip);
        assert!(of_chip.count() >= faults, "{chip}");
    }
    let mut machines = HashMap::new();
    let mut missed = Vec::new();
    for (model, fault, rule) in FAULTS {
        // A model is used again and again: no stream depends on what ran before it.
        let (family, machine) = machines
            .entry(*model)
            .or_insert_with(|| build(model, false).expect("a model"));
        let mut answers = |slip| {
            slip::set(slip);
            let outcomes = run_rules(*family, SEED, machine.as_mut(), &|r| r == *rule);
            slip::set(None);
            outcomes.expect("streams")
        };
        let right = answers(None);
        assert!(!right.is_empty(), "{model} has no {rule}");
        if right == answers(Some(*fault)) {
            missed.push(format!("{model} {fault:?} by {rule}"));
        }
        assert_eq!(right, answers(None), "{model} {fault:?}: right again");
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
