// SPDX-License-Identifier: GPL-2.0
//! Hangcheck: judges from samples of an engine's state whether it hangs.
//!
//! Free of registers and clocks. The caller tells the watch of an engine which request is the
//! oldest on it, and the time. Only when the same request has been the oldest for a sixth of the
//! limit does the watch want to see the engine's state, because reading registers costs. A request
//! that stays for the whole limit is an endless batch, and hangs whatever the engine does. An
//! engine in which nothing moves for half of the limit hangs; after an error report a twelfth is
//! enough.
//!
//! An engine that can be preempted gets a preemption probe first. If it answers, the request may go
//! on, and is probed again after the same time, unless it must end. An engine that owes the answer
//! to a preemption for too long hangs, whatever requested it.

use ouro_hw::{report::Activity, types::Seqno};

/// The judgement of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No hang.
    Fine,
    /// The engine has waited for an event for a while: the wait may be ended (kicked). Reported
    /// again after another while.
    Waits,
    /// Nothing moves in the engine.
    Stuck,
    /// The oldest request has run for its limit.
    Endless,
    /// The oldest request runs long: the engine should be sent a preemption probe.
    Probe,
    /// The engine does not answer a preemption.
    Keeps,
    /// The engine reads all ones: the device is gone.
    Gone,
}

/// Returns whether a request has run for longer than its `micros` microseconds at `now`. It was
/// emitted at `emitted`, and its predecessor on the ring was seen to complete at `before`: it may
/// have started earlier than that, and then gets a little more time. Times in nanoseconds.
///
/// Called after the engine's watchdog interrupt: the watchdog's clock may differ from its nominal
/// one, and the request that it reported may have completed.
pub fn is_overdue(now: u64, emitted: u64, before: u64, micros: u32) -> bool {
    let ran = now.saturating_sub(emitted.max(before));
    ran >= u64::from(micros).saturating_mul(1000)
}

/// The time that a request has run, as its limit counts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// Nanoseconds.
    pub ran: u64,
    /// Whether it had to end ([`Answer::ends`]) when it was last the oldest on its engine.
    pub ends: bool,
}

impl Run {
    /// The request is the oldest on its engine, and must end or not. One that must end from now on
    /// has its whole limit, whatever it has run before. Other contexts may run between two ticks
    /// that see it.
    pub fn seen(self, ends: bool) -> Self {
        let begins = ends && !self.ends;
        Self {
            ran: if begins { 0 } else { self.ran },
            ends,
        }
    }
}

/// The state that changes while an engine works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    head: u32,
    acthd: u64,
    units: [u32; 2],
}

/// The answer that an engine owes to a preemption.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Milliseconds since the preemption was requested; `None` if none is pending.
    pub owed: Option<u64>,
    /// Milliseconds after which the engine hangs.
    pub limit: u64,
    /// Whether the oldest request must end, even if the engine answers: it has its limit once more
    /// from the first tick on that says so.
    pub ends: bool,
}

impl Answer {
    fn is_overdue(&self) -> bool {
        self.owed.is_some_and(|ms| ms >= self.limit)
    }
}

/// The hangcheck state of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    /// The oldest request, and since when it is the oldest, in milliseconds.
    oldest: Option<(Seqno, u64)>,
    /// The engine state seen last, and since when it has not changed.
    seen: Option<(Seen, u64)>,
    /// Whether the engine has reported an error since the oldest request is the oldest.
    alarmed: bool,
    /// Whether the oldest request had to end ([`Answer::ends`]) at the last tick.
    ends: bool,
}

