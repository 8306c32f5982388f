// SPDX-License-Identifier: GPL-2.0

//! The files, targets, GPUs and commands that pages name exist, and so do the targets of their links; the driver's files
//! and parameters are documented.

mod abi;
mod links;
mod names;
mod tree;

use std::{collections::BTreeSet, fs};
use tree::{block_lines, literals, pages, paths, text};

/// Paths that are not in this tree: the page, the beginning of the path, where the path is.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("", "build/", "an output"),
    ("", "radeon/R520_cp.bin", "the firmware's path"),
    (
        "install.rst",
        "rust/libkernel.rmeta",
        "a kernel's build folder",
    ),
    ("new-chip.rst", "coverage/NAME", "a file to write"),
    (
        "new-chip.rst",
        "drivers/gpu/drm/ouro/hw/NAME",
        "a file to write",
    ),
    ("new-chip.rst", "tools/decode/src/NAME", "a file to write"),
    (
        "new-chip.rst",
        "tools/gpu-model/src/NAME",
        "a file to write",
    ),
    ("new-chip.rst", "tools/vm/gpus/NAME", "a file to write"),
    ("sources.rst", "drivers/gpu/drm/i915", "the upstream driver"),
    ("sources.rst", "gem/i915", "the upstream driver"),
    ("sources.rst", "gt/", "the upstream driver"),
    ("sources.rst", "include/drm/intel/", "the upstream driver"),
    ("sources.rst", "src/intel/genxml", "Mesa"),
    ("testing.rst", "snb/", "names of results"),
    ("testing.rst", "host/", "names of results"),
    ("testing.rst", "guest-", "an output"),
    ("testing.rst", "src/gallium/drivers/r300/ci/", "Mesa"),
    ("testing.rst", "gt/", "the upstream driver"),
    (
        "testing.rst",
        "tools/testing/peer/selftests-GPU",
        "a file that a command writes",
    ),
    ("uapi.rst", ".defaults/", "sysfs"),
    ("upstream.rst", ".../", "a kernel tree"),
    ("upstream.rst", "Documentation/", "a kernel tree"),
    ("upstream.rst", "drivers/gpu/drm/", "a kernel tree"),
    ("upstream.rst", "rust/", "a kernel tree"),
    ("upstream.rst", "tools/testing/kunit/", "a kernel tree"),
    (
        "upstream.rst",
        "tools/testing/selftests/Makefile",
        "a kernel tree",
    ),
];

/// Endings of file names that are looked for also without a folder.
const ENDINGS: &[&str] = &[".rs", ".rst", ".sh", ".csv", ".md", ".c", ".h"];

/// Files without a folder that are not in this tree: the page, the file.
const NO_FILES: &[(&str, &str)] = &[
    ("new-chip.rst", "coverage-NAME.rst"),
    ("new-chip.rst", "NAME-witness.csv"),
    ("new-chip.rst", "trial.rs"),
    ("fdinfo.rst", "drm-usage-stats.rst"),
    ("gen12.rst", "intel_workarounds.c"),
    ("glossary.rst", "i915_cmd_parser.c"),
];

fn is_path(word: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || "_.*-/".contains(c);
    word.chars().all(letters) && !word.starts_with(['/', '-']) && !word.contains("//")
}

/// Returns whether a path of the tree ends in `name`, in which a `*` is any text within a name.
fn exists(all: &[String], name: &str) -> bool {
    let fits = |path: &str| match name.split_once('*') {
        None => path == name || path.ends_with(&format!("/{name}")),
        Some((before, after)) => {
            let parts: Vec<&str> = name.split('/').collect();
            let path: Vec<&str> = path.split('/').collect();
            path.len() >= parts.len()
                && path[path.len() - parts.len()..].iter().zip(&parts).all(
                    |(have, want)| match want.split_once('*') {
                        None => have == want,
                        Some((a, b)) => {
                            have.starts_with(a) && have.ends_with(b.trim_start_matches('*'))
                        }
                    },
                )
                && !(before.is_empty() && after.is_empty())
        }
    };
    all.iter()
        .any(|path| fits(path) || path.strip_suffix(".rs").is_some_and(&fits))
}

