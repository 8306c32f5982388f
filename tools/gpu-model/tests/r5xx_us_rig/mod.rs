// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Four pixels and a program: the state of the digest of 3D, §15.2.

#![allow(dead_code)]

use gpu_model::r5xx::us::{Control, Lookup, Pixels, Program, Quad, Run, Sampler, STEPS};

/// A lane that is not written keeps this.
pub const KEPT: f32 = 99.0;

/// Keeps what is looked up, and answers with its coordinates.
#[derive(Default)]
pub struct Echo(pub Vec<Lookup>);

impl Sampler for Echo {
    fn sample(&mut self, lookup: &Lookup) -> Quad {
        self.0.push(*lookup);
        lookup.at
    }
}

/// Four pixels that are alike, as of §15.2, and a program.
pub struct PixelShaderTest {
    pub pixels: Pixels,
    pub constants: [[f32; 4]; 256],
    pub control: Control,
    pub code: Vec<u32>,
    pub echo: Echo,
}

pub fn same(v: [f32; 4]) -> Quad {
    v.map(|v| [v; 4])
}

impl PixelShaderTest {
    pub fn new(code: &[[u32; 6]]) -> Self {
        let mut pixels = Pixels::default();
        for (n, t) in [
            [0.5, -1.5, 2.0, 0.25],
            [3.0, 0.5, -0.25, -2.0],
            [0.1, 0.2, 0.3, 0.4],
            [KEPT; 4],
            [KEPT; 4],
        ]
        .into_iter()
        .enumerate()
        {
            pixels.temporary[n] = same(t);
        }
        pixels.colour = [same([KEPT; 4]); 4];
        let mut constants = [[0.0; 4]; 256];
        constants[0] = [4.0, -2.0, 0.0, 1.0];
        constants[1] = [7.0; 4];
        let last = code.len() as u32 - 1;
        PixelShaderTest {
            pixels,
            constants,
            control: Control {
                config: 2,
                code_addr: last << 16,
                code_range: last << 16,
                ..Control::default()
            },
            code: code.concat(),
            echo: Echo::default(),
        }
    }

    pub fn run(&mut self) -> Run {
        let program = Program::new(&self.code, &self.control);
        let (p, c) = (&mut self.pixels, &self.constants);
        program.run(p, c, 15, &mut self.echo, STEPS)
    }

    /// A register of the first pixel; the others are the same.
    pub fn temporary(&self, n: usize) -> [f32; 4] {
        let t = &self.pixels.temporary[n];
        assert!(t.iter().all(|l| l.iter().all(|v| *v == l[0] || v.is_nan())));
        t.map(|l| l[0])
    }
}

pub fn near(got: [f32; 4], want: [f32; 4], name: &str) {
    let fits = |g: f32, w: f32| (g - w).abs() <= w.abs() * 1e-6 + 1e-7;
    let all = got.into_iter().zip(want).all(|(g, w)| fits(g, w));
    assert!(all, "{name}: {got:?}, not {want:?}");
}

/// An OUT of nothing, which every program ends with (§9.5).
pub const LAST: [u32; 6] = [5, 0, 0, 0, 0, 0];
/// LOOP with its target in slot 3, without any condition (U43).
pub const fn begin_loop(end: u32) -> [u32; 6] {
    [0x402, 0, 0x1000_0001, end << 16, 0, 0]
}
/// ENDLOOP to a slot (U46).
pub const fn end_loop(to: u32) -> [u32; 6] {
    [0x402, 0, 0x1000_ff22, to << 16, 0, 0]
}
/// The alpha of temporary 1 grows by 1 (MAD with a constant swizzle).
pub const COUNT: [u32; 6] = [
    0x4000,
    0x0802_0080,
    0x0802_0001,
    0,
    0x00c0_c010,
    0x3000_0000,
];
/// U38 of another channel: whether temporary 0's red is not 0.
pub const CONDITION: [u32; 6] = [
    0x0180_0000,
    0x0802_0000,
    0x0802_0080,
    0x80db_0480,
    0,
    0x0049_0000,
];
