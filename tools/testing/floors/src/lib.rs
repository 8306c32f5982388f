// SPDX-License-Identifier: GPL-2.0

//! The floors of the driver: which part may name which.
//!
//! The crate `ouro_main` has one floor above the other ([`FLOORS`]). A file names what is on its own floor or
//! below it; whatever else it names must be a row of [`UPWARD`], with the reason. Below the uAPIs nothing bears
//! the name of a generation or a maker ([`NAMES`]), but for the rows of [`NAMED`].
//!
//! `cargo test -p ouro-floors` reads the tree, and fails for any other import or name; for a row that is not
//! needed any more, too.

pub mod code;

use anyhow::{bail, Context, Result};
use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

use code::Code;

/// The folder of the driver, from the top of the tree.
pub const DRIVER: &str = "drivers/gpu/drm/ouro";

/// A floor: its name, and the modules of the crate root that stand on it.
pub struct Floor {
    /// Name, for messages.
    pub name: &'static str,
    /// Modules.
    pub modules: &'static [&'static str],
}

/// The floors, from the lowest one up. The crates `ouro_hw` and `ouro_core` are below all of them.
pub const FLOORS: &[Floor] = &[
    // The types by which the DRM core knows the driver: names, and nothing in them.
    floor("names", &["device"]),
    floor(
        "hardware",
        &["bars", "hardware", "look", "platform", "report"],
    ),
    floor("vm", &["vm"]),
    floor("gem", &["gem"]),
    floor("submit", &["submit"]),
    floor("reset", &["reset"]),
    floor("gpu", &["gpu", "power"]),
    floor("file", &["file", "fdinfo"]),
    floor("uapi", &["uapi"]),
    floor("face", &["sysfs", "debugfs"]),
    floor("driver", &["driver"]),
];

const fn floor(name: &'static str, modules: &'static [&'static str]) -> Floor {
    Floor { name, modules }
}

/// What the macro `module!` makes in the crate root, for all floors.
pub const OF_ALL: &[&str] = &["module_parameters", "LocalModule"];

/// Modules of the crate root that are on no floor: they test the crate `ouro_kernel`.
pub const APART: &[&str] = &["tests"];

/// Imports that go up all the same: a file, the module that it names, and why that cannot be otherwise.
pub const UPWARD: &[(&str, &str, &str)] = &[];

/// Words that name a generation or a maker.
pub const NAMES: &[&str] = &[
    "gen4",
    "gen5",
    "gen6",
    "gen7",
    "gen8",
    "gen9",
    "gen11",
    "gen12",
    "g45",
    "gm45",
    "g965",
    "snb",
    "sandy",
    "sandybridge",
    "ivb",
    "ivybridge",
    "haswell",
    "dg2",
    "alchemist",
    "r5xx",
    "r500",
    "r520",
    "r580",
    "rv515",
    "rv530",
    "intel",
    "i915",
    "amd",
    "ati",
    "radeon",
];

/// Who may use which of them: a file or a folder, the words, and why.
pub const NAMED: &[(&str, &[&str], &str)] = &[
    ("uapi/i915/", &["i915"], "the uAPI's name"),
    ("uapi/radeon/", &["radeon"], "the uAPI's name"),
    (
        "uapi/i915/getparam.rs",
        &["gen7"],
        "the uAPI's name of a parameter",
    ),
    ("uapi/i915/exec.rs", &["gen7"], "the uAPI's name of a flag"),
    ("uapi/mod.rs", &["i915", "radeon"], "the uAPIs' names"),
    ("sysfs.rs", &["i915"], "files as the uAPI has them"),
    ("debugfs.rs", &["i915"], "files as programs look for them"),
    (
        "driver.rs",
        &["i915", "radeon", "ati"],
        "which uAPI is for the chips of which maker",
    ),
    (
        "ouro_main.rs",
        &["radeon", "r520"],
        "the name of a firmware file",
    ),
    (
        "core/choice.rs",
        &["snb"],
        "a word that is no PCI id, in a test",
    ),
];

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is on no floor.
    Homeless,
    /// It names a module of a higher floor, or one that is on none.
    Up(String),
    /// It has the name of a generation or a maker.
    Name(String),
}

