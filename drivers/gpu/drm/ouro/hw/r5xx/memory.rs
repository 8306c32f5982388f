// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The memory map of the card's 32-bit address space, and the registers that set it.
//!
//! ```text
//! 0000_0000  GART: GGTT addresses are addresses of the card
//! 2000_0000  nothing
//! 8000_0000  VRAM: the GART's entries, a page of zeros, and pages of BOs
//! ```
//!
//! The document leaves the map to the driver (digest §5.2 shows another choice). With this map,
//! address zero, that of a register that was never set, is in a page that the GART maps to no BO.
//!
//! Two kinds of memory controllers have different registers for the map (digest trap 2).
//!
//! The GART's entries are in VRAM, which works only after the firmware has set it up. Entries in
//! memory that does not work would read as noise, and direct the card's accesses to any address. So
//! the driver tests VRAM ([`prove`]) before it writes the entries, and checks it ([`look`]) before
//! it enables the GART again.

use super::{
    indirect::{change_clock, read_mc, write_mc},
    regs,
};
use crate::{
    generation::{DeviceError, Topology},
    io::{Hw, SleepWait},
    types::{GgttAddr, PAGE_SIZE},
};

/// First address of VRAM.
pub(super) const LOCAL_BASE: u32 = 0x8000_0000;
/// Most bytes of VRAM that the map has room for: as much as any card has.
pub(super) const LOCAL_MAX: u64 = 1 << 30;
/// Pages that the GART maps: 512 MiB.
pub(super) const TABLE_ENTRIES: u32 = 128 * 1024;
/// Bytes of the GART's entries, which are at the start of VRAM.
pub(super) const TABLE_BYTES: u32 = TABLE_ENTRIES * 4;
/// Bytes at the start of VRAM that the backend uses: the GART's entries, and the page of zeros
/// behind them, which reads of unmapped addresses return.
pub(super) const RESERVED: u32 = TABLE_BYTES + PAGE_SIZE;

/// An unmapped address, for units that must have no buffer: writes are dropped, since the GART
/// discards them (`gart`).
pub(super) const NOWHERE: u32 = 0x4000_0000;

/// Returns the address of a byte of VRAM.
pub(super) const fn local(offset: u32) -> GgttAddr {
    GgttAddr(LOCAL_BASE.wrapping_add(offset))
}

/// Registers of a memory controller, all behind its index (digest §5.2).
#[derive(Debug)]
pub(super) struct Controller {
    /// State register, and its idle bit.
    status: (u32, u32),
    /// Register of the VRAM range: start 15:0 and end 31:16, in units of 64 KiB.
    local: u32,
    /// Registers of the AGP range, and of the two halves of its bus address.
    agp: [u32; 3],
}

/// RV515.
pub(super) static RV515: Controller = Controller {
    status: (0x08, 1 << 4),
    local: 0x01,
    agp: [0x02, 0x03, 0x04],
};
/// All others.
pub(super) static R520: Controller = Controller {
    status: (0x00, 1 << 1),
    local: 0x04,
    agp: [0x05, 0x06, 0x07],
};

/// Timeout in microseconds of an idle controller (digest §5.2: only a warning there).
const IDLE_MICROS: u32 = 100_000;
/// Clock registers of the command processor, the 2D engine and the video decoder; bit 0 forces the
/// clock on (digest §5.2). The command processor's clock must run for its queue of waits (§4.9, row
/// G6).
const CLOCKS: [u32; 3] = [0x0f, 0x11, 0x13];

/// Start and end in units of 64 KiB.
const fn location(start: u32, end: u32) -> u32 {
    (end & 0xffff_0000) | (start >> 16)
}

/// Returns whether the memory controller is idle. A card that is gone is not idle.
pub(super) fn is_idle(controller: &Controller, hw: &Hw<'_>) -> bool {
    let (status, idle) = controller.status;
    let value = read_mc(hw.regs, status);
    value & idle != 0 && value != u32::MAX
}

/// Waits until the memory controller is idle. A timeout is only logged: the controller can report
/// busy for a reason that the set-up ends (digest §5.4, step 9). Fails if the card is gone.
pub(super) fn wait_idle(
    controller: &Controller,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    if wait
        .poll(IDLE_MICROS, &mut || is_idle(controller, hw))
        .is_ok()
    {
        return Ok(());
    }
    if read_mc(hw.regs, controller.status.0) == u32::MAX {
        return Err(DeviceError::Gone);
    }
    hw.platform
        .warn("memory controller not idle in time (MC_STATUS)");
    Ok(())
}

