// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The render cache (5.3.10.1): what the blitter has drawn reaches memory when the cache is flushed, or when a line
//! must make room. Who reads memory before that, the CPU or the command streamer, reads what was there before.
//!
//! Lines are those of the bus address that a pixel had when it was drawn: an entry that changes before the flush does
//! not change where they go. Only bytes that were drawn are written back.

use crate::memory::{lock, GuestMemory, MemoryError};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

/// Bytes of a line.
const LINE: u64 = 64;
/// Lines that it holds. How many the chip's holds is nowhere said.
const LINES: usize = 512;

struct Line {
    data: [u8; LINE as usize],
    /// A bit for each byte that was drawn.
    dirty: u64,
}

#[derive(Default)]
struct Lines {
    by_address: HashMap<u64, Line>,
    /// In the order in which they came.
    order: VecDeque<u64>,
}

/// Memory behind the cache, as the blitter sees it.
pub struct RenderCache {
    memory: Arc<dyn GuestMemory>,
    lines: Mutex<Lines>,
}

impl RenderCache {
    /// An empty one in front of memory.
    pub fn new(memory: Arc<dyn GuestMemory>) -> Self {
        RenderCache {
            memory,
            lines: Mutex::default(),
        }
    }

    /// Lines that memory does not have yet.
    #[cfg(test)]
    pub fn dirty(&self) -> usize {
        lock(&self.lines).order.len()
    }

    /// Writes all lines back.
    pub fn flush(&self) {
        let mut lines = lock(&self.lines);
        while self.evict(&mut lines) {}
    }

    /// Loses all lines, as in a reset.
    pub fn forget(&self) {
        *lock(&self.lines) = Lines::default();
    }

    /// Writes the oldest line back; false if there is none.
    fn evict(&self, lines: &mut Lines) -> bool {
        let Some(at) = lines.order.pop_front() else {
            return false;
        };
        let Some(line) = lines.by_address.remove(&at) else {
            return true;
        };
        let mut first = 0;
        while first < LINE as usize {
            let rest = line.dirty >> first;
            let skip = rest.trailing_zeros() as usize;
            if rest == 0 {
                break;
            }
            let from = first + skip;
            let len = (line.dirty >> from).trailing_ones() as usize;
            // Memory that has gone swallows the line.
            let _ = self
                .memory
                .write(at + from as u64, &line.data[from..from + len]);
            first = from + len;
        }
        true
    }
}

/// Pieces of an access that lie in one line each: the line, the offset in it, the range of the buffer.
fn pieces(addr: u64, len: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= len {
            return None;
        }
        let at = addr + done as u64;
        let skip = (at % LINE) as usize;
        let n = (len - done).min(LINE as usize - skip);
        let piece = (at - skip as u64, skip, done..done + n);
        done += n;
        Some(piece)
    })
}

impl GuestMemory for RenderCache {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        self.memory.read(addr, buf)?;
        let lines = lock(&self.lines);
        if lines.order.is_empty() {
            return Ok(());
        }
        for (at, skip, range) in pieces(addr, buf.len()) {
            let Some(line) = lines.by_address.get(&at) else {
                continue;
            };
            for (i, byte) in buf[range].iter_mut().enumerate() {
                if line.dirty >> (skip + i) & 1 != 0 {
                    *byte = line.data[skip + i];
                }
            }
        }
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        // Memory that is not there is an error now, not when the line goes.
        let mut there = [0; LINE as usize];
        for (at, skip, range) in pieces(addr, data.len()) {
            self.memory
                .read(at + skip as u64, &mut there[..range.len()])?;
            let mut lines = lock(&self.lines);
            if !lines.by_address.contains_key(&at) {
                if lines.order.len() >= LINES {
                    self.evict(&mut lines);
                }
                lines.order.push_back(at);
            }
            let line = lines.by_address.entry(at).or_insert(Line {
                data: [0; LINE as usize],
                dirty: 0,
            });
            let n = range.len();
            line.data[skip..skip + n].copy_from_slice(&data[range]);
            line.dirty |= (!0 >> (64 - n)) << skip;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::VecMemory;

    #[test]
    fn only_drawn_bytes_are_written_back() {
        let memory = Arc::new(VecMemory::new(1 << 16));
        let cache = RenderCache::new(memory.clone());
        memory.put_dwords(0x100, &[1, 2, 3]).expect("memory");
        cache.write(0x104, &[9, 9, 9, 9]).expect("memory");
        assert_eq!(memory.dword(0x104), 2, "not yet");
        let mut seen = [0; 12];
        cache.read(0x100, &mut seen).expect("memory");
        assert_eq!(seen, [1, 0, 0, 0, 9, 9, 9, 9, 3, 0, 0, 0]);
        // The CPU writes another byte of the line meanwhile: it stays.
        memory.put_dwords(0x108, &[7]).expect("memory");
        cache.flush();
        assert_eq!(
            [0x100, 0x104, 0x108].map(|at| memory.dword(at)),
            [1, 0x0909_0909, 7]
        );
        assert_eq!(cache.dirty(), 0);
    }

    #[test]
    fn a_full_cache_writes_the_oldest_line_back() {
        let memory = Arc::new(VecMemory::new(1 << 16));
        let cache = RenderCache::new(memory.clone());
        for line in 0..513u64 {
            cache.write(line * 64, &[5]).expect("memory");
        }
        assert_eq!((memory.dword(0), memory.dword(64)), (5, 0));
        assert_eq!(cache.dirty(), 512);
        cache.forget();
        cache.flush();
        assert_eq!(memory.dword(64), 0, "a reset loses lines");
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_at_once() {
        let cache = RenderCache::new(Arc::new(VecMemory::new(4096)));
        assert!(cache.write(8192, &[1]).is_err());
        assert_eq!(cache.dirty(), 0);
    }
}
