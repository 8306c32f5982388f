// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts, from an engine's event through its mask and the tree to the line (DG2 PRM Vol 8 "Interrupt Control
//! Registers" for the engine's bits; the tree is from the digest, §5.8).
//!
//! Each of the three upper levels (GT_INTR_DW, GFX_MSTR, MSTR_TILE) keeps a bit until it is written with one. It is set
//! when a bit below it becomes set. So a handler that clears from the top down before it looks loses nothing, and one
//! that forgets a level is interrupted without end.

use super::core::Core;
use super::engine::{EngineId, ENGINES};
use super::lint::Rule;
use super::regs::{reg, ring};
use crate::fault::Kind;

/// Bits of an engine's interrupt vector ("Engine Interrupt Vector Definition Table"; 11 from the digest,
/// §5.8).
pub mod vector {
    /// MI_USER_INTERRUPT.
    pub const USER: u32 = 1 << 0;
    /// A bit of EIR.
    pub const ERROR: u32 = 1 << 3;
    /// PIPE_CONTROL or MI_FLUSH_DW with notify.
    pub const NOTIFY: u32 = 1 << 4;
    /// The watchdog reached its threshold.
    pub const WATCHDOG: u32 = 1 << 6;
    /// A page fault.
    pub const PAGE_FAULT: u32 = 1 << 7;
    /// A context switch was reported.
    pub const SWITCH: u32 = 1 << 8;
    /// A semaphore wait was not successful.
    pub const SEMAPHORE: u32 = 1 << 11;
}

/// Bit 31 of an identity.
const VALID: u32 = 1 << 31;
/// Bit 31 of MSTR_TILE lets interrupts out.
const ENABLE: u32 = 1 << 31;

/// The upper levels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tree {
    pub enabled: bool,
    pub tile: bool,
    pub master: u32,
    pub banks: [u32; 2],
    pub identity: [u32; 2],
}

impl Core {
    /// An event of an engine. User interrupts and notifications may be lost or late by injection.
    pub fn event(&mut self, e: EngineId, bits: u32) {
        if bits & (vector::USER | vector::NOTIFY) != 0 {
            if self.notes.inject(Kind::LoseIrq, e.name()).is_some() {
                return;
            }
            if let Some(us) = self.notes.inject(Kind::LateIrq, e.name()) {
                let at = self.notes.in_us(us);
                self.later.interrupts.push(at, (e, bits));
                return;
            }
        }
        self.event_now(e, bits);
    }

    /// Latches an event, unless the engine's own mask holds it back.
    pub fn event_now(&mut self, e: EngineId, bits: u32) {
        let open = bits & !self.ering(e, ring::IMR);
        if open != 0 {
            self.engine(e).events |= open;
            self.update_tree(e, true);
        }
    }

    /// Events of an engine that reach the tree.
    fn visible(&self, e: EngineId) -> u32 {
        let (enable, mask) = (e.enable(), e.mask_register());
        let enabled = self.get(enable.0) >> enable.1;
        let masked = self.get(mask.0) >> mask.1;
        self.engines[e as usize].events & enabled & !masked & 0xffff
    }

    /// Passes an engine's events upwards. `fresh` says that there is a new one.
    fn update_tree(&mut self, e: EngineId, fresh: bool) {
        let (bank, bit) = e.interrupt();
        if self.visible(e) != 0 {
            let old = self.tree.banks[bank];
            self.tree.banks[bank] |= 1 << bit;
            if fresh || old & 1 << bit == 0 {
                self.tree.master |= 1 << bank;
                self.tree.tile = true;
            }
        }
        self.update_line();
    }

    /// An enable or a mask was written.
    pub fn update_all(&mut self) {
        for e in ENGINES {
            self.update_tree(e, false);
        }
    }

    /// Recomputes the line and tells the sink when it changed.
    pub fn update_line(&mut self) {
        self.foreign_rises();
        let line = self.tree.enabled && self.tree.tile && !self.removed;
        if line == self.line {
            return;
        }
        self.line = line;
        if !line {
            self.irq.set_line(false);
            return;
        }
        self.notes.line_rises();
        self.foreign_message();
        self.notes.send(&*self.irq);
    }

    /// A register of the tree is read; `None` if it is none that has state here.
    pub fn tree_read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            reg::MSTR_TILE => {
                u32::from(self.tree.tile) | if self.tree.enabled { ENABLE } else { 0 }
            }
            reg::GFX_MSTR => self.tree.master,
            reg::INTR_DW0 => self.tree.banks[0],
            reg::INTR_DW1 => self.tree.banks[1],
            reg::IDENTITY0 => self.tree.identity[0],
            reg::IDENTITY1 => self.tree.identity[1],
            reg::DISPLAY_INT_CTL => self.display_pending(),
            _ => return None,
        })
    }

    /// A register of the tree is written; false if it is none that has state here.
    pub fn tree_written(&mut self, offset: u32, data: u32) -> bool {
        match offset {
            reg::MSTR_TILE => {
                self.tree.enabled = data & ENABLE != 0;
                self.tree.tile &= data & 1 == 0;
            }
            reg::GFX_MSTR => self.tree.master &= !data,
            reg::INTR_DW0 | reg::INTR_DW1 => {
                self.tree.banks[((offset - reg::INTR_DW0) / 4) as usize] &= !data;
                // What is still pending shows again.
                self.update_all();
            }
            reg::SELECTOR0 => self.select(0, data),
            reg::SELECTOR1 => self.select(1, data),
            reg::IDENTITY0 | reg::IDENTITY1 => {
                if data & VALID != 0 {
                    self.tree.identity[((offset - reg::IDENTITY0) / 4) as usize] = 0;
                }
            }
            0x19_0030..=0x19_0048 | 0x19_0090..=0x19_0104 => {
                self.update_all();
            }
            _ => return false,
        }
        self.update_line();
        true
    }

    /// A selector is written: the engine's events become the identity, and are pending no more.
    fn select(&mut self, bank: usize, data: u32) {
        if let Some(identity) = self.foreign_selected(bank, data) {
            self.tree.identity[bank] = VALID | identity;
            return;
        }
        let chosen = ENGINES
            .into_iter()
            .find(|e| e.interrupt() == (bank, data.trailing_zeros()));
        let chosen = chosen.filter(|_| data.is_power_of_two());
        let pending = chosen.map_or(0, |e| self.visible(e));
        if pending == 0 {
            self.notes
                .lint(Rule::Selector, || format!("bank {bank} {data:#010x}"));
            return;
        }
        if self.tree.identity[bank] & VALID != 0 {
            self.notes
                .lint(Rule::IdentityBusy, || format!("bank {bank} {data:#010x}"));
            return;
        }
        if let Some(e) = chosen {
            self.engine(e).events &= !pending;
            self.tree.identity[bank] =
                VALID | e.instance() << 20 | (e.class() as u32) << 16 | pending;
        }
    }
}
