// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What Gen4 (965G, GM965, G45, GM45) does in its own way, on the ring streamer ([`crate::ring`]); registers and rows
//! are in `ring/chip/gen4`. Written from G45 PRM V1b (chapters and tables are cited by number alone); what it leaves
//! out is from the digest of Gen4 (G-nn).
//!
//! | file | what |
//! | --- | --- |
//! | `mi.rs`, `store.rs` | commands of the memory interface; stores and loads among them |
//! | `flush.rs`, `cache.rs` | MI_FLUSH, PIPE_CONTROL; the render cache |
//! | `errors.rs` | errors of the page table and of privilege, types of entries |
//! | `neighbours.rs` | pages of different types side by side |
//! | `irq.rs` | the interrupt registers |
//! | `reset.rs` | the reset by a byte of the configuration space |
//! | `display.rs`, `events.rs` | pipes that count lines; what is waited for, flips |
//! | `fbc.rs`, `rle.rs`, `dpfc.rs` | compressors of what is displayed |
//! | `probe.rs` | surface probing |
//! | `chipset.rs` | what the host bridge shows: channels, clocks, the flush page |

pub(crate) mod cache;
pub mod chipset;
pub(crate) mod display;
pub(crate) mod dpfc;
pub(crate) mod errors;
pub mod events;
pub(crate) mod fbc;
pub(crate) mod flush;
pub(crate) mod irq;
pub(crate) mod mi;
pub(crate) mod neighbours;
pub(crate) mod probe;
pub(crate) mod reset;
pub(crate) mod rle;
pub(crate) mod store;

use crate::ring::config::TABLE_BASE;
use crate::ring::core::{Core, Origin};
use crate::ring::lint::Rule;
use crate::ring::regs::ring;
use cache::RenderCache;
use std::collections::HashMap;
use std::sync::Arc;

/// Offsets of registers and bits in them.
pub mod bits {
    #![allow(missing_docs)]
    /// The register that switches the table on, and says how large it is (G-06).
    pub const PGTBL_CTL: u32 = 0x2020;
    /// The current context (G-16).
    pub const CCID: u32 = 0x2180;
    /// The render engine's status page.
    pub const HWS_PGA: u32 = 0x2080;
    /// Those of the per-process table (G-07).
    pub const PGTBL_CTL2: u32 = 0x20c4;
    pub const PGTBL_STR2: u32 = 0x20c8;
    pub const GFX_MODE: u32 = 0x2520;
    pub const VDECCLK_GATE_D: u32 = 0x620c;
    pub const PIPEASTAT: u32 = 0x7_0024;
    pub const PIPEBSTAT: u32 = 0x7_1024;
    /// Bits of the interrupt registers (G-13).
    pub const VIDEO_USER: u32 = 1 << 25;
    pub const NOTIFY: u32 = 1 << 18;
    pub const MASTER_ERROR: u32 = 1 << 15;
    pub const SYNC_STATUS: u32 = 1 << 12;
    pub const FLIP_A: u32 = 1 << 11;
    pub const FLIP_B: u32 = 1 << 10;
    pub const FLIP_OVERLAY: u32 = 1 << 9;
    pub const FLIP_C: u32 = 1 << 8;
    pub const VBLANK_A: u32 = 1 << 7;
    pub const EVENT_A: u32 = 1 << 6;
    pub const VBLANK_B: u32 = 1 << 5;
    pub const EVENT_B: u32 = 1 << 4;
    pub const USER: u32 = 1 << 1;
    /// Bits of EIR (G-15).
    pub const I965_PAGE_TABLE: u32 = 1 << 4;
    pub const G4X_PAGE_TABLE: u32 = 1 << 5;
    pub const G4X_MEMORY_PRIVILEGE: u32 = 1 << 4;
    pub const G4X_COMMAND_PRIVILEGE: u32 = 1 << 3;
}

/// How the four differ.
#[derive(Clone, Copy, Debug)]
pub struct Gen4 {
    /// G45 or GM45; else 965G or GM965.
    pub g4x: bool,
    /// GM965 or GM45.
    pub mobile: bool,
    /// 965G, which the document calls DevBW.
    pub broadwater: bool,
    /// Its display compresses.
    pub compressor: Option<Compressor>,
}

