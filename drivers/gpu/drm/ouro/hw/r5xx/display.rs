// SPDX-License-Identifier: GPL-2.0
//! Turning off what the firmware shows: it reads the card's memory where that will not be any more.
//!
//! Offsets and bits: digest §5.2, "display probes". Two things are of other drivers for these chips, and in
//! no document: the lock of a controller's registers, under which each change is made, since with some EFI
//! firmware a controller does strange things otherwise (radeon, `D1CRTC_UPDATE_LOCK`); and the bit that ends
//! memory of text modes (radeonhd; radeon says that these chips do not have it, and moves that memory).

use super::memory;
use crate::io::{Hw, SleepWait};

/// What draws text modes.
const VGA_RENDER_CONTROL: u32 = 0x0300;
/// Where the memory of text modes is, which the CPU reaches at A0000h.
const VGA_MEMORY_BASE: u32 = 0x0310;
/// The CPU's way to it.
const VGA_HDP_CONTROL: u32 = 0x0328;
/// [`VGA_HDP_CONTROL`]: there is none.
const VGA_MEMORY_DISABLE: u32 = 1 << 4;
/// Whether each controller shows what that draws.
const VGA_CONTROL: [u32; 2] = [0x0330, 0x0338];
/// The two controllers.
const CRTC_CONTROL: [u32; 2] = [0x6080, 0x6880];
/// From a controller to its lock.
const LOCK_FROM_CONTROL: u32 = 0x68;
/// [`CRTC_CONTROL`]: it runs.
const CRTC_ENABLE: u32 = 1 << 0;
/// [`CRTC_CONTROL`]: it reads no memory.
const CRTC_NO_READS: u32 = 1 << 24;
/// Microseconds in which a picture ends, at 24 Hz and more.
const PICTURE_MICROS: u32 = 50_000;

/// Changes the control of a controller under its lock.
fn change(hw: &Hw<'_>, control: u32, value: u32) {
    let lock = control.wrapping_add(LOCK_FROM_CONTROL);
    hw.regs.write32(lock, 1);
    hw.regs.write32(control, value);
    hw.regs.write32(lock, 0);
}

/// Turns off the controllers that run. What somebody writes to memory of text modes goes nowhere from here
/// on: it would go to an address that was the firmware's, and is an object's now.
pub(super) fn off(hw: &Hw<'_>, wait: &dyn SleepWait) {
    hw.regs.write32(VGA_RENDER_CONTROL, 0);
    for control in VGA_CONTROL {
        hw.regs.write32(control, 0);
    }
    let path = hw.regs.read32(VGA_HDP_CONTROL);
    hw.regs.write32(VGA_HDP_CONTROL, path | VGA_MEMORY_DISABLE);
    hw.regs.write32(VGA_MEMORY_BASE, memory::NOWHERE);
    let mut any = false;
    for control in CRTC_CONTROL {
        let value = hw.regs.read32(control);
        if value & CRTC_ENABLE != 0 && value != u32::MAX {
            change(hw, control, value | CRTC_NO_READS);
            any = true;
        }
    }
    if !any {
        return;
    }
    // What was asked for is still on its way until the picture ends.
    wait.pause(PICTURE_MICROS);
    for control in CRTC_CONTROL {
        let value = hw.regs.read32(control);
        if value & CRTC_ENABLE != 0 && value != u32::MAX {
            change(hw, control, value & !CRTC_ENABLE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn a_running_controller_stops_reading_before_it_stops() {
        let mock = Mock::default();
        mock.set(0x6880, 0x0001_0001);
        mock.set(0x328, 0x0000_0100);
        off(&mock.hw(), &mock);
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                w(0x300, 0),
                w(0x330, 0),
                w(0x338, 0),
                r(0x328),
                w(0x328, 0x0000_0110),
                // Between what the table maps and the card's memory.
                w(0x310, 0x4000_0000),
                r(0x6080),
                r(0x6880),
                w(0x68e8, 1),
                w(0x6880, 0x0101_0001),
                w(0x68e8, 0),
                Access::Pause(50_000),
                r(0x6080),
                r(0x6880),
                w(0x68e8, 1),
                w(0x6880, 0x0101_0000),
                w(0x68e8, 0),
            ]
        );
    }

    #[test]
    fn a_dark_card_is_not_waited_for() {
        let mock = Mock::default();
        off(&mock.hw(), &mock);
        assert!(!mock.take().contains(&Access::Pause(50_000)));
    }
}
