// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A draw's vertices: fetched, converted, and run through the vertex program (R5xx guide §6.2, §6.4.7, §6.5).
//!
//! A draw takes registers, code and constants when it begins. Memory is read when its turn comes. A long draw is done
//! in slices, so that it does not block the model; an endless program stops the vertex processor for good.

use super::output::{OutFormat, ShadedVertex};
use super::pixel::Drawing;
use super::psc::{Oddity, Stream};
use super::{Array, Limits};
use crate::counters::Counter;
use crate::r5xx::core::Core;
use crate::r5xx::lint::Rule;
use crate::r5xx::pvs::{
    Code, Control, FlowControl, Note, Notes, Program, Progress, Vec4, Vertex, ALTERNATES,
    CONSTANTS, ENTRIES,
};
use crate::r5xx::regs::reg;
use crate::r5xx::us::Pixels;
use std::sync::Arc;

/// Instructions that are run at a time.
const SLICE: u64 = 1 << 16;
/// What the fetch of a vertex counts among them.
const FETCH: u64 = 16;
/// Dwords of vertices in the stream that are kept for a draw; of more than these nothing is shaded.
pub(super) const EMBEDDED: u64 = 1 << 20;
/// Vectors of the memories of inputs, outputs and temporaries (§6.5.2).
const MEMORY: u32 = 128;
/// VAP_CNTL_STATUS: no program runs.
const TCL_BYPASS: u32 = 1 << 8;

/// Where the vertices are.
#[derive(Debug)]
pub(super) enum Vertices {
    /// In the arrays, by these indices.
    Indices(Vec<u32>),
    /// In the arrays, the first so many.
    List(u64),
    /// Dwords of the stream, so many for each.
    Data(Vec<u32>, usize),
}

/// A draw's work for the vertex program.
pub(crate) struct Shading {
    vertices: Vertices,
    arrays: Vec<Array>,
    limits: Limits,
    /// VAP_CNTL_STATUS 1:0.
    swap: u32,
    bypass: bool,
    stream: Stream,
    format: OutFormat,
    code: Arc<Code>,
    constants: Arc<[Vec4; CONSTANTS]>,
    control: Control,
    /// The vertex whose turn it is.
    next: u64,
    /// It may be one that is shaded already, if it has the same index.
    reuses: bool,
    /// How far it is.
    progress: Option<Progress>,
    notes: Notes,
    odd: Option<Oddity>,
    /// What its vertices go to.
    pub(super) drawing: Option<Drawing>,
    /// They have all gone there.
    ended: bool,
}

impl std::fmt::Debug for Shading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shading")
            .field("vertices", &self.vertices)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// What a slice has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slice {
    Done,
    More,
    /// A program does not end.
    Endless,
}

/// What the engine keeps between draws.
#[derive(Default)]
pub(crate) struct Engine {
    /// A vertex's memories, which nothing clears.
    vertex: Vertex,
    /// The dwords of one.
    dwords: Vec<u32>,
    /// Those of four pixels.
    pixels: Pixels,
    /// Vertices of the draw whose turn it is.
    recent: Recent,
    /// What was shaded, for tests.
    pub kept: Vec<ShadedVertex>,
}

impl Engine {
    /// A draw's turn comes.
    pub fn begin_draw(&mut self) {
        self.recent.begin();
    }
}

/// A fetched dword by VAP_CNTL_STATUS 1:0: as it is, bytes of halves, bytes, halves exchanged.
fn swapped(dword: u32, swap: u32) -> u32 {
    match swap {
        0 => dword,
        1 => (dword & 0x00ff_00ff) << 8 | dword >> 8 & 0x00ff_00ff,
        2 => dword.swap_bytes(),
        _ => dword.rotate_left(16),
    }
}

