// SPDX-License-Identifier: GPL-2.0
//! The rules that streams are about, and the streams of a family.

use ouro_scene::blt::encode::EncodeError;

use crate::draft::{Draft, Made};
use crate::intel::{blt, dg2, expand, mi};
use crate::radeon;
use crate::random::Random;
use crate::stream::{Family, Stream};

/// A rule of a manual.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// In words.
    pub text: &'static str,
    /// Document and section.
    pub section: &'static str,
    /// Streams that are about it.
    pub cases: u32,
    /// Who has it.
    families: &'static [Family],
    make: fn(&mut Draft, u32) -> Made,
}

/// The ring streamers.
const RINGS: &[Family] = &[Family::Gen4, Family::Gen6, Family::Gen7];
/// Those of them that let a user's batch store.
const STORING: &[Family] = &[Family::Gen6, Family::Gen7];

/// DG2.
const DG2: &[Family] = &[Family::Gen12];
/// R520 to R580.
const R5XX: &[Family] = &[Family::R5xx];

/// `rules! { families: name, cases, make, section, text; ... }`
macro_rules! rules {
    ($($families:ident: $name:literal, $cases:literal, $make:path, $section:literal, $text:literal;)*) => {
        &[$(Rule {
            name: $name,
            text: $text,
            section: $section,
            cases: $cases,
            families: $families,
            make: $make,
        }),*]
    };
}

/// All rules.
const RULES: &[Rule] = rules! {
    RINGS: "fill", 8, blt::fill, "G45 PRM V1b 8.9.8", "XY_COLOR_BLT at each depth";
    RINGS: "linear-fill", 4, blt::linear_fill, "G45 PRM V1b 8.8.1", "COLOR_BLT: bytes and lines from an address";
    RINGS: "copy", 8, blt::copy, "G45 PRM V1b 8.9.15", "XY_SRC_COPY_BLT at each depth";
    RINGS: "linear-copy", 4, blt::linear_copy, "G45 PRM V1b 8.8.2", "SRC_COPY_BLT: bytes and lines between addresses";
    RINGS: "rop", 4, blt::operations, "G45 PRM V1b 8.2.1.3", "all 256 raster operations of three operands";
    RINGS: "clip", 8, blt::clip, "G45 PRM V1b 8.9.3, 8.10.2", "BR13 bit 30: nothing outside the clip rectangle";
    RINGS: "edges", 8, blt::edges, "G45 PRM V1b 8.9", "negative coordinates are cut, empty rectangles draw nothing";
    RINGS: "negative-source", 4, blt::negative_source, "G45 PRM V1b 8.9", "a source before row or column 0 moves the rectangle";
    RINGS: "mask", 4, blt::mask, "G45 PRM V1b 8.10.1", "write mask: 24 bits, alpha, none";
    RINGS: "overlap", 8, blt::overlap, "G45 PRM V1b 8.7.1, 8.9.15", "XY_SRC_COPY_BLT chooses its direction";
    RINGS: "negative-pitch", 4, blt::negative_pitch, "G45 PRM V1b 8.10.2", "a pitch has a sign";
    RINGS: "tiles", 4, blt::tiles, "G45 PRM V1b 8.10.1, SNB PRM V1P2 4.5", "X tiles, whose pitch is in dwords";
    RINGS: "pattern", 4, expand::pattern, "G45 PRM V1b 8.9.9, 8.9.11", "colour patterns and their phase";
    RINGS: "mono-pattern", 4, expand::mono_pattern, "G45 PRM V1b 8.9.13", "monochrome patterns, transparent too";
    RINGS: "fixed-pattern", 4, expand::fixed_pattern, "G45 PRM V1b 8.9.14", "the ten fixed patterns";
    RINGS: "mono-source", 8, expand::mono_source, "G45 PRM V1b 8.9.17, 8.9.18", "monochrome sources, first bit, rows on 16 bits";
    RINGS: "text", 4, expand::text, "G45 PRM V1b 8.9.1, 8.9.6, 8.9.7", "text by bits and by bytes";
    RINGS: "lines", 4, expand::lines, "G45 PRM V1b 8.9.2, 8.9.4, 8.9.5", "pixels and scan lines of the set-up";
    RINGS: "key", 4, expand::key, "G45 PRM V1b 8.9.10, 8.9.12, 8.9.16", "colour keys on source and destination";
    RINGS: "three-operands", 4, expand::three_operands, "G45 PRM V1b 8.9.19 to 8.9.24", "source and pattern at once";
    RINGS: "bulk", 2, blt::bulk, "G45 PRM V1b 8.9.8, 8.9.15", "256 KB, for their time";
    STORING: "store-dword", 4, mi::store_dword, "G45 PRM V1b 1.16", "MI_STORE_DATA_IMM of a dword";
    STORING: "store-qword", 4, mi::store_qword, "G45 PRM V1b 1.16", "MI_STORE_DATA_IMM of a qword";
    STORING: "flush-dw", 4, mi::flush_dw, "SNB PRM V1P3 1, IVB VCS PRM 1.2.7", "MI_FLUSH_DW stores a qword";
    RINGS: "pipe-control", 2, mi::pipe_control, "SNB PRM V2P1 1.7.4.1", "PIPE_CONTROL stores a qword";
    STORING: "store-register", 4, mi::register, "G45 PRM V1b 1.13, 1.18", "MI_NOOP keeps a number, MI_STORE_REGISTER_MEM stores it";
    STORING: "timestamp", 1, mi::timestamps, "SNB PRM V1P3 1", "time stamps, not compared";
    STORING: "chain", 4, mi::chain, "SNB PRM V1P2 5.3.7.6", "MI_BATCH_BUFFER_START in a batch";
    STORING: "conditional-end", 8, mi::conditional_end, "IVB VCS PRM 1.2", "MI_CONDITIONAL_BATCH_BUFFER_END";
    DG2: "fast-fill", 9, dg2::fill, "digest of DG2 PRM V8 2.2", "XY_FAST_COLOR_BLT in each layout";
    DG2: "fast-copy", 15, dg2::copy, "digest of DG2 PRM V8 2.2", "XY_FAST_COPY_BLT between layouts";
    DG2: "bulk", 2, dg2::bulk, "digest of DG2 PRM V8 2.2", "256 KB, for their time";
    DG2: "store-data", 4, dg2::stores, "digest of DG2 PRM V8 2.1", "MI_STORE_DATA_IMM of dwords and qwords";
    DG2: "flush-dw", 4, dg2::flush, "digest of DG2 PRM V8 2.1", "MI_FLUSH_DW stores a qword";
    DG2: "math", 8, dg2::math, "DG2 PRM V8 MI_MATH", "MI_MATH and its flags, by registers";
    DG2: "chain", 4, dg2::chain, "digest of DG2 PRM V8 2.1", "MI_BATCH_BUFFER_START in a batch";
    R5XX: "fill", 8, radeon::fill, "R5xx Acceleration 5.2.2", "fills of one colour";
    R5XX: "copy", 8, radeon::copy, "R5xx Acceleration 5.2.2", "copies between surfaces";
    R5XX: "rop", 2, radeon::operations, "R5xx Acceleration 5.2.2", "all 256 raster operations of three operands";
    R5XX: "overlap", 8, radeon::overlap, "digest of R5xx 2.3", "DP_CNTL: directions of copies";
    R5XX: "mask", 4, radeon::mask, "digest of R5xx 2.3", "DP_WRITE_MSK";
    R5XX: "brush", 8, radeon::brush, "digest of R5xx 2.4", "brushes of bits, transparent too";
    R5XX: "tiles", 8, radeon::tiles, "digest of R5xx 4.1", "macro tiles";
    R5XX: "bulk", 2, radeon::bulk, "R5xx Acceleration 5.2.2", "256 KB, for their time";
};