impl Watch {
    /// Returns whether the caller should read the engine's state and pass it to
    /// [`look`](Self::look).
    ///
    /// `oldest` is the oldest request on the engine and the time that it ran before, in case other
    /// contexts have run in between; `limit` is the request's limit in milliseconds; `answer` is as
    /// in [`look`](Self::look).
    pub fn tick(
        &mut self,
        now: u64,
        oldest: Option<(Seqno, u64)>,
        limit: u64,
        answer: Option<Answer>,
    ) -> bool {
        let Some((seqno, ran)) = oldest else {
            *self = Self::default();
            return false;
        };
        let overdue = answer.is_some_and(|a| a.is_overdue());
        let ends = answer.is_some_and(|a| a.ends);
        let had_to_end = core::mem::replace(&mut self.ends, ends);
        let since = match self.oldest {
            Some((known, _)) if known == seqno && ends && !had_to_end => {
                // It may have run for any time until now.
                self.oldest = Some((seqno, now));
                self.seen = None;
                now
            }
            Some((known, since)) if known == seqno => since,
            _ => {
                // The error may be reported before its request is known here.
                self.alarmed &= self.seen.is_none();
                let since = now.saturating_sub(ran);
                self.oldest = Some((seqno, since));
                self.seen = None;
                return overdue || now.saturating_sub(since) >= limit / 6;
            }
        };
        overdue || self.alarmed || now.saturating_sub(since) >= limit / 6
    }

    /// The engine reported an error. It may have stopped, or not.
    pub fn alarm(&mut self) {
        self.alarmed = true;
    }

    /// Judges the engine's state. `answer`: the answer it owes; `None` if the engine cannot be
    /// preempted.
    pub fn look(
        &mut self,
        now: u64,
        activity: &Activity,
        limit: u64,
        answer: Option<Answer>,
    ) -> Verdict {
        let Some((_, began)) = self.oldest else {
            return Verdict::Fine;
        };
        // No command is at an address that is not a multiple of 4.
        if activity.acthd & 0xffff_ffff == 0xffff_ffff {
            return Verdict::Gone;
        }
        let takes_long = |otherwise| match answer {
            None | Some(Answer { ends: true, .. }) => otherwise,
            Some(Answer { owed: None, .. }) => Verdict::Probe,
            Some(_) => Verdict::Fine,
        };
        if answer.is_some_and(|a| a.is_overdue()) {
            return Verdict::Keeps;
        }
        if now.saturating_sub(began) >= limit {
            return takes_long(Verdict::Endless);
        }
        let seen = Seen {
            head: activity.head,
            acthd: activity.acthd,
            units: activity.units,
        };
        match self.seen {
            Some((last, since)) if last == seen => {
                let quiet = now.saturating_sub(since);
                if self.alarmed && quiet >= limit / 12 {
                    Verdict::Stuck
                } else if quiet >= limit / 2 {
                    takes_long(Verdict::Stuck)
                } else if activity.waiting && quiet >= limit / 6 {
                    Verdict::Waits
                } else {
                    Verdict::Fine
                }
            }
            _ => {
                self.seen = Some((seen, now));
                Verdict::Fine
            }
        }
    }

    /// A preemption probe was sent: the request gets the whole limit again, if the engine answers.
    pub fn probed(&mut self, now: u64) {
        self.oldest = self.oldest.map(|(seqno, _)| (seqno, now));
        self.seen = None;
    }

    /// A wait was ended: the next state counts as new.
    pub fn kicked(&mut self) {
        self.seen = None;
    }

