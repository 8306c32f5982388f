// SPDX-License-Identifier: GPL-2.0

//! The crates that others can take: the files that `cargo package` puts into them, their versions and licences.

use std::{path::Path, process::Command};

/// The crates, their folders, and the example of each.
const CRATES: &[(&str, &str, &str)] = &[
    ("ouro_hw", "drivers/gpu/drm/ouro/hw", "examples/blit.rs"),
    ("gpu-model", "tools/gpu-model", "examples/in_process.rs"),
];

/// Files without an ending of [`ENDINGS`] that belong into a package.
const OTHERS: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-GPL-2.0",
    "LICENSE-MIT",
    "README.md",
];

/// Endings of source files.
const ENDINGS: &[&str] = &[".rs"];

fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

/// Returns the paths in a package, as Cargo lists them.
fn listed(name: &str) -> Vec<String> {
    let cargo = Command::new(env!("CARGO"))
        .args([
            "package",
            "--list",
            "--allow-dirty",
            "--offline",
            "-p",
            name,
        ])
        .current_dir(top())
        .output()
        .expect("Cargo runs");
    let said = String::from_utf8_lossy(&cargo.stderr);
    assert!(cargo.status.success(), "{said}");
    // The project has no address to name there.
    let unexpected =
        |l: &&str| l.starts_with("warning") && !l.contains("no documentation, homepage");
    assert_eq!(said.lines().find(unexpected), None);
    let paths = String::from_utf8(cargo.stdout).expect("paths are UTF-8");
    paths.lines().map(str::to_owned).collect()
}

#[test]
fn a_package_has_readme_and_example_and_nothing_else_but_source() {
    for (name, _, example) in CRATES {
        let paths = listed(name);
        for wanted in ["README.md", "LICENSE-MIT", "LICENSE-GPL-2.0", example] {
            assert!(paths.iter().any(|p| p == wanted), "{name} lacks {wanted}");
        }
        let is_source = |p: &str| ENDINGS.iter().any(|e| p.ends_with(e));
        let junk: Vec<_> = paths
            .iter()
            .filter(|p| {
                !is_source(p) && !OTHERS.contains(&p.as_str()) && *p != ".cargo_vcs_info.json"
            })
            .collect();
        assert!(junk.is_empty(), "{name} has {junk:?}");
    }
}

#[test]
fn all_source_of_a_package_has_its_licence() {
    for (name, folder, _) in CRATES {
        let lacks: Vec<_> = listed(name)
            .into_iter()
            .filter(|p| p.ends_with(".rs"))
            .filter(|p| {
                let text =
                    std::fs::read_to_string(top().join(folder).join(p)).expect("it is listed");
                !text.starts_with("// SPDX-License-Identifier: GPL-2.0 OR MIT\n")
            })
            .collect();
        assert!(lacks.is_empty(), "{name}: under another licence: {lacks:?}");
    }
}

#[test]
fn what_a_readme_says_of_the_compiler_is_in_the_manifest() {
    for (name, folder, _) in CRATES {
        let read = |file: &str| std::fs::read_to_string(top().join(folder).join(file)).expect(file);
        let manifest = read("Cargo.toml");
        let version = manifest
            .lines()
            .find_map(|l| l.strip_prefix("rust-version = "))
            .unwrap_or_else(|| panic!("{name} has no rust-version"))
            .trim_matches('"');
        assert!(
            read("README.md").contains(&format!("Rust {version} or newer")),
            "{name}: README.md names another version than {version}"
        );
    }
}

#[test]
fn the_changelog_begins_with_the_version_of_the_crates() {
    let read = |file: &str| std::fs::read_to_string(top().join(file)).expect(file);
    let manifest = read("Cargo.toml");
    let version = manifest
        .lines()
        .find_map(|l| l.strip_prefix("version = "))
        .expect("the workspace has a version")
        .trim_matches('"');
    let changes = read("CHANGELOG.md");
    let first = changes
        .lines()
        .filter_map(|l| l.strip_prefix("## "))
        .find(|section| *section != "Unreleased")
        .expect("CHANGELOG.md has a section of a version");
    assert_eq!(first.split(' ').next(), Some(version));
    let short = version.rsplit_once('.').expect("three numbers").0;
    for (_, folder, _) in CRATES {
        let readme = read(&format!("{folder}/README.md"));
        assert!(readme.contains(&format!("Version {short}")), "{folder}");
    }
    assert!(read("README.md").contains(&format!("version {short}.")));
    for examples in ["examples/rust", "examples/uefi"] {
        let manifest = read(&format!("{examples}/Cargo.toml"));
        assert!(
            manifest.contains(&format!("version = \"{version}\"")),
            "{examples}"
        );
    }
}
