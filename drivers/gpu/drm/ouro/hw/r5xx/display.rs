// SPDX-License-Identifier: GPL-2.0
//! Turning off what the firmware shows: it reads the card's memory where that will not be any more.
//!
//! Offsets and bits: digest §5.2, "display probes".

use crate::io::{Hw, SleepWait};

/// What draws text modes.
const VGA_RENDER_CONTROL: u32 = 0x0300;
/// Whether each controller shows what that draws.
const VGA_CONTROL: [u32; 2] = [0x0330, 0x0338];
/// The two controllers.
const CRTC_CONTROL: [u32; 2] = [0x6080, 0x6880];
/// [`CRTC_CONTROL`]: it runs.
const CRTC_ENABLE: u32 = 1 << 0;
/// [`CRTC_CONTROL`]: it reads no memory.
const CRTC_NO_READS: u32 = 1 << 24;
/// Microseconds in which a picture ends, at 24 Hz and more.
const PICTURE_MICROS: u32 = 50_000;

/// Turns both controllers off. Nothing if they are.
pub(super) fn off(hw: &Hw<'_>, wait: &dyn SleepWait) {
    hw.regs.write32(VGA_RENDER_CONTROL, 0);
    for control in VGA_CONTROL {
        hw.regs.write32(control, 0);
    }
    let mut any = false;
    for control in CRTC_CONTROL {
        let value = hw.regs.read32(control);
        if value & CRTC_ENABLE != 0 && value != u32::MAX {
            hw.regs.write32(control, value | CRTC_NO_READS);
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
        hw.regs.write32(control, value & !CRTC_ENABLE);
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
        off(&mock.hw(), &mock);
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                w(0x300, 0),
                w(0x330, 0),
                w(0x338, 0),
                r(0x6080),
                r(0x6880),
                w(0x6880, 0x0101_0001),
                Access::Pause(50_000),
                r(0x6080),
                w(0x6080, 0),
                r(0x6880),
                w(0x6880, 0x0101_0000),
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
