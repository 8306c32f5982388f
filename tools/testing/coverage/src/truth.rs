// SPDX-License-Identifier: GPL-2.0
//! The pages `witnesses.rst` and `truth.rst`.

use std::{collections::BTreeSet, fmt::Write, path::Path};

use anyhow::Result;

use crate::page::{head, list_table, plain};
use crate::witness::{entries, lines, Entry, Kind, Line, Verdict};
use crate::{Checklist, ALL};

const WITNESSES: &str = "\
Driver and models are written from the same documents, so that a shared misreading passes every test of this tree. A
*witness* is a source other than the document that says what a chip does: a real machine (a *dump* of its registers and buffers, a *log*), a
test of the chip's *vendor*, an *upstream* driver that is used daily. Everything here is retold; no text or code of a source
is in the tree, and nothing was measured by this project. Which rows of the checklists they are about is in :doc:`truth`.

A dump of a neighbour of a chip is a witness of a rule that the document has for all; the chip is named. These sources
have several entries:

========== ===============================================================================================================
GM45       an error state of i915 from a GM45 (8086:2a42) of February 2013: registers, sixteen fences, the ring of 128 KB and
           a batch (GitHub tadzik/forvalve, ``cs-crash.log``; thread 484 of ValveSoftware/halflife)
SNB387     the head of an error state of a Sandy Bridge (8086:0126), May 2018 (GitHub intel/intel-vaapi-driver, issue 387)
SNBMAC     registers of a hung HD Graphics 3000 as another system's driver prints them, in a blog post
TGLXE      registers of an idle render engine of a Tiger Lake (8086:9a49) as ``xe`` prints them (list intel-gfx, 2024-05-22)
RADEON     boot and reset lines of radeon, 2009 to 2011, from forums and bug trackers, of six boards and more
NEO        tests of the vendor's compute runtime that run on its simulator and compare memory, those for DG2
           (GitHub intel/compute-runtime, ``opencl/test/unit_test/aub_tests``, 2026)
AUB        the vendor's own submission to its simulators, without GuC (GitHub intel/aubstream, 2026)
========== ===============================================================================================================

Paths of *upstream* entries are below ``drivers/gpu/drm/i915`` of Linux 7.3, or of ``radeon`` where they say so.
";

