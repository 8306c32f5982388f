// SPDX-License-Identifier: GPL-2.0
//! Load balancing of a virtual engine's contexts between the engines that can run them.
//!
//! A context has its work on one of its engines and waits there while that engine is busy. If
//! another engine would run it at once, the work moves there ([`taker`]). A context without work
//! goes to the engine with the fewest contexts ([`calmest`]), which spreads contexts that do not
//! wait.

/// The load of an engine. The lower the level, the sooner the engine runs more work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// The engine is idle.
    Free,
    /// The most urgent work of the engine has this priority.
    Busy(i32),
    /// The engine takes no work from others: it sleeps, is being reset, or is gone.
    Closed,
}

impl Level {
    /// Converts the level to an integer with the same order.
    pub const fn into_bits(self) -> i64 {
        match self {
            Self::Free => i64::MIN,
            Self::Busy(priority) => priority as i64,
            Self::Closed => i64::MAX,
        }
    }

    /// Converts back from [`into_bits`](Self::into_bits).
    pub const fn from_bits(bits: i64) -> Self {
        match bits {
            i64::MIN => Self::Free,
            i64::MAX => Self::Closed,
            // `into_bits` made it from an i32.
            priority => Self::Busy(priority as i32),
        }
    }
}

/// Returns the engine that would run a context of `priority` at once: an idle one, otherwise the
/// one with the least urgent work, if that is less urgent than the context. The first one of
/// equals.
pub fn taker<T>(engines: impl Iterator<Item = (T, Level)>, priority: i32) -> Option<T> {
    engines
        .filter(|(_, level)| *level < Level::Busy(priority))
        .min_by_key(|(_, level)| *level)
        .map(|(engine, _)| engine)
}

/// Returns the engine that has the fewest contexts with work; each engine comes with that number.
/// The first one of equals; `None` if all are closed.
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
            // An idle engine comes before one that would have to preempt.
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
            // With equal numbers of contexts, the engine with the less urgent work is chosen.
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
