// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The model's column of the coverage table: every row of the Gen6 checklist is there, and what it
//! names exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn table() -> Vec<[String; 3]> {
    let path = manifest().join("../../Documentation/gpu/ouro/coverage/snb-model.csv");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("row|model|tests"));
    lines
        .map(|l| {
            let cells: Vec<String> = l.split('|').map(str::to_owned).collect();
            <[String; 3]>::try_from(cells).unwrap_or_else(|_| panic!("three cells: {l}"))
        })
        .collect()
}

#[test]
fn all_rows_in_order() {
    // G6-001 to G6-166 are the document's, G-01 to G-50 what it leaves out.
    let rows: Vec<String> = table().into_iter().map(|[row, ..]| row).collect();
    let checklist = (1..=166).map(|n| format!("G6-{n:03}"));
    let gaps = (1..=50).map(|n| format!("G-{n:02}"));
    let expected: Vec<String> = checklist.chain(gaps).collect();
    assert_eq!(rows, expected);
}

#[test]
fn each_row_has_a_place_and_a_test_or_a_reason() {
    for [row, place, tests] in table() {
        match place.strip_prefix("n/a: ") {
            Some(reason) => assert!(!reason.is_empty() && tests.is_empty(), "{row}"),
            None => assert!(!place.is_empty() && !tests.is_empty(), "{row}"),
        }
    }
}

#[test]
fn the_files_and_tests_exist() {
    let mut checked = BTreeSet::new();
    for [row, place, tests] in table() {
        for word in place
            .split([' ', ':', ';', '(', ')'])
            .filter(|w| w.ends_with(".rs"))
        {
            assert!(manifest().join("src").join(word).exists(), "{row}: {word}");
        }
        for test in tests.split_whitespace() {
            if !checked.insert(test.to_owned()) {
                continue;
            }
            let (file, name) = test
                .split_once("::")
                .unwrap_or_else(|| panic!("{row}: {test}"));
            let path: PathBuf = match file.ends_with(".rs") {
                true => manifest().join("src").join(file),
                false => manifest().join("tests").join(file).with_extension("rs"),
            };
            let text =
                std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{row}: {file}: {e}"));
            let found = text.contains(&format!("fn {name}("));
            assert!(found, "{row}: no test {name} in {file}");
        }
    }
    assert!(checked.len() > 100, "{} tests named", checked.len());
}
