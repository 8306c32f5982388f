// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The device as a transport sees it: configuration space with the test capability
//! ([`crate::test_capability`]) in it, BARs of any access size, reset, report.

use super::threads::Shared;
use super::{Chip, Device, PowerOn};
use crate::clock::Clock;
use crate::counters::Counter;
use crate::model::{GpuModel, Region};
use crate::test_capability::{command, Action, Reach, COMMAND, OFFSET, SIZE};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// What lies behind a chip's BARs.
pub trait Bus: Chip {
    /// Its name on the command line.
    fn name(bars: &Self::Bars) -> &'static str;
    /// PCI vendor and device.
    fn ids(bars: &Self::Bars) -> (u16, u16);
    /// Its BARs.
    fn regions(bars: &Self::Bars) -> Vec<Region>;
    /// True when it has an MSI capability.
    fn has_msi(_bars: &Self::Bars) -> bool {
        true
    }
    /// Reads from a BAR that there is, inside of it.
    fn read(device: &Device<Self>, bar: u32, offset: u64, buf: &mut [u8]);
    /// Writes to a BAR that there is, inside of it.
    fn write(device: &Device<Self>, bar: u32, offset: u64, data: &[u8]);
    /// A dword of the BAR with the registers.
    fn dword(device: &Device<Self>, at: u64) -> u32 {
        device.mmio_read32(at as u32)
    }
    /// Sets a dword of the BAR with the registers.
    fn set_dword(device: &Device<Self>, at: u64, value: u32) {
        device.mmio_write32(at as u32, value);
    }
    /// True where the registers take accesses that are no aligned dwords.
    fn narrow(_bars: &Self::Bars, _offset: u64, _len: usize) -> bool {
        false
    }
    /// Returns the rest of the dword that a narrow write changes.
    fn rest(device: &Device<Self>, at: u64) -> u32 {
        Self::dword(device, at)
    }
    /// Looks once more at what a driver must leave alone, before a report or a judgement.
    fn look(&mut self) {}
}

/// A config read, with the test capability and the pending interrupt filled in.
fn config_read(core: &mut impl Chip, offset: usize, buf: &mut [u8]) {
    let parts = core.parts();
    parts.notes.count(Counter::ConfigReads);
    if parts.removed {
        buf.fill(0xff);
        return;
    }
    let pending = parts.line && !parts.pci.msi_enabled();
    parts.pci.set_intx_pending(pending);
    parts.pci.read(offset, buf);
    if let [byte] = buf {
        if let Some(value) = core.config_byte(offset) {
            *byte = value;
            return;
        }
    }
    let parts = core.parts();
    parts
        .test_capability
        .overlay(offset, buf, &parts.notes.counters);
}

fn config_write(core: &mut impl Chip, offset: usize, data: &[u8]) {
    let parts = core.parts();
    parts.notes.count(Counter::ConfigWrites);
    let within = offset.checked_sub(OFFSET).filter(|at| *at < SIZE);
    let dword = <[u8; 4]>::try_from(data).map(u32::from_le_bytes);
    if parts.removed {
        if let (Some(COMMAND), Ok(dword)) = (within, dword) {
            capability_write(core, COMMAND, dword & command::RETURN);
        }
        return;
    }
    if let (Some(at), Ok(dword)) = (within, dword) {
        capability_write(core, at, dword);
        return;
    }
    let before = parts.pci.clone();
    parts.pci.write(offset, data);
    core.config_written(&before, offset, data);
}

/// A dword written to the test capability, by offset from its start.
fn capability_write<C: Chip>(core: &mut C, offset: usize, data: u32) {
    let parts = core.parts();
    let reach = Reach {
        counters: &mut parts.notes.counters,
        faults: &mut parts.notes.faults,
        chaos: &mut parts.notes.chaos,
        engines: C::NAMES,
    };
    let action = parts.test_capability.write(offset, data, reach);
    if matches!(action, Some(Action::Return | Action::ReturnAndPull)) && parts.removed {
        core.power_on(PowerOn::Cold);
    }
    if matches!(action, Some(Action::Pull | Action::ReturnAndPull)) {
        core.remove();
    }
}

impl<C: Bus> Device<C> {
    pub(crate) fn build(core: C, bars: C::Bars, clock: Clock) -> Self {
        let mut sizes = [0; 7];
        for region in C::regions(&bars) {
            sizes[region.bar as usize] = region.size;
        }
        Device {
            shared: Arc::new(Shared::new(core, clock)),
            bars,
            sizes,
            threads: Mutex::new(Vec::new()),
        }
    }

