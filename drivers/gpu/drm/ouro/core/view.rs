// SPDX-License-Identifier: GPL-2.0
//! The parts of a BO that the aperture maps, one at a time.
//!
//! A small BO is one part. A large one is divided into parts of about 1 MiB, so that BOs far larger
//! than the aperture can be mapped. A tiled BO is divided between rows of tiles: a fence register
//! counts rows from its start, so a part that starts with a row is detiled as it is in the whole.
//! For the same reason a part spans whole rows, even if the BO ends within one.

use core::ops::Range;

/// Pages of a part of a large BO, before rounding to whole rows: 1 MiB.
const PART: u64 = 256;
/// A BO of at most this fraction of the aperture is one part.
const WHOLE: u64 = 8;

/// The division of a BO into parts. All numbers are pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    object: u64,
    row: u64,
    part: u64,
}

/// A part of a BO.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Index of the part.
    pub index: u64,
    /// The BO's pages in it.
    pub pages: Range<u64>,
    /// Pages that it takes in the aperture: whole rows of tiles, at least the BO's pages.
    pub span: u64,
}

impl Parts {
    /// Divides a BO of `object` pages for an aperture of `aperture` pages. A row of tiles is `row`
    /// pages; a linear BO has rows of one page.
    pub fn new(object: u64, row: u64, aperture: u64) -> Self {
        let row = row.max(1);
        let whole = object.div_ceil(row).saturating_mul(row);
        let part = if whole <= aperture / WHOLE {
            whole
        } else {
            PART.div_ceil(row).saturating_mul(row)
        };
        Self {
            object,
            row,
            part: part.max(1),
        }
    }

    /// Returns the part that contains page `page` of the BO; `None` beyond the BO's end.
    pub fn of(&self, page: u64) -> Option<Part> {
        if page >= self.object {
            return None;
        }
        let index = page / self.part;
        let first = index * self.part;
        let end = first.saturating_add(self.part).min(self.object);
        Some(Part {
            index,
            pages: first..end,
            span: (end - first).div_ceil(self.row).saturating_mul(self.row),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of 256 MiB.
    const APERTURE: u64 = 65536;

    fn part(index: u64, pages: Range<u64>, span: u64) -> Option<Part> {
        Some(Part { index, pages, span })
    }

    #[test]
    fn small_objects_are_one_part() {
        assert_eq!(Parts::new(1, 1, APERTURE).of(0), part(0, 0..1, 1));
        // 32 MiB: an eighth.
        let parts = Parts::new(8192, 1, APERTURE);
        assert_eq!(parts.of(8191), part(0, 0..8192, 8192));
        assert_eq!(parts.of(8192), None);
    }

    #[test]
    fn large_objects_are_cut_into_mebibytes() {
        let parts = Parts::new(8193, 1, APERTURE);
        assert_eq!(parts.of(0), part(0, 0..256, 256));
        assert_eq!(parts.of(255), part(0, 0..256, 256));
        assert_eq!(parts.of(256), part(1, 256..512, 256));
        assert_eq!(parts.of(8192), part(32, 8192..8193, 1));
        assert_eq!(parts.of(8193), None);
    }

    #[test]
    fn cuts_are_between_rows_of_tiles() {
        // X, stride 20480: rows of 8 x 20480 bytes = 40 pages; seven of them exceed 1 MiB.
        let parts = Parts::new(10_000, 40, APERTURE);
        assert_eq!(parts.of(279), part(0, 0..280, 280));
        assert_eq!(parts.of(280), part(1, 280..560, 280));
        // 10000 is 35 parts and 5 rows.
        assert_eq!(parts.of(9_999), part(35, 9800..10_000, 200));
        // Y, stride 131072: a row is 4 MiB, larger than a part.
        let parts = Parts::new(100_000, 1024, APERTURE);
        assert_eq!(parts.of(1024), part(1, 1024..2048, 1024));
    }

    #[test]
    fn a_last_row_is_spanned_whole() {
        // One row and a page of the next.
        assert_eq!(Parts::new(41, 40, APERTURE).of(40), part(0, 0..41, 80));
        // The span of the last part of a large BO includes what the part lacks to whole rows.
        let parts = Parts::new(8961, 128, APERTURE);
        assert_eq!(parts.of(8960), part(35, 8960..8961, 128));
    }

    #[test]
    fn nothing_overflows() {
        let parts = Parts::new(u64::MAX, u64::MAX, 0);
        assert_eq!(parts.of(0), part(0, 0..u64::MAX, u64::MAX));
        assert_eq!(parts.of(u64::MAX), None);
        assert_eq!(Parts::new(0, 0, 0).of(0), None);
    }
}
