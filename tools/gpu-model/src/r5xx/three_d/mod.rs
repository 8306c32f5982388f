// SPDX-License-Identifier: GPL-2.0 OR MIT
//! 3D draws: what they consume, and every byte that they would read and write (R5xx guide §5.2.3,
//! §6.2, §6.4.1, §6.6).
//!
//! The vertex fetcher is modelled to the dword: it wants exactly the vertices or indices that VAP_VF_CNTL
//! announces, and locks up on any other number. Vertices go through their program (`shade.rs`), become primitives
//! (`assemble.rs`), are clipped and placed in the window (`clip.rs`), become edges and planes (`setup.rs`); pixels are
//! found (`raster.rs`), get what is interpolated (`interp.rs`), are shaded (`us/`, `tx.rs`) and tested (`fog.rs`,
//! `zb.rs`), and are stored (`cb.rs`, `packing.rs`, `pair.rs`). `pixel.rs` has it all together, `capture.rs` takes the
//! registers.

mod assemble;
mod capture;
mod cb;
mod clip;
mod count;
mod fog;
mod interp;
mod memories;
mod output;
mod packets;
mod packing;
mod pair;
mod pixel;
mod psc;
mod raster;
mod readings;
mod setup;
mod shade;
mod surfaces;
mod texel;
mod textures;
mod tx;
mod unpipelined;
mod zb;

pub(crate) use count::Count;
pub(crate) use memories::Memories;
pub use output::ShadedVertex;
pub(crate) use shade::{Engine, Shading, Slice};
pub(crate) use unpipelined::is_unpipelined;

use super::access::{Access, Unit};
use super::core::Core;
use super::disputed::Disputed;
use super::gfx::Job;
use super::lint::Rule;
use super::regs::reg;
use crate::counters::Counter;
use shade::{Vertices, EMBEDDED};

/// Arrays that the chip has (digest J6).
const ARRAYS: u32 = 16;
/// More vertices than this are reported as one range for each array.
const EXACT: u64 = 1 << 16;

/// VAP_VF_CNTL (digest §2.6).
#[derive(Clone, Copy, Debug)]
pub(crate) struct VfCntl(pub u32);

/// Where vertices come from (PRIM_WALK, §6.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// The state registers: not for user programs.
    State,
    /// Indices in the stream.
    Indices,
    /// Vertices 0 to n - 1 of the arrays.
    List,
    /// Vertices in the stream.
    Data,
}

impl VfCntl {
    /// A draw starts only with a primitive type.
    pub fn starts(self) -> bool {
        self.0 & 15 != 0
    }

    pub fn walk(self) -> Walk {
        match self.0 >> 4 & 3 {
            0 => Walk::State,
            1 => Walk::Indices,
            2 => Walk::List,
            _ => Walk::Data,
        }
    }

    /// Indices of 32 bits.
    pub fn wide(self) -> bool {
        self.0 >> 11 & 1 != 0
    }

    /// An index is two: one for the first array, one for the others.
    pub fn dual(self) -> bool {
        self.0 >> 13 & 1 != 0
    }

    /// Types of primitives that no source describes: one whose indices come with words of flags, and four
    /// that are reserved.
    pub fn is_odd(self) -> bool {
        (7..=11).contains(&(self.0 & 15))
    }

    /// A vertex that has been shaded for an index may serve for the next one with the same.
    fn reuses(self) -> bool {
        self.0 >> 12 & 1 == 0
    }

    fn alternative_count(self) -> bool {
        self.0 >> 14 & 1 != 0
    }
}

/// A draw that waits for its data.
#[derive(Debug)]
pub(crate) struct Pending {
    control: VfCntl,
    vertices: u64,
    need: u64,
    got: u64,
    indices: Vec<u32>,
    /// Vertices in the stream, if a program wants them.
    data: Option<Vec<u32>>,
}

