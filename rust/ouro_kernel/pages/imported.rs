// SPDX-License-Identifier: GPL-2.0

//! Buffers of others, mapped for our device: the part of [`gem::ImportMap`](crate::gem::ImportMap)
//! that the list of the device knows.

use kernel::{bindings, prelude::*, sync::Arc};

use super::{
    device::{DmaDevice, Mapped, Memory, Room},
    dma::{addresses, runs, Run},
};
use crate::{gem::Attachment, raw, resv::Locked};

/// A mapped attachment.
///
/// # Invariants
///
/// `mapped` is the table of `attachment`, on the list of `dma` or unmapped.
pub(crate) struct Imported {
    mapped: Option<Arc<Mapped>>,
    attachment: Arc<Attachment>,
    dma: Arc<DmaDevice>,
}

impl Imported {
    /// Takes over what was mapped.
    ///
    /// Errors: `ENODEV` after the unbind, `ENOMEM`; then it is unmapped again.
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
        let mapped = match Room::new() {
            // SAFETY: By the requirement of this function.
            Ok(room) => unsafe { dma.try_add(room, memory) },
            Err(e) => Err((e, None)),
        };
        match mapped {
            // INVARIANT: On the list.
            Ok(mapped) => Ok(Self {
                mapped: Some(mapped),
                attachment,
                dma,
            }),
            Err((e, _)) => {
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
        self.mapped.iter().flat_map(|mapped| runs(mapped))
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
