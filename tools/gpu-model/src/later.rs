// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts that an injected fault has put off, of any chip.

/// So many can be late at the same time; more of them are swallowed, as a mask would.
const MOST: usize = 4096;

/// Late interrupts, each with its time in nanoseconds of the device's clock.
pub(crate) struct Interrupts<T>(Vec<(u64, T)>);

impl<T> Default for Interrupts<T> {
    fn default() -> Self {
        Interrupts(Vec::new())
    }
}

impl<T> Interrupts<T> {
    /// One that comes later.
    pub fn push(&mut self, at: u64, what: T) {
        if self.0.len() < MOST {
            self.0.push((at, what));
        }
    }

    /// When the next one of those comes that `which` selects.
    pub fn next(&self, which: impl Fn(&T) -> bool) -> Option<u64> {
        let those = self.0.iter().filter(|i| which(&i.1));
        those.map(|i| i.0).min()
    }

    /// Those that have come due, in the order in which they were put off.
    pub fn due(&mut self, now: u64) -> Vec<T> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let all = std::mem::take(&mut self.0);
        let (due, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|i| i.0 <= now);
        self.0 = rest;
        due.into_iter().map(|i| i.1).collect()
    }
}
