// SPDX-License-Identifier: GPL-2.0

//! Logs what the engines of a device are doing, for a device that is not brought up further.

use kernel::prelude::*;
use ouro_hw::report::Activity;

use super::Gpu;
use crate::{
    report::{self, Level, Words},
    submit::request::Awake,
};

/// Logs what the engines are doing, and the errors that the device has latched. The device must be
/// awake.
pub(crate) fn print(gpu: &Gpu) {
    let hardware = gpu.hardware();
    let (Ok(_awake), hw) = (Awake::new(hardware), hardware.hw()) else {
        return;
    };
    for (n, engine) in hardware.topology().engines.iter().enumerate() {
        let id = Words(hardware.topology().name(n).unwrap_or(engine.desc().id));
        let Activity {
            head,
            tail,
            acthd,
            units: [first, second],
            idle,
            waiting,
        } = engine.activity(&hw);
        dev_info!(
            hardware.dev(),
            "{id}: HEAD {head:#x} TAIL {tail:#x} ACTHD {acthd:#x} \
             INSTDONE {first:#x} {second:#x}, idle {idle}, waiting {waiting}\n"
        );
    }
    report::print(hardware.dev(), Level::Info, &hardware.take_errors());
}
