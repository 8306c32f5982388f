// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Rings: a buffer of commands being written, and the arithmetic of head, tail and wrap.
//!
//! A request's commands are written to a [`Commands`] first and then copied into the ring in one
//! piece, since a command must not straddle the wrap (SNB PRM V1P2 §5.3.4.5).

use crate::types::RingOffset;

/// The buffer has no room for the commands, or a command cannot encode an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overflow;

/// A buffer of dwords being filled.
#[derive(Debug)]
pub struct Commands<'a> {
    buf: &'a mut [u32],
    len: usize,
}

impl<'a> Commands<'a> {
    /// Creates an empty buffer over `buf`.
    pub fn new(buf: &'a mut [u32]) -> Self {
        Self { buf, len: 0 }
    }

    /// Appends a command.
    pub fn put(&mut self, dwords: &[u32]) -> Result<(), Overflow> {
        let end = self.len.checked_add(dwords.len()).ok_or(Overflow)?;
        let room = self.buf.get_mut(self.len..end).ok_or(Overflow)?;
        for (to, from) in room.iter_mut().zip(dwords) {
            *to = *from;
        }
        self.len = end;
        Ok(())
    }

    /// Returns the dwords written so far.
    pub fn as_slice(&self) -> &[u32] {
        self.buf.get(..self.len).unwrap_or(&[])
    }

    /// Returns the number of dwords written.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A range reserved in a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// No-ops to write first, up to the end of the ring: `(from, dwords)`.
    pub pad: Option<(RingOffset, u32)>,
    /// Offset of the commands.
    pub start: RingOffset,
    /// The tail behind them.
    pub tail: RingOffset,
}

/// The software state of a ring. The device's head is known from completed requests only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    size: u32,
    tail: u32,
    /// End of the last request that is known to have completed.
    head: u32,
}

/// Bytes that stay free, so that the tail never enters the cache line of the head (SNB PRM V1P2
/// §5.3.4.5) and a full ring does not look empty.
pub const SLACK: u32 = 64;

impl Ring {
    /// Creates an empty ring of `size` bytes: a power of two of at least one page.
    pub const fn new(size: u32) -> Self {
        assert!(size.is_power_of_two() && size >= 4096);
        Self {
            size,
            tail: 0,
            head: 0,
        }
    }

    /// Returns the number of bytes that can be written now.
    pub const fn space(&self) -> u32 {
        self.head.wrapping_sub(self.tail).wrapping_sub(SLACK) & (self.size - 1)
    }

    /// Returns the tail.
    pub const fn tail(&self) -> RingOffset {
        RingOffset(self.tail)
    }

    /// Reserves `dwords` (an even number); `None` if the ring is too full.
    pub fn reserve(&mut self, dwords: usize) -> Option<Slot> {
        let bytes = u32::try_from(dwords).ok()?.checked_mul(4)?;
        if bytes > self.size {
            return None;
        }
        let to_end = self.size.checked_sub(self.tail)?;
        let pad = if bytes > to_end { to_end } else { 0 };
        if bytes.checked_add(pad)? > self.space() {
            return None;
        }
        let start = if pad != 0 { 0 } else { self.tail };
        let slot = Slot {
            pad: (pad != 0).then_some((RingOffset(self.tail), pad / 4)),
            start: RingOffset(start),
            tail: RingOffset(start.wrapping_add(bytes) & (self.size - 1)),
        };
        self.tail = slot.tail.0;
        Some(slot)
    }

    /// Frees the space of a completed request, whose tail was `tail`.
    pub fn retire(&mut self, tail: RingOffset) {
        self.head = tail.0 & (self.size - 1);
    }

    /// Resets head and tail, after the ring was stopped.
    pub fn clear(&mut self) {
        self.head = 0;
        self.tail = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_ring_holds_all_but_the_slack() {
        let ring = Ring::new(4096);
        assert_eq!(ring.space(), 4096 - 64);
    }

    #[test]
    fn commands_do_not_straddle_the_end() {
        let mut ring = Ring::new(4096);
        // 1000 dwords, retired: the tail is 96 bytes before the end.
        let a = ring.reserve(1000).unwrap();
        assert_eq!(
            a,
            Slot {
                pad: None,
                start: RingOffset(0),
                tail: RingOffset(4000)
            }
        );
        ring.retire(a.tail);
        let b = ring.reserve(26).unwrap();
        assert_eq!(
            b,
            Slot {
                pad: Some((RingOffset(4000), 24)),
                start: RingOffset(0),
                tail: RingOffset(104)
            }
        );
    }

    #[test]
    fn an_exact_fit_wraps_without_padding() {
        let mut ring = Ring::new(4096);
        let a = ring.reserve(1000).unwrap();
        ring.retire(a.tail);
        let b = ring.reserve(24).unwrap();
        assert_eq!(b.pad, None);
        assert_eq!(b.tail, RingOffset(0));
    }

    #[test]
    fn a_full_ring_refuses_and_room_returns() {
        let mut ring = Ring::new(4096);
        let a = ring.reserve(500).unwrap();
        let b = ring.reserve(500).unwrap();
        assert_eq!(ring.reserve(26), None);
        ring.retire(a.tail);
        assert!(ring.reserve(26).is_some());
        ring.retire(b.tail);
    }

    #[test]
    fn a_command_buffer_overflows_without_a_trace() {
        let mut buf = [0; 3];
        let mut c = Commands::new(&mut buf);
        c.put(&[1, 2]).unwrap();
        assert_eq!(c.put(&[3, 4]), Err(Overflow));
        assert_eq!(c.as_slice(), [1, 2]);
    }
}
