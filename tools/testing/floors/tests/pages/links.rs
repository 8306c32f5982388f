// SPDX-License-Identifier: GPL-2.0

//! Links of pages lead somewhere: pages, labels and files exist, and an address on the web is that of a public site.
//! Nothing is fetched.

use crate::tree::{block_lines, paths, text};
use std::collections::BTreeSet;

/// Returns all pages, also those that a program writes.
fn pages() -> Vec<String> {
    paths()
        .into_iter()
        .filter(|path| path.ends_with(".rst") || path.ends_with(".md"))
        .collect()
}

/// Returns the text without literals and literal blocks.
fn prose(page: &str, content: &str) -> String {
    let blocks: BTreeSet<String> = block_lines(page, content).into_iter().collect();
    let rest: Vec<&str> = content
        .lines()
        .filter(|line| !blocks.contains(line.trim()))
        .collect();
    let mark = if page.ends_with(".rst") { "``" } else { "`" };
    rest.join("\n")
        .split("\n\n")
        .flat_map(|paragraph| paragraph.split(mark).step_by(2))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the targets of a role of reStructuredText: of `:doc:` for example.
fn targets(content: &str, role: &str) -> Vec<String> {
    content
        .split(&format!(":{role}:`"))
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('`')?.0))
        .map(|inner| match inner.rsplit_once('<') {
            Some((_, target)) => target.trim_end_matches('>').to_owned(),
            None => inner.split_whitespace().collect::<Vec<_>>().join(" "),
        })
        .collect()
}

/// Returns the labels that a page defines, in lower case as Sphinx has them.
fn labels(content: &str) -> impl Iterator<Item = String> + '_ {
    content
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".. _")?.strip_suffix(':'))
        .map(str::to_lowercase)
}

/// Returns the pictures of a page and its table of contents, as paths from the page's folder.
fn included(content: &str) -> Vec<String> {
    let (mut found, mut contents) = (Vec::new(), false);
    for line in content.lines() {
        let inside = line.starts_with(' ') || line.is_empty();
        contents = line.starts_with(".. toctree::") || contents && inside;
        let trimmed = line.trim();
        for picture in [".. figure::", ".. image::"] {
            found.extend(
                trimmed
                    .strip_prefix(picture)
                    .map(|name| name.trim().to_owned()),
            );
        }
        if contents && inside && !trimmed.is_empty() && !trimmed.starts_with(':') {
            found.push(format!("{trimmed}.rst"));
        }
    }
    found
}

/// Returns the targets of a page's links in Markdown, without fragments.
fn markdown(content: &str) -> Vec<String> {
    content
        .split("](")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0))
        .map(|target| target.split('#').next().unwrap().to_owned())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

/// Returns `target` from the page's folder as a path of the tree; `None` if it leads out of the tree.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Returns the links of a page whose page, label or file does not exist.
fn dead(page: &str, content: &str, all: &[String], known: &BTreeSet<String>) -> Vec<String> {
    let prose = prose(page, content);
    let mut files = Vec::new();
    let mut wrong = Vec::new();
    if page.ends_with(".rst") {
        files.extend(
            targets(&prose, "doc")
                .iter()
                .map(|name| format!("{name}.rst")),
        );
        files.extend(included(content));
        wrong.extend(
            targets(&prose, "ref")
                .into_iter()
                .filter(|label| !known.contains(&label.to_lowercase()))
                .map(|label| format!("{page}: no such label: {label}")),
        );
    } else {
        files.extend(markdown(&prose));
    }
    for file in files {
        let path = resolve(page, &file);
        if path.is_none_or(|path| all.binary_search(&path).is_err()) {
            wrong.push(format!("{page}: no such file: {file}"));
        }
    }
    wrong
}

