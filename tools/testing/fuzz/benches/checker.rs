// SPDX-License-Identifier: GPL-2.0
//! What it costs to check a stream and patch a copy of it, beside what it costs to copy it: `cargo bench -p
//! ouro-fuzz`.
//!
//! The streams are those that Mesa's r300 has sent (`tools/testing/mesa/streams`), one after the other.

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use ouro_cross::recorded::{self, Recorded};
use ouro_hw::{
    checker::{Object, Patch, Resolve, Verdict},
    types::GpuAddr,
    Checker,
};
use std::hint::black_box;
use std::time::Instant;

/// Objects of a stream, 4 MiB apart.
struct Objects<'a>(&'a [u32]);

impl Resolve for Objects<'_> {
    fn object(&self, n: u32) -> Option<Object> {
        let bytes = *self.0.get(n as usize)?;
        Some(Object {
            addr: GpuAddr(0x8000_0000 + (u64::from(n) << 22)),
            bytes: bytes.into(),
            tiling: None,
        })
    }

    fn stream_knows_tiling(&self) -> bool {
        true
    }
}

/// Checks all, and patches what is in `copy`.
fn check(checker: &dyn Checker, streams: &[Recorded], list: &mut [Patch], copy: &mut [u32]) {
    for stream in streams {
        let objects = Objects(&stream.objects);
        let verdict = checker.check(black_box(&stream.dwords), &objects, black_box(&mut *list));
        let Verdict::Passes { dwords, patches } = verdict else {
            panic!("refused: {verdict:?}");
        };
        let copy = black_box(&mut copy[..dwords]);
        for Patch { at, value } in &list[..patches] {
            copy[*at as usize] = *value;
        }
    }
}

fn copy(streams: &[Recorded], out: &mut [u32]) {
    for stream in streams {
        let to = &mut black_box(&mut *out)[..stream.dwords.len()];
        to.copy_from_slice(black_box(&stream.dwords));
    }
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
    let engine = ouro_fuzz::topology().engines[0];
    let checker = engine.checker().expect("it confines nobody");
    let streams = recorded::r300();
    let dwords: usize = streams.iter().map(|s| s.dwords.len()).sum();
    let most = streams.iter().map(|s| s.dwords.len()).max();
    let most = most.unwrap_or(0);
    let mut out = vec![0; most];
    let mut list = vec![Patch::default(); Patch::most(most)];
    let mut group = c.benchmark_group("streams of r300");
    group.throughput(Throughput::Bytes(dwords as u64 * 4));
    group.bench_function("check", |b| {
        b.iter(|| check(checker, &streams, &mut list, &mut out));
    });
    group.bench_function("copy", |b| b.iter(|| copy(&streams, &mut out)));
    group.finish();
    let checked = least(|| check(checker, &streams, &mut list, &mut out));
    let copied = least(|| copy(&streams, &mut out));
    println!(
        "{} streams, {dwords} dwords: checked in {checked:.0} ns, copied in {copied:.0} ns: {:.1} times",
        streams.len(),
        checked / copied
    );
}

criterion_group!(benches, checker);
criterion_main!(benches);
