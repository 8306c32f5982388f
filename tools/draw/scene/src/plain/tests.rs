// SPDX-License-Identifier: GPL-2.0
//! Tests of plain operations.

use super::*;
use crate::scene::Manner;
use crate::surface::{BufferId, Tiling};

/// All that becomes of the picture's commands leaves what the commands themselves do.
#[test]
fn the_plain_picture_is_the_picture() {
    let mut scene = Scene::compose().expect("composed").picture_alone();
    let manner = Manner {
        how: "drawn by one ring",
        captions: ["rcs dword"; 6],
    };
    scene.entitle("RV515", &manner);
    let plain = Plain::of(&scene).expect("resolved");
    let mut memory = Memory {
        buffers: scene.buffers.iter().map(Buffer::contents).collect(),
    };
    for part in &plain.parts {
        let simple = part.operations.iter().flat_map(|op| {
            assert!(!matches!(op.brush, Brush::Colour(_)) || !op.overlaps());
            op.without_colour_brush()
        });
        for op in &simple.collect::<Vec<_>>() {
            assert!(op.rect.intersect(&op.dst.rect()) == op.rect, "{op:?}");
            op.draw(&mut memory).expect("inside");
        }
    }
    for (i, buffer) in scene.buffers.iter().enumerate() {
        assert!(
            memory.buffers[i] == plain.expected.buffers[i],
            "{}",
            buffer.name
        );
    }
    let all: Vec<&Operation> = plain.parts.iter().flat_map(|p| &p.operations).collect();
    let rops: std::collections::BTreeSet<Rop> = all.iter().map(|op| op.rop).collect();
    assert_eq!(rops.len(), 256);
    assert!(all.iter().any(|op| op.overlaps()));
}

/// S = 1 or 0 of each bit of the colour, through SOURCE_XOR (66): XOR with the colour.
#[test]
fn bits_become_runs_of_their_colour() {
    let base = Address {
        buffer: BufferId(0),
        offset: 0,
    };
    let dst = Surface {
        base,
        pitch: 64,
        width: 16,
        height: 4,
        depth: Depth::Bpp32,
        tiling: Tiling::Linear,
    };
    let mut resolver = Resolver {
        setup: None,
        clip: None,
        out: Vec::new(),
    };
    let raster = resolver.raster(
        dst,
        Rect::new(2, 1, 6, 1),
        None,
        (Rop::SOURCE_XOR, Mask::ALL),
    );
    let ink = Ink {
        foreground: 7,
        background: None,
    };
    let bits = Bits {
        bytes: &[0b0110_1100],
        first: 0,
        stride: 8,
        ink,
    };
    resolver.bits(raster, &bits).expect("no pattern");
    let runs: Vec<(Rop, Rect, Brush)> = resolver
        .out
        .into_iter()
        .map(|op| (op.rop, op.rect, op.brush))
        .collect();
    let run = |x, width| (Rop::PATTERN_XOR, Rect::new(x, 1, width, 1), Brush::Solid(7));
    assert_eq!(runs, [run(3, 2), run(6, 2)]);
}
