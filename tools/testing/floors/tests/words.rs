// SPDX-License-Identifier: GPL-2.0

//! Comments of driver and models, and pages, use the field's words: a phrase that hides its subject is found.

use std::{fs, path::Path};

/// The folders whose comments are read.
const FOLDERS: &[&str] = &[
    "drivers/gpu/drm/ouro",
    "rust/ouro_kernel",
    "tools/gpu-model",
];

/// The folder whose pages are read.
const PAGES: &str = "Documentation/gpu/ouro";

/// The page that lists old words beside those of the field.
const OLD_WORDS: &str = "glossary.rst";

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

/// Adds the phrases of a text that begins on `line`.
fn phrases(text: &str, line: usize, found: &mut Vec<(usize, String)>) {
    let lower = text.to_lowercase();
    for (phrase, instead) in PHRASES {
        if has(&lower, phrase) {
            found.push((line, format!("\"{phrase}\": {instead}")));
        }
    }
}

/// Returns whether the indented lines after `line` are a literal block of reStructuredText.
fn begins_literal(line: &str) -> bool {
    let line = line.trim();
    match line.strip_prefix(".. ") {
        Some(directive) => ["code-block::", "parsed-literal::"]
            .iter()
            .any(|literal| directive.starts_with(literal)),
        None => line.ends_with("::"),
    }
}

/// Returns the faults of a page, each with the line on which its paragraph begins. Literals are left out.
fn page_faults(text: &str) -> Vec<(usize, String)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    let (mut paragraph, mut start, mut literal) = (String::new(), 0, None);
    for (at, line) in text.lines().chain([""]).enumerate() {
        if literal.is_some_and(|outer| line.trim().is_empty() || indent(line) > outer) {
            continue;
        }
        literal = begins_literal(line).then(|| indent(line));
        if paragraph.is_empty() {
            start = at + 1;
        }
        paragraph.push_str(line.trim());
        paragraph.push(' ');
        if line.trim().is_empty() || literal.is_some() {
            let prose: String = paragraph.split("``").step_by(2).collect();
            phrases(&prose, start, &mut found);
            paragraph.clear();
        }
    }
    found
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
        phrases(&whole, start + 1, &mut found);
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

fn read(folder: &Path, ending: &str, see: &mut dyn FnMut(&Path, &str)) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            read(&path, ending, see);
        } else if path.extension().is_some_and(|end| end == ending) {
            see(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

/// Fails if a file with this ending in one of the folders has a fault.
fn check(folders: &[&str], ending: &str, faults: fn(&str) -> Vec<(usize, String)>) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut wrong = Vec::new();
    for folder in folders {
        read(&top.join(folder), ending, &mut |path, text| {
            let name = path.strip_prefix(&top).unwrap().display().to_string();
            if !name.ends_with(OLD_WORDS) {
                wrong.extend(
                    faults(text)
                        .into_iter()
                        .map(|(line, message)| format!("{name}:{line}: {message}")),
                );
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn comments_use_the_words_of_the_field() {
    check(FOLDERS, "rs", faults);
}

#[test]
fn pages_use_the_words_of_the_field() {
    check(&[PAGES], "rst", page_faults);
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

#[test]
fn a_phrase_is_found_in_a_page_but_not_in_its_literals() {
    for (text, count) in [
        ("A loop that nobody\nends.\n", 1),
        ("The line ``nobody cares`` is the kernel's.\n", 0),
        ("It says::\n\n    nobody cares\n\nNobody does.\n", 1),
        (".. note::\n\n   Nobody does.\n", 1),
        (".. code-block:: c\n\n   nobody();\n", 0),
        ("``let\ngo`` of it, and let\ngo.\n", 1),
    ] {
        assert_eq!(page_faults(text).len(), count, "{text}");
    }
}
