// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The memory controller: an address of the chip is in video memory, behind the GART, or nowhere.
//!
//! The document mentions a frame buffer and a GART and no register of either. The ranges of both
//! register families are from digest §5.2, the table of the PCIE GART from §4.4.
//!
//! Translations are cached and *never forgotten* until the driver says so (TX_GART_CNTL bit 8): a
//! driver that leaves the invalidation out always uses the old page.

use super::access::{Access, AccessLog, Unit};
use super::lint::Rule;
use super::vram::Vram;
use crate::memory::GuestMemory;
use std::collections::HashMap;
use std::sync::Arc;

/// Page size of the GART in bytes.
pub const PAGE: u64 = 4096;

/// Bits of a page-table entry (digest §4.4).
mod pte {
    pub const READABLE: u32 = 1 << 3;
    pub const WRITEABLE: u32 = 1 << 2;
    pub const RESERVED: u32 = 1 << 1;

    /// Bus address: bits 39:32 in 31:24, 31:12 in 23:4.
    pub fn address(entry: u32) -> u64 {
        u64::from(entry >> 24) << 32 | u64::from(entry & 0x00ff_fff0) << 8
    }
}

/// What becomes of addresses that the GART does not map (TX_GART_CNTL 2:1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmapped {
    /// They go out as they are.
    PassThrough,
    /// The first page of the range is taken instead.
    ClampLow,
    /// Writes are lost, reads get what lies at the discard address.
    Discard,
}

/// The GART as its registers describe it.
#[derive(Clone, Copy, Debug)]
pub struct Gart {
    /// It translates.
    pub enabled: bool,
    /// What happens outside of valid entries.
    pub unmapped: Unmapped,
    /// The permission bits of entries are looked at (TX_GART_CNTL bit 5); if not, they all permit.
    /// A driver does not set it, and its entries for nothing have neither bit: those never permit.
    pub check: bool,
    /// First address.
    pub start: u64,
    /// Address of the last page.
    pub last_page: u64,
    /// Address of the table.
    pub table: u64,
    /// Where discarded reads read.
    pub discard: u64,
}

/// Something that went wrong in an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Address.
    pub addr: u64,
    /// A write.
    pub write: bool,
    /// How.
    pub rule: Rule,
}

/// Pages of a range that is only told of.
const TOUCHED: u64 = 1 << 16;

/// Cached entries; above this many all are forgotten.
const CAPACITY: usize = 1 << 18;

/// The memory controller.
pub struct Mc {
    vram: Arc<Vram>,
    memory: Arc<dyn GuestMemory>,
    /// First and last address of video memory.
    pub fb: (u64, u64),
    /// The GART.
    pub gart: Gart,
    /// Guest memory may be reached at all.
    pub bus_master: bool,
    tlb: HashMap<u64, u32>,
    /// The entry that was looked up last: most accesses are to the same page.
    last: Option<(u64, u32)>,
    faults: Vec<Fault>,
    /// The next access fails.
    pub fail_next: bool,
    /// What was accessed.
    pub log: AccessLog,
}

/// A byte, after the memory controller has decoded or translated its address.
enum Phys {
    /// Video memory, by offset.
    Vram(u64),
    /// The guest's memory, by bus address.
    Bus(u64),
    /// The access breaks this rule and reaches no memory.
    Nowhere(Rule),
}

impl Mc {
    /// As after power-on: nothing is mapped anywhere.
    pub fn new(vram: Arc<Vram>, memory: Arc<dyn GuestMemory>, keep: usize) -> Self {
        Mc {
            vram,
            memory,
            fb: (0, 0xffff),
            gart: Gart {
                enabled: false,
                unmapped: Unmapped::PassThrough,
                check: false,
                start: 0,
                last_page: 0,
                table: 0,
                discard: 0,
            },
            bus_master: true,
            tlb: HashMap::new(),
            last: None,
            faults: Vec::new(),
            fail_next: false,
            log: AccessLog::new(keep),
        }
    }

    /// The card's own memory.
    pub fn vram(&self) -> &Vram {
        &self.vram
    }