/// Returns the names of a page that are not in the tree.
fn missing(page: &str, content: &str, all: &[String]) -> Vec<String> {
    let file = page.rsplit('/').next().unwrap();
    let mut wrong = Vec::new();
    for literal in literals(page, content) {
        for word in literal.split(' ') {
            let name = word.trim_end_matches(['/', ',', ':']);
            let folder = name.contains('/');
            // the page of sources names files of the upstream drivers
            if file == "sources.rst" && name.ends_with(['c', 'h']) {
                continue;
            }
            let known = ENDINGS
                .iter()
                .any(|ending| name.len() > ending.len() && name.ends_with(ending));
            if !is_path(name) || !(folder || known) || exists(all, name) {
                continue;
            }
            let elsewhere = ELSEWHERE.iter().any(|(of, start, _)| {
                (of.is_empty() || *of == file) && format!("{name}/").starts_with(start)
            });
            if !elsewhere && !NO_FILES.contains(&(file, name)) {
                wrong.push(format!("{page}: no such file: {word}"));
            }
        }
    }
    wrong
}

#[test]
fn files_that_pages_name_exist() {
    let all = paths();
    let wrong: Vec<String> = pages()
        .iter()
        .flat_map(|page| missing(page, &text(page), &all))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_that_is_not_there_is_found() {
    let all = vec![
        "hw/gen6".to_owned(),
        "hw/gen6/mod.rs".to_owned(),
        "tests/snb_hostile.rs".to_owned(),
    ];
    for (content, count) in [
        ("``hw/gen6`` and ``hw/gen6/mod`` and ``gen6/mod.rs``", 0),
        ("``hw/gen5``", 1),
        ("``tests/*_hostile.rs``", 0),
        ("``tests/*_friendly.rs``", 1),
        ("``nothing.rs`` but not ``nothing``", 1),
        ("``/sys/class/drm`` and ``build/run``", 0),
    ] {
        assert_eq!(missing("a.rst", content, &all).len(), count, "{content}");
    }
}

fn targets() -> BTreeSet<String> {
    text("Makefile")
        .lines()
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(names, _)| names.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .filter(|name| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || "-_.".contains(c))
        })
        .collect()
}

/// The name of the chip that new-chip.rst adds as an example.
const CHOSEN: &str = "trial";

/// Returns the faults of a command line of this tree: targets of make, GPUs, crates and scripts that do not exist.
fn faults(line: &str, all: &[String], targets: &BTreeSet<String>) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut wrong = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or("");
        let lower = !next.is_empty() && next.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if at == 0 && *word == "make" && lower && !targets.contains(next) {
            wrong.push(format!("no target of make: {next}"));
        }
        let gpu = word.strip_prefix("GPU=").unwrap_or("");
        let named = gpu
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        if named
            && !gpu.is_empty()
            && gpu != CHOSEN
            && !exists(all, &format!("tools/vm/gpus/{gpu}"))
        {
            wrong.push(format!("no such GPU: {gpu}"));
        }
        if *word == "-p" && line.contains("cargo ") && next != "CRATE" {
            let name = format!("name = \"{next}\"");
            let manifest = |path: &&String| path.ends_with("Cargo.toml");
            if !all
                .iter()
                .filter(manifest)
                .any(|path| text(path).contains(&name))
            {
                wrong.push(format!("no such crate: {next}"));
            }
        }
        if at == 0 && word.starts_with("tools/vm/") && !line.contains('|') {
            let chosen = word.ends_with(CHOSEN) || word.ends_with("NAME");
            if is_path(word) && !chosen && !exists(all, word.trim_end_matches('/')) {
                wrong.push(format!("no such file: {word}"));
            }
        }
        let parameter = word.split_once('=').map(|(name, _)| name);
        if let Some(name) = parameter.filter(|_| at > 1 && words[at - 1] == "ouro") {
            if words[at - 2] == "modprobe" && !abi::parameters().contains(name) {
                wrong.push(format!("no such parameter: {name}"));
            }
        }
        if *word == "--test" && !next.contains("NAME") && !exists(all, &format!("tests/{next}.rs"))
        {
            wrong.push(format!("no such test: {next}"));
        }
    }
    wrong
}

