// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that a batch in the per-process space may read or write (DG2 PRM Vol 8 "Read Only User
//! Mode Privilege MMIO Access", "User Mode Privileged Commands"; slots that extend them from the
//! digest, §3.2 row 79).

use super::core::Core;
use super::engine::{Class, EngineId};
use super::lint::Rule;
use super::regs::ring;
use crate::counters::Counter;

/// Offset and number of dwords.
type Range = (u32, u32);

/// Readable for every engine.
const READ_ALL: &[Range] = &[
    (0x2700, 64),
    (0x2b00, 320),
    (0xd900, 192),
    (0xdafc, 3),
    (0x14_5040, 7),
    (0x14_5828, 13),
    (0x14_5928, 24),
    (0xa01c, 1),
    (0x13_8108, 2),
    (0x0d00, 1),
];
/// Readable for every engine's own kind, at fixed offsets.
const READ_SHARED: &[Range] = &[(0xa288, 2), (0xa538, 2), (0xa058, 1), (0xa064, 3)];
const READ_RENDER: &[Range] = &[(0x1_8358, 2), (0x1_808c, 1), (0x2800, 192)];
const READ_COMPUTE: &[Range] = &[(0x1_5000, 160)];
const READ_PERF: &[Range] = &[(0x91b8, 4)];

/// Writable by the render engine.
const WRITE_RENDER: &[Range] = &[
    (0x7000, 3),
    (0x2094, 1),
    (0x20c0, 1),
    (0x2300, 12),
    (0x2330, 2),
    (0x5200, 2),
    (0x5208, 2),
    (0x5210, 2),
    (0x5218, 2),
    (0x5240, 2),
    (0x5248, 2),
    (0x5250, 2),
    (0x5258, 2),
    (0x5280, 4),
    (0x2338, 2),
    (0x2340, 2),
    (0x2348, 2),
    (0x2350, 2),
    (0x22c8, 2),
    (0x22d8, 2),
    (0x22f0, 2),
    (0x22f8, 2),
    (0x2448, 2),
    (0x2450, 2),
    (0x2458, 2),
    (0x2460, 2),
    (0x2468, 2),
    (0x2470, 2),
    (0x24a0, 2),
    (0x24a8, 2),
    (0x25d0, 2),
    (0x25b0, 2),
    (0x25d8, 2),
    (0x25b8, 2),
    (0x2478, 2),
    (0x2500, 3),
    (0x2400, 6),
    (0x2418, 2),
    (0x23bc, 1),
    (0x2420, 1),
    (0x2430, 1),
    (0x2434, 4),
    (0x2690, 3),
    (0x2290, 2),
    (0x2158, 1),
    (0x2600, 32),
    (0x2360, 2),
    (0x2aa0, 1),
    (0x2960, 1),
    (0x2968, 1),
    (0x2178, 2),
    (0xe518, 1),
    (0x1_7520, 1),
    (0x7038, 1),
    (0x2084, 1),
    (0x7040, 1),
    (0x4400, 6),
    (0xb100, 1),
    (0xb118, 1),
    (0xb158, 2),
    (0xb134, 2),
    (0x23b4, 2),
    (0x221c, 1),
    (0x21fc, 1),
    (0x26e8, 2),
    (0x26e0, 2),
    (0x26f0, 2),
    (0x26d8, 2),
];
/// Writable by a compute engine: relative to it, and at fixed offsets.
const WRITE_COMPUTE: &[Range] = &[
    (0x94, 1),
    (0xc0, 1),
    (0x500, 3),
    (0x400, 6),
    (0x418, 2),
    (0x3bc, 1),
    (0x290, 2),
    (0x158, 1),
    (0x600, 32),
    (0x178, 2),
    (0x84, 1),
    (0x3b4, 2),
    (0x21c, 1),
    (0x1fc, 1),
    (0x360, 2),
];
const WRITE_COMPUTE_FIXED: &[Range] = &[(0x1_51e0, 1), (0x1_5114, 1), (0x1_511c, 1)];
/// Writable by the blitter, relative to it.
const WRITE_COPY: &[Range] = &[
    (0x600, 32),
    (0x200, 2),
    (0x178, 2),
    (0x94, 1),
    (0x41c, 1),
    (0x3bc, 1),
    (0xc0, 1),
    (0x3b4, 2),
    (0x21c, 1),
    (0x1fc, 1),
];
/// Writable by a media engine, relative to it.
const WRITE_MEDIA: &[Range] = &[
    (0x600, 32),
    (0x178, 2),
    (0x94, 1),
    (0x41c, 1),
    (0x3bc, 1),
    (0xc0, 1),
    (0x3b4, 2),
    (0x21c, 1),
    (0x1fc, 1),
];

/// First register and dwords of the TRTT bank that an engine's programs may write.
fn trtt(e: EngineId) -> Range {
    match e {
        EngineId::Rcs => (0x4400, 6),
        EngineId::Bcs => (0x4480, 6),
        EngineId::Vcs0 => (0x4420, 6),
        EngineId::Vcs2 => (0x4520, 6),
        EngineId::Vecs0 => (0x4460, 6),
        EngineId::Vecs1 => (0x4560, 6),
        _ => (0x4580 + 0x20 * e.instance(), 6),
    }
}

