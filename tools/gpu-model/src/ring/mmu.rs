// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Address translation of an engine: global table, two-level per-process table, stale TLBs
//! (SNB PRM V1P2 §2.2, §2.3, §4.6, §5.7.2.1).
//!
//! Detached from the device, so that a long blit can run without holding it locked: faults are
//! collected and latched into registers afterwards.

use crate::intel::gtt::PteArray;
use crate::intel::pte::{Pde, Pte, PteFormat, PAGE};
use crate::intel::tlb::{AddressSpace, Cached, Client, Tlb};
use crate::memory::GuestMemory;
use crate::ring::lint::Rule;
use crate::ring::writes::{WriteLog, Wrote};
use std::sync::Arc;

/// Entries in a page directory; 512 of them can be enabled, 2 GB (§4.6).
const DIRECTORY: usize = 512;

/// Why a translation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Valid bit 0 in a page-table entry.
    Page,
    /// Valid bit 0 in a page-directory entry, or an address past the directory.
    InvalidDirectory,
    /// The directory entry was never loaded: its group is disabled in PP_DCLV. Fatal.
    UnloadedDirectory,
    /// The entry points to no memory.
    BadData,
    /// The table is off.
    TableOff,
    /// Made up by a test.
    Injected,
}

/// A failed translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MmuFault {
    /// Graphics address.
    pub address: u32,
    /// Which table.
    pub space: AddressSpace,
    /// Unit that asked (private numbering on RCS and BCS, VCS PRM 1.1.9.4.6 on VCS).
    pub source: u32,
    /// Why.
    pub kind: FaultKind,
}

/// What a translation needs of the device.
#[derive(Clone)]
pub struct MemoryContext {
    /// Global table.
    pub gtt: Arc<dyn PteArray>,
    /// Guest memory.
    pub memory: Arc<dyn GuestMemory>,
    /// What its entries look like.
    pub pte: PteFormat,
    /// The per-process table of the engine that asks is on.
    pub ppgtt: bool,
    /// Streams cache translations.
    pub stream_tlb: bool,
    /// The global table is on.
    pub table_on: bool,
    /// The access is of a program's batch.
    pub program: bool,
    /// Whether data clients see the 32 KB pages of a directory entry with bit 1 (§2.3). Which
    /// clients do is nowhere said.
    pub big_pages: bool,
    /// Where writes of programs are listed.
    pub writes: WriteLog,
}

/// A rule that an access broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Which.
    pub rule: Rule,
    /// The address.
    pub address: u32,
    /// A program is responsible, whichever access shows it.
    pub program: bool,
}

/// Translation state of one engine.
pub struct Mmu {
    tlb: Tlb,
    directory: Vec<Option<Pde>>,
    faults: Vec<MmuFault>,
    notes: Vec<Note>,
    inject: bool,
    high: u64,
}

impl Mmu {
    /// With an empty directory.
    pub fn new(tlb: Tlb) -> Self {
        Mmu {
            tlb,
            directory: vec![None; DIRECTORY],
            faults: Vec::new(),
            notes: Vec::new(),
            inject: false,
            high: 0,
        }
    }

    /// After a graphics reset: the directory is gone, the TLB is not.
    pub fn after_reset(self) -> Self {
        Mmu::new(self.tlb)
    }

    /// The directory that was loaded is void.
    pub fn unload(&mut self) {
        self.directory.fill(None);
    }

    /// Pages that the stream's TLB holds, in order, with the space of each.
    pub fn stream_pages(&self) -> Vec<(AddressSpace, u32)> {
        self.tlb.stream_pages()
    }

    /// Forgets all cached translations.
    pub fn flush(&mut self) {
        self.tlb.flush();
    }

    /// Forgets what came from the global table.
    pub fn flush_global(&mut self) {
        self.tlb.flush_space(AddressSpace::Ggtt);
    }

    /// Number of cached translations, for tests.
    pub fn cached(&self) -> usize {
        self.tlb.len()
    }

