// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The commands of a request that are specific to this generation.
//!
//! ```text
//! render                                     video, G4X
//!   MI_FLUSH      invalidate state, instructions  MI_FLUSH, MI_NOOP
//!   PIPE_CONTROL  store to scratch
//!   12 x MI_FLUSH
//!   PIPE_CONTROL  store to scratch
//!   MI_FLUSH      invalidate state, instructions
//!   MI_NOOP, MI_SET_CONTEXT, MI_NOOP           -
//!   the kernel's own commands                  the kernel's own commands
//!   MI_BATCH_BUFFER_START                      MI_BATCH_BUFFER_START
//!   MI_FLUSH                                   MI_FLUSH
//!   16 x MI_STORE_DATA_INDEX to scratch        16 x MI_STORE_DATA_INDEX to scratch
//!   8 x MI_STORE_DATA_INDEX of the seqno       8 x MI_STORE_DATA_INDEX of the seqno
//!   MI_USER_INTERRUPT, MI_NOOP                 MI_USER_INTERRUPT, MI_NOOP
//! ```
//!
//! A flush invalidates the TLBs of the drawing units (§5.3.10.5), and is complete before the parser
//! continues (§5.3.11.1). Invalidations of the parser's and the state caches take effect later:
//! upstream found that this number of flushes between two stores is sufficient before a batch that
//! the CPU has just written. The latency of a store is not documented (§1.16), and the interrupt
//! may overtake it; this number of stores before the interrupt prevents that (G-22).

use super::regs::Base;
use crate::{
    engine::EngineMemory,
    intel::{
        mi::{StoreStatus, GLOBAL, NOOP},
        ring::{
            emit::{Recipe, NO_OPS_AROUND},
            engine::{SEQNO_AT, STATUS_SCRATCH_AT},
        },
    },
    ring::{Commands, Overflow},
    types::{GgttAddr, Seqno},
};
use static_assertions::const_assert;

/// `MI_FLUSH` (§1.7): writes rendered data to memory, and invalidates the read caches of the
/// drawing units.
const FLUSH: u32 = 0x04 << 23;
/// Bit 1 of [`FLUSH`]: invalidate the state and instruction caches.
const STATE_INVALIDATE: u32 = 1 << 1;
/// Bit 5 of [`FLUSH`]: invalidate pointers to indirect state, on G4X (G-23).
const POINTERS_INVALIDATE: u32 = 1 << 5;
/// Bit 7 of `MI_BATCH_BUFFER_START`: a GGTT address, not a memory address (§1.5). On the video
/// engine bits 7:6 are reserved and must be zero (§2.4); upstream sets bit 7 there, too
/// (`gen4_emit_bb_start`), so silicon is only known with the bit set.
const IN_TABLE: u32 = 1 << 7;

/// The number of flushes between two stores, before a batch (G-22).
const FLUSHES: usize = 12;
/// The number of stores after a flush, before those of the seqno (G-22).
const STORES_BEFORE: usize = 16;
/// The number of stores of the seqno (G-22).
const STORES: usize = 8;

/// Returns `PIPE_CONTROL` (G-24), which stores a quadword at a GGTT address after all earlier work.
/// On this generation the flags are in the header: bits 15:14 are 1, store the data.
const fn store_quadword(at: GgttAddr) -> [u32; 4] {
    [0x7a00_0002 | (1 << 14), (at.0 & 0xffff_fff8) | GLOBAL, 0, 0]
}

/// The number of dwords of [`drop_render`], of a context switch, and of [`finish`].
const DROP_DWORDS: usize = 1 + 4 + FLUSHES + 4 + 1;
const SWITCH_DWORDS: usize = 4;
const FINISH_DWORDS: usize = 1 + 3 * (STORES_BEFORE + STORES);

/// [`Recipe::invalidate`].
type Invalidate = fn(&EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>;

/// Creates the requests of an engine whose other commands are `dwords`, beside [`finish`].
const fn recipe(invalidate: Invalidate, dwords: usize) -> Recipe {
    Recipe {
        start: IN_TABLE,
        ..Recipe::new(invalidate, finish, dwords + FINISH_DWORDS)
    }
}

/// Creates the requests of a render engine. A context load includes a flush (§5.3.8), and a no-op
/// must follow it (§1.15).
const fn render(invalidate: Invalidate) -> Recipe {
    Recipe {
        switch: Some(NO_OPS_AROUND),
        ..recipe(invalidate, DROP_DWORDS + SWITCH_DWORDS)
    }
}
/// Requests of the render engine of 965.
pub(super) static RENDER_965: Recipe = render(|mem, out| drop_render(STATE_INVALIDATE, mem, out));
/// Requests of the render engine of G4X.
pub(super) static RENDER_G4X: Recipe =
    render(|mem, out| drop_render(STATE_INVALIDATE | POINTERS_INVALIDATE, mem, out));
/// Requests of the video engine.
pub(super) static VIDEO: Recipe = recipe(|_, out| out.put(&[FLUSH, NOOP]), 2);

fn drop_render(flags: u32, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&[FLUSH | flags])?;
    out.put(&store_quadword(mem.scratch))?;
    out.put(&[FLUSH; FLUSHES])?;
    out.put(&store_quadword(mem.scratch))?;
    out.put(&[FLUSH | flags])
}

