// SPDX-License-Identifier: GPL-2.0
//! Who else says what a row says, beside the document that model and driver are written from.
//!
//! `coverage/witnesses.csv` lists what was seen on real chips, in vendors' tests and in upstream drivers, each with
//! its source. `coverage/<name>-witness.csv` says which rows that is about. A witness is one of
//!
//! | form | what must be there |
//! | --- | --- |
//! | `GW05` | an entry of `witnesses.csv` |
//! | `peer:snb:2520.9<engine+228` | a rule of order in `tools/testing/peer/order-snb` that upstream keeps |
//! | `peer:snb:4094` | a register in `tools/testing/peer/reasons-snb` that upstream writes |
//! | `igt:snb:gem_exec_store@basic` | a pass of the upstream driver on the model, in `tools/testing/igt/peer-snb` |
//!
//! A vendor's witness counts only with a test of the model that was made from it and names it.

use std::{collections::BTreeMap, fmt, fs, path::Path};

use anyhow::{bail, ensure, Context, Result};
use ouro_peer::{list::RegisterKey, reasons};

use crate::{Checklist, TestNames};

/// How good a witness is, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A driver in daily use relies on it.
    Upstream,
    /// A test of the chip's maker says so.
    Vendor,
    /// A real chip did it: a dump or a log.
    Silicon,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Upstream, Kind::Vendor, Kind::Silicon];

    fn of_class(class: &str) -> Option<Self> {
        Some(match class {
            "dump" | "log" => Kind::Silicon,
            "vendor" => Kind::Vendor,
            "upstream" => Kind::Upstream,
            _ => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Upstream => "upstream",
            Kind::Vendor => "vendor",
            Kind::Silicon => "silicon",
        })
    }
}

/// An entry of `witnesses.csv`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// As `GW05`.
    pub id: String,
    /// `dump`, `log`, `vendor`, `upstream`.
    pub class: String,
    /// On which chip.
    pub chip: String,
    /// What was seen.
    pub seen: String,
    /// Where.
    pub source: String,
    kind: Kind,
}

/// What a witness says to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It says the same.
    For,
    /// It says more.
    Sharpens,
    /// It says otherwise, or the model once did.
    Against,
}

/// Witnesses of a row.
#[derive(Clone, Debug)]
pub struct Line {
    /// The row.
    pub row: String,
    /// What they say.
    pub verdict: Verdict,
    /// Who, each with how good it is.
    pub witnesses: Vec<(String, Kind)>,
    /// Tests that hold the model to it.
    pub tests: Vec<String>,
    /// What was done about it.
    pub note: String,
}

impl Line {
    /// Whether it has a witness of a kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.witnesses.iter().any(|w| w.1 == kind)
    }
}

fn read(path: &Path, headers: &[&str]) -> Result<Vec<Vec<String>>> {
    let records = || -> Result<Vec<Vec<String>>> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(b'|')
            .quoting(false)
            .from_path(path)?;
        ensure!(reader.headers()? == headers, "the columns are {headers:?}");
        let cells = reader
            .records()
            .map(|r| Ok(r?.iter().map(|c| c.trim().to_owned()).collect()));
        cells.collect()
    };
    records().with_context(|| path.display().to_string())
}

fn tables(top: &Path) -> std::path::PathBuf {
    top.join("Documentation/gpu/ouro/coverage")
}

/// All entries, in the table's order.
///
/// Errors: the table cannot be read, an entry is there twice, lacks something or is of no class.
pub fn entries(top: &Path) -> Result<Vec<Entry>> {
    let path = tables(top).join("witnesses.csv");
    let mut all: Vec<Entry> = Vec::new();
    for cells in read(&path, &["id", "class", "chip", "seen", "source"])? {
        let [id, class, chip, seen, source] = <[String; 5]>::try_from(cells)
            .map_err(|c| anyhow::anyhow!("{} cells in a line", c.len()))?;
        let kind = Kind::of_class(&class).with_context(|| format!("{id}: no class {class}"))?;
        ensure!(!all.iter().any(|e| e.id == id), "{id} is there twice");
        for cell in [&id, &chip, &seen, &source] {
            ensure!(!cell.is_empty(), "{id}: a cell is empty");
        }
        all.push(Entry {
            id,
            class,
            chip,
            seen,
            source,
            kind,
        });
    }
    Ok(all)
}

