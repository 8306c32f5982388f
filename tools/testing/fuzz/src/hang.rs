// SPDX-License-Identifier: GPL-2.0
//! The judgement over an engine, told anything about it.

use crate::source::Source;
use ouro_core::hang::{Answer, Verdict, Watch};
use ouro_hw::report::Activity;
use ouro_hw::types::Seqno;

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    let mut watch = Watch::default();
    let mut now = s.odd();
    while !s.is_empty() {
        // Mostly forwards.
        now = match s.u8() {
            0 => s.odd(),
            step => now.saturating_add(u64::from(step)),
        };
        let limit = s.odd();
        let oldest = s.flag().then(|| Seqno(s.u8().into()));
        let ran = s.odd();
        let answer = s.flag().then(|| Answer {
            owed: s.flag().then(|| s.odd()),
            limit: s.odd(),
            ends: s.flag(),
        });
        let owed = answer.and_then(|a| a.owed);
        let overdue = answer.is_some_and(|a| a.owed.is_some_and(|ms| ms >= a.limit));
        let wanted = watch.tick(now, oldest.map(|seqno| (seqno, ran)), limit, answer);
        assert_eq!(watch.oldest(), oldest);
        assert!(
            !wanted || oldest.is_some(),
            "nothing is to be seen on an idle engine"
        );
        let activity = Activity {
            head: s.u8().into(),
            tail: s.u32(),
            acthd: s.odd(),
            units: [s.u8().into(), s.u32()],
            idle: s.flag(),
            waiting: s.flag(),
        };
        assert!(
            wanted || oldest.is_none() || !overdue,
            "it is seen that it does not let go"
        );
        let verdict = watch.look(now, &activity, limit, answer);
        match oldest {
            None => assert_eq!(verdict, Verdict::Fine),
            Some(_) => {
                let gone = activity.acthd & 0xffff_ffff == 0xffff_ffff;
                assert_eq!(verdict == Verdict::Gone, gone, "{activity:?}");
                assert_eq!(verdict == Verdict::Keeps, overdue && !gone);
                assert!(verdict != Verdict::Probe || (answer.is_some() && owed.is_none()));
                // Who is asked already may answer.
                let left = limit != 0 || owed.is_some();
                assert!(left || verdict != Verdict::Fine, "no time is left");
            }
        }
        match s.u8() % 8 {
            0 => watch.kicked(),
            1 => watch.probed(now),
            _ => {}
        }
    }
}
