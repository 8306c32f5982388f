// SPDX-License-Identifier: GPL-2.0
//! The coverage of a checklist: which of its rows the driver and the model do, where, and which test
//! shows it.
//!
//! For each generation three tables are kept by hand in `Documentation/gpu/ouro/coverage/`: the rows of
//! the checklist with what each is about, what the driver does with it, what the model does. They are joined
//! to a page ([`Checklist::page`]). Whatever a table names must be there: files of the driver and the model,
//! test functions of Cargo's tests, of KUnit and of the kselftests. A fourth table names the other sources that say what a row
//! says (`witness.rs`).

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::{bail, ensure, Context, Result};

mod checklist;
mod page;
mod tests_of;
mod truth;
mod witness;

pub use checklist::{Checklist, Part, ALL, GEN12, GEN4, GEN7, R5XX, SNB};
pub use page::page;
pub use tests_of::TestNames;
pub use truth::{truth_page, witnesses_page, Count};
pub use witness::{check_lines, entries, lines, Entry, Kind, Line, Verdict};

/// What one side does with a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Files and items, or why not.
    pub place: String,
    /// Whether `place` is a reason not to do it.
    pub is_reason: bool,
    /// Names of tests.
    pub tests: Vec<String>,
}

impl Side {
    fn new(cell: &str, not: &str, tests: &str) -> Self {
        let reason = cell.strip_prefix(not).map(str::trim);
        Self {
            place: reason.unwrap_or(cell).to_owned(),
            is_reason: reason.is_some(),
            tests: tests.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// Whether there is code for it.
    pub fn is_done(&self) -> bool {
        !self.is_reason
    }

    /// The files that the place names.
    fn files(&self) -> impl Iterator<Item = &str> {
        let words = self
            .place
            .split(|c: char| c.is_whitespace() || ":;,()".contains(c));
        words.filter(|w| w.ends_with(".rs") && !self.is_reason)
    }
}

/// A row of the checklist.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name, as `G6-001`.
    pub id: String,
    /// What it is about.
    pub mechanism: String,
    /// What the driver does.
    pub driver: Side,
    /// What the model does; nothing for what the hardware document leaves out, which the model's
    /// table does not list.
    pub model: Option<Side>,
    /// Who else says it.
    pub witnesses: Vec<Line>,
}

/// How much is covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rows.
    pub rows: usize,
    /// Rows with code in the driver.
    pub driver: usize,
    /// Rows with code in the model.
    pub model: usize,
    /// Rows with a test on either side.
    pub tests: usize,
}

impl Totals {
    /// Counts.
    pub fn of(rows: &[Row]) -> Self {
        let count = |f: &dyn Fn(&Row) -> bool| rows.iter().filter(|r| f(r)).count();
        Self {
            rows: rows.len(),
            driver: count(&|r| r.driver.is_done()),
            model: count(&|r| r.model.as_ref().is_some_and(Side::is_done)),
            tests: count(&|r| {
                let model = r.model.as_ref().is_some_and(|m| !m.tests.is_empty());
                model || !r.driver.tests.is_empty()
            }),
        }
    }
}

/// The top of the tree that this crate was built in.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Where the joined page is.
pub fn page_path(top: &Path, list: &Checklist) -> PathBuf {
    top.join("Documentation/gpu/ouro").join(list.page)
}

/// A table by its rows' names, in the order of `expected`, which all must be there.
fn table(
    path: &Path,
    delimiter: u8,
    headers: &[&str],
    expected: &[String],
) -> Result<BTreeMap<String, Vec<String>>> {
    let read = || -> Result<BTreeMap<String, Vec<String>>> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(delimiter == b',')
            .from_path(path)?;
        ensure!(reader.headers()? == headers, "the columns are {headers:?}");
        let mut rows = BTreeMap::new();
        let mut names = Vec::new();
        for record in reader.records() {
            let cells: Vec<String> = record?.iter().map(str::to_owned).collect();
            names.push(cells[0].clone());
            rows.insert(cells[0].clone(), cells);
        }
        for (name, wanted) in names.iter().zip(expected) {
            ensure!(name == wanted, "{name} stands where {wanted} should");
        }
        ensure!(
            names.len() == expected.len(),
            "{} rows in place of {}",
            names.len(),
            expected.len()
        );
        Ok(rows)
    };
    read().with_context(|| path.display().to_string())
}

/// Reads and joins the tables of a generation. One whose driver or model has no table yet goes without.
///
/// Errors: a table cannot be read, or a row is missing, or is there twice.
pub fn rows(top: &Path, list: &Checklist) -> Result<Vec<Row>> {
    let dir = top.join("Documentation/gpu/ouro/coverage");
    let all = list.names();
    let file = |what: &str| dir.join(format!("{}-{what}.csv", list.name));
    let names = table(&file("rows"), b'|', &["row", "mechanism"], &all)?;
    let driver = match file("driver") {
        path if path.exists() => table(&path, b',', &["row", "where", "test"], &all)?,
        _ => BTreeMap::new(),
    };
    let model = match file("model") {
        path if path.exists() => table(&path, b'|', &["row", "model", "tests"], &all)?,
        _ => BTreeMap::new(),
    };
    let lines = lines(top, list, &entries(top)?)?;
    let row = |id: &String| Row {
        id: id.clone(),
        mechanism: names[id][1].clone(),
        driver: driver
            .get(id)
            .map_or(Side::new("not: no backend yet", "not:", ""), |d| {
                Side::new(&d[1], "not:", &d[2])
            }),
        model: model.get(id).map(|m| Side::new(&m[1], "n/a:", &m[2])),
        witnesses: lines.iter().filter(|l| l.row == *id).cloned().collect(),
    };
    Ok(all.iter().map(row).collect())
}

/// Checks that whatever the rows name exists.
///
/// Errors: all that is wrong, one in a line.
pub fn check(top: &Path, rows: &[Row]) -> Result<()> {
    let tests = TestNames::read(top)?;
    let mut wrong = BTreeSet::new();
    for row in rows {
        if row.mechanism.is_empty() {
            wrong.insert(format!("{}: says nothing", row.id));
        }
        let sides = [
            ("driver", "drivers/gpu/drm/ouro", Some(&row.driver)),
            ("model", "tools/gpu-model/src", row.model.as_ref()),
        ];
        for (who, dir, side) in sides {
            let Some(side) = side else { continue };
            if side.place.is_empty() {
                wrong.insert(format!("{}: {who}: neither a place nor a reason", row.id));
            }
            if side.is_done() && who == "driver" && side.files().next().is_none() {
                wrong.insert(format!("{}: {who}: names no file", row.id));
            }
            for file in side.files() {
                if !top.join(dir).join(file).is_file() {
                    wrong.insert(format!("{}: {who}: no file {file}", row.id));
                }
            }
            for test in &side.tests {
                if !tests.has(test) {
                    wrong.insert(format!("{}: {who}: no test {test}", row.id));
                }
            }
        }
    }
    if !wrong.is_empty() {
        let wrong: Vec<String> = wrong.into_iter().collect();
        bail!("{}", wrong.join("\n"));
    }
    Ok(())
}
