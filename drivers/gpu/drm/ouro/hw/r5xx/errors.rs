// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Reads, decodes and clears errors; reads the activity of the engine.
//!
//! The chip reports little. The GART records a failed access in a word whose layout is not
//! documented, so it is reported as a number. Batches are checked, so neither that word nor the
//! faults of the memory controller should ever be set.

use super::{engine, gart, interrupts, names, regs};
use crate::{
    io::Hw,
    report::{Activity, EngineReport, Report},
};

/// Returns the engine's current activity. A busy unit has a one in the registers, and a zero here.
pub(super) fn activity(hw: &Hw<'_>) -> Activity {
    let read = |reg| hw.regs.read32(reg);
    let status = read(regs::RBBM_STATUS);
    let head = read(regs::CP_RB_RPTR).wrapping_mul(4);
    let tail = read(regs::CP_RB_WPTR).wrapping_mul(4);
    Activity {
        head,
        tail,
        acthd: read(regs::CP_IB_BASE).into(),
        units: [!status, !read(regs::CP_STAT)],
        idle: head == tail && status & regs::GUI_ACTIVE == 0,
        waiting: false,
    }
}

/// Reads the errors, and clears them.
pub(super) fn report(hw: &Hw<'_>) -> Report {
    let activity = activity(hw);
    let [instdone, more_instdone] = activity.units;
    let status = hw.regs.read32(regs::GEN_INT_STATUS);
    let faults = status & interrupts::FAULTS;
    // All bits of a card that is gone read as one.
    if faults != 0 && status != u32::MAX {
        hw.regs.write32(regs::GEN_INT_STATUS, faults);
    }
    let mut report = Report {
        global: gart::take_error(hw.regs),
        ..Report::default()
    };
    report.engines[0] = Some(EngineReport {
        id: engine::ID,
        activity,
        eir: faults,
        esr: 0,
        ipeir: 0,
        ipehr: 0,
        instdone,
        more_instdone,
        instps: hw.regs.read32(regs::CP_CSQ_STAT),
        fetch: activity.acthd,
        batch: None,
        levels: None,
        fault: None,
        names: &names::NAMES,
    });
    report
}

/// Clears old faults at bring-up. The GART's record is cleared when the GART is enabled.
pub(super) fn forget(hw: &Hw<'_>) {
    hw.regs.write32(regs::GEN_INT_STATUS, interrupts::FAULTS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};
    use std::string::ToString;

    #[test]
    fn activity_decodes() {
        let mock = Mock::default();
        mock.set(0xe40, 0x8010_0040);
        mock.set(0x7c0, 0x8000_0800);
        mock.set(0x710, 0x10);
        mock.set(0x714, 0x50);
        mock.set(0x738, 0x0012_3000);
        let mut expected = Activity {
            head: 0x40,
            tail: 0x140,
            acthd: 0x12_3000,
            units: [0x7fef_ffbf, 0x7fff_f7ff],
            idle: false,
            waiting: false,
        };
        assert_eq!(activity(&mock.hw()), expected);
        // An empty ring with a busy unit is not idle; nor are idle units with commands left in the
        // ring.
        mock.set(0x710, 0x50);
        expected.head = 0x140;
        assert_eq!(activity(&mock.hw()), expected);
        mock.set(0xe40, 0x40);
        assert!(activity(&mock.hw()).idle);
        mock.set(0x714, 0x60);
        assert!(!activity(&mock.hw()).idle);
    }

    #[test]
    fn a_silent_device_is_read_and_not_written() {
        let mock = Mock::default();
        let r = report(&mock.hw());
        assert!(!r.is_error() && r.engines[0].is_some() && r.engines[1].is_none());
        // The only write is the index of the GART's registers.
        let writes = mock.take();
        let writes = writes.iter().filter(|a| matches!(a, Access::W(..)));
        assert_eq!(
            writes.collect::<std::vec::Vec<_>>(),
            [&Access::W(0x30, 0x18)]
        );
    }

    #[test]
    fn both_faults_at_once_are_cleared_and_a_card_that_is_gone_is_left_alone() {
        let mock = Mock::default();
        mock.set(0x44, 1 << 21 | 1 << 16);
        assert_eq!(report(&mock.hw()).engines[0].unwrap().eir, 0x21_0000);
        assert_eq!(mock.written(0x44), [0x21_0000]);
        let gone = Mock::default();
        gone.gone.set(true);
        let _ = report(&gone.hw());
        assert_eq!(gone.written(0x44), []);
    }

    #[test]
    fn faults_are_told_and_cleared() {
        let mock = Mock::default();
        mock.set(0x44, 1 << 21 | 1 << 25);
        mock.set(0xe40, 1 << 20 | 1 << 31);
        mock.set(0x34, 0x1001);
        let r = report(&mock.hw());
        assert!(r.is_error());
        // The completion is not an error, and stays.
        assert_eq!(mock.written(0x44), [1 << 21]);
        assert_eq!(mock.written(0x34), [0]);
        let text = r.to_string();
        assert!(text.contains("memory protection"), "{text}");
        assert!(text.contains("VAP GUI"), "{text}");
        assert!(text.contains("device: 0x00001001"), "{text}");
    }
}
