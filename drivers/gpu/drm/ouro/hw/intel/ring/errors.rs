// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Errors and page faults: reading, decoding and clearing (SNB PRM V1P2 §5.7).
//!
//! A page fault does not stop an engine: writes are dropped, reads return zero (§5.7.2.1). The
//! device keeps only the first one until the driver clears it. An instruction error stops the
//! engine until its reset.

use super::{
    engine::{Kind, RingEngine},
    fifo,
    regs::{self, BatchAddr, Fault, RingCtl, RingHead},
    RingChip,
};
use crate::{
    io::Hw,
    report::{Activity, EngineReport, PageFault, Report},
};

/// The number of writes through the FIFO that clear an engine's errors.
const CLEAR_WRITES: u32 = 6;

/// Reads the `INSTDONE` words; the second one is all ones if the engine does not have it.
fn units(engine: &RingEngine, hw: &Hw<'_>) -> [u32; 2] {
    let more = engine.more_units.map_or(u32::MAX, |at| hw.regs.read32(at));
    [hw.regs.read32(engine.base.at(regs::INSTDONE)), more]
}

/// Reads the engine's current activity.
pub(crate) fn activity(engine: &RingEngine, hw: &Hw<'_>) -> Activity {
    let read = |reg| hw.regs.read32(engine.base.at(reg));
    let head = RingHead::from_bits(read(regs::RING_HEAD)).offset();
    let tail = read(regs::RING_TAIL) & regs::RING_TAIL_MASK;
    let ctl = RingCtl::from_bits(read(regs::RING_CTL));
    Activity {
        head,
        tail,
        acthd: read(regs::ACTHD).into(),
        units: units(engine, hw),
        idle: head == tail && read(regs::MI_MODE) & regs::MI_MODE_IDLE != 0,
        waiting: ctl.event_wait() || ctl.semaphore_wait(),
    }
}

/// Decodes a fault register.
fn page_fault(chip: &RingChip, value: u32) -> Option<PageFault> {
    let fault = Fault::from_bits(value);
    fault.valid().then_some(PageFault {
        addr: u64::from(fault.page()) << 12,
        global: fault.global(),
        source: fault.source(),
        kind: *chip.fault_kinds.get(usize::from(fault.kind()))?,
    })
}

/// Reads an engine's report. Changes nothing.
fn report_engine(engine: &RingEngine, hw: &Hw<'_>) -> EngineReport {
    let read = |reg| hw.regs.read32(engine.base.at(reg));
    let batch = BatchAddr::from_bits(read(regs::BB_ADDR));
    let error = |reg| if engine.errors == 0 { 0 } else { read(reg) };
    let activity = activity(engine, hw);
    let [instdone, more_instdone] = activity.units;
    EngineReport {
        id: engine.desc.id,
        activity,
        eir: error(regs::EIR),
        esr: error(regs::ESR),
        ipeir: read(regs::IPEIR),
        ipehr: read(regs::IPEHR),
        instdone,
        more_instdone,
        instps: read(regs::INSTPS),
        fetch: read(regs::DMA_FADD).into(),
        batch: batch.valid().then_some(u64::from(batch.dword()) << 2),
        levels: engine.details.map(|d| (d.levels)(hw)),
        fault: engine
            .fault
            .and_then(|at| page_fault(engine.chip, hw.regs.read32(at))),
        names: engine.names,
    }
}

/// Clears the errors of a report, from their source to the interrupt (§5.7.3). If the write FIFO
/// has no room, nothing is cleared, and the next report has the errors again.
fn clear_engine(engine: &RingEngine, hw: &Hw<'_>, report: &EngineReport) {
    if !report.is_error() || !fifo::has_room(engine.chip, hw, CLEAR_WRITES) {
        return;
    }
    if let (Some(at), Some(_)) = (engine.fault, &report.fault) {
        // The write makes room for the next fault and clears the other fields (§5.7.2.1).
        hw.regs.write32(at, 0);
    }
    if report.eir == 0 {
        return;
    }
    let at = |reg| engine.base.at(reg);
    hw.regs.write32(at(regs::IPEIR), report.ipeir);
    if engine.kind == Kind::Render {
        let tables = hw.regs.read32(engine.chip.table_errors);
        hw.regs.write32(engine.chip.table_errors, tables);
    }
    // All bits at once.
    hw.regs.write32(at(regs::EIR), report.eir);
    let stuck = hw.regs.read32(at(regs::EIR));
    if stuck != 0 && stuck != u32::MAX {
        // Only a reset clears the error, and the start of the engine after it unmasks the error
        // again. Until then it must not raise interrupts without end.
        let mask = hw.regs.read32(at(regs::EMR));
        if engine.chip.error_edge {
            // Masks all errors for a moment, so that a pending one causes a new edge.
            hw.regs.write32(at(regs::EMR), u32::MAX);
        }
        hw.regs.write32(at(regs::EMR), mask | stuck);
        hw.regs.write32(at(regs::EIR), stuck);
    }
    hw.regs
        .write32(engine.chip.interrupts.identity, engine.error);
}