fn finish(seqno: Seqno, _mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let store = |offset| StoreStatus {
        offset,
        value: seqno.0,
    };
    out.put(&[FLUSH])?;
    store(STATUS_SCRATCH_AT).put_times::<STORES_BEFORE>(out)?;
    store(SEQNO_AT).put_times::<STORES>(out)
}

// The first sixteen dwords belong to the device (§1.17); on G45, so do those up to dword 31
// (context reports, G-10).
const_assert!(SEQNO_AT >= 0xc0 && STATUS_SCRATCH_AT >= 0xc0);
const_assert!(Base::RENDER.0 == 0x2000);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Batch, Emit, Privilege, StatusPage, Switch},
        intel::ring::emit::request,
        types::{DmaAddr, GpuAddr},
    };
    use std::vec::Vec;

    /// A status page by bus address: no command names it.
    const MEM: EngineMemory = EngineMemory {
        ring: GgttAddr(0x0001_0000),
        status: StatusPage::Bus(DmaAddr(0x0123_4000)),
        scratch: GgttAddr(0x0003_0000),
        directory: None,
        card: 0,
    };
    const STAY: Emit<'_> = Emit {
        switch: Switch::Stay,
        directory: None,
        watchdog: None,
        batch: Some(Batch {
            addr: GpuAddr(0x0040_0000),
            len: 64,
            privilege: Privilege::User,
        }),
        known: None,
        inline: &[],
        seqno: Seqno(0x1234),
    };

    fn emitted(recipe: &Recipe, r: &Emit<'_>) -> Vec<u32> {
        let mut buf = [0xdead_beef; 128];
        let mut out = Commands::new(&mut buf);
        request(recipe, r, &MEM, &mut out).unwrap();
        out.as_slice().to_vec()
    }

    /// Returns MI_FLUSH; 16 stores at 200h, 8 of the seqno at 100h; MI_USER_INTERRUPT (G-22).
    fn end() -> Vec<u32> {
        let mut all = [0x0200_0000].to_vec();
        for _ in 0..16 {
            all.extend([0x1080_0001, 0x200, 0x1234]);
        }
        for _ in 0..8 {
            all.extend([0x1080_0001, 0x100, 0x1234]);
        }
        all.push(0x0100_0000);
        all
    }

    /// Returns the commands before a batch, by G-22 to G-24: flushes with these flags around stores
    /// of a quadword and 12 flushes.
    fn beginning(flush: u32) -> Vec<u32> {
        let store = [0x7a00_4002, 0x0003_0004, 0, 0];
        let mut all = [flush].to_vec();
        all.extend(store);
        all.extend([0x0200_0000; 12]);
        all.extend(store);
        all.push(flush);
        all
    }

    #[test]
    fn render_dword_by_dword() {
        // Bit 1, and on G4X bit 5 (G-23). Batch: bit 8 unprivileged, bit 7 GGTT (§1.5).
        for (recipe, flush) in [(&RENDER_965, 0x0200_0002), (&RENDER_G4X, 0x0200_0022)] {
            let mut expected = beginning(flush);
            expected.extend([0x1880_0180, 0x0040_0000]);
            expected.extend(end());
            assert_eq!(emitted(recipe, &STAY), expected);
        }
    }

    #[test]
    fn a_context_is_loaded_between_two_no_ops() {
        for (saved, low) in [(true, 0x10c), (false, 0x109)] {
            let to = Switch::To {
                image: GgttAddr(0x0100_0000),
                saved,
            };
            let all = emitted(&RENDER_G4X, &Emit { switch: to, ..STAY });
            // §1.15: GGTT (8), extended state saved (3) and restored (2), or nothing restored (0).
            assert_eq!(all[22..26], [0, 0x0c00_0000, 0x0100_0000 | low, 0]);
            assert_eq!(all[26], 0x1880_0180);
            // The longest request.
            assert_eq!(all.len(), 102);
        }
        assert_eq!((RENDER_965.dwords, RENDER_G4X.dwords), (104, 104));
    }

    #[test]
    fn video_dword_by_dword() {
        // Bit 8 unprivileged; bit 7 as in upstream's gen4_emit_bb_start (§2.4: 22:9 and 7:6 are
        // reserved).
        let mut expected = [0x0200_0000, 0, 0x1880_0180, 0x0040_0000].to_vec();
        expected.extend(end());
        assert_eq!(emitted(&VIDEO, &STAY), expected);
        assert_eq!((expected.len(), VIDEO.dwords), (78, 80));
    }

    #[test]
    fn the_kernels_batches_have_privilege() {
        let batch = Some(Batch {
            addr: GpuAddr(0x0040_0000),
            len: 64,
            privilege: Privilege::Kernel,
        });
        let all = emitted(&RENDER_965, &Emit { batch, ..STAY });
        assert_eq!(all[22..24], [0x1880_0080, 0x0040_0000]);
        let all = emitted(&VIDEO, &Emit { batch, ..STAY });
        assert_eq!(all[2], 0x1880_0080);
    }

    #[test]
    fn every_request_ends_on_a_quadword_and_fits() {
        for recipe in [&RENDER_965, &RENDER_G4X, &VIDEO] {
            for inline in [&[][..], &[7], &[7, 8]] {
                for batch in [None, STAY.batch] {
                    let all = emitted(
                        recipe,
                        &Emit {
                            batch,
                            inline,
                            ..STAY
                        },
                    );
                    assert!(all.len().is_multiple_of(2));
                    assert!(all.len() <= recipe.dwords + inline.len());
                }
            }
        }
    }
}