/// Sets up the memory map. No engine runs.
pub(super) fn set_up(
    controller: &Controller,
    hw: &Hw<'_>,
    topo: &Topology,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    for clock in CLOCKS {
        change_clock(hw.regs, clock, |v| v | 1);
    }
    wait_idle(controller, hw, wait)?;

    // The range also covers the CPU's aperture, so that the CPU never reads an unmapped address.
    let size = topo.local.map_or(0, |l| l.size.saturating_add(l.window_at));
    let window = hw.platform.bar_len(super::MEMORY_BAR);
    let end = size.max(window).min(LOCAL_MAX).wrapping_sub(1) as u32;
    let place = location(LOCAL_BASE, LOCAL_BASE.wrapping_add(end));
    write_mc(hw.regs, controller.local, place);
    hw.regs.write32(regs::HDP_FB_LOCATION, LOCAL_BASE >> 16);
    // AGP is not used: its range is empty.
    for (reg, value) in controller.agp.iter().zip([u32::MAX, 0, 0]) {
        write_mc(hw.regs, *reg, value);
    }
    // The exact value that commands write later.
    hw.regs.write32(regs::HOST_PATH_CNTL, topo.card);
    match read_mc(hw.regs, controller.local) {
        u32::MAX => Err(DeviceError::Gone),
        found if found == place => Ok(()),
        _ => Err(DeviceError::Unsupported(
            "the VRAM range of the memory controller does not keep its value",
        )),
    }
}

/// Number of dwords that are tested.
const TRIED: u32 = 64;
/// The test value of a dword is its address XOR this: a different value in each, without long runs
/// of equal bits.
const PATTERN: u32 = 0x5aa5_c33c;

/// Tests dwords that are `apart` bytes from each other, from `first` on. Writes all of them before
/// it reads any: first a value derived from the address, then its complement. Leaves zeros.
fn holds(hw: &Hw<'_>, first: u32, apart: u32) -> bool {
    let places = || (0..TRIED).map(|n| first.wrapping_add(n.wrapping_mul(apart)));
    let mut good = true;
    for flip in [PATTERN, !PATTERN] {
        for at in places() {
            hw.gtt.write32(at, at ^ flip);
        }
        good &= places().all(|at| hw.gtt.read32(at) == at ^ flip);
    }
    for at in places() {
        hw.gtt.write32(at, 0);
    }
    good && places().all(|at| hw.gtt.read32(at) == 0)
}

/// The error if VRAM does not work.
const NO_MEMORY: DeviceError =
    DeviceError::Unsupported("VRAM does not keep what is written: card not posted by its firmware");

/// Tests that VRAM works in the whole range of the GART's entries, before they are written. Sets
/// the page behind them to zero: reads of unmapped addresses return it.
pub(super) fn prove(hw: &Hw<'_>) -> Result<(), DeviceError> {
    const APART: u32 = TABLE_BYTES / TRIED;
    // The last dword of each part.
    if !holds(hw, APART - 4, APART) {
        return Err(NO_MEMORY);
    }
    for at in (TABLE_BYTES..RESERVED).step_by(4) {
        hw.gtt.write32(at, 0);
    }
    look(hw)
}

