// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The commands of a request, in its context's ring.
//!
//! ```text
//! render, compute                           blitter, video
//!   PIPE_CONTROL  depth
//!   MI_ARB_CHECK  pre-parser off              MI_ARB_CHECK  pre-parser off
//!   PIPE_CONTROL  drop TLB and read caches    MI_FLUSH_DW   drop TLB (and video caches)
//!   MI_ARB_CHECK  pre-parser on               MI_ARB_CHECK  pre-parser on
//!   the kernel's own commands                 the kernel's own commands
//!   MI_ARB_ON_OFF on                          MI_ARB_ON_OFF on
//!   MI_BATCH_BUFFER_START                     MI_BATCH_BUFFER_START
//!   MI_SET_PREDICATE off                      MI_SET_PREDICATE off
//!   MI_ARB_ON_OFF off                         MI_ARB_ON_OFF off
//!   PIPE_CONTROL  depth
//!   PIPE_CONTROL  flush the write caches,
//!                 drop TLB                    MI_FLUSH_DW   flush
//!   PIPE_CONTROL  store the number            MI_FLUSH_DW   store the number
//!   MI_USER_INTERRUPT                         MI_USER_INTERRUPT
//!   MI_ARB_ON_OFF on, MI_ARB_CHECK            MI_ARB_ON_OFF on, MI_ARB_CHECK
//! ```
//!
//! * The execlist switches contexts, so requests do not (B8).
//! * The pre-parser runs ahead, also through the start of a batch (T1, T3): beyond the command that
//!   invalidates the TLB, it would fetch through the old translations. Therefore it is off around
//!   that command (T5), as in the upstream driver. Render and compute invalidate the TLB behind a
//!   batch once more, as upstream does.
//! * A batch may leave predication on, and then all later commands would be skipped, including the
//!   seqno and the interrupt (N3); the command that disables predication is never skipped (M2).
//! * From the end of the batch to the interrupt, preemption is disabled: a completed context
//!   reports that first. Behind it is a preemption point, at least one in each request (F2).
//!   Batches cannot disable it (Q17). The document's list of opcodes says that the blitter has no
//!   `MI_ARB_ON_OFF`, its list of privileges that all engines have it; all drivers rely on the
//!   latter (M7).
//! * Stores are not posted, so all earlier writes are visible before the seqno (S2, S3). On engines
//!   with `MI_FLUSH_DW`, a flush without a store precedes the one that stores the seqno (S4, digest
//!   §2.4): the parser waits for a flush, but not for the store behind it
//!   (`gen12_emit_fini_breadcrumb_xcs`).
//! * `PIPE_CONTROL` of compute lacks the bits of the 3D pipeline. Before the one that invalidates
//!   and before the one that flushes there is one for depth alone (workaround 14016712196, digest
//!   §2.4), on compute too, as in upstream (`mtl_dummy_pipe_control`).
//! * The flush and the store of the seqno have `PIPE_CONTROL`'s flush enable, as upstream
//!   (`gen12_emit_fini_breadcrumb_rcs`), so that the store waits for the flushed data.

use super::{
    commands::{
        BatchStart, Flush, PipeControl, ARB_CHECK, ARB_OFF, ARB_ON, NOOP, PARSE_AHEAD_OFF,
        PARSE_AHEAD_ON, PREDICATE_OFF, STALLING_FLUSH, USER_INTERRUPT,
    },
    engine::SEQNO_AT,
};
use crate::{
    engine::{Emit, EngineMemory, Privilege},
    intel::pipe_bits,
    ring::{Commands, Overflow},
    types::{EngineClass, Seqno},
};

/// Returns whether an engine flushes with `PIPE_CONTROL`.
const fn has_pipeline(class: EngineClass) -> bool {
    matches!(class, EngineClass::Render | EngineClass::Compute)
}

/// Most dwords that [`request`] writes, beside the kernel's inline commands: invalidation between
/// two switches of the pre-parser, batch, flush, seqno, end, and one for alignment.
pub(super) const fn dwords(class: EngineClass) -> usize {
    let flushes = match has_pipeline(class) {
        true => 2 * 6 + 3 * 6,
        false => 4 + 4 + 4,
    };
    2 + flushes + 6 + 3 + 1
}

/// Returns `PIPE_CONTROL` bits without those that an engine does not have.
const fn bits_of(class: EngineClass, flags: u32) -> u32 {
    match class {
        EngineClass::Render => flags,
        _ => flags & !PipeControl::ONLY_3D,
    }
}