/// Returns a line's parts between `|`, `&&`, `||` and `;`, but for those in quotes.
fn parts(line: &str) -> Vec<&str> {
    let (mut found, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if "'\"".contains(c) => quote = Some(c),
            None if "|&;".contains(c) => {
                found.push(line[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(line[start..].trim());
    found.retain(|part| !part.is_empty());
    found
}

/// Returns a line's commands without prompt, comment, `sudo` and variables.
fn commands(line: &str) -> Vec<String> {
    let line = line
        .strip_prefix("$ ")
        .or(line.strip_prefix("# "))
        .unwrap_or(line);
    let line = line.split("  ").next().unwrap().split(" #").next().unwrap();
    parts(line).into_iter().map(command).collect()
}

/// Returns a command without `sudo` and variables.
fn command(line: &str) -> String {
    let assigns = |word: &&str| {
        let variable = |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        *word == "sudo" || word.split_once('=').is_some_and(|(name, _)| variable(name))
    };
    line.split_whitespace()
        .skip_while(assigns)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A row of `commands.csv`: the beginning of a command; the job of `make check` that runs it, or the reason why
/// none does.
struct Row {
    command: String,
    job: String,
    reason: String,
}

fn rows() -> Vec<Row> {
    text("tools/testing/docs/commands.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.splitn(3, ',').map(|field| field.trim().to_owned());
            let mut field = || {
                fields
                    .next()
                    .unwrap_or_else(|| panic!("three fields: {line}"))
            };
            Row {
                command: field(),
                job: field(),
                reason: field(),
            }
        })
        .collect()
}

fn begins(command: &str, start: &str) -> bool {
    command
        .strip_prefix(start)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '=']))
}

#[test]
fn commands_that_pages_name_exist() {
    let (all, targets) = (paths(), targets());
    assert!(targets.contains("check-quick"), "{targets:?}");
    let mut wrong = Vec::new();
    for page in pages() {
        let content = text(&page);
        let literals = literals(&page, &content);
        let makes = literals.into_iter().filter(|l| {
            l.starts_with("make ") || l.starts_with("cargo ") || l.starts_with("tools/vm/")
        });
        for line in makes.chain(
            block_lines(&page, &content)
                .iter()
                .flat_map(|line| commands(line)),
        ) {
            // a kernel's own make
            let kernel = ["LLVM=1", "make headers", "make htmldocs"];
            if !kernel.iter().any(|words| line.contains(words)) {
                wrong.extend(
                    faults(&line, &all, &targets)
                        .into_iter()
                        .map(|fault| format!("{page}: {fault}: {line}")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs that a page may name in a block of commands: each needs a row. Filters do not (`grep`, `sed`, `tee`).
const PROGRAMS: &str = "make cargo rustup rustc clang gcc git apt-get apt dnf pacman zypper curl wget ssh scp rm mv \
    mkdir chmod chown useradd usermod sysctl mount insmod modprobe rmmod modinfo depmod dracut update-initramfs python3 \
    pip perl bash sh zcat tar docker podman qemu-img virsh";

/// Returns whether a word is a program of this tree, or one that it builds.
fn is_script(word: &str, all: &[String]) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let runs = |path: &String| {
        let file = fs::metadata(tree::top().join(path)).expect("it is in the tree");
        file.is_file() && file.permissions().mode() & 0o111 != 0
    };
    let built = word.starts_with("./") || word.starts_with("build/bin/");
    built || all.iter().any(|path| path == word && runs(path))
}

#[test]
fn each_command_has_a_job_or_a_reason() {
    let rows = rows();
    let all = paths();
    let programs: BTreeSet<&str> = rows
        .iter()
        .filter_map(|row| row.command.split(' ').next())
        .chain(PROGRAMS.split_whitespace())
        .collect();
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for page in pages() {
        let lines = block_lines(&page, &text(&page));
        for command in lines.iter().flat_map(|line| commands(line)) {
            let program = command.split(' ').next().unwrap_or("");
            if !programs.contains(program) && !is_script(program, &all) {
                continue;
            }
            match rows
                .iter()
                .filter(|row| begins(&command, &row.command))
                .max_by_key(|row| row.command.len())
            {
                Some(row) => drop(used.insert(row.command.clone())),
                None => wrong.push(format!(
                    "{page}: not in tools/testing/docs/commands.csv: {command}"
                )),
            }
        }
    }
    let scripts: String = paths()
        .iter()
        .filter(|path| {
            path.starts_with("tools/vm/lib/") && path.ends_with(".sh") || *path == "tools/vm/check"
        })
        .map(|path| text(path))
        .collect();
    for Row {
        command,
        job,
        reason,
    } in &rows
    {
        if !used.contains(command) {
            wrong.push(format!("no page has it: {command}"));
        }
        if job.is_empty() == reason.is_empty() {
            wrong.push(format!("either a job or a reason: {command}"));
        }
        if !job.is_empty()
            && !scripts.contains(&format!("\n{job}() {{"))
            && !tree::top().join(job).is_file()
        {
            wrong.push(format!("no such job: {job}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `core.rst` has a row for each file above `hw`, or for its folder.
#[test]
fn the_page_of_the_core_has_its_files() {
    let page = "Documentation/gpu/ouro/core.rst";
    let rows: BTreeSet<_> = literals(page, &text(page)).into_iter().collect();
    let top = "drivers/gpu/drm/ouro/";
    let files = paths();
    let files = files.iter().filter_map(|path| path.strip_prefix(top));
    let missing: Vec<_> = files
        .filter(|path| path.ends_with(".rs") && !path.starts_with("hw/"))
        .filter(|path| !path.split('/').any(|part| part.starts_with("tests")))
        .filter(|path| !["mod.rs", "lib.rs"].contains(&path.rsplit('/').next().unwrap()))
        .filter(|path| {
            let folders = path.match_indices('/').map(|(end, _)| &path[..=end]);
            !rows.contains(*path) && !folders.into_iter().any(|folder| rows.contains(folder))
        })
        .collect();
    assert!(missing.is_empty(), "{page} has no row for {missing:?}");
}

/// `bench.rst` has the recorded cost of a frame.
#[test]
fn the_page_of_bench_has_the_recorded_frame() {
    let record = text("tools/testing/bench/frame-r5xx");
    let count = record.lines().find_map(|line| line.strip_prefix("frame "));
    let count: f64 = count.expect("a figure").parse().expect("a number");
    let figure = format!("{:.1} million instructions", count / 1e6);
    assert!(
        text("Documentation/gpu/ouro/bench.rst").contains(&figure),
        "{figure}"
    );
}

/// `sources.rst` says what a section of the digest of 3D is about.
#[test]
fn the_page_of_sources_has_the_sections_of_the_digest_of_3d() {
    let page = text("Documentation/gpu/ouro/sources.rst");
    let table = page.split("*digest of 3D*").nth(1).expect("a table");
    let rows: BTreeSet<_> = table
        .lines()
        .filter_map(|line| line.split("  ").next())
        .flat_map(|first| first.split(", "))
        .filter_map(|section| section.parse::<u32>().ok())
        .collect();
    let mut cited = 0;
    for path in paths() {
        if !path.starts_with("tools/gpu-model/src/") || !path.ends_with(".rs") {
            continue;
        }
        for behind in text(&path).split("digest of 3D, §").skip(1) {
            let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
            cited += 1;
            let section = digits.parse().expect("a section");
            assert!(
                rows.contains(&section),
                "{path}: §{section} is not in sources.rst"
            );
        }
    }
    assert!(cited > 20, "{cited} citations");
}

#[test]
fn a_wrong_command_is_found() {
    let all = vec!["tools/vm/gpus/snb".to_owned(), "tools/vm/guest".to_owned()];
    let targets = ["run".to_owned()].into();
    for (line, count) in [
        ("make run GPU=snb", 0),
        ("make walk GPU=snb", 1),
        ("make run GPU=voodoo", 1),
        ("tools/vm/guest --gpu snb", 0),
        ("tools/vm/host --gpu snb", 1),
        ("cargo test -p ouro-nothing", 1),
        ("cargo test --test nothing", 1),
        ("modprobe ouro probe=8086:0126", 0),
        ("modprobe ouro prod=8086:0126", 1),
    ] {
        assert_eq!(faults(line, &all, &targets).len(), count, "{line}");
    }
    assert_eq!(commands("# OURO_X=1 sudo make run  # draws"), ["make run"]);
    assert_eq!(
        commands("dmesg | grep 'a;b' && sudo rmmod ouro; ls"),
        ["dmesg", "grep 'a;b'", "rmmod ouro", "ls"]
    );
    assert!(begins("make run GPU=snb", "make run") && !begins("make runs", "make run"));
}

#[test]
fn blocks_of_a_page_are_found() {
    let rst = "Text::\n\n    make a\n\n1. An item::\n\n       make b\n\n   and more make c\n\n.. code-block:: sh\n\n  d\n";
    assert_eq!(block_lines("a.rst", rst), ["make a", "make b", "d"]);
    let md = "Text\n\n    make a\n\n```sh\nmake b\n```\n\n```toml\nc\n```\n    make d\n\n    e\n";
    assert_eq!(block_lines("a.md", md), ["make a", "make b", "make d", "e"]);
    assert!(pages().iter().any(|page| page.ends_with("truth-kit.rst")));
    assert!(!pages().iter().any(|page| page.ends_with("/truth.rst")));
}
