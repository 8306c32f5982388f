// SPDX-License-Identifier: GPL-2.0

//! The device's errors and faults, and names of the backends, in the log.

use core::fmt::{self, Write as _};
use kernel::{device::Device, prelude::*};
use ouro_hw::report::Report;

/// What a type of the backends is in words, for the kernel's macros.
pub(crate) struct Words<T>(pub(crate) T);

impl<T: fmt::Display> kernel::fmt::Display for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Prints line by line, without allocating. A longer line is cut.
struct Lines<'a> {
    dev: &'a Device,
    line: [u8; 160],
    len: usize,
}

impl Lines<'_> {
    fn flush(&mut self) {
        let line = self.line.get(..self.len).unwrap_or(&[]);
        if let Ok(line) = core::str::from_utf8(line) {
            dev_info!(self.dev, "{}\n", line);
        }
        self.len = 0;
    }
}

impl fmt::Write for Lines<'_> {
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
pub(crate) fn print(dev: &Device, report: &Report) {
    if !report.is_error() {
        return;
    }
    let mut lines = Lines {
        dev,
        line: [0; 160],
        len: 0,
    };
    // The writer never fails.
    let _ = write!(lines, "{report}");
    if lines.len != 0 {
        lines.flush();
    }
}
