// SPDX-License-Identifier: GPL-2.0
//! The joined page, in reStructuredText.

use std::fmt::Write;

use crate::witness::Kind;
use crate::{Checklist, Part, Row, Side, Totals};

/// The begin of a page that is made here.
pub(crate) fn head(title: &str, about: &str) -> String {
    let rule = "=".repeat(title.len());
    format!("{NOTE}{rule}\n{title}\n{rule}\n\n{about}")
}

/// A table of lists.
pub(crate) fn list_table<'a>(
    out: &mut String,
    widths: &str,
    headers: &[&str],
    rows: impl Iterator<Item = &'a [String]>,
) {
    let _ = writeln!(
        out,
        ".. list-table::\n   :header-rows: 1\n   :widths: {widths}\n"
    );
    let mut line = |i: usize, text: &str| {
        let bullet = if i == 0 { "* -" } else { "  -" };
        let line = format!("   {bullet} {text}");
        out.push_str(line.trim_end());
        out.push('\n');
    };
    for (i, name) in headers.iter().enumerate() {
        line(i, name);
    }
    for row in rows {
        for (i, cell) in row.iter().enumerate() {
            line(i, cell);
        }
    }
    out.push('\n');
}

const NOTE: &str = "\
.. SPDX-License-Identifier: GPL-2.0

.. Made by tools/testing/coverage from the tables in coverage/: do not edit.

";

const LEGEND: &str = "
A file of the driver is below ``drivers/gpu/drm/ouro/``, one of the model below
``tools/gpu-model/src/``. *Not* says why there is no code. Tests:

=========================================== =================================================================
``intel::processor::pte::tests::name``      a unit test in ``hw/intel/processor/pte.rs``
``gen6_requests::name``                     ``tools/testing/host/tests``: the driver's backend on the model
``snb_rings::name``                         ``tools/gpu-model/tests``: the model alone
``intel/pte.rs::name``                      a unit test of the model
``kunit::name``                             ``drivers/gpu/drm/ouro/tests.rs``, in the guest
``exec_reloc.c::name``                      ``tools/testing/selftests/drm/ouro``, in the guest
=========================================== =================================================================

*Known by* says who else says it, beside the document (:doc:`truth`; names are those of :doc:`witnesses`).

";

/// Text that no markup is in.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_word = rest.peek().is_none_or(|n| !n.is_alphanumeric());
        if "\\*`|".contains(c) || (c == '_' && ends_word) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn place(side: &Side) -> String {
    match side.is_reason {
        true => format!("*not:* {}", plain(&side.place)),
        false => plain(&side.place),
    }
}

fn tests<'a>(sides: impl Iterator<Item = &'a Side>) -> String {
    let names: Vec<String> = sides
        .flat_map(|s| s.tests.iter())
        .map(|t| format!("``{t}``"))
        .collect();
    names.join(" ")
}

/// How a row is known: by its document, or also by whom.
fn known(part: &Part, row: &Row) -> String {
    let of = |kind: Kind| {
        let names: Vec<&str> = row
            .witnesses
            .iter()
            .flat_map(|l| &l.witnesses)
            .filter(|w| w.1 == kind)
            .map(|w| w.0.split(':').next().unwrap_or_default())
            .collect();
        (!names.is_empty()).then(|| {
            let mut names = names;
            names.dedup();
            format!("{kind} {}", names.join(" "))
        })
    };
    let all: Vec<String> = Kind::ALL.into_iter().rev().filter_map(of).collect();
    match all.is_empty() {
        true => part.from.to_lowercase(),
        false => all.join("; "),
    }
}

fn table(out: &mut String, part: &Part, rows: &[Row]) {
    let cells: Vec<[String; 6]> = rows
        .iter()
        .map(|row| {
            let sides = [Some(&row.driver), row.model.as_ref()];
            [
                row.id.clone(),
                plain(&row.mechanism),
                place(&row.driver),
                row.model.as_ref().map(place).unwrap_or_default(),
                tests(sides.into_iter().flatten()),
                known(part, row),
            ]
        })
        .collect();
    list_table(
        out,
        "6 20 21 21 22 10",
        &["row", "mechanism", "driver", "model", "tests", "known by"],
        cells.iter().map(|c| c.as_slice()),
    );
}

/// The page.
pub fn page(list: &Checklist, rows: &[Row]) -> String {
    let totals = Totals::of(rows);
    let mut out = head(list.title, list.about);
    out.push_str(LEGEND);
    let _ = writeln!(
        out,
        "Of {} rows, {} have code in the driver, {} in the model, and {} a test.\n",
        totals.rows, totals.driver, totals.model, totals.tests
    );
    let mut rest = rows;
    for part in list.parts {
        let (these, others) = rest.split_at(part.rows.min(rest.len()));
        rest = others;
        let _ = writeln!(
            out,
            "{}\n{}\n",
            part.heading,
            "=".repeat(part.heading.len())
        );
        table(&mut out, part, these);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
