// SPDX-License-Identifier: GPL-2.0
//! The list of mutants: that what each searches stands once in its file, and that its test is there.

use std::{collections::BTreeSet, fs, path::PathBuf};

fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Names of all test functions of the backends, of the tests across the wall and of the fuzz targets, as the
/// list has them.
fn tests() -> BTreeSet<String> {
    let hw = top().join("drivers/gpu/drm/ouro/hw");
    let cross = top().join("tools/testing/host/tests");
    let fuzz = top().join("tools/testing/fuzz/tests");
    let mut found = BTreeSet::new();
    for (dir, prefix, suffix) in [
        (hw.clone(), "", "::tests"),
        (hw.join("gen6"), "gen6::", "::tests"),
        (hw.join("r5xx/check"), "r5xx::check::", "::tests"),
        // files of tests alone
        (hw.join("r5xx/check"), "r5xx::check::", ""),
        (cross, "", ""),
        (fuzz, "", ""),
    ] {
        for entry in fs::read_dir(dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let module = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let source = fs::read_to_string(&path).expect("a source");
            let mut is_test = false;
            for line in source.lines().map(str::trim) {
                if line == "#[test]" {
                    is_test = true;
                } else if let Some(rest) = line.strip_prefix("fn ") {
                    if is_test {
                        let name = rest.split('(').next().expect("a name");
                        found.insert(format!("{prefix}{module}{suffix}::{name}"));
                    }
                    is_test = false;
                }
            }
        }
    }
    found
}

#[test]
fn every_mutant_names_a_file_and_a_test() {
    let list = fs::read_to_string(top().join("tools/testing/mutants/list.txt")).expect("a list");
    let tests = tests();
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
        let known = match words[..] {
            ["ouro_hw", "--lib", test] => tests.contains(test),
            ["ouro-cross" | "ouro-fuzz", "--test", target, test] => {
                tests.contains(&format!("{target}::{test}"))
            }
            ["ouro_core", "--lib", _] => true,
            _ => false,
        };
        assert!(known, "{name}: {}", mutant[3]);
    }
    assert!(names.len() >= 24);
    println!("cover: mutants: {}", names.len());
}
