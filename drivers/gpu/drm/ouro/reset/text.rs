// SPDX-License-Identifier: GPL-2.0

//! The error state as text, in the format of `Documentation/gpu/ouro/error-state.rst`. Rendered in
//! process context, for a reader.

use core::fmt::{self, Write};
use kernel::prelude::*;
use ouro_core::ascii85;

use super::state::{ErrorState, Kind};
use crate::hardware::Hardware;

/// A growing text. An allocation failure is reported at the end.
struct Out {
    text: VVec<u8>,
    full: Result,
}

impl Out {
    fn bytes(&mut self, bytes: &[u8]) {
        if self.full.is_ok() {
            self.full = self
                .text
                .extend_from_slice(bytes, GFP_KERNEL)
                .map_err(Error::from);
        }
    }
}

impl fmt::Write for Out {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.bytes(s.as_bytes());
        Ok(())
    }
}

/// The name of a process, which the process chooses.
struct Name<'a>(&'a [u8]);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            let plain = byte.is_ascii_graphic() || *byte == b' ';
            f.write_char(if plain { char::from(*byte) } else { '?' })?;
        }
        Ok(())
    }
}

/// Writes an error state. Errors: `ENOMEM`.
pub(super) fn render(state: &ErrorState, hardware: &Hardware) -> Result<VVec<u8>> {
    let mut out = Out {
        text: VVec::new(),
        full: Ok(()),
    };
    // A failure is recorded in `out`.
    let _ = head(&mut out, state, hardware);
    let _ = write!(out, "{}", *state.report);
    let mut before = None;
    for (engine, entry) in state.translations.iter() {
        if before != Some(*engine) {
            let _ = writeln!(out, "{engine}: translations");
            before = Some(*engine);
        }
        let _ = writeln!(out, "  {entry}");
    }
    for kind in [Kind::User, Kind::Batch, Kind::Ring, Kind::Image] {
        for piece in state.pieces.iter().filter(|p| p.kind == kind) {
            let name = match kind {
                Kind::User => "user",
                Kind::Batch => "batch",
                Kind::Ring => "ring",
                Kind::Image => "HW context",
            };
            let _ = writeln!(
                out,
                "{} --- {} = 0x{:08x} {:08x}",
                piece.engine,
                name,
                piece.address >> 32,
                piece.address & 0xffff_ffff
            );
            if !piece.pages.is_empty() {
                out.bytes(b"~");
                for page in piece.pages.iter() {
                    contents(&mut out, page);
                }
                out.bytes(b"\n");
            }
        }
    }
    out.bytes(b"--- end of error state\n");
    out.full.map(|()| out.text)
}

fn head(out: &mut Out, state: &ErrorState, hardware: &Hardware) -> fmt::Result {
    let (chip, topology) = (hardware.chip(), hardware.topology());
    writeln!(out, "ouro error state 1")?;
    writeln!(
        out,
        "device: {:04x}:{:04x} revision {}",
        chip.vendor, chip.device, topology.revision
    )?;
    writeln!(out, "generation: {}", hardware.generation().name())?;
    let micros = state.time / 1000;
    writeln!(
        out,
        "time: {}.{:06}",
        micros / 1_000_000,
        micros % 1_000_000
    )?;
    writeln!(out, "resets: {}", state.resets)?;
    writeln!(out, "reason: {}: {}", state.engine, state.why.text())?;
    let Some(suspect) = &state.suspect else {
        writeln!(out, "engine: none")?;
        return writeln!(out, "left out: {}", state.left_out);
    };
    writeln!(out, "engine: {}", state.engine)?;
    match &suspect.task {
        Some(task) => writeln!(out, "process: {}[{}]", Name(task.name()), task.pid)?,
        None => writeln!(out, "process: kernel[0]")?,
    }
    writeln!(out, "context: {}", suspect.context)?;
    writeln!(out, "guilty: {}", suspect.guilty)?;
    writeln!(out, "request: 0x{:08x}", suspect.seqno.map_or(0, |s| s.0))?;
    match suspect.batch {
        Some(batch) => writeln!(out, "batch: 0x{batch:016x}")?,
        None => writeln!(out, "batch: none")?,
    }
    if let Some(directory) = suspect.directory {
        writeln!(out, "directory: 0x{directory:08x}")?;
    }
    writeln!(out, "left out: {}", state.left_out)
}

fn contents(out: &mut Out, page: &[u8]) {
    // In chunks: growing the text for each dword would be slow.
    let mut text = [0; 64 * ascii85::MAX];
    for part in page.chunks(64 * 4) {
        let mut len = 0;
        for dword in part.chunks_exact(4) {
            let mut digits = [0; ascii85::MAX];
            let mut value = [0; 4];
            value.copy_from_slice(dword);
            let n = ascii85::encode(u32::from_le_bytes(value), &mut digits);
            for digit in digits.iter().take(n) {
                if let Some(to) = text.get_mut(len) {
                    *to = *digit;
                    len += 1;
                }
            }
        }
        out.bytes(text.get(..len).unwrap_or(&[]));
    }
}
