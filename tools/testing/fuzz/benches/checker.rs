// SPDX-License-Identifier: GPL-2.0
//! What it costs to check a stream, beside what it costs to copy it: `cargo bench -p ouro-fuzz`.
//!
//! The stream is what a client of 3D sends for a frame of some draws: all of the state once, programs and
//! constants through one register each, then for each draw some state, textures, arrays and the draw. Forms
//! of packets are the document's (§5.1, §5.2), registers the digest's (§3.3 to §3.5).

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use ouro_hw::{
    checker::{Object, Resolve, Verdict},
    types::GpuAddr,
    Checker,
};
use std::hint::black_box;
use std::time::Instant;

/// Draws of the frame.
const DRAWS: u32 = 20;

/// Four objects of 4 MiB.
struct Objects;

impl Resolve for Objects {
    fn object(&self, n: u32) -> Option<Object> {
        (n < 4).then(|| Object {
            addr: GpuAddr(0x8000_0000 + (u64::from(n) << 22)),
            bytes: 4 << 20,
            tiling: None,
        })
    }

    fn stream_knows_tiling(&self) -> bool {
        true
    }
}

#[derive(Default)]
struct Stream(Vec<u32>);

impl Stream {
    /// Registers, one after the other.
    fn set(&mut self, register: u32, values: &[u32]) {
        self.0
            .push((values.len() as u32 - 1) << 16 | (register / 4));
        self.0.extend(values);
    }

    /// Zeros to registers, one after the other.
    fn clear(&mut self, register: u32, count: usize) {
        self.set(register, &vec![0; count]);
    }

    /// Dwords through one register, to a place that another one says.
    fn upload(&mut self, index: (u32, u32), data: u32, dwords: u32) {
        self.set(index.0, &[index.1]);
        self.0.push((dwords - 1) << 16 | 1 << 15 | (data / 4));
        self.0
            .extend((0..dwords).map(|n| n.wrapping_mul(0x9e37_79b9)));
    }

    fn object(&mut self, n: u32) {
        self.0.extend([0xc000_1000, 4 * n]);
    }

    fn command(&mut self, opcode: u32, body: &[u32]) {
        self.0
            .push(3 << 30 | (body.len() as u32 - 1) << 16 | opcode << 8);
        self.0.extend(body);
    }

    /// What stays for the frame: two targets, raster state.
    fn frame(&mut self) {
        self.set(0x43e0, &[0, 511 << 13 | 511]);
        self.set(0x4e00, &[0]);
        self.set(0x4e0c, &[0xf]);
        self.set(0x4e28, &[0]);
        self.object(0);
        self.set(0x4e38, &[6 << 21 | 512]);
        self.set(0x4f10, &[2]);
        self.set(0x4f20, &[0]);
        self.object(1);
        self.set(0x4f24, &[512]);
        self.clear(0x4200, 4);
        self.clear(0x42a0, 7);
        self.clear(0x4bc0, 7);
    }

    /// A draw with programs, constants and two textures.
    fn draw(&mut self, n: u32) {
        self.clear(0x1d98, 6);
        self.clear(0x20b0, 2);
        self.clear(0x2150, 8);
        self.clear(0x21e0, 8);
        self.clear(0x22d0, 4);
        self.upload((0x2200, 0), 0x2208, 64);
        self.upload((0x2200, 1024), 0x2208, 128);
        self.clear(0x4074, 16);
        self.clear(0x4300, 2);
        self.clear(0x4320, 15);
        self.upload((0x4250, 0), 0x4254, 96);
        self.upload((0x4250, 1 << 16), 0x4254, 32);
        self.clear(0x4600, 2);
        self.clear(0x4e10, 6);
        self.set(0x4e04, &[0, 0]);
        self.set(0x4f00, &[7, 0, 0]);
        for unit in 0..2 {
            self.set(0x4400 + 4 * unit, &[2 << 3 | 2]);
            self.set(0x4440 + 4 * unit, &[0]);
            self.set(0x4480 + 4 * unit, &[255 | 255 << 11]);
            self.set(0x44c0 + 4 * unit, &[0xc]);
            self.set(0x4500 + 4 * unit, &[255]);
            self.set(0x45c0 + 4 * unit, &[0]);
            self.set(0x4540 + 4 * unit, &[unit << 18]);
            self.object(2);
        }
        self.set(0x4104, &[3]);
        self.set(0x2134, &[999, 0]);
        self.command(0x2f, &[2, 0x0404_0404, 0, 0x1_0000]);
        self.object(3);
        self.object(3);
        if n.is_multiple_of(4) {
            // Some vertices in the stream itself.
            self.set(0x20b4, &[8]);
            let mut body = vec![16 << 16 | 3 << 4 | 4];
            body.extend(0..128);
            self.command(0x35, &body);
        } else {
            self.command(0x34, &[300 << 16 | 2 << 4 | 4]);
        }
    }
}

fn stream() -> Vec<u32> {
    let mut stream = Stream::default();
    stream.frame();
    for n in 0..DRAWS {
        stream.draw(n);
    }
    stream.0
}

fn check(checker: &dyn Checker, stream: &[u32], out: &mut [u32]) {
    let verdict = checker.check(black_box(stream), &Objects, black_box(out));
    assert_eq!(verdict, Verdict::Copy(stream.len()));
}

fn copy(stream: &[u32], out: &mut [u32]) {
    black_box(&mut *out).copy_from_slice(black_box(stream));
}

/// Nanoseconds of one call: the least of many.
fn least(mut f: impl FnMut()) -> f64 {
    let rounds = (0..200).map(|_| {
        let start = Instant::now();
        for _ in 0..20 {
            f();
        }
        start.elapsed().as_nanos() as f64 / 20.0
    });
    rounds.fold(f64::INFINITY, f64::min)
}

fn checker(c: &mut Criterion) {
    let checker = ouro_fuzz::topology().checker.expect("it confines nobody");
    let stream = stream();
    let mut out = vec![0; stream.len()];
    let mut group = c.benchmark_group("stream");
    group.throughput(Throughput::Bytes(stream.len() as u64 * 4));
    group.bench_function("check", |b| b.iter(|| check(checker, &stream, &mut out)));
    group.bench_function("copy", |b| b.iter(|| copy(&stream, &mut out)));
    group.finish();
    let checked = least(|| check(checker, &stream, &mut out));
    let copied = least(|| copy(&stream, &mut out));
    println!(
        "{} dwords: checked in {checked:.0} ns, copied in {copied:.0} ns: {:.1} times",
        stream.len(),
        checked / copied
    );
}

criterion_group!(benches, checker);
criterion_main!(benches);
