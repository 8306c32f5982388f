// SPDX-License-Identifier: GPL-2.0
//! What a ring takes next: nothing in flight is overwritten, numbers follow each other.

use crate::source::Source;
use ouro_core::port::{ContextKey, RingPort};
use ouro_hw::types::{RingOffset, Seqno};
use std::collections::VecDeque;

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    ring(&mut s);
}

fn ring(s: &mut Source<'_>) {
    let size = 4096u32 << s.below(4);
    let mut port = RingPort::new(size);
    // What the device has still to read: offset and end, in bytes, and the tail after it.
    let mut flight: VecDeque<(Vec<(u32, u32)>, RingOffset)> = VecDeque::new();
    let mut last = Seqno(0);
    let mut loaded = None;
    while !s.is_empty() {
        match s.u8() % 8 {
            0..=4 => {
                // A request has an even number of dwords.
                let most = [8, 100, 5000][s.below(3) as usize];
                let dwords = 2 * s.below(most) as usize;
                let context = s.flag().then(|| ContextKey(s.below(4)));
                assert_eq!(
                    port.needs_switch(context),
                    context.is_some() && context != loaded
                );
                let (sure, next) = (port.has_room(dwords), port.next_seqno());
                let Some(placed) = port.place(dwords, context) else {
                    assert!(!sure, "{dwords} dwords surely fit");
                    assert_eq!(port.last_seqno(), last, "nothing changed");
                    continue;
                };
                assert_eq!(placed.seqno, next);
                last = next;
                loaded = context.or(loaded);
                let bytes = dwords as u32 * 4;
                let start = placed.slot.start.0;
                assert!(start + bytes <= size, "a command straddles the end");
                assert_eq!(placed.slot.tail.0, (start + bytes) % size);
                assert_eq!(placed.slot.tail.0 % 8, 0, "the tail is a quadword's");
                let mut used = vec![(start, start + bytes)];
                if let Some((at, dwords)) = placed.slot.pad {
                    assert_eq!(at.0 + dwords * 4, size, "padding up to the end");
                    used.push((at.0, size));
                }
                for (from, to) in &used {
                    for (a, b) in flight.iter().flat_map(|f| &f.0) {
                        assert!(to <= a || b <= from, "overwrites what is in flight");
                    }
                }
                flight.push_back((used, placed.slot.tail));
            }
            5 | 6 => {
                if let Some((_, tail)) = flight.pop_front() {
                    port.completed(tail);
                }
            }
            _ => {
                if s.u8().is_multiple_of(16) {
                    port.clear();
                    flight.clear();
                    loaded = None;
                }
            }
        }
        assert_eq!((port.last_seqno(), port.loaded()), (last, loaded));
    }
}
