// SPDX-License-Identifier: GPL-2.0

//! Imported buffers, mapped for the device: the part of [`gem::ImportMap`](crate::gem::ImportMap)
//! that is on the device's list.

use kernel::{bindings, error::from_err_ptr, prelude::*, sync::Arc};

use super::{
    device::{DmaDevice, Mapped, Memory, Room},
    dma::{addresses, segments, Run},
    PAGE_SIZE,
};
use crate::{
    gem::Attachment,
    raw,
    resv::{Locked, Usage},
};

/// A mapped attachment.
///
/// The table is the exporter's, and is freed when the unbind unmaps it: its contents are copied
/// while it exists.
///
/// # Invariants
///
/// `mapped` is the table of an attachment, on the list of `dma` or unmapped.
pub(crate) struct Imported {
    mapped: Arc<Mapped>,
    runs: KVVec<Run>,
    dma: Arc<DmaDevice>,
}

impl Imported {
    /// Maps an attachment of `dma`.
    ///
    /// Errors: `ENODEV` after the unbind, `ENOMEM`, those of the exporter; `EBUSY` if the exporter
    /// is moving the buffer; `EINVAL` if its table is not whole pages for all of the buffer.
    ///
    /// # Safety
    ///
    /// `attachment` must be one of `dma`. `locked` must be the reservation of the buffer.
    pub(crate) unsafe fn new(
        attachment: &Arc<Attachment>,
        dma: &Arc<DmaDevice>,
        locked: &Locked<'_>,
    ) -> Result<Self> {
        let room = Room::new()?;
        // The exporter waits for these fences, with the reservation locked and the device kept
        // bound. The caller must wait for existing ones with neither; the exporter itself signals
        // those that it creates in the call, soon.
        if !locked.test_signaled(Usage::Kernel) {
            return Err(EBUSY);
        }
        let bonded = dma.enter()?;
        // SAFETY: The reservation is locked, and the device is bound.
        let table = from_err_ptr(unsafe {
            raw::dma_buf_map_attachment(
                attachment.as_raw(),
                bindings::dma_data_direction::DMA_BIDIRECTIONAL,
            )
        })?;
        // SAFETY: Just mapped, and unmapped below or later.
        let runs = unsafe { copy(table, attachment.buf().size()) }.inspect_err(|_| {
            // SAFETY: As above; no other code has it, and the reservation is locked.
            unsafe {
                raw::dma_buf_unmap_attachment(
                    attachment.as_raw(),
                    table,
                    bindings::dma_data_direction::DMA_BIDIRECTIONAL,
                )
            }
        })?;
        let memory = Memory::Imported {
            attachment: attachment.clone(),
            table,
        };
        // SAFETY: Just mapped.
        let mapped = unsafe { bonded.add(room, memory) };
        // INVARIANT: Mapped and on the list.
        Ok(Self {
            mapped,
            runs,
            dma: dma.clone(),
        })
    }

    /// Returns the runs of contiguous addresses.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.runs.iter().copied()
    }

    /// Returns each page with its address, from the page `first` on.
    pub(crate) fn addresses(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        addresses(self.runs(), first)
    }
}

/// Copies the runs of a table of `bytes` bytes. Entries beyond these are ignored.
///
/// Errors: `ENOMEM`, `EINVAL` if it does not hold whole pages, or is shorter.
///
/// # Safety
///
/// The table must be mapped during the call.
unsafe fn copy(table: *mut bindings::sg_table, bytes: usize) -> Result<KVVec<Run>> {
    let pages = bytes.div_ceil(PAGE_SIZE);
    // SAFETY: By the requirement of this function.
    let list = unsafe { segments(table) };
    let mut runs = KVVec::with_capacity(list.len(), GFP_KERNEL)?;
    let mut page = 0;
    for (address, len) in list {
        if address % PAGE_SIZE as u64 != 0 || len % PAGE_SIZE != 0 {
            return Err(EINVAL);
        }
        let run = Run {
            page,
            address,
            pages: (len / PAGE_SIZE).min(pages - page),
        };
        page += run.pages;
        runs.push(run, GFP_KERNEL)?;
    }
    if page != pages {
        return Err(EINVAL);
    }
    Ok(runs)
}

impl Drop for Imported {
    fn drop(&mut self) {
        self.dma.remove(&self.mapped);
    }
}
