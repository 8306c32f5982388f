// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Reset, by a byte of configuration space (G-20). It resets all engines.
//!
//! On 965 it resets the whole device, including the display; so the driver uses it only after a
//! hang, not at bring-up, and at the end only if an engine has not stopped. On G4X the engines have
//! domains of their own. A reset clears the fences, and on 965 disables the GGTT (§5.9).

use super::regs::{GDRST, VCP_NOT_GATED, VDECCLK_GATE_D};
use crate::{
    generation::DeviceError,
    intel::ring::RingChip,
    io::{Hw, SleepWait},
};

/// Bit 0 of [`GDRST`]: reset; on G4X, set until the reset is done.
const RESET: u8 = 1 << 0;
/// Bit 1, on 965: the device is in reset.
const IN_RESET: u8 = 1 << 1;
/// Bits 3:2, on G4X: the render domain.
const RENDER: u8 = 1 << 2;
/// Bits 3:2, on G4X: the media domain.
const MEDIA: u8 = 3 << 2;

/// Timeout in microseconds for each change of the register.
const ANSWER_MICROS: u32 = 50_000;
/// Length of a reset of 965, and delay after it, in microseconds.
const HOLD_MICROS: u32 = 50;

/// Waits until `done` accepts the register's value.
fn poll(hw: &Hw<'_>, wait: &dyn SleepWait, done: &dyn Fn(u8) -> bool) -> Result<(), DeviceError> {
    let mut result = Err(DeviceError::Timeout("GDRST"));
    // `result` has the timeout, too.
    let _ = wait.poll(ANSWER_MICROS, &mut || {
        match hw.platform.config8(GDRST) {
            u8::MAX => result = Err(DeviceError::Gone),
            value if done(value) => result = Ok(()),
            _ => return false,
        }
        true
    });
    result
}

/// Resets a 965: sets the bit until the device reports reset, and clears it until the report ends.
pub(super) fn whole(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    hw.platform.config_write8(GDRST, RESET);
    wait.pause(HOLD_MICROS);
    let entered = poll(hw, wait, &|v| v & IN_RESET != 0);
    // Leaves reset even after a timeout.
    hw.platform.config_write8(GDRST, 0);
    wait.pause(HOLD_MICROS);
    entered?;
    poll(hw, wait, &|v| v & IN_RESET == 0)
}

/// Resets a G4X: the media domain, then the render domain.
pub(super) fn domains(hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    // WaVcpClkGateDisableForMediaReset.
    let gated = hw.regs.read32(VDECCLK_GATE_D);
    hw.regs.write32_flush(VDECCLK_GATE_D, gated | VCP_NOT_GATED);
    let one = |domain: u8| {
        hw.platform.config_write8(GDRST, domain | RESET);
        poll(hw, wait, &|v| v & RESET == 0)
    };
    let done = one(MEDIA).and_then(|()| one(RENDER));
    hw.platform.config_write8(GDRST, 0);
    hw.regs
        .write32_flush(VDECCLK_GATE_D, gated & !VCP_NOT_GATED);
    done
}

