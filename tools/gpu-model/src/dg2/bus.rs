// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device as a transport sees it: its BARs.

use super::config::{BAR_GTTMMADR, BAR_LMEM, GTTMMADR_SIZE};
use super::device::{Bars, Dg2, Dg2Chip};
use super::ggtt;
use super::lint::Rule;
use super::regs::MMIO_SIZE;
use crate::counters::Counter;
use crate::device::Bus;
use crate::model::{Region, SharedArea};

impl Bus for Dg2Chip {
    fn name(_: &Bars) -> &'static str {
        "dg2"
    }

    fn ids(bars: &Bars) -> (u16, u16) {
        (0x8086, bars.cfg.device_id)
    }

    fn regions(bars: &Bars) -> Vec<Region> {
        let table = bars.ggtt.file().map(|file| SharedArea {
            offset: ggtt::OFFSET,
            size: ggtt::SIZE,
            file,
        });
        let memory = bars.lmem.file().map(|file| SharedArea {
            offset: 0,
            size: bars.cfg.aperture,
            file,
        });
        let region = |bar, size, shared| Region { bar, size, shared };
        vec![
            region(BAR_GTTMMADR, GTTMMADR_SIZE, table),
            region(BAR_LMEM, bars.cfg.aperture, memory),
        ]
    }

    fn read(device: &Dg2, bar: u32, offset: u64, buf: &mut [u8]) {
        if bar == BAR_LMEM {
            device.lmem_read(offset, buf);
        } else if device.too_wide("read", offset, buf.len()) {
            buf.fill(0xff);
        } else {
            device.dwords_read(offset, buf);
        }
    }

    fn write(device: &Dg2, bar: u32, offset: u64, data: &[u8]) {
        if bar == BAR_LMEM {
            device.lmem_write(offset, data);
        } else if !device.too_wide("write", offset, data.len()) {
            device.dwords_write(offset, data);
        }
    }

    /// Registers, then nothing, then the global table.
    fn dword(device: &Dg2, at: u64) -> u32 {
        if at < u64::from(MMIO_SIZE) {
            return device.mmio_read32(at as u32);
        }
        let core = &mut device.core().0;
        let table = at.checked_sub(ggtt::OFFSET);
        match table {
            Some(_) => core.notes.count(Counter::GttReads),
            None => core.notes.undocumented(at as u32, false),
        }
        match table {
            _ if core.removed => !0,
            Some(place) => device.bars.ggtt.get_dword(place),
            None => 0,
        }
    }

    /// Entries of the table are quadwords, or their halves.
    fn set_dword(device: &Dg2, at: u64, value: u32) {
        if at < u64::from(MMIO_SIZE) {
            device.mmio_write32(at as u32, value);
            return;
        }
        let core = &mut device.core().0;
        let Some(place) = at.checked_sub(ggtt::OFFSET) else {
            core.notes.undocumented(at as u32, true);
            return;
        };
        core.notes.count(Counter::GttWrites);
        if !core.removed {
            device.bars.ggtt.set_dword(place, value);
        }
    }

    fn look(&mut self) {
        self.0.look_at_picture();
    }
}

impl Dg2 {
    /// True if an access to the global table is wider than an entry, which is reported; one that is not
    /// of dwords is reported first, and as a write it is nothing more.
    fn too_wide(&self, what: &str, offset: u64, len: usize) -> bool {
        if offset < ggtt::OFFSET || len <= 8 {
            return false;
        }
        if self.check_access(what, offset, len) || what == "read" {
            let lint = || format!("{offset:#x}+{len}");
            self.core().0.notes.lint(Rule::TableWidth, lint);
        }
        true
    }
}
