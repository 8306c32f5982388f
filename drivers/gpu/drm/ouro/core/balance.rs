// SPDX-License-Identifier: GPL-2.0
//! Where a context goes that several engines could run: a virtual engine's.
//!
//! It has work on one of its engines, and has to wait there for as long as that has something else to do. If
//! another one would run it at once, the work is the other one's ([`taker`]). A context without work goes to
//! the engine that has the fewest contexts ([`calmest`]): so those that do not wait are spread, too.

/// How busy an engine is. A lesser one would rather have something to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// It has nothing to do.
    Free,
    /// The most urgent of what it has to do has this priority.
    Busy(i32),
    /// It takes nothing from others: it sleeps, is being reset, or is gone.
    Closed,
}

impl Level {
    /// As a number.
    pub const fn into_bits(self) -> i64 {
        match self {
            Self::Free => i64::MIN,
            Self::Busy(priority) => priority as i64,
            Self::Closed => i64::MAX,
        }
    }

    /// Of such a number.
    pub const fn from_bits(bits: i64) -> Self {
        match bits {
            i64::MIN => Self::Free,
            i64::MAX => Self::Closed,
            // It was made of an i32.
            priority => Self::Busy(priority as i32),
        }
    }
}

/// Which of some engines would run a context of `priority` at once: one that has nothing to do, else the one
/// whose work is the least urgent, if that is less urgent. The first one of several.
pub fn taker<T>(engines: impl Iterator<Item = (T, Level)>, priority: i32) -> Option<T> {
    engines
        .filter(|(_, level)| *level < Level::Busy(priority))
        .min_by_key(|(_, level)| *level)
        .map(|(engine, _)| engine)
}

/// Which of some engines has the fewest contexts with something to do, each with their number. The first one of
/// several; `None` if all take nothing.
pub fn calmest<T>(engines: impl Iterator<Item = (T, Level, u32)>) -> Option<T> {
    engines
        .filter(|(_, level, _)| *level != Level::Closed)
        .min_by_key(|(_, level, contexts)| (*contexts, *level))
        .map(|(engine, ..)| engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_what_it_was_made_of() {
        for level in [
            Level::Free,
            Level::Busy(i32::MIN),
            Level::Busy(-1),
            Level::Busy(0),
            Level::Busy(i32::MAX),
            Level::Closed,
        ] {
            assert_eq!(Level::from_bits(level.into_bits()), level);
        }
    }

    #[test]
    fn who_is_free_or_less_busy_takes_it() {
        use Level::{Busy, Closed, Free};
        for (levels, priority, taker) in [
            ([Busy(0), Busy(0), Busy(0)], 0, None),
            ([Busy(0), Free, Free], 0, Some(1)),
            ([Busy(0), Closed, Free], 0, Some(2)),
            ([Closed, Closed, Closed], i32::MAX, None),
            // Whoever has nothing comes before who would be interrupted.
            ([Busy(-5), Busy(-7), Free], 0, Some(2)),
            ([Busy(-5), Busy(-7), Busy(1)], 0, Some(1)),
            ([Busy(1), Busy(2), Busy(3)], 2, Some(0)),
            ([Busy(i32::MIN), Busy(0), Busy(0)], i32::MIN, None),
            ([Busy(i32::MIN), Busy(0), Free], i32::MIN, Some(2)),
        ] {
            let engines = levels.into_iter().enumerate();
            assert_eq!(super::taker(engines, priority), taker, "{levels:?}");
        }
    }

    #[test]
    fn who_has_the_fewest_contexts_is_calmest() {
        use Level::{Busy, Closed, Free};
        for (engines, calmest) in [
            ([(Busy(0), 2), (Busy(0), 1)], Some(1)),
            ([(Busy(0), 1), (Busy(0), 1)], Some(0)),
            ([(Busy(0), 1), (Free, 0)], Some(1)),
            // Of as many: the less urgent ones.
            ([(Busy(3), 2), (Busy(-3), 2)], Some(1)),
            ([(Closed, 0), (Busy(9), 9)], Some(1)),
            ([(Closed, 0), (Closed, 0)], None),
        ] {
            let all = engines.into_iter().enumerate();
            let all = all.map(|(n, (level, contexts))| (n, level, contexts));
            assert_eq!(super::calmest(all), calmest, "{engines:?}");
        }
    }
}
