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
