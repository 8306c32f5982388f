// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Starting work: the submission queue and its load (D:ELSP, B1 to B11).
//!
//! The queue keeps its elements (B9): elements of the last list beyond the new one's are cleared.
//! All writes are posted, and reach the engine in order; commands and images written before are
//! visible to it (S10).

use super::{
    descriptor::FORCE_RESTORE,
    engine::{ListEngine, ELEMENTS},
    regs::{self, ListControl},
};
use crate::{engine::Submission, generation::DeviceError, gt::Gt, io::Hw};

/// Writes an element, its low dword first (B3).
pub(super) fn element(engine: &ListEngine, hw: &Hw<'_>, n: u32, descriptor: u64) {
    let at = regs::SQ_CONTENTS.wrapping_add(n.wrapping_mul(8));
    engine.write(hw, at, descriptor as u32);
    engine.write(hw, at.wrapping_add(4), (descriptor >> 32) as u32);
}

/// Loads a list; an empty one switches the running context out, and the engine becomes idle (B4,
/// B13).
pub(super) fn submit(
    engine: &ListEngine,
    hw: &Hw<'_>,
    gt: &mut Gt,
    what: Submission<'_>,
) -> Result<(), DeviceError> {
    let Submission::List { entries, tails } = what else {
        return Err(DeviceError::Unsupported(
            "ring submission on an execlist engine",
        ));
    };
    if entries.len() > usize::from(ELEMENTS) {
        return Err(DeviceError::Unsupported(
            "more contexts than the ELSQ has entries",
        ));
    }
    if !gt.awake {
        return Err(DeviceError::Unsupported("submission without forcewake"));
    }
    let Some(used) = gt.listed.get_mut(usize::from(engine.slot)) else {
        return Err(DeviceError::Unsupported("no such engine"));
    };
    let before = core::mem::replace(used, entries.len() as u8);
    let mut n = 0u32;
    for entry in entries {
        let force = if entry.restore { FORCE_RESTORE } else { 0 };
        element(engine, hw, n, entry.descriptor | force);
        n = n.wrapping_add(1);
    }
    while n < u32::from(before) {
        element(engine, hw, n, 0);
        n = n.wrapping_add(1);
    }
    tails();
    let load = ListControl::new().with_load(true);
    engine.write(hw, regs::EXECLIST_CONTROL, load.into_bits());
    gt.counts.port_writes = gt.counts.port_writes.wrapping_add(1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Engine, ListEntry},
        gen12::engine::{ALL, BCS0},
        mock::{Access, Mock},
        types::RingOffset,
    };
    use std::{cell::Cell, vec::Vec};

    const fn entry(descriptor: u64, restore: bool) -> ListEntry {
        ListEntry {
            descriptor,
            tail: RingOffset(8),
            restore,
        }
    }

    fn list(entries: &[ListEntry]) -> Submission<'_> {
        let tails = &|| ();
        Submission::List { entries, tails }
    }

    fn awake() -> Gt {
        Gt {
            awake: true,
            ..Gt::default()
        }
    }

    #[test]
    fn a_list_is_written_and_then_taken() {
        let mock = Mock::default();
        let mut gt = awake();
        let entries = [entry(0x80_0123_4119, true), entry(0x100_0567_8119, false)];
        let what = list(&entries);
        BCS0.submit(&mock.hw(), &mut gt, what, &mock).unwrap();
        let w = Access::W;
        assert_eq!(
            mock.take(),
            [
                // Bit 2: the whole image of the first one is restored.
                w(0x2_2510, 0x0123_411d),
                w(0x2_2514, 0x80),
                w(0x2_2518, 0x0567_8119),
                w(0x2_251c, 0x100),
                w(0x2_2550, 1),
            ]
        );
        assert_eq!(gt.counts.port_writes, 1);
        // B9: the second element would run again.
        let what = list(&entries[..1]);
        BCS0.submit(&mock.hw(), &mut gt, what, &mock).unwrap();
        assert_eq!(
            mock.take(),
            [
                w(0x2_2510, 0x0123_411d),
                w(0x2_2514, 0x80),
                w(0x2_2518, 0),
                w(0x2_251c, 0),
                w(0x2_2550, 1),
            ]
        );
        // And now it need not be cleared any more.
        BCS0.submit(&mock.hw(), &mut gt, what, &mock).unwrap();
        assert_eq!(mock.take().len(), 3);
        // Preempt to idle.
        let none = list(&[]);
        BCS0.submit(&mock.hw(), &mut gt, none, &mock).unwrap();
        assert_eq!(
            mock.take(),
            [w(0x2_2510, 0), w(0x2_2514, 0), w(0x2_2550, 1)]
        );
    }

    #[test]
    fn tails_are_written_right_before_it_looks() {
        // D8: the whole image is saved when its context ends, with the tail that it had.
        let mock = Mock::default();
        let entries = [entry(1, false), entry(2, false)];
        let (calls, before) = (Cell::new(0), Cell::new(Vec::new()));
        let what = Submission::List {
            entries: &entries,
            tails: &|| {
                calls.set(calls.get() + 1);
                before.set(mock.take());
            },
        };
        BCS0.submit(&mock.hw(), &mut awake(), what, &mock).unwrap();
        assert_eq!(calls.get(), 1);
        assert_eq!(before.take().len(), 4, "both elements are there");
        assert_eq!(mock.take(), [Access::W(0x2_2550, 1)]);
    }

    #[test]
    fn engines_do_not_clear_each_others_elements() {
        let mock = Mock::default();
        let mut gt = awake();
        let entries = [entry(1, false); 8];
        for engine in ALL {
            let what = list(&entries);
            engine.submit(&mock.hw(), &mut gt, what, &mock).unwrap();
            assert_eq!(mock.take().len(), 17);
        }
        for engine in ALL {
            let what = list(&entries[..7]);
            engine.submit(&mock.hw(), &mut gt, what, &mock).unwrap();
            assert_eq!(mock.take().len(), 17);
        }
    }

    #[test]
    fn what_cannot_be_submitted_writes_nothing() {
        let mock = Mock::default();
        let mut gt = awake();
        let entries = [entry(1, false); 9];
        for (awake, what) in [
            (true, Submission::Tail(RingOffset(8))),
            (true, list(&entries)),
            (false, list(&entries[..1])),
        ] {
            gt.awake = awake;
            assert!(BCS0.submit(&mock.hw(), &mut gt, what, &mock).is_err());
        }
        assert_eq!(mock.take(), []);
        assert_eq!(gt.counts.port_writes, 0);
    }
}
