// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The commands of a request that are specific to this generation.
//!
//! ```text
//! render                                     video, blitter
//!   PIPE_CONTROL  stall                        MI_FLUSH_DW   invalidate TLBs (and video caches)
//!   PIPE_CONTROL  store to scratch
//!   PIPE_CONTROL  invalidate TLBs, read caches
//!   MI_NOOP, MI_SET_CONTEXT, MI_NOOP, MI_NOOP  -
//!   the kernel's own commands                  the kernel's own commands
//!   MI_BATCH_BUFFER_START                      MI_BATCH_BUFFER_START
//!   PIPE_CONTROL  stall                        MI_FLUSH_DW   flush
//!   PIPE_CONTROL  store to scratch
//!   PIPE_CONTROL  flush the write caches
//!   8 x MI_STORE_DATA_INDEX                    8 x MI_STORE_DATA_INDEX
//!   PIPE_CONTROL  store the seqno              MI_FLUSH_DW   store the seqno
//!   MI_USER_INTERRUPT, MI_NOOP                 MI_USER_INTERRUPT, MI_NOOP
//! ```
//!
//! SNB PRM V1P2 §5.3.8 requires the eight stores: a pipeline flush does not make all writes
//! globally visible, so a seqno stored right after it could be visible before the data. G-35 and
//! G-36 require the stall and the store before each `PIPE_CONTROL` that flushes. Only a command
//! with a store invalidates the TLBs (§5.3.10.5, VCS §1.2.7); it precedes the batch and its
//! context.

use crate::{
    engine::EngineMemory,
    intel::{
        mi::{Flush, StoreStatus},
        pipe_bits,
        ring::{
            emit::{drop_blitter, drop_video, number_at, Recipe, NO_OPS_AROUND},
            engine::STATUS_SCRATCH_AT,
            pipe_control::PipeControl,
        },
    },
    ring::{Commands, Overflow},
    types::Seqno,
};

/// The number of stores after a pipeline flush (§5.3.8).
const STORES: usize = 8;

/// Requests of the render engine.
pub(super) static RENDER: Recipe = Recipe {
    switch: Some(NO_OPS_AROUND),
    ..Recipe::new(drop_render, finish_render, 15 + 4 + 15 + 3 * STORES + 5)
};
/// Requests of the blitter.
pub(super) static BLITTER: Recipe = Recipe::new(drop_blitter, finish_other, OTHER_DWORDS);
/// Requests of the video engine.
pub(super) static VIDEO: Recipe = Recipe::new(drop_video, finish_other, OTHER_DWORDS);
/// The largest number of dwords on the engines without a 3D pipeline.
const OTHER_DWORDS: usize = 4 + 4 + 3 * STORES + 4;

fn drop_render(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    before_flush(mem, out)?;
    let flags = pipe_bits::INVALIDATE | pipe_bits::COMMAND_STALL;
    out.put(&PipeControl::storing(flags, mem.scratch, 0).encode())
}

/// Writes the commands that must precede a `PIPE_CONTROL` that flushes: a stall, then a store
/// (G-35).
fn before_flush(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&PipeControl::STALL.encode())?;
    out.put(&PipeControl::storing(0, mem.scratch, 0).encode())
}

fn finish_render(seqno: Seqno, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    before_flush(mem, out)?;
    let flags = pipe_bits::FLUSH | pipe_bits::COMMAND_STALL;
    out.put(&PipeControl::storing(flags, mem.scratch, 0).encode())?;
    make_writes_visible(out)?;
    let number = PipeControl::storing(pipe_bits::COMMAND_STALL, number_at(mem)?, seqno.0);
    out.put(&number.encode())
}

fn finish_other(seqno: Seqno, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&Flush::storing(mem.scratch, 0).encode())?;
    make_writes_visible(out)?;
    out.put(&Flush::storing(number_at(mem)?, seqno.0).encode())
}

