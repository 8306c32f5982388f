// SPDX-License-Identifier: GPL-2.0
//! What people post when a GPU has hung: error states of i915, core dumps of i915 and xe, the lines of radeon and of
//! these in the kernel's log.
//!
//! The texts have no version. Their fields, and the order of these, have changed with nearly every kernel since 2.6.34,
//! and what is posted went through mail, bug trackers and editors. So a reader takes what it knows wherever it
//! stands, passes over the rest, and tells what of the memory was damaged. [`i915`], [`xe`] and [`log`] read one kind
//! each into a [`Post`]; [`verdict`] says what is wrong, [`mod@print`] all of it.

pub mod chips;
pub mod i915;
pub mod log;
mod memory;
pub mod print;
mod registers;
pub mod streams;
pub mod verdict;
pub mod xe;

use crate::command::Engine;
use chips::Chip;
use std::borrow::Cow;
use std::fmt;
use std::io::Read;

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// i915's error state.
    I915,
    /// xe's core dump.
    Xe,
    /// The kernel's log.
    Log,
}

/// What a piece of memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A batch.
    Batch,
    /// A ring.
    Ring,
    /// Other memory of the program: a batch may lead into it.
    User,
    /// A status page, an image of a context, a log.
    Other,
}

/// A copy of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The engine that it belongs to, as the text has it.
    pub engine: String,
    /// What it is.
    pub role: Role,
    /// The same in the text's words.
    pub name: String,
    /// Who submitted it, if that is told.
    pub owner: Option<String>,
    /// GPU address of the first byte.
    pub address: u64,
    /// The contents.
    pub dwords: Vec<u32>,
    /// Why they are not all there.
    pub damage: Option<String>,
}

impl Buffer {
    /// The index of the dword at an address, if it is in here. Of an address, 48 bits count: user space may have
    /// extended their sign.
    pub fn index(&self, address: u64) -> Option<usize> {
        const USED: u64 = (1 << 48) - 1;
        let offset = (address & USED).checked_sub(self.address & USED)?;
        let index = usize::try_from(offset / 4).ok()?;
        (index < self.dwords.len()).then_some(index)
    }
}

/// A request that was not known to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its number.
    pub seqno: u64,
    /// The context that it is of, by the driver's number.
    pub context: Option<u64>,
    /// Where it begins and ends in the ring.
    pub head: Option<u64>,
    /// Where it ends in the ring.
    pub tail: Option<u64>,
    /// The process that submitted it.
    pub pid: Option<u64>,
    /// It is one that the engine had in hand.
    pub running: bool,
    /// It was done in the meantime.
    pub done: bool,
}

/// What is told of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Its name in the text.
    pub name: String,
    /// Its registers and other values, in the text's order.
    pub registers: Vec<(String, String)>,
    /// Requests in the order of the ring.
    pub requests: Vec<Request>,
    /// Who waits: number and process.
    pub waiters: Vec<(u64, String)>,
    /// Process and context that it worked for.
    pub context: Option<String>,
}

/// A text as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Who wrote it.
    pub kind: Kind,
    /// The chip, if it is told.
    pub chip: Option<Chip>,
    /// Names and values that are of no engine, in the text's order.
    pub head: Vec<(String, String)>,
    /// The engines.
    pub engines: Vec<State>,
    /// Copies of memory.
    pub buffers: Vec<Buffer>,
    /// Objects that the GPU had, by address: size in bytes and the rest of the line.
    pub objects: Vec<(u64, u64, String)>,
    /// Findings of the reader: lines of the log in words.
    pub events: Vec<String>,
    /// Batches where the job began.
    pub batches: Vec<u64>,
}

/// Why a text is none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAPost {
    /// The driver has no error state.
    Empty,
    /// Nothing in it looks like one.
    Unknown,
    /// A compressed file that cannot be read.
    Compressed(String),
    /// A file compressed by another program.
    Packed(&'static str),
}

impl fmt::Display for NotAPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAPost::Empty => f.write_str("there is no error state"),
            NotAPost::Unknown => f.write_str(
                "this is not an error state of ouro or i915, a core dump of xe, or a log with a hang of i915, xe or radeon",
            ),
            NotAPost::Packed(program) => {
                write!(f, "this is compressed by {program}: unpack it first")
            }
            NotAPost::Compressed(why) => write!(f, "compressed, but damaged: {why}"),
        }
    }
}

impl std::error::Error for NotAPost {}

/// The kind of an engine by its name: i915 has had three sets of names.
pub fn engine(name: &str) -> Option<Engine> {
    let lower = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    Some(match () {
        () if has(&["vecs", "vebox", "enhancement"]) => Engine::Enhance,
        () if has(&["rcs", "render"]) => Engine::Render,
        () if has(&["ccs", "compute"]) => Engine::Compute,
        () if has(&["bcs", "blt", "blitter", "copy"]) => Engine::Blitter,
        () if has(&["vcs", "bsd", "video"]) => Engine::Video,
        () => return None,
    })
}

