// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands of a request in the ring.
//!
//! ```text
//! SU_REG_DEST, FG_ZBREG_DEST      select all pipes
//! TX_INVALTAGS                    invalidate the texture caches
//! the kernel's own commands
//! CP_IB_BASE, CP_IB_BUFSZ         run the known state, as a buffer
//! CP_IB_BASE, CP_IB_BUFSZ         run the batch
//! SU_REG_DEST, FG_ZBREG_DEST      select all pipes
//! SC_SCISSOR0 = SC_SCISSOR1 = 0   so that the units report idle
//! RB3D, ZB, 2D cache flush
//! WAIT_UNTIL                      2D and 3D idle and clean, copies done
//! HOST_PATH_CNTL                  drop read-ahead data of the CPU's path
//! SCRATCH_REG0 = seqno            which the chip writes to the status page
//! GEN_INT_STATUS                  raise the interrupt
//! fillers up to 16 dwords
//! ```
//!
//! The masks of pipes are written first, and again after the batch: registers behind the set-up
//! unit, among them the flushes and the known state, are written only in the pipes that the masks
//! select ([`masks`]). The checker passes no batch that deselects a pipe; this does not rely on it.
//!
//! The write of a scratch register only shows that the command processor has reached it (§4.9, row
//! G3): hence the flushes and the wait before it. The size of a buffer is the last register of its
//! packet (§4.10). Requests are filled up to 16 dwords, as in radeon and radeonhd (row C10); the
//! wrap of the ring needs nothing else.

use super::{
    packets::{write, FILLER},
    regs,
};
use crate::{
    engine::{Batch, Emit, EngineMemory},
    ring::{Commands, Overflow},
    types::Seqno,
};

/// A request is filled up to a multiple of this many dwords.
const ALIGN: usize = 16;
/// Most dwords of a buffer: the size has 23 bits (digest §3.1).
const MAX_BUFFER: u32 = (1 << 23) - 1;
/// Dwords that [`masks`] writes.
pub(super) const MASK_DWORDS: usize = 4;
/// Most dwords that [`request`] writes in addition to the kernel's own commands: its packets, and
/// the fill behind them.
pub(super) const DWORDS: usize = (2 * MASK_DWORDS + 2 + 3 + 3 + 3 + 2 + 2 + 2 + 2 + 4 + 2 + 2usize)
    .next_multiple_of(ALIGN)
    + ALIGN;

/// Selects all pipes for the writes that follow: first the raster pipes, whose mask also gates the
/// write of the second mask (AMD's page of `ZB_ZPASS_ADDR`), then the two units of depth, if the
/// chip has them.
pub(super) fn masks(depth_pipes: bool, out: &mut Commands<'_>) -> Result<(), Overflow> {
    write(out, regs::SU_REG_DEST, &[regs::ALL_PIPES])?;
    match depth_pipes {
        true => write(out, regs::FG_ZBREG_DEST, &[regs::ALL_DEPTH_PIPES]),
        false => out.put(&[FILLER; 2]),
    }
}

/// Writes a request.
pub(super) fn request(
    depth_pipes: bool,
    request: &Emit<'_>,
    mem: &EngineMemory,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    masks(depth_pipes, out)?;
    write(out, regs::TX_INVALTAGS, &[0])?;
    out.put(request.inline)?;
    for batch in request.known.iter().chain(&request.batch) {
        call(batch, out)?;
    }
    masks(depth_pipes, out)?;
    finish(request.seqno, mem, out)
}

/// Runs a buffer.
fn call(batch: &Batch, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let addr = u32::try_from(batch.addr.0).map_err(|_| Overflow)?;
    let dwords = batch.len / 4;
    if !addr.is_multiple_of(4) || !batch.len.is_multiple_of(4) || dwords > MAX_BUFFER {
        return Err(Overflow);
    }
    if dwords == 0 {
        // The effect of size zero is not documented.
        return Ok(());
    }
    write(out, regs::CP_IB_BASE, &[addr, dwords])
}