/// The vertex side of the chip.
#[derive(Default)]
pub(crate) struct State {
    /// A draw has begun and lacks data.
    pub pending: Option<Pending>,
    /// The vertex processor got too much or too little, until a reset.
    pub stuck: bool,
    /// Samples that passed since ZB_ZPASS_DATA was written.
    pub passed: u32,
    /// Shader memories.
    pub memories: Memories,
    /// The vertex shader.
    pub engine: Engine,
    /// Draws whose pixels may not be in memory.
    in_flight: unpipelined::InFlight,
}

impl State {
    /// A soft reset: what waits is gone. The memories keep what they hold.
    pub fn reset(&mut self) {
        self.pending = None;
        self.stuck = false;
        self.in_flight = unpipelined::InFlight::default();
    }
}

/// A draw with everything that it touches.
#[derive(Debug)]
pub(crate) struct Draw {
    pub client: bool,
    /// Vertices and surfaces.
    accesses: Vec<Access>,
    colour: bool,
    depth: bool,
    /// Its accesses are told.
    told: bool,
    shading: Option<Box<Shading>>,
}

impl Draw {
    pub fn writes_colour(&self) -> bool {
        self.colour
    }

    /// Dwords of its indices or vertices.
    pub fn held(&self) -> usize {
        self.shading.as_ref().map_or(0, |s| s.held())
    }

    /// All that it touches.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    pub fn writes_depth(&self) -> bool {
        self.depth
    }
}

/// A vertex array (digest §4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Array {
    base: u64,
    count: u64,
    stride: u64,
}

/// What an index is biased by and kept within.
#[derive(Clone, Copy, Debug)]
struct Limits {
    bias: i64,
    least: i64,
    most: i64,
}

impl Limits {
    /// The vertex that an index means (§6.2; the order of the two is the digest's, §4.7).
    fn apply(self, index: u64) -> u64 {
        (index as i64 + self.bias).clamp(self.least, self.most) as u64
    }
}

impl Core {
    /// VAP_VF_CNTL is written, by whatever path: a draw begins (§6.4.1).
    pub fn vf_cntl_written(&mut self, data: u32) {
        let control = VfCntl(data);
        if !control.starts() {
            return;
        }
        if self.gfx.three.pending.is_some() {
            // The one before never got what it wanted.
            self.vap_locks_up("a draw while another waits");
            return;
        }
        let vertices = if control.alternative_count() {
            u64::from(self.get(reg::VAP_ALT_NUM_VERTICES) & 0xff_ffff)
        } else {
            u64::from(data >> 16)
        };
        let size = u64::from(self.get(reg::VAP_VTX_SIZE) & 0x7f);
        let need = match control.walk() {
            Walk::Indices if control.wide() => vertices,
            Walk::Indices => vertices.div_ceil(2),
            Walk::Data => vertices * size,
            Walk::List => 0,
            Walk::State => {
                self.notes.lint(Rule::PrimWalk, || format!("{data:#010x}"));
                0
            }
        };
        if vertices == 0 || (control.walk() == Walk::Data && size == 0) {
            self.notes
                .lint(Rule::EmptyDraw, || format!("{data:#010x} size {size}"));
        }
        let data = control.walk() == Walk::Data && need <= EMBEDDED && self.has_stream();
        self.gfx.three.pending = Some(Pending {
            control,
            vertices,
            need,
            got: 0,
            indices: Vec::new(),
            data: data.then(Vec::new),
        });
        self.complete();
    }

    /// A dword arrives at the vertex or index port (§6.6).
    pub fn vertex_port(&mut self, data: u32) {
        let Some(p) = &mut self.gfx.three.pending else {
            self.vap_locks_up("data that no draw wants");
            return;
        };
        p.got += 1;
        if p.control.walk() == Walk::Indices {
            if p.control.wide() {
                p.indices.push(data);
            } else {
                p.indices.extend([data & 0xffff, data >> 16]);
            }
        }
        if let Some(all) = &mut p.data {
            all.push(data);
        }
        self.complete();
    }

