// SPDX-License-Identifier: GPL-2.0
//! Reading what an engine writes about its contexts: a ring of quadwords in its status page, and the number
//! of the last one ([`EventArea`]).
//!
//! An entry is there before its number, and the number before the interrupt; but the first of these is not
//! always so on real chips. So entries are all ones until the engine has written them.

use ouro_hw::engine::EventArea;

/// The status page, as the CPU sees it.
pub trait Page {
    /// Reads the dword at a byte offset.
    fn read(&self, offset: u32) -> u32;
    /// Writes it.
    fn write(&mut self, offset: u32, value: u32);
}

/// The place of the ring is none, or the engine wrote a number that no entry has. Only a reset helps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken;

/// What there is to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Nothing.
    Nothing,
    /// An entry whose number is there, and itself not yet: look again soon.
    Late,
    /// An entry.
    Event(u64),
}

/// The dword of an entry that was not written.
const UNWRITTEN: u32 = u32::MAX;

/// The reader.
#[derive(Debug)]
pub struct Events {
    area: EventArea,
    /// The last entry that was read.
    seen: u8,
}

impl Events {
    /// A reader of `area`. [`Events::restart`] comes first.
    pub const fn new(area: EventArea) -> Self {
        Self {
            area,
            seen: area.entries.wrapping_sub(1),
        }
    }

    /// The offset of an entry.
    const fn at(&self, n: u8) -> u32 {
        self.area.at.wrapping_add((n as u32).wrapping_mul(8))
    }

    /// Before the engine is started: no entry is written, and the next one is the first.
    pub fn restart(&mut self, page: &mut impl Page) {
        for n in 0..self.area.entries {
            page.write(self.at(n), UNWRITTEN);
            page.write(self.at(n).wrapping_add(4), UNWRITTEN);
        }
        self.seen = self.area.entries.wrapping_sub(1);
        page.write(self.area.last_at, self.seen.into());
    }

    /// Reads the next entry, if there is one.
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
        // The engine writes it in one piece; whoever reads it in two may see a half.
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
