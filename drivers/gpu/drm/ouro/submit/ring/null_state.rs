// SPDX-License-Identifier: GPL-2.0

//! The commands that reset the state that other batches left, on engines without hardware contexts.

use kernel::{prelude::*, sync::Arc};
use ouro_hw::{
    coherence::KernelUse,
    engine::{Batch, Privilege},
    ring::Commands,
    types::{GpuAddr, PAGE_SIZE},
};
use ouro_kernel::{pages::DmaPages, pci::DmaDevice};

use super::super::line;
use crate::gem::{Mapping, Space};

/// Commands that set all state to known values, in memory that is never written again.
pub(in crate::submit) struct NullState {
    /// Before a batch of another client: all commands.
    pub(in crate::submit) first: Batch,
    /// Before another batch of the same client: without the commands that only isolate clients.
    pub(in crate::submit) again: Batch,
    _mapping: Mapping,
    _memory: DmaPages,
}

impl NullState {
    /// Writes the engine's commands, at most `dwords` of them, to memory of its own. Errors:
    /// `ENOSPC` if the GGTT is full, `ENOMEM`, `EINVAL` if they do not fit.
    pub(in crate::submit) fn new(
        hw: &'static dyn ouro_hw::Engine,
        space: &Arc<Space>,
        dma: &Arc<DmaDevice>,
        dwords: usize,
    ) -> Result<Self> {
        let mut buffer = KVVec::from_elem(0, dwords, GFP_KERNEL)?;
        let mut commands = Commands::new(&mut buffer);
        hw.known_state(&mut commands).map_err(|_| EINVAL)?;
        let bytes = (commands.len() * 4) as u32;
        let private = (hw.desc().private_dwords.min(commands.len()) * 4) as u32;
        let (memory, mapping) =
            line::pages(space, dma, bytes.div_ceil(PAGE_SIZE), KernelUse::Commands)?;
        memory.view().write_words(0, commands.as_slice())?;
        let from = |skip: u32| Batch {
            addr: GpuAddr(mapping.addr().0 + u64::from(skip)),
            len: bytes - skip,
            privilege: Privilege::Kernel,
        };
        Ok(Self {
            first: from(0),
            again: from(private),
            _mapping: mapping,
            _memory: memory,
        })
    }
}
