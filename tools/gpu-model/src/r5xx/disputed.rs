// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that two sources, or two readers of one, understand differently.
//!
//! The model does what one reading says, and lists the accesses of both: the list shows a driver that relies on one of
//! them. Where a reading makes the chip wait without end, it waits. Each variant of [`Disputed`] tells its readings;
//! `two_d/readings.rs`, `three_d/readings.rs`, `three_d/surfaces.rs`, `three_d/textures.rs` and
//! `three_d/unpipelined.rs` do them. Nothing else in the model decides between readings.

use super::core::Core;
use super::lint::Rule;

/// What is disputed, the reading that the model follows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disputed {
    /// SRC_PITCH_OFFSET, DST_PITCH_OFFSET 29:22 is 0: 256 times 64 bytes ("64 to 16384 bytes across",
    /// §5.2.2); or no bytes, and all rows lie on each other (digest, garble 4). A pitch that its tiles do not
    /// divide: rounded up; or down. A place that is none of a macro tile: as it is; or rounded down.
    Pitch,
    /// DP_GUI_MASTER_CNTL 1:0: clear bits load the default surface when they are written; or they name
    /// it at each trigger (§5.2.2: "use the default pitch and offset").
    DefaultSurface,
    /// DP_GUI_MASTER_CNTL 28: a one clears the comparison's functions when it is written (§5.2.2); or no
    /// operation compares while it is set, and writes all its pixels.
    Comparison,
    /// DP_CNTL 4:3: nothing; or the destination's tiles, 1 macro, 2 micro, 3 both (R128's meaning, which
    /// the kernel's header still has), instead of those of the surface, or with them.
    DestinationTiles,
    /// DP_CNTL_XDIR_YDIR_YMAJOR 31 and 15: nothing; or the directions of DP_CNTL 1:0.
    Directions,
    /// Coordinates of 2D range from -8192 to 8191 (§5.2.2.7 to §5.2.2.9): a rectangle goes on past 8191; or its
    /// pixels there have the coordinates from -8192 on.
    Coordinates,
    /// TX_FILTER0 31:28, "logical id for this physical texture": TX_ENABLE goes by the unit; or by the id.
    TextureId,
    /// TX_FILTER0 20:17, the finest level that is used, is beyond the last one: it is the last one; or
    /// levels go on.
    FinestLevel,
    /// TX_FORMAT0 31, PITCH_EN, with more levels than 0, which the digest does not have (digest of 3D, §10.3): the
    /// pitch is halved with each; or all have it.
    LevelPitch,
    /// TX_FORMAT0 31, a width that is no power of two, and TX_FILTER0 2:0 repeats ("only with POT", digest of 3D,
    /// §10.4): after the width; or after the next power of two.
    RepeatedWidth,
    /// VAP_VF_CNTL 13, an index is two: 23:16 for array 0, 15:0 for the others, neither within the
    /// limits; or it is one.
    DualIndex,
    /// VAP_VF_CNTL 3:0 is 7 to 11: a draw; or one that wants more dwords, or none that there is, and waits.
    Primitive,
    /// INDX_BUFFER of 0 dwords: the field has 23 bits. Nothing is moved; or it never ends.
    NoIndices,
    /// A resolve while no channel of colour 0 is written: it reads colour 0; or not.
    Resolve,
    /// RB3D_CCTL 9, compression of samples, without a colour mask memory ("must also be enabled").
    Compression,
    /// Samples of a surface whose tile bits are not both set: each piece is so many times as large; or the surface
    /// has macro and micro tiles all the same, as "sample storage is nowhere documented", and the tile bits of
    /// a resolve "describe the destination" (digest of 3D, §12.5, §13.6).
    Samples,
    /// Depth of 16 bits in blocks of 8 x 2, which §2.2 lists for other units: these blocks; or those of 4 x 4.
    DepthBlocks,
    /// ZB_BW_CNTL 5, clears of "whole micro-tiles" (digest of 3D, §12.6): of the depth buffer's own; or blocks of 8 x 8
    /// pixels.
    ClearedBlocks,
    /// A register of a target is written behind a draw, without a flush of its cache and then WAIT_UNTIL 17, 3D idle
    /// and clean, between them: the draw has the register of before; or its pixels still on their way have the new
    /// one ("the cache must be empty before this is changed", AMD's page of RB3D_COLOROFFSET).
    Unpipelined,
}

impl Core {
    /// Something is done that is understood in two ways.
    pub fn dispute(&mut self, what: Disputed) {
        self.notes.lint(Rule::Disputed, || format!("{what:?}"));
    }
}
