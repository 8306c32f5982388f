// SPDX-License-Identifier: GPL-2.0
//! The picture for a blitter that fills and copies rectangles, and does nothing else: no raster
//! operations, patterns or masks, and no source under its own destination.
//!
//! A pattern is drawn once, and copied to twice its size until it is everywhere. What reads its destination
//! is drawn in software, and what it leaves is put on the surface: by fills where colours go on for a while,
//! else by a copy of pixels from a buffer ([`Flat::pixels`]). What has to come of all that is still said by
//! the [`reference`](mod@crate::reference), from the commands as they were composed.

use serde::{Deserialize, Serialize};

use crate::plain::{Brush, From, Operation, Plain};
use crate::reference::{Memory, ReferenceError};
use crate::rop::Rop;
use crate::scene::{Buffer, Scene};
use crate::surface::{Address, BufferId, Depth, Rect, Surface, Tiling};

/// One thing that such a blitter does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Where.
    pub dst: Surface,
    /// Which pixels.
    pub rect: Rect,
    /// What becomes of them.
    pub paint: Paint,
}

/// What a rectangle becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Paint {
    /// All of one colour.
    Colour(u32),
    /// A copy of pixels of the same size; none of them is in the rectangle.
    Pixels(From),
}

/// A part of the picture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlatPart {
    /// What it is.
    pub name: String,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// The picture. Two buffers follow those of the scene: one of pixels that are copied, and one through
/// which pixels go on their way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Flat {
    /// Parts, in order.
    pub parts: Vec<FlatPart>,
    /// What the first of the two buffers has.
    pub pixels: Vec<u8>,
    /// Bytes of the second one.
    pub through: usize,
    /// Operations of the picture.
    pub operations: u64,
    /// Those of them that were drawn in software.
    pub in_software: u64,
}

/// To so many bytes rows of pixels that are copied are aligned, and their first one.
const ALIGN: u32 = 64;

/// Pixels after which a pattern begins again, each way.
const PATTERN: i32 = 8;

/// Pixels that a fill has on average, or more: of fewer a copy is made.
const WORTH_A_FILL: usize = 16;

/// A linear surface for pixels of a rectangle.
fn surface_for(rect: &Rect, depth: Depth, base: Address) -> Surface {
    Surface {
        base,
        pitch: (rect.width() * depth.bytes()).next_multiple_of(ALIGN),
        width: rect.width(),
        height: rect.height(),
        depth,
        tiling: Tiling::Linear,
    }
}

/// Rectangles of one colour each: runs within rows, and those that stand below each other as one.
fn runs(rect: &Rect, pixels: &[u32]) -> Vec<(Rect, u32)> {
    let mut done = Vec::new();
    let mut open: Vec<(Rect, u32)> = Vec::new();
    for (y, row) in (rect.y1..rect.y2).zip(pixels.chunks(rect.width() as usize)) {
        let mut x = rect.x1;
        let mut next = Vec::new();
        for run in row.chunk_by(|a, b| a == b) {
            let end = x + run.len() as i32;
            let above = open
                .iter()
                .position(|(r, c)| (r.x1, r.x2, *c) == (x, end, run[0]));
            next.push(match above {
                Some(at) => {
                    let (above, colour) = open.swap_remove(at);
                    (Rect { y2: y + 1, ..above }, colour)
                }
                None => (Rect::new(x, y, run.len() as i32, 1), run[0]),
            });
            x = end;
        }
        done.append(&mut open);
        open = next;
    }
    done.append(&mut open);
    done
}

/// Makes steps of operations.
struct Flattener {
    /// What the steps up to now leave.
    memory: Memory,
    source: BufferId,
    pixels: Vec<u8>,
    through: usize,
    steps: Vec<Step>,
}

impl Flattener {
    fn step(&mut self, dst: Surface, rect: Rect, paint: Paint) {
        self.steps.push(Step { dst, rect, paint });
    }

