// SPDX-License-Identifier: GPL-2.0
//! Reading the text of an error state (`Documentation/gpu/ouro/error-state.rst`).

use crate::digits;
use std::fmt;

/// A copy of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The engine's name.
    pub engine: String,
    /// `user`, `batch`, `ring`, `HW context`, or what a later format has.
    pub kind: String,
    /// GPU address of the first byte.
    pub address: u64,
    /// The contents.
    pub dwords: Vec<u32>,
    /// The contents end at something that is no number.
    pub damaged: bool,
}

impl Piece {
    /// Whether batches reach it by its address. A ring and a context image have GGTT addresses.
    pub fn is_of_batches(&self) -> bool {
        self.kind != "ring" && self.kind != "HW context"
    }

    /// The index of the dword at an address, if it is in here.
    pub fn index(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(self.address)? / 4;
        let index = usize::try_from(offset).ok()?;
        (index < self.dwords.len()).then_some(index)
    }
}

/// An error state as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorState {
    /// The lines `NAME: VALUE` at its head.
    pub head: Vec<(String, String)>,
    /// The registers, line by line.
    pub registers: Vec<String>,
    /// The pieces of memory.
    pub pieces: Vec<Piece>,
    /// It ends as it should.
    pub complete: bool,
}

/// Why a text is no error state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAState {
    /// The driver has none.
    Empty,
    /// The first line is another one.
    Unknown,
    /// A later version of the format.
    Version(u64),
}

impl fmt::Display for NotAState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAState::Empty => f.write_str("there is no error state"),
            NotAState::Unknown => f.write_str("this is not an error state of ouro"),
            NotAState::Version(v) => write!(f, "this is version {v} of the format; 1 is known"),
        }
    }
}

impl std::error::Error for NotAState {}

/// Names of the head's lines.
const HEAD: &[&str] = &[
    "device",
    "generation",
    "time",
    "resets",
    "reason",
    "engine",
    "process",
    "context",
    "guilty",
    "request",
    "batch",
    "directory",
    "left out",
];

/// A number as the format has it: decimal, or hexadecimal after `0x`.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `rcs0 --- batch = 0x00000000 00010000`
fn piece(line: &str) -> Option<Piece> {
    let (engine, rest) = line.split_once(" --- ")?;
    let (kind, address) = rest.split_once(" = 0x")?;
    let (above, below) = address.split_once(' ')?;
    let above = u32::from_str_radix(above, 16).ok()?;
    let below = u32::from_str_radix(below, 16).ok()?;
    Some(Piece {
        engine: engine.to_owned(),
        kind: kind.to_owned(),
        address: u64::from(above) << 32 | u64::from(below),
        dwords: Vec::new(),
        damaged: false,
    })
}

impl ErrorState {
    /// Reads a text. Lines that are not known are passed over.
    ///
    /// # Errors
    /// When the first line is not that of an error state.
    pub fn read(text: &[u8]) -> Result<ErrorState, NotAState> {
        let mut lines = text.split(|b| *b == b'\n');
        let first = String::from_utf8_lossy(lines.next().unwrap_or_default());
        if first.starts_with("No error state collected") {
            return Err(NotAState::Empty);
        }
        let version = first.trim_end().strip_prefix("ouro error state ");
        match version.and_then(number).ok_or(NotAState::Unknown)? {
            1 => {}
            other => return Err(NotAState::Version(other)),
        }
        let mut state = ErrorState::default();
        for line in lines {
            if let Some(contents) = line.strip_prefix(b"~") {
                if let Some(last) = state.pieces.last_mut().filter(|p| p.dwords.is_empty()) {
                    (last.dwords, last.damaged) = digits::dwords(contents);
                }
                continue;
            }
            let line = String::from_utf8_lossy(line);
            state.line(line.trim_end());
        }
        Ok(state)
    }

    fn line(&mut self, line: &str) {
        if line.starts_with("--- end ") {
            self.complete = true;
        } else if let Some(piece) = piece(line) {
            self.pieces.push(piece);
        } else if self.pieces.is_empty() {
            let named = line
                .split_once(": ")
                .filter(|(name, _)| HEAD.contains(name));
            match named {
                // A second `device` is a line of the registers.
                Some((name, value)) if self.registers.is_empty() && self.value(name).is_none() => {
                    self.head.push((name.to_owned(), value.to_owned()));
                }
                _ if line.is_empty() => {}
                _ => self.registers.push(line.to_owned()),
            }
        }
    }

    /// The value of a line of the head.
    pub fn value(&self, name: &str) -> Option<&str> {
        let line = self.head.iter().find(|l| l.0 == name)?;
        Some(&line.1)
    }

    /// A number in the first line of an engine's registers, by the word before it.
    pub fn engine_number(&self, engine: &str, word: &str) -> Option<u64> {
        let of = |line: &&String| line.split_once(':').is_some_and(|(name, _)| name == engine);
        let line = self.registers.iter().find(of)?;
        let (_, parts) = line.split_once(':')?;
        parts.split(',').find_map(|part| {
            let value = part.trim().strip_prefix(word)?.strip_prefix(' ')?;
            number(value)
        })
    }
}
