// SPDX-License-Identifier: GPL-2.0

//! Buffers of others, mapped for our device: the part of [`gem::ImportMap`](crate::gem::ImportMap)
//! that the list of the device knows.

use kernel::{bindings, prelude::*, sync::Arc};

use super::{
    device::{DmaDevice, Mapped, Memory, Room},
    dma::{addresses, segments, Run},
    PAGE_SIZE,
};
use crate::{gem::Attachment, raw, resv::Locked};

/// A mapped attachment.
///
/// The table is the exporter's, and gone when the unbind has unmapped it: what it says is copied
/// while it is there.
///
/// # Invariants
///
/// `mapped` is the table of `attachment`, on the list of `dma` or unmapped.
pub(crate) struct Imported {
    mapped: Option<Arc<Mapped>>,
    runs: KVVec<Run>,
    attachment: Arc<Attachment>,
    dma: Arc<DmaDevice>,
}

impl Imported {
    /// Takes over what was mapped.
    ///
    /// Errors: `ENODEV` after the unbind, `ENOMEM`, `EINVAL` if the table does not hold whole pages,
    /// or not all of the buffer; then it is unmapped again.
    ///
    /// # Safety
    ///
    /// `table` is that of the attachment, of `dma`, just mapped. `locked` is the reservation of
    /// the buffer.
    pub(crate) unsafe fn new(
        attachment: Arc<Attachment>,
        table: *mut bindings::sg_table,
        dma: Arc<DmaDevice>,
        locked: &Locked<'_>,
    ) -> Result<Self> {
        let _ = locked;
        let memory = Memory::Imported {
            attachment: attachment.clone(),
            table,
        };
        // SAFETY: By the requirement of this function: it is mapped, and unmapped below or later.
        let taken = unsafe { copy(table, attachment.buf().size()) }
            .and_then(|runs| Ok((runs, Room::new()?)))
            .and_then(|(runs, room)| {
                // SAFETY: By the requirement of this function.
                let mapped = unsafe { dma.try_add(room, memory) };
                Ok((runs, mapped.map_err(|(e, _)| e)?))
            });
        match taken {
            // INVARIANT: On the list.
            Ok((runs, mapped)) => Ok(Self {
                mapped: Some(mapped),
                runs,
                attachment,
                dma,
            }),
            Err(e) => {
                // SAFETY: By the requirement of this function; nobody else has it.
                unsafe { unmap(&attachment, table) };
                Err(e)
            }
        }
    }

    /// The attachment.
    pub(crate) fn attachment(&self) -> &Arc<Attachment> {
        &self.attachment
    }

    /// The runs of successive addresses.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.runs.iter().copied()
    }

    /// Each page with its address, from the page `first` on.
    pub(crate) fn addresses(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        addresses(self.runs(), first)
    }

    /// Unmaps it. The caller has the reservation of the buffer locked.
    pub(crate) fn unmap_locked(mut self) {
        let Some(mapped) = self.mapped.take() else {
            return;
        };
        if !self.dma.take_off(&mapped) {
            // The unbind does it, when it gets the lock: the list had a reference.
            return;
        }
        if let Memory::Imported { table, .. } = mapped.memory() {
            // SAFETY: It was on the list, hence is mapped; the caller has the lock.
            unsafe { unmap(&self.attachment, *table) };
        }
    }
}

/// What a table of `bytes` bytes says. What goes beyond them is left out.
///
/// Errors: `ENOMEM`, `EINVAL` if it does not hold whole pages, or not so many bytes.
///
/// # Safety
///
/// It is mapped, and stays so during the call.
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

/// Unmaps an attachment.
///
/// # Safety
///
/// It is mapped; the reservation of the buffer is locked.
unsafe fn unmap(attachment: &Attachment, table: *mut bindings::sg_table) {
    // SAFETY: By the requirement of this function.
    unsafe {
        raw::dma_buf_unmap_attachment(
            attachment.as_raw(),
            table,
            bindings::dma_data_direction::DMA_BIDIRECTIONAL,
        )
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        if let Some(mapped) = self.mapped.take() {
            self.dma.remove(&mapped);
        }
    }
}
