// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Memory as an engine reaches it: through the global table or the context's own, to local memory or
//! the guest's. What fails is latched as a fault and stops the engine (digest §3.3 row 15; U3: DG2
//! recovers from none).

use super::core::Core;
use super::engine::{EngineId, Stop};
use super::ggtt::Ggtt;
use super::irq::vector;
use super::lint::Rule;
use super::lmem::Lmem;
use super::ppgtt::{walk, Walk};
use super::regs::{reg, ring};
use super::tlb::Page;
use crate::counters::Counter;
use crate::fault::Kind;
use crate::memory::GuestMemory;
use crate::trace::Event;
use std::sync::Arc;

/// A page or a byte, after translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phys {
    /// Local memory, by offset.
    Local(u64),
    /// The guest's memory, by bus address.
    System(u64),
    /// Reads zero, drops what is written.
    Null,
}

impl Phys {
    /// So many bytes further.
    pub fn plus(self, n: u64) -> Phys {
        match self {
            Phys::Local(a) => Phys::Local(a.wrapping_add(n)),
            Phys::System(a) => Phys::System(a.wrapping_add(n)),
            Phys::Null => Phys::Null,
        }
    }
}

/// The page table that translates a graphics address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressSpace {
    /// The GGTT: 4 GB.
    Ggtt,
    /// The PPGTT of the running context: 48 bits.
    Ppgtt,
}

/// A translation that failed; the engine has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Faulted;

/// What the engines reach.
pub(crate) struct Memories {
    pub ggtt: Arc<Ggtt>,
    pub lmem: Arc<Lmem>,
    pub guest: Arc<dyn GuestMemory>,
    pub bus_master: bool,
}

impl Memories {
    /// Reads at a translated place, inside one page. False if nothing answers.
    pub fn read(&self, at: Phys, buf: &mut [u8]) -> bool {
        match at {
            Phys::Null => buf.fill(0),
            Phys::Local(a) => self.lmem.read(a, buf),
            Phys::System(a) => {
                if !self.bus_master || self.guest.read(a, buf).is_err() {
                    buf.fill(0);
                    return false;
                }
            }
        }
        true
    }

    /// Writes at a translated place, inside one page. False if nothing answers.
    pub fn write(&self, at: Phys, data: &[u8]) -> bool {
        match at {
            Phys::Null => true,
            Phys::Local(a) => {
                self.lmem.write(a, data);
                true
            }
            Phys::System(a) => self.bus_master && self.guest.write(a, data).is_ok(),
        }
    }
}

/// Kind of a fault in RING_FAULT bits 2:1. The document has none; the numbers are those of Gen8.
mod kind {
    pub const INVALID: u32 = 0;
    pub const NO_WRITE: u32 = 2;
}

impl Core {
    /// Root of the running context's table.
    pub fn root(&self, e: EngineId) -> u64 {
        u64::from(self.ering(e, ring::PDP0)) | u64::from(self.ering(e, ring::PDP0 + 4)) << 32
    }

    /// Translates one address.
    pub fn translate(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        write: bool,
    ) -> Result<Phys, Faulted> {
        if self.notes.inject(Kind::ForgetTlb, e.name()).is_some() {
            self.engine(e).tlb.flush();
        }
        if self.notes.inject(Kind::PageFault, e.name()).is_some() {
            self.engine(e).fault_next = true;
        }
        if std::mem::take(&mut self.engine(e).fault_next) {
            return Err(self.fault(e, space, va, kind::INVALID, false));
        }
        let found = match space {
            AddressSpace::Ggtt => self.ggtt_page(va),
            AddressSpace::Ppgtt => self.ppgtt_page(e, va),
        };
        let Some(page) = found else {
            return Err(self.fault(e, space, va, kind::INVALID, true));
        };
        if write && !page.writable {
            return Err(self.fault(e, space, va, kind::NO_WRITE, true));
        }
        if matches!(page.at, Phys::Local(a) if a >= self.mem.lmem.ccs_base()) {
            self.notes
                .lint(Rule::BeyondLocal, || format!("{} {va:#x}", e.name()));
            return Ok(Phys::Null);
        }
        Ok(page.at.plus(va & 0xfff))
    }

    fn ggtt_page(&self, va: u64) -> Option<Page> {
        if va >> 32 != 0 {
            return None;
        }
        let pte = self.mem.ggtt.get(va >> 12);
        let at = if pte.local() {
            Phys::Local(pte.address())
        } else {
            Phys::System(pte.address())
        };
        pte.present().then_some(Page { at, writable: true })
    }

