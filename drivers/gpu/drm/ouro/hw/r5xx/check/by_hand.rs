// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Streams for tests, made by hand from packets as §5.1 has them.

use super::*;
use crate::types::GpuAddr;
use std::{vec, vec::Vec};

/// Objects, by number.
pub(super) struct Objects {
    pub(super) list: Vec<Object>,
    pub(super) stream_knows: bool,
}

impl Resolve for Objects {
    fn object(&self, n: u32) -> Option<Object> {
        self.list.get(n as usize).copied()
    }
    fn stream_knows_tiling(&self) -> bool {
        self.stream_knows
    }
}

/// Returns the address of object `n`.
pub(super) fn address(n: usize) -> u32 {
    0x0100_0000 * (n as u32 + 1)
}

/// Returns objects of these sizes.
pub(super) fn objects(bytes: &[u64]) -> Objects {
    let list = bytes.iter().enumerate().map(|(n, bytes)| Object {
        addr: GpuAddr(address(n).into()),
        bytes: *bytes,
        tiling: None,
    });
    Objects {
        list: list.collect(),
        stream_knows: true,
    }
}

/// A stream.
#[derive(Clone, Default)]
pub(super) struct Stream(pub(super) Vec<u32>);

impl Stream {
    /// Writes consecutive registers (§5.1.1).
    pub(super) fn set(mut self, register: u32, values: &[u32]) -> Self {
        let count = values.len() as u32 - 1;
        self.0.push(count << 16 | (register / 4));
        self.0.extend(values);
        self
    }

    /// Adds a command (§5.1.4).
    pub(super) fn command(mut self, opcode: u32, body: &[u32]) -> Self {
        let count = body.len() as u32 - 1;
        self.0.push(3 << 30 | count << 16 | opcode << 8);
        self.0.extend(body);
        self
    }

    /// Adds a relocation: object `n`, in dwords of a list of records of four.
    pub(super) fn object(mut self, n: u32) -> Self {
        self.0.extend([0xc000_1000, n * 4]);
        self
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(super) fn check(&self, objects: &Objects) -> Result<Vec<u32>, usize> {
        self.check_by(&STREAMS, objects)
    }

    pub(super) fn check_by(&self, checker: &Streams, objects: &Objects) -> Result<Vec<u32>, usize> {
        let mut list = vec![Patch::default(); Patch::most(self.0.len())];
        match checker.check(&self.0, objects, &mut list) {
            Verdict::Passes { dwords, patches } => {
                assert_eq!(dwords, self.0.len());
                Ok(patched(&self.0, &list[..patches]))
            }
            Verdict::Reject { at, .. } => Err(at),
            verdict => panic!("nothing is confined: {verdict:?}"),
        }
    }

    /// Returns the rule that refuses the stream, with objects of these sizes.
    pub(super) fn refusal(&self, bytes: &[u64]) -> Option<&'static str> {
        self.refusal_by(&STREAMS, bytes)
    }

    pub(super) fn refusal_by(&self, checker: &Streams, bytes: &[u64]) -> Option<&'static str> {
        let mut list = vec![Patch::default(); Patch::most(self.0.len())];
        match checker.check(&self.0, &objects(bytes), &mut list) {
            Verdict::Reject { rule, .. } => Some(rule),
            _ => None,
        }
    }

    pub(super) fn passes(&self, bytes: &[u64]) -> bool {
        self.check(&objects(bytes)).is_ok()
    }
}

/// Returns the copy that runs.
pub(super) fn patched(stream: &[u32], patches: &[Patch]) -> Vec<u32> {
    let mut copy = stream.to_vec();
    let mut places: Vec<u32> = patches.iter().map(|patch| patch.at).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|w| w[0] < w[1]), "two of one dword");
    for patch in patches {
        copy[patch.at as usize] = patch.value;
    }
    copy
}

pub(super) fn new() -> Stream {
    Stream::default()
}

/// 64 by 64 pixels of four bytes in object 0, which takes 16384.
pub(super) fn target() -> Stream {
    new()
        .set(0x43e4, &[63 << 13 | 63])
        .set(0x4e0c, &[0xf])
        .set(0x4e28, &[0])
        .object(0)
        .set(0x4e38, &[6 << 21 | 64])
}

/// Bytes of [`target`].
pub(super) const TARGET: u64 = 16384;

/// Flushes of colour and depth, and a wait for the 3D engine (digest §2.9).
pub(super) fn idle() -> Stream {
    let flushes = new().set(0x4e4c, &[0xa]).set(0x4f18, &[3]);
    flushes.set(0x1720, &[1 << 17])
}

/// An array in object 1: 4 dwords, each 4 dwords after the last one.
pub(super) fn array() -> Stream {
    new().command(0x2f, &[1, 0x404, 0]).object(1)
}

/// A list of `n` vertices as triangles: walk 2, primitive 4.
pub(super) fn list(n: u32) -> Stream {
    new().command(0x34, &[n << 16 | 2 << 4 | 4])
}

/// `n` vertices by 16-bit indices, without them.
pub(super) fn indexed(n: u32) -> Stream {
    new().command(0x36, &[n << 16 | 1 << 4 | 4])
}