    /// An operation. False: it is drawn in software.
    fn add(&mut self, op: &Operation) -> Result<bool, ReferenceError> {
        let leaves_gaps = matches!(&op.brush, Brush::Mono { ink, .. } if ink.background.is_none());
        let is_opaque =
            op.mask == op.dst.depth.mask() && !op.rop.reads_destination() && !leaves_gaps;
        let colour = match (&op.brush, op.rop.reads_pattern()) {
            (_, false) => Some(0),
            (Brush::Solid(colour), true) => Some(*colour),
            (_, true) => None,
        };
        match (colour, op.source) {
            (Some(colour), _) if is_opaque && !op.rop.reads_source() => {
                let colour = op.rop.apply(colour, 0, 0) & op.mask;
                self.step(op.dst, op.rect, Paint::Colour(colour));
            }
            (_, Some(from)) if is_opaque && op.rop == Rop::SOURCE => {
                if op.overlaps() {
                    self.copy_through(op, from);
                } else {
                    self.step(op.dst, op.rect, Paint::Pixels(from));
                }
            }
            _ if is_opaque && !op.rop.reads_source() => self.pattern(op)?,
            _ => {
                let pixels = op.result(&self.memory)?;
                self.put(op, &pixels);
                self.memory.put(&op.dst, &op.rect, &pixels)?;
                return Ok(false);
            }
        }
        op.draw(&mut self.memory)?;
        Ok(true)
    }

    /// Draws the corner that a pattern repeats, and copies what there is, first to the right, then down.
    fn pattern(&mut self, op: &Operation) -> Result<(), ReferenceError> {
        let Rect { x1, y1, x2, y2 } = op.rect;
        let (mut right, mut down) = (x2.min(x1 + PATTERN), y2.min(y1 + PATTERN));
        let corner = Operation {
            rect: Rect {
                x2: right,
                y2: down,
                ..op.rect
            },
            ..op.clone()
        };
        for (rect, colour) in runs(&corner.rect, &corner.result(&self.memory)?) {
            self.step(op.dst, rect, Paint::Colour(colour));
        }
        let from = Paint::Pixels(From {
            surface: op.dst,
            x: x1,
            y: y1,
        });
        while right < x2 {
            let width = (right - x1).min(x2 - right);
            let rect = Rect::new(right, y1, width, down - y1);
            self.step(op.dst, rect, from.clone());
            right += width;
        }
        while down < y2 {
            let height = (down - y1).min(y2 - down);
            let rect = Rect::new(x1, down, x2 - x1, height);
            self.step(op.dst, rect, from.clone());
            down += height;
        }
        Ok(())
    }

    /// Copies to another place first, and from there.
    fn copy_through(&mut self, op: &Operation, from: From) {
        let base = Address {
            buffer: BufferId(self.source.0 + 1),
            offset: 0,
        };
        let surface = surface_for(&op.rect, op.dst.depth, base);
        self.through = self.through.max(surface.bytes() as usize);
        self.step(surface, surface.rect(), Paint::Pixels(from));
        let back = From {
            surface,
            x: 0,
            y: 0,
        };
        self.step(op.dst, op.rect, Paint::Pixels(back));
    }

    /// Puts pixels where an operation would have left them.
    fn put(&mut self, op: &Operation, pixels: &[u32]) {
        let runs = runs(&op.rect, pixels);
        if runs.len() * WORTH_A_FILL <= pixels.len() {
            for (rect, colour) in runs {
                self.step(op.dst, rect, Paint::Colour(colour));
            }
            return;
        }
        let base = Address {
            buffer: self.source,
            offset: self.pixels.len() as u32,
        };
        let surface = surface_for(&op.rect, op.dst.depth, base);
        let size = op.dst.depth.bytes() as usize;
        for row in pixels.chunks(op.rect.width() as usize) {
            let end = self.pixels.len() + surface.pitch as usize;
            let bytes = row
                .iter()
                .flat_map(|p| p.to_le_bytes().into_iter().take(size));
            self.pixels.extend(bytes);
            self.pixels.resize(end, 0);
        }
        let from = From {
            surface,
            x: 0,
            y: 0,
        };
        self.step(op.dst, op.rect, Paint::Pixels(from));
    }
}

