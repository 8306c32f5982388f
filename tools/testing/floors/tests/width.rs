// SPDX-License-Identifier: GPL-2.0

//! Lines of the kernel's Rust files have at most 100 columns. `rustfmt` leaves comments, strings, macros and tables
//! that are marked `rustfmt::skip` as they are.

use std::{fs, path::Path};

/// The folders whose files are read.
const FOLDERS: &[&str] = &["drivers", "rust"];

/// Columns of a line.
const MOST: usize = 100;

/// Returns the lines that are too long, from 1, with their columns.
fn wide(text: &str) -> Vec<(usize, usize)> {
    (1..)
        .zip(text.lines().map(|line| line.chars().count()))
        .filter(|(_, columns)| *columns > MOST)
        .collect()
}

/// Adds the wide lines of all Rust files below a folder.
fn look(top: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(top, &path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
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
    for folder in FOLDERS {
        look(&top, &top.join(folder), &mut found);
    }
    found.sort();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_wide_line_is_found() {
    let text = format!(
        "{}\n{}\n{}\n",
        "a".repeat(100),
        "b".repeat(101),
        "ä".repeat(100)
    );
    assert_eq!(wide(&text), [(2, 101)]);
}
