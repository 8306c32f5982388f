// SPDX-License-Identifier: GPL-2.0
//! Writes `Documentation/gpu/ouro/coverage.rst` anew. `cargo test` says when it is stale.

use anyhow::{Context, Result};
use ouro_coverage::{check, page, page_path, rows, top};

fn main() -> Result<()> {
    let top = top();
    let rows = rows(&top)?;
    check(&top, &rows)?;
    let path = page_path(&top);
    std::fs::write(&path, page(&rows)).with_context(|| path.display().to_string())
}
