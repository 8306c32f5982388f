// SPDX-License-Identifier: GPL-2.0
//! Streams by the radeon interface: objects in the system's memory, and a list of those that the packets name.

use anyhow::Result;
use ouro_card::radeon::{submit, Bo, Domain, Record};
use ouro_card::Node;
use ouro_streams::{Stream, Target};

use super::{facts, Card};

/// A card with one ring.
pub struct Processor<'a> {
    node: &'a Node,
    /// Resets of the GPU that others have seen.
    before: Option<u64>,
}

impl<'a> Processor<'a> {
    /// One that has run nothing.
    pub fn new(node: &'a Node) -> Processor<'a> {
        let before = facts::resets(node);
        Processor { node, before }
    }
}

impl Card for Processor<'_> {
    fn run(&mut self, stream: &Stream) -> Result<Vec<Vec<u8>>> {
        let mut bos = Vec::new();
        for buffer in &stream.buffers {
            let bo = Bo::new(self.node, buffer.bytes.len(), Domain::Gtt.bit())?;
            bo.map()?.write(0, &buffer.bytes);
            bos.push(bo);
        }
        // In the order in which the packets name them first.
        let mut order: Vec<(usize, bool)> = Vec::new();
        for patch in &stream.patches {
            let Target::Buffer(index, _) = patch.target else {
                continue;
            };
            match order.iter_mut().find(|(known, _)| *known == index) {
                Some((_, write)) => *write |= patch.write,
                None => order.push((index, patch.write)),
            }
        }
        let records: Vec<Record<'_>> = order.iter().map(|(i, write)| (&bos[*i], *write)).collect();
        submit(self.node, &stream.dwords, &records, Domain::Gtt)?;
        let mut after = Vec::new();
        for (bo, buffer) in bos.iter().zip(&stream.buffers) {
            if buffer.is_result {
                bo.wait()?;
                let mut bytes = bo.map()?.read();
                bytes.truncate(buffer.bytes.len());
                after.push(bytes);
            }
        }
        Ok(after)
    }

    fn has_hung(&self) -> bool {
        facts::resets(self.node) != self.before
    }

    fn facts(&self) -> (Vec<(String, String)>, &'static str) {
        (facts::radeon(self.node), "none")
    }
}
