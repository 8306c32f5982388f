// SPDX-License-Identifier: GPL-2.0
//! The results, as TAP: one test for each kind of difference, one for the reasons, one for each rule of order.

use crate::compare::{differences, judge, Difference};
use crate::list::List;
use crate::order::{Kept, Rule};
use crate::reasons::{Kind, Reason};

/// The text and whether all is well.
pub struct Verdict {
    /// TAP.
    pub tap: String,
    /// Nothing failed.
    pub good: bool,
    count: usize,
}

impl Verdict {
    fn test(&mut self, name: &str, said: &[String]) {
        for line in said {
            self.tap += &format!("# {line}\n");
        }
        self.count += 1;
        let not = if said.is_empty() { "" } else { "not " };
        self.tap += &format!("{not}ok {} - {name}\n", self.count);
        self.good &= said.is_empty();
    }
}

fn same_kind(difference: &Difference, kind: Kind) -> bool {
    std::mem::discriminant(&difference.kind) == std::mem::discriminant(&kind)
}

/// Whether a rule of order stands in two lists: what is wrong with it.
fn order(rule: &Rule, peer: &List, ours: &List) -> Vec<String> {
    let mut said = Vec::new();
    match rule.kept(ours) {
        Kept::Yes => {}
        Kept::No => said.push("ouro writes them in another order".to_owned()),
        Kept::Idle => said.push("ouro does not write the second: the rule says nothing".to_owned()),
    }
    match (rule.kept(peer), rule.ours_alone) {
        (Kept::Yes, false) | (Kept::No | Kept::Idle, true) => {}
        (Kept::Yes, true) => said.push("the upstream driver keeps it as well".to_owned()),
        (Kept::No, false) => {
            said.push("the upstream driver writes them in another order".to_owned())
        }
        (Kept::Idle, false) => {
            said.push("the upstream driver does not write the second".to_owned())
        }
    }
    said
}

/// Holds two lists against each other.
pub fn verdict(peer: &List, ours: &List, reasons: &[Reason], rules: &[Rule]) -> Verdict {
    let all = differences(peer, ours);
    let judged = judge(&all, reasons, peer, ours);
    let mut verdict = Verdict {
        tap: "TAP version 13\n".to_owned(),
        good: true,
        count: 0,
    };
    let kinds = [
        (
            Kind::PeerOnly,
            "what the upstream driver alone writes has a reason",
        ),
        (Kind::OursOnly, "what ouro alone writes has a reason"),
        (Kind::Value(0), "a value that differs has a reason"),
        (
            Kind::Unread,
            "what upstream reads before it writes, ouro reads, or there is a reason",
        ),
    ];
    let mut empty = Vec::new();
    for (name, list) in [("the upstream driver", peer), ("ouro", ours)] {
        if !list.events.contains_key("work") {
            empty.push(format!("no program of {name} has run"));
        }
    }
    verdict.test("both drivers have worked", &empty);
    for (kind, name) in kinds {
        let open = judged.open.iter().filter(|d| same_kind(d, kind));
        let said: Vec<String> = open
            .map(|d| format!("{} {} {}", d.key, d.kind, d.words))
            .collect();
        verdict.test(name, &said);
    }
    let stale = judged.stale.iter();
    let stale: Vec<String> = stale
        .map(|r| format!("line {}: {}", r.line, r.text))
        .collect();
    verdict.test("each reason has a difference", &stale);
    for rule in rules {
        verdict.test(&rule.name, &order(rule, peer, ours));
    }
    let written = |list: &List| list.uses.values().filter(|u| u.writes > 0).count();
    verdict.tap += &format!(
        "# cover: registers of {} written by the upstream driver: {}, by ouro: {}; differences with a reason: {}\n1..{}\n",
        ours.gpu,
        written(peer),
        written(ours),
        judged.explained,
        verdict.count
    );
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{order, reasons};

    const PEER: &str = r#"{"gpu":"snb","events":{"work":9}}
{"register":"009400","by":"cpu","writes":1,"first_read":null,"first":3,"ones":"a0","work":null,"values":[["a0",3]],"bits":{"5":3,"7":3}}
{"register":"00a168","by":"cpu","writes":1,"first_read":null,"first":2,"ones":"0","work":null,"values":[["0",2]],"bits":{}}
"#;

    fn told(ours: &str, reasons: &str, rules: &str) -> (Vec<String>, bool) {
        let (peer, ours) = (List::parse(PEER).unwrap(), List::parse(ours).unwrap());
        let reasons = reasons::parse(reasons).unwrap();
        let v = verdict(&peer, &ours, &reasons, &order::parse(rules).unwrap());
        let bad = v
            .tap
            .lines()
            .filter(|l| l.starts_with("not ok") || l.starts_with("# "));
        let bad = bad.filter(|l| !l.starts_with("# cover"));
        (bad.map(str::to_owned).collect(), v.good)
    }

    #[test]
    fn equal_lists_pass() {
        assert_eq!(told(PEER, "", "a168 < 9400 as it is"), (vec![], true));
    }

    #[test]
    fn an_open_difference_fails_under_its_kind() {
        let ours: String = PEER.lines().take(2).map(|l| format!("{l}\n")).collect();
        let (bad, good) = told(&ours, "", "");
        assert_eq!(
            bad,
            [
                "# a168 peer-only 1 times by cpu: 0",
                "not ok 2 - what the upstream driver alone writes has a reason"
            ]
        );
        assert!(!good);
        assert_eq!(
            told(&ours, "a168 peer-only it has no use", ""),
            (vec![], true)
        );
    }

    #[test]
    fn a_reason_without_a_difference_fails() {
        let (bad, good) = told(PEER, "a168 peer-only it has no use", "");
        assert_eq!(
            bad,
            [
                "# line 1: a168 peer-only it has no use",
                "not ok 6 - each reason has a difference"
            ]
        );
        assert!(!good);
    }

    #[test]
    fn an_order_is_held_against_both() {
        let (bad, good) = told(PEER, "", "9400 < a168 the wrong way");
        assert_eq!(bad.len(), 3, "{bad:?}");
        assert!(!good);
        let (bad, _) = told(PEER, "", "ours: a168 < 9400 but upstream does");
        assert_eq!(
            bad,
            [
                "# the upstream driver keeps it as well",
                "not ok 7 - a168 before 9400: but upstream does"
            ]
        );
    }

    #[test]
    fn a_guest_in_which_nothing_worked_fails() {
        let (bad, good) = told(&PEER.replace("\"work\":9", ""), "", "");
        assert_eq!(
            bad,
            [
                "# no program of ouro has run",
                "not ok 1 - both drivers have worked"
            ]
        );
        assert!(!good);
    }
}