/// Stops all engines, whatever their state.
pub(super) fn halt(chip: &RingChip, hw: &Hw<'_>, wait: &dyn SleepWait) -> Result<(), DeviceError> {
    for engine in chip.engines {
        engine.halt_hung(hw, wait)?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        io::Platform,
        mock::{Access, Mock},
        types::DmaAddr,
    };
    use std::{cell::Cell, vec::Vec};

    /// A device whose register gets the value that `answer` returns for a write.
    pub(in crate::gen4) struct Device {
        pub(in crate::gen4) mock: Mock,
        register: Cell<u8>,
        answer: fn(u8) -> u8,
    }

    impl Device {
        pub(in crate::gen4) fn new(mock: Mock, answer: fn(u8) -> u8) -> Self {
            Self {
                mock,
                register: Cell::new(0),
                answer,
            }
        }

        pub(in crate::gen4) fn hw(&self) -> Hw<'_> {
            Hw {
                platform: self,
                ..self.mock.hw()
            }
        }
    }

    /// Returns the values written to the register.
    fn written(log: &[Access]) -> Vec<u8> {
        let byte = |a: &Access| match a {
            Access::Config(0xc0, value) => Some(*value),
            _ => None,
        };
        log.iter().filter_map(byte).collect()
    }

    /// Answers as a 965 that enters reset on request.
    pub(in crate::gen4) fn answers_965(value: u8) -> u8 {
        (value & 1) << 1 | value
    }

    /// Answers as a G4X whose reset is done at once.
    pub(in crate::gen4) fn answers_g4x(value: u8) -> u8 {
        value & !1
    }

    impl Platform for Device {
        fn config32(&self, offset: u16) -> u32 {
            self.mock.config32(offset)
        }
        fn config8(&self, offset: u16) -> u8 {
            assert_eq!(offset, 0xc0);
            self.register.get()
        }
        fn config_write8(&self, offset: u16, value: u8) {
            self.mock.config_write8(offset, value);
            self.register.set((self.answer)(value));
        }
        fn bridge32(&self, offset: u16) -> u32 {
            self.mock.bridge32(offset)
        }
        fn bridge_write32(&self, offset: u16, value: u32) {
            self.mock.bridge_write32(offset, value);
        }
        fn flush_page(&self, at: Option<DmaAddr>) -> Option<DmaAddr> {
            self.mock.flush_page(at)
        }
        fn flush_chipset(&self) {
            self.mock.flush_chipset();
        }
        fn bar_len(&self, bar: u8) -> u64 {
            self.mock.bar_len(bar)
        }
        fn iommu(&self) -> bool {
            false
        }
        fn set_master(&self, on: bool) {
            self.mock.set_master(on);
        }
        fn warn(&self, what: &'static str) {
            self.mock.warn(what);
        }
    }

    #[test]
    fn a_965_is_reset_by_hand() {
        // G-20: 1, 50 us, status (bit 1), 0, 50 us, no status.
        let device = Device::new(Mock::default(), answers_965);
        whole(&device.hw(), &device.mock).unwrap();
        let hold = Access::Pause(50);
        let config = |value| Access::Config(0xc0, value);
        assert_eq!(device.mock.take(), [config(1), hold, config(0), hold]);
    }

    #[test]
    fn a_965_that_does_not_answer_leaves_reset() {
        let late = Err(DeviceError::Timeout("GDRST"));
        for (answer, result) in [
            ((|v| v) as fn(u8) -> u8, late),
            (|_| 2, late),
            (|_| 0xff, Err(DeviceError::Gone)),
        ] {
            let device = Device::new(Mock::default(), answer);
            assert_eq!(whole(&device.hw(), &device.mock), result);
            assert_eq!(written(&device.mock.take()), [1, 0]);
        }
    }

    #[test]
    fn a_g4x_is_reset_media_first() {
        // G-20: 620ch bit 4; 0dh, bit 0 clears; 05h; 0; 620ch back.
        let device = Device::new(Mock::default(), answers_g4x);
        device.mock.set(0x620c, 0x8000_0001);
        domains(&device.hw(), &device.mock).unwrap();
        assert_eq!(device.mock.written(0x620c), [0x8000_0011, 0x8000_0001]);
        assert_eq!(written(&device.mock.take()), [0x0d, 0x05, 0]);
    }

    #[test]
    fn a_g4x_that_stays_in_reset_leaves_it() {
        let device = Device::new(Mock::default(), |v| v);
        let late = Err(DeviceError::Timeout("GDRST"));
        assert_eq!(domains(&device.hw(), &device.mock), late);
        assert_eq!(device.mock.written(0x620c), [0x10, 0]);
        assert_eq!(written(&device.mock.take()), [0x0d, 0]);
    }
}
