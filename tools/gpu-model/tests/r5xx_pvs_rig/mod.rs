// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A test rig for vertex shaders. Words are put together here by the shifts of R5xx guide §6.5.9, not by the
//! model's own definitions.

#![allow(dead_code)]

use gpu_model::r5xx::pvs::{Code, Control, FlowControl, Notes, Program, Run, Vec4, Vertex};

/// Register types of sources.
pub const TEMP: u32 = 0;
pub const INPUT: u32 = 1;
pub const CONST: u32 = 2;
pub const ALT: u32 = 3;

/// MAX_FLOAT.
pub const MAX: f32 = f32::MAX;
pub const INF: f32 = f32::INFINITY;
pub const NAN: f32 = f32::NAN;

/// A program, and what it runs over.
pub struct VertexShaderTest {
    pub code: Vec<[u32; 4]>,
    pub vertex: Vertex,
    pub constants: [Vec4; 256],
    pub control: Control,
    pub limit: u64,
}

impl VertexShaderTest {
    /// These instructions from 0 on; all 256 constants can be reached.
    pub fn new(code: &[[u32; 4]]) -> Self {
        let control = Control {
            code: ((code.len() as u32 - 1) << 20).into(),
            constants: (255 << 16).into(),
            ..Control::default()
        };
        VertexShaderTest {
            code: code.to_vec(),
            vertex: Vertex::default(),
            constants: [[0.0; 4]; 256],
            control,
            limit: 1 << 20,
        }
    }

    pub fn run(&mut self) -> Run {
        let code = Code::of(&self.code);
        let program = Program::new(&code, &self.constants, &self.control);
        program.run(&mut self.vertex, self.limit)
    }

    /// The same, and nothing is odd.
    pub fn clean(&mut self) -> Run {
        let run = self.run();
        assert_eq!(run.notes, Notes::NONE);
        run
    }

    pub fn temp(&self, n: usize) -> Vec4 {
        self.vertex.temporary[n]
    }
}

/// A source: register type and vector, all lanes as they are.
pub fn src(kind: u32, at: u32) -> u32 {
    kind | at << 5 | 1 << 16 | 2 << 19 | 3 << 22
}

/// A source with these swizzles (0 to 3 x to w, 4 0.0, 5 1.0).
pub fn swizzled(kind: u32, at: u32, s: [u32; 4]) -> u32 {
    kind | at << 5 | s[0] << 13 | s[1] << 16 | s[2] << 19 | s[3] << 22
}

/// A source's address relative to a lane of A0.
pub fn by_a0(src: u32, lane: u32) -> u32 {
    src | 1 << 4 | lane << 29
}

/// A source's address relative to the loop's index.
pub fn by_loop(src: u32) -> u32 {
    src | 1 << 31
}

/// A destination that is a temporary, all lanes.
pub fn dst(op: u32, at: u32) -> u32 {
    op | at << 13 | 15 << 20
}

/// The same of another type: 1 A0, 2 output, 3 the same with x in all lanes, 4 alternate, 5 input.
pub fn dst_of(op: u32, kind: u32, at: u32) -> u32 {
    dst(op, at) | kind << 8
}

/// An operation of the math engine.
pub const ME: u32 = 1 << 6;

/// Temporary `at` = `from`, by VE_ADD of zeroes.
pub fn mov(at: u32, from: u32) -> [u32; 4] {
    let zero = from & 0xff_ffff & !(7 << 13 | 7 << 16 | 7 << 19) & !(1 << 23 | 1 << 22)
        | from & (1 << 31 | 3 << 29)
        | 4 << 13
        | 4 << 16
        | 4 << 19
        | 4 << 22;
    [dst(3, at), from, zero, zero]
}

/// An instruction with A from temporary 0, B from temporary 1, C from input 0, to temporary 6.
fn standard(op: u32) -> [u32; 4] {
    [dst(op, 6), src(TEMP, 0), src(TEMP, 1), src(INPUT, 0)]
}

/// What temporary 6 has before.
pub const BEFORE: Vec4 = [99.0; 4];

fn execute(op: u32, [a, b, c]: [Vec4; 3], predicate: bool) -> (Vec4, bool) {
    let mut test = VertexShaderTest::new(&[standard(op)]);
    test.vertex.temporary[0] = a;
    test.vertex.temporary[1] = b;
    test.vertex.input[0] = c;
    test.vertex.temporary[6] = BEFORE;
    test.vertex.predicate = predicate;
    test.clean();
    (test.temp(6), test.vertex.predicate)
}

/// Result of a vector operation, which leaves the predicate.
pub fn ve(op: u32, sources: [Vec4; 3]) -> Vec4 {
    let (value, predicate) = execute(op, sources, true);
    assert!(predicate);
    assert!(!execute(op, sources, false).1);
    value
}

/// Result of a math operation on A.w, B.w, C.w, which leaves the predicate. The other lanes are
/// NaN, which would show.
pub fn me(op: u32, [a, b, c]: [f32; 3]) -> Vec4 {
    ve(op | ME, [a, b, c].map(|w| [NAN, NAN, NAN, w]))
}

/// Result and predicate of an operation that sets it, whatever it was before: all lanes are one.
pub fn predicate(op: u32, a: f32, b: f32) -> (bool, f32) {
    let sources = [[NAN, NAN, NAN, a], [NAN, NAN, NAN, b], [NAN; 4]];
    let (value, p) = execute(op, sources, false);
    assert_eq!(execute(op, sources, true).1, p);
    assert_eq!(value, [value[0]; 4]);
    (p, value[0])
}

/// Fails unless two vectors are the same, with each NaN as any other.
#[track_caller]
pub fn same(got: Vec4, want: Vec4) {
    let bits = |v: Vec4| v.map(|l| if l.is_nan() { NAN } else { l }.to_bits());
    assert_eq!(bits(got), bits(want), "{got:?}, not {want:?}");
}

/// Fails unless lanes are as near as six digits tell.
#[track_caller]
pub fn near(got: Vec4, want: Vec4) {
    for (g, w) in got.into_iter().zip(want) {
        assert!(
            (g - w).abs() <= 1e-6 * w.abs().max(1.0),
            "{got:?}, not {want:?}"
        );
    }
}

/// A flow-control entry of kind 1 jump, 2 loop, 3 subroutine.
pub fn entry(flow: &mut FlowControl, n: usize, kind: u32, lw: u32, uw: u32) {
    flow.opc |= kind << (2 * n);
    flow.addrs[n] = (lw.into(), uw.into());
}