/// A fault and its file, from the folder of the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.file;
        match &self.fault {
            Fault::Homeless => write!(f, "{file} is on no floor"),
            Fault::Up(path) => write!(f, "{file} names {path}, which is not below it"),
            Fault::Name(name) => write!(f, "{file} has the name {name}"),
        }
    }
}

/// Returns the number of a module's floor, from 0; `None` if it is on none.
pub fn floor_of(module: &str) -> Option<usize> {
    FLOORS.iter().position(|f| f.modules.contains(&module))
}

/// Returns a file's module, as a path from the crate root.
fn module_of(file: &str) -> Vec<&str> {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').collect()
}

/// Looks at one file, whose name counts from the folder of the driver. What is allowed to go up or to bear a
/// name is found, too.
pub fn look(file: &str, text: &str) -> Vec<Finding> {
    let code = Code::new(text);
    let mut findings = Vec::new();
    let mut add = |fault| {
        let file = file.to_owned();
        findings.push(Finding { file, fault });
    };
    let module = module_of(file);
    let first = module.first().copied().unwrap_or_default();
    // The crate root declares the floors; the crate `ouro_core` cannot name them.
    if file != "ouro_main.rs" && first != "core" && !APART.contains(&first) {
        match floor_of(first) {
            None => add(Fault::Homeless),
            Some(own) => {
                for path in code.paths(&module) {
                    let named = path.first().map_or("", String::as_str);
                    let below = floor_of(named).is_some_and(|other| other <= own);
                    if !below && !OF_ALL.contains(&named) {
                        add(Fault::Up(path.join("::")));
                    }
                }
            }
        }
    }
    for name in code.words().filter(|word| NAMES.contains(&word.as_str())) {
        add(Fault::Name(name));
    }
    findings.dedup();
    findings
}

/// Returns the row of [`UPWARD`] or [`NAMED`] that allows what was found, as text.
fn allowed(finding: &Finding) -> Option<String> {
    let file = finding.file.as_str();
    match &finding.fault {
        Fault::Homeless => None,
        Fault::Up(path) => {
            let module = path.split("::").next()?;
            let row = UPWARD.iter().find(|row| row.0 == file && row.1 == module)?;
            Some(format!("{} {}", row.0, row.1))
        }
        Fault::Name(name) => {
            let at = |place: &str| place == file || place.ends_with('/') && file.starts_with(place);
            let mut rows = NAMED.iter().filter(|row| at(row.0));
            let row = rows.find(|row| row.1.contains(&name.as_str()))?;
            Some(format!("{} {name}", row.0))
        }
    }
}

/// Returns what is wrong with the tree at `top`, a line each: what no row allows, and rows that allow nothing.
///
/// Errors: a file that cannot be read; a tree without the driver.
pub fn check(top: &Path) -> Result<Vec<String>> {
    let root = top.join(DRIVER);
    let files = files(&root)?;
    if !files.iter().any(|file| file == "ouro_main.rs") {
        bail!("{} has no driver", root.display());
    }
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for file in files {
        let path = root.join(&file);
        let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        for finding in look(&file, &text) {
            match allowed(&finding) {
                Some(row) => {
                    used.insert(row);
                }
                None => wrong.push(finding.to_string()),
            }
        }
    }
    let upward = UPWARD.iter().map(|row| format!("{} {}", row.0, row.1));
    let named = NAMED
        .iter()
        .flat_map(|row| row.1.iter().map(move |name| format!("{} {name}", row.0)));
    for row in upward.chain(named).filter(|row| !used.contains(row)) {
        wrong.push(format!("the row \"{row}\" is not needed any more"));
    }
    Ok(wrong)
}

/// The Rust files below a folder, from there, in order. `hw` is left out: generations live in it.
fn files(root: &Path) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let entries = path
            .read_dir()
            .with_context(|| format!("{}", path.display()))?;
        for entry in entries {
            let entry = entry?;
            let inner = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                if inner != Path::new("hw") {
                    folders.push(inner);
                }
            } else if inner.extension().is_some_and(|e| e == "rs") {
                all.push(inner.to_string_lossy().into_owned());
            }
        }
    }
    all.sort();
    Ok(all)
}
