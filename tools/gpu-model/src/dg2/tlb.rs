// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What an engine remembers of the per-process tables. It never forgets by itself, so that a driver
//! that leaves out an invalidation always uses the old page: only MI_FLUSH_DW and PIPE_CONTROL with
//! bit 18, the invalidation registers, the restore of another context and a reset empty it (U6).

use super::mem::Phys;
use std::collections::HashMap;

/// So many pages are remembered; then all are forgotten, which a chip may do at any time.
const MOST: usize = 1 << 16;

/// A remembered page of 4 KB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub at: Phys,
    pub writable: bool,
}

/// Remembered translations by page number.
#[derive(Default)]
pub(crate) struct Tlb(HashMap<u64, Page>);

impl Tlb {
    pub fn get(&self, page: u64) -> Option<Page> {
        self.0.get(&page).copied()
    }

    pub fn put(&mut self, page: u64, what: Page) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(page, what);
    }

    pub fn flush(&mut self) {
        self.0.clear();
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