/// Writes the stores that follow a flush (§5.3.8).
fn make_writes_visible(out: &mut Commands<'_>) -> Result<(), Overflow> {
    let stall = StoreStatus {
        offset: STATUS_SCRATCH_AT,
        value: 0,
    };
    stall.put_times::<STORES>(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Batch, Emit, Privilege, Switch},
        intel::ring::{emit::request, engine::Kind},
        types::{GgttAddr, GpuAddr},
    };
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    const MEM: EngineMemory = crate::mock::MEMORY;

    fn recipe(kind: Kind) -> &'static Recipe {
        match kind {
            Kind::Render => &RENDER,
            Kind::Blitter => &BLITTER,
            Kind::Video => &VIDEO,
        }
    }

    fn emitted(kind: Kind, r: &Emit<'_>) -> Vec<u32> {
        let mut buf = [0xdead_beef; 256];
        let mut out = Commands::new(&mut buf);
        request(recipe(kind), r, &MEM, &mut out).unwrap();
        out.as_slice().to_vec()
    }

    const USER_BATCH: Batch = Batch {
        addr: GpuAddr(0x0040_0000),
        len: 64,
        privilege: Privilege::User,
    };

    #[test]
    fn render_request_dword_by_dword() {
        let dwords = emitted(
            Kind::Render,
            &Emit {
                switch: Switch::To {
                    image: GgttAddr(0x0100_0000),
                    saved: true,
                },
                batch: Some(USER_BATCH),
                known: None,
                directory: None,
                watchdog: None,
                inline: &[],
                seqno: Seqno(0x1234),
            },
        );
        #[rustfmt::skip]
        let expected: &[u32] = &[
            // G-36: command stall and scoreboard; store to scratch with the global bit; invalidate.
            0x7a00_0003, 0x0010_0002, 0, 0, 0,
            0x7a00_0003, 0x0000_4000, 0x0003_0004, 0, 0,
            // Bits 20 command stall, 18 TLB, 15:14 store, 11 instruction, 10 texture, 4 vertex,
            // 3 constant, 2 state.
            0x7a00_0003, 0x0014_4c1c, 0x0003_0004, 0, 0,
            // G-29.
            0, 0x0c00_0000, 0x0100_010c, 0,
            // Bit 8: unprivileged.
            0x1880_0100, 0x0040_0000,
            // G-35: stall and store before the flush.
            0x7a00_0003, 0x0010_0002, 0, 0, 0,
            0x7a00_0003, 0x0000_4000, 0x0003_0004, 0, 0,
            // Bits 20 command stall, 15:14 store, 12 render target, 5 data, 0 depth.
            0x7a00_0003, 0x0010_5021, 0x0003_0004, 0, 0,
            // §5.3.8: eight stores.
            0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0,
            0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0,
            0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0,
            0x7a00_0003, 0x0010_4000, 0x0002_0104, 0x1234, 0,
            0x0100_0000,
        ];
        assert_eq!(dwords, expected);
    }

    #[test]
    fn blitter_request_dword_by_dword() {
        let dwords = emitted(
            Kind::Blitter,
            &Emit {
                switch: Switch::Stay,
                batch: Some(USER_BATCH),
                known: None,
                directory: None,
                watchdog: None,
                inline: &[],
                seqno: Seqno(7),
            },
        );
        #[rustfmt::skip]
        let expected: &[u32] = &[
            // Bits 18 TLB, 15:14 store.
            0x1304_4002, 0x0003_0004, 0, 0,
            0x1880_0100, 0x0040_0000,
            0x1300_4002, 0x0003_0004, 0, 0,
            0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0,
            0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0,
            0x1080_0001, 0x200, 0, 0x1080_0001, 0x200, 0,
            0x1300_4002, 0x0002_0104, 7, 0,
            0x0100_0000, 0,
        ];
        assert_eq!(dwords, expected);
    }

    #[test]
    fn video_drops_its_pipeline_caches_too() {
        let r = Emit {
            switch: Switch::Stay,
            batch: Some(USER_BATCH),
            known: None,
            directory: None,
            watchdog: None,
            inline: &[],
            seqno: Seqno(7),
        };
        let video = emitted(Kind::Video, &r);
        // Bits 18 TLB, 15:14 store, 7 video pipeline.
        assert_eq!(video[..4], [0x1304_4082, 0x0003_0004, 0, 0]);
        assert_eq!(video[4..], emitted(Kind::Blitter, &r)[4..]);
    }

    #[test]
    fn the_kernels_batch_keeps_its_privilege() {
        for kind in [Kind::Render, Kind::Blitter, Kind::Video] {
            let dwords = emitted(
                kind,
                &Emit {
                    switch: Switch::Stay,
                    batch: Some(Batch {
                        privilege: Privilege::Kernel,
                        ..USER_BATCH
                    }),
                    known: None,
                    directory: None,
                    watchdog: None,
                    inline: &[],
                    seqno: Seqno(7),
                },
            );
            assert!(dwords.windows(2).any(|w| w == [0x1880_0000, 0x0040_0000]));
            assert!(!dwords.contains(&0x1880_0100));
        }
    }

    #[test]
    fn a_fresh_context_comes_before_the_inline_commands() {
        let dwords = emitted(
            Kind::Render,
            &Emit {
                switch: Switch::To {
                    image: GgttAddr(0x0100_0000),
                    saved: false,
                },
                batch: None,
                known: None,
                directory: None,
                watchdog: None,
                inline: &[0x6904_0000, 0x1100_0001, 0x2120, 0x0021_0000],
                seqno: Seqno(7),
            },
        );
        assert_eq!(
            dwords[15..23],
            [
                0,
                0x0c00_0000,
                0x0100_0109,
                0,
                0x6904_0000,
                0x1100_0001,
                0x2120,
                0x0021_0000
            ]
        );
        assert!(!dwords.contains(&0x1880_0100));
    }

    #[test]
    fn an_engine_without_contexts_switches_none() {
        let stay = Emit {
            switch: Switch::Stay,
            batch: Some(USER_BATCH),
            known: None,
            directory: None,
            watchdog: None,
            inline: &[],
            seqno: Seqno(7),
        };
        let to = Emit {
            switch: Switch::To {
                image: GgttAddr(0x0100_0000),
                saved: true,
            },
            ..stay
        };
        assert_eq!(emitted(Kind::Blitter, &to), emitted(Kind::Blitter, &stay));
        assert_eq!(emitted(Kind::Video, &to), emitted(Kind::Video, &stay));
    }

    #[test]
    fn an_address_that_does_not_fit_is_refused() {
        let mut buf = [0; 256];
        let r = Emit {
            switch: Switch::Stay,
            batch: Some(Batch {
                addr: GpuAddr(0x1_0000_0000),
                ..USER_BATCH
            }),
            known: None,
            directory: None,
            watchdog: None,
            inline: &[],
            seqno: Seqno(7),
        };
        for kind in [Kind::Render, Kind::Blitter, Kind::Video] {
            assert_eq!(
                request(recipe(kind), &r, &MEM, &mut Commands::new(&mut buf)),
                Err(Overflow)
            );
        }
    }

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![Just(Kind::Render), Just(Kind::Blitter), Just(Kind::Video)]
    }

    #[test]
    fn no_request_loads_a_directory() {
        // §2.3.4: the only page directory is loaded when an engine is started.
        let r = Emit {
            switch: Switch::Stay,
            directory: Some(GgttAddr(0x0040_0000)),
            watchdog: None,
            known: None,
            batch: None,
            inline: &[],
            seqno: Seqno(1),
        };
        for recipe in [&RENDER, &BLITTER, &VIDEO] {
            let mut buf = [0; 256];
            let mut out = Commands::new(&mut buf);
            assert_eq!(request(recipe, &r, &MEM, &mut out), Err(Overflow));
        }
    }

    proptest! {
        /// §5.3.4.2: the tail is quadword aligned. The room that the core reserves is sufficient.
        #[test]
        fn a_request_ends_on_a_quadword_within_its_bound(
            kind in kinds(),
            inline in 0usize..40,
            batch: bool,
            context: Option<bool>,
            seqno: u32,
        ) {
            let inline = vec![0; inline];
            let r = Emit {
                switch: context.map_or(Switch::Stay, |saved| Switch::To {
                    image: GgttAddr(0x1000),
                    saved,
                }),
                batch: batch.then_some(USER_BATCH),
                known: None,
                directory: None,
                watchdog: None,
                inline: &inline,
                seqno: Seqno(seqno),
            };
            let bound = inline.len() + match kind {
                Kind::Render => 68,
                _ => 40,
            };
            let mut buf = vec![0; bound];
            let mut out = Commands::new(&mut buf);
            prop_assert_eq!(request(recipe(kind), &r, &MEM, &mut out), Ok(()));
            prop_assert_eq!(out.len() % 2, 0);
            // The interrupt is the last command; the store of the seqno precedes it.
            let all = out.as_slice();
            let end = if all[all.len() - 1] == 0 { all.len() - 2 } else { all.len() - 1 };
            prop_assert_eq!(all[end], 0x0100_0000);
            prop_assert_eq!(&all[end - 3..end], &[0x0002_0104, seqno, 0]);
        }

        /// Too little room is an error and no panic.
        #[test]
        fn too_little_room_is_an_error(kind in kinds(), room in 0usize..38) {
            let mut buf = vec![0; room];
            let r = Emit {
                switch: Switch::Stay,
                batch: Some(USER_BATCH),
                known: None,
                directory: None,
                watchdog: None,
                inline: &[],
                seqno: Seqno(1),
            };
            let emitted = request(recipe(kind), &r, &MEM, &mut Commands::new(&mut buf));
            prop_assert_eq!(emitted, Err(Overflow));
        }
    }

    #[test]
    fn the_bounds_are_even() {
        assert_eq!([RENDER.dwords, BLITTER.dwords, VIDEO.dwords], [68, 40, 40]);
    }
}
