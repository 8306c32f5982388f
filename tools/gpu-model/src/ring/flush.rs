// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Flushes with post-sync operations: PIPE_CONTROL, MI_FLUSH_DW, MI_FLUSH
//! (SNB PRM V1P2 §5.3.8–5.3.11; VCS PRM 1.2.7; digest §2.4).
//!
//! Everything before a flush is done when the model parses it, so a flush is its TLB invalidation,
//! its store, and its interrupt, in this order.

use crate::counters::Counter;
use crate::ring::core::Core;
use crate::ring::engine::{EngineId, FlushPrelude};
use crate::ring::exec::Flow;
use crate::ring::irq::bit;
use crate::ring::lint::Rule;
use crate::ring::regs::{reg, ring};
use crate::slip::{self, Slip};

/// Bits of PIPE_CONTROL, dword 1.
mod pc {
    pub const DEPTH_FLUSH: u32 = 1 << 0;
    pub const SCOREBOARD: u32 = 1 << 1;
    pub const STATE_INVALIDATE: u32 = 1 << 2;
    /// State, constants, vertices, textures, instructions.
    pub const READ_INVALIDATES: u32 = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 10 | 1 << 11;
    pub const NOTIFY: u32 = 1 << 8;
    pub const WRITE_FLUSH: u32 = 1 << 12;
    pub const DEPTH_STALL: u32 = 1 << 13;
    pub const TLB: u32 = 1 << 18;
    pub const SNAPSHOT_RESET: u32 = 1 << 19;
    pub const CS_STALL: u32 = 1 << 20;
    pub const STORE_INDEX: u32 = 1 << 21;
}

/// Post-sync operation, bits 15:14 of both commands.
fn post_sync(flags: u32) -> u32 {
    (flags >> 14) & 3
}

/// The address that a post-sync store writes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PostSyncTarget {
    /// A GGTT address.
    Ggtt,
    /// A PPGTT address, or a GGTT address while the PPGTT is off.
    Ppgtt,
    /// An offset in the status page.
    StatusPage,
}

impl Core {
    /// PIPE_CONTROL.
    pub fn pipe_control(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let flags = d.get(1).copied().unwrap_or(0);
        self.pipe_control_rules(e, flags);
        let silent = slip::is(Slip::PipeControlSilent);
        let op = if silent { 0 } else { post_sync(flags) };
        if flags & pc::TLB != 0 {
            if op == 0 {
                self.lint(Rule::TlbWithoutPostSync, || {
                    format!("PIPE_CONTROL {flags:#x}")
                });
            } else {
                self.flush_tlb(e);
            }
        }
        if flags & pc::SNAPSHOT_RESET != 0 {
            self.reset_statistics();
        }
        let word = |i: usize| u64::from(d.get(i).copied().unwrap_or(0));
        let data = self.post_sync_data(op, word(3) | word(4) << 32);
        if let Some(data) = data {
            let address = d.get(2).copied().unwrap_or(0);
            let (at, bit) = self.cfg.chip.pipe_control.global;
            let target = match flags & pc::STORE_INDEX {
                0 if d.get(at).is_some_and(|d| d & bit != 0) => PostSyncTarget::Ggtt,
                0 => PostSyncTarget::Ppgtt,
                _ => PostSyncTarget::StatusPage,
            };
            self.post_sync_store(e, target, address, &data.to_le_bytes());
        }
        if flags & pc::NOTIFY != 0 {
            self.pulse(e, bit::NOTIFY);
        }
        Flow::Next
    }

    /// Returns what a PIPE_CONTROL stores (its bits 15:14): its own data, PS_DEPTH_COUNT, the time, or nothing.
    pub fn post_sync_data(&self, op: u32, immediate: u64) -> Option<u64> {
        match op {
            1 => Some(immediate),
            2 => Some(
                u64::from(self.get(reg::PS_DEPTH_COUNT))
                    | u64::from(self.get(reg::PS_DEPTH_COUNT + 4)) << 32,
            ),
            3 => Some(self.timestamp()),
            _ => None,
        }
    }

    /// The rules of the 3D volume that the digest quotes in §2.4.
    fn pipe_control_rules(&mut self, e: EngineId, flags: u32) {
        let op = post_sync(flags);
        if flags & pc::CS_STALL != 0 {
            let reasons =
                pc::WRITE_FLUSH | pc::DEPTH_FLUSH | pc::SCOREBOARD | pc::DEPTH_STALL | pc::NOTIFY;
            if flags & reasons == 0 && op == 0 {
                self.lint(Rule::BareStall, || format!("PIPE_CONTROL {flags:#x}"));
            }
        }
        self.stall_rules(e, flags);
        let prelude = self.engine(e).prelude;
        let flushes = flags & (pc::WRITE_FLUSH | pc::DEPTH_STALL) != 0;
        let wanted = self.cfg.chip.pipe_control.prelude;
        if wanted && flushes && prelude != FlushPrelude::PostSynced {
            self.lint(Rule::FlushPrelude, || {
                format!("PIPE_CONTROL {flags:#x}, seen so far: {prelude:?}")
            });
        }
        let stalls = flags & (pc::CS_STALL | pc::SCOREBOARD) == pc::CS_STALL | pc::SCOREBOARD;
        self.engine(e).prelude = match prelude {
            _ if flushes => FlushPrelude::None,
            FlushPrelude::Stalled if op != 0 => FlushPrelude::PostSynced,
            FlushPrelude::PostSynced => FlushPrelude::PostSynced,
            _ if stalls => FlushPrelude::Stalled,
            other => other,
        };
    }

