// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The shaders' memories: code and constants of the vertex engine, instructions and constants of the
//! pixel engine (R5xx guide §6.4.10, §6.4.11, §7.2; digest §2.8, §4.5).
//!
//! They are storage. What a program leaves in them, the next one could run. A draw that begins holds the vertex
//! engine's as they are then, and the pixel engine's of pipe 0.

use crate::r5xx::core::Core;
use crate::r5xx::lint::Rule;
use crate::r5xx::pipes::{Reach, MOST};
use crate::r5xx::pvs::{self, Code, Vec4};
use crate::r5xx::regs::reg;
use crate::r5xx::us;
use std::sync::Arc;

/// Windows of the vertex engine's addresses, in vectors of 16 bytes: code at 0 to 1023, constants to 1535, of which
/// there are 256, planes of the clipper and two more vectors of its from 1536.
const CONSTANTS: u32 = 1024;
const PLANES: u32 = 1536;
/// The last one, which the counter does not wrap to.
const TEXGEN: u32 = 1543;
/// Dwords of the pixel engine: 512 instructions of six, and 256 constants of four.
const US_CODE: usize = 512 * 6;
const US_CONSTANTS: usize = 256 * 4;

/// What is in the memories, and where their ports stand.
pub(crate) struct Memories {
    code: Arc<Code>,
    constants: Arc<[Vec4; pvs::CONSTANTS]>,
    planes: [[u32; 4]; (TEXGEN - PLANES + 1) as usize],
    at: u32,
    lane: usize,
    partial: [u32; 4],
    /// The pixel engine of pipe 0.
    us: Us,
    /// Those of other pipes, while they differ from it.
    others: [Option<Box<Us>>; MOST - 1],
}

/// The memories of a pixel engine.
#[derive(Clone, PartialEq, Eq)]
struct Us {
    code: Vec<u32>,
    constants: Vec<u32>,
    at: usize,
    constant: bool,
}

impl Default for Us {
    fn default() -> Self {
        Us {
            code: vec![0; US_CODE],
            constants: vec![0; US_CONSTANTS],
            at: 0,
            constant: false,
        }
    }
}

impl Us {
    fn index(&mut self, data: u32) {
        self.constant = data >> 16 & 1 != 0;
        let size = if self.constant { 4 } else { 6 };
        self.at = (data & 0x1ff) as usize * size;
    }

    /// Stores a dword; where there is none, says which.
    fn data(&mut self, data: u32) -> Option<usize> {
        let at = self.at;
        self.at += 1;
        let memory = if self.constant {
            &mut self.constants
        } else {
            &mut self.code
        };
        match memory.get_mut(at) {
            Some(v) => *v = data,
            None => return Some(at),
        }
        None
    }
}

impl Default for Memories {
    fn default() -> Self {
        Memories {
            code: Arc::default(),
            constants: Arc::new([[0.0; 4]; pvs::CONSTANTS]),
            planes: Default::default(),
            at: 0,
            lane: 0,
            partial: [0; 4],
            us: Us::default(),
            others: [const { None }; MOST - 1],
        }
    }
}

impl Memories {
    /// The vertex engine's code, as it is now.
    pub fn code(&self) -> Arc<Code> {
        self.code.clone()
    }

    /// Its constants.
    pub fn constants(&self) -> Arc<[Vec4; pvs::CONSTANTS]> {
        self.constants.clone()
    }

    /// The clipper's planes of the user.
    pub fn user_planes(&self) -> [Vec4; 6] {
        std::array::from_fn(|n| self.planes[n].map(f32::from_bits))
    }

    /// Instructions of pipe 0's pixel engine: six dwords each.
    pub fn us_code(&self) -> &[u32] {
        &self.us.code
    }

    /// Its constants.
    pub fn us_constants(&self) -> Box<[Vec4; us::CONSTANTS]> {
        let at = |n: usize, lane: usize| f32::from_bits(self.us.constants[4 * n + lane]);
        Box::new(std::array::from_fn(|n| std::array::from_fn(|l| at(n, l))))
    }

