// SPDX-License-Identifier: GPL-2.0

//! The paths of Rust that pages name, as `module::function()` and `Type::field`, are in the code.

use crate::tree::{literals, pages, paths, text};
use std::collections::BTreeSet;

/// Beginnings of paths whose code is not in this tree.
const ELSEWHERE: &[&str] = &["kernel::", "zerocopy::", "mem::", "pci::Driver"];

/// A file of Rust: the names of its folders and its own, and its words.
struct Code {
    modules: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Code {
    fn new(path: &str, content: &str) -> Self {
        let modules = path.trim_end_matches(".rs").split('/');
        let words = content.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        Self {
            modules: modules.map(|part| part.replace('-', "_")).collect(),
            words: words.map(str::to_owned).collect(),
        }
    }

    /// Returns whether `name` is in the file, and `outer`, a type, too; a module is the file's or that of a folder above.
    fn has(&self, outer: &str, name: &str) -> bool {
        let inside = match outer.starts_with(char::is_uppercase) {
            true => self.words.contains(outer),
            false => self
                .modules
                .contains(outer.strip_prefix("ouro_").unwrap_or(outer)),
        };
        inside && (self.words.contains(name) || self.modules.contains(name))
    }
}

/// Returns the paths of a page, each with its last two names.
fn named(page: &str, content: &str) -> Vec<(String, String, String)> {
    let ident = |part: &str| {
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        part.starts_with(char::is_alphabetic) && part.chars().all(letters)
    };
    literals(page, content)
        .into_iter()
        .filter_map(|literal| {
            let parts: Vec<&str> = literal.trim_end_matches("()").split("::").collect();
            let [.., outer, name] = parts[..] else {
                return None;
            };
            let code = parts.iter().all(|part| ident(part)) && outer.len() > 1;
            let here = !ELSEWHERE.iter().any(|start| literal.starts_with(start));
            (code && here).then(|| (literal.clone(), outer.to_owned(), name.to_owned()))
        })
        .collect()
}

/// Returns the paths of a page that no file has.
fn unknown(page: &str, content: &str, code: &[Code]) -> Vec<String> {
    named(page, content)
        .into_iter()
        .filter(|(_, outer, name)| !code.iter().any(|file| file.has(outer, name)))
        .map(|(path, ..)| format!("{page}: not in the code: {path}"))
        .collect()
}

#[test]
fn paths_of_rust_that_pages_name_are_in_the_code() {
    let code: Vec<Code> = paths()
        .into_iter()
        .filter(|path| path.ends_with(".rs"))
        .map(|path| Code::new(&path, &text(&path)))
        .collect();
    let pages = || pages().into_iter().map(|page| (text(&page), page));
    let count: usize = pages()
        .map(|(content, page)| named(&page, &content).len())
        .sum();
    assert!(count > 100, "{count} paths");
    let wrong: Vec<_> = pages()
        .flat_map(|(content, page)| unknown(&page, &content, &code))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_path_of_rust_that_is_not_there_is_found() {
    let code = [
        Code::new("submit/moves.rs", "pub(super) fn cancel() {}"),
        Code::new("core/hang.rs", "impl Watch { fn tick() {} }"),
    ];
    for (content, count) in [
        ("``moves::cancel()`` and ``submit::moves::cancel``", 0),
        ("``migrate::cancel()``", 1),
        ("``ouro_core::hang`` and ``Watch::tick()``", 0),
        ("``Watch::cancel()``", 1),
        ("``fences.c::are_waited_for`` and ``mem::forget()``", 0),
        ("``D::Data``, a parameter", 0),
    ] {
        assert_eq!(unknown("a.rst", content, &code).len(), count, "{content}");
    }
}
