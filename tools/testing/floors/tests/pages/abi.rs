// SPDX-License-Identifier: GPL-2.0

//! `Documentation/ABI` and `parameters.rst` have the files and parameters that the driver has.

use crate::tree::{literals, pages, paths, text};
use std::collections::BTreeSet;

const DRIVER: &str = "drivers/gpu/drm/ouro";

/// Returns the text between `before` and `after` at each place of `text`.
fn between<'a>(text: &'a str, before: &'a str, after: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before)
        .skip(1)
        .filter_map(move |rest| Some(rest.split_once(after)?.0))
}

/// Returns the paths of the `What:` fields of an ABI file.
fn entries(abi: &str) -> Vec<&str> {
    let mut what = false;
    abi.lines()
        .filter_map(|line| {
            what = match line.split_once(':') {
                Some(("What", _)) => true,
                Some((key, _)) if !key.contains(['/', '\t', ' ']) => false,
                _ => what,
            };
            let path = line.strip_prefix("What:").unwrap_or(line).trim();
            (what && path.starts_with('/')).then_some(path)
        })
        .collect()
}

/// Returns the last names of the paths of an ABI file.
fn names(abi: &str) -> BTreeSet<String> {
    entries(abi)
        .iter()
        .map(|path| path.rsplit('/').next().unwrap().to_owned())
        .collect()
}

/// Returns the names of the files that `source` declares.
fn declared(source: &str) -> BTreeSet<String> {
    ["NAME", "OF_GT"]
        .iter()
        .flat_map(|name| {
            let before = format!("const {name}: &'static CStr = c\"");
            let names: Vec<_> = between(source, &before, "\"").map(str::to_owned).collect();
            names
        })
        .collect()
}

#[test]
fn files_of_sysfs_are_documented() {
    let mut source = declared(&text(&format!("{DRIVER}/sysfs.rs")));
    source.extend(declared(&text(&format!("{DRIVER}/sysfs/clocks.rs"))));
    for name in ["error", "gt_max_freq_mhz", "rps_max_freq_mhz"] {
        assert!(source.contains(name), "{source:?}");
    }
    assert_eq!(
        names(&text("Documentation/ABI/testing/sysfs-driver-ouro")),
        source
    );
}

#[test]
fn files_of_debugfs_are_documented() {
    let source = declared(&text(&format!("{DRIVER}/debugfs.rs")));
    assert!(source.contains("i915_wedged"), "{source:?}");
    assert_eq!(
        names(&text("Documentation/ABI/testing/debugfs-driver-ouro")),
        source
    );
}

#[test]
fn other_files_of_the_driver_declare_none() {
    for path in paths() {
        let files = ["/sysfs.rs", "/sysfs/clocks.rs", "/debugfs.rs"];
        let other = !files.iter().any(|file| path.ends_with(file));
        if path.starts_with(DRIVER) && path.ends_with(".rs") && other {
            assert!(declared(&text(&path)).is_empty(), "{path}");
        }
    }
}

/// Returns the module's parameters of numbers: those of `module!`.
fn numbers() -> BTreeSet<String> {
    let main = text(&format!("{DRIVER}/ouro_main.rs"));
    between(&main, "params: {", "\n}")
        .flat_map(str::lines)
        .filter_map(|line| Some(line.trim().split_once(": u32 {")?.0.to_owned()))
        .collect()
}

/// Returns the module's parameters of text, which sysfs shows.
fn words() -> BTreeSet<String> {
    between(
        &text("rust/ouro_kernel/param.rs"),
        "pub fn ",
        "() -> &'static str",
    )
    .map(str::to_owned)
    .collect()
}

/// Returns all of the module's parameters.
pub fn parameters() -> BTreeSet<String> {
    &numbers() | &words()
}

#[test]
fn parameters_are_documented() {
    let page = text("Documentation/gpu/ouro/parameters.rst");
    let documented: BTreeSet<String> = page
        .lines()
        .filter_map(|line| Some(line.strip_prefix("``")?.split_once("`` ")?.0.to_owned()))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect();
    assert!(numbers().contains("hang_ms"), "{:?}", numbers());
    assert_eq!(documented, parameters());
    let abi = text("Documentation/ABI/testing/sysfs-module-ouro");
    assert_eq!(names(&abi), words());
}

/// Returns the paths of the ABI files, with each `<...>` and number as one `*`.
fn known() -> BTreeSet<String> {
    [
        "debugfs-driver-ouro",
        "sysfs-driver-ouro",
        "sysfs-module-ouro",
    ]
    .iter()
    .flat_map(|file| {
        let abi = text(&format!("Documentation/ABI/testing/{file}"));
        entries(&abi).into_iter().map(general).collect::<Vec<_>>()
    })
    .collect()
}

/// Returns `path` with `*` in place of the name of a device or an engine.
fn general(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    for at in 1..parts.len() {
        if matches!(parts[at - 1], "dri" | "drm" | "engine") {
            parts[at] = "*";
        }
    }
    parts.join("/")
}

#[test]
fn files_of_the_driver_that_pages_name_are_in_the_abi() {
    let (known, mut wrong, mut seen) = (known(), Vec::new(), BTreeSet::new());
    for page in pages() {
        for literal in literals(&page, &text(&page)) {
            for word in literal.split(' ') {
                let path = general(word.trim_end_matches('/').trim_end_matches(','));
                let ours = path.starts_with("/sys/kernel/debug/dri/*/")
                    || path.starts_with("/sys/class/drm/*/error")
                    || path.starts_with("/sys/class/drm/*/engine/*/")
                    || path.starts_with("/sys/module/ouro/parameters/");
                let defaults = path.replace("/.defaults/", "/");
                let folder = known
                    .iter()
                    .any(|file| file.starts_with(&format!("{path}/")));
                if ours && !folder && !known.contains(&defaults) && !path.ends_with("/.defaults") {
                    wrong.push(format!("{page}: not in Documentation/ABI: {word}"));
                }
                seen.insert(path);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.contains("/sys/class/drm/*/error"), "{seen:?}");
}

#[test]
fn files_of_the_abi_are_in_the_page_of_the_uapi() {
    let page = "Documentation/gpu/ouro/uapi.rst";
    let named = literals(page, &text(page));
    let missing: Vec<_> = known()
        .into_iter()
        .filter(|path| !path.starts_with("/sys/module"))
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap();
            // `rps_*_freq_mhz` names several.
            !named.iter().any(|literal| match literal.rsplit_once('*') {
                Some((before, after)) => {
                    let before = before.rsplit('/').next().unwrap();
                    !before.is_empty() && name.starts_with(before) && name.ends_with(after)
                }
                None => literal.ends_with(name),
            })
        })
        .collect();
    assert!(missing.is_empty(), "not in {page}: {missing:?}");
}

#[test]
fn a_name_of_several_is_found() {
    let abi = "What:\t\t/sys/a/one\n\t\t/sys/a/two\nDate:\t\tnow\nDescription:\t(RO) See\n\t\t/sys/a/three\n";
    assert_eq!(names(abi), ["one".to_owned(), "two".to_owned()].into());
    assert_eq!(
        declared("const NAME: &'static CStr = c\"a\";"),
        ["a".to_owned()].into()
    );
}
