// SPDX-License-Identifier: GPL-2.0
//! The tables of coverage are whole, what they name is there, and the page is made from them.

use ouro_coverage::{check, page, page_path, rows, top, TestNames, Totals, ALL, SNB};

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