    /// The vertex processor waits without end, or has data that it cannot use.
    pub fn vap_locks_up(&mut self, why: &str) {
        self.notes.lint(Rule::VertexCount, || why.to_owned());
        if !std::mem::replace(&mut self.gfx.three.stuck, true) {
            self.notes.count(Counter::Lockups);
        }
        self.gfx.three.pending = None;
    }

    /// Queues the draw once it has all its data.
    fn complete(&mut self) {
        let full = |p: &mut Pending| p.got >= p.need;
        let Some(mut p) = self.gfx.three.pending.take_if(full) else {
            return;
        };
        self.notes.counters.add(Counter::Vertices, p.vertices);
        let mut accesses = Vec::new();
        let work = match p.control.walk() {
            Walk::Indices => {
                p.indices.truncate(p.vertices as usize);
                let list: Vec<u64> = p.indices.iter().map(|i| u64::from(*i)).collect();
                let arrays = self.fetch_vertices(&list, &mut accesses);
                if p.control.dual() {
                    self.fetch_halves(&list, &mut accesses);
                }
                Some((Vertices::Indices(p.indices), arrays))
            }
            Walk::List => {
                let arrays = self.fetch_list(p.vertices, &mut accesses);
                Some((Vertices::List(p.vertices), arrays))
            }
            Walk::Data => {
                let size = self.get(reg::VAP_VTX_SIZE) & 0x7f;
                p.data
                    .map(|d| (Vertices::Data(d, size as usize), Vec::new()))
            }
            Walk::State => None,
        };
        let reuses = p.control.reuses();
        let shading = work.and_then(|(vertices, arrays)| self.shading(vertices, arrays, reuses));
        let (mut colour, mut depth) = (false, false);
        let mut first = None;
        self.each_pipe(|core| {
            let targets = core.targets();
            core.surface_accesses(&targets, &mut accesses);
            core.track_draw(&targets);
            colour |= targets.writes_colour();
            depth |= targets.writes_depth();
            first.get_or_insert(targets);
        });
        let shading = shading.map(|mut s| {
            s.drawing = first.and_then(|targets| self.drawing(p.control, &targets));
            s
        });
        let draw = Draw {
            client: self.notes.client,
            colour,
            depth,
            accesses,
            told: false,
            shading: shading.map(Box::new),
        };
        self.queue(Job::Three(Box::new(draw)));
        if p.control.is_odd() {
            self.dispute(Disputed::Primitive);
            self.vap_locks_up("undefined primitives");
        }
    }

    /// A part of a draw at its turn: reports what it touches, then shades some of its vertices.
    pub fn draw_3d(&mut self, draw: &mut Draw) -> Slice {
        if !std::mem::replace(&mut draw.told, true) {
            self.account(draw);
            self.gfx.three.engine.begin_draw();
        }
        match &mut draw.shading {
            Some(shading) => self.shade(shading),
            None => Slice::Done,
        }
    }

    fn account(&mut self, draw: &Draw) {
        self.before_access("2d");
        for access in &draw.accesses {
            self.mc.touch(*access);
        }
    }

    /// The vertex arrays in use.
    fn arrays(&mut self) -> Vec<Array> {
        let number = self.get(reg::VAP_VTX_NUM_ARRAYS) & 31;
        if number > ARRAYS {
            self.notes.lint(Rule::VertexArrays, || format!("{number}"));
        }
        (0..number.min(ARRAYS))
            .map(|n| {
                let at = reg::VAP_VTX_AOS_ATTR01 + 12 * (n / 2);
                let half = self.get(at) >> (16 * (n % 2));
                Array {
                    base: u64::from(self.get(at + 4 + 4 * (n % 2))),
                    count: u64::from(half & 0x7f),
                    stride: u64::from(half >> 8 & 0x7f),
                }
            })
            .collect()
    }

