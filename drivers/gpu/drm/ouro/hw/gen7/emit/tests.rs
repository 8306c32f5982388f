// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Requests, dword by dword.

use super::*;
use crate::{
    engine::{Batch, Emit, Privilege, Switch},
    intel::ring::emit::request,
    types::{GgttAddr, GpuAddr},
};
use proptest::prelude::*;
use std::vec::Vec;

const MEM: EngineMemory = crate::mock::MEMORY;
const STAY: Emit<'_> = Emit {
    switch: Switch::Stay,
    batch: Some(Batch {
        addr: GpuAddr(0x0040_0000),
        len: 64,
        privilege: Privilege::User,
    }),
    known: None,
    directory: None,
    watchdog: None,
    inline: &[],
    seqno: Seqno(0x1234),
};

/// Returns the switch to a context whose image has been saved, or not yet.
const fn to(saved: bool) -> Switch {
    Switch::To {
        image: GgttAddr(0x0100_0000),
        saved,
    }
}

fn emitted(recipe: &Recipe, r: &Emit<'_>) -> Vec<u32> {
    let mut buf = [0xdead_beef; 256];
    let mut out = Commands::new(&mut buf);
    request(recipe, r, &MEM, &mut out).unwrap();
    out.as_slice().to_vec()
}

#[test]
fn render_request_dword_by_dword() {
    #[rustfmt::skip]
    let expected: &[u32] = &[
        // UW41: stalls of the parser (20) and the scoreboard (1).
        0x7a00_0002, 0x0010_0002, 0, 0,
        // Bits 24 GGTT, 20 stall, 18 TLB, 16 media state, 15:14 store, 11 instruction, 10
        // texture, 4 vertex, 3 constant, 2 state.
        0x7a00_0002, 0x0115_4c1c, 0x0003_0000, 0,
        0x0400_0000, 0, 0x0c00_0000, 0x0100_010c, 0, 0x0400_0001,
        // Bit 8: unprivileged.
        0x1880_0100, 0x0040_0000,
        // Bits 24 GGTT, 20 stall, 15:14 store, 12 render target, 7 flush, 5 data, 0 depth.
        0x7a00_0002, 0x0110_50a1, 0x0002_0100, 0x1234,
        0x0100_0000, 0,
    ];
    let saved = Emit {
        switch: to(true),
        ..STAY
    };
    assert_eq!(emitted(&RENDER, &saved), expected);
    let fresh = Emit {
        switch: to(false),
        ..STAY
    };
    assert_eq!(emitted(&RENDER, &fresh)[11], 0x0100_0109);
    assert_eq!(emitted(&RENDER, &STAY).len(), 16);
}

/// Slot 400h: (400h x 4) << 10, as V-05 has it.
const DIRECTORY: Option<GgttAddr> = Some(GgttAddr(0x0040_0000));

#[test]
fn render_loads_a_directory_before_a_context() {
    #[rustfmt::skip]
    let expected: &[u32] = &[
        0x7a00_0002, 0x0010_0002, 0, 0,
        0x7a00_0002, 0x0115_4c1c, 0x0003_0000, 0,
        // Upstream's switch_mm: EMIT_FLUSH before load_pd_dir, with the bits of the request's end.
        0x7a00_0002, 0x0110_50a1, 0x0003_0000, 0,
        // VCS-004, VCS-040, V-05: PP_DCLV, then PP_DIR_BASE; length 2n - 1.
        0x1100_0003, 0x2220, 0xffff_ffff, 0x2228, 0x0040_0000,
        // VCS §1.2.11: bit 22 selects the GGTT.
        0x1240_0001, 0x2228, 0x0003_0000,
        // Upstream's load_pd_dir: INSTPM bit 9; then the same flush.
        0x1100_0001, 0x20c0, 0x0200_0200,
        0x7a00_0002, 0x0110_50a1, 0x0003_0000, 0,
        // TLB entries of the previous directory.
        0x7a00_0002, 0x0010_0002, 0, 0,
        0x7a00_0002, 0x0115_4c1c, 0x0003_0000, 0,
        0x0400_0000, 0, 0x0c00_0000, 0x0100_010c, 0, 0x0400_0001,
        0x1880_0100, 0x0040_0000,
        0x7a00_0002, 0x0110_50a1, 0x0002_0100, 0x1234,
        0x0100_0000,
    ];
    let request = Emit {
        switch: to(true),
        directory: DIRECTORY,
        ..STAY
    };
    assert_eq!(emitted(&RENDER, &request), expected);
    // Two more with a dword of the kernel's: it, and a no-op.
    let inline = Emit {
        inline: &[0],
        ..request
    };
    assert_eq!(emitted(&RENDER, &inline).len(), RENDER.dwords);
}

