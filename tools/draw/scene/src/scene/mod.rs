// SPDX-License-Identifier: GPL-2.0
//! The picture as a list of work: buffers, and what each engine does to them.
//!
//! A [`Scene`] is made by a [`Studio`], which draws each command in software at
//! the moment it is added: so the composition can look at what stands below, and
//! at its end the expected contents of every buffer are known.

mod geometry;
mod heading;
mod icons;
mod panels;
mod sheets;
mod sky;
mod snake;
mod spans;
mod studio;
mod title;

pub use heading::Manner;
pub use spans::solid_setup;
pub use studio::Studio;

use serde::{Deserialize, Serialize};

use crate::blt::Command;
use crate::reference::{Blitter, Memory, ReferenceError};
use crate::surface::{Address, BufferId, Depth, Surface, Tiling};

/// Pixels of the picture across.
pub const WIDTH: u32 = 1280;
/// Rows of the picture.
pub const HEIGHT: u32 = 800;

/// How a buffer gets its first contents, so that each way is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Upload {
    /// Nothing: a new buffer is zero.
    Zero,
    /// By the PWRITE ioctl.
    Pwrite,
    /// Through a cached mapping.
    WriteBack,
    /// Through a write-combined mapping.
    WriteCombined,
}

/// A buffer object of the scene.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    /// What it is for.
    pub name: String,
    /// Bytes, whole pages.
    pub size: usize,
    /// Contents at the start; beyond them there are zeros.
    pub initial: Vec<u8>,
    /// How they get there.
    pub upload: Upload,
    /// The surface to compare pixel by pixel, if it holds one.
    pub surface: Option<Surface>,
}

impl Buffer {
    /// All bytes that it starts with.
    pub fn contents(&self) -> Vec<u8> {
        let mut bytes = self.initial.clone();
        bytes.resize(self.size, 0);
        bytes
    }
}

/// Which command of which engine stores a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storer {
    /// MI_STORE_DATA_IMM on the render engine: one dword.
    RenderDword,
    /// MI_STORE_DATA_IMM on the render engine: one qword.
    RenderQword,
    /// PIPE_CONTROL with a write after it, in the address space of the batch: one qword.
    PipeControl,
    /// The same with the global address of the object.
    PipeControlGlobal,
    /// MI_FLUSH_DW on the blitter: one qword.
    CopyFlush,
    /// MI_FLUSH_DW on the video engine: one qword.
    VideoFlush,
}

impl Storer {
    /// Bytes that one store writes.
    pub fn bytes(self) -> usize {
        match self {
            Storer::RenderDword => 4,
            _ => 8,
        }
    }
}

/// A value stored by a command.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Store {
    /// Where.
    pub at: Address,
    /// What.
    pub value: u64,
}

/// A piece of work for one engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Work {
    /// Commands of the blitter.
    Blits(Vec<Command>),
    /// Stores, one after the other.
    Stores {
        /// By what.
        by: Storer,
        /// Which of the client's contexts, from 0.
        context: usize,
        /// The stores.
        list: Vec<Store>,
    },
}

/// A part of the picture; the parts are drawn in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Section {
    /// What it is.
    pub name: String,
    /// The work.
    pub work: Work,
}

/// Everything that is to be drawn, and what must come of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scene {
    /// Buffer objects.
    pub buffers: Vec<Buffer>,
    /// Parts, in order.
    pub sections: Vec<Section>,
    /// The picture itself.
    pub picture: Surface,
    /// Sections and buffers that belong to it; the others are sheets beside it.
    pub of_picture: (usize, usize),
}

impl Scene {
    /// Composes the picture, and sheets beside it with what else the blitter can do. The heading is empty
    /// until [`Scene::entitle`].
    pub fn compose() -> Result<Scene, ReferenceError> {
        let mut studio = Studio::new();
        let base = Address {
            buffer: BufferId(0),
            offset: 0,
        };
        let picture = Surface {
            base,
            pitch: WIDTH * 4,
            width: WIDTH,
            height: HEIGHT,
            depth: Depth::Bpp32,
            tiling: Tiling::Linear,
        };
        studio.surface("picture", picture, Upload::Zero);
        sky::draw(&mut studio, picture)?;
        snake::draw(&mut studio, picture)?;
        title::draw(&mut studio, picture)?;
        panels::draw(&mut studio, picture)?;
        icons::draw(&mut studio, picture)?;
        studio.end_of_picture();
        sheets::draw(&mut studio)?;
        Ok(studio.finish(picture))
    }

    /// The same without the sheets.
    pub fn picture_alone(&self) -> Scene {
        let (sections, buffers) = self.of_picture;
        Scene {
            buffers: self.buffers[..buffers].to_vec(),
            sections: self.sections[..sections].to_vec(),
            ..*self
        }
    }

    /// What stands in all buffers when everything was drawn: by the software blitter.
    pub fn expected(&self) -> Result<Memory, ReferenceError> {
        let mut memory = Memory {
            buffers: self.buffers.iter().map(Buffer::contents).collect(),
        };
        let mut blitter = Blitter::new();
        for section in &self.sections {
            match &section.work {
                Work::Blits(commands) => {
                    for command in commands {
                        blitter.draw(&mut memory, command)?;
                    }
                }
                Work::Stores { by, list, .. } => {
                    for store in list {
                        memory.store(store.at, by.bytes(), store.value)?;
                    }
                }
            }
        }
        Ok(memory)
    }

    /// The scene as bytes, to be read by [`Scene::from_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }

    /// A scene from bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Scene, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    /// The picture as rows of red, green and blue, from the contents of its buffer.
    pub fn rgb(&self, contents: &[u8]) -> Vec<u8> {
        contents
            .chunks_exact(4)
            .take((WIDTH * HEIGHT) as usize)
            .flat_map(|p| [p[2], p[1], p[0]])
            .collect()
    }
}