/// Vertices that were shaded, by index: in a mesh, most of a draw's have been when their turn comes. The chip has such a
/// memory, of a size that no source tells; VTX_REUSE_DIS (VAP_VF_CNTL 12; digest of 3D, §2.1) turns it off.
#[derive(Default)]
struct Recent {
    all: Vec<Kept>,
    /// The draw whose vertices count.
    draw: u64,
}

/// One of them, and what it is of.
#[derive(Clone, Default)]
struct Kept {
    draw: u64,
    index: u32,
    vertex: ShadedVertex,
}

/// Two indices that differ by a multiple of this have the same place.
const RECENT: usize = 1024;

impl Recent {
    /// Forgets the vertices of other draws.
    fn begin(&mut self) {
        self.all.resize(RECENT, Kept::default());
        self.draw += 1;
    }

    fn find(&self, index: u32) -> Option<ShadedVertex> {
        let kept = self.all.get(index as usize % RECENT)?;
        ((kept.draw, kept.index) == (self.draw, index)).then_some(kept.vertex)
    }

    fn keep(&mut self, index: u32, vertex: ShadedVertex) {
        if let Some(kept) = self.all.get_mut(index as usize % RECENT) {
            *kept = Kept {
                draw: self.draw,
                index,
                vertex,
            };
        }
    }
}

impl Shading {
    /// The index of the vertex whose turn it is; `None` if a vertex with the same must be shaded for itself.
    fn reused_index(&self) -> Option<u32> {
        match &self.vertices {
            Vertices::Indices(all) if self.reuses => all.get(self.next as usize).copied(),
            _ => None,
        }
    }

    /// Dwords of the stream that it holds.
    pub fn held(&self) -> usize {
        match &self.vertices {
            Vertices::Indices(all) | Vertices::Data(all, _) => all.len(),
            Vertices::List(_) => 0,
        }
    }

    fn number(&self) -> u64 {
        match &self.vertices {
            Vertices::Indices(all) => all.len() as u64,
            Vertices::List(n) => *n,
            Vertices::Data(dwords, size) => (dwords.len() / (*size).max(1)) as u64,
        }
    }
}

impl Core {
    /// VAP_PVS_CODE_CNTL_0 and what else steers a program.
    fn program_control(&self) -> Control {
        let mut flow = FlowControl {
            opc: self.get(reg::VAP_PVS_FLOW_CNTL_OPC),
            ..FlowControl::default()
        };
        for n in 0..ENTRIES {
            let at = 4 * n as u32;
            let address = reg::VAP_PVS_FLOW_CNTL_ADDRS_LW_0 + 2 * at;
            flow.addrs[n] = (self.get(address).into(), self.get(address + 4).into());
            flow.loop_index[n] = self.get(reg::VAP_PVS_FLOW_CNTL_LOOP_INDEX_0 + at).into();
        }
        Control {
            code: self.get(reg::VAP_PVS_CODE_CNTL_0).into(),
            constants: self.get(reg::VAP_PVS_CONST_CNTL).into(),
            flow,
        }
    }

    /// True if anything says how vertices are to be converted.
    pub(super) fn has_stream(&self) -> bool {
        (0..8).any(|n| self.get(reg::VAP_PROG_STREAM_CNTL_0 + 4 * n) != 0)
    }

    /// The work of a draw that begins, as the registers are now. None if there is nothing to say how
    /// vertices are to be converted.
    pub(super) fn shading(
        &mut self,
        vertices: Vertices,
        arrays: Vec<Array>,
        reuses: bool,
    ) -> Option<Shading> {
        let eight = |core: &Core, at: u32| std::array::from_fn(|n| core.get(at + 4 * n as u32));
        let stream = Stream::new(
            eight(self, reg::VAP_PROG_STREAM_CNTL_0),
            eight(self, reg::VAP_PROG_STREAM_CNTL_EXT_0),
            self.get(reg::VAP_PSC_SGN_NORM_CNTL),
        )?;
        let status = self.get(reg::VAP_CNTL_STATUS);
        let bypass = status & TCL_BYPASS != 0;
        let memories = &self.gfx.three.memories;
        let shading = Shading {
            vertices,
            arrays,
            limits: self.limits(),
            swap: status & 3,
            bypass,
            odd: stream.odd,
            stream,
            format: OutFormat::new(
                self.get(reg::VAP_OUT_VTX_FMT_0),
                self.get(reg::VAP_OUT_VTX_FMT_1),
                bypass,
            ),
            code: memories.code(),
            constants: memories.constants(),
            control: self.program_control(),
            next: 0,
            reuses,
            progress: None,
            notes: Notes::NONE,
            drawing: None,
            ended: false,
        };
        if !bypass {
            self.watch_slots(&shading);
        }
        Some(shading)
    }

