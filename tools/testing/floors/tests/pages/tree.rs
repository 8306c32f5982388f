// SPDX-License-Identifier: GPL-2.0

//! The tree's files, and the parts of a page: literals and the lines of literal blocks.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders of outputs.
const OUTPUTS: &[&str] = &[".git", "build", "target"];

/// Returns the top folder of the tree.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Reads a file of the tree. Panics if there is none.
pub fn text(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if prefix.is_empty() && OUTPUTS.contains(&name.as_str()) {
            continue;
        }
        found.push(path.clone());
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{path}/"), found);
        }
    }
}

/// Returns the paths of all files and folders of the tree, sorted, without outputs.
pub fn paths() -> Vec<String> {
    let mut found = Vec::new();
    walk(&top(), "", &mut found);
    found.sort();
    found
}

/// Returns the pages: `.rst` and `.md` files, but those that a program writes.
pub fn pages() -> Vec<String> {
    let written =
        |name: &str| name.starts_with("coverage") || ["truth.rst", "witnesses.rst"].contains(&name);
    paths()
        .into_iter()
        .filter(|path| path.ends_with(".rst") || path.ends_with(".md"))
        .filter(|path| !written(path.rsplit('/').next().unwrap()))
        .collect()
}

/// Returns the literals of a page: the text in double (`.rst`) or single (`.md`) backquotes.
pub fn literals(page: &str, text: &str) -> Vec<String> {
    let mark = if page.ends_with(".rst") { "``" } else { "`" };
    text.split("\n\n")
        .flat_map(|paragraph| paragraph.split(mark).skip(1).step_by(2))
        .map(|literal| literal.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// Languages of fenced blocks in which a line is a command, or what it prints.
const FENCES: &[&str] = &["", "sh", "bash", "console", "text"];

/// Returns the column of a line's text: behind the mark, if it begins an item of a list.
fn column(line: &str) -> usize {
    let text = line.trim_start();
    let mark = text.split(' ').next().unwrap_or("");
    let number = mark.strip_suffix('.').unwrap_or("");
    let item = ["*", "-"].contains(&mark)
        || number == "#"
        || !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    line.len() - text.len() + if item { mark.len() + 1 } else { 0 }
}

/// Returns the lines of the literal blocks of a page, trimmed.
pub fn block_lines(page: &str, text: &str) -> Vec<String> {
    let (rst, mut found, mut outer) = (page.ends_with(".rst"), Vec::new(), None);
    let (mut after_blank, mut fence) = (false, None);
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if let (false, Some(language)) = (rst, line.trim().strip_prefix("```")) {
            fence = match fence {
                None => Some(FENCES.contains(&language)),
                Some(_) => None,
            };
            continue;
        }
        if let Some(shown) = fence {
            if shown && !line.trim().is_empty() {
                found.push(line.trim().to_owned());
            }
            continue;
        }
        if line.trim().is_empty() {
            after_blank = true;
            continue;
        }
        let inside = match outer {
            Some(outer) => indent > outer,
            None => !rst && after_blank && indent >= 4,
        };
        after_blank = false;
        if inside {
            if !rst {
                outer = Some(3);
            }
            found.push(line.trim().to_owned());
        } else {
            let directive = line.trim().strip_prefix(".. ");
            let literal = rst
                && match directive {
                    Some(directive) => directive.starts_with("code-block::"),
                    None => line.trim_end().ends_with("::"),
                };
            outer = literal.then(|| column(line));
        }
    }
    found
}
