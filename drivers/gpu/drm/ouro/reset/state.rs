// SPDX-License-Identifier: GPL-2.0

//! The error state: what an engine was doing when it was found to hang, for whoever wants to know
//! why. `Documentation/gpu/ouro/error-state.rst` says what is in it.
//!
//! It is taken while fences wait for the reset, so memory comes without waiting for any, or is left
//! out. The first one is kept until somebody clears it.

use kernel::{
    alloc::flags::{__GFP_NOWARN, GFP_NOWAIT},
    alloc::Flags,
    prelude::*,
};
use ouro_core::coherence::Cause;
use ouro_hw::{
    report::Report,
    translations::TranslationEntry,
    types::{EngineId, Seqno},
};
use ouro_kernel::task::Client;

use super::Why;
use crate::{
    gem::{caches, Backing, BoDevice},
    hardware::Hardware,
    submit::{line::Line, request::Captured, Engine, Request},
};

/// Bytes of a page, here: what memory is copied by.
pub(super) const PAGE: usize = 4096;
/// Pages of an object that are copied at most: 4 MiB.
const MAX_OBJECT: usize = 1024;
/// Pages of all objects that are copied at most: 16 MiB.
const MAX_ALL: usize = 4096;

/// Memory without waiting, and without a word if there is none.
fn nowait() -> Flags {
    GFP_NOWAIT | __GFP_NOWARN
}

/// What a piece of memory was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An object that user space has marked.
    User,
    /// The object with the batch.
    Batch,
    /// A ring.
    Ring,
}

/// A piece of memory.
pub(super) struct Piece {
    pub(super) engine: EngineId,
    pub(super) kind: Kind,
    /// Where it is for the GPU.
    pub(super) address: u64,
    /// Whole pages from its first byte.
    pub(super) pages: KVec<KVec<u8>>,
}

/// The request that hung.
pub(super) struct Suspect {
    pub(super) seqno: Option<Seqno>,
    pub(super) batch: Option<u64>,
    /// The first slot of the directory by which it is translated, as an address of the global table's space, where
    /// requests load directories.
    pub(super) directory: Option<u32>,
    /// Who has opened the file; nobody for the kernel's.
    pub(super) task: Option<Client>,
    pub(super) context: u64,
    pub(super) guilty: u32,
}

/// An error state.
pub(crate) struct ErrorState {
    pub(super) engine: EngineId,
    pub(super) why: Why,
    /// Nanoseconds since boot.
    pub(super) time: u64,
    /// Resets before.
    pub(super) resets: u64,
    pub(super) suspect: Option<Suspect>,
    pub(super) report: KBox<Report>,
    /// What units of engines held of the tables, or waited for.
    pub(super) translations: KVec<(EngineId, TranslationEntry)>,
    pub(super) pieces: KVec<Piece>,
    /// Pages that did not fit.
    pub(super) left_out: usize,
}

impl ErrorState {
    /// An error state without memory. `None` if there is none for it.
    pub(super) fn new(
        engine: &Engine,
        why: Why,
        time: u64,
        resets: u64,
        report: &Report,
    ) -> Option<Self> {
        Some(Self {
            engine: engine.hw().desc().id,
            why,
            time,
            resets,
            suspect: None,
            report: KBox::new(*report, nowait()).ok()?,
            translations: KVec::new(),
            pieces: KVec::new(),
            left_out: 0,
        })
    }

    /// Adds the request that hangs, and what it has marked.
    pub(super) fn add_request(&mut self, gpu: &BoDevice, request: &Request) {
        let context = request.context.as_ref();
        self.suspect = Some(Suspect {
            seqno: request.tracker.seqno(),
            batch: request.batch().map(|b| b.addr.0),
            directory: context.and_then(|c| c.directory()).map(|(slot, _)| slot.0),
            task: context.and_then(|c| c.holder()).map(|h| *h.task()),
            context: context.map_or(0, |c| c.key().0),
            // This time is not counted yet.
            guilty: context.map_or(0, |c| c.guilt().active() + 1),
        });
        let mut room = MAX_ALL;
        for marked in request.evidence().user.iter() {
            self.add_object(gpu, Kind::User, marked, &mut room);
        }
        if let Some(batch) = &request.evidence().batch {
            self.add_object(gpu, Kind::Batch, batch, &mut room);
        }
    }

    fn add_object(&mut self, gpu: &BoDevice, kind: Kind, from: &Captured, room: &mut usize) {
        let backing: &Backing = &from.backing;
        let all = from.pages.len();
        let first = from.pages.start as usize * PAGE;
        let wanted = all.min(MAX_OBJECT).min(*room);
        if from.stale {
            // It cannot fail: they are its pages.
            let range = first as u64..(first + wanted * PAGE) as u64;
            let _ = caches::flush(gpu, backing, range, Cause::Capture);
        }
        let got = self.add(kind, self.engine, from.address.0, wanted, |at, out| {
            backing.read(first + at, out)
        });
        *room -= got;
        self.left_out += all - got;
    }

    /// Adds what units of an engine hold of the tables, as far as there is room. The device is awake.
    pub(super) fn add_translations(&mut self, engine: &Engine, hardware: &Hardware) {
        let id = engine.hw().desc().id;
        engine.hw().translations(&hardware.hw(), &mut |entry| {
            // The log of a hang is worth something without them, too.
            let _ = self.translations.push((id, entry), nowait());
        });
    }

    /// Adds a ring of an engine.
    pub(super) fn add_ring(&mut self, engine: &Engine, line: &Line) {
        let desc = engine.hw().desc();
        let pages = desc.ring_bytes as usize / PAGE;
        let at = u64::from(line.ring_address().0);
        let got = self.add(Kind::Ring, desc.id, at, pages, |at, out| {
            line.read_ring(at, out)
        });
        self.left_out += pages - got;
    }

    /// Copies so many pages; returns how many could be.
    fn add(
        &mut self,
        kind: Kind,
        engine: EngineId,
        address: u64,
        wanted: usize,
        read: impl Fn(usize, &mut [u8]) -> Result,
    ) -> usize {
        let mut pages = KVec::new();
        for n in 0..wanted {
            let mut page = KVec::new();
            let copied = page
                .resize(PAGE, 0, nowait())
                .map_err(Error::from)
                .and_then(|()| read(n * PAGE, &mut page))
                .and_then(|()| pages.push(page, nowait()).map_err(Error::from));
            if copied.is_err() {
                break;
            }
        }
        let got = pages.len();
        let piece = Piece {
            engine,
            kind,
            address,
            pages,
        };
        match self.pieces.push(piece, nowait()) {
            Ok(()) => got,
            Err(_) => 0,
        }
    }
}