    /// VAP_CNTL 3:0 is the number of slots, of inputs and outputs, 7:4 that of controllers, of temporaries. Each
    /// of them is for a group of eight vertices, one in each of the engines. One vertex is shaded at a time here.
    fn watch_slots(&mut self, s: &Shading) {
        let control = self.get(reg::VAP_CNTL);
        let (slots, controllers) = (control & 15, control >> 4 & 15);
        let code = s.control.code;
        let (temporary, alternate) = s.code.registers(code.first_inst(), code.last_inst());
        let fit = |memory: u32, vectors: u32| memory.checked_div(vectors).unwrap_or(memory);
        let most_slots = 10
            .min(fit(MEMORY, s.stream.vectors()))
            .min(fit(MEMORY, s.format.vectors()));
        // §6.4.2 has six, §6.5.2 five.
        let most_controllers = 6
            .min(fit(MEMORY, temporary.into()))
            .min(fit(ALTERNATES as u32, alternate.into()));
        if slots > most_slots || controllers > most_controllers {
            self.notes.lint(Rule::VertexSlots, || {
                format!("{slots} of {most_slots} slots, {controllers} of {most_controllers}")
            });
        }
    }

    /// A slice of a draw's vertices.
    pub fn shade(&mut self, s: &mut Shading) -> Slice {
        let slice = self.slice(s);
        if slice != Slice::More {
            let (notes, odd) = (s.notes, s.odd);
            if let Some(odd) = odd {
                self.notes.lint(Rule::StreamControl, || format!("{odd:?}"));
            }
            if !notes.is_empty() {
                self.notes
                    .lint(Rule::VertexProgram, || format!("{notes:?}"));
            }
            if let Some(drawing) = s.drawing.as_ref().filter(|d| !d.notes.is_empty()) {
                let notes = drawing.notes;
                self.notes.lint(Rule::PixelProgram, || format!("{notes:?}"));
            }
        }
        if slice == Slice::Endless {
            self.vap_never_ends();
        }
        slice
    }

    fn slice(&mut self, s: &mut Shading) -> Slice {
        let (code, constants) = (s.code.clone(), s.constants.clone());
        let program = Program::new(&code, &constants, &s.control);
        let most = self.cfg.shader_steps;
        let mut left = SLICE;
        loop {
            if !self.draw_waiting(s, &mut left) || left == 0 {
                return Slice::More;
            }
            if s.next >= s.number() {
                if std::mem::replace(&mut s.ended, true) {
                    return Slice::Done;
                }
                if let Some(drawing) = &mut s.drawing {
                    drawing.end();
                }
                continue;
            }
            let mut progress = match s.progress.take() {
                Some(progress) => progress,
                None => {
                    let recent = &self.gfx.three.engine.recent;
                    if let Some(vertex) = s.reused_index().and_then(|n| recent.find(n)) {
                        left = left.saturating_sub(1);
                        self.hand_on(s, &vertex);
                        continue;
                    }
                    self.fetch_inputs(s);
                    left = left.saturating_sub(FETCH);
                    program.start()
                }
            };
            let engine = &mut self.gfx.three.engine;
            if s.bypass {
                engine.vertex.output = engine.vertex.input;
            } else {
                let before = progress.run().steps;
                let now = left.min(most.saturating_sub(before));
                let ended = program.go_on(&mut engine.vertex, &mut progress, now);
                let run = progress.run();
                let done = run.steps - before;
                self.notes.counters.add(Counter::VsInstructions, done);
                left -= done;
                if !ended && run.steps >= most {
                    s.notes.join(run.notes);
                    s.notes.add(Note::TimeOut);
                    return Slice::Endless;
                }
                if !ended {
                    s.progress = Some(progress);
                    return Slice::More;
                }
                s.notes.join(run.notes);
            }
            self.notes.count(Counter::VerticesShaded);
            let engine = &mut self.gfx.three.engine;
            let vertex = s.format.vertex(&engine.vertex.output);
            if let Some(index) = s.reused_index() {
                engine.recent.keep(index, vertex);
            }
            self.hand_on(s, &vertex);
        }
    }