/// Which of several engines of a kind: i915 counted its second video engine from 1 (`bsd2`) before it was `vcs1`.
fn instance(name: &str) -> u8 {
    let name = name.trim_end_matches(" ring");
    let digit = name
        .bytes()
        .last()
        .filter(u8::is_ascii_digit)
        .map_or(0, |d| d - b'0');
    match name.to_ascii_lowercase().starts_with("bsd") {
        true => digit.saturating_sub(1),
        false => digit,
    }
}

/// Two names of one engine: `render ring` and `render`, `blt` and `blitter ring`, `rcs0` and `render`.
pub fn same_engine(a: &str, b: &str) -> bool {
    match (engine(a), engine(b)) {
        (Some(x), Some(y)) => x == y && instance(a) == instance(b),
        _ => a == b,
    }
}

impl State {
    /// The text of a register, by the first of some names that is there.
    pub fn text(&self, names: &[&str]) -> Option<&str> {
        let find = |name: &&str| {
            self.registers
                .iter()
                .find(|r| r.0.eq_ignore_ascii_case(name))
        };
        names.iter().find_map(find).map(|r| r.1.as_str())
    }

    /// Its number.
    pub fn number(&self, names: &[&str]) -> Option<u64> {
        memory::value(self.text(names)?)
    }

    /// The number of the register whose name ends so: the microcontroller's begin with a generation.
    pub fn ending(&self, name: &str) -> Option<u64> {
        let found = self.registers.iter().find(|r| r.0.ends_with(name));
        memory::value(&found?.1)
    }

    /// Offset of the head in the ring, in bytes.
    pub fn head(&self) -> Option<u64> {
        Some(self.number(&["HEAD", "RING_HEAD", "LRC Head"])? & 0x1f_fffc)
    }

    /// Offset of the tail.
    pub fn tail(&self) -> Option<u64> {
        Some(self.number(&["TAIL", "RING_TAIL", "LRC Tail"])? & 0x1f_fffc)
    }

    /// Where the ring is, if a register says so.
    pub fn start(&self) -> Option<u64> {
        let start = self.number(&["START", "RING_START", "HW Ring address", "Ring start"])?;
        Some(start & !0xfff).filter(|s| *s != 0)
    }

    /// Where the engine reads commands.
    pub fn acthd(&self) -> Option<u64> {
        let parts = || {
            let above = self.number(&["ACTHD_UDW"])?;
            Some(above << 32 | self.number(&["ACTHD_LDW"])?)
        };
        self.number(&["ACTHD", "RING_ACTHD"]).or_else(parts)
    }

    /// The header of the command that it took last.
    pub fn ipehr(&self) -> Option<u32> {
        u32::try_from(self.number(&["IPEHR", "RING_IPEHR"])?).ok()
    }
}

impl Post {
    fn new(kind: Kind) -> Self {
        Post {
            kind,
            chip: None,
            head: Vec::new(),
            engines: Vec::new(),
            buffers: Vec::new(),
            objects: Vec::new(),
            events: Vec::new(),
            batches: Vec::new(),
        }
    }

    /// A value of no engine.
    pub fn value(&self, name: &str) -> Option<&str> {
        let line = self.head.iter().find(|l| l.0.eq_ignore_ascii_case(name))?;
        Some(&line.1)
    }

    /// Its number.
    pub fn number(&self, name: &str) -> Option<u64> {
        memory::value(self.value(name)?)
    }

    /// A request's number as its text has it: xe counts with a sign.
    fn seqno(&self, number: u64) -> String {
        match self.kind {
            Kind::Xe => (number as u32 as i32).to_string(),
            _ => format!("{number:#x}"),
        }
    }

    /// The engine with a name, made if need be.
    fn engine(&mut self, name: &str) -> &mut State {
        let found = self.engines.iter().position(|e| same_engine(&e.name, name));
        let n = found.unwrap_or_else(|| {
            if self.engines.len() < ENGINES {
                self.engines.push(State {
                    name: name.to_owned(),
                    ..State::default()
                });
            }
            self.engines.len() - 1
        });
        &mut self.engines[n]
    }

    /// Bytes that may still be taken.
    fn room(&self) -> u64 {
        let taken: usize = self.buffers.iter().map(|b| b.dwords.len() * 4).sum();
        MOST.saturating_sub(taken as u64)
    }

