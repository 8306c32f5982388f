// SPDX-License-Identifier: GPL-2.0
//! Each file of tests is built: where a package names its test programs, a file that none of them has as a module
//! would be left out without a word.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const PACKAGES: [&str; 2] = ["tools/gpu-model", "tools/testing/host"];

/// The names of the test programs in a manifest, each behind `[[test]]`.
fn programs(manifest: &str) -> BTreeSet<String> {
    let after = |block: &str| {
        let name = block.lines().find_map(|l| l.strip_prefix("name = \""))?;
        Some(name.trim_end_matches('"').to_owned())
    };
    manifest
        .split("[[test]]")
        .skip(1)
        .filter_map(after)
        .collect()
}

/// The modules that a program's source declares.
fn modules(source: &str) -> BTreeSet<String> {
    let name = |line: &str| Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned());
    source.lines().filter_map(name).collect()
}

/// Files of tests in a folder that no program of the manifest has.
fn left_out(dir: &Path, manifest: &str) -> BTreeSet<String> {
    let roots = programs(manifest);
    let mut built = roots.clone();
    for root in &roots {
        let source = fs::read_to_string(dir.join(format!("{root}.rs"))).expect("a test program");
        built.extend(modules(&source));
    }
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "rs") {
            files.insert(path.file_stem().expect("a name").to_string_lossy().into());
        }
    }
    files.difference(&built).cloned().collect()
}

#[test]
fn each_file_of_tests_is_built() {
    let top = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for package in PACKAGES {
        let dir = top.join(package);
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("autotests = false"), "{package}");
        let left = left_out(&dir.join("tests"), &manifest);
        assert!(
            left.is_empty(),
            "{package}/tests: {left:?} in no test program: add `mod` lines to the generation's file"
        );
        // A program that is left out of the manifest takes its modules with it.
        for root in programs(&manifest) {
            let without = manifest.replace(&format!("name = \"{root}\""), "");
            assert!(left_out(&dir.join("tests"), &without).contains(&root));
        }
    }
}
