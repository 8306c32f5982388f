// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Faults of the model itself: one rule of a document that it reads wrong, on request. A comparison of the model with
//! a card must find each of them.
//!
//! Other faults are those of a device that misbehaves ([`crate::fault`]); a slip is a model that is wrong. There are
//! none without the feature `slips`, and with it none until a test calls `set`. They hold for the thread that called
//! it, whose steps the engines of a device in process take.

#[cfg(feature = "slips")]
use std::cell::Cell;

/// One rule, read wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each says what is wrong by its name")]
pub enum Slip {
    // Raster operations.
    RopInverted,
    RopSourceForDestination,
    RopPatternForSource,
    // Rectangles.
    ClipEndInclusive,
    ClipFirstExclusive,
    ClipIgnored,
    ClipKeepsSource,
    EndInclusive,
    NegativeSourceKept,
    PixelNotClipped,
    // Surfaces.
    PitchUnsigned,
    TiledPitchInBytes,
    MaskSwapped,
    MaskIgnored,
    NeverRightToLeft,
    NeverUpwards,
    // Patterns and bits.
    SeedXIgnored,
    SeedYIgnored,
    PatternBitsReversed,
    PatternRowsReversed,
    FixedPatternsMirrored,
    MonoBitsReversed,
    MonoRowsOnBytes,
    MonoFirstBitIgnored,
    MonoZerosDrawn,
    TextRowsOnBits,
    ColoursSwapped,
    KeyInverted,
    KeyHighExclusive,
    SetupMaskIgnored,
    // The streamer.
    StoreHighBitsLost,
    StoreQwordSwapped,
    StoreQwordHalf,
    ConditionalEndOnEqual,
    ConditionalMaskIgnored,
    NoopNumberShort,
    StoreRegisterShifted,
    ChainIgnored,
    FlushStoresDword,
    PipeControlSilent,
    // The blitter of DG2.
    FastEndInclusive,
    FastPitchNotLessOne,
    FastPitchInBytes,
    FastColourFirstByte,
    FastSourceIgnored,
    TileFourByRows,
    // MI_MATH.
    MathCarryLost,
    MathDifferenceReversed,
    MathLoadNotInverted,
    MathShiftByAny,
    // The 2D engine of R5xx.
    PitchHalved,
    MacroTileByColumns,
}

#[cfg(feature = "slips")]
thread_local! {
    static NOW: Cell<Option<Slip>> = const { Cell::new(None) };
}

/// Has the models of this thread read a rule wrong, or none again.
#[cfg(feature = "slips")]
pub fn set(slip: Option<Slip>) {
    NOW.set(slip);
}

/// True while this slip is asked for.
#[cfg(feature = "slips")]
pub(crate) fn is(slip: Slip) -> bool {
    NOW.get() == Some(slip)
}

/// True while this slip is asked for: never.
#[cfg(not(feature = "slips"))]
pub(crate) const fn is(_slip: Slip) -> bool {
    false
}