/// A compressor of what is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// Run lengths, of GM965 (6).
    Rle,
    /// That of GM45 (7), of which the document does not have the format.
    Dpfc,
}

/// State that no register shows.
#[derive(Default)]
pub(crate) struct State {
    /// The render cache, once there is one.
    pub cache: Option<Arc<RenderCache>>,
    /// The last drawing was the blitter's; else the 3D pipeline's.
    pub blitter_drew: bool,
    /// The display.
    pub display: display::Display,
    /// The compressor, of either kind.
    pub compressor: fbc::State,
    /// Slots that probes have filled, and the page of each.
    pub probes: HashMap<u32, u32>,
    /// Memory types of pages side by side.
    pub neighbours: neighbours::Neighbours,
    /// The reset byte as it was written.
    pub reset: reset::Byte,
}

impl Core {
    /// Returns the differences between this chip and the other three.
    pub fn gen4(&self) -> &'static Gen4 {
        const NONE: &Gen4 = &Gen4 {
            g4x: false,
            mobile: false,
            broadwater: false,
            compressor: None,
        };
        self.cfg.chip.gen4.unwrap_or(NONE)
    }
}

/// Power-on.
pub(crate) fn power_on(core: &mut Core) {
    let memory = core.cx.memory.clone();
    core.own = State {
        cache: Some(Arc::new(RenderCache::new(memory))),
        ..State::default()
    };
    // G-06: size and place of the table are the firmware's to say; it lies in memory that the graphics have to
    // themselves. G45 and GM45 do not use what is here; their drivers find no base either.
    let code = match core.cx.gtt.len() {
        0x8000 => 2,
        0x1_0000 => 1,
        0x2_0000 => 0,
        0x4_0000 => 3,
        0x6_0000 => 5,
        _ => 4,
    };
    let base = if core.gen4().g4x { 0 } else { TABLE_BASE };
    core.set(bits::PGTBL_CTL, base | code << 1);
    errors::table_switched(core);
    neighbours::ring_enabled(core);
}

/// Reads a register whose value differs from what it stores.
pub(crate) fn read(core: &mut Core, offset: u32) -> Option<u32> {
    if let Some(value) = core.compressor_read(offset) {
        return Some(value);
    }
    let row = core.cfg.chip.of_block(offset)?;
    match offset - row.base {
        // GW08: the address of the next command in the batch, with its low two bits set.
        ring::BB_ADDR => {
            let batch = core.engines[row.id as usize].batch;
            Some(batch.map_or(0, |b| b.address | 3))
        }
        _ => None,
    }
}

/// A register was written.
pub(crate) fn written(core: &mut Core, offset: u32, old: u32, new: u32, origin: Origin) {
    match offset {
        bits::PGTBL_CTL => errors::table_written(core, new),
        // G-10, G-28: upstream keeps it below 4 GB.
        bits::HWS_PGA if !core.gen4().g4x && new & 0xf0 != 0 => {
            core.lint(Rule::HighStatusPage, || format!("{new:#x}"));
        }
        // The driver has said what the current context is.
        bits::CCID => core.left.ccid = false,
        bits::PGTBL_CTL2 => errors::process_table(core, new & 1 != 0),
        bits::GFX_MODE => errors::process_table(core, new & (1 << 9) != 0),
        _ if core.cfg.chip.irq.has(offset) => irq::written(core, offset, old, new),
        _ => core.compressor_written(offset, old, new),
    }
    let Some(row) = core.cfg.chip.of_block(offset) else {
        return;
    };
    let enabled = core.ring(row.id, ring::CTL) & 1 != 0;
    match offset - row.base {
        ring::CTL if enabled && old & 1 == 0 => neighbours::ring_enabled(core),
        ring::TAIL => {}
        _ => return,
    }
    let empty = core.ring(row.id, ring::HEAD) & 0x1f_fffc == core.ring(row.id, ring::TAIL);
    if enabled && !empty && origin == Origin::Cpu {
        neighbours::work_given(core);
    }
}

/// Time has passed.
pub(crate) fn settle(core: &mut Core, now: u64) {
    reset::settle(core, now);
    core.compressor_settles(now);
    core.display_settles(now);
}