    /// The next access faults.
    pub fn inject_fault(&mut self) {
        self.inject = true;
    }

    /// Takes the faults since the last call.
    pub fn take_faults(&mut self) -> Vec<MmuFault> {
        std::mem::take(&mut self.faults)
    }

    /// Takes the rules that were broken since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Takes the number of accesses above 4 GB since the last call.
    pub fn take_high(&mut self) -> u64 {
        std::mem::take(&mut self.high)
    }

    /// Collects a fault. The record keeps the first one anyway (§5.7.2.1), so a long blit over
    /// nothing need not keep one for each of its pages.
    fn fault(&mut self, fault: MmuFault) {
        if self.faults.len() < 256 {
            self.faults.push(fault);
        }
    }

    fn note(&mut self, rule: Rule, address: u32, program: bool) {
        // Bounded: a blit over a bad range must not collect one note per page without end.
        if self.notes.len() < 64 {
            self.notes.push(Note {
                rule,
                address,
                program,
            });
        }
    }

    /// Loads the directory (PP_DIR_BASE written): bits 31:16 of `base` are a 64-byte offset into
    /// the global table, each bit of `groups` enables sixteen entries (VCS PRM 1.1.2.1).
    pub fn load_directory(&mut self, gtt: &dyn PteArray, base: u32, groups: u32) {
        let first = (base >> 16) * 16;
        for (i, slot) in self.directory.iter_mut().enumerate() {
            let enabled = groups >> (i / 16) & 1 != 0;
            let index = first + i as u32;
            *slot = (enabled && index < gtt.len()).then(|| Pde(gtt.get(index)));
        }
    }

    fn walk(
        &mut self,
        cx: &MemoryContext,
        client: Client,
        space: AddressSpace,
        va: u32,
    ) -> Result<u32, FaultKind> {
        match space {
            AddressSpace::Ggtt => Ok(cx.gtt.get(va / PAGE)),
            AddressSpace::Ppgtt => {
                let slot = self.directory.get((va >> 22) as usize).copied();
                let pde = slot
                    .ok_or(FaultKind::InvalidDirectory)?
                    .ok_or(FaultKind::UnloadedDirectory)?;
                if !pde.valid() {
                    return Err(FaultKind::InvalidDirectory);
                }
                let entry = |n: u32| {
                    let mut b = [0; 4];
                    let at = cx.pte.table(pde) + u64::from(n) * 4;
                    cx.memory.read(at, &mut b).map_err(|_| FaultKind::BadData)?;
                    Ok(u32::from_le_bytes(b))
                };
                let own = entry((va >> 12) & 0x3ff)?;
                if !pde.big_pages() {
                    return Ok(own);
                }
                // Eight consecutive entries describe one naturally aligned 32 KB page (§2.3).
                let first = entry((va >> 12) & 0x3f8)?;
                let part = (va >> 12) & 7;
                let address = |entry| cx.pte.address(Pte(entry));
                let base = address(first) & !0x7fff;
                if address(first) != base || address(own) != base + u64::from(part) * 4096 {
                    self.note(Rule::BigPageUneven, va, false);
                }
                if cx.big_pages && client == Client::Data {
                    return Ok((first & 0xffff_8fff) | (part << 12));
                }
                Ok(own)
            }
        }
    }

