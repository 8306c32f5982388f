// SPDX-License-Identifier: GPL-2.0
//! Writes the pages of coverage anew. `cargo test` says when it is stale.

use anyhow::{Context, Result};
use ouro_coverage::{
    check, check_lines, entries, lines, page, page_path, rows, top, truth_page, witnesses_page, ALL,
};

fn main() -> Result<()> {
    let top = top();
    for list in ALL {
        let rows = rows(&top, list)?;
        check(&top, &rows)?;
        check_lines(&top, list, &lines(&top, list, &entries(&top)?)?)?;
        let path = page_path(&top, list);
        std::fs::write(&path, page(list, &rows)).with_context(|| path.display().to_string())?;
    }
    let pages = [
        ("witnesses.rst", witnesses_page(&top)?),
        ("truth.rst", truth_page(&top)?),
    ];
    for (name, text) in pages {
        let path = top.join("Documentation/gpu/ouro").join(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
