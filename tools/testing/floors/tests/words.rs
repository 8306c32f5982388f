// SPDX-License-Identifier: GPL-2.0

//! Comments of the driver use the field's words: a phrase that hides its subject is found.

use std::{fs, path::Path};

/// The folders whose comments are read.
const FOLDERS: &[&str] = &["drivers/gpu/drm/ouro", "rust/ouro_kernel"];

/// Phrases, in lower case, and the words to write in their place.
const PHRASES: &[(&str, &str)] = &[
    ("whoever", "name the caller, the client or the function"),
    (
        "somebody",
        "name the client, the CPU, the engine or the driver",
    ),
    (
        "nobody",
        "name the client, the CPU, the engine or the driver",
    ),
    (
        "anybody",
        "name the client, the CPU, the engine or the driver",
    ),
    ("what is so", "repeat the noun"),
    ("what is so of", "repeat the noun"),
    ("such a one", "repeat the noun"),
    ("the like", "list the items"),
    ("it is said", "name the document or the driver that says it"),
    ("is not told", "\"is not documented\""),
    ("let go", "\"release\", \"unpin\", \"unlock\", \"free\""),
    (
        "lets go",
        "\"releases\", \"unpins\", \"unlocks\", \"frees\"",
    ),
    ("letting go", "\"releasing\", \"unpinning\", \"freeing\""),
    ("for ever", "\"without end\", or the bound that is missing"),
    ("anew", "\"again\""),
];

/// How the comment of a function must not begin: a function does or returns something.
const OPENINGS: &[&str] = &["Whether ", "What ", "Where ", "How ", "Who "];

/// Returns the comment's text on `line` and whether it documents an item; `None` for code.
fn comment(line: &str) -> Option<(&str, bool)> {
    let rest = line.trim_start().strip_prefix("//")?;
    match rest.strip_prefix('/') {
        Some(text) => Some((text.trim(), true)),
        None => Some((rest.trim_start_matches('!').trim(), false)),
    }
}

fn is_function(line: &str) -> bool {
    let words = ["pub", "const", "unsafe", "extern", "async"];
    let mut code = line.split_whitespace();
    code.find(|word| !words.iter().any(|known| word.starts_with(known)) && !word.ends_with(')'))
        == Some("fn")
}

/// Returns whether `text` has `phrase` between characters that are no letters.
fn has(text: &str, phrase: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).any(|(at, _)| {
        !letter(text[..at].chars().next_back()) && !letter(text[at + phrase.len()..].chars().next())
    })
}

/// Returns the faults of a file's text, each with the line on which its comment begins.
fn faults(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let Some((_, doc)) = comment(lines[at]) else {
            at += 1;
            continue;
        };
        let (start, mut whole) = (at, String::new());
        while let Some((text, same)) = lines.get(at).and_then(|line| comment(line)) {
            if same != doc {
                break;
            }
            whole.push_str(text);
            whole.push(' ');
            at += 1;
        }
        let lower = whole.to_lowercase();
        for (phrase, instead) in PHRASES {
            if has(&lower, phrase) {
                found.push((start + 1, format!("\"{phrase}\": {instead}")));
            }
        }
        let item = lines[at..]
            .iter()
            .find(|line| !line.trim_start().starts_with("#["));
        if doc && item.is_some_and(|line| is_function(line)) {
            for opening in OPENINGS
                .iter()
                .filter(|opening| whole.starts_with(**opening))
            {
                let message = format!("a function's comment begins with \"{opening}\": use a verb");
                found.push((start + 1, message));
            }
        }
    }
    found
}

fn read(folder: &Path, see: &mut dyn FnMut(&Path, &str)) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            read(&path, see);
        } else if path.extension().is_some_and(|end| end == "rs") {
            see(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn comments_use_the_words_of_the_field() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        read(&top.join(folder), &mut |path, text| {
            let name = path.strip_prefix(&top).unwrap().display().to_string();
            wrong.extend(
                faults(text)
                    .into_iter()
                    .map(|(line, message)| format!("{name}:{line}: {message}")),
            );
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_phrase_is_found_across_lines_and_in_any_case() {
    for (text, count) in [
        ("// Whoever drops it\n", 1),
        ("/// The object is let\n/// go.\nstruct A;\n", 1),
        (
            "/// Whether it runs.\n#[inline]\npub(crate) const fn runs() {}\n",
            1,
        ),
        ("/// Whether it runs.\nruns: bool,\n", 0),
        ("let whoever = 1;\n", 0),
        ("// The outlet goes to a renewal\n", 0),
    ] {
        assert_eq!(faults(text).len(), count, "{text}");
    }
}
