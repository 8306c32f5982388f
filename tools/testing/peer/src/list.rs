// SPDX-License-Identifier: GPL-2.0
//! What `gpu-model --registers` has written: the registers that one driver has used.

use anyhow::{Context, Result};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// A register, and whether it was written directly (by the CPU, by a command) or with a context's image, which is
/// a thing of its own: what an engine has saved there, nobody has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegisterKey {
    /// In an image.
    pub image: bool,
    /// Byte offset.
    pub offset: u32,
}

impl fmt::Display for RegisterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let image = if self.image { "image:" } else { "" };
        write!(f, "{image}{:x}", self.offset)
    }
}

/// What one driver has done to a register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Written by the CPU, by a command.
    pub by: Vec<String>,
    /// Times that it was written; zero for one that was only read.
    pub writes: u64,
    /// The moment of the first read by the CPU.
    pub first_read: Option<u64>,
    /// The moment of the first write.
    pub first: Option<u64>,
    /// Bits that a write has set.
    pub ones: u32,
    /// What it held when the first program began to work.
    pub work: Option<u32>,
    /// Different values, the first few, with their moments.
    pub values: Vec<(u32, u64)>,
    /// For a bit, the first write that has set it.
    pub bits: BTreeMap<u32, u64>,
}

/// The registers that a driver has used.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// The model's name.
    pub gpu: String,
    /// Moments with a name.
    pub events: BTreeMap<String, u64>,
    /// The registers.
    pub uses: BTreeMap<RegisterKey, Use>,
}

#[derive(Deserialize)]
struct Head {
    gpu: String,
    events: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(deserialize_with = "hex")]
    register: u32,
    by: String,
    writes: u64,
    first_read: Option<u64>,
    first: Option<u64>,
    #[serde(deserialize_with = "hex")]
    ones: u32,
    work: Option<String>,
    values: Vec<(String, u64)>,
    bits: BTreeMap<String, u64>,
}

fn hex<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let text = String::deserialize(from)?;
    u32::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
}

fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

impl List {
    /// From the file's text.
    ///
    /// # Errors
    /// When a line is not what the model writes.
    pub fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let head: Head = serde_json::from_str(lines.next().context("it is empty")?)?;
        let mut list = List {
            gpu: head.gpu,
            events: head.events,
            uses: BTreeMap::new(),
        };
        for text in lines {
            let line: Line = serde_json::from_str(text).with_context(|| text.to_owned())?;
            list.add(line).with_context(|| text.to_owned())?;
        }
        Ok(list)
    }

    /// What the CPU and the commands have done is one use: a context's register may be written by either.
    fn add(&mut self, line: Line) -> Result<()> {
        let key = RegisterKey {
            image: line.by == "image",
            offset: line.register,
        };
        let work = line.work.map(|w| u32::from_str_radix(&w, 16)).transpose()?;
        let entry = self.uses.entry(key).or_default();
        // The later writer's value is the register's.
        let last = |u: Option<u64>| u.unwrap_or(0);
        if line.first.is_some() && last(line.first) >= last(entry.first) {
            entry.work = work.or(entry.work);
        }
        if line.writes > 0 {
            entry.by.push(line.by);
        }
        entry.writes += line.writes;
        entry.first = earlier(entry.first, line.first);
        entry.first_read = earlier(entry.first_read, line.first_read);
        entry.ones |= line.ones;
        for (value, moment) in line.values {
            let value = u32::from_str_radix(&value, 16)?;
            entry.values.push((value, moment));
        }
        entry.values.sort_by_key(|(_, moment)| *moment);
        for (bit, moment) in line.bits {
            let first = entry.bits.entry(bit.parse()?).or_insert(moment);
            *first = moment.min(*first);
        }
        Ok(())
    }

    /// A register that was written.
    pub fn written(&self, key: RegisterKey) -> Option<&Use> {
        self.uses.get(&key).filter(|u| u.writes > 0)
    }
}

impl Use {
    /// In words: who wrote what.
    pub fn words(&self) -> String {
        let values: Vec<String> = self.values.iter().map(|(v, _)| format!("{v:x}")).collect();
        let work = match self.work {
            Some(work) => format!(", {work:x} at work"),
            None => String::new(),
        };
        format!(
            "{} times by {}: {}{work}",
            self.writes,
            self.by.join(" and "),
            values.join(" ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"gpu":"snb","events":{"bus-master":4,"work":20}}
{"register":"002120","by":"command","reads":0,"writes":1,"first_read":null,"first":9,"ones":"00000100","zeros":"0","work":"00000100","values":[["01000100",9]],"bits":{"8":9}}
{"register":"002120","by":"cpu","reads":1,"writes":2,"first_read":2,"first":3,"ones":"00000002","zeros":"0","work":"00000002","values":[["00020002",3]],"bits":{"1":3}}
{"register":"002120","by":"image","reads":0,"writes":1,"first_read":null,"first":12,"ones":"00000001","zeros":"0","work":null,"values":[["1",12]],"bits":{"0":12}}
"#;

    #[test]
    fn the_cpu_and_commands_are_one_writer_and_images_another() {
        let list = List::parse(TEXT).unwrap();
        assert_eq!((list.gpu.as_str(), list.events["work"]), ("snb", 20));
        let key = |image| RegisterKey {
            image,
            offset: 0x2120,
        };
        let direct = list.written(key(false)).unwrap();
        assert_eq!(
            (direct.writes, direct.first, direct.first_read),
            (3, Some(3), Some(2))
        );
        assert_eq!((direct.ones, direct.work), (0x102, Some(0x100)));
        assert_eq!(direct.bits, BTreeMap::from([(1, 3), (8, 9)]));
        assert_eq!(
            direct.words(),
            "3 times by command and cpu: 20002 1000100, 100 at work"
        );
        assert_eq!(list.written(key(true)).unwrap().ones, 1);
        assert_eq!(key(true).to_string(), "image:2120");
    }

    #[test]
    fn what_the_model_does_not_write_is_refused() {
        assert!(List::parse("").is_err());
        let (head, _) = TEXT.split_once('\n').unwrap();
        assert!(List::parse(&format!("{head}\n{{}}\n")).is_err());
        let bad = TEXT.replace("\"ones\":\"00000100\"", "\"ones\":\"x\"");
        assert!(List::parse(&bad).is_err());
    }
}