#[test]
fn others_load_a_directory_of_their_own_engine() {
    // VCS-002: the video engine's registers are at +10000h from the render engine's, the
    // blitter's at +20000h.
    for (recipe, drop, base, watchdog) in [
        (&BLITTER, 0x1304_4002, 0x2_2000, None),
        (&VIDEO, 0x1304_4082, 0x1_2000, Some(5000)),
    ] {
        #[rustfmt::skip]
        let expected = [
            drop, 0x0003_0004, 0, 0,
            // Upstream's switch_mm: EMIT_FLUSH before load_pd_dir.
            0x1300_4002, 0x0003_0004, 0, 0,
            0x1100_0003, base + 0x220, 0xffff_ffff, base + 0x228, 0x0040_0000,
            0x1240_0001, base + 0x228, 0x0003_0000,
            // Upstream's load_pd_dir: INSTPM bit 9; MI_FLUSH_DW with a store.
            0x1100_0001, base + 0xc0, 0x0200_0200,
            0x1300_4002, 0x0003_0004, 0, 0,
            drop, 0x0003_0004, 0, 0,
            0x1880_0100, 0x0040_0000,
        ];
        let request = Emit {
            directory: DIRECTORY,
            ..STAY
        };
        let all = emitted(recipe, &request);
        assert_eq!(all[..expected.len()], expected);
        // The room is sufficient with the directory, the watchdog and a dword of the kernel's.
        let longest = Emit {
            watchdog,
            inline: &[0],
            ..request
        };
        assert_eq!(emitted(recipe, &longest).len(), recipe.dwords);
        // No load if the directory stays the same.
        let stay = emitted(recipe, &STAY);
        assert_eq!(all.len() - stay.len(), 22);
        assert!(!stay.contains(&(base + 0x228)));
    }
}

#[test]
fn other_requests_dword_by_dword() {
    // VCS §1.2.7: bits 18 TLB, 15:14 store, 7 video pipeline; bit 2 of the address selects the
    // GGTT.
    for (recipe, drop) in [(&BLITTER, 0x1304_4002), (&VIDEO, 0x1304_4082)] {
        let mut expected = [
            drop,
            0x0003_0004,
            0,
            0,
            0x1880_0100,
            0x0040_0000,
            0x1304_4002,
            0x0002_0104,
            0x1234,
            0,
        ]
        .to_vec();
        // V-10: 32 stores of the seqno in the HWSP.
        for _ in 0..32 {
            expected.extend([0x1080_0001, 0x100, 0x1234]);
        }
        expected.extend([0x1300_4002, 0x0003_0004, 0, 0, 0x0100_0000, 0]);
        assert_eq!(emitted(recipe, &STAY), expected);
    }
}