/// Flushes, waits, writes the seqno, raises the interrupt.
fn finish(seqno: Seqno, mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    write(out, regs::SC_SCISSOR0, &[0, 0])?;
    write(out, regs::RB3D_DSTCACHE_CTLSTAT, &[regs::COLOUR_FLUSH_FREE])?;
    write(out, regs::ZB_ZCACHE_CTLSTAT, &[regs::DEPTH_FLUSH_FREE])?;
    write(out, regs::DSTCACHE_CTLSTAT, &[regs::DSTCACHE_FLUSH_ALL])?;
    let idle = regs::WAIT_2D_IDLECLEAN | regs::WAIT_3D_IDLECLEAN | regs::WAIT_DMA_GUI_IDLE;
    write(out, regs::WAIT_UNTIL, &[idle])?;
    // A pulse of the bit; the other bits keep their value (`Topology::card`).
    for bit in [regs::HDP_READ_BUFFER_INVALIDATE, 0] {
        write(out, regs::HOST_PATH_CNTL, &[mem.card | bit])?;
    }
    write(out, regs::SCRATCH_REG0, &[seqno.0])?;
    write(out, regs::GEN_INT_STATUS, &[regs::SW_INT_FIRE])?;
    while !out.len().is_multiple_of(ALIGN) {
        out.put(&[FILLER])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Privilege, Switch},
        types::GpuAddr,
    };
    use proptest::prelude::*;
    use std::vec;

    const MEM: EngineMemory = EngineMemory {
        card: 0x0080_0040,
        ..crate::mock::MEMORY
    };

    const fn batch(addr: u64, len: u32) -> Batch {
        Batch {
            addr: GpuAddr(addr),
            len,
            privilege: Privilege::User,
        }
    }

    const REQUEST: Emit<'_> = Emit {
        switch: Switch::Stay,
        known: Some(batch(0x0010_0000, 0x400)),
        directory: None,
        batch: Some(batch(0x8123_4000, 64)),
        inline: &[],
        watchdog: None,
        seqno: Seqno(0x1234),
    };

    #[test]
    fn a_request_dword_by_dword() {
        let mut buf = [0; DWORDS];
        let mut out = Commands::new(&mut buf);
        request(false, &REQUEST, &MEM, &mut out).unwrap();
        #[rustfmt::skip]
        let expected: &[u32] = &[
            // 42C8 / 4: all four raster pipes; no units of depth.
            0x10b2, 0xf, 0x8000_0000, 0x8000_0000,
            // 4100 / 4.
            0x1040, 0,
            // Digest §2.9: 101CE, address, dwords.
            0x0001_01ce, 0x0010_0000, 0x100,
            0x0001_01ce, 0x8123_4000, 16,
            0x10b2, 0xf, 0x8000_0000, 0x8000_0000,
            // Digest §2.9: 10F8 and 10F9, in one packet; 1393; 13C6.
            0x0001_10f8, 0, 0,
            0x1393, 0xa,
            0x13c6, 0x3,
            // 5C5, 5C8 30200.
            0x05c5, 0xf,
            0x05c8, 0x0003_0200,
            // 4C hdp | 8000000, 4C hdp.
            0x004c, 0x0880_0040, 0x004c, 0x0080_0040,
            // 578 seq, 11 4000000.
            0x0578, 0x1234,
            0x0011, 0x0400_0000,
            // 35 dwords and 13 fillers.
            0x8000_0000, 0x8000_0000, 0x8000_0000, 0x8000_0000, 0x8000_0000, 0x8000_0000,
            0x8000_0000, 0x8000_0000, 0x8000_0000, 0x8000_0000, 0x8000_0000, 0x8000_0000,
            0x8000_0000,
        ];
        assert_eq!(out.as_slice(), expected);
    }

    /// AMD's page of `ZB_ZPASS_ADDR`; digest §5.7 for RV530: 4BE8 / 4, both units.
    #[test]
    fn all_pipes_get_a_request_and_its_flushes() {
        let mut buf = [0; DWORDS];
        let mut out = Commands::new(&mut buf);
        request(true, &REQUEST, &MEM, &mut out).unwrap();
        let all = [0x10b2, 0xf, 0x12fa, 3];
        assert_eq!(out.as_slice()[..4], all);
        let at = |header: u32| out.as_slice().iter().position(|d| *d == header).unwrap();
        // Behind the batch, before the scissors.
        let scissor = at(0x0001_10f8);
        assert_eq!(out.as_slice()[scissor - 4..scissor], all);
        assert_eq!(out.as_slice()[scissor - 7], 0x0001_01ce);
    }

    #[test]
    fn the_number_comes_behind_the_wait_and_the_batch() {
        let mut buf = [0; DWORDS];
        let mut out = Commands::new(&mut buf);
        request(false, &REQUEST, &MEM, &mut out).unwrap();
        let at = |header: u32| out.as_slice().iter().position(|d| *d == header).unwrap();
        // Row G3: flushes, then the wait, then the scratch register, then the interrupt.
        assert!(at(0x1393) < at(0x5c8) && at(0x13c6) < at(0x5c8) && at(0x5c5) < at(0x5c8));
        assert!(at(0x5c8) < at(0x578) && at(0x578) < at(0x11));
        assert!(at(0x0001_01ce) < at(0x1393));
    }

    #[test]
    fn buffers_that_cannot_be_named_are_refused() {
        for bad in [
            batch(0x1_0000_0000, 64),
            batch(0x1002, 64),
            batch(0x1000, 62),
            batch(0x1000, 4 << 23),
        ] {
            let mut buf = [0; DWORDS];
            let emit = Emit {
                batch: Some(bad),
                ..REQUEST
            };
            let r = request(false, &emit, &MEM, &mut Commands::new(&mut buf));
            assert_eq!(r, Err(Overflow), "{bad:?}");
        }
    }

    proptest! {
        /// Row C10, and the room that the core reserves is enough.
        #[test]
        fn a_request_ends_on_16_dwords_within_its_bound(
            inline in 0usize..100, known: bool, some: bool, depth: bool,
        ) {
            let inline = vec![0x8000_0000; inline];
            let emit = Emit {
                known: REQUEST.known.filter(|_| known),
                batch: REQUEST.batch.filter(|_| some),
                inline: &inline,
                ..REQUEST
            };
            let mut buf = vec![0; inline.len() + DWORDS];
            let mut out = Commands::new(&mut buf);
            prop_assert_eq!(request(depth, &emit, &MEM, &mut out), Ok(()));
            prop_assert_eq!(out.len() % 16, 0);
            let calls = out.as_slice().iter().filter(|d| **d == 0x0001_01ce).count();
            prop_assert_eq!(calls, usize::from(known) + usize::from(some));
        }

        #[test]
        fn too_little_room_is_an_error(room in 0usize..48) {
            let mut buf = vec![0; room];
            let emitted = request(false, &REQUEST, &MEM, &mut Commands::new(&mut buf));
            prop_assert_eq!(emitted, Err(Overflow));
        }
    }
}