/// Workaround 14016712196: it precedes a `PIPE_CONTROL` that flushes or invalidates.
const DEPTH_ALONE: PipeControl = PipeControl {
    data_pipeline: false,
    flags: pipe_bits::DEPTH_FLUSH,
    store: None,
};

/// Writes the commands of a request.
pub(super) fn request(
    class: EngineClass,
    request: &Emit<'_>,
    mem: &EngineMemory,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    let piped = has_pipeline(class);
    if piped {
        out.put(&DEPTH_ALONE.encode())?;
    }
    out.put(&[PARSE_AHEAD_OFF])?;
    invalidate(class, mem, out)?;
    out.put(&[PARSE_AHEAD_ON])?;
    out.put(request.inline)?;
    if let Some(batch) = request.batch {
        let user = batch.privilege == Privilege::User;
        let start = BatchStart::at(batch.addr, user).ok_or(Overflow)?;
        out.put(&[ARB_ON])?;
        out.put(&start.encode())?;
        out.put(&[PREDICATE_OFF, ARB_OFF])?;
    }
    finish(class, request.seqno, mem, out)
}

/// Invalidates the engine's caches of memory that may have changed.
fn invalidate(
    class: EngineClass,
    mem: &EngineMemory,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    if !has_pipeline(class) {
        return out.put(
            &Flush {
                invalidate_tlb: true,
                invalidate_video: class == EngineClass::Video,
                store: (mem.scratch, 0),
            }
            .encode_wide(),
        );
    }
    let flags = PipeControl::COMMAND_INVALIDATE | pipe_bits::INVALIDATE | pipe_bits::COMMAND_STALL;
    out.put(
        &PipeControl {
            data_pipeline: false,
            flags: bits_of(class, flags),
            store: Some((mem.scratch, 0)),
        }
        .encode(),
    )
}