    /// VAP_INDEX_OFFSET, and VAP_VF_MIN_VTX_INDX and VAP_VF_MAX_VTX_INDX.
    fn limits(&self) -> Limits {
        let most = i64::from(self.get(reg::VAP_VF_MAX_VTX_INDX));
        Limits {
            // 25 bits, signed.
            bias: i64::from(((self.get(reg::VAP_INDEX_OFFSET) << 7) as i32) >> 7),
            least: i64::from(self.get(reg::VAP_VF_MIN_VTX_INDX)).min(most),
            most,
        }
    }

    /// The vertex that an index means; it is told if the limits change that.
    fn limited(&mut self, index: u64) -> u64 {
        let limits = self.limits();
        let wanted = index as i64 + limits.bias;
        let vertex = limits.apply(index);
        if vertex as i64 != wanted {
            self.notes
                .lint(Rule::IndexClamped, || format!("{wanted} to {vertex}"));
        }
        vertex
    }

    /// Lists the reads of the vertices with these indices, by array.
    fn fetch_vertices(&mut self, list: &[u64], out: &mut Vec<Access>) -> Vec<Array> {
        let arrays = self.needed_arrays();
        let mut vertices: Vec<u64> = list.iter().map(|i| self.limited(*i)).collect();
        // What is fetched counts, not how often.
        vertices.sort_unstable();
        vertices.dedup();
        let ends = vertices.first().zip(vertices.last());
        for &array in &arrays {
            match ends {
                Some((first, last)) if vertices.len() as u64 > EXACT => {
                    push(out, fetch(array, *first, *last));
                }
                _ => {
                    for vertex in &vertices {
                        push(out, fetch(array, *vertex, *vertex));
                    }
                }
            }
        }
        arrays
    }

    /// Indices of two halves: 23:16 for the first array, 15:0 for the others. Whether the limits hold for them is not
    /// documented.
    fn fetch_halves(&mut self, list: &[u64], out: &mut Vec<Access>) {
        self.dispute(Disputed::DualIndex);
        for (n, array) in self.arrays().into_iter().enumerate() {
            let half = |i: &u64| if n == 0 { i >> 16 & 0xff } else { i & 0xffff };
            let mut vertices: Vec<u64> = list.iter().map(half).collect();
            vertices.sort_unstable();
            vertices.dedup();
            for vertex in vertices {
                push(out, fetch(array, vertex, vertex));
            }
        }
    }

    /// Lists the reads of the first `vertices` vertices, by array.
    fn fetch_list(&mut self, vertices: u64, out: &mut Vec<Access>) -> Vec<Array> {
        let arrays = self.needed_arrays();
        if vertices == 0 {
            return arrays;
        }
        let (first, last) = (self.limited(0), self.limited(vertices - 1));
        for &array in &arrays {
            if array.count >= array.stride || last - first >= EXACT {
                push(out, fetch(array, first, last));
                continue;
            }
            for vertex in first..=last {
                push(out, fetch(array, vertex, vertex));
            }
        }
        arrays
    }

    fn needed_arrays(&mut self) -> Vec<Array> {
        let arrays = self.arrays();
        if arrays.is_empty() {
            self.notes
                .lint(Rule::VertexArrays, || "none are loaded".into());
        }
        arrays
    }
}

/// Returns the reads of an array's vertices from `first` to `last`: address + (vertex * stride) * 4, and the element's
/// dwords for the last of them.
fn fetch(array: Array, first: u64, last: u64) -> Access {
    let start = array.base + first * array.stride * 4;
    let end = array.base + (last * array.stride + array.count) * 4;
    Access::read(Unit::Vertex, start, end - start)
}

/// Adds an access, to the one before it if it goes on from there.
fn push(out: &mut Vec<Access>, a: Access) {
    if a.len == 0 {
        return;
    }
    match out.last_mut() {
        Some(l)
            if l.unit == a.unit && l.write == a.write && a.addr >= l.addr && a.addr <= l.end() =>
        {
            l.len = a.end().max(l.end()) - l.addr;
        }
        _ => out.push(a),
    }
}
