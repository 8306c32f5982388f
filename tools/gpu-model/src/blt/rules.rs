// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The rules that a command can break and still be executed ([`Rule`]), and those of immediate data that hang the
//! engine (G45 PRM V1b §8.1, §8.2, §8.7.1, §8.9).

use super::engine::{Blit, Source};
use super::opcode::{control, Command, Field};
use super::parse::Parser;
use super::pattern::Pattern;
use super::surface::Surface;
use super::{BltError, Rule, Violation};
use crate::tiling::Tiling;

impl Parser<'_> {
    /// "All reserved fields must be programmed to 0s" (§8.7.1).
    pub(super) fn check_reserved(&mut self) {
        let length = if Command::is_linear(self.command.opcode) {
            0x1f
        } else {
            0xff
        };
        let mut found = vec![(
            0,
            self.header & 0x003f_ffff & !(self.command.header | length),
        )];
        for (i, field) in self.command.fields.iter().enumerate() {
            let defined = match field {
                Field::Control => control::ALWAYS | self.command.control,
                Field::ClipFirst | Field::ClipEnd => 0x7fff_7fff,
                Field::SrcPitch => 0xffff,
                _ => !0,
            };
            found.push((i + 1, self.cmd[i + 1] & !defined));
        }
        for (dword, bits) in found {
            if bits != 0 {
                self.violation(dword, Rule::Reserved { bits });
            }
        }
    }

    pub(super) fn check_linear(&mut self, pitch: i64, dword: usize) {
        if pitch % 4 != 0 {
            self.violation(
                dword,
                Rule::PitchGranularity {
                    pitch: pitch as i32,
                },
            );
        }
    }

    pub(super) fn check_immediate_source(&mut self, needed: u64) -> Result<(), BltError> {
        let (dword, count) = (self.command.dwords(), self.immediate().len());
        let bytes = count * 4;
        if count % 2 != 0 {
            return Err(BltError::ImmediateOdd { dword, count });
        }
        if needed > bytes as u64 {
            return Err(BltError::ImmediateShort {
                dword,
                needed,
                got: bytes as u64,
            });
        }
        if bytes > 128 {
            self.violation(dword, Rule::ImmediateLong { bytes });
        }
        let left = bytes as u64 - needed;
        if left >= 8 {
            self.violation(dword, Rule::ImmediateLeftOver { bytes: left });
        }
        Ok(())
    }

    /// The raster operation takes the operands that the command has; the source copies must have the source in it, and
    /// no pattern (§8.9.15). The remark that ROP F0 needs a monochrome source (§8.10.2) is against every fill and is
    /// not followed.
    pub(super) fn check_rop(&mut self, source: &Source, pattern: &Pattern) {
        let rop = self.rop();
        let no_source = matches!(source, Source::Absent);
        let no_pattern = matches!(pattern, Pattern::Absent);
        let source_copy = matches!(self.command.opcode, 0x53 | 0x54 | 0x71 | 0x73);
        if rop.uses_source() && no_source
            || rop.uses_pattern() && no_pattern
            || source_copy && !rop.uses_source()
        {
            let dword = self.index(Field::Control);
            self.violation(dword, Rule::Rop { code: rop.0 });
        }
    }

    pub(super) fn check_line(&mut self, bytes: u64) {
        if bytes > 32_768 {
            let dword = self
                .command
                .index(Field::Size)
                .unwrap_or_else(|| self.index(Field::DstEnd));
            self.violation(
                dword,
                Rule::LineLength {
                    bytes: bytes as u32,
                },
            );
        }
    }

    pub(super) fn check_pitch(&mut self, blit: &Blit) {
        let mut check = |surface: &Surface, x: u64, dword: usize| {
            let (end, pitch) = (x + blit.bytes as u64, surface.pitch.unsigned_abs());
            if surface.tiling != Tiling::Linear && end > pitch {
                let (end, pitch) = (end as u32, pitch as u32);
                self.violations.push(Violation {
                    dword,
                    rule: Rule::BeyondPitch { end, pitch },
                });
            }
        };
        check(
            &blit.dst,
            blit.x,
            self.command.index(Field::Control).unwrap_or(0),
        );
        if let Source::Colour { surface, x, .. } = &blit.source {
            check(
                surface,
                *x,
                self.command.index(Field::SrcPitch).unwrap_or(0),
            );
        }
    }

    /// The restriction on overlapping linear operands (§8.7.1).
    pub(super) fn check_overlap(&mut self, blit: &Blit) {
        let Source::Colour { surface: src, x, y } = &blit.source else {
            return;
        };
        let linear = src.tiling == Tiling::Linear && blit.dst.tiling == Tiling::Linear;
        let aligned = |pitch: i64| pitch % 64 == 0;
        let coherent = src.base == blit.dst.base && aligned(src.pitch) && aligned(blit.dst.pitch);
        if !linear || coherent || !blit.rop.uses_source() {
            return;
        }
        let last = blit.bytes as u64 - 1;
        let overlaps = (1..blit.lines).any(|line| {
            let source = src.address(*x, y + line);
            let destination = blit.dst.address(blit.x, blit.y + line - 1);
            source / 64 <= (destination + last) / 64 && destination / 64 <= (source + last) / 64
        });
        if overlaps {
            self.violation(self.index(Field::SrcBase), Rule::CacheLineOverlap);
        }
    }
}
