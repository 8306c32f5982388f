// SPDX-License-Identifier: GPL-2.0

//! The error state: what an engine was doing when it hung, to find the cause of the hang.
//! `Documentation/gpu/ouro/error-state.rst` describes its contents.
//!
//! It is captured while fences wait for the reset, so memory is allocated without waiting, and
//! contents are left out if there is none. The first error state is kept until it is cleared.

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
    submit::{line::Line, lists::logical_ring::LogicalRing, request::Captured, Engine, Request},
};

/// Page size, in which memory is copied.
pub(super) const PAGE: usize = 4096;
/// Most pages copied of a BO: 4 MiB.
const MAX_OBJECT: usize = 1024;
/// Most pages copied of all BOs: 16 MiB.
const MAX_ALL: usize = 4096;

/// Allocation flags: do not wait, do not warn.
fn nowait() -> Flags {
    GFP_NOWAIT | __GFP_NOWARN
}

/// The origin of captured memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A BO that user space marked for capture.
    User,
    /// The BO with the batch.
    Batch,
    /// A ring.
    Ring,
    /// The context image of the request that hung, as the device saved it last.
    Image,
}

/// A piece of captured memory.
pub(super) struct Piece {
    pub(super) engine: EngineId,
    pub(super) kind: Kind,
    /// Its GPU address.
    pub(super) address: u64,
    /// Whole pages, from its first byte on.
    pub(super) pages: KVec<KVec<u8>>,
}

/// The request that hung.
pub(super) struct Suspect {
    pub(super) seqno: Option<Seqno>,
    pub(super) batch: Option<u64>,
    /// GGTT address of the directory by which it is translated, on chips where requests load
    /// directories.
    pub(super) directory: Option<u32>,
    /// The task that opened the file; `None` for the kernel's.
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
    /// Number of earlier resets.
    pub(super) resets: u64,
    pub(super) suspect: Option<Suspect>,
    pub(super) report: KBox<Report>,
    /// TLB entries and pending translations, by engine.
    pub(super) translations: KVec<(EngineId, TranslationEntry)>,
    pub(super) pieces: KVec<Piece>,
    /// Number of pages that were left out.
    pub(super) left_out: usize,
}

impl ErrorState {
    /// Creates an error state without captured memory. `None` if memory is short.
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

    /// Adds the request that hangs, and the BOs that it marked for capture.
    pub(super) fn add_request(&mut self, gpu: &BoDevice, request: &Request) {
        let context = request.context.as_ref();
        self.suspect = Some(Suspect {
            seqno: request.tracker.seqno(),
            batch: request.batch().map(|b| b.addr.0),
            directory: context.and_then(|c| c.directory()).map(|(slot, _)| slot.0),
            task: context.and_then(|c| c.holder()).map(|h| *h.task()),
            context: context.map_or(0, |c| c.key().0),
            // This hang is not counted yet.
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
            // It cannot fail: the range is within the BO.
            let range = first as u64..(first + wanted * PAGE) as u64;
            let _ = caches::flush(gpu, backing, range, Cause::Capture);
        }
        let got = self.add(kind, self.engine, from.address.0, wanted, |at, out| {
            backing.read(first + at, out)
        });
        *room -= got;
        self.left_out += all - got;
    }

    /// Adds an engine's TLB entries and pending translations, as far as there is memory. The device
    /// must be awake.
    pub(super) fn add_translations(&mut self, engine: &Engine, hardware: &Hardware) {
        let id = engine.hw().desc().id;
        engine.hw().translations(&hardware.hw(), &mut |entry| {
            // The error state is useful without them, too.
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

    /// Adds the context image of an execlist engine.
    pub(super) fn add_image(&mut self, engine: &Engine, logical_ring: &LogicalRing) {
        let pages = logical_ring.saved_bytes() as usize / PAGE;
        let at = u64::from(logical_ring.image_address().0);
        let id = engine.hw().desc().id;
        let got = self.add(Kind::Image, id, at, pages, |at, out| {
            logical_ring.read_image(at, out)
        });
        self.left_out += pages - got;
    }

    /// Copies `wanted` pages; returns how many were copied.
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
