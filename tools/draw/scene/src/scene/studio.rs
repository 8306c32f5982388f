// SPDX-License-Identifier: GPL-2.0
//! Where a scene is made: takes commands, draws them in software at once, and
//! keeps bitmaps and patterns in a buffer of their own.

use super::{Buffer, Scene, Section, Store, Storer, Upload, Work};
use crate::blt::Command;
use crate::font::Bitmap;
use crate::reference::{Blitter, Memory, ReferenceError};
use crate::surface::{Address, BufferId, Surface};

/// Bytes of the buffer that holds bitmaps and patterns.
const ASSETS: usize = 512 << 10;

/// A scene in the making. Buffer 0 is the picture, once it was added.
pub struct Studio {
    buffers: Vec<Buffer>,
    sections: Vec<Section>,
    memory: Memory,
    blitter: Blitter,
    assets: Option<(BufferId, usize)>,
    of_picture: Option<(usize, usize)>,
}

impl Studio {
    /// Nothing yet.
    pub fn new() -> Studio {
        Studio {
            buffers: Vec::new(),
            sections: Vec::new(),
            memory: Memory::default(),
            blitter: Blitter::new(),
            assets: None,
            of_picture: None,
        }
    }

    fn add(&mut self, buffer: Buffer) -> BufferId {
        let id = BufferId(self.buffers.len());
        self.memory.buffers.push(buffer.contents());
        self.buffers.push(buffer);
        id
    }

    /// Adds a buffer of zeros for a surface that starts it.
    pub fn surface(
        &mut self,
        name: impl Into<String>,
        surface: Surface,
        upload: Upload,
    ) -> BufferId {
        let size = (surface.bytes() as usize).next_multiple_of(4096);
        self.add(Buffer {
            name: name.into(),
            size,
            initial: Vec::new(),
            upload,
            surface: Some(surface),
        })
    }

    /// Adds a surface with these contents.
    pub fn image(
        &mut self,
        name: impl Into<String>,
        surface: Surface,
        upload: Upload,
        contents: &[u8],
    ) -> BufferId {
        let id = self.surface(name, surface, upload);
        self.buffers[id.0].initial = contents.to_vec();
        self.memory.buffers[id.0][..contents.len()].copy_from_slice(contents);
        id
    }

    /// Adds a buffer that gets its contents later.
    pub fn room(&mut self, name: impl Into<String>, size: usize) -> BufferId {
        self.add(Buffer {
            name: name.into(),
            size,
            initial: Vec::new(),
            upload: Upload::Pwrite,
            surface: None,
        })
    }

    /// The id that the next buffer gets.
    pub fn next_buffer(&self) -> BufferId {
        BufferId(self.buffers.len())
    }

    /// Puts bytes where the GPU finds them, on a multiple of `align`.
    pub fn asset(&mut self, bytes: &[u8], align: usize) -> Address {
        let (buffer, used) = match self.assets {
            Some((buffer, used)) if used.next_multiple_of(align) + bytes.len() <= ASSETS => {
                (buffer, used)
            }
            _ => {
                let name = format!("bitmaps {}", self.buffers.len());
                (self.room(name, ASSETS), 0)
            }
        };
        let start = used.next_multiple_of(align);
        let initial = &mut self.buffers[buffer.0].initial;
        initial.resize(start, 0);
        initial.extend_from_slice(bytes);
        self.memory.buffers[buffer.0][start..start + bytes.len()].copy_from_slice(bytes);
        self.assets = Some((buffer, start + bytes.len()));
        Address {
            buffer,
            offset: start as u32,
        }
    }

    /// A bitmap as the source of a mono blit: rows on 16 bits.
    pub fn bitmap(&mut self, bitmap: &Bitmap) -> Address {
        self.asset(&bitmap.packed(16), 8)
    }

    /// Starts a part of the picture.
    pub fn section(&mut self, name: &str) {
        self.sections.push(Section {
            name: name.into(),
            work: Work::Blits(Vec::new()),
        });
    }

    /// Adds a command to the present part, and draws it.
    pub fn push(&mut self, command: impl Into<Command>) -> Result<(), ReferenceError> {
        let command = command.into();
        self.blitter.draw(&mut self.memory, &command)?;
        match self.sections.last_mut() {
            Some(Section {
                work: Work::Blits(list),
                ..
            }) => list.push(command),
            _ => self.sections.push(Section {
                name: "drawing".into(),
                work: Work::Blits(vec![command]),
            }),
        }
        Ok(())
    }

    /// Adds a part that stores values.
    pub fn stores(
        &mut self,
        name: &str,
        by: Storer,
        context: usize,
        list: Vec<Store>,
    ) -> Result<(), ReferenceError> {
        for store in &list {
            self.memory.store(store.at, by.bytes(), store.value)?;
        }
        self.sections.push(Section {
            name: name.into(),
            work: Work::Stores { by, context, list },
        });
        Ok(())
    }

    /// What stands in a pixel now.
    pub fn pixel(&self, surface: &Surface, x: i32, y: i32) -> u32 {
        self.memory
            .pixel(surface, x.max(0) as u32, y.max(0) as u32)
            .unwrap_or(0)
    }

    /// What comes from here on are sheets beside the picture.
    pub fn end_of_picture(&mut self) {
        self.of_picture = Some((self.sections.len(), self.buffers.len()));
    }

    /// The scene.
    pub fn finish(self, picture: Surface) -> Scene {
        let all = (self.sections.len(), self.buffers.len());
        Scene {
            of_picture: self.of_picture.unwrap_or(all),
            buffers: self.buffers,
            sections: self.sections,
            picture,
        }
    }
}

impl Default for Studio {
    fn default() -> Studio {
        Studio::new()
    }
}