/// Reads the errors of all engines and clears them.
pub(crate) fn report(chip: &RingChip, hw: &Hw<'_>) -> Report {
    let mut report = Report {
        // The kinds of translation errors since the last reset. How to clear them is not
        // documented.
        global: hw.regs.read32(chip.translation_errors),
        global_names: chip.translation_names,
        ..Report::default()
    };
    for (slot, engine) in report.engines.iter_mut().zip(chip.engines) {
        let said = report_engine(engine, hw);
        clear_engine(engine, hw, &said);
        *slot = Some(said);
    }
    report
}

/// Clears old errors and faults, at bring-up.
pub(crate) fn forget(chip: &RingChip, hw: &Hw<'_>) {
    for engine in chip.engines {
        clear_engine(engine, hw, &report_engine(engine, hw));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::{
            engine::{BLITTER, RENDER, VIDEO},
            names, CHIP,
        },
        mock::{Access, Mock},
        report::FaultKind,
        types::{EngineClass, EngineId},
    };
    use std::string::ToString;

    #[test]
    fn activity_decodes() {
        let mock = Mock::default();
        mock.set(0x2_2034, 0x0060_0120);
        mock.set(0x2_2030, 0x0000_0140);
        mock.set(0x2_2074, 0x0004_5678);
        mock.set(0x2_203c, 0x3001);
        mock.set(0x2_209c, 0);
        mock.set(0x2_206c, 0x7fff_fffe);
        let mut expected = Activity {
            head: 0x120,
            tail: 0x140,
            acthd: 0x4_5678,
            units: [0x7fff_fffe, 0xffff_ffff],
            idle: false,
            waiting: false,
        };
        assert_eq!(activity(&BLITTER, &mock.hw()), expected);
        // An engine is busy with commands in its ring, or with an active parser and an empty ring.
        mock.set(0x2_209c, 0x200);
        assert_eq!(activity(&BLITTER, &mock.hw()), expected);
        mock.set(0x2_2030, 0x120);
        expected.tail = 0x120;
        expected.idle = true;
        assert_eq!(activity(&BLITTER, &mock.hw()), expected);
        mock.set(0x2_209c, 0);
        expected.idle = false;
        // G-07: 11 event, 10 semaphore.
        for wait in [0x3801, 0x3401] {
            mock.set(0x2_203c, wait);
            expected.waiting = true;
            assert_eq!(activity(&BLITTER, &mock.hw()), expected);
        }
    }

    #[test]
    fn every_field_of_a_fault_decodes() {
        assert_eq!(page_fault(&CHIP, 0x1234_5ffe), None);
        // §5.7.2.1: 31:12 page, 11 global, 10:3 source, 0 valid.
        for (value, addr, global, source) in [
            (0x0000_0001u32, 0u64, false, 0u8),
            (0x0000_0801, 0, true, 0),
            (0x0000_07f9, 0, false, 0xff),
            (0xffff_f001, 0xffff_f000, false, 0),
            (0x1234_5843, 0x1234_5000, true, 8),
        ] {
            let fault = PageFault {
                addr,
                global,
                source,
                kind: FaultKind::InvalidEntry,
            };
            assert_eq!(page_fault(&CHIP, value), Some(fault));
        }
    }

    /// Returns a device whose FIFO has room for writes.
    fn device() -> Mock {
        let mock = Mock::default();
        mock.set(0x12_0008, 0x40);
        mock
    }

    #[test]
    fn without_room_nothing_is_cleared() {
        let mock = device();
        mock.set(0x12_0008, 20);
        mock.set(0x20b0, 1);
        assert!(report(&CHIP, &mock.hw()).is_error());
        assert!(report(&CHIP, &mock.hw()).is_error());
        assert_eq!(mock.written(0x20b0), []);
    }

    #[test]
    fn a_silent_device_is_read_and_not_written() {
        let mock = device();
        let r = report(&CHIP, &mock.hw());
        assert!(!r.is_error());
        assert!(r.engines[..3].iter().all(Option::is_some));
        assert!(r.engines[3..].iter().all(Option::is_none));
        assert!(!mock
            .take()
            .iter()
            .any(|a| matches!(a, Access::W(..) | Access::W64(..))));
    }

    #[test]
    fn an_error_is_cleared_from_its_source_to_the_interrupt() {
        let mock = device();
        mock.script(0x20b0, &[1, 0]);
        mock.set(0x2064, 0x55);
        mock.set(0x2024, 0x66);
        mock.fix(0x4094, 0x0010_0801);
        report(&CHIP, &mock.hw());
        let writes: std::vec::Vec<_> = mock
            .take()
            .into_iter()
            .filter(|a| matches!(a, Access::W(..)))
            .collect();
        assert_eq!(
            writes,
            [
                Access::W(0x4094, 0),
                Access::W(0x2064, 0x55),
                Access::W(0x2024, 0x66),
                Access::W(0x20b0, 1),
                // G-12: render error.
                Access::W(0x4_4018, 0x8),
            ]
        );
    }

    #[test]
    fn an_error_that_stays_is_masked() {
        let mock = device();
        mock.fix(0x1_20b0, 0x10);
        mock.set(0x1_20b4, 0xffff_ffee);
        let r = report(&CHIP, &mock.hw());
        assert_eq!(r.engines[2].unwrap().eir, 0x10);
        assert_eq!(mock.written(0x1_20b0), [0x10, 0x10]);
        assert_eq!(mock.written(0x1_20b4), [0xffff_fffe]);
        assert_eq!(mock.written(0x4_4018), [0x8000]);
    }

    #[test]
    fn each_engine_has_its_own_registers() {
        for (n, engine, base, fault, error) in [
            (0, &RENDER, 0x2000, 0x4094, 0x8),
            (1, &BLITTER, 0x2_2000, 0x4294, 0x0200_0000),
            (2, &VIDEO, 0x1_2000, 0x4194, 0x8000),
        ] {
            let mock = device();
            mock.set(base + 0xb0, 0x1);
            mock.set(base + 0xb8, 0x2);
            mock.set(base + 0x64, 0x3);
            mock.set(base + 0x68, 0x4);
            mock.set(base + 0x6c, 0x5);
            mock.set(base + 0x70, 0x6);
            mock.set(base + 0x78, 0x7);
            mock.set(base + 0x140, 0x0010_0041);
            mock.set(fault, 0x0020_0001);
            mock.set(0x40a0, 0x101);
            let r = report(&CHIP, &mock.hw());
            let e = r.engines[n].unwrap();
            assert_eq!((e.id, r.global), (engine.desc.id, 0x101));
            assert_eq!((e.eir, e.esr, e.ipeir, e.ipehr), (1, 2, 3, 4));
            assert_eq!((e.instdone, e.instps, e.fetch), (5, 6, 7));
            assert_eq!(e.batch, Some(0x0010_0040));
            assert_eq!(e.fault.map(|f| f.addr), Some(0x20_0000));
            assert_eq!(mock.written(0x4_4018), [error]);
            for (other, said) in r.engines.iter().flatten().enumerate() {
                assert_eq!(said.is_error(), other == n);
            }
        }
    }

    #[test]
    fn every_bit_has_its_word() {
        let id = EngineId {
            class: EngineClass::Render,
            instance: 0,
        };
        let base = EngineReport {
            id,
            activity: Activity::default(),
            eir: 0,
            esr: 0,
            ipeir: 0,
            ipehr: 0,
            instdone: u32::MAX,
            more_instdone: u32::MAX,
            instps: 0,
            fetch: 0,
            batch: None,
            levels: None,
            fault: None,
            names: &names::RENDER,
        };
        for (eir, word) in [(1, "(instruction)"), (0x10, "(page table)"), (2, "(bit 1)")] {
            let text = EngineReport { eir, ..base }.to_string();
            assert!(text.contains(word), "{text}");
        }
        for (n, word) in [(1, " AVS "), (16, " EU00 "), (31, " MA3 ")] {
            let text = EngineReport {
                instdone: !(1 << n),
                ..base
            }
            .to_string();
            assert!(text.contains(word), "{text}");
        }
        for (n, word) in [(0, " VF "), (30, " CS "), (31, " GAM ")] {
            let text = EngineReport {
                more_instdone: !(1 << n),
                ..base
            }
            .to_string();
            assert!(text.contains(word), "{text}");
        }
        for (n, word) in [
            "(invalid PTE)",
            "(context image: invalid PTE)",
            "(invalid PDE)",
            "(HWSP: invalid PTE)",
            "(VT-d fault)",
            "(context image: VT-d fault)",
            "(PDE: VT-d fault)",
            "(HWSP: VT-d fault)",
            "(page directory not loaded)",
        ]
        .into_iter()
        .enumerate()
        {
            let text = Report {
                global: 1 << n,
                global_names: names::TRANSLATION,
                ..Report::default()
            }
            .to_string();
            assert!(text.contains(word), "{text}");
        }
        let video = EngineReport {
            names: &crate::intel::processor::names::VIDEO,
            fault: page_fault(&CHIP, 0x0000_1043),
            ..base
        };
        assert!(video.to_string().contains("by unit 8 (VCS write)"));
    }

    #[test]
    fn old_errors_are_forgotten() {
        let mock = device();
        mock.script(0x20b0, &[1, 0]);
        mock.set(0x4294, 1);
        forget(&CHIP, &mock.hw());
        assert_eq!(mock.written(0x20b0), [1]);
        assert_eq!(mock.written(0x4294), [0]);
        assert_eq!(mock.written(0x4194), []);
    }
}
