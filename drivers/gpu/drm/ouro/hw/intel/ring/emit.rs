// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The commands of a request in a ring.
//!
//! ```text
//!   invalidate TLBs and read caches                     the recipe
//!   load another page directory, invalidate again       the recipe, if contexts have their own
//!   load another context, if the engine has contexts    the recipe
//!   the kernel's own commands
//!   start the watchdog, if the batch has one            the watchdog
//!   MI_BATCH_BUFFER_START
//!   flush, stop the watchdog                            the watchdog
//!   flush, store the seqno                              the recipe
//!   MI_USER_INTERRUPT, MI_NOOP to the quadword
//! ```

use crate::{
    engine::{Emit, EngineMemory, Privilege, Switch},
    intel::{
        mi::{BatchStart, Flush, SetContext, NOOP, USER_INTERRUPT},
        ring::{engine::SEQNO_AT, watchdog::Watchdog},
    },
    ring::{Commands, Overflow},
    types::{GgttAddr, Seqno},
};

/// Loads the page directory whose first GGTT entry is given.
pub(crate) type Load = fn(GgttAddr, &EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>;

/// The parts of a request that differ between engines and chips.
pub(crate) struct Recipe {
    /// Invalidates the engine's TLBs and read caches: other clients may have changed the memory.
    pub(crate) invalidate: fn(&EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>,
    /// Loads another page directory, if requests do so. The engine is idle, and its TLBs are
    /// invalidated afterwards.
    pub(crate) load: Option<Load>,
    /// The commands before and after the load of another context; `None` on an engine without
    /// contexts.
    pub(crate) switch: Option<Around>,
    /// Flushes, and stores the seqno in the HWSP, so that a reader of the seqno sees the request's
    /// data.
    pub(crate) finish: fn(Seqno, &EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>,
    /// Bits of the header of `MI_BATCH_BUFFER_START`, beside that of privilege.
    pub(crate) start: u32,
    /// The largest number of dwords that [`request`] writes, without the kernel's own commands.
    pub(crate) dwords: usize,
    /// The watchdog, if the engine has one.
    pub(crate) watchdog: Option<&'static Watchdog>,
}

/// Commands before and after another command.
pub(crate) type Around = [&'static [u32]; 2];

/// [`Recipe::switch`] before Gen7: a no-op on each side keeps the quadword alignment (§5.8.1; one
/// must follow).
pub(crate) const NO_OPS_AROUND: Around = [&[NOOP], &[NOOP]];

impl Recipe {
    /// Creates the recipe of an engine without contexts, page directories of theirs, and watchdog.
    /// `dwords` is the largest number that `invalidate` and `finish` write; this function adds the
    /// start of a batch, the interrupt and a no-op.
    pub(crate) const fn new(
        invalidate: fn(&EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>,
        finish: fn(Seqno, &EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>,
        dwords: usize,
    ) -> Self {
        Self {
            invalidate,
            load: None,
            switch: None,
            finish,
            start: 0,
            dwords: (dwords + 2 + 1 + 1).next_multiple_of(2),
            watchdog: None,
        }
    }
}

/// Invalidates a blitter that has `MI_FLUSH_DW`: [`Recipe::invalidate`].
pub(crate) fn drop_blitter(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&Flush::dropping(false, mem.scratch).encode())
}

/// Invalidates a video engine, its own caches included: [`Recipe::invalidate`].
pub(crate) fn drop_video(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&Flush::dropping(true, mem.scratch).encode())
}

/// Returns the GGTT address of the seqno in the HWSP.
pub(crate) fn number_at(mem: &EngineMemory) -> Result<GgttAddr, Overflow> {
    mem.status.at(SEQNO_AT)
}

/// Writes the load of another context, if the engine has contexts.
fn switch(around: Option<Around>, to: Switch, out: &mut Commands<'_>) -> Result<(), Overflow> {
    let (Some([before, behind]), Switch::To { image, saved }) = (around, to) else {
        return Ok(());
    };
    let set = SetContext {
        image,
        restore: saved,
    };
    out.put(before)?;
    out.put(&set.encode())?;
    out.put(behind)
}

/// Writes a request.
pub(crate) fn request(
    recipe: &Recipe,
    request: &Emit<'_>,
    mem: &EngineMemory,
    out: &mut Commands<'_>,
) -> Result<(), Overflow> {
    (recipe.invalidate)(mem, out)?;
    if let Some(slot) = request.directory {
        recipe.load.ok_or(Overflow)?(slot, mem, out)?;
        // The TLBs do not tag translations with the page directory.
        (recipe.invalidate)(mem, out)?;
    }
    switch(recipe.switch, request.switch, out)?;
    out.put(request.inline)?;
    if let Some(batch) = request.batch {
        let user = batch.privilege == Privilege::User;
        let start = BatchStart::at(batch.addr, user).ok_or(Overflow)?;
        let watchdog = match request.watchdog {
            Some(micros) => Some((recipe.watchdog.ok_or(Overflow)?, micros)),
            None => None,
        };
        if let Some((watchdog, micros)) = watchdog {
            watchdog.start(micros, out)?;
        }
        let [header, addr] = start.encode();
        out.put(&[header | recipe.start, addr])?;
        if let Some((watchdog, _)) = watchdog {
            watchdog.stop(mem, out)?;
        }
    }
    (recipe.finish)(request.seqno, mem, out)?;
    out.put(&[USER_INTERRUPT])?;
    if !out.len().is_multiple_of(2) {
        out.put(&[NOOP])?;
    }
    Ok(())
}
