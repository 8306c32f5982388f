// SPDX-License-Identifier: GPL-2.0
//! The names of all tests in the tree, as the tables write them.
//!
//! | name | where |
//! | --- | --- |
//! | `intel::processor::pte::tests::name` | `hw/intel/processor/pte.rs` of the driver (or `core/`), or `hw/gen6/pte/tests.rs` |
//! | `sched::tests::turns::name` | `core/sched/tests/turns.rs` |
//! | `gen6_requests::name` | `tools/testing/host/tests/gen6_requests.rs` |
//! | `snb_rings::name` | `tools/gpu-model/tests/snb_rings.rs` |
//! | `intel/pte.rs::name` | `tools/gpu-model/src/intel/pte.rs` |
//! | `kunit::name` | `drivers/gpu/drm/ouro/tests.rs` |
//! | `exec_reloc.c::name` | `tools/testing/selftests/drm/ouro/exec_reloc.c` |

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result};

/// The names.
#[derive(Debug)]
pub struct TestNames(BTreeSet<String>);

impl TestNames {
    /// Looks for them in the tree.
    ///
    /// Errors: a folder or file cannot be read.
    pub fn read(top: &Path) -> Result<Self> {
        let mut names = Self(BTreeSet::new());
        for dir in ["hw", "core"] {
            let dir = top.join("drivers/gpu/drm/ouro").join(dir);
            names.folder(&dir, &dir, |at, name| {
                let module = at.trim_end_matches(".rs").replace('/', "::");
                // Tests may have a file or a folder of their own.
                if module.split("::").any(|part| part == "tests") {
                    format!("{module}::{name}")
                } else {
                    format!("{module}::tests::{name}")
                }
            })?;
        }
        for dir in ["tools/testing/host/tests", "tools/gpu-model/tests"] {
            let dir = top.join(dir);
            names.folder(&dir, &dir, |at, name| {
                format!("{}::{name}", at.trim_end_matches(".rs"))
            })?;
        }
        let dir = top.join("tools/gpu-model/src");
        names.folder(&dir, &dir, |at, name| format!("{at}::{name}"))?;
        names.kunit(&top.join("drivers/gpu/drm/ouro/tests.rs"))?;
        let dir = top.join("tools/testing/selftests/drm/ouro");
        names.folder(&dir, &dir, |at, name| format!("{at}::{name}"))?;
        Ok(names)
    }

    /// Whether there is such a test.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All sources below `dir`; `name` makes a test's name of its file's path below `base` and its
    /// function.
    fn folder(&mut self, base: &Path, dir: &Path, name: fn(&str, &str) -> String) -> Result<()> {
        let entries = fs::read_dir(dir).with_context(|| dir.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                self.folder(base, &path, name)?;
                continue;
            }
            let find = match path.extension().and_then(|e| e.to_str()) {
                Some("rs") => cargo_tests,
                Some("c") => kselftests,
                _ => continue,
            };
            let at = path.strip_prefix(base)?.to_string_lossy().into_owned();
            for function in find(&source(&path)?) {
                self.0.insert(name(&at, &function));
            }
        }
        Ok(())
    }

    /// The functions of KUnit's suite that can fail.
    fn kunit(&mut self, path: &Path) -> Result<()> {
        let text = source(path)?;
        let suite = text.split("#[kunit_tests").nth(1).unwrap_or_default();
        for line in suite.lines().map(str::trim) {
            if let Some(name) = function(line) {
                self.0.insert(format!("kunit::{name}"));
            }
        }
        Ok(())
    }
}

fn source(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    line.strip_prefix("fn ")?.split('(').next()
}

/// Functions behind `#[test]`, whatever other attributes are between.
fn cargo_tests(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            is_test = true;
        } else if let Some(name) = function(line) {
            if is_test {
                found.push(name.to_owned());
            }
            is_test = false;
        }
    }
    found
}

/// The second name in `TEST_F(fixture, name)` and `TEST_F_TIMEOUT(fixture, name, seconds)`, the first
/// in `TEST(name)`.
fn kselftests(text: &str) -> Vec<String> {
    let of = |line: &str| {
        let arguments = ["TEST_F_TIMEOUT(", "TEST_F(", "TEST("]
            .iter()
            .find_map(|start| line.strip_prefix(start))?;
        let mut arguments = arguments.split([',', ')']).map(str::trim);
        let first = arguments.next()?;
        let name = if line.starts_with("TEST(") {
            first
        } else {
            arguments.next()?
        };
        Some(name.to_owned())
    };
    text.lines().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_functions_are_tests() {
        let text = "fn a() {}\n#[test]\n#[should_panic]\nfn b() {}\nfn c() {}\n";
        assert_eq!(cargo_tests(text), ["b"]);
    }

    #[test]
    fn a_kselftest_has_its_own_name() {
        let text = "TEST_F(fixture, one)\n{\n}\nTEST(two)\n\tTEST(three)\n\
            TEST_F_TIMEOUT(fixture, four, LIMIT + 10)\n";
        assert_eq!(kselftests(text), ["one", "two", "four"]);
    }
}