    /// Translates one address; a failure is recorded.
    fn translate(
        &mut self,
        cx: &MemoryContext,
        client: Client,
        space: AddressSpace,
        va: u32,
        source: u32,
    ) -> Option<u64> {
        let space = if cx.ppgtt { space } else { AddressSpace::Ggtt };
        let page = va / PAGE;
        if self.inject {
            self.inject = false;
            self.fault(MmuFault {
                address: va,
                space,
                source,
                kind: FaultKind::Injected,
            });
            return None;
        }
        if !cx.table_on {
            self.fault(MmuFault {
                address: va,
                space,
                source,
                kind: FaultKind::TableOff,
            });
            return None;
        }
        let cached = match client {
            Client::Stream if !cx.stream_tlb => None,
            _ => self.tlb.get(client, space, page),
        };
        let pte = match cached {
            Some(hit) => {
                if hit.space != space && self.walk(cx, client, space, va) != Ok(hit.pte) {
                    // An entry that is stale as well is the driver's, who did not invalidate it.
                    let kept = self.walk(cx, client, hit.space, va) == Ok(hit.pte);
                    self.note(Rule::TlbAlias, va, hit.program && kept);
                }
                Ok(hit.pte)
            }
            None => {
                let pte = self.walk(cx, client, space, va);
                if let Ok(pte) = pte {
                    // §2.2.2.1, §2.3.2.1.
                    if Pte(pte).valid() && cx.pte.is_reserved(Pte(pte)) {
                        self.note(Rule::PteReserved, va, false);
                    }
                    let entry = Cached {
                        pte,
                        space,
                        program: cx.program,
                    };
                    self.tlb.fill(client, page, entry);
                }
                pte
            }
        };
        let kind = match pte {
            Ok(pte) if Pte(pte).valid() => {
                let page = cx.pte.address(Pte(pte));
                self.high += u64::from(page >> 32 != 0);
                return Some(page | u64::from(va % PAGE));
            }
            Ok(_) => FaultKind::Page,
            Err(kind) => kind,
        };
        self.fault(MmuFault {
            address: va,
            space,
            source,
            kind,
        });
        None
    }

    /// Runs `f(bus address, range of the buffer)` page by page; `None` for a page that faulted.
    fn pages(
        &mut self,
        cx: &MemoryContext,
        (client, space, source): (Client, AddressSpace, u32),
        va: u32,
        len: usize,
        mut f: impl FnMut(Option<u64>, std::ops::Range<usize>) -> bool,
    ) {
        let mut done = 0;
        while done < len {
            let at = va.wrapping_add(done as u32);
            let n = (len - done).min((PAGE - at % PAGE) as usize);
            let pa = self.translate(cx, client, space, at, source);
            if !f(pa, done..done + n) {
                let kind = FaultKind::BadData;
                self.fault(MmuFault {
                    address: at,
                    space,
                    source,
                    kind,
                });
            }
            done += n;
        }
    }

    /// Reads; what cannot be translated reads zero (§5.7.2.1).
    pub fn read(
        &mut self,
        cx: &MemoryContext,
        client: Client,
        space: AddressSpace,
        source: u32,
        va: u32,
        buf: &mut [u8],
    ) {
        let len = buf.len();
        self.pages(cx, (client, space, source), va, len, |pa, range| {
            let part = &mut buf[range];
            part.fill(0);
            match pa {
                Some(pa) if cx.memory.read(pa, part).is_err() => {
                    part.fill(0);
                    false
                }
                _ => true,
            }
        });
    }

    /// Writes; what cannot be translated is dropped (§5.7.2.1).
    pub fn write(
        &mut self,
        cx: &MemoryContext,
        client: Client,
        space: AddressSpace,
        source: u32,
        va: u32,
        data: &[u8],
    ) {
        if cx.program {
            cx.writes.push(Wrote::Memory {
                space: if cx.ppgtt { space } else { AddressSpace::Ggtt },
                address: va,
                bytes: data.len() as u32,
            });
        }
        self.pages(
            cx,
            (client, space, source),
            va,
            data.len(),
            |pa, range| match pa {
                Some(pa) => cx.memory.write(pa, &data[range]).is_ok(),
                None => true,
            },
        );
    }

    /// Translates an address that is fetched ahead, without using what is there.
    pub fn touch(
        &mut self,
        cx: &MemoryContext,
        client: Client,
        space: AddressSpace,
        source: u32,
        va: u32,
    ) {
        let _ = self.translate(cx, client, space, va, source);
    }
}
