// SPDX-License-Identifier: GPL-2.0

//! Log output: the device's errors and faults, its properties and activity, and names.

use core::fmt::{self, Write as _};
use kernel::{device::Device, prelude::*};
use ouro_hw::{
    generation::{Topology, Translation},
    report::Report,
};

/// Wraps a type of the backends for the kernel's printing macros, by its `Display`.
pub(crate) struct Words<T>(pub(crate) T);

impl<T: fmt::Display> kernel::fmt::Display for Words<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The level of log lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// An error, as the line before them.
    Error,
    /// Information that the administrator asked for.
    Info,
}

/// Most bytes of a line.
const LINE: usize = 256;

/// Prints line by line, without allocation. A line that is too long is truncated.
struct Lines<'a> {
    dev: &'a Device,
    level: Level,
    line: [u8; LINE],
    len: usize,
}

impl Lines<'_> {
    fn flush(&mut self) {
        let line = self.line.get(..self.len).unwrap_or(&[]);
        if let Ok(line) = core::str::from_utf8(line) {
            match self.level {
                Level::Error => dev_err!(self.dev, "{line}\n"),
                Level::Info => dev_info!(self.dev, "{line}\n"),
            }
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

/// Prints lines of text.
fn lines(dev: &Device, level: Level, write: impl FnOnce(&mut Lines<'_>) -> fmt::Result) {
    let mut lines = Lines {
        dev,
        level,
        line: [0; LINE],
        len: 0,
    };
    // The writer never fails.
    let _ = write(&mut lines);
    if lines.len != 0 {
        lines.flush();
    }
}

/// Logs a report, if it contains anything.
pub(crate) fn print(dev: &Device, level: Level, report: &Report) {
    if report.is_error() {
        lines(dev, level, |to| write!(to, "{report}"));
    }
}

/// Logs the properties of a device, for first tries on new hardware.
pub(crate) fn topology(dev: &Device, topology: &Topology) {
    lines(dev, Level::Info, |to| {
        write!(to, "revision {:#x}, engines", topology.revision)?;
        for n in 0..topology.engines.len() {
            match topology.name(n) {
                Some(id) => write!(to, " {id}")?,
                None => to.write_str(" ?")?,
            }
        }
        let space = match topology.space {
            Translation::Global => "no PPGTT",
            Translation::Aliasing { .. } => "aliasing PPGTT",
            Translation::PerContextDirectory { .. } | Translation::PerContext { .. } => {
                "a PPGTT for each context"
            }
        };
        let entries = topology.gtt_entries;
        writeln!(to, "\nGGTT of {entries} entries, {space}")?;
        let (aperture, stolen) = (topology.aperture >> 20, topology.stolen_bytes >> 20);
        writeln!(to, "aperture {aperture} MiB, stolen memory {stolen} MiB")?;
        if let Some(local) = topology.local {
            let (size, visible) = (local.size >> 20, local.cpu_visible >> 20);
            writeln!(
                to,
                "local memory {size} MiB, of which the CPU sees {visible} MiB"
            )?;
        }
        let (hz, msi) = (topology.timestamp_hz, topology.msi);
        writeln!(
            to,
            "coherence {:?}, timestamps {hz} Hz, MSI {msi}, swizzle {:?}",
            topology.coherence, topology.swizzle
        )
    });
}
