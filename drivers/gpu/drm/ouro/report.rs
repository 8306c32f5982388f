// SPDX-License-Identifier: GPL-2.0

//! The device's errors and faults, in the log.

use core::fmt::{self, Write as _};
use kernel::prelude::*;
use ouro_hw::report::Report;

/// Prints line by line, without allocating. A longer line is cut.
struct Lines {
    line: [u8; 160],
    len: usize,
}

impl Lines {
    fn flush(&mut self) {
        let line = self.line.get(..self.len).unwrap_or(&[]);
        if let Ok(line) = core::str::from_utf8(line) {
            pr_info!("{}\n", line);
        }
        self.len = 0;
    }
}

impl fmt::Write for Lines {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        for byte in s.bytes() {
            if byte == b'\n' {
                self.flush();
            } else if let Some(at) = self.line.get_mut(self.len) {
                *at = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}

/// Prints a report, if there is anything in it.
pub(crate) fn print(report: &Report) {
    if !report.is_error() {
        return;
    }
    let mut lines = Lines {
        line: [0; 160],
        len: 0,
    };
    // The writer never fails.
    let _ = write!(lines, "{report}");
    if lines.len != 0 {
        lines.flush();
    }
}