/// Checks that VRAM still works, since a reset of the memory controller can end that. The page
/// behind the GART's entries must still be zero, and must keep a value that is written.
pub(super) fn look(hw: &Hw<'_>) -> Result<(), DeviceError> {
    const APART: u32 = PAGE_SIZE / TRIED;
    let mut dwords = (TABLE_BYTES..RESERVED).step_by(APART as usize);
    if !dwords.all(|at| hw.gtt.read32(at) == 0) {
        return Err(DeviceError::Unsupported("VRAM has lost the GART table"));
    }
    match holds(hw, TABLE_BYTES, APART) {
        true => Ok(()),
        false => Err(NO_MEMORY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mock::{Access, Mock},
        r5xx::topology::{self, tests::card},
    };
    use std::vec::Vec;

    /// Returns the pairs of index and data that were written.
    fn mc_writes(mock: &Mock) -> Vec<(u32, u32)> {
        let (at, data) = (mock.written(0x70), mock.written(0x74));
        let at = at.iter().filter(|i| *i & 0x80_0000 != 0);
        at.copied().zip(data).collect()
    }

    #[test]
    fn both_kinds_of_controller_are_told_the_same() {
        for (controller, family, indices) in [
            (&RV515, &crate::r5xx::RV515, [1, 2, 3, 4]),
            (&R520, &crate::r5xx::R520, [4, 5, 6, 7]),
        ] {
            let mock = card();
            let topo = topology::probe(family, &mock.hw()).unwrap();
            mock.take();
            // Idle: RV515 bit 4 of 8, others bit 1 of 0. Then the range is read back.
            let idle = if indices[0] == 1 { 0x10 } else { 0x2 };
            mock.script(0x74, &[0, idle, 0x8fff_8000]);
            set_up(controller, &mock.hw(), &topo, &mock).unwrap();
            let values = [0x8fff_8000, 0xffff_ffff, 0, 0];
            let expected: Vec<_> = indices
                .iter()
                .zip(values)
                .map(|(i, v)| (0xff_0000 | i, v))
                .collect();
            assert_eq!(mc_writes(&mock), expected);
            let status = if indices[0] == 1 {
                0x7f_0008
            } else {
                0x7f_0000
            };
            assert!(mock.written(0x70).contains(&status));
            assert_eq!(mock.written(0x134), [0x8000]);
            // HOST_PATH_CNTL as it was, and bit 23.
            assert_eq!(mock.written(0x130), [0x0080_0040]);
            assert!(mock.warned.borrow().is_empty());
            // Clocks: bit 7 writes.
            let clocks: Vec<_> = mock
                .written(0x8)
                .into_iter()
                .filter(|v| v & 0x80 != 0)
                .collect();
            assert_eq!(clocks, [0x8f, 0x91, 0x93]);
            assert_eq!(mock.written(0xc), [1, 1, 1]);
        }
    }

    #[test]
    fn a_controller_that_is_busy_is_told_of_and_no_more() {
        let mock = card();
        let topo = topology::probe(&crate::r5xx::R520, &mock.hw()).unwrap();
        // Never idle: bit 1 is clear. The last value is the range.
        mock.script(0x74, &[0x10, 0x10, 0x10, 0x10, 0x10, 0x8fff_8000]);
        assert_eq!(set_up(&R520, &mock.hw(), &topo, &mock), Ok(()));
        assert_eq!(
            mock.warned.take(),
            ["memory controller not idle in time (MC_STATUS)"]
        );
        assert_eq!(mc_writes(&mock)[0], (0xff_0004, 0x8fff_8000));
    }

    #[test]
    fn a_controller_that_is_gone_or_takes_no_place_ends_it() {
        let mock = card();
        let topo = topology::probe(&crate::r5xx::R520, &mock.hw()).unwrap();
        // Idle, then the previous range.
        mock.script(0x74, &[0x2, 0x0fff_0000]);
        let r = set_up(&R520, &mock.hw(), &topo, &mock);
        assert!(matches!(r, Err(DeviceError::Unsupported(_))));
        mock.gone.set(true);
        let r = set_up(&R520, &mock.hw(), &topo, &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }

    #[test]
    fn memory_is_tried_all_over_the_table_and_the_page_behind_it_is_zero() {
        let mock = Mock::default();
        // Previous contents.
        mock.set(0x8_0000, 0x1111_1111);
        mock.set(0x8_0ffc, 0x2222_2222);
        prove(&mock.hw()).unwrap();
        // 64 parts of 8 KiB; the address XOR 5aa5c33ch, then its complement, then zero.
        assert_eq!(mock.written(0x1ffc), [0x5aa5_dcc0, 0xa55a_233f, 0]);
        assert_eq!(mock.written(0x7_fffc), [0x5aa2_3cc0, 0xa55d_c33f, 0]);
        assert_eq!(mock.written(0x8_0ffc), [0]);
        assert_eq!(mock.written(0x8_0000), [0, 0x5aad_c33c, 0xa552_3cc3, 0]);
        assert!(mock.written(0x8_1000).is_empty());
        // All dwords are written before one is read.
        let log = mock.take();
        let first = log.iter().position(|a| matches!(a, Access::R(_))).unwrap();
        assert_eq!(first, 64);
    }

    #[test]
    fn memory_that_does_not_keep_values_is_found_out() {
        // The last part of the entries; the page of zeros; all of VRAM.
        for broken in [0x7_fffc, 0x8_0040] {
            let mock = Mock::default();
            mock.fix(broken, 0);
            assert_eq!(prove(&mock.hw()), Err(NO_MEMORY), "{broken:x}");
        }
        let mock = Mock::default();
        mock.gone.set(true);
        assert_eq!(prove(&mock.hw()), Err(NO_MEMORY));
    }

    #[test]
    fn memory_that_is_as_it_was_is_left_so() {
        let mock = Mock::default();
        mock.set(0, 0x1234_500f);
        look(&mock.hw()).unwrap();
        assert!(mock.written(0).is_empty() && mock.written(0x7_fffc).is_empty());
        assert_eq!(mock.written(0x8_0fc0), [0x5aad_ccfc, 0xa552_3303, 0]);
        mock.take();
        // A bit of the page behind the entries.
        mock.set(0x8_0440, 0x10);
        let lost = Err(DeviceError::Unsupported("VRAM has lost the GART table"));
        assert_eq!(look(&mock.hw()), lost);
        assert!(!mock.take().iter().any(|a| matches!(a, Access::W(..))));
    }

    #[test]
    fn the_three_parts_do_not_overlap() {
        assert!(u64::from(TABLE_ENTRIES) * 4096 <= u64::from(LOCAL_BASE));
        assert!(u64::from(LOCAL_BASE) + LOCAL_MAX <= 0xffff_0000);
        assert_eq!((TABLE_BYTES, RESERVED), (0x8_0000, 0x8_1000));
        assert_eq!(local(0x1000), GgttAddr(0x8000_1000));
        // Behind the GART, before VRAM.
        assert_eq!(NOWHERE, 0x4000_0000);
    }
}
