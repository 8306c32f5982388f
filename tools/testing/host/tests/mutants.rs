// SPDX-License-Identifier: GPL-2.0
//! The list of mutants: that what each searches stands once in its file, and that its test is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Adds the test functions of the sources in `dir` and below it, named as cargo names them: `module` is the
/// one that `dir` is, with its `::`, or nothing. A module's own tests are in its `tests`; a file that is
/// called `tests`, or that has tests outside of such a module, is one by itself.
fn tests_in(dir: &Path, module: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy();
        let inner = match &*stem {
            "mod" | "lib" => module.to_owned(),
            name => format!("{module}{name}::"),
        };
        if path.is_dir() {
            tests_in(&path, &inner, found);
            continue;
        }
        if path.extension().is_none_or(|e| e != "rs") {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a source");
        let (mut is_test, mut tests) = (false, "");
        for line in source.lines().map(str::trim) {
            if line.ends_with("mod tests {") {
                tests = "tests::";
            } else if line == "#[test]" {
                is_test = true;
            } else if let Some(rest) = line.strip_prefix("fn ") {
                if is_test {
                    let name = rest.split('(').next().expect("a name");
                    found.insert(format!("{inner}{tests}{name}"));
                }
                is_test = false;
            }
        }
    }
}

/// Names of all test functions of one of the list's packages.
fn tests_of(package: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let dirs: &[&str] = match package {
        "ouro_core" => &["drivers/gpu/drm/ouro/core"],
        "ouro_hw" => &["drivers/gpu/drm/ouro/hw"],
        "ouro-cross" => &["tools/testing/host/tests"],
        "ouro-decode" => &["tools/decode/src", "tools/decode/tests"],
        "ouro-fuzz" => &["tools/testing/fuzz/tests"],
        "gpu-model" => &["tools/gpu-model/tests"],
        _ => panic!("{package} is none whose tests the list names"),
    };
    for dir in dirs {
        tests_in(&top().join(dir), "", &mut found);
    }
    found
}

/// Whether a test program has no tests itself, but modules that have.
fn is_root(package: &str, target: &str) -> bool {
    let dir = match package {
        "ouro-cross" => "tools/testing/host/tests",
        "gpu-model" => "tools/gpu-model/tests",
        _ => return false,
    };
    let source = fs::read_to_string(top().join(dir).join(format!("{target}.rs")));
    !source.expect("a test program").contains("#[test]")
}

#[test]
fn every_mutant_names_a_file_and_a_test() {
    let list = fs::read_to_string(top().join("tools/testing/mutants/list.txt")).expect("a list");
    let mut tests = BTreeMap::new();
    let lines: Vec<&str> = list
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .collect();
    let mut names = BTreeSet::new();
    for mutant in lines.chunks(4) {
        let (name, file) = mutant[0].split_once(' ').expect("a name and a file");
        assert!(names.insert(name), "{name} is there once");
        let source = fs::read_to_string(top().join(file)).expect("a source");
        let search = mutant[1].strip_prefix("  search  ").expect("a search line");
        let replace = mutant[2]
            .strip_prefix("  replace ")
            .expect("a replace line");
        assert_eq!(source.matches(search).count(), 1, "{name}: {search}");
        assert_ne!(search, replace);
        let words: Vec<&str> = mutant[3]
            .strip_prefix("  test    ")
            .expect("a test line")
            .split(' ')
            .collect();
        let (package, test) = match words[..] {
            [package, "--lib", test] => (package, test.to_owned()),
            // a program of one file, or one that names the files of a generation
            [package, "--test", target, test] if is_root(package, target) => {
                (package, test.to_owned())
            }
            [package, "--test", target, test] => (package, format!("{target}::{test}")),
            _ => panic!("{name}: {}", mutant[3]),
        };
        let known = tests
            .entry(package)
            .or_insert_with(|| tests_of(package))
            .contains(&test);
        assert!(known, "{name}: {}", mutant[3]);
    }
    assert!(names.len() >= 24);
    println!("cover: mutants: {}", names.len());
}