fn among(ranges: &[Range], offset: u32) -> bool {
    ranges
        .iter()
        .any(|(at, n)| (*at..at + 4 * n).contains(&offset))
}

/// True if a program on this engine may write the register (and so read it).
pub fn writable(e: EngineId, offset: u32) -> bool {
    let local = offset.wrapping_sub(e.base());
    let own = match e.class() {
        Class::Render => among(WRITE_RENDER, offset),
        Class::Compute => among(WRITE_COMPUTE, local) || among(WRITE_COMPUTE_FIXED, offset),
        Class::Copy => among(WRITE_COPY, local),
        Class::Enhance => among(WRITE_MEDIA, local),
        // The codec's own: MFC at 800h, HEVC at 2800h.
        Class::Decode => among(WRITE_MEDIA, local) || among(&[(0x800, 512), (0x2800, 64)], local),
    };
    own || among(&[trtt(e)], offset)
}

/// True if a program on this engine may read the register.
pub fn readable(e: EngineId, offset: u32) -> bool {
    let local = offset.wrapping_sub(e.base());
    let fixed = match e.class() {
        Class::Render => READ_RENDER,
        Class::Compute => READ_COMPUTE,
        _ => READ_PERF,
    };
    writable(e, offset)
        || among(
            &[
                (ring::TIMESTAMP, 2),
                (ring::ID, 1),
                (ring::CTX_TIMESTAMP, 1),
            ],
            local,
        )
        || among(READ_ALL, offset)
        || among(READ_SHARED, offset)
        || among(fixed, offset)
}

impl Core {
    /// Returns what the slots of FORCE_TO_NONPRIV say of a register: allow, deny, nothing.
    fn slot(&self, e: EngineId, offset: u32, write: bool) -> Option<bool> {
        let slots = (0..12)
            .map(|i| ring::NONPRIV + 4 * i)
            .chain((0..4).map(|i| 0x010 + 4 * i))
            .chain((0..4).map(|i| 0x1d0 + 4 * i));
        let mut found = None;
        for at in slots {
            let slot = self.ering(e, at);
            let dwords = 1u32 << (2 * (slot & 3));
            let first = slot & 0x03ff_fffc & !(4 * dwords - 1);
            if slot & 0x03ff_fffc == 0 || !(first..first + 4 * dwords).contains(&offset) {
                continue;
            }
            if slot & 1 << 30 != 0 {
                return Some(false);
            }
            // Bits 29:28: 0 both, 1 read, 2 write.
            let right = match slot >> 28 & 3 {
                0 => true,
                1 => !write,
                2 => write,
                _ => false,
            };
            if right {
                found = Some(true);
            }
        }
        found
    }

    /// True if a PPGTT batch may write the register; else the violation is told.
    pub fn may_write(&mut self, e: EngineId, offset: u32) -> bool {
        let may = self
            .slot(e, offset, true)
            .unwrap_or_else(|| writable(e, offset));
        if !may {
            self.notes.lint(Rule::PrivilegedRegister, || {
                format!("{} write {offset:#08x}", e.name())
            });
            self.notes.count(Counter::PrivilegeViolations);
            self.error(e, super::command::error::PRIVILEGE);
        }
        may
    }

    /// True if a PPGTT batch may read the register. A read is no violation that the document lists.
    pub fn may_read(&mut self, e: EngineId, offset: u32) -> bool {
        let may = self
            .slot(e, offset, false)
            .unwrap_or_else(|| readable(e, offset));
        if !may {
            self.notes.lint(Rule::PrivilegedRegister, || {
                format!("{} read {offset:#08x}", e.name())
            });
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_document() {
        for (e, offset, read, write) in [
            (EngineId::Bcs, 0x2_2600, true, true),
            (EngineId::Bcs, 0x2_267c, true, true),
            (EngineId::Bcs, 0x2_2358, true, false),
            (EngineId::Bcs, 0x2_2418, false, false),
            (EngineId::Bcs, 0x2_241c, true, true),
            (EngineId::Bcs, 0x2_2244, false, false),
            (EngineId::Rcs, 0x2418, true, true),
            (EngineId::Rcs, 0x2358, true, false),
            (EngineId::Rcs, 0x2030, false, false),
            (EngineId::Ccs0, 0x1_a418, true, true),
            (EngineId::Ccs1, 0x1_a600, false, false),
            (EngineId::Vcs2, 0x1d_0600, true, true),
            (EngineId::Vcs2, 0x1d_2800, true, true),
            (EngineId::Vecs0, 0x1c_808c, true, false),
            (EngineId::Vecs0, 0x4460, true, true),
            (EngineId::Vecs0, 0x4420, false, false),
            (EngineId::Vcs0, 0x0d00, true, false),
        ] {
            let name = e.name();
            assert_eq!(readable(e, offset), read, "{name} reads {offset:#x}");
            assert_eq!(writable(e, offset), write, "{name} writes {offset:#x}");
        }
    }
}
