// SPDX-License-Identifier: GPL-2.0

//! Lines of the kernel's Rust files and of the kselftests have at most 100 columns. `rustfmt` leaves comments, strings,
//! macros and tables that are marked `rustfmt::skip` as they are.

use std::{fs, path::Path};

/// The folders whose files are read, and the endings of their names.
const FOLDERS: &[(&str, &[&str])] = &[
    ("drivers", &["rs"]),
    ("rust", &["rs"]),
    ("tools/testing/selftests", &["c", "h"]),
];

/// Columns of a line.
const MOST: usize = 100;

/// Columns of a tab.
const TAB: usize = 8;

/// Returns the columns of a line.
fn columns(line: &str) -> usize {
    line.chars().fold(0, |column, letter| match letter {
        '\t' => (column / TAB + 1) * TAB,
        _ => column + 1,
    })
}

/// Returns the lines that are too long, from 1, with their columns.
fn wide(text: &str) -> Vec<(usize, usize)> {
    (1..)
        .zip(text.lines().map(columns))
        .filter(|(_, columns)| *columns > MOST)
        .collect()
}

/// Adds the wide lines of all files below a folder whose names have one of these endings.
fn look(top: &Path, folder: &Path, endings: &[&str], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(top, &path, endings, found);
        } else if path
            .extension()
            .is_some_and(|e| endings.iter().any(|ending| e == *ending))
        {
            let name = path.strip_prefix(top).unwrap().display();
            for (line, columns) in wide(&fs::read_to_string(&path).unwrap()) {
                found.push(format!("{name}:{line}: {columns} columns"));
            }
        }
    }
}

#[test]
fn lines_have_at_most_100_columns() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut found = Vec::new();
    for (folder, endings) in FOLDERS {
        look(&top, &top.join(folder), endings, &mut found);
    }
    found.sort();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_wide_line_is_found() {
    let text = format!(
        "{}\n{}\n{}\n/\t{}\n",
        "a".repeat(100),
        "b".repeat(101),
        "ä".repeat(100),
        "c".repeat(93)
    );
    assert_eq!(wide(&text), [(2, 101), (4, 101)]);
}
