// SPDX-License-Identifier: GPL-2.0
//! The table of what the driver does with each row of the Sandy Bridge checklist: that it is whole, and
//! that the files and tests that it names are there.

use std::{collections::BTreeSet, fs, path::PathBuf};

/// Rows of the checklist, and of its list of what the document leaves out.
const CHECKLIST: usize = 166;
const GAPS: usize = 50;

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The cells of a line: separated by commas, quoted where they have some.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("never empty").push(c),
        }
    }
    cells
}

/// Names of all test functions of the backends and of the tests across the wall, as the table has
/// them.
fn tests() -> BTreeSet<String> {
    let hw = top().join("drivers/gpu/drm/ouro/hw");
    let cross = top().join("tools/testing/host/tests");
    let mut found = BTreeSet::new();
    for (dir, prefix, suffix) in [
        (hw.clone(), "", "::tests"),
        (hw.join("gen6"), "gen6::", "::tests"),
        (cross, "", ""),
    ] {
        for entry in fs::read_dir(dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let module = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let source = fs::read_to_string(&path).expect("a source");
            let mut is_test = false;
            for line in source.lines().map(str::trim) {
                if line == "#[test]" {
                    is_test = true;
                } else if let Some(rest) = line.strip_prefix("fn ") {
                    if is_test {
                        let name = rest.split('(').next().expect("a name");
                        found.insert(format!("{prefix}{module}{suffix}::{name}"));
                    }
                    is_test = false;
                }
            }
        }
    }
    found
}

#[test]
fn every_row_of_the_checklist_is_accounted_for() {
    let table = top().join("Documentation/gpu/ouro/coverage/snb-driver.csv");
    let table = fs::read_to_string(table).expect("the table is there");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("row,where,test"));
    let expected: Vec<String> = (1..=CHECKLIST)
        .map(|n| format!("G6-{n:03}"))
        .chain((1..=GAPS).map(|n| format!("G-{n:02}")))
        .collect();
    let tests = tests();
    let (mut done, mut tested) = (0, 0);
    for (row, expected) in lines.by_ref().zip(&expected) {
        let cells = cells(row);
        let [id, place, test] = &cells[..] else {
            panic!("three cells: {row}");
        };
        assert_eq!(id, expected);
        if let Some(reason) = place.strip_prefix("not: ") {
            assert!(reason.len() > 5, "{id}: a reason");
        } else {
            done += 1;
            let file = place.split([':', ' ', ';']).next().expect("a file");
            let path = top().join("drivers/gpu/drm/ouro").join(file);
            assert!(path.exists(), "{id}: no file {file}");
        }
        if !test.is_empty() {
            tested += 1;
            assert!(tests.contains(test), "{id}: no test {test}");
        }
    }
    assert_eq!(lines.next(), None);
    assert_eq!(table.lines().count(), expected.len() + 1);
    println!(
        "cover: snb checklist, driver: {done} of {} rows in code, the rest with a reason; {tested} with a host test",
        expected.len()
    );
}

#[test]
fn every_mutant_names_a_file_and_a_test() {
    let list = fs::read_to_string(top().join("tools/testing/mutants/list.txt")).expect("a list");
    let tests = tests();
    let lines: Vec<&str> = list
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .collect();
    let mut names = BTreeSet::new();
    for mutant in lines.chunks(4) {
        let (name, file) = mutant[0].split_once(' ').expect("a name and a file");
        assert!(names.insert(name), "{name} is there once");
        let source = fs::read_to_string(top().join(file)).expect("a source");
        let search = mutant[1].strip_prefix("  search  ").expect("a search line");
        let replace = mutant[2]
            .strip_prefix("  replace ")
            .expect("a replace line");
        assert_eq!(source.matches(search).count(), 1, "{name}: {search}");
        assert_ne!(search, replace);
        let words: Vec<&str> = mutant[3]
            .strip_prefix("  test    ")
            .expect("a test line")
            .split(' ')
            .collect();
        let known = match words[..] {
            ["ouro_hw", "--lib", test] => tests.contains(test),
            ["ouro-cross", "--test", target, test] => tests.contains(&format!("{target}::{test}")),
            ["ouro_core", "--lib", _] => true,
            _ => false,
        };
        assert!(known, "{name}: {}", mutant[3]);
    }
    assert!(names.len() >= 24);
    println!("cover: mutants: {}", names.len());
}