/// The witnesses of a checklist's rows.
///
/// Errors: the table cannot be read, or names an entry that is not there.
pub fn lines(top: &Path, list: &Checklist, entries: &[Entry]) -> Result<Vec<Line>> {
    let path = tables(top).join(format!("{}-witness.csv", list.name));
    let kinds: BTreeMap<&str, Kind> = entries.iter().map(|e| (&*e.id, e.kind)).collect();
    let line = |cells: Vec<String>| -> Result<Line> {
        let [row, verdict, witnesses, tests, note] = <[String; 5]>::try_from(cells)
            .map_err(|c| anyhow::anyhow!("{} cells in a line", c.len()))?;
        let verdict = match &*verdict {
            "for" => Verdict::For,
            "sharpens" => Verdict::Sharpens,
            "against" => Verdict::Against,
            other => bail!("{row}: no verdict {other}"),
        };
        let mut known = Vec::new();
        for witness in witnesses.split_whitespace() {
            let kind = match witness.split_once(':') {
                Some(_) => Some(Kind::Upstream),
                None => kinds.get(witness).copied(),
            };
            let kind = kind.with_context(|| format!("{row}: no witness {witness}"))?;
            known.push((witness.to_owned(), kind));
        }
        Ok(Line {
            row,
            verdict,
            witnesses: known,
            tests: tests.split_whitespace().map(str::to_owned).collect(),
            note,
        })
    };
    let cells = read(&path, &["row", "verdict", "witnesses", "tests", "note"])?;
    let lines: Result<_> = cells.into_iter().map(line).collect();
    lines.with_context(|| path.display().to_string())
}

/// Whether the upstream driver's use of a register, or its result of a test, is in the tree's files.
fn peer_says(top: &Path, witness: &str) -> Result<bool> {
    let mut parts = witness.splitn(3, ':');
    let (Some(by), Some(gpu), Some(what)) = (parts.next(), parts.next(), parts.next()) else {
        bail!("{witness}: not BY:GPU:WHAT");
    };
    let text = |path: String| {
        let path = top.join(path);
        fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    match by {
        "igt" => {
            let results = text(format!("tools/testing/igt/peer-{gpu}"))?;
            Ok(results.lines().any(|l| l == format!("PASS {what}")))
        }
        "peer" if what.contains('<') => {
            let rules = text(format!("tools/testing/peer/order-{gpu}"))?;
            // A rule that upstream does not keep begins with `ours:`.
            let wanted = format!("{} ", what.replace('<', " < "));
            Ok(rules.lines().any(|l| l.starts_with(&wanted)))
        }
        "peer" => {
            let all = reasons::parse(&text(format!("tools/testing/peer/reasons-{gpu}"))?)?;
            let offset = u32::from_str_radix(what, 16).with_context(|| witness.to_owned())?;
            let key = RegisterKey {
                image: false,
                offset,
            };
            let writes = |r: &reasons::Reason| r.kind != reasons::Kind::OursOnly && r.covers(key);
            Ok(all.iter().any(writes))
        }
        _ => bail!("{witness}: neither peer nor igt"),
    }
}

/// The text of the file that a test of the model is in.
fn source_of(top: &Path, test: &str) -> Option<String> {
    let file = test.split("::").next()?;
    let path = match file.ends_with(".rs") {
        true => format!("tools/gpu-model/src/{file}"),
        false => format!("tools/gpu-model/tests/{file}.rs"),
    };
    fs::read_to_string(top.join(path)).ok()
}

/// What is wrong with a line, beside its tests' names.
fn faults(top: &Path, line: &Line) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let sources: Vec<String> = line
        .tests
        .iter()
        .filter_map(|t| source_of(top, t))
        .collect();
    for (witness, kind) in &line.witnesses {
        if witness.contains(':') && !peer_says(top, witness)? {
            wrong.push(format!("upstream does not say {witness}"));
        }
        if *kind == Kind::Vendor && !sources.iter().any(|s| s.contains(witness)) {
            wrong.push(format!("no test is made from {witness}"));
        }
    }
    if line.witnesses.is_empty() {
        wrong.push("no witness".to_owned());
    }
    if line.verdict == Verdict::Against && line.note.is_empty() {
        wrong.push("what was done about it?".to_owned());
    }
    Ok(wrong)
}

/// Checks that whatever the lines name exists.
///
/// Errors: all that is wrong, one in a line.
pub fn check_lines(top: &Path, list: &Checklist, lines: &[Line]) -> Result<()> {
    let rows = list.names();
    let tests = TestNames::read(top)?;
    let mut wrong = Vec::new();
    let mut last = 0;
    for line in lines {
        let mut add = |what: String| wrong.push(format!("{}: {what}", line.row));
        match rows.iter().position(|r| *r == line.row) {
            None => add("no such row".to_owned()),
            Some(at) if at < last => add("out of order".to_owned()),
            Some(at) => last = at,
        }
        for test in line.tests.iter().filter(|t| !tests.has(t)) {
            add(format!("no test {test}"));
        }
        faults(top, line)?.into_iter().for_each(add);
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
