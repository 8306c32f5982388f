// SPDX-License-Identifier: GPL-2.0
//! A modelled chip of each kind before a guest that does anything.

mod dg2;
mod r5xx;
mod ring;

use crate::source::Source;
use gpu_model::model::GpuModel;
use gpu_model::ring::chip;

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    match s.u8() % 6 {
        0 => ring::run(&mut s, &chip::SNB),
        1 => ring::run(&mut s, &chip::IVB),
        2 => dg2::run(&mut s),
        3 => r5xx::run(&mut s),
        4 => ring::run(&mut s, &chip::GM45),
        _ => ring::run(&mut s, &chip::GM965),
    }
}

/// An access of any place and size.
fn access(s: &mut Source<'_>, gpu: &dyn GpuModel) {
    if s.u8().is_multiple_of(4) {
        gpu.config_write(s.u8().into(), &s.u32().to_le_bytes());
        return;
    }
    let (bar, offset, size) = (s.u8().into(), s.odd(), s.below(70) as usize);
    if s.flag() {
        gpu.bar_write(bar, offset, &vec![s.u8(); size]);
    } else {
        gpu.bar_read(bar, offset, &mut vec![0; size]);
    }
}
