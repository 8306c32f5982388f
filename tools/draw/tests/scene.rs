// SPDX-License-Identifier: GPL-2.0
//! The scene as a whole: that it can be drawn, and that it covers what it says.

use ouro_draw::picture;
use ouro_draw::report::Coverage;
use ouro_scene::blt::encode::encode;
use ouro_scene::scene::{Storer, Work, HEIGHT, WIDTH};

/// Every blitter command (G45 PRM Vol 1b §8.8.1 to §8.9.24), and whether it takes any raster
/// operation, so that all 256 must be seen.
const COMMANDS: [(&str, bool); 26] = [
    ("COLOR_BLT", false),
    ("SRC_COPY_BLT", false),
    ("XY_COLOR_BLT", false),
    ("XY_FULL_BLT", true),
    ("XY_FULL_IMMEDIATE_PATTERN_BLT", true),
    ("XY_FULL_MONO_PATTERN_BLT", true),
    ("XY_FULL_MONO_PATTERN_MONO_SRC_BLT", true),
    ("XY_FULL_MONO_SRC_BLT", true),
    ("XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT", true),
    ("XY_MONO_PAT_BLT", false),
    ("XY_MONO_PAT_FIXED_BLT", false),
    ("XY_MONO_SRC_COPY_BLT", false),
    ("XY_MONO_SRC_COPY_IMMEDIATE_BLT", false),
    ("XY_PAT_BLT", false),
    ("XY_PAT_BLT_IMMEDIATE", false),
    ("XY_PAT_CHROMA_BLT", false),
    ("XY_PAT_CHROMA_BLT_IMMEDIATE", false),
    ("XY_PIXEL_BLT", false),
    ("XY_SCANLINES_BLT", false),
    ("XY_SETUP_BLT", false),
    ("XY_SETUP_CLIP_BLT", false),
    ("XY_SETUP_MONO_PATTERN_SL_BLT", false),
    ("XY_SRC_COPY_BLT", false),
    ("XY_SRC_COPY_CHROMA_BLT", false),
    ("XY_TEXT_BLT", false),
    ("XY_TEXT_IMMEDIATE_BLT", false),
];

#[test]
fn the_scene_uses_every_command_at_every_depth() {
    let scene = picture::load("Sandy Bridge").expect("the build composed it");
    let expected = scene.expected().expect("the reference draws it");
    for section in &scene.sections {
        if let Work::Blits(commands) = &section.work {
            for command in commands {
                encode(command).unwrap_or_else(|e| panic!("{}: {e}: {command:?}", section.name));
            }
        }
    }
    let coverage = Coverage::of(&scene);
    let names: Vec<&str> = coverage.by_command.keys().map(String::as_str).collect();
    let wanted: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, wanted);
    for (name, every_rop) in COMMANDS {
        let seen = &coverage.by_command[name];
        assert_eq!(seen.depths, 4, "{name}");
        if every_rop {
            assert_eq!(seen.rops, 256, "{name}");
        }
    }

    for by in [
        Storer::RenderDword,
        Storer::RenderQword,
        Storer::PipeControl,
        Storer::PipeControlGlobal,
        Storer::CopyFlush,
        Storer::VideoFlush,
    ] {
        let found = scene
            .sections
            .iter()
            .any(|s| matches!(&s.work, Work::Stores { by: b, .. } if *b == by));
        assert!(found, "{by:?} stores nothing");
    }

    let picture = scene.rgb(&expected.buffers[0]);
    assert_eq!(picture.len(), (WIDTH * HEIGHT * 3) as usize);
    let dark = picture
        .chunks_exact(3)
        .filter(|p| p.iter().all(|c| *c < 8))
        .count();
    assert!(dark < picture.len() / 3 / 2, "half of the picture is black");
}