    /// Checks how often the streamer is stalled, on chips that need it. A command that only invalidates read caches
    /// does not count.
    fn stall_rules(&mut self, e: EngineId, flags: u32) {
        if !self.cfg.chip.pipe_control.stalls {
            return;
        }
        let stalls = flags & pc::CS_STALL != 0;
        let before = self.engine(e).unstalled;
        if flags & pc::STATE_INVALIDATE != 0 && before != 0 {
            self.lint(Rule::StateCacheStall, || format!("PIPE_CONTROL {flags:#x}"));
        }
        let counts = flags & !pc::READ_INVALIDATES != 0;
        if !stalls && counts && before + 1 >= 4 {
            self.lint(Rule::FourthPipeControl, || {
                format!("PIPE_CONTROL {flags:#x}")
            });
        }
        self.engine(e).unstalled = match before {
            _ if stalls => 0,
            n if counts => (n + 1) % 4,
            n => n,
        };
    }

    /// MI_FLUSH_DW: video and blitter.
    pub fn flush_dw(&mut self, e: EngineId, d: &[u32]) -> Flow {
        let h = d[0];
        let op = post_sync(h);
        if op == 2 {
            self.lint(Rule::ReservedPostSync, || format!("{} {h:#010x}", e.name()));
        }
        if h & (1 << 18) != 0 {
            if op == 1 || op == 3 {
                self.flush_tlb(e);
                // Bit 13 of the mode register (VCS PRM 1.2.7).
                if self
                    .row(e)
                    .mode
                    .is_some_and(|mode| self.get(mode) & (1 << 13) != 0)
                {
                    self.flush_cycle();
                }
            } else {
                self.lint(Rule::TlbWithoutPostSync, || {
                    format!("{} MI_FLUSH_DW {h:#010x}", e.name())
                });
            }
        }
        if h & (1 << 17) != 0 && self.cfg.chip.ways.gfdt_store && op != 1 && op != 3 {
            self.lint(Rule::GfdtWithoutStore, || format!("{} {h:#010x}", e.name()));
        }
        let quad = d.len() == 4;
        let data = match op {
            1 if quad => Some(u64::from(d[2]) | u64::from(d[3]) << 32),
            1 => Some(u64::from(d[2])),
            3 => Some(self.timestamp()),
            _ => None,
        };
        if let Some(data) = data {
            let bytes = data.to_le_bytes();
            let wide = quad || op == 3;
            if wide && d[1] & (1 << 5) != 0 {
                self.lint(Rule::FlushDwBit5, || format!("{} {:#x}", e.name(), d[1]));
            }
            let wide = wide && !slip::is(Slip::FlushStoresDword);
            let bytes = if wide { &bytes[..] } else { &bytes[..4] };
            let target = match h & (1 << 21) {
                0 if d[1] & 4 != 0 => PostSyncTarget::Ggtt,
                0 => PostSyncTarget::Ppgtt,
                _ => PostSyncTarget::StatusPage,
            };
            self.post_sync_store(e, target, d[1], bytes);
        }
        if h & (1 << 8) != 0 {
            self.pulse(e, bit::NOTIFY);
        }
        Flow::Next
    }

    /// A post-sync store: address in 31:3, or an offset into the status page.
    ///
    /// From a non-secure batch the global form is counted but done: user programs of this chip
    /// depend on it, and nothing in the documents names PIPE_CONTROL among the restricted commands.
    fn post_sync_store(&mut self, e: EngineId, target: PostSyncTarget, address: u32, data: &[u8]) {
        if target == PostSyncTarget::StatusPage {
            let offset = address & 0xff8;
            if offset < 64 {
                self.lint(Rule::StatusPageReserved, || {
                    format!("{} {offset:#x}", e.name())
                });
            }
            self.status_page_store(e, offset, data);
            return;
        }
        let global = target == PostSyncTarget::Ggtt;
        if global && self.unprivileged(e) {
            self.count(Counter::PrivilegeViolations);
        }
        let space = self.space(e, global);
        // The kernel keeps its fence in the status page and names it by address too.
        let page = self.get(self.row(e).hws_pga);
        if global && address & 0xffff_f000 == page {
            self.status_page_store(e, address & 0xff8, data);
        } else {
            self.store(e, space, address & !7, data);
        }
    }

    /// MI_FLUSH: render only, and only with MI_MODE bit 12 (digest G-09).
    pub fn mi_flush(&mut self, e: EngineId, header: u32) -> Flow {
        let by_mode = self.cfg.chip.ways.flush_by_mode;
        if by_mode && self.ring(e, ring::MI_MODE) & (1 << 12) == 0 {
            self.lint(Rule::FlushDisabled, || e.name().to_owned());
            return Flow::Next;
        }
        // Invalidates the TLBs of the render, blit and sampler clients (§5.3.10.5).
        self.flush_tlb(e);
        if header & (1 << 3) != 0 {
            self.reset_statistics();
        }
        Flow::Next
    }

    /// Global snapshot reset: all but PS_DEPTH_COUNT and the time stamp (G45 PRM 1.7).
    pub fn reset_statistics(&mut self) {
        for (offset, _) in self.cfg.chip.context.counts() {
            if *offset != reg::PS_DEPTH_COUNT {
                self.set(*offset, 0);
                self.set(offset + 4, 0);
            }
        }
    }
}