    /// Hands on the vertex whose turn it is.
    fn hand_on(&mut self, s: &mut Shading, vertex: &ShadedVertex) {
        let kept = &mut self.gfx.three.engine.kept;
        if kept.len() < self.cfg.keep_vertices {
            kept.push(*vertex);
        }
        if let Some(drawing) = &mut s.drawing {
            drawing.vertex(vertex);
        }
        s.next += 1;
    }

    /// Draws what primitives there are. False if that takes longer.
    fn draw_waiting(&mut self, s: &mut Shading, left: &mut u64) -> bool {
        let Some(drawing) = &mut s.drawing else {
            return true;
        };
        let pixels = &mut self.gfx.three.engine.pixels;
        let done = drawing.draw(&mut self.mc, pixels, left);
        let counters = &mut self.notes.counters;
        counters.add(Counter::QuadsShaded, std::mem::take(&mut drawing.shaded));
        counters.add(Counter::UsInstructions, std::mem::take(&mut drawing.steps));
        let passed = std::mem::take(&mut drawing.passed) as u32;
        self.gfx.three.passed = self.gfx.three.passed.wrapping_add(passed);
        done
    }

    /// Reads what all arrays have of the next vertex, and converts it to inputs. What it reads was told
    /// before: [`Core::account`].
    fn fetch_inputs(&mut self, s: &mut Shading) {
        let dwords = &mut self.gfx.three.engine.dwords;
        dwords.clear();
        let index = match &s.vertices {
            Vertices::Indices(all) => u64::from(all[s.next as usize]),
            Vertices::List(_) => s.next,
            Vertices::Data(all, size) => {
                let at = s.next as usize * size;
                dwords.extend_from_slice(&all[at..at + size]);
                0
            }
        };
        let vertex = s.limits.apply(index);
        let mut bytes = [0; 4 * 0x7f];
        for array in &s.arrays {
            let bytes = &mut bytes[..4 * array.count as usize];
            self.mc.peek(array.base + 4 * array.stride * vertex, bytes);
            let words = bytes.chunks_exact(4);
            let words = words.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            dwords.extend(words.map(|d| swapped(d, s.swap)));
        }
        let engine = &mut self.gfx.three.engine;
        let short = s.stream.load(&engine.dwords, &mut engine.vertex.input);
        s.odd = s.odd.or(short);
    }

    /// A vertex program has run for longer than any that ends: the vertex processor hangs.
    fn vap_never_ends(&mut self) {
        self.notes
            .lint(Rule::EndlessProgram, || "a vertex program".into());
        if !std::mem::replace(&mut self.gfx.three.stuck, true) {
            self.notes.count(Counter::Lockups);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digest of 3D, §2.1.
    #[test]
    fn swaps_of_fetched_dwords() {
        let of = |swap| swapped(0x1122_3344, swap);
        assert_eq!([of(0), of(1)], [0x1122_3344, 0x2211_4433]);
        assert_eq!([of(2), of(3)], [0x4433_2211, 0x3344_1122]);
    }
}
