// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Errors and faults, read and cleared (D:Error bits; digest §3.3 row 15, §5.12).
//!
//! A fault is latched once for the device, with an engine number that no source explains. It is
//! reported for the engine that it stopped: the first one whose reset register says so.

use super::{
    engine::ListEngine,
    fuses,
    gt_regs::{self as gt_reg, FaultData1, RingFault},
    names,
    regs::{self, RingCtl, RingHead},
};
use crate::{
    io::Hw,
    report::{Activity, EngineReport, FaultKind, PageFault, Report},
};

/// Bits of a ring's tail that are an offset.
const TAIL: u32 = 0x1f_fff8;

/// Combines two halves.
fn wide(engine: &ListEngine, hw: &Hw<'_>, low: u32, high: u32) -> u64 {
    u64::from(engine.read(hw, low)) | u64::from(engine.read(hw, high)) << 32
}

/// Returns what an engine is doing: the context that is loaded, if there is one.
pub(super) fn activity(engine: &ListEngine, hw: &Hw<'_>) -> Activity {
    let ctl = RingCtl::from_bits(engine.read(hw, regs::RING_CTL));
    let idle = engine.read(hw, regs::MI_MODE) & regs::MI_MODE_IDLE != 0;
    Activity {
        head: RingHead::from_bits(engine.read(hw, regs::RING_HEAD)).offset(),
        tail: engine.read(hw, regs::RING_TAIL) & TAIL,
        acthd: wide(engine, hw, regs::ACTHD, regs::ACTHD_UDW),
        units: [engine.read(hw, regs::INSTDONE), u32::MAX],
        idle,
        waiting: ctl.semaphore_wait() || ctl.event_wait(),
    }
}

/// Returns and clears the first fault, and its register's value.
fn fault(hw: &Hw<'_>) -> (u32, Option<PageFault>) {
    let raw = hw.regs.read32(gt_reg::RING_FAULT);
    let fault = RingFault::from_bits(raw);
    if raw == u32::MAX || !fault.valid() {
        return (0, None);
    }
    let low = hw.regs.read32(gt_reg::FAULT_TLB_DATA0);
    let data = FaultData1::from_bits(hw.regs.read32(gt_reg::FAULT_TLB_DATA1));
    hw.regs.write32(gt_reg::RING_FAULT, raw & !1);
    let found = PageFault {
        addr: u64::from(low) << 12 | u64::from(data.high()) << 44,
        global: data.global(),
        source: fault.source(),
        // The digest has no names for the kinds.
        kind: FaultKind::InvalidEntry,
    };
    (raw, Some(found))
}

fn report_of(engine: &ListEngine, hw: &Hw<'_>) -> EngineReport {
    let eir = engine.read(hw, regs::EIR);
    let report = EngineReport {
        id: engine.desc.id,
        activity: activity(engine, hw),
        eir,
        esr: engine.read(hw, regs::ESR),
        ipeir: engine.read(hw, regs::IPEIR),
        ipehr: engine.read(hw, regs::IPEHR),
        instdone: engine.read(hw, regs::INSTDONE),
        more_instdone: u32::MAX,
        instps: engine.read(hw, regs::INSTPS),
        fetch: wide(engine, hw, regs::DMA_FADD, regs::DMA_FADD_UDW),
        batch: match wide(engine, hw, regs::BB_ADDR, regs::BB_ADDR_UDW) & !7 {
            0 => None,
            batch => Some(batch),
        },
        levels: None,
        fault: None,
        names: &names::ENGINE,
    };
    if eir != 0 {
        // Errors that only a reset clears would be reported again, so they are masked.
        engine.write(hw, regs::EIR, eir);
        let stuck = engine.read(hw, regs::EIR);
        engine.write(hw, regs::EMR, !regs::ERROR_INSTRUCTION | stuck);
    }
    report
}

/// Reads and clears the errors of all engines. A lost device reports none.
pub(super) fn report(hw: &Hw<'_>) -> Report {
    let mut report = Report::default();
    let (global, mut fault) = fault(hw);
    report.global = global;
    report.global_names = names::FAULT;
    for (n, engine) in fuses::numbered(hw) {
        let Some(place) = report.engines.get_mut(n) else {
            continue;
        };
        let reset = engine.read(hw, regs::RESET_CTL);
        if reset == u32::MAX {
            continue;
        }
        let mut found = report_of(engine, hw);
        if reset & u32::from(regs::RESET_CATASTROPHE) != 0 {
            found.fault = fault.take();
        }
        *place = Some(found);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gen12::engine::BCS0, mock::Mock};

    fn probed(mock: &Mock) -> Hw<'_> {
        Hw {
            card: 0b11,
            ..mock.hw()
        }
    }

    #[test]
    fn activity_is_what_the_registers_say() {
        let mock = Mock::default();
        for (reg, value) in [
            (0x34, 0x0020_0108),
            (0x30, 0x140),
            (0x74, 0x4000),
            (0x5c, 0x7f00),
            (0x6c, 0xffff_fffe),
            (0x9c, 0x200),
            (0x3c, 0x400),
        ] {
            mock.set(0x2_2000 + reg, value);
        }
        assert_eq!(
            activity(&BCS0, &mock.hw()),
            Activity {
                head: 0x108,
                tail: 0x140,
                acthd: 0x7f00_0000_4000,
                units: [0xffff_fffe, 0xffff_ffff],
                idle: true,
                waiting: true,
            }
        );
    }

    #[test]
    fn a_fault_is_the_stopped_engines() {
        let mock = Mock::default();
        // Valid, source 0x12, engine 3; the address in pages; its top and the global bit.
        mock.set(0xcec4, 0x0000_3091);
        mock.set(0xceb8, 0x1234_5678);
        mock.set(0xcebc, 0x15);
        mock.set(0x2_20d0, 4);
        let report = report(&probed(&mock));
        let fault = report.engines[1].unwrap().fault.unwrap();
        assert_eq!(
            (fault.addr, fault.global, fault.source),
            (0x5123_4567_8000, true, 0x12)
        );
        assert_eq!(report.engines[0].unwrap().fault, None);
        assert_eq!((report.global, report.is_error()), (0x3091, true));
        assert_eq!(mock.written(0xcec4), [0x3090]);
        assert!(report.engines[2].is_none());
    }

    #[test]
    fn errors_are_cleared_and_stuck_ones_masked() {
        let mock = Mock::default();
        mock.fix(0x2_20b0, 1);
        mock.set(0x2_2140, 0x1008);
        let first = report(&probed(&mock)).engines[1].unwrap();
        assert_eq!((first.eir, first.batch), (1, Some(0x1008)));
        assert_eq!(mock.written(0x2_20b0), [1]);
        // I11: errors that cannot be cleared are masked until a reset.
        assert_eq!(mock.written(0x2_20b4), [0xffff_ffff]);
        let mock = Mock::default();
        mock.script(0x2_20b0, &[1, 0]);
        assert!(report(&probed(&mock)).is_error());
        assert_eq!(mock.written(0x2_20b4), [0xffff_fffe]);
    }

    #[test]
    fn silence_and_a_gone_card_are_no_error() {
        let mock = Mock::default();
        assert!(!report(&probed(&mock)).is_error());
        mock.gone.set(true);
        let gone = report(&probed(&mock));
        assert!(!gone.is_error() && gone.engines.iter().all(Option::is_none));
    }
}
