// SPDX-License-Identifier: GPL-2.0

//! Memory that a submission uses and leaves to the client's next one, so that it is rarely
//! allocated. It holds nothing in between, and each client has its own.

use kernel::{alloc::flags::GFP_KERNEL_ACCOUNT, prelude::*, sync::aref::ARef};
use ouro_kernel::{lazy::LazyVec, resv::Slate, spare::Spare};

use super::{exec::Entry, stream::Stream};
use crate::gem::Object;

/// Most BOs for which a client keeps memory: about 10 KiB, and for a stream of 16 KiB and its
/// patches.
const MOST: usize = 64;

/// The memory.
#[derive(Default)]
pub(crate) struct Scratch {
    /// For the list of BOs; empty.
    pub(crate) entries: LazyVec<Entry>,
    /// For their locks.
    pub(crate) slate: Slate<Object>,
    /// For a stream that is checked.
    pub(crate) stream: Stream,
}

impl Scratch {
    /// Takes the memory that is there, if there is any.
    pub(crate) fn take(from: &Spare<Self>) -> Result<KBox<Self>> {
        match from.take() {
            Some(this) => Ok(this),
            None => Ok(KBox::new(Self::default(), GFP_KERNEL_ACCOUNT)?),
        }
    }

    /// Leaves memory to the next submission, unless it is much.
    pub(crate) fn give_back(mut self: KBox<Self>, to: &Spare<Self>) {
        self.entries.clear();
        self.stream.end(MOST);
        if self.entries.capacity() <= MOST && self.slate.room() <= MOST {
            to.put(self);
        }
    }
}

/// How many BOs a request keeps without an allocation of its own.
const FEW: usize = 4;

/// The BOs that a request keeps.
#[derive(Default)]
pub(crate) struct ObjectRefs {
    few: [Option<ARef<Object>>; FEW],
    many: LazyVec<ARef<Object>>,
}

impl ObjectRefs {
    /// Keeps the BOs of a list. Errors: `ENOMEM`.
    pub(crate) fn of(entries: &[Entry]) -> Result<Self> {
        let mut this = Self::default();
        if entries.len() <= FEW {
            for (place, entry) in this.few.iter_mut().zip(entries) {
                *place = Some(entry.object.clone());
            }
        } else {
            this.many = LazyVec::with_capacity(entries.len(), GFP_KERNEL_ACCOUNT)?;
            for entry in entries {
                // There is capacity.
                let _ = this.many.push_within_capacity(entry.object.clone());
            }
        }
        Ok(this)
    }
}
