// SPDX-License-Identifier: GPL-2.0
//! The file: what a card is, and what its streams left. It is JSON, and has nothing of the owner in it: no name of
//! the machine or of a user, no serial number, no address of a network.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stream::Stream;

/// The version of this format.
pub const FORMAT: u32 = 1;
/// The version of the streams: a file of another one cannot be compared.
pub const STREAMS: u32 = 1;
/// Most bytes of a file.
pub const MOST: usize = 1 << 20;
/// Bytes of a stream's results that are written down whole.
const WHOLE: usize = 2048;
/// Equal bytes that end a run.
const GAP: usize = 8;

/// A file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// [`FORMAT`].
    pub format: u32,
    /// [`STREAMS`].
    pub streams: u32,
    /// The seed of all streams.
    pub seed: u64,
    /// The card.
    pub card: Card,
    /// What the uAPI says of it, by name.
    pub facts: BTreeMap<String, String>,
    /// What the streams left, in their order.
    pub results: Vec<Outcome>,
}

/// What the card is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// PCI vendor id, four hexadecimal digits.
    pub vendor: String,
    /// PCI device id, likewise.
    pub device: String,
    /// PCI revision, two digits.
    pub revision: String,
    /// Family, by [`Family::name`](crate::Family::name).
    pub family: String,
    /// The DRM driver.
    pub driver: String,
    /// The kernel's release.
    pub kernel: String,
    /// Fold of address bit 6 in X tiles, as the driver has it: `none`, `9`, `9-10`; others are not modelled.
    pub swizzle: String,
}

/// What a stream left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The rule.
    pub rule: String,
    /// Which case of it.
    pub case: u32,
    /// Nanoseconds from the call that submits it to the end of waiting, of each run.
    pub ns: Vec<u64>,
    /// What its buffers hold; or why there is nothing.
    pub left: Left,
    /// What the second run left, if that is not the same.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub again: Option<Left>,
}

/// What is in a stream's result buffers afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// The bytes.
    Bytes {
        /// CRC-32 of all result buffers, one after the other.
        crc: u32,
        /// The bytes that are not those of before: for each run its place, and its bytes in hexadecimal digits.
        /// Of many, the first.
        changed: String,
    },
    /// The driver refused it, with this error.
    Refused(String),
}

impl Left {
    /// Describes buffers against what was in them before.
    pub fn of(stream: &Stream, after: &[Vec<u8>]) -> Left {
        let before: Vec<u8> = results(stream).flat_map(|b| b.bytes.clone()).collect();
        let after: Vec<u8> = after.concat();
        Left::Bytes {
            crc: crc32fast::hash(&after),
            changed: changed(&before, &after),
        }
    }
}

/// The result buffers of a stream.
pub fn results(stream: &Stream) -> impl Iterator<Item = &crate::stream::Buffer> {
    stream.buffers.iter().filter(|b| b.is_result)
}

/// Runs of bytes that differ, each as `place:digits`; a few equal bytes do not end a run.
fn changed(before: &[u8], after: &[u8]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in 0..after.len() {
        if before.get(at) == after.get(at) {
            continue;
        }
        match runs.last_mut() {
            Some((_, end)) if at < *end + GAP => *end = at + 1,
            _ => runs.push((at, at + 1)),
        }
    }
    let mut left = WHOLE;
    let mut words = Vec::new();
    for (start, end) in runs {
        let end = end.min(start + left);
        left -= end - start;
        if start == end {
            break;
        }
        let digits: String = after[start..end]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        words.push(format!("{start:x}:{digits}"));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_changed() {
        let before = [0u8; 40];
        let mut after = before;
        assert_eq!(changed(&before, &after), "");
        after[3] = 0xab;
        after[6] = 1;
        after[32] = 0xff;
        assert_eq!(changed(&before, &after), "3:ab000001 20:ff");
    }

    #[test]
    fn much_is_cut() {
        let before = vec![0u8; 3 * WHOLE];
        let after = vec![1u8; 3 * WHOLE];
        assert_eq!(changed(&before, &after).len(), "0:".len() + 2 * WHOLE);
    }
}
