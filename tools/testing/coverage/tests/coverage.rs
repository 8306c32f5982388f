// SPDX-License-Identifier: GPL-2.0
//! The tables of coverage are whole, what they name is there, and the page is made from them.

use ouro_coverage::{
    check, check_lines, entries, lines, page, page_path, rows, top, truth_page, witnesses_page,
    Count, Kind, Line, TestNames, Totals, Verdict, ALL, SNB,
};

#[test]
fn whatever_the_tables_name_exists() {
    for list in ALL {
        let rows = rows(&top(), list).expect("the tables are whole");
        if let Err(wrong) = check(&top(), &rows) {
            panic!("{wrong}");
        }
        let totals = Totals::of(&rows);
        println!(
            "cover: {}: checklist rows {} of {} with driver, {} with model, {} with tests",
            list.name, totals.driver, totals.rows, totals.model, totals.tests
        );
    }
}

#[test]
fn the_page_is_made_from_the_tables() {
    for list in ALL {
        let rows = rows(&top(), list).expect("the tables are whole");
        let there = std::fs::read_to_string(page_path(&top(), list)).expect("the page is there");
        assert!(
            there == page(list, &rows),
            "{} is stale: cargo run -p ouro-coverage",
            list.page
        );
    }
    for (name, text) in [
        ("witnesses.rst", witnesses_page(&top())),
        ("truth.rst", truth_page(&top())),
    ] {
        let path = top().join("Documentation/gpu/ouro").join(name);
        let there = std::fs::read_to_string(path).expect("the page is there");
        let made = text.expect("the tables are whole");
        assert!(there == made, "{name} is stale: cargo run -p ouro-coverage");
    }
}

#[test]
fn whoever_says_a_row_exists() {
    let entries = entries(&top()).expect("the table is whole");
    let (mut any, mut best) = (0, 0);
    for list in ALL {
        let lines = lines(&top(), list, &entries).expect("the table is whole");
        if let Err(wrong) = check_lines(&top(), list, &lines) {
            panic!("{}: {wrong}", list.name);
        }
        let count = Count::of(list, &lines);
        any += count.any;
        best += count.best;
    }
    assert!(any >= 150 && best >= 40, "{any} rows, {best} of them best");
    println!("cover: witnesses: {any} rows, {best} of them by silicon or the vendor");
}

#[test]
fn a_witness_that_is_not_there_is_found() {
    let line = |row: &str, witness: &str, kind: Kind| Line {
        row: row.to_owned(),
        verdict: Verdict::For,
        witnesses: vec![(witness.to_owned(), kind)],
        tests: vec![],
        note: String::new(),
    };
    let up = Kind::Upstream;
    let mut all = vec![
        line("G6-001", "peer:snb:2520.9<engine+228", up),
        // There is such a rule of order, but not on this chip; one that ouro alone writes.
        line("G6-002", "peer:snb:4180<1203c.0", up),
        line("G6-003", "peer:snb:120b0", up),
        line("G6-004", "peer:snb:4094", up),
        line("G6-005", "igt:snb:gem_exec_store@basic", up),
        line("G6-006", "igt:snb:gem_nothing@basic", up),
        line("G6-007", "VW05", Kind::Vendor),
        line("G6-999", "SW01", Kind::Silicon),
        line("G6-001", "SW01", Kind::Silicon),
    ];
    all[8].verdict = Verdict::Against;
    all[8].tests = vec!["snb_rings::nothing".to_owned()];
    let wrong = check_lines(&top(), &SNB, &all).expect_err("seven are wrong");
    assert_eq!(
        wrong.to_string(),
        "G6-002: upstream does not say peer:snb:4180<1203c.0\n\
         G6-003: upstream does not say peer:snb:120b0\n\
         G6-006: upstream does not say igt:snb:gem_nothing@basic\n\
         G6-007: no test is made from VW05\n\
         G6-999: no such row\n\
         G6-001: out of order\n\
         G6-001: no test snb_rings::nothing\n\
         G6-001: what was done about it?"
    );
}

#[test]
fn a_name_that_is_not_there_is_found() {
    let mut rows = rows(&top(), &SNB).expect("the tables are whole");
    rows.truncate(2);
    rows[0].driver.place = "hw/gen6/nowhere.rs: nothing".to_owned();
    rows[1].driver.tests = vec!["gen6_requests::nothing".to_owned()];
    let wrong = check(&top(), &rows).expect_err("two are wrong").to_string();
    assert_eq!(
        wrong,
        "G6-001: driver: no file hw/gen6/nowhere.rs\nG6-002: driver: no test gen6_requests::nothing"
    );
}

#[test]
fn tests_of_every_kind_are_found() {
    let names = TestNames::read(&top()).expect("the tree is there");
    for name in [
        "intel::processor::pte::tests::entries_are_those_of_2_2_2_1",
        "port::tests::a_full_ring_changes_nothing",
        "gen6_requests::every_engine_stores_by_a_users_batch",
        "snb_rings::each_ring_stores_a_value",
        "intel/pte.rs::directory_entry",
        "kunit::fence_signals_once",
        "getparam.c::always_there",
    ] {
        assert!(names.has(name), "{name}");
    }
}
