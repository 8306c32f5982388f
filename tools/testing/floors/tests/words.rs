// SPDX-License-Identifier: GPL-2.0

//! Comments, strings and pages use the field's words: a phrase that hides its subject is found.

use ouro_floors::code::Code;
use std::{fs, path::Path};

/// The folders whose Rust files are read.
const FOLDERS: &[&str] = &[
    "drivers/gpu/drm/ouro",
    "rust/ouro_kernel",
    "tools/gpu-model",
];

/// The folders whose C files are read.
const C_FOLDERS: &[&str] = &[
    "include/uapi/drm",
    "rust/ouro_kernel",
    "tools/testing/selftests/drm/ouro",
];

/// The folder whose scripts are read: each file in it.
const SCRIPTS: &str = "tools/vm";

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

/// A message of the kernel, which has one of the phrases.
const KERNELS: &str = "nobody cared";

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
    let lower = text.to_lowercase().replace(KERNELS, "");
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

/// Adds the phrases in the strings of a Rust or C file.
fn string_phrases(text: &str, found: &mut Vec<(usize, String)>) {
    for (line, string) in Code::new(text).strings() {
        phrases(string, line, found);
    }
}

/// Adds a fault if `text`, the comment of a function, begins without a verb.
fn opening(text: &str, line: usize, found: &mut Vec<(usize, String)>) {
    if let Some(opening) = OPENINGS.iter().find(|opening| text.starts_with(**opening)) {
        let message = format!("a function's comment begins with \"{opening}\": use a verb");
        found.push((line, message));
    }
}

/// Returns whether a line of C begins a function that is no test.
fn is_c_function(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_lowercase())
        && line.contains('(')
        && !line.contains('=')
        && !line.starts_with("typedef")
}

/// Returns the faults of a C file, each with the line on which its comment or string begins.
fn c_faults(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    string_phrases(text, &mut found);
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        at += 1;
        let Some((_, mut rest)) = lines[start].split_once("/*") else {
            continue;
        };
        let mut whole = String::new();
        loop {
            let (part, ends) = match rest.split_once("*/") {
                Some((part, _)) => (part, true),
                None => (rest, false),
            };
            whole.push_str(part.trim().trim_start_matches('*').trim_start());
            whole.push(' ');
            if ends || at == lines.len() {
                break;
            }
            rest = lines[at];
            at += 1;
        }
        phrases(&whole, start + 1, &mut found);
        if lines.get(at).is_some_and(|line| is_c_function(line)) {
            opening(whole.trim_start(), start + 1, &mut found);
        }
    }
    found
}

/// Returns the faults of a script: comments are read as a whole, and code a line at a time.
fn script_faults(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut comment, mut start) = (String::new(), 0);
    for (at, line) in text.lines().chain([""]).enumerate() {
        match line.trim_start().strip_prefix('#') {
            Some(text) => {
                if comment.is_empty() {
                    start = at + 1;
                }
                comment.push_str(text.trim());
                comment.push(' ');
            }
            None => {
                phrases(&comment, start, &mut found);
                comment.clear();
                phrases(line, at + 1, &mut found);
            }
        }
    }
    found
}

/// Returns the faults of a Rust file, each with the line on which its comment or string begins.
fn faults(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    string_phrases(text, &mut found);
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
            opening(&whole, start + 1, &mut found);
        }
    }
    found
}

/// Passes each file with one of these endings below a folder to `see`; without endings, all files.
fn read(folder: &Path, endings: &[&str], see: &mut dyn FnMut(&Path, &str)) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            read(&path, endings, see);
        } else if endings.is_empty()
            || path
                .extension()
                .is_some_and(|end| endings.iter().any(|ending| end == *ending))
        {
            see(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

/// Fails if a file with one of these endings in one of the folders has a fault.
fn check(folders: &[&str], endings: &[&str], faults: fn(&str) -> Vec<(usize, String)>) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut wrong = Vec::new();
    for folder in folders {
        read(&top.join(folder), endings, &mut |path, text| {
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
fn rust_uses_the_words_of_the_field() {
    check(FOLDERS, &["rs"], faults);
}

#[test]
fn c_uses_the_words_of_the_field() {
    check(C_FOLDERS, &["c", "h"], c_faults);
}

#[test]
fn scripts_use_the_words_of_the_field() {
    check(&[SCRIPTS], &[], script_faults);
}

#[test]
fn pages_use_the_words_of_the_field() {
    check(&[PAGES], &["rst"], page_faults);
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
        ("let a = \"nobody runs\";\n", 1),
        ("let a = \"irq 9: nobody cared\";\n", 0),
    ] {
        assert_eq!(faults(text).len(), count, "{text}");
    }
}

#[test]
fn a_phrase_is_found_in_c() {
    for (text, count) in [
        ("/* Nobody runs. */\n", 1),
        ("/*\n * The object is let\n * go.\n */\nstruct a;\n", 1),
        ("\tint a;\t/* nobody's */\n", 1),
        ("\tSKIP(return, \"nobody counts\");\n", 1),
        ("int nobody;\n", 0),
        ("/* Whether it runs. */\nstatic bool runs(int fd)\n", 1),
        ("/* Whether it runs. */\nbool runs;\n", 0),
        ("/* What runs. */\nTEST_F(a, b)\n", 0),
    ] {
        assert_eq!(c_faults(text).len(), count, "{text}");
    }
}

#[test]
fn a_phrase_is_found_in_a_script() {
    for (text, count) in [
        ("# The card is let\n# go.\n", 1),
        ("die \"nobody counts\"\n", 1),
        ("BAD='nobody cared'\n", 0),
    ] {
        assert_eq!(script_faults(text).len(), count, "{text}");
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