    /// Forgets all translations.
    pub fn flush(&mut self) {
        self.tlb.clear();
        self.last = None;
    }

    /// Number of cached translations.
    pub fn cached(&self) -> usize {
        self.tlb.len()
    }

    /// The faults since the last call.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// True if something went wrong since the last [`Self::take_faults`].
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Reads; what is nowhere reads as the discard address has it, or zero.
    pub fn read(&mut self, unit: Unit, addr: u64, buf: &mut [u8]) {
        self.log.push(Access::read(unit, addr, buf.len() as u64));
        self.get(addr, buf);
    }

    fn get(&mut self, addr: u64, buf: &mut [u8]) {
        let mut done = 0;
        while done < buf.len() {
            let at = addr + done as u64;
            let n = (buf.len() - done).min((PAGE - at % PAGE) as usize);
            let part = &mut buf[done..done + n];
            done += n;
            match self.place(at, n, false) {
                Phys::Vram(offset) => self.vram.read(offset, part),
                Phys::Bus(bus) if self.memory.read(bus, part).is_ok() => {}
                Phys::Bus(_) => {
                    part.fill(0);
                    self.fault(at, false, Rule::NoGuestMemory);
                }
                Phys::Nowhere(rule) => {
                    self.fault(at, false, rule);
                    self.discarded(at, part);
                }
            }
        }
    }

    /// One little-endian dword.
    pub fn read32(&mut self, unit: Unit, addr: u64) -> u32 {
        let mut b = [0; 4];
        self.read(unit, addr, &mut b);
        u32::from_le_bytes(b)
    }

    /// Writes; what is nowhere is lost.
    pub fn write(&mut self, unit: Unit, addr: u64, data: &[u8]) {
        self.log.push(Access::write(unit, addr, data.len() as u64));
        self.set(addr, data);
    }

    fn set(&mut self, addr: u64, data: &[u8]) {
        let mut done = 0;
        while done < data.len() {
            let at = addr + done as u64;
            let n = (data.len() - done).min((PAGE - at % PAGE) as usize);
            let part = &data[done..done + n];
            done += n;
            match self.place(at, n, true) {
                Phys::Vram(offset) => self.vram.write(offset, part),
                Phys::Bus(bus) if self.memory.write(bus, part).is_ok() => {}
                Phys::Bus(_) => self.fault(at, true, Rule::NoGuestMemory),
                Phys::Nowhere(rule) => self.fault(at, true, rule),
            }
        }
    }

    /// Says that a unit that draws nothing here would access a range.
    pub fn touch(&mut self, access: Access) {
        self.log.push(access);
        let mut at = access.addr;
        // A range of gigabytes is told by its beginning.
        for _ in 0..TOUCHED {
            if at >= access.end() {
                break;
            }
            let next = (at / PAGE + 1) * PAGE;
            let len = next.min(access.end()) - at;
            if let Phys::Nowhere(rule) = self.place(at, len as usize, access.write) {
                self.fault(at, access.write, rule);
            }
            at = next;
        }
    }

    /// Reads again what was said to be accessed: nothing is told of it.
    pub fn peek(&mut self, addr: u64, buf: &mut [u8]) {
        match self.in_vram(addr, buf.len()) {
            Some(offset) => self.vram.read(offset, buf),
            None => self.untold(|mc| mc.get(addr, buf)),
        }
    }

    /// Writes what was said to be accessed: nothing is told of it.
    pub fn poke(&mut self, addr: u64, data: &[u8]) {
        match self.in_vram(addr, data.len()) {
            Some(offset) => self.vram.write(offset, data),
            None => self.untold(|mc| mc.set(addr, data)),
        }
    }

    /// Returns the offset in video memory of a range that lies in it.
    fn in_vram(&self, addr: u64, len: usize) -> Option<u64> {
        let offset = addr.checked_sub(self.fb.0)?;
        let last = addr.checked_add(len as u64)?.checked_sub(1)?;
        (last <= self.fb.1 && self.vram.contains(offset, len)).then_some(offset)
    }