    /// Reads the PCI configuration space.
    pub fn config_read_at(&self, offset: usize, buf: &mut [u8]) {
        config_read(&mut *self.core(), offset, buf);
    }

    /// Writes the PCI configuration space.
    pub fn config_write_at(&self, offset: usize, data: &[u8]) {
        config_write(&mut *self.core(), offset, data);
        self.shared.wake(!0);
    }

    /// True if an access lies in a region: no other one reaches the device.
    fn inside(&self, bar: u32, offset: u64, len: usize) -> bool {
        let size = self.sizes.get(bar as usize).copied().unwrap_or(0);
        let end = offset.checked_add(len as u64);
        end.is_some_and(|end| end <= size)
    }

    /// Returns whether an access to registers consists of aligned dwords, or is accepted anyway; reports others.
    pub(crate) fn check_access(&self, what: &str, offset: u64, len: usize) -> bool {
        let dwords = offset.is_multiple_of(4) && len.is_multiple_of(4);
        let fine = dwords || C::narrow(&self.bars, offset, len);
        if !fine {
            let mut core = self.core();
            let notes = core.parts().notes;
            notes.lint(C::BAD_ACCESS, || format!("{what} {offset:#x}+{len}"));
        }
        fine
    }

    /// A read of registers, of any size. Narrow ones see their part of the dword.
    pub(crate) fn dwords_read(&self, offset: u64, buf: &mut [u8]) {
        self.check_access("read", offset, buf.len());
        let mut at = 0;
        while at < buf.len() {
            let here = offset + at as u64;
            let value = C::dword(self, here & !3);
            let skip = (here % 4) as usize;
            let n = (4 - skip).min(buf.len() - at);
            buf[at..at + n].copy_from_slice(&value.to_le_bytes()[skip..skip + n]);
            at += n;
        }
    }

    /// A write of registers: dwords, or a part of one where it is taken.
    pub(crate) fn dwords_write(&self, offset: u64, data: &[u8]) {
        if !self.check_access("write", offset, data.len()) {
            return;
        }
        if offset.is_multiple_of(4) && data.len().is_multiple_of(4) {
            for (i, c) in data.chunks_exact(4).enumerate() {
                let value = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
                C::set_dword(self, offset + 4 * i as u64, value);
            }
            return;
        }
        let word = offset & !3;
        let skip = (offset % 4) as usize;
        let mut bytes = C::rest(self, word).to_le_bytes();
        let n = data.len().min(4 - skip);
        bytes[skip..skip + n].copy_from_slice(&data[..n]);
        C::set_dword(self, word, u32::from_le_bytes(bytes));
    }
}

impl<C: Bus> GpuModel for Device<C> {
    fn name(&self) -> &'static str {
        C::name(&self.bars)
    }

    fn regions(&self) -> Vec<Region> {
        C::regions(&self.bars)
    }

    fn has_msi(&self) -> bool {
        C::has_msi(&self.bars)
    }

    fn bar_read(&self, bar: u32, offset: u64, buf: &mut [u8]) {
        if self.inside(bar, offset, buf.len()) {
            C::read(self, bar, offset, buf);
        } else {
            buf.fill(0);
        }
    }

    fn bar_write(&self, bar: u32, offset: u64, data: &[u8]) {
        if self.inside(bar, offset, data.len()) {
            C::write(self, bar, offset, data);
        }
    }

    fn config_read(&self, offset: u64, buf: &mut [u8]) {
        self.config_read_at(offset as usize, buf);
    }

    fn config_write(&self, offset: u64, data: &[u8]) {
        self.config_write_at(offset as usize, data);
    }

    fn intx_disabled(&self) -> bool {
        self.core().parts().pci.intx_disabled()
    }

    fn reset(&self) {
        self.power_on();
    }

    fn start(&self) {
        self.start_engines();
    }

    fn stop(&self) {
        self.stop_engines();
        self.core().parts().notes.trace.flush();
    }

    fn report(&self) -> Value {
        let mut core = self.core();
        core.look();
        let (vendor, device) = C::ids(&self.bars);
        let device = format!("{vendor:04x}:{device:04x}");
        core.parts().notes.report(self.name(), &device)
    }

    fn strict_failure(&self) -> bool {
        let mut core = self.core();
        core.look();
        core.parts().notes.strict_failure()
    }

    fn registers(&self) -> Option<String> {
        let mut core = self.core();
        let ledger = core.parts().notes.ledger.as_ref()?;
        Some(ledger.lines(self.name()))
    }
}