    /// A vector of the vertex engine; `None` where there is none.
    fn vector(&self, at: u32) -> Option<[u32; 4]> {
        match at {
            0..CONSTANTS => self.code.word(at as usize),
            CONSTANTS..PLANES => {
                let constant = self.constants.get((at - CONSTANTS) as usize);
                constant.map(|v| v.map(f32::to_bits))
            }
            _ => self.planes.get((at - PLANES) as usize).copied(),
        }
    }

    /// Stores one; false where there is none. What a draw holds is left as it is.
    fn set_vector(&mut self, at: u32, vector: [u32; 4]) -> bool {
        if self.vector(at) == Some(vector) {
            return true;
        }
        match at {
            0..CONSTANTS => return Arc::make_mut(&mut self.code).write(at as usize, vector),
            CONSTANTS..PLANES => {
                let at = (at - CONSTANTS) as usize;
                if at >= pvs::CONSTANTS {
                    return false;
                }
                Arc::make_mut(&mut self.constants)[at] = vector.map(f32::from_bits);
            }
            _ => match self.planes.get_mut((at - PLANES) as usize) {
                Some(place) => *place = vector,
                None => return false,
            },
        }
        true
    }

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
    /// VAP_PVS_VECTOR_INDX_REG: an address in units of 16 bytes; the dword counter restarts.
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
        if !m.set_vector(at, vector) {
            self.notes
                .lint(Rule::ShaderAddress, || format!("vertex vector {at}"));
        }
        self.gfx.three.memories.advance();
    }

    /// A dword of a vector is read, by the same counter.
    pub fn pvs_read(&mut self) -> u32 {
        let m = &mut self.gfx.three.memories;
        let value = m.vector(m.at).map_or(0, |v| v[m.lane]);
        m.lane = (m.lane + 1) % 4;
        if m.lane == 0 {
            m.advance();
        }
        value
    }

    /// GA_US_VECTOR_INDEX or GA_US_VECTOR_DATA: 8:0 index, 16 constants; six dwords of an instruction
    /// or four of a constant follow each other. Each pipe has memories of its own.
    pub fn us_write(&mut self, offset: u32, data: u32, reach: Reach) {
        self.watch_reach(offset, reach);
        let m = &mut self.gfx.three.memories;
        if reach.missed() != 0 {
            for (n, other) in (1..MOST).zip(&mut m.others) {
                if reach.all >> n & 1 != 0 && other.is_none() {
                    *other = Some(Box::new(m.us.clone()));
                }
            }
        }
        let mut outside = None;
        let others = m.others.iter_mut().map(Option::as_deref_mut);
        let engines = [Some(&mut m.us)].into_iter().chain(others).enumerate();
        for (_, us) in engines.filter(|(n, _)| reach.mask >> n & 1 != 0) {
            let Some(us) = us else { continue };
            if offset == reg::GA_US_VECTOR_INDEX {
                us.index(data);
            } else {
                outside = us.data(data).or(outside);
            }
        }
        // Those that have come to hold the same are one again; looked at once for each run of dwords.
        if offset == reg::GA_US_VECTOR_INDEX && reach.missed() == 0 {
            for other in &mut m.others {
                if other.as_deref() == Some(&m.us) {
                    *other = None;
                }
            }
        }
        if let Some(at) = outside {
            self.notes
                .lint(Rule::ShaderAddress, || format!("pixel dword {at}"));
        }
    }

    /// A dword of a pipe's pixel engine: of its code, or of its constants.
    pub fn us_dword(&self, pipe: usize, constant: bool, at: usize) -> Option<u32> {
        let m = &self.gfx.three.memories;
        let other = pipe
            .checked_sub(1)
            .and_then(|n| m.others.get(n)?.as_deref());
        let us = other.unwrap_or(&m.us);
        let memory = if constant { &us.constants } else { &us.code };
        memory.get(at).copied()
    }
}
