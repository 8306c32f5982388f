// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Turns off the display that the firmware set up: it would read VRAM at addresses that the new
//! memory map changes.
//!
//! Offsets and bits: digest §5.2, "display probes". Two facts are from other drivers of these chips
//! and in no document: changes are made under a controller's register lock, since with some EFI
//! firmware a controller misbehaves otherwise (radeon, `D1CRTC_UPDATE_LOCK`); and the bit that
//! disables VGA memory (radeonhd; radeon says that these chips lack it, and moves VGA memory
//! instead).

use super::memory;
use crate::io::{Hw, SleepWait};

/// Control of the VGA renderer.
const VGA_RENDER_CONTROL: u32 = 0x0300;
/// Address of VGA memory, which the CPU reaches at A0000h.
const VGA_MEMORY_BASE: u32 = 0x0310;
/// Control of the CPU's path to VGA memory.
const VGA_HDP_CONTROL: u32 = 0x0328;
/// [`VGA_HDP_CONTROL`]: disables VGA memory.
const VGA_MEMORY_DISABLE: u32 = 1 << 4;
/// Whether each display controller shows VGA.
const VGA_CONTROL: [u32; 2] = [0x0330, 0x0338];
/// Control of the two display controllers.
const CRTC_CONTROL: [u32; 2] = [0x6080, 0x6880];
/// Offset from a controller's control register to its lock.
const LOCK_FROM_CONTROL: u32 = 0x68;
/// [`CRTC_CONTROL`]: the controller is enabled.
const CRTC_ENABLE: u32 = 1 << 0;
/// [`CRTC_CONTROL`]: the controller does not read memory.
const CRTC_NO_READS: u32 = 1 << 24;
/// Microseconds after which a frame has ended, at 24 Hz and more.
const PICTURE_MICROS: u32 = 50_000;

/// Changes the control of a controller under its lock.
fn change(hw: &Hw<'_>, control: u32, value: u32) {
    let lock = control.wrapping_add(LOCK_FROM_CONTROL);
    hw.regs.write32(lock, 1);
    hw.regs.write32(control, value);
    hw.regs.write32(lock, 0);
}

/// Turns off the display controllers that run, and VGA memory: writes of the CPU to VGA memory are
/// dropped from here on. They would go to an address of the firmware's frame buffer, which now
/// belongs to a BO.
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
    // Reads for the current frame go on until it ends.
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
                // Between the GART and VRAM.
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