    /// Accesses memory without a fault, and without the one that is to be injected next.
    fn untold(&mut self, access: impl FnOnce(&mut Self)) {
        let (faults, fail_next) = (self.faults.len(), std::mem::take(&mut self.fail_next));
        access(self);
        self.faults.truncate(faults);
        self.fail_next = fail_next;
    }

    fn fault(&mut self, addr: u64, write: bool, rule: Rule) {
        // The first faults of a kind are reported; more would not help.
        if self.faults.len() < 16 {
            self.faults.push(Fault { addr, write, rule });
        }
    }

    /// Fills in the data of a discarded read.
    fn discarded(&self, at: u64, part: &mut [u8]) {
        let discard = self.gart.discard + at % PAGE;
        let offset = discard.wrapping_sub(self.fb.0);
        let usable = self.gart.enabled && self.gart.unmapped == Unmapped::Discard;
        if usable && self.in_fb(discard) && self.vram.contains(offset, part.len()) {
            self.vram.read(offset, part);
        } else {
            part.fill(0);
        }
    }

    fn in_fb(&self, addr: u64) -> bool {
        addr >= self.fb.0 && addr <= self.fb.1
    }

    /// Finds one page's worth of an access, which does not cross a page.
    fn place(&mut self, addr: u64, len: usize, write: bool) -> Phys {
        if std::mem::take(&mut self.fail_next) {
            return Phys::Nowhere(Rule::InjectedFault);
        }
        if self.in_fb(addr) {
            let offset = addr - self.fb.0;
            return if self.vram.contains(offset, len) {
                Phys::Vram(offset)
            } else {
                Phys::Nowhere(Rule::BeyondVram)
            };
        }
        let g = self.gart;
        let mut page = addr / PAGE;
        if !g.enabled {
            return Phys::Nowhere(Rule::Unmapped);
        }
        if page < g.start / PAGE || page > g.last_page / PAGE {
            match g.unmapped {
                Unmapped::PassThrough => return self.bus(addr),
                Unmapped::ClampLow => page = g.start / PAGE,
                Unmapped::Discard => return Phys::Nowhere(Rule::Unmapped),
            }
        }
        let Some(entry) = self.entry(page) else {
            return Phys::Nowhere(Rule::TableOutside);
        };
        if entry & pte::RESERVED != 0 {
            self.fault(addr, write, Rule::PteReserved);
        }
        let any = pte::READABLE | pte::WRITEABLE;
        let wanted = if write { pte::WRITEABLE } else { pte::READABLE };
        let allowed = if g.check { entry & wanted } else { entry & any };
        if allowed == 0 {
            return Phys::Nowhere(Rule::GartUnbound);
        }
        self.bus(pte::address(entry) + addr % PAGE)
    }

    fn bus(&self, addr: u64) -> Phys {
        if self.bus_master {
            Phys::Bus(addr)
        } else {
            Phys::Nowhere(Rule::NoBusMaster)
        }
    }

    /// The entry of a page in the GART's range; `None` if the table does not reach into video memory.
    fn entry(&mut self, page: u64) -> Option<u32> {
        if let Some((_, entry)) = self.last.filter(|(last, _)| *last == page) {
            return Some(entry);
        }
        let entry = self.looked_up(page)?;
        self.last = Some((page, entry));
        Some(entry)
    }

    fn looked_up(&mut self, page: u64) -> Option<u32> {
        if let Some(entry) = self.tlb.get(&page) {
            return Some(*entry);
        }
        let at = self.gart.table + (page - self.gart.start / PAGE) * 4;
        let offset = at.checked_sub(self.fb.0).filter(|_| self.in_fb(at))?;
        if !self.vram.contains(offset, 4) {
            return None;
        }
        let mut b = [0; 4];
        self.vram.read(offset, &mut b);
        let entry = u32::from_le_bytes(b);
        if self.tlb.len() >= CAPACITY {
            self.tlb.clear();
        }
        self.tlb.insert(page, entry);
        Some(entry)
    }
}