#[test]
fn links_within_the_tree_lead_to_a_page_label_or_file() {
    let all = paths();
    let known: BTreeSet<String> = pages()
        .iter()
        .flat_map(|page| labels(&text(page)).collect::<Vec<_>>())
        .collect();
    assert!(known.contains("what-a-batch-can-reach"), "{known:?}");
    let wrong: Vec<String> = pages()
        .iter()
        .flat_map(|page| dead(page, &text(page), &all, &known))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_dead_link_is_found() {
    let all = ["COPYING", "doc", "doc/a.rst", "doc/b.md", "doc/picture.svg"].map(str::to_owned);
    let known = ["here".to_owned()].into();
    for (page, content, count) in [
        (
            "doc/a.rst",
            ":doc:`a` and :doc:`this page <a>` and :ref:`Here`",
            0,
        ),
        ("doc/a.rst", ":doc:`c` and :ref:`there`", 2),
        ("doc/a.rst", "``:doc:`c```, as text", 0),
        (
            "doc/a.rst",
            ".. toctree::\n   :maxdepth: 1\n\n   a\n   c\n\nText\n",
            1,
        ),
        (
            "doc/a.rst",
            ".. figure:: picture.svg\n   :alt: none\n\n.. image:: photo.png\n",
            1,
        ),
        ("doc/b.md", "[a](a.rst#part) and [licence](../COPYING)", 0),
        ("doc/b.md", "[c](c.rst) and [out](../../COPYING)", 2),
        ("doc/b.md", "`[c](c.rst)`", 0),
    ] {
        assert_eq!(dead(page, content, &all, &known).len(), count, "{content}");
    }
}

/// Endings of names of public sites.
const PUBLIC: &[&str] = &["org", "com", "net", "dev", "io", "rs"];

/// Returns the words of a text that are an address on the web: with a scheme, or a site's name with a path.
fn addresses(content: &str) -> Vec<&str> {
    let around = |c: char| "<>()[]\"'`,;*".contains(c) || c.is_whitespace();
    content
        .split(around)
        .map(|word| word.trim_end_matches([':', '.']))
        .filter(|word| {
            let site = word.split_once('/').map_or("", |(site, _)| site);
            let ending = site.rsplit_once('.').map_or("", |(_, ending)| ending);
            word.contains("://") || word.contains('/') && PUBLIC.contains(&ending)
        })
        .collect()
}

/// Returns whether an address is that of a public document: by https if it has a scheme, on a named public site, without
/// user and port.
fn is_public(address: &str) -> bool {
    let rest = match address.split_once("://") {
        Some(("https", rest)) => rest,
        Some(_) => return false,
        None => address,
    };
    let site = rest.split('/').next().unwrap();
    let label = |label: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !label.is_empty() && label.chars().all(inner) && !label.starts_with('-')
    };
    let ending = site.rsplit_once('.').map(|(_, ending)| ending);
    let path = |c: char| c.is_ascii_alphanumeric() || "/._-~%?=&#+@".contains(c);
    ending.is_some_and(|ending| PUBLIC.contains(&ending))
        && site.split('.').all(label)
        && rest.chars().all(path)
        && !rest.contains("//")
}

#[test]
fn addresses_on_the_web_are_those_of_public_documents() {
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for page in pages() {
        let content = text(&page);
        for address in addresses(&content) {
            if !is_public(address) {
                wrong.push(format!("{page}: not a public address: {address}"));
            }
            seen.insert(address.to_owned());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.contains("x.org/docs/intel/SNB"), "{seen:?}");
}

#[test]
fn an_address_that_is_not_public_is_found() {
    for (address, public) in [
        (
            "https://www.x.org/docs/AMD/old/R5xx_Acceleration_v1.5.pdf",
            true,
        ),
        ("x.org/docs/intel", true),
        ("http://www.x.org/docs", false),
        ("https://localhost/docs", false),
        ("https://192.168.0.1/docs", false),
        ("https://mirror.internal/debian", false),
        ("https://x.org:8080/docs", false),
        ("https://me@x.org/docs", false),
        ("file:///usr/share/doc/manual.pdf", false),
        ("https://x.org//docs", false),
    ] {
        assert_eq!(addresses(address), [address]);
        assert_eq!(is_public(address), public, "{address}");
    }
    let text = "See x.org/docs/intel/SNB, and/or <https://docs.kernel.org/gpu/i915.html>. Not a/b.c or src/main.rs.";
    let known = [
        "x.org/docs/intel/SNB",
        "https://docs.kernel.org/gpu/i915.html",
    ];
    assert_eq!(addresses(text), known);
}
