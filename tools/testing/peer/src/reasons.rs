// SPDX-License-Identifier: GPL-2.0
//! The file of reasons. A line is `WHERE KIND REASON...`; `#` begins a comment, and a line that begins with a blank
//! goes on with the reason of the one before. `engines BASE...` names the bases that `engine+OFFSET` stands for.
//!
//! WHERE is a register or a range (`2030`, `2510-251c`, both ends included), for each engine (`engine+9c`), of
//! context images (`image:engine+244`).

use crate::list::RegisterKey;
use anyhow::{bail, ensure, Context, Result};
use std::fmt;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The upstream driver alone writes it.
    PeerOnly,
    /// ouro alone does.
    OursOnly,
    /// Both do; the bits that may differ.
    Value(u32),
    /// Both do, a value that says nothing to the other: an address, a count, a moment.
    Address,
    /// Both do; bits that depend on the moment, and may therefore differ or not.
    Timing(u32),
    /// The upstream driver reads it before it writes it for the first time, ouro does not.
    Unread,
}

impl Kind {
    fn parse(text: &str) -> Result<Self> {
        Ok(match text.split_once('=') {
            None => match text {
                "peer-only" => Kind::PeerOnly,
                "ours-only" => Kind::OursOnly,
                "address" => Kind::Address,
                "unread" => Kind::Unread,
                _ => bail!("no such kind: {text}"),
            },
            Some(("value", mask)) => Kind::Value(number(mask)?),
            Some(("timing", mask)) => Kind::Timing(number(mask)?),
            Some(_) => bail!("no such kind: {text}"),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::PeerOnly => f.write_str("peer-only"),
            Kind::OursOnly => f.write_str("ours-only"),
            Kind::Value(mask) => write!(f, "value={mask:x}"),
            Kind::Timing(mask) => write!(f, "timing={mask:x}"),
            Kind::Address => f.write_str("address"),
            Kind::Unread => f.write_str("unread"),
        }
    }
}

/// A reason for a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// As it stands in the file.
    pub text: String,
    /// The line.
    pub line: usize,
    /// What differs.
    pub kind: Kind,
    image: bool,
    /// First and last offset of each range.
    ranges: Vec<(u32, u32)>,
}

impl Reason {
    /// Whether a register is among those that it is about.
    pub fn covers(&self, key: RegisterKey) -> bool {
        let inside = |(first, last): &(u32, u32)| (*first..=*last).contains(&key.offset);
        self.image == key.image && self.ranges.iter().any(inside)
    }
}

fn number(text: &str) -> Result<u32> {
    u32::from_str_radix(text, 16).with_context(|| format!("not a hexadecimal number: {text}"))
}

/// WHERE: whether it is about images, and its ranges.
fn places(text: &str, engines: &[u32]) -> Result<(bool, Vec<(u32, u32)>)> {
    let (image, text) = match text.strip_prefix("image:") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (bases, text) = match text.strip_prefix("engine+") {
        Some(rest) => (engines, rest),
        None => (&[0][..], text),
    };
    ensure!(!bases.is_empty(), "no line has named the engines");
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    ensure!(first <= last, "a range that ends before it begins: {text}");
    let from = |base: &u32| (base.saturating_add(first), base.saturating_add(last));
    Ok((image, bases.iter().map(from).collect()))
}

/// All reasons of a file.
///
/// # Errors
/// When a line is none, or has no reason.
pub fn parse(text: &str) -> Result<Vec<Reason>> {
    let mut engines = Vec::new();
    let mut all: Vec<Reason> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let place = || format!("line {}: {line}", i + 1);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(' ') {
            let before = all.last_mut().with_context(place)?;
            before.text += " ";
            before.text += line.trim();
            continue;
        }
        let mut words = line.splitn(3, ' ').map(str::trim);
        let (place_text, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        if place_text == "engines" {
            let bases = line.split_whitespace().skip(1).map(number);
            engines = bases.collect::<Result<_>>().with_context(place)?;
            continue;
        }
        let (image, ranges) = places(place_text, &engines).with_context(place)?;
        let kind = Kind::parse(second).with_context(place)?;
        let reason = words.next().unwrap_or("");
        ensure!(reason.contains(' '), "no reason: {}", place());
        all.push(Reason {
            text: line.to_owned(),
            line: i + 1,
            kind,
            image,
            ranges,
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(offset: u32) -> RegisterKey {
        RegisterKey {
            image: false,
            offset,
        }
    }

    #[test]
    fn a_reason_is_about_a_register_a_range_or_each_engine() {
        let all = parse(
            "# SPDX\n\nengines 2000 12000\n2510-251c ours-only they are the queue\n\
             engine+9c value=40 not used\n  by anybody\nimage:engine+244 address it is a place\n",
        )
        .unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].kind, all[0].line), (Kind::OursOnly, 4));
        assert!(all[0].covers(direct(0x2510)) && all[0].covers(direct(0x251c)));
        assert!(!all[0].covers(direct(0x250c)) && !all[0].covers(direct(0x2520)));
        assert_eq!(all[1].kind, Kind::Value(0x40));
        assert!(all[1].covers(direct(0x209c)) && all[1].covers(direct(0x1209c)));
        assert!(!all[1].covers(direct(0x2209c)) && !all[1].covers(direct(0x9c)));
        assert_eq!(all[1].text, "engine+9c value=40 not used by anybody");
        assert!(!all[2].covers(direct(0x2244)));
        assert!(all[2].covers(RegisterKey {
            image: true,
            offset: 0x2244
        }));
    }

    #[test]
    fn a_line_that_is_no_reason_is_refused() {
        for bad in [
            "9400 peer-only",
            "9400 peer-only why",
            "9400 other-way for no reason",
            "9400 value for no reason",
            "9400 value=xyz for no reason",
            "94zz peer-only for no reason",
            "9404-9400 peer-only for no reason",
            "engine+9c peer-only for no reason",
            "  goes on with nothing",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