/// The rules of a family.
pub fn rules(family: Family) -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(move |r| r.families.contains(&family))
}

/// The streams of a family, from a seed.
///
/// # Errors
/// When a command has no encoding, which does not depend on the seed.
pub fn streams(family: Family, seed: u64) -> Result<Vec<Stream>, EncodeError> {
    let mut all = Vec::new();
    for rule in rules(family) {
        for case in 0..rule.cases {
            let mut draft = Draft::new(Random::of(seed, rule.name, case), family);
            (rule.make)(&mut draft, case)?;
            all.push(draft.finish(rule.name, case));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Form, Target};
    use ouro_scene::mi::BATCH_BUFFER_END;

    /// Each stream of many seeds: it has an end, and each address lies in one of its buffers.
    #[test]
    fn streams_end_and_stay_in_their_buffers() {
        for seed in 0..40 {
            for (family, _) in Family::ALL {
                for stream in streams(family, seed).expect("an encoding") {
                    let name = format!("{family:?} {} {} of seed {seed}", stream.rule, stream.case);
                    if family != Family::R5xx {
                        let tail = &stream.dwords[stream.dwords.len() - 2..];
                        assert!(tail.contains(&BATCH_BUFFER_END), "{name}");
                    }
                    assert!(stream.buffers.iter().any(|b| b.is_result), "{name}");
                    for patch in &stream.patches {
                        let width = if patch.form == Form::Qword { 2 } else { 1 };
                        assert!(patch.dword + width <= stream.dwords.len(), "{name}");
                        match patch.target {
                            Target::Buffer(index, offset) => {
                                assert!(
                                    (offset as usize) < stream.buffers[index].bytes.len(),
                                    "{name}"
                                );
                            }
                            Target::Batch(to) => {
                                assert!(to > patch.dword && to < stream.dwords.len(), "{name}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same() {
        let of = |seed| streams(Family::Gen6, seed).expect("an encoding");
        let dwords = |seed| of(seed).into_iter().map(|s| s.dwords).collect::<Vec<_>>();
        assert_eq!(dwords(7), dwords(7));
        assert_ne!(dwords(7), dwords(8));
    }
}