#[test]
fn the_watchdog_runs_for_as_long_as_the_batch() {
    let watched = Emit {
        watchdog: Some(200_000),
        ..STAY
    };
    // After the flush that invalidates the TLBs, and before the one that stores the seqno. VCS
    // §1.1.5: 12178h counts from 0, FFFFFFFFh stops it; 1217Ch is 2,500,000 ticks of 80 ns.
    // §1.2.8: lengths of two registers and of one. §1.2.7: the flush waits for the batch's
    // work.
    #[rustfmt::skip]
    let expected: &[u32] = &[
        0x1304_4082, 0x0003_0004, 0, 0,
        0x1100_0003, 0x0001_217c, 0x0026_25a0, 0x0001_2178, 0,
        0x1880_0100, 0x0040_0000,
        0x1300_4002, 0x0003_0004, 0, 0,
        0x1100_0001, 0x0001_2178, 0xffff_ffff,
        0x1304_4002, 0x0002_0104, 0x1234, 0,
    ];
    assert_eq!(emitted(&VIDEO, &watched)[..22], *expected);
    // Without a batch there is no watchdog.
    let nothing = Emit {
        batch: None,
        ..watched
    };
    let registers = |all: &[u32]| all.iter().filter(|w| **w >> 23 == 0x22).count();
    assert_eq!(registers(&emitted(&VIDEO, &nothing)), 0);
    assert_eq!(registers(&emitted(&VIDEO, &STAY)), 0);
    // Other engines have no watchdog, and some limits cannot be set.
    let refused = |recipe, watchdog| {
        let mut buf = [0; 256];
        let r = Emit {
            watchdog: Some(watchdog),
            ..STAY
        };
        request(recipe, &r, &MEM, &mut Commands::new(&mut buf)).is_err()
    };
    assert!(refused(&RENDER, 200_000) && refused(&BLITTER, 200_000));
    assert!(refused(&VIDEO, 0) && refused(&VIDEO, 999) && refused(&VIDEO, u32::MAX));
}

#[test]
fn no_flush_stores_where_bit_5_is_set() {
    // VCS-066.
    for (recipe, watchdog, number) in [
        (&BLITTER, None, 3),
        (&VIDEO, None, 3),
        (&VIDEO, Some(1000), 4),
    ] {
        let all = emitted(recipe, &Emit { watchdog, ..STAY });
        let flushes = all.windows(2).filter(|w| w[0] >> 23 == 0x26);
        assert!(flushes.clone().count() == number && flushes.clone().all(|w| w[1] & 0x20 == 0));
    }
}

#[test]
fn streams_start_at_the_beginning() {
    // M70: SO_WRITE_OFFSET0 to 3; length 2n - 1.
    let mut buf = [0; crate::engine::STREAM_DWORDS];
    let mut out = Commands::new(&mut buf);
    restart_streams(&mut out).unwrap();
    assert_eq!(
        out.as_slice(),
        [0x1100_0007, 0x5280, 0, 0x5284, 0, 0x5288, 0, 0x528c, 0]
    );
}

proptest! {
    /// VCS-030: the tail is quadword aligned. The room that the core reserves is sufficient.
    #[test]
    fn a_request_ends_on_a_quadword_within_its_bound(
        kind in 0usize..3,
        inline in 0usize..40,
        batch: bool,
        context: Option<bool>,
        load: bool,
        watched: bool,
    ) {
        let recipe = [&RENDER, &BLITTER, &VIDEO][kind];
        let r = Emit {
            switch: context.map_or(Switch::Stay, |saved| Switch::To {
                image: GgttAddr(0x1000),
                saved,
            }),
            batch: STAY.batch.filter(|_| batch),
            inline: &[0; 40][..inline],
            directory: DIRECTORY.filter(|_| load),
            watchdog: (watched && kind == 2).then_some(5000),
            ..STAY
        };
        let all = emitted(recipe, &r);
        prop_assert_eq!(all.len() % 2, 0);
        prop_assert!(all.len() <= inline + [50, 136, 148][kind]);
    }
}

#[test]
fn the_bounds_are_even() {
    assert_eq!(
        [RENDER.dwords, BLITTER.dwords, VIDEO.dwords],
        [50, 136, 148]
    );
}
