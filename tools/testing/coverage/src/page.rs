// SPDX-License-Identifier: GPL-2.0
//! The joined page, in reStructuredText.

use std::fmt::Write;

use crate::{Checklist, Row, Side, Totals};

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

";

/// Text that no markup is in.
fn plain(text: &str) -> String {
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

fn table(out: &mut String, rows: &[Row]) {
    out.push_str(".. list-table::\n   :header-rows: 1\n   :widths: 6 22 24 24 24\n\n");
    let mut line = |first: bool, text: &str| {
        let bullet = if first { "* -" } else { "  -" };
        let line = format!("   {bullet} {text}");
        out.push_str(line.trim_end());
        out.push('\n');
    };
    for (i, name) in ["row", "mechanism", "driver", "model", "tests"]
        .iter()
        .enumerate()
    {
        line(i == 0, name);
    }
    for row in rows {
        line(true, &row.id);
        line(false, &plain(&row.mechanism));
        line(false, &place(&row.driver));
        line(false, &row.model.as_ref().map(place).unwrap_or_default());
        line(
            false,
            &tests(
                [Some(&row.driver), row.model.as_ref()]
                    .into_iter()
                    .flatten(),
            ),
        );
    }
    out.push('\n');
}

/// The page.
pub fn page(list: &Checklist, rows: &[Row]) -> String {
    let totals = Totals::of(rows);
    let rule = "=".repeat(list.title.len());
    let mut out = format!(
        "{NOTE}{rule}\n{}\n{rule}\n\n{}{LEGEND}",
        list.title, list.about
    );
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
        table(&mut out, these);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
