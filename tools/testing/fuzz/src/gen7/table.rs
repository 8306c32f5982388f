// SPDX-License-Identifier: GPL-2.0
//! The oracle's tables: text, and what it says of a batch.

/// An engine, by its letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Engine {
    Render,
    Video,
    Blitter,
}

impl Engine {
    pub(super) const ALL: [Self; 3] = [Self::Render, Self::Video, Self::Blitter];

    fn letter(self) -> char {
        match self {
            Self::Render => 'r',
            Self::Video => 'v',
            Self::Blitter => 'b',
        }
    }
}

/// Bit `bit` of dword `at` is clear, if that of `when` is set.
#[derive(Clone, Debug)]
struct Demand {
    at: usize,
    bit: u32,
    when: Option<(usize, u32)>,
}

/// A line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    engines: String,
    bits: u32,
    prefix: u32,
    fixed: Option<usize>,
    mask: u32,
    refused: bool,
    /// Dwords between those that name registers.
    step: Option<usize>,
    demands: Vec<Demand>,
}

/// Place of a bit: `dword.bit`.
fn place(text: &str) -> (usize, u32) {
    let (dword, bit) = text.split_once('.').expect("dword.bit");
    (dword.parse().expect("a dword"), bit.parse().expect("a bit"))
}

impl Line {
    fn new(text: &str) -> Self {
        let mut words = text.split_whitespace();
        let mut word = || words.next().expect("a column");
        let (engines, header, length) = (word().to_owned(), word(), word());
        let mut line = Self {
            engines,
            bits: header.len() as u32,
            prefix: u32::from_str_radix(header, 2).expect("binary"),
            fixed: length.parse().ok(),
            mask: 0,
            refused: false,
            step: None,
            demands: Vec::new(),
        };
        if let Some(mask) = length.strip_prefix('+') {
            line.fixed = None;
            line.mask = u32::from_str_radix(mask, 16).expect("a mask");
        }
        for what in words {
            match what {
                "ok" => {}
                "no" => line.refused = true,
                "regs" => line.step = Some(2),
                "reg" => line.step = Some(usize::MAX / 2),
                _ => {
                    let (bit, when) = match what.split_once('?') {
                        Some((bit, when)) => (bit, Some(place(when))),
                        None => (what, None),
                    };
                    let (at, bit) = place(bit);
                    line.demands.push(Demand { at, bit, when });
                }
            }
        }
        line
    }

    /// Dwords of a command.
    pub(super) fn dwords(&self, header: u32) -> usize {
        self.fixed.unwrap_or((header & self.mask) as usize + 2)
    }

    /// Whether all that is asked of a command is so. What it has no dword for is not.
    pub(super) fn is_good(&self, command: &[u32], registers: &Registers, engine: Engine) -> bool {
        let set = |(at, bit): (usize, u32)| command.get(at).map(|d| d >> bit & 1 != 0);
        let named = self.step.is_none_or(|step| {
            let names = command.iter().skip(1).step_by(step);
            names
                .into_iter()
                .all(|d| registers.have(engine, *d & 0x007f_fffc))
        });
        let demands = self.demands.iter().all(|d| {
            d.when.is_some_and(|when| set(when) != Some(true)) || set((d.at, d.bit)) == Some(false)
        });
        !self.refused && named && demands
    }
}

/// A table: for each engine and each value of bits 31:16, its line.
pub(super) struct Table {
    lines: Vec<Line>,
    keys: [Vec<Option<u16>>; 3],
}

/// Lines that say something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let all = text.lines().map(str::trim);
    all.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Table {
    pub(super) fn new(text: &str) -> Self {
        let mut lines: Vec<Line> = lines(text).map(Line::new).collect();
        // Longer ones after shorter ones.
        lines.sort_by_key(|line| line.bits);
        let keys = Engine::ALL.map(|engine| {
            let mut keys = vec![None; 1 << 16];
            for (n, line) in lines.iter().enumerate() {
                if line.engines.contains(engine.letter()) {
                    let free = 16 - line.bits;
                    let first = (line.prefix << free) as usize;
                    keys[first..first + (1 << free)].fill(Some(n as u16));
                }
            }
            keys
        });
        Self { lines, keys }
    }

    /// What it says of a header.
    pub(super) fn line(&self, engine: Engine, header: u32) -> Option<&Line> {
        let key = self.keys[engine as usize][(header >> 16) as usize]?;
        Some(&self.lines[usize::from(key)])
    }

    /// The first bits of all headers that it has a line for, on an engine.
    pub(super) fn headers(&self, engine: Engine) -> Vec<u32> {
        let lines = self.lines.iter();
        let own = lines.filter(|line| line.engines.contains(engine.letter()));
        own.map(|line| line.prefix << (32 - line.bits)).collect()
    }
}

/// Registers that may be named.
pub(super) struct Registers(Vec<(String, u32, u32)>);

impl Registers {
    pub(super) fn new(text: &str) -> Self {
        let number = |text: &str| u32::from_str_radix(text, 16).expect("an offset");
        let rows = lines(text).map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            (words[0].to_owned(), number(words[1]), number(words[2]))
        });
        Self(rows.collect())
    }

    /// Whether an engine may have a register at an offset.
    pub(super) fn have(&self, engine: Engine, offset: u32) -> bool {
        self.0.iter().any(|(engines, first, last)| {
            engines.contains(engine.letter()) && (*first..=*last).contains(&offset)
        })
    }

    /// Rows of an engine: the first and the last byte.
    pub(super) fn of(&self, engine: Engine) -> Vec<(u32, u32)> {
        let own = self.0.iter().filter(|row| row.0.contains(engine.letter()));
        own.map(|row| (row.1, row.2)).collect()
    }

    /// The first one of each row.
    pub(super) fn firsts(&self) -> Vec<u32> {
        self.0.iter().map(|(_, first, _)| *first).collect()
    }
}