/// Flushes, stores the seqno, raises the interrupt, and allows preemption.
fn finish(
    class: EngineClass,
    seqno: Seqno,
    mem: &EngineMemory,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    let number = (mem.status.at(SEQNO_AT)?, seqno.0);
    if has_pipeline(class) {
        let pipe = |data_pipeline, flags, store| PipeControl {
            data_pipeline,
            flags,
            store,
        };
        out.put(&DEPTH_ALONE.encode())?;
        let flags = PipeControl::TILE_FLUSH
            | PipeControl::L3_FLUSH
            | pipe_bits::COMMAND_STALL
            | pipe_bits::TLB_INVALIDATE
            | pipe_bits::FLUSH
            | pipe_bits::FLUSH_ENABLE;
        out.put(&pipe(true, bits_of(class, flags), None).encode())?;
        let flags = pipe_bits::COMMAND_STALL | pipe_bits::FLUSH_ENABLE;
        out.put(&pipe(false, flags, Some(number)).encode())?;
    } else {
        out.put(&STALLING_FLUSH)?;
        out.put(&Flush::storing(number.0, number.1).encode_wide())?;
    }
    out.put(&[USER_INTERRUPT, ARB_ON, ARB_CHECK])?;
    if !out.len().is_multiple_of(2) {
        out.put(&[NOOP])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Batch, Switch},
        types::GpuAddr,
    };
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    const MEM: EngineMemory = crate::mock::MEMORY;
    const BATCH: Batch = Batch {
        addr: GpuAddr(0x7f00_0040_0000),
        len: 64,
        privilege: Privilege::User,
    };

    fn emitted(class: EngineClass, batch: Option<Batch>) -> Vec<u32> {
        let r = Emit {
            switch: Switch::Stay,
            known: None,
            directory: None,
            watchdog: None,
            batch,
            inline: &[],
            seqno: Seqno(0x1234),
        };
        let mut buf = [0xdead_beef; 64];
        let mut out = Commands::new(&mut buf);
        request(class, &r, &MEM, &mut out).unwrap();
        out.as_slice().to_vec()
    }

    #[test]
    fn blitter_request_dword_by_dword() {
        #[rustfmt::skip]
        let expected = [
            // T4, row 6: bit 0 switches off, bit 8 has it count.
            0x0280_0101,
            // Bits 18 TLB, 15:14 store; bit 2 of the address.
            0x1304_4002, 0x0003_0004, 0, 0,
            0x0280_0100,
            // On; bit 8 the context's own space; predication off; off.
            0x0400_0001, 0x1880_0101, 0x0040_0000, 0x7f00, 0x0080_0000, 0x0400_0000,
            // Digest §2.4: a flush alone, then the one that stores.
            0x1300_0002, 0, 0, 0,
            0x1300_4002, 0x0002_0204, 0, 0x1234,
            0x0100_0000, 0x0400_0001, 0x0280_0000, 0,
        ];
        assert_eq!(emitted(EngineClass::Copy, Some(BATCH)), expected);
        assert_eq!(emitted(EngineClass::VideoEnhance, Some(BATCH)), expected);
        // Video drops its caches too: bit 7.
        let video = emitted(EngineClass::Video, Some(BATCH));
        assert_eq!(video[1], 0x1304_4082);
        assert_eq!((video[0], &video[2..]), (expected[0], &expected[2..]));
    }

    #[test]
    fn render_request_dword_by_dword() {
        #[rustfmt::skip]
        let expected = [
            // Upstream's mtl_dummy_pipe_control: depth alone.
            0x7a00_0004, 0x0000_0001, 0, 0, 0, 0,
            0x0280_0101,
            // Bits 29, 24, 20, 18, 15:14, 11, 10, 4, 3, 2.
            0x7a00_0004, 0x2114_4c1c, 0x0003_0000, 0, 0, 0,
            0x0280_0100,
            0x0400_0001, 0x1880_0101, 0x0040_0000, 0x7f00, 0x0080_0000, 0x0400_0000,
            0x7a00_0004, 0x0000_0001, 0, 0, 0, 0,
            // Header bit 9; bits 28, 27, 20, 18, 12, 7, 5, 0; of the store 24, 20, 15:14, 7.
            // Bit 7: upstream's gen12_emit_fini_breadcrumb_rcs.
            0x7a00_0204, 0x1814_10a1, 0, 0, 0, 0,
            0x7a00_0004, 0x0110_4080, 0x0002_0200, 0, 0x1234, 0,
            0x0100_0000, 0x0400_0001, 0x0280_0000, 0,
        ];
        assert_eq!(emitted(EngineClass::Render, Some(BATCH)), expected);
    }

    #[test]
    fn compute_has_no_bit_of_the_3d_pipeline() {
        #[rustfmt::skip]
        let expected = [
            // Upstream's mtl_dummy_pipe_control, of every class: depth alone.
            0x7a00_0004, 0x0000_0001, 0, 0, 0, 0,
            0x0280_0101,
            0x7a00_0004, 0x2114_4c0c, 0x0003_0000, 0, 0, 0,
            0x0280_0100,
            0x7a00_0004, 0x0000_0001, 0, 0, 0, 0,
            0x7a00_0204, 0x0814_00a0, 0, 0, 0, 0,
            0x7a00_0004, 0x0110_4080, 0x0002_0200, 0, 0x1234, 0,
            0x0100_0000, 0x0400_0001, 0x0280_0000, 0,
        ];
        assert_eq!(emitted(EngineClass::Compute, None), expected);
    }

    #[test]
    fn the_kernels_batch_keeps_its_privilege() {
        let kernel = Batch {
            addr: GpuAddr(0x1000),
            privilege: Privilege::Kernel,
            ..BATCH
        };
        let dwords = emitted(EngineClass::Copy, Some(kernel));
        assert_eq!(dwords[7..10], [0x1880_0001, 0x1000, 0]);
    }

    const CLASSES: [EngineClass; 5] = [
        EngineClass::Render,
        EngineClass::Copy,
        EngineClass::Video,
        EngineClass::VideoEnhance,
        EngineClass::Compute,
    ];

    proptest! {
        /// Checks that the tail is quadword-aligned, the reserved room suffices, an address is
        /// refused or complete, and the last preemption point is behind the interrupt.
        #[test]
        fn a_request_ends_on_a_quadword_within_its_bound(
            class in 0usize..5,
            inline in 0usize..40,
            batch: Option<u64>,
            seqno: u32,
        ) {
            let class = CLASSES[class];
            let inline = vec![0; inline];
            let r = Emit {
                switch: Switch::Stay,
                known: None,
                directory: None,
                watchdog: None,
                batch: batch.map(|addr| Batch { addr: GpuAddr(addr >> 14), ..BATCH }),
                inline: &inline,
                seqno: Seqno(seqno),
            };
            let mut buf = vec![0; dwords(class) + inline.len()];
            let mut out = Commands::new(&mut buf);
            let result = request(class, &r, &MEM, &mut out);
            let good = r.batch.is_none_or(|b| b.addr.0 < 1 << 48 && b.addr.0 % 8 == 0);
            prop_assert_eq!(result.is_ok(), good);
            if good {
                prop_assert_eq!(out.len() % 2, 0);
                let all = out.as_slice();
                let end = all.len() - usize::from(all[all.len() - 1] == 0);
                prop_assert_eq!(
                    &all[end - 3..end],
                    &[0x0100_0000, 0x0400_0001, 0x0280_0000]
                );
            }
        }
    }
}