const TRUTH: &str = "\
How each row of the checklists is known: from the document alone, or by a witness too. The tables
``coverage/*-witness.csv`` name the witnesses of a row; :doc:`witnesses` says what each saw and where that is published.
Beside those entries a witness may be a rule or a register in ``tools/testing/peer`` (``peer:``: the upstream driver does
this on the model), or a test of IGT that passes with the upstream driver on the model (``igt:``). A vendor's witness has
a test of the model that is made from it. The build's tests refuse a row whose witness, rule, result or test is not there.

*Sharpens*: the witness says more than the document. *Against*: it says otherwise, or the model did; the note says what
was done. Nothing in this table was measured by this project.
";

const CONTRADICTIONS: &str = "\
What no row is about
====================

Witnesses also contradict what the models do, or did, beside the rows:

* *R5xx, RBBM_STATUS* reads 0x10000140 on every board after a reset (RW01, RW08), which the model had as 0x40: mended,
  ``r5xx_real::status_after_a_reset``. Bit 28 is set by the read itself.
* *R5xx, MC_FB_LOCATION* of a card with a BIOS begins at 0xe0000000 (RW35); the model's begins at 0. Kept: both drivers
  write it before they use it, and the habit ``leftovers`` has other traces of a BIOS.
* *R5xx, resets* need not heal (RW13, RW16). Kept: fault ``stuck-reset`` leaves the chip as busy as it was, and both
  drivers give it up then; a jammed FIFO of no entries is not modelled.
* *DG2, local memory*: 32 MB below its end belong to firmware (DW03), and the model has no such part. Kept: a driver
  reads where its memory ends. The valid bits of the two registers (VW52) are mended, ``dg2_bringup::registers_that_a_probe_reads``.
* *DG2, the lock*: a card that is sold takes execlists only if its firmware was loaded for authentication (DW08). The server
  is locked unless told otherwise; that firmware is not modelled.
* *Gen12, time stamps* of a context are saved wrongly by real chips (upstream skips its test of them there). Kept: the
  model saves them right, and the driver must not rely on it.
* *Gen6 to Gen12, INSTDONE* of a busy engine has many bits clear (GW11, SW09); the models clear bit 0 alone, as one of
  the dumps has it (SW17). Kept: which bits there are is not known.
* *Gen8 and later, RESET_CTL* may never say that an engine is ready (NW04). Kept: the model says so at once; fault
  ``stuck-reset`` is about the reset that follows.
";

/// `witnesses.rst`.
///
/// Errors: the table of entries cannot be read.
pub fn witnesses_page(top: &Path) -> Result<String> {
    let mut out = head("Witnesses", WITNESSES);
    out.push('\n');
    let cells: Vec<[String; 5]> = entries(top)?.into_iter().map(cells).collect();
    list_table(
        &mut out,
        "7 8 14 46 25",
        &["name", "class", "chip", "what was seen", "source"],
        cells.iter().map(|c| c.as_slice()),
    );
    Ok(ended(out))
}

fn cells(e: Entry) -> [String; 5] {
    let Entry {
        id,
        class,
        chip,
        seen,
        source,
        ..
    } = e;
    [id, class, plain(&chip), plain(&seen), plain(&source)]
}

fn ended(mut out: String) -> String {
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// How many rows of a checklist have which kind of witness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Rows.
    pub rows: usize,
    /// Those with a witness of each of [`Kind::ALL`].
    pub kinds: [usize; 3],
    /// Those with any.
    pub any: usize,
    /// Those with one of silicon or of the vendor.
    pub best: usize,
    /// Those that a witness contradicts, or once did.
    pub against: usize,
}

impl Count {
    /// Counts the rows of a checklist.
    pub fn of(list: &Checklist, lines: &[Line]) -> Self {
        let rows = |f: &dyn Fn(&Line) -> bool| {
            let rows: BTreeSet<&str> = lines.iter().filter(|l| f(l)).map(|l| &*l.row).collect();
            rows.len()
        };
        Self {
            rows: list.names().len(),
            kinds: Kind::ALL.map(|k| rows(&|l| l.has(k))),
            any: rows(&|_| true),
            best: rows(&|l| l.has(Kind::Vendor) || l.has(Kind::Silicon)),
            against: rows(&|l| l.verdict == Verdict::Against),
        }
    }

    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.any += other.any;
        self.best += other.best;
        self.against += other.against;
        for (sum, n) in self.kinds.iter_mut().zip(other.kinds) {
            *sum += n;
        }
    }

    fn cells(&self, name: &str) -> [String; 8] {
        let [upstream, vendor, silicon] = self.kinds;
        let alone = self.rows - self.any;
        let n = [
            self.rows,
            alone,
            upstream,
            vendor,
            silicon,
            self.best,
            self.against,
        ];
        let mut cells = [const { String::new() }; 8];
        cells[0] = name.to_owned();
        for (cell, n) in cells[1..].iter_mut().zip(n) {
            *cell = n.to_string();
        }
        cells
    }
}

/// The chip's name, of the title of its page.
fn chip(list: &Checklist) -> &'static str {
    list.title
        .strip_prefix("Coverage of ")
        .unwrap_or(list.title)
}

fn row_cells(line: &Line) -> [String; 4] {
    let names: Vec<String> = line
        .witnesses
        .iter()
        .map(|(w, kind)| match w.contains(':') {
            true => format!("``{w}``"),
            false => format!("{w} ({kind})"),
        })
        .collect();
    let verdict = match line.verdict {
        Verdict::For => "",
        Verdict::Sharpens => "*sharpens* ",
        Verdict::Against => "*against* ",
    };
    let tests: Vec<String> = line.tests.iter().map(|t| format!("``{t}``")).collect();
    [
        line.row.clone(),
        names.join(", "),
        format!("{verdict}{}", plain(&line.note)).trim().to_owned(),
        tests.join(" "),
    ]
}

/// `truth.rst`.
///
/// Errors: a table cannot be read.
pub fn truth_page(top: &Path) -> Result<String> {
    let entries = entries(top)?;
    let mut sum = Count::default();
    let mut counts = Vec::new();
    let mut rest = String::new();
    for list in ALL {
        let lines = lines(top, list, &entries)?;
        let count = Count::of(list, &lines);
        sum.add(count);
        counts.push(count.cells(&format!(":doc:`{}`", list.page.trim_end_matches(".rst"))));
        let _ = writeln!(rest, "{}\n{}\n", chip(list), "=".repeat(chip(list).len()));
        let cells: Vec<[String; 4]> = lines.iter().map(row_cells).collect();
        list_table(
            &mut rest,
            "8 38 34 20",
            &["row", "who says it", "what was done", "tests of the model"],
            cells.iter().map(|c| c.as_slice()),
        );
        let known: BTreeSet<&str> = lines.iter().map(|l| &*l.row).collect();
        for part in list.parts {
            let alone: Vec<String> = part.names().filter(|n| !known.contains(&**n)).collect();
            if !alone.is_empty() {
                let _ = writeln!(rest, "{} alone: {}.\n", part.from, alone.join(", "));
            }
        }
    }
    counts.push(sum.cells("together"));
    let mut out = head("How each row is known", TRUTH);
    out.push('\n');
    list_table(
        &mut out,
        "20 10 14 11 11 11 13 10",
        &[
            "checklist",
            "rows",
            "document only",
            "upstream",
            "vendor",
            "silicon",
            "vendor or silicon",
            "against",
        ],
        counts.iter().map(|c| c.as_slice()),
    );
    out.push_str(CONTRADICTIONS);
    out.push('\n');
    out.push_str(&rest);
    Ok(ended(out))
}
