// SPDX-License-Identifier: GPL-2.0

//! Pages that user space touches before a BO has its memory.
//!
//! All memory of a BO is allocated at once when the GPU first uses it. If the CPU touches only a
//! few pages of a large BO, only these are allocated. They are held ([`State::early`]) until all
//! pages of the same file are, so that their PTEs stay valid.
//!
//! Only if the GPU snoops the BO: no page has to be flushed.

use kernel::prelude::*;
use ouro_hw::types::PAGE_SIZE;
use ouro_kernel::{
    gem::{Fault, FaultError},
    pages::FewPages,
    task,
};

use super::{backing::Memory, bo::State, caches, Backing, Bo, Object};

/// Most pages that a BO gets one by one. A fault costs more than the allocation of a neighbour's
/// page.
const MOST: usize = 4;

/// The smallest BO for which they are worth it, in pages.
const LEAST: u64 = 32;

/// Maps the page of a fault alone, if the BO has no memory yet, and the page is one of the first
/// that are touched. Returns whether it did.
pub(super) fn show(
    object: &Object,
    fault: &mut Fault<'_>,
) -> core::result::Result<bool, FaultError> {
    let pages = object.bytes() / u64::from(PAGE_SIZE);
    // A BO that the machine has no memory for is refused as a whole.
    if object.seen().resident || !(LEAST..=task::total_pages() as u64).contains(&pages) {
        return Ok(false);
    }
    let mut state = object.state.lock();
    let page = fault.page();
    // Where it fails, the way by all of the memory waits for what is missing, or says why.
    if caches::is_unsnooped(&state) || add(object, &mut state, page).is_err() {
        return Ok(false);
    }
    match state.early.as_ref().and_then(|few| few.frame(page)) {
        Some(frame) => fault.insert(frame).map(|()| true),
        None => Ok(false),
    }
}

/// Makes a page one of the BO's early ones. Errors: `ENOSPC` if there are enough; `EINVAL` if it
/// has memory, or gets it from elsewhere; `ENOMEM`, `ENODEV`.
fn add(object: &Object, state: &mut State, page: usize) -> Result {
    object.gpu().usable()?;
    let few = state.early.as_ref();
    if few.is_some_and(|few| few.frame(page).is_some()) {
        return Ok(());
    }
    if few.is_some_and(|few| few.len() >= MOST) {
        return Err(ENOSPC);
    }
    if few.is_none() {
        state.early = Some(FewPages::new(state.file().ok_or(EINVAL)?, MOST)?);
    }
    if state.listed.is_none() {
        let reclaim = object.gpu().reclaim();
        state.listed = Some(reclaim.enlist_pages(object, 0, state.worth())?);
    }
    let few = state.early.as_mut().ok_or(EINVAL)?;
    let added = few.add(page);
    if added.is_ok() {
        object.gpu().count_pages(1);
    }
    if let Some(listed) = &mut state.listed {
        listed.set_pages(few.len());
    }
    added
}

/// The BO has all of its memory now.
pub(super) fn join(object: &Object, state: &mut State, backing: &Backing) {
    let Some(few) = state.early.take() else {
        return;
    };
    object.gpu().count_pages(-(few.len() as i64));
    let same = match backing.memory() {
        Memory::Pages(map) => few.join(map.pages()),
        _ => false,
    };
    if !same {
        object.unmap_user();
    }
}

/// Unpins the pages, for reclaim. User space maps none any more. Returns how many they were.
pub(super) fn park(object: &Bo, state: &mut State) -> usize {
    let Some(few) = &mut state.early else {
        return 0;
    };
    let pages = few.len();
    object.gpu().count_pages(-(pages as i64));
    few.park();
    pages
}

/// Releases the pages, whose contents stay in the file. User space maps none any more. Returns how
/// many they were.
pub(super) fn release(object: &Bo, state: &mut State) -> usize {
    let Some(few) = state.early.take() else {
        return 0;
    };
    object.gpu().count_pages(-(few.len() as i64));
    few.len()
}
