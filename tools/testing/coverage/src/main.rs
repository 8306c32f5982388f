// SPDX-License-Identifier: GPL-2.0
//! Writes the pages of coverage anew. `cargo test` says when it is stale.

use anyhow::{Context, Result};
use ouro_coverage::{check, page, page_path, rows, top, ALL};

fn main() -> Result<()> {
    let top = top();
    for list in ALL {
        let rows = rows(&top, list)?;
        check(&top, &rows)?;
        let path = page_path(&top, list);
        std::fs::write(&path, page(list, &rows)).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