impl Flat {
    /// The picture of a scene.
    pub fn of(scene: &Scene) -> Result<Flat, ReferenceError> {
        let mut flattener = Flattener {
            memory: Memory {
                buffers: scene.buffers.iter().map(Buffer::contents).collect(),
            },
            source: BufferId(scene.buffers.len()),
            pixels: Vec::new(),
            through: 0,
            steps: Vec::new(),
        };
        let (mut operations, mut in_software) = (0, 0);
        let mut parts = Vec::new();
        for part in &Plain::of(scene)?.parts {
            for op in &part.operations {
                operations += 1;
                in_software += u64::from(!flattener.add(op)?);
            }
            parts.push(FlatPart {
                name: part.name.clone(),
                steps: std::mem::take(&mut flattener.steps),
            });
        }
        Ok(Flat {
            parts,
            pixels: flattener.pixels,
            through: flattener.through,
            operations,
            in_software,
        })
    }

    /// Takes over the heading of a scene, which is letters alone, and so fills.
    pub fn entitle(&mut self, scene: &Scene) -> Result<(), ReferenceError> {
        let heading = Flat::of(&scene.heading_alone())?;
        self.operations += heading.operations;
        self.in_software += heading.in_software;
        for part in heading.parts {
            for there in self.parts.iter_mut().filter(|p| p.name == part.name) {
                there.steps.clone_from(&part.steps);
            }
        }
        Ok(())
    }

    /// The picture as bytes, to be read by [`Flat::from_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    /// A picture from bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Flat, postcard::Error> {
        postcard::from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Manner;

    /// A step, by what it is said to do.
    fn draw(memory: &mut Memory, step: &Step) {
        let mut pixels = Vec::new();
        for y in 0..step.rect.height() {
            for x in 0..step.rect.width() {
                pixels.push(match &step.paint {
                    Paint::Colour(colour) => *colour,
                    Paint::Pixels(from) => memory
                        .pixel(&from.surface, from.x as u32 + x, from.y as u32 + y)
                        .expect("inside"),
                });
            }
        }
        memory.put(&step.dst, &step.rect, &pixels).expect("inside");
    }

    #[test]
    fn the_flat_picture_is_the_picture() {
        let mut scene = Scene::compose().expect("composed").picture_alone();
        let flat = Flat::of(&scene).expect("resolved");
        let mut flat = Flat::from_bytes(&flat.to_bytes().expect("written")).expect("read");
        // The heading comes later, as when a device draws.
        let operations = flat.operations;
        let manner = Manner {
            how: "drawn by lists of contexts",
            captions: ["rcs dword"; 6],
        };
        scene.entitle("DG2-G10", &manner);
        flat.entitle(&scene).expect("resolved");
        assert!(flat.operations > operations);
        let mut memory = Memory {
            buffers: scene.buffers.iter().map(Buffer::contents).collect(),
        };
        memory.buffers.push(flat.pixels.clone());
        memory.buffers.push(vec![0; flat.through]);
        for step in flat.parts.iter().flat_map(|p| &p.steps) {
            assert!(step.rect.width() > 0 && step.rect.height() > 0);
            assert_eq!(step.rect.intersect(&step.dst.rect()), step.rect);
            if let Paint::Pixels(from) = &step.paint {
                let (w, h) = (step.rect.width() as i32, step.rect.height() as i32);
                let rect = Rect::new(from.x, from.y, w, h);
                assert_eq!(rect.intersect(&from.surface.rect()), rect);
                let both = rect.intersect(&step.rect);
                let own = from.surface.base.buffer == step.dst.base.buffer;
                assert!(!own || both.width() == 0 || both.height() == 0, "{step:?}");
            }
            draw(&mut memory, step);
        }
        let expected = scene.expected().expect("drawn");
        for (i, buffer) in scene.buffers.iter().enumerate() {
            assert!(memory.buffers[i] == expected.buffers[i], "{}", buffer.name);
        }
        // Nearly all of it is drawn by the blitter.
        assert!(flat.in_software * 100 < flat.operations);
    }

    #[test]
    fn runs_below_each_other_are_one() {
        let rect = Rect::new(4, 2, 4, 3);
        let pixels = [1, 1, 2, 2, 1, 1, 2, 3, 1, 1, 1, 3];
        let mut found = runs(&rect, &pixels);
        found.sort_by_key(|(r, _)| (r.y1, r.x1));
        assert_eq!(
            found,
            [
                (Rect::new(4, 2, 2, 2), 1),
                (Rect::new(6, 2, 2, 1), 2),
                (Rect::new(6, 3, 1, 1), 2),
                (Rect::new(7, 3, 1, 2), 3),
                (Rect::new(4, 4, 3, 1), 1),
            ]
        );
    }
}
