// SPDX-License-Identifier: GPL-2.0
//! A stream: buffers with their first bytes, commands, and the places in the commands that need addresses.

/// A family of chips, whose streams are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// 965, G45: all commands go to the render ring.
    Gen4,
    /// Sandy Bridge.
    Gen6,
    /// Ivy Bridge.
    Gen7,
    /// DG2.
    Gen12,
    /// R520 to R580.
    R5xx,
}

impl Family {
    /// All of them, with their names in a file.
    pub const ALL: [(Family, &'static str); 5] = [
        (Family::Gen4, "gen4"),
        (Family::Gen6, "gen6"),
        (Family::Gen7, "gen7"),
        (Family::Gen12, "gen12"),
        (Family::R5xx, "r5xx"),
    ];

    /// Its name in a file.
    pub fn name(self) -> &'static str {
        let known = Family::ALL.iter().find(|(family, _)| *family == self);
        known.map_or("", |(_, name)| name)
    }

    /// The family of a name.
    pub fn named(name: &str) -> Option<Family> {
        let known = Family::ALL.iter().find(|(_, known)| *known == name);
        known.map(|(family, _)| *family)
    }
}

/// The engine that a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// Render, or the one that there is.
    Render,
    /// The blitter; on Gen4 the render ring has its commands.
    Blitter,
    /// Video.
    Video,
}

impl Engine {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Render => "render",
            Engine::Blitter => "blitter",
            Engine::Video => "video",
        }
    }
}

/// A buffer of a stream.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What is in it before. Its length is that of the buffer: whole pages.
    pub bytes: Vec<u8>,
    /// Whether it is looked at afterwards.
    pub is_result: bool,
}

/// What an address is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A byte of a buffer.
    Buffer(usize, u32),
    /// A dword of the batch itself.
    Batch(usize),
}

/// How an address stands in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 32 bits, to which flags are added that the dword has.
    Dword,
    /// The low 32 bits, and the high ones in the next dword.
    Qword,
    /// Bits 31:10 in bits 21:0, as DST_PITCH_OFFSET has it; a packet follows that names the object.
    PitchOffset,
}

/// A place in the commands that needs an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Which dword.
    pub dword: usize,
    /// Address of what.
    pub target: Target,
    /// Whether the engine writes there.
    pub write: bool,
    /// How it stands there.
    pub form: Form,
}

/// Commands with all that they need.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Name of the rule that it is about.
    pub rule: &'static str,
    /// Which one of the rule's.
    pub case: u32,
    /// Where it runs.
    pub engine: Engine,
    /// Its buffers.
    pub buffers: Vec<Buffer>,
    /// Its commands, with the end of a batch.
    pub dwords: Vec<u32>,
    /// Addresses in them.
    pub patches: Vec<Patch>,
    /// Whether its stores want buffers that the global table has at the same address, too (Sandy Bridge's MI
    /// commands and PIPE_CONTROL do).
    pub is_global: bool,
    /// Whether results may differ from run to run: they are written down and not compared.
    pub is_volatile: bool,
}

impl Stream {
    /// Returns the commands with addresses, as an engine reads them. The dwords of the batch begin at `batch`, and
    /// each buffer at an address of `buffers`.
    pub fn placed(&self, batch: u64, buffers: &[u64]) -> Vec<u32> {
        let mut dwords = self.dwords.clone();
        for patch in &self.patches {
            let address = match patch.target {
                Target::Buffer(index, offset) => buffers[index] + u64::from(offset),
                Target::Batch(dword) => batch + 4 * dword as u64,
            };
            let low = &mut dwords[patch.dword];
            match patch.form {
                Form::Dword => *low = low.wrapping_add(address as u32),
                Form::Qword => {
                    *low = low.wrapping_add(address as u32);
                    dwords[patch.dword + 1] = (address >> 32) as u32;
                }
                Form::PitchOffset => *low = low.wrapping_add((address >> 10) as u32),
            }
        }
        dwords
    }
}