    fn ppgtt_page(&mut self, e: EngineId, va: u64) -> Option<Page> {
        // Bits 63:48 do not count: the upstream driver and Mesa leave them zero above half of the
        // space too, where others repeat bit 47.
        let va = va & 0xffff_ffff_ffff;
        if let Some(page) = self.engine(e).tlb.get(va >> 12) {
            return Some(page);
        }
        let root = self.root(e);
        let mut rules = Vec::new();
        let found = walk(&self.mem.lmem, root, va, &mut rules);
        for (rule, detail) in rules {
            // The driver writes the tables, whichever client makes the access.
            let client = std::mem::take(&mut self.notes.client);
            self.notes
                .lint(rule, || format!("{} {va:#x} {detail:#x}", e.name()));
            self.notes.client = client;
        }
        match found {
            Walk::Missing(_) => None,
            Walk::Mapped(page) => {
                self.engine(e).tlb.put(va >> 12, page);
                Some(page)
            }
        }
    }

    /// Latches a fault, unless an older one is there, and stops the engine.
    fn fault(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        kind: u32,
        tell: bool,
    ) -> Faulted {
        self.notes.count(Counter::PageFaults);
        self.notes.record(|| Event::PageFault {
            engine: e.name(),
            address: va,
        });
        if tell {
            self.notes.lint(Rule::PageFault, || {
                format!("{} {space:?} {va:#x} kind {kind}", e.name())
            });
        }
        if self.get(reg::RING_FAULT) & 1 == 0 {
            self.set(reg::RING_FAULT, 1 | kind << 1 | e.fault_number() << 12);
            self.set(reg::FAULT_TLB_DATA0, (va >> 12) as u32);
            let global = u32::from(space == AddressSpace::Ggtt) << 4;
            self.set(reg::FAULT_TLB_DATA1, (va >> 44) as u32 & 0xf | global);
        }
        self.engine(e).stop = Stop::Fault;
        let control = self.ering(e, ring::RESET_CTL);
        self.set_ering(e, ring::RESET_CTL, control | super::reset::CAT_ERROR);
        self.event(e, vector::PAGE_FAULT);
        Faulted
    }

    /// Reports memory that does not answer; the access reads zero or is dropped.
    fn no_answer(&mut self, e: EngineId, va: u64) {
        let rule = if self.mem.bus_master {
            Rule::NoGuestMemory
        } else {
            Rule::NoBusMaster
        };
        self.notes.lint(rule, || format!("{} {va:#x}", e.name()));
    }

    /// Reads memory as an engine.
    pub fn load(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        buf: &mut [u8],
    ) -> Result<(), Faulted> {
        let mut done = 0;
        while done < buf.len() {
            let here = va.wrapping_add(done as u64);
            let n = (buf.len() - done).min((4096 - (here & 0xfff)) as usize);
            let at = self.translate(e, space, here, false)?;
            if !self.mem.read(at, &mut buf[done..done + n]) {
                self.no_answer(e, here);
            }
            done += n;
        }
        Ok(())
    }

    /// Reads memory without a fault: false where nothing is mapped.
    pub fn peek(&mut self, e: EngineId, space: AddressSpace, va: u64, buf: &mut [u8]) -> bool {
        let page = match space {
            AddressSpace::Ggtt => self.ggtt_page(va),
            AddressSpace::Ppgtt => self.ppgtt_page(e, va),
        };
        // Lines do not cross pages.
        page.is_some_and(|p| self.mem.read(p.at.plus(va & 0xfff), buf))
    }

    /// One dword of memory as an engine.
    pub fn load32(&mut self, e: EngineId, space: AddressSpace, va: u64) -> Result<u32, Faulted> {
        let mut b = [0; 4];
        self.load(e, space, va, &mut b)?;
        Ok(u32::from_le_bytes(b))
    }

    /// One quadword of memory as an engine.
    pub fn load64(&mut self, e: EngineId, space: AddressSpace, va: u64) -> Result<u64, Faulted> {
        let mut b = [0; 8];
        self.load(e, space, va, &mut b)?;
        Ok(u64::from_le_bytes(b))
    }

    /// Writes memory as an engine, at once.
    pub fn store(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        data: &[u8],
    ) -> Result<(), Faulted> {
        for (at, range) in self.pieces(e, space, va, data.len(), true)? {
            if !self.mem.write(at, &data[range]) {
                self.no_answer(e, va);
            }
        }
        Ok(())
    }

    /// The places of a range of addresses, page by page; nothing is accessed.
    pub fn pieces(
        &mut self,
        e: EngineId,
        space: AddressSpace,
        va: u64,
        len: usize,
        write: bool,
    ) -> Result<Vec<(Phys, std::ops::Range<usize>)>, Faulted> {
        let mut all = Vec::new();
        let mut done = 0;
        while done < len {
            let here = va.wrapping_add(done as u64);
            let n = (len - done).min((4096 - (here & 0xfff)) as usize);
            all.push((self.translate(e, space, here, write)?, done..done + n));
            done += n;
        }
        Ok(all)
    }

    /// Forgets an engine's translations.
    pub fn flush_tlb(&mut self, e: EngineId) {
        self.notes.count(Counter::TlbFlushes);
        self.engine(e).tlb.flush();
    }
}
