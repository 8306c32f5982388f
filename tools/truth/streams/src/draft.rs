// SPDX-License-Identifier: GPL-2.0
//! A stream in the making.

use ouro_scene::blt::encode::{encode, EncodeError, Packet};
use ouro_scene::blt::Command;
use ouro_scene::mi;
use ouro_scene::surface::{Address, BufferId};

use crate::random::Random;
use crate::stream::{Buffer, Engine, Family, Form, Patch, Stream, Target};

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// What makes a stream: it fails if a command has no encoding, which a test of all streams rules out.
pub type Made = Result<(), EncodeError>;

/// A stream in the making.
pub struct Draft {
    /// Its numbers.
    pub random: Random,
    /// For whom it is.
    pub family: Family,
    /// Where it runs.
    pub engine: Engine,
    /// Whether its buffers are global, too.
    pub is_global: bool,
    /// Whether results may differ from run to run.
    pub is_volatile: bool,
    buffers: Vec<Buffer>,
    dwords: Vec<u32>,
    patches: Vec<Patch>,
}

impl Draft {
    /// Begins one.
    pub fn new(random: Random, family: Family) -> Draft {
        Draft {
            random,
            family,
            engine: Engine::Blitter,
            is_global: false,
            is_volatile: false,
            buffers: Vec::new(),
            dwords: Vec::new(),
            patches: Vec::new(),
        }
    }

    /// A buffer of random bytes.
    pub fn buffer(&mut self, size: usize, is_result: bool) -> BufferId {
        let bytes = self.random.bytes(size.next_multiple_of(PAGE));
        self.buffer_of(bytes, is_result)
    }

    /// A buffer of these bytes.
    pub fn buffer_of(&mut self, mut bytes: Vec<u8>, is_result: bool) -> BufferId {
        bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
        self.buffers.push(Buffer { bytes, is_result });
        BufferId(self.buffers.len() - 1)
    }

    /// Dwords that were written so far.
    pub fn place(&self) -> usize {
        self.dwords.len()
    }

    /// Dwords without an address.
    pub fn raw(&mut self, dwords: &[u32]) {
        self.dwords.extend_from_slice(dwords);
    }

    /// An address at a dword that is written already.
    pub fn patch(&mut self, dword: usize, target: Target, write: bool, form: Form) {
        self.patches.push(Patch {
            dword,
            target,
            write,
            form,
        });
    }

    /// Negates the pitch in bits 15:0 of a dword.
    pub fn negate_pitch(&mut self, dword: usize, pitch: u32) {
        let control = &mut self.dwords[dword];
        *control = *control & 0xffff_0000 | pitch.wrapping_neg() & 0xffff;
    }

    /// A command with an address of a buffer at its dword `at`.
    pub fn with_address(&mut self, dwords: &[u32], at: usize, address: Address, write: bool) {
        let target = Target::Buffer(address.buffer.0, address.offset);
        let form = match self.family {
            Family::Gen12 => Form::Qword,
            _ => Form::Dword,
        };
        self.patch(self.place() + at, target, write, form);
        self.raw(dwords);
    }

    /// A command of the older blitters, or a store.
    pub fn packet(&mut self, packet: Packet) {
        let start = self.place();
        for r in &packet.relocations {
            let target = Target::Buffer(r.target.buffer.0, r.target.offset);
            self.patch(start + r.dword, target, r.write, Form::Dword);
        }
        self.raw(&packet.dwords);
    }

    /// A command of the older blitters.
    pub fn command(&mut self, command: impl Into<Command>) -> Made {
        let packet = encode(&command.into())?;
        self.packet(packet);
        Ok(())
    }

    /// The stream, whose batch ends on a qword.
    pub fn finish(mut self, rule: &'static str, case: u32) -> Stream {
        if self.family != Family::R5xx {
            self.dwords.push(mi::BATCH_BUFFER_END);
            if !self.dwords.len().is_multiple_of(2) {
                self.dwords.push(mi::NOOP);
            }
        }
        Stream {
            rule,
            case,
            engine: self.engine,
            buffers: self.buffers,
            dwords: self.dwords,
            patches: self.patches,
            is_global: self.is_global,
            is_volatile: self.is_volatile,
        }
    }
}
