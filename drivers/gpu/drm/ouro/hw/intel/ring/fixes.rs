// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Workarounds and settings: registers whose values must differ from those after a reset, as lists
//! of changes.

use super::{fifo, regs::masked, RingChip};
use crate::{
    generation::DeviceError,
    io::{Hw, SleepWait},
};

/// The change of a register.
#[derive(Clone, Copy)]
enum Change {
    /// Write a value.
    Write(u32),
    /// Set and clear bits; the others stay as the firmware or another driver has set them.
    Bits { set: u32, clear: u32 },
}

/// A register and its change.
#[derive(Clone, Copy)]
pub(crate) struct Fix {
    offset: u32,
    change: Change,
}

impl Fix {
    /// Creates a write of a value.
    pub(crate) const fn write(offset: u32, value: u32) -> Self {
        Self {
            offset,
            change: Change::Write(value),
        }
    }

    /// Creates a write that sets and clears bits of a masked register.
    pub(crate) const fn masked(offset: u32, set: u16, clear: u16) -> Self {
        Self::write(offset, masked(set, clear))
    }

    /// Creates a read-modify-write that sets and clears bits.
    pub(crate) const fn bits(offset: u32, set: u32, clear: u32) -> Self {
        Self {
            offset,
            change: Change::Bits { set, clear },
        }
    }

    /// Applies the change.
    fn apply(&self, hw: &Hw<'_>) {
        let value = match self.change {
            Change::Write(value) => value,
            Change::Bits { set, clear } => (hw.regs.read32(self.offset) & !clear) | set,
        };
        hw.regs.write32(self.offset, value);
    }
}

/// Lists of changes, in the order of their application.
pub(crate) type Fixes = &'static [&'static [Fix]];

/// Applies lists of changes in order. The device must be awake.
pub(crate) fn apply(
    chip: &RingChip,
    hw: &Hw<'_>,
    fixes: &[&[Fix]],
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    let writes = fixes.iter().map(|list| list.len() as u32).sum();
    fifo::room(chip, hw, writes, wait)?;
    for fix in fixes.iter().copied().flatten() {
        fix.apply(hw);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::CHIP,
        mock::{Access, Mock},
    };

    #[test]
    fn each_kind_of_change_is_one_write() {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock.set(0x9404, 0x8000_0402);
        let fixes = [
            Fix::write(0xb01c, 0x1234_5678),
            Fix::masked(0x2090, 1 << 10, 1 << 2),
            Fix::bits(0x9404, 1 << 13, 1 << 10),
        ];
        apply(&CHIP, &mock.hw(), &[&fixes], &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                Access::R(0x12_0008),
                Access::W(0xb01c, 0x1234_5678),
                Access::W(0x2090, 0x0404_0400),
                Access::R(0x9404),
                Access::W(0x9404, 0x8000_2002),
            ]
        );
    }

    #[test]
    fn without_room_they_are_written_with_a_warning() {
        let mock = Mock::default();
        let fixes = [Fix::write(0xb01c, 1)];
        apply(&CHIP, &mock.hw(), &[&fixes], &mock).unwrap();
        assert_eq!(mock.written(0xb01c), [1]);
        assert_eq!(mock.warned.borrow().len(), 1);
        // Nothing is written to a device that is gone.
        mock.gone.set(true);
        assert!(apply(&CHIP, &mock.hw(), &[&fixes], &mock).is_err());
        assert_eq!(mock.written(0xb01c), [1]);
    }
}
