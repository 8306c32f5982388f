// SPDX-License-Identifier: GPL-2.0
//! The device as a transport sees it: BARs of any access size, reset, report.

use crate::model::{GpuModel, Region, SharedArea};
use crate::snb::config::{BAR0_SIZE, BAR4_SIZE};
use crate::snb::device::Snb;
use crate::snb::lint::Rule;
use crate::snb::regs::{reg, MMIO_SIZE};
use serde_json::Value;

impl GpuModel for Snb {
    fn name(&self) -> &'static str {
        "snb"
    }

    fn regions(&self) -> Vec<Region> {
        let shared = self.file.clone().map(|file| SharedArea {
            offset: u64::from(MMIO_SIZE),
            size: u64::from(self.gtt.len()) * 4,
            file,
        });
        vec![
            Region {
                bar: 0,
                size: BAR0_SIZE,
                shared,
            },
            Region {
                bar: 2,
                size: self.aperture,
                shared: None,
            },
            Region {
                bar: 4,
                size: u64::from(BAR4_SIZE),
                shared: None,
            },
        ]
    }

    fn has_msi(&self) -> bool {
        true
    }

    fn bar_read(&self, bar: u32, offset: u64, buf: &mut [u8]) {
        match bar {
            _ if !self.inside(bar, offset, buf.len()) => buf.fill(0),
            0 => self.bar0_read(offset as u32, buf),
            2 => self.aperture_read(offset as u32, buf),
            // The I/O BAR is legacy and not used; a removed card floats.
            _ => buf.fill(if self.core().removed { 0xff } else { 0 }),
        }
    }

    fn bar_write(&self, bar: u32, offset: u64, data: &[u8]) {
        match bar {
            _ if !self.inside(bar, offset, data.len()) => {}
            0 => self.bar0_write(offset as u32, data),
            2 => self.aperture_write(offset as u32, data),
            _ => {}
        }
    }

    fn config_read(&self, offset: u64, buf: &mut [u8]) {
        self.config_read_at(offset as usize, buf);
    }

    fn config_write(&self, offset: u64, data: &[u8]) {
        self.config_write_at(offset as usize, data);
    }

    fn intx_disabled(&self) -> bool {
        self.core().pci.intx_disabled()
    }

    fn reset(&self) {
        self.power_on();
    }

    fn start(&self) {
        self.start_engines();
    }

    fn stop(&self) {
        self.stop_engines();
        self.core().notes.trace.flush();
    }

    fn report(&self) -> Value {
        let mut core = self.core();
        core.look_at_screen_for_good();
        let device = format!("8086:{:04x}", core.cfg.device_id);
        core.notes.report("snb", &device)
    }

    fn strict_failure(&self) -> bool {
        let mut core = self.core();
        core.look_at_screen_for_good();
        core.notes.strict_failure()
    }

    fn registers(&self) -> Option<String> {
        let core = self.core();
        Some(core.notes.ledger.as_ref()?.lines("snb"))
    }
}

impl Snb {
    /// True if an access lies in a region: no other one reaches the device.
    fn inside(&self, bar: u32, offset: u64, len: usize) -> bool {
        let size = match bar {
            0 => BAR0_SIZE,
            2 => self.aperture,
            4 => u64::from(BAR4_SIZE),
            _ => 0,
        };
        offset
            .checked_add(len as u64)
            .is_some_and(|end| end <= size)
    }

    /// A BAR0 read of any size: registers below 2 MB, page-table entries above.
    fn bar0_read(&self, offset: u32, buf: &mut [u8]) {
        let aligned = offset.is_multiple_of(4) && buf.len().is_multiple_of(4);
        let mchbar = (reg::MCHBAR..reg::MCHBAR_END).contains(&offset);
        if !aligned && !mchbar {
            self.core().lint(Rule::BadAccess, || {
                format!("read {offset:#x}+{}", buf.len())
            });
        }
        // Narrow reads see their part of the dword.
        let mut at = 0;
        while at < buf.len() {
            let here = offset + at as u32;
            let word = here & !3;
            let value = match word.checked_sub(MMIO_SIZE) {
                None => self.mmio_read32(word),
                Some(pte) => self.gtt_read(pte / 4),
            };
            let skip = (here % 4) as usize;
            let n = (4 - skip).min(buf.len() - at);
            buf[at..at + n].copy_from_slice(&value.to_le_bytes()[skip..skip + n]);
            at += n;
        }
    }

    /// A BAR0 write of any size. Narrow writes reach the MCHBAR alias only (§3).
    fn bar0_write(&self, offset: u32, data: &[u8]) {
        if offset.is_multiple_of(4) && data.len().is_multiple_of(4) {
            for (i, c) in data.chunks_exact(4).enumerate() {
                let word = offset + 4 * i as u32;
                let value = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
                match word.checked_sub(MMIO_SIZE) {
                    None => self.mmio_write32(word, value),
                    Some(pte) => self.gtt_write(pte / 4, value),
                }
            }
            return;
        }
        let mchbar = (reg::MCHBAR..reg::MCHBAR_END).contains(&offset);
        if !mchbar {
            self.core().lint(Rule::BadAccess, || {
                format!("write {offset:#x}+{}", data.len())
            });
            return;
        }
        let word = offset & !3;
        let skip = (offset % 4) as usize;
        let mut bytes = self.mmio_read32(word).to_le_bytes();
        let n = data.len().min(4 - skip);
        bytes[skip..skip + n].copy_from_slice(&data[..n]);
        self.mmio_write32(word, u32::from_le_bytes(bytes));
    }
}
