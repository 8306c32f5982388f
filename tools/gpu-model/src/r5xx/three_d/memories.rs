// SPDX-License-Identifier: GPL-2.0
//! The shaders' memories: code and constants of the vertex engine, instructions and constants of the
//! pixel engine (R5xx guide §6.4.10, §6.4.11, §7.2; digest §2.8, §4.5).
//!
//! They are storage: nothing is shaded here. What a program leaves in them, the next one could run.

use crate::r5xx::core::Core;
use crate::r5xx::lint::Rule;
use crate::r5xx::regs::reg;

/// Vectors of the vertex engine, of 16 bytes: code, constants, and what the clipper wants.
const PVS: usize = 1544;
/// Windows of its addresses: code at 0 to 1023, constants to 1535, of which there are 256, planes of
/// the clipper from 1536.
const CONSTANTS: u32 = 1024;
const CONSTANTS_END: u32 = 1280;
const PLANES: u32 = 1536;
/// The last one, which the counter does not wrap to.
const TEXGEN: u32 = 1543;
/// Dwords of the pixel engine: 512 instructions of six, and 256 constants of four.
const US_CODE: usize = 512 * 6;
const US_CONSTANTS: usize = 256 * 4;

/// What is in the memories, and where their ports stand.
pub(crate) struct Memories {
    pvs: Vec<[u32; 4]>,
    at: u32,
    lane: usize,
    partial: [u32; 4],
    us: Vec<u32>,
    us_constants: Vec<u32>,
    us_at: usize,
    us_constant: bool,
}

impl Default for Memories {
    fn default() -> Self {
        Memories {
            pvs: vec![[0; 4]; PVS],
            at: 0,
            lane: 0,
            partial: [0; 4],
            us: vec![0; US_CODE],
            us_constants: vec![0; US_CONSTANTS],
            us_at: 0,
            us_constant: false,
        }
    }
}

impl Memories {
    /// The next address: each window wraps to its beginning, the last vector stays (§6.4.11).
    fn advance(&mut self) {
        self.at = match self.at {
            1023 => 0,
            1535 => CONSTANTS,
            1542 => PLANES,
            TEXGEN => TEXGEN,
            at => at + 1,
        };
    }
}

impl Core {
    /// VAP_PVS_VECTOR_INDX_REG: an address in units of 16 bytes; the dword counter begins anew.
    pub fn pvs_index(&mut self, data: u32) {
        let m = &mut self.gfx.three.memories;
        m.at = data & 0x7ff;
        m.lane = 0;
    }

    /// A dword of a vector: the fourth commits it (§6.4.10).
    pub fn pvs_write(&mut self, data: u32) {
        let m = &mut self.gfx.three.memories;
        m.partial[m.lane] = data;
        m.lane = (m.lane + 1) % 4;
        if m.lane != 0 {
            return;
        }
        let (at, vector) = (m.at, m.partial);
        let exists = !(CONSTANTS_END..PLANES).contains(&at);
        match m.pvs.get_mut(at as usize) {
            Some(v) if exists => *v = vector,
            _ => self
                .notes
                .lint(Rule::ShaderAddress, || format!("vertex vector {at}")),
        }
        self.gfx.three.memories.advance();
    }

    /// A dword of a vector is read, by the same counter.
    pub fn pvs_read(&mut self) -> u32 {
        let m = &mut self.gfx.three.memories;
        let value = m.pvs.get(m.at as usize).map_or(0, |v| v[m.lane]);
        m.lane = (m.lane + 1) % 4;
        if m.lane == 0 {
            m.advance();
        }
        value
    }

    /// GA_US_VECTOR_INDEX or GA_US_VECTOR_DATA: 8:0 index, 16 constants; six dwords of an instruction
    /// or four of a constant follow each other.
    pub fn us_write(&mut self, offset: u32, data: u32) {
        let m = &mut self.gfx.three.memories;
        if offset == reg::GA_US_VECTOR_INDEX {
            m.us_constant = data >> 16 & 1 != 0;
            let size = if m.us_constant { 4 } else { 6 };
            m.us_at = (data & 0x1ff) as usize * size;
            return;
        }
        let at = m.us_at;
        m.us_at += 1;
        let memory = if m.us_constant {
            &mut m.us_constants
        } else {
            &mut m.us
        };
        match memory.get_mut(at) {
            Some(v) => *v = data,
            None => self
                .notes
                .lint(Rule::ShaderAddress, || format!("pixel dword {at}")),
        }
    }
}
