// SPDX-License-Identifier: GPL-2.0
//! The head of the right side: which chip draws, and how; and what it stores the icons by. It is not known when
//! the rest is composed, and has a section and a buffer of its own, which are empty until then.

use super::icons::{self, caption_at};
use super::panels::LEFT;
use super::title::{left_of, letters};
use super::{Scene, Studio, Work};
use crate::blt::{Command, Packing};
use crate::surface::{Address, BufferId};

/// What the section and the buffer are called.
const NAME: &str = "heading";
/// Bytes of the buffer.
const BYTES: usize = 8192;
/// Letters of the chip's name that there is room for.
const CHIP: usize = 16;
/// Letters of the line below it.
const HOW: usize = 32;
/// Letters of a caption.
const CAPTION: usize = 10;

/// What a chip is said to do.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// How it draws.
    pub how: &'static str,
    /// What stores each icon.
    pub captions: [&'static str; icons::COUNT],
}

/// Keeps the place of the heading among the sections and the buffers.
pub fn reserve(studio: &mut Studio) {
    studio.section(NAME);
    studio.room(NAME, BYTES);
}

impl Scene {
    /// Says which `chip` draws, and in what `manner`: as much as there is room for. What comes of the scene
    /// changes with it.
    pub fn entitle(&mut self, chip: &str, manner: &Manner) {
        let cut = |words: &str, most| words.chars().take(most).collect::<String>();
        let (chip, how) = (cut(chip, CHIP), cut(manner.how, HOW));
        let captions = manner.captions.map(|words| cut(words, CAPTION));
        let captions = captions.iter().enumerate().map(|(icon, words)| {
            let (x, y) = caption_at(icon);
            let at = (left_of(x, words, 0), y);
            (at, words, (0, Packing::Byte), 0x8f96c8)
        });
        let Some(id) = self.buffers.iter().position(|b| b.name == NAME) else {
            return;
        };
        let mut bits = Vec::new();
        let mut commands: Vec<Command> = Vec::new();
        let head = [
            ((LEFT + 2, 36), &chip, (2, Packing::Bit), 0x05060f),
            ((LEFT, 34), &chip, (2, Packing::Bit), 0xf6efdc),
            ((LEFT + 2, 76), &how, (1, Packing::Byte), 0xf2b54a),
        ];
        for (at, words, form, colour) in head.into_iter().chain(captions) {
            commands.extend(letters(self.picture, at, words, form, colour, |more| {
                let offset = bits.len().next_multiple_of(8);
                bits.resize(offset, 0);
                bits.extend_from_slice(more);
                Address {
                    buffer: BufferId(id),
                    offset: offset as u32,
                }
            }));
        }
        self.buffers[id].initial = bits;
        for section in self.sections.iter_mut().filter(|s| s.name == NAME) {
            section.work = Work::Blits(commands.clone());
        }
    }

    /// The heading alone, with all buffers of the picture.
    pub fn heading_alone(&self) -> Scene {
        let mut scene = self.picture_alone();
        scene.sections.retain(|s| s.name == NAME);
        scene
    }
}
