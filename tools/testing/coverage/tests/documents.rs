// SPDX-License-Identifier: GPL-2.0
//! What the documents name in `literals` is there: sources, and kselftests.

use std::{fs, path::Path};

use ouro_coverage::{top, TestNames};

/// Folders that names of sources in the documents are relative to.
const BASES: [&str; 6] = [
    "",
    "drivers/gpu/drm/ouro",
    "drivers/gpu/drm/ouro/hw",
    "rust/ouro_kernel",
    "tools/gpu-model",
    "tools/testing/selftests/drm/ouro",
];

/// The text between pairs of double backquotes.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split("``").skip(1).step_by(2)
}

/// Names of i915's ioctls in the driver's table.
fn ioctls(text: &str) -> impl Iterator<Item = &str> {
    text.split("abi::DRM_IOCTL_I915_")
        .skip(1)
        .filter_map(|rest| rest.split(',').next())
}

/// A row for each ioctl, and in it at least one test that it works; behind each error one that shows
/// it.
#[test]
fn each_ioctl_has_its_errors_and_tests() {
    let top = top();
    let page = fs::read_to_string(top.join("Documentation/gpu/ouro/uapi.rst")).expect("uapi.rst");
    let table = fs::read_to_string(top.join("drivers/gpu/drm/ouro/uapi/i915/mod.rs"))
        .expect("the table of ioctls");
    let rows = page.split("\ni915 ioctls\n").nth(1).expect("the section");
    let rows = rows.split("\nNot here").next().expect("its end");
    let mut wrong = Vec::new();
    let mut count = 0;
    for name in ioctls(&table) {
        count += 1;
        // Two sizes of one ioctl have one row.
        let name = name.trim_end_matches("_WR");
        let short = name.trim_end_matches("_EXT");
        let named = |row: &&str| {
            literals(row).next().is_some_and(|n| n == name)
                || (name == "GEM_CONTEXT_CREATE_EXT" && literals(row).next() == Some(short))
        };
        match rows.split("\n   * - ").find(named) {
            None => wrong.push(format!("{name} has no row")),
            Some(row) => {
                let what = row.split("\n     - ").next().unwrap_or_default();
                if !what.contains(".c::") {
                    wrong.push(format!("{name}: no test shows what it does"));
                }
            }
        }
    }
    let mut errors = 0;
    for error in page.split("* E").skip(1) {
        let error = error.split("\n   * ").next().unwrap_or_default();
        let error = error.split("\n       * ").next().unwrap_or_default();
        if error.split(':').next().is_some_and(|e| {
            e.chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        }) {
            errors += 1;
            if !error.contains(".c::") {
                wrong.push(format!(
                    "no test shows E{}",
                    error.lines().next().unwrap_or_default()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        count >= 29 && errors > 60,
        "{count} ioctls, {errors} errors"
    );
}

fn exists(top: &Path, name: &str) -> bool {
    BASES.iter().any(|base| top.join(base).join(name).is_file())
}

#[test]
fn sources_and_tests_in_the_documents_exist() {
    let top = top();
    let tests = TestNames::read(&top).expect("the tree is there");
    let mut wrong = Vec::new();
    let (mut sources, mut cases) = (0, 0);
    for page in ["index", "core", "uapi", "testing", "hardware"] {
        let path = top.join(format!("Documentation/gpu/ouro/{page}.rst"));
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{page}: {e}"));
        for name in literals(&text) {
            if name.contains(".c::") {
                cases += 1;
                if !tests.has(name) {
                    wrong.push(format!("{page}: no test {name}"));
                }
            } else if [".rs", ".c", ".h", ".sh"].iter().any(|e| name.ends_with(e)) {
                sources += 1;
                if !name.contains('*') && !exists(&top, name) {
                    wrong.push(format!("{page}: no file {name}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        sources > 20 && cases > 5,
        "{sources} sources, {cases} tests"
    );
}
