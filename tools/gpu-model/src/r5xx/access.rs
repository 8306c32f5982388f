// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A list of what the chip accessed, byte for byte: the measure of a command-stream checker.
//!
//! What is read and written by command fetch, write-back, 2D and DMA is listed as it happens. Of a 3D draw, what it
//! may access is listed when its turn comes: vertices and indices exactly, surfaces by the rows, blocks or tiles that
//! it can reach. Its pixels stay within that.

/// Who accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Command fetch from the ring.
    Ring,
    /// Command fetch from an indirect buffer.
    Indirect,
    /// Waits and conditions of the command processor.
    Wait,
    /// Scratch registers and the read pointer's shadow.
    WriteBack,
    /// A 2D operation.
    TwoD,
    /// A DMA channel, or its descriptors.
    Dma,
    /// Vertex arrays.
    Vertex,
    /// Index buffers.
    Index,
    /// Textures.
    Texture,
    /// Colour buffers.
    Color,
    /// The depth buffer.
    Depth,
    /// Counted pixels of an occlusion query.
    ZPass,
    /// The resolve of a multi-sampled colour buffer.
    Resolve,
}

/// A range of addresses of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// Who.
    pub unit: Unit,
    /// A write.
    pub write: bool,
    /// First byte.
    pub addr: u64,
    /// Number of bytes.
    pub len: u64,
}

impl Access {
    /// A read.
    pub const fn read(unit: Unit, addr: u64, len: u64) -> Self {
        Access {
            unit,
            write: false,
            addr,
            len,
        }
    }

    /// A write.
    pub const fn write(unit: Unit, addr: u64, len: u64) -> Self {
        Access {
            unit,
            write: true,
            addr,
            len,
        }
    }

    /// The byte after the last.
    pub const fn end(&self) -> u64 {
        self.addr.saturating_add(self.len)
    }
}

/// The list. Neighbours that continue each other are one.
pub struct AccessLog {
    keep: usize,
    list: Vec<Access>,
    /// Entries that did not fit.
    lost: u64,
}

impl AccessLog {
    /// A list of at most `keep` entries.
    pub fn new(keep: usize) -> Self {
        AccessLog {
            keep,
            list: Vec::new(),
            lost: 0,
        }
    }

    /// Returns whether the list is wanted.
    pub fn wanted(&self) -> bool {
        self.keep != 0
    }

    /// Adds an access.
    pub fn push(&mut self, a: Access) {
        if self.keep == 0 || a.len == 0 {
            return;
        }
        // Copies alternate between reads and writes: look at the last two.
        for last in self.list.iter_mut().rev().take(2) {
            if last.unit == a.unit && last.write == a.write && last.end() == a.addr {
                last.len += a.len;
                return;
            }
        }
        if self.list.len() < self.keep {
            self.list.push(a);
        } else {
            self.lost += 1;
        }
    }

    /// The accesses since the last call, in order, and the number of those that did not fit.
    pub fn take(&mut self) -> (Vec<Access>, u64) {
        (
            std::mem::take(&mut self.list),
            std::mem::take(&mut self.lost),
        )
    }
}
