// SPDX-License-Identifier: GPL-2.0
//! What a request becomes in a ring.
//!
//! ```text
//!   drop what may be cached of tables and memory        the recipe
//!   load another directory, drop once more              the recipe, where contexts have their own
//!   load another context, where the engine has them     the recipe
//!   the kernel's own commands
//!   start the watchdog, where a batch is given one      the watchdog
//!   MI_BATCH_BUFFER_START
//!   flush, stop the watchdog                            the watchdog
//!   flush, store the number                             the recipe
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

/// Loads the directory whose first slot is given.
pub(crate) type Load = fn(GgttAddr, &EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>;

/// How the engines of a chip do what a request needs around its batch: where they differ.
pub(crate) struct Recipe {
    /// Drops what the engine may have cached of memory that others changed, and its translations.
    pub(crate) invalidate: fn(&EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>,
    /// Loads another directory, where requests do; the engine is idle, and what it has cached of tables is dropped
    /// after it.
    pub(crate) load: Option<Load>,
    /// What stands before and behind the load of another context; `None` on an engine without contexts.
    pub(crate) switch: Option<Around>,
    /// Flushes, and stores the number where the status page has it, so that whoever sees it sees the data.
    pub(crate) finish: fn(Seqno, &EngineMemory, &mut Commands<'_>) -> Result<(), Overflow>,
    /// Bits of the header of `MI_BATCH_BUFFER_START`, beside that of privilege.
    pub(crate) start: u32,
    /// Dwords that [`request`] writes at most, beside the kernel's own commands.
    pub(crate) dwords: usize,
    /// The watchdog, where the engine has one.
    pub(crate) watchdog: Option<&'static Watchdog>,
}

/// Dwords before and behind a command.
pub(crate) type Around = [&'static [u32]; 2];

/// For [`Recipe::switch`], before Gen7: no-ops stand on both sides (§5.8.1; one must follow), and keep the quadword.
pub(crate) const NO_OPS_AROUND: Around = [&[NOOP], &[NOOP]];

impl Recipe {
    /// One of an engine that has neither contexts nor directories of theirs nor a watchdog. `dwords` are those that
    /// the parts write at most: beside them are the start of a batch, the interrupt, and a no-op.
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

/// [`Recipe::invalidate`] of a blitter that has `MI_FLUSH_DW`.
pub(crate) fn drop_blitter(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&Flush::dropping(false, mem.scratch).encode())
}

/// The same of a video engine, whose own caches it drops too.
pub(crate) fn drop_video(mem: &EngineMemory, out: &mut Commands<'_>) -> Result<(), Overflow> {
    out.put(&Flush::dropping(true, mem.scratch).encode())
}

/// Where the number of the last completed request is: in the status page.
pub(crate) fn number_at(mem: &EngineMemory) -> Result<GgttAddr, Overflow> {
    mem.status.at(SEQNO_AT)
}

/// Loads another context, where the engine has them.
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
        // Translations do not say which directory they are of.
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
