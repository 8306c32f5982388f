// SPDX-License-Identifier: GPL-2.0

//! What undoes the state that other batches left, on an engine where no context does.

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

/// Commands that give all state a known value. They stand in memory that nobody writes again.
pub(in crate::submit) struct NullState {
    /// Before another client's batch: all of them.
    pub(in crate::submit) first: Batch,
    /// Before one more of the same client: without those that only keep clients apart.
    pub(in crate::submit) again: Batch,
    _mapping: Mapping,
    _memory: DmaPages,
}

impl NullState {
    /// Lets an engine write them, as so many dwords at most. Errors: `ENOSPC` if there are no addresses
    /// for them, `ENOMEM`.
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