    /// Reads a text, compressed by gzip or not.
    ///
    /// # Errors
    /// When nothing in it is known.
    pub fn read(bytes: &[u8]) -> Result<Post, NotAPost> {
        let bytes = unpacked(bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let kind = kind(&text)?;
        Ok(match kind {
            Kind::I915 => i915::read(&text),
            Kind::Xe => xe::read(&text),
            Kind::Log => log::read(&text),
        })
    }
}

/// More memory than any error state has.
const MOST: u64 = 1 << 30;
/// More engines than any chip has.
const ENGINES: usize = 64;
/// More copies, objects and requests than any text has.
const ITEMS: usize = 1 << 14;

/// The bytes of a file that may be compressed by gzip.
///
/// # Errors
/// When it is, and damaged from its start on. What comes before later damage is taken.
pub fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, NotAPost> {
    let others: [(&[u8], &str); 4] = [
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip"),
    ];
    if let Some((_, program)) = others.iter().find(|o| bytes.starts_with(o.0)) {
        return Err(NotAPost::Packed(program));
    }
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = Vec::new();
    let mut reader = flate2::read::MultiGzDecoder::new(bytes).take(MOST);
    match reader.read_to_end(&mut out) {
        Err(e) if out.is_empty() => Err(NotAPost::Compressed(e.to_string())),
        _ => Ok(Cow::Owned(out)),
    }
}

fn kind(text: &str) -> Result<Kind, NotAPost> {
    let has = |word: &str| text.contains(word);
    let any = |words: &[&str]| words.iter().any(|w| has(w));
    if any(&[
        "**** Xe Device Coredump",
        "**** GuC CT ****",
        "**** HW Engines ****",
    ]) {
        return Ok(Kind::Xe);
    }
    let i915 = [
        "command stream:",
        "--- gtt_offset = ",
        "--- ringbuffer = ",
        "--- batch = ",
        "PGTBL_ER:",
        "IPEHR: ",
    ];
    if any(&i915) {
        return Ok(Kind::I915);
    }
    let log = [
        "GPU lockup",
        "stalled for more than",
        "RBBM_STATUS",
        "GPU HANG",
        "GPU hung",
        "stuck on ",
        "Hangcheck timer elapsed",
        "GPU reset",
        "Xe device coredump",
        "Engine reset",
    ];
    if any(&log) {
        return Ok(Kind::Log);
    }
    if text
        .to_ascii_lowercase()
        .contains("no error state collected")
    {
        return Err(NotAPost::Empty);
    }
    Err(NotAPost::Unknown)
}

/// A line without what mail, trackers and logs put before and behind it.
fn bare(line: &str) -> &str {
    let line = line.trim_start_matches(['\u{feff}', '\0']).trim_end();
    line.strip_prefix("> ").unwrap_or(line)
}

/// A name and its value; `None` for what is no name: packed memory has colons, too.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-()[]#.,/?>".contains(c);
    let good = !name.is_empty() && name.len() <= 48 && name.chars().all(plain);
    good.then(|| (name, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User space may extend the sign of an address of 48 bits.
    #[test]
    fn addresses_have_48_bits() {
        let buffer = Buffer {
            engine: String::new(),
            role: Role::Batch,
            name: String::new(),
            owner: None,
            address: 0xffff_fffe_f000,
            dwords: vec![0; 4],
            damage: None,
        };
        assert_eq!(buffer.index(0xffff_ffff_fffe_f004), Some(1));
        assert_eq!(buffer.index(0xffff_fffe_f00c), Some(3));
        assert_eq!(buffer.index(0xffff_fffe_f010), None);
        assert_eq!(buffer.index(0xffff_fffe_effc), None);
    }

    #[test]
    fn engines_have_several_names() {
        for (a, b, same) in [
            ("render", "render ring", true),
            ("render", "rcs0", true),
            ("Render", "rcs0", true),
            ("blt", "bcs0", true),
            ("Blitter", "blitter ring", true),
            ("bsd", "vcs0", true),
            ("Video (BSD)", "bsd ring", true),
            ("bsd2", "vcs1", true),
            ("bsd2 ring", "vcs1", true),
            ("vebox", "vecs0", true),
            ("vcs0", "vcs1", false),
            ("render", "blt", false),
            ("rcs0", "ccs0", false),
            ("global", "global", true),
            ("global", "rcs0", false),
        ] {
            assert_eq!(same_engine(a, b), same, "{a} {b}");
        }
    }

    #[test]
    fn names_and_values() {
        assert_eq!(pair("  HEAD:  0x10 "), Some(("HEAD", "0x10")));
        assert_eq!(pair("IOMMU enabled?: 1"), Some(("IOMMU enabled?", "1")));
        assert_eq!(pair("ring->head: 0x1"), Some(("ring->head", "0x1")));
        for none in [":zzz", "s8W-!:zz", "a b c", "<>: 1"] {
            assert_eq!(pair(none), None, "{none}");
        }
    }

    #[test]
    fn what_a_text_is() {
        assert_eq!(Post::read(b"hello"), Err(NotAPost::Unknown));
        assert_eq!(
            Post::read(b"no error state collected\n"),
            Err(NotAPost::Empty)
        );
        assert!(matches!(
            Post::read(&[0x1f, 0x8b, 8]),
            Err(NotAPost::Compressed(_))
        ));
        assert_eq!(Post::read(b"BZh91AY"), Err(NotAPost::Packed("bzip2")));
        assert_eq!(Post::read(b"\xfd7zXZ\0\0"), Err(NotAPost::Packed("xz")));
        let kind = |text: &str| Post::read(text.as_bytes()).map(|p| p.kind);
        assert_eq!(kind("PGTBL_ER: 0x00000000\n"), Ok(Kind::I915));
        assert_eq!(kind("**** Xe Device Coredump ****\n"), Ok(Kind::Xe));
        assert_eq!(
            kind("radeon 0000:01:00.0: ring 0 stalled for more than 1msec"),
            Ok(Kind::Log)
        );
    }
}