    /// Returns the oldest request that the watch knows.
    pub fn oldest(&self) -> Option<Seqno> {
        self.oldest.map(|(seqno, _)| seqno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 3000;
    const A: Option<(Seqno, u64)> = Some((Seqno(1), 0));
    const B: Option<(Seqno, u64)> = Some((Seqno(2), 0));

    fn at(acthd: u64) -> Activity {
        Activity {
            head: 0x40,
            tail: 0x80,
            acthd,
            ..Activity::default()
        }
    }

    /// Samples every 50 ms until there is a verdict: returns its time and the verdict.
    fn watch(acthd: impl Fn(u64) -> Activity) -> (u64, Verdict) {
        let mut w = Watch::default();
        let mut now = 0;
        loop {
            if w.tick(now, A, LIMIT, None) {
                let verdict = w.look(now, &acthd(now), LIMIT, None);
                if verdict != Verdict::Fine {
                    return (now, verdict);
                }
            }
            now += 50;
        }
    }

    #[test]
    fn a_limit_begins_with_the_request() {
        // 200 ms from the emission, or from the completion of the request before it.
        const MS: u64 = 1_000_000;
        for (now, emitted, before, over) in [
            (299 * MS, 100 * MS, 0, false),
            (300 * MS - 1, 100 * MS, 100 * MS, false),
            (300 * MS, 100 * MS, 0, true),
            (300 * MS, 100 * MS, 150 * MS, false),
            (350 * MS, 100 * MS, 150 * MS, true),
            // Clocks that were read on two processors.
            (100 * MS, 100 * MS + 1, 0, false),
        ] {
            assert_eq!(is_overdue(now, emitted, before, 200_000), over, "{now}");
        }
        assert!(!is_overdue(4_294_967_294_999, 0, 0, u32::MAX));
        assert!(is_overdue(4_294_967_295_000, 0, 0, u32::MAX));
    }

    #[test]
    fn an_idle_engine_is_not_looked_at() {
        let mut w = Watch::default();
        for now in (0..10_000).step_by(50) {
            assert!(!w.tick(now, None, LIMIT, None));
        }
        assert_eq!(w.look(10_000, &at(0), LIMIT, None), Verdict::Fine);
    }

    #[test]
    fn requests_that_follow_each_other_are_not_looked_at() {
        let mut w = Watch::default();
        for n in 1..100 {
            assert!(!w.tick(u64::from(n) * 400, Some((Seqno(n), 0)), LIMIT, None));
        }
    }

    #[test]
    fn a_batch_without_end_is_found_at_the_limit() {
        assert_eq!(
            watch(|now| at(0x1000 + now / 50 % 2 * 8)),
            (3000, Verdict::Endless)
        );
    }

    #[test]
    fn units_that_work_are_movement() {
        let busy = |now: u64| Activity {
            units: [(now / 50 % 2) as u32, 0],
            ..at(0x1000)
        };
        assert_eq!(watch(busy), (3000, Verdict::Endless));
    }

    #[test]
    fn a_ring_that_stops_is_found_earlier() {
        // First sampled after 500 ms; quiet for 1500 ms after that.
        assert_eq!(watch(|_| at(0x1000)), (2000, Verdict::Stuck));
    }

    #[test]
    fn an_alarm_makes_it_quick() {
        // An engine that stands still: sampled by the next tick, then quiet for 250 ms.
        let mut w = Watch::default();
        let mut now = 1000;
        // Before the watch knows the request.
        w.alarm();
        assert!(!w.tick(now, A, LIMIT, None));
        let found = loop {
            now += 50;
            assert!(w.tick(now, A, LIMIT, None));
            match w.look(now, &at(0x1000), LIMIT, None) {
                Verdict::Fine => {}
                verdict => break (now, verdict),
            }
        };
        assert_eq!(found, (1300, Verdict::Stuck));
    }

    #[test]
    fn an_alarm_without_a_reason_is_forgotten() {
        let mut w = Watch::default();
        assert!(!w.tick(0, A, LIMIT, None));
        w.alarm();
        // It goes on,
        for now in (50..1000).step_by(50) {
            assert!(w.tick(now, A, LIMIT, None));
            assert_eq!(w.look(now, &at(0x1000 + now), LIMIT, None), Verdict::Fine);
        }
        // and so does the next one, which may be quiet for as long as any.
        assert!(!w.tick(1000, B, LIMIT, None));
        assert!(!w.tick(1450, B, LIMIT, None));
        assert!(w.tick(1500, B, LIMIT, None));
        assert_eq!(w.look(1500, &at(0x1000), LIMIT, None), Verdict::Fine);
        assert_eq!(w.look(2950, &at(0x1000), LIMIT, None), Verdict::Fine);
        assert_eq!(w.look(3000, &at(0x1000), LIMIT, None), Verdict::Stuck);
    }

    #[test]
    fn a_wait_is_told_before_the_engine_is_called_stuck() {
        let waiting = Activity {
            waiting: true,
            ..at(0x1000)
        };
        let mut w = Watch::default();
        let mut told = std::vec::Vec::new();
        for now in (0..3000).step_by(50) {
            if w.tick(now, A, LIMIT, None) {
                match w.look(now, &waiting, LIMIT, None) {
                    Verdict::Fine => {}
                    Verdict::Waits => {
                        told.push(now);
                        w.kicked();
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(told, [1000, 1550, 2100, 2650]);
        assert_eq!(w.look(3000, &waiting, LIMIT, None), Verdict::Endless);
    }

    #[test]
    fn requests_without_end_that_take_turns_are_found_when_each_has_had_its_time() {
        let mut w = Watch::default();
        let mut ran = [0, 0];
        let mut now = 0;
        let found = loop {
            // Each context runs for every second tick.
            let n = (now / 50 % 2) as usize;
            let oldest = Some((Seqno(n as u32 + 1), ran[n]));
            // There is no probe before a sixth of the limit is over.
            let asked = w.tick(now, oldest, LIMIT, None);
            assert_eq!(asked, ran[n] >= LIMIT / 6, "{now}");
            if asked && w.look(now, &at(0x1000 + now), LIMIT, None) == Verdict::Endless {
                break (now, w.oldest());
            }
            ran[n] += 50;
            now += 50;
        };
        assert_eq!(found, (6000, Some(Seqno(1))));
    }

    #[test]
    fn another_request_starts_the_clock_anew() {
        let mut w = Watch::default();
        assert!(!w.tick(0, A, LIMIT, None));
        assert!(w.tick(2900, A, LIMIT, None));
        assert!(!w.tick(2950, B, LIMIT, None));
        assert_eq!(w.oldest(), Some(Seqno(2)));
        assert!(!w.tick(3000, B, LIMIT, None));
        assert!(w.tick(3450, B, LIMIT, None));
        assert_eq!(w.look(3450, &at(0), LIMIT, None), Verdict::Fine);
    }

    #[test]
    fn all_ones_are_a_card_that_is_gone() {
        let mut w = Watch::default();
        w.tick(0, A, LIMIT, None);
        assert!(w.tick(500, A, LIMIT, None));
        assert_eq!(w.look(500, &at(0xffff_ffff), LIMIT, None), Verdict::Gone);
    }

    fn answer(owed: Option<u64>) -> Option<Answer> {
        let limit = LIMIT / 2;
        let ends = false;
        Some(Answer { owed, limit, ends })
    }

    /// Samples every 50 ms until there is another verdict than to probe: returns its time and the
    /// verdict. The engine answers probes after `answers` milliseconds.
    fn watch_asking(
        acthd: impl Fn(u64) -> u64,
        answers: u64,
    ) -> (std::vec::Vec<u64>, Option<(u64, Verdict)>) {
        let mut w = Watch::default();
        let (mut asked, mut since) = (std::vec::Vec::new(), None);
        for now in (0..20_000).step_by(50) {
            since = since.filter(|since| now - since < answers);
            let owes = answer(since.map(|since| now - since));
            if !w.tick(now, A, LIMIT, owes) {
                continue;
            }
            match w.look(now, &at(acthd(now)), LIMIT, owes) {
                Verdict::Fine => {}
                Verdict::Probe => {
                    w.probed(now);
                    asked.push(now);
                    since = Some(now);
                }
                other => return (asked, Some((now, other))),
            }
        }
        (asked, None)
    }

    #[test]
    fn a_preemptible_request_may_run_without_limit() {
        let (asked, verdict) = watch_asking(|now| 0x1000 + now, 100);
        assert_eq!(asked, [3000, 6000, 9000, 12_000, 15_000, 18_000]);
        assert_eq!(verdict, None);
        // An engine that waits for memory moves nothing.
        let (asked, verdict) = watch_asking(|_| 0x1000, 100);
        assert_eq!(asked.first(), Some(&2000));
        assert_eq!(verdict, None);
    }

    #[test]
    fn a_preemptible_request_that_must_end_has_its_limit() {
        let ends = |owed| answer(owed).map(|a| Answer { ends: true, ..a });
        let mut w = Watch::default();
        assert!(!w.tick(0, A, LIMIT, ends(None)));
        assert!(w.tick(2950, A, LIMIT, ends(Some(50))));
        let moves = at(0x1000);
        assert_eq!(w.look(2950, &moves, LIMIT, ends(Some(50))), Verdict::Fine);
        assert_eq!(
            w.look(3000, &moves, LIMIT, ends(Some(100))),
            Verdict::Endless
        );
        assert_eq!(w.look(3000, &moves, LIMIT, ends(None)), Verdict::Endless);
        // It still has to give way to others.
        let overdue = ends(Some(1500));
        assert_eq!(w.look(2950, &moves, LIMIT, overdue), Verdict::Keeps);
    }

    #[test]
    fn a_request_that_others_begin_to_wait_for_has_its_limit_from_then_on() {
        let answers = |ends| answer(None).map(|a| Answer { ends, ..a });
        let mut w = Watch::default();
        for now in (0..100_000).step_by(50) {
            w.tick(now, A, u64::MAX, answers(false));
        }
        // The limit of a request that must end, while the hang check is off.
        let mut now = 100_000;
        let found = loop {
            if w.tick(now, A, LIMIT, answers(true)) {
                match w.look(now, &at(0x1000 + now), LIMIT, answers(true)) {
                    Verdict::Fine => {}
                    verdict => break (now, verdict),
                }
            }
            now += 50;
        };
        assert_eq!(found, (103_000, Verdict::Endless));
        // So has one in which nothing moves.
        let mut w = Watch::default();
        for now in (0..1000).step_by(50) {
            if w.tick(now, A, LIMIT, answers(false)) {
                assert_eq!(w.look(now, &at(8), LIMIT, answers(false)), Verdict::Fine);
            }
        }
        assert!(!w.tick(2000, A, LIMIT, answers(true)));
        assert!(w.tick(2500, A, LIMIT, answers(true)));
        assert_eq!(w.look(2500, &at(8), LIMIT, answers(true)), Verdict::Fine);
        // The next one is judged by the time that it has run.
        assert!(w.tick(now, Some((Seqno(2), LIMIT)), LIMIT, answers(true)));
        let moves = at(0x1000);
        assert_eq!(w.look(now, &moves, LIMIT, answers(true)), Verdict::Endless);
    }

    #[test]
    fn a_request_that_must_end_has_its_limit_although_others_run_in_between() {
        let answers = |ends| answer(None).map(|a| Answer { ends, ..a });
        // The hang check is off; the first one has run for 100 s.
        let mut runs = [100_000, 0].map(|ms| Run {
            ran: ms * 1_000_000,
            ends: false,
        });
        let mut w = Watch::default();
        let mut now = 100_000;
        let found = loop {
            let n = (now / 50 % 2) as usize;
            let (ends, run) = (n == 0, &mut runs[n]);
            *run = run.seen(ends);
            let limit = if ends { LIMIT } else { u64::MAX };
            let oldest = Some((Seqno(n as u32 + 1), run.ran / 1_000_000));
            if w.tick(now, oldest, limit, answers(ends)) {
                match w.look(now, &at(0x1000 + now), limit, answers(ends)) {
                    Verdict::Fine => {}
                    verdict => break (now, verdict),
                }
            }
            run.ran += 50_000_000;
            now += 50;
        };
        // Each has had the engine for half of the time.
        assert_eq!(found, (106_000, Verdict::Endless));
        // It need not end any more, and later must again.
        let run = Run { ran: 7, ends: true };
        assert_eq!((run.seen(true).ran, run.seen(false).ran), (7, 7));
        assert_eq!(run.seen(false).seen(true).ran, 0);
    }

    #[test]
    fn a_request_that_is_not_preempted_hangs() {
        let keeps = |asked| (std::vec![asked], Some((asked + 1500, Verdict::Keeps)));
        assert_eq!(watch_asking(|now| 0x1000 + now, u64::MAX), keeps(3000));
        assert_eq!(watch_asking(|_| 0x1000, u64::MAX), keeps(2000));
    }

    #[test]
    fn who_keeps_others_waiting_hangs_whatever_its_limit() {
        const NONE: u64 = u64::MAX;
        let mut w = Watch::default();
        assert!(!w.tick(0, A, NONE, answer(None)));
        assert!(!w.tick(1450, A, NONE, answer(Some(1450))));
        let overdue = answer(Some(1500));
        assert!(w.tick(1500, A, NONE, overdue));
        assert_eq!(w.look(1500, &at(0x1000), NONE, overdue), Verdict::Keeps);
    }
}
