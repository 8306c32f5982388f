// SPDX-License-Identifier: GPL-2.0
//! Reading the context status buffer (CSB): a ring of quadwords in the status page of an execlist
//! engine, and the index of the last one written ([`EventArea`]).
//!
//! The engine writes an event before the index, and the index before the interrupt; but on real
//! chips the index may become visible before the event. Therefore the driver fills events with
//! ones, and waits until the engine has overwritten them.

use ouro_hw::engine::EventArea;

/// The status page, as the CPU accesses it.
pub trait Page {
    /// Reads the dword at a byte offset.
    fn read(&self, offset: u32) -> u32;
    /// Writes the dword at a byte offset.
    fn write(&mut self, offset: u32, value: u32);
}

/// The buffer's place is invalid, or the engine wrote an index out of range. Only a reset helps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken;

/// The result of [`Events::next`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// There is no new event.
    Nothing,
    /// The index says that there is an event, but it is not visible yet: read again soon.
    Late,
    /// An event.
    Event(u64),
}

/// A dword of an event that the engine has not written yet.
const UNWRITTEN: u32 = u32::MAX;

/// The reader of a context status buffer.
#[derive(Debug)]
pub struct Events {
    area: EventArea,
    /// Index of the last event read.
    seen: u8,
}

impl Events {
    /// Creates a reader of `area`. Call [`Events::restart`] before use.
    pub const fn new(area: EventArea) -> Self {
        Self {
            area,
            seen: area.entries.wrapping_sub(1),
        }
    }

    /// Returns the byte offset of an event.
    const fn at(&self, n: u8) -> u32 {
        self.area.at.wrapping_add((n as u32).wrapping_mul(8))
    }

    /// Clears the events before the engine is started, which will write event 0 first.
    pub fn restart(&mut self, page: &mut impl Page) {
        for n in 0..self.area.entries {
            page.write(self.at(n), UNWRITTEN);
            page.write(self.at(n).wrapping_add(4), UNWRITTEN);
        }
        self.seen = self.area.entries.wrapping_sub(1);
        page.write(self.area.last_at, self.seen.into());
    }

    /// Reads the next event, if there is one.
    pub fn next(&mut self, page: &mut impl Page) -> Result<Look, Broken> {
        let last = page.read(self.area.last_at);
        if last >= self.area.entries.into() {
            return Err(Broken);
        }
        if last == self.seen.into() {
            return Ok(Look::Nothing);
        }
        let n = match self.seen.wrapping_add(1) {
            n if n < self.area.entries => n,
            _ => 0,
        };
        let at = self.at(n);
        let (low, high) = (page.read(at), page.read(at.wrapping_add(4)));
        // The engine writes a quadword at once, but the CPU's two reads may see half of it.
        if low == UNWRITTEN || high == UNWRITTEN {
            return Ok(Look::Late);
        }
        page.write(at, UNWRITTEN);
        page.write(at.wrapping_add(4), UNWRITTEN);
        self.seen = n;
        Ok(Look::Event(u64::from(low) | u64::from(high) << 32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{vec, vec::Vec};

    const AREA: EventArea = EventArea {
        at: 0x40,
        entries: 12,
        last_at: 0xbc,
    };

    impl Page for Vec<u32> {
        fn read(&self, offset: u32) -> u32 {
            self[offset as usize / 4]
        }
        fn write(&mut self, offset: u32, value: u32) {
            self[offset as usize / 4] = value;
        }
    }

    fn started() -> (Events, Vec<u32>) {
        let mut page = vec![0; 1024];
        let mut events = Events::new(AREA);
        events.restart(&mut page);
        (events, page)
    }

    #[test]
    fn the_first_entry_is_0_and_the_next_after_the_last_too() {
        let (mut events, mut page) = started();
        assert_eq!(page[0x2f], 11);
        assert_eq!(events.next(&mut page), Ok(Look::Nothing));
        for n in 0..30u32 {
            let at = 0x10 + 2 * (n as usize % 12);
            page[at] = n;
            page[at + 1] = 7;
            page[0x2f] = n % 12;
            assert_eq!(
                events.next(&mut page),
                Ok(Look::Event(7 << 32 | u64::from(n)))
            );
            assert_eq!(events.next(&mut page), Ok(Look::Nothing));
        }
    }

    #[test]
    fn an_entry_behind_its_number_is_waited_for() {
        let (mut events, mut page) = started();
        page[0x2f] = 0;
        assert_eq!(events.next(&mut page), Ok(Look::Late));
        page[0x10] = 5;
        assert_eq!(events.next(&mut page), Ok(Look::Late), "half of it");
        page[0x11] = 6;
        assert_eq!(events.next(&mut page), Ok(Look::Event(6 << 32 | 5)));
        // And so it is when the ring comes round.
        assert_eq!(page[0x10..0x12], [u32::MAX; 2]);
    }

    #[test]
    fn a_number_that_no_entry_has_is_broken() {
        let (mut events, mut page) = started();
        for bad in [12, 15, u32::MAX] {
            page[0x2f] = bad;
            assert_eq!(events.next(&mut page), Err(Broken));
        }
        let mut none = Events::new(EventArea { entries: 0, ..AREA });
        assert_eq!(none.next(&mut page), Err(Broken));
    }
}
