// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Predication (DG2 PRM Vol 8 "Predication", "MI_PREDICATE", "MI_SET_PREDICATE"). The two results have
//! opposite senses: a command that asks for it is dropped if MI_PREDICATE_RESULT is 0, all others if
//! MI_SET_PREDICATE_RESULT is 1. Where they are looked at is in `stream`.

use super::core::Core;
use super::engine::EngineId;
use super::lint::Rule;
use super::regs::ring;
use super::stream::Flow;

impl Core {
    /// MI_SET_PREDICATE by its mode (digest §2.1 row 2), and by bits 5:4: 2 drops while WPARID and
    /// PREDICATION_MASK have a bit in common, which is how partitions beyond the last do nothing (N9;
    /// witness VW18). Mode 1 there, the opposite, is by the vendor's names alone.
    pub fn set_predicate(&mut self, e: EngineId, header: u32) -> Flow {
        let mode = header & 0xf;
        let result = self.ering(e, ring::PREDICATE_RESULT) & 1 != 0;
        let result_2 = self.ering(e, ring::PREDICATE_RESULT_2) & 1 != 0;
        let noop = match mode {
            0 => false,
            1 => !result_2,
            2 => result_2,
            3 => !result,
            4 => result,
            15 => true,
            _ => {
                self.notes
                    .lint(Rule::Reserved, || format!("{} mode {mode}", e.name()));
                false
            }
        };
        let beyond = self.ering(e, ring::WPARID) & self.ering(e, ring::PREDICATION_MASK) != 0;
        let partition = match header >> 4 & 3 {
            0 => false,
            1 => !beyond,
            2 => beyond,
            _ => {
                self.notes
                    .lint(Rule::Reserved, || format!("{} {header:#010x}", e.name()));
                false
            }
        };
        let dropped = noop || partition;
        self.set_ering(e, ring::SET_PREDICATE_RESULT, dropped.into());
        Flow::Next
    }

    /// Returns what a command that asks for it adds to its address: the number of the partition,
    /// WPARID, times CS_MI_ADDRESS_OFFSET (N9; witness VW21).
    pub fn partition_offset(&self, e: EngineId, asked: bool) -> u64 {
        let times = self.ering(e, ring::CS_MI_ADDRESS_OFFSET);
        match asked {
            true => u64::from(self.ering(e, ring::WPARID)) * u64::from(times),
            false => 0,
        }
    }

    /// MI_PREDICATE: compares, combines with what was, loads (digest §2.1 row 11).
    pub fn predicate(&mut self, e: EngineId, header: u32) -> Flow {
        let pair =
            |c: &Core, at: u32| u64::from(c.ering(e, at)) | u64::from(c.ering(e, at + 4)) << 32;
        let a = pair(self, ring::PREDICATE_SRC0);
        let b = pair(self, ring::PREDICATE_SRC1);
        let delta = a.wrapping_sub(b);
        let compared = match header & 3 {
            0 => true,
            1 => false,
            2 => a == b,
            // The last difference is kept in the data register.
            _ => delta == pair(self, ring::PREDICATE_DATA),
        };
        self.set_ering(e, ring::PREDICATE_DATA, delta as u32);
        self.set_ering(e, ring::PREDICATE_DATA + 4, (delta >> 32) as u32);
        let old = self.ering(e, ring::PREDICATE_RESULT) & 1 != 0;
        let combined = match header >> 3 & 3 {
            0 => compared,
            1 => old && compared,
            2 => old || compared,
            _ => old != compared,
        };
        let new = match header >> 6 & 3 {
            0 => old,
            2 => combined,
            3 => !combined,
            _ => {
                self.notes
                    .lint(Rule::Reserved, || format!("{} {header:#010x}", e.name()));
                old
            }
        };
        self.set_ering(e, ring::PREDICATE_RESULT, new.into());
        Flow::Next
    }
}
