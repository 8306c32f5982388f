// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The video codec engine of the modelled G45 and GM45: its commands of the memory interface (chapter 2).

use crate::gen4_rig::*;
use gpu_model::ring::chip::{G45, GM45};
use gpu_model::ring::lint::Rule;
use gpu_model::ring::StepResult;

#[test]
fn batches() {
    // 2.4: no bit says in which space; the address is of 64 bytes.
    let rig = Rig::new(&G45);
    rig.put(BATCH, &[STORE, 0, TARGET, 1, 0x1880_0100, BATCH + 0x100]);
    rig.put(BATCH + 0x100, &[STORE, 0, TARGET + 4, 2, END]);
    rig.run(VCS, &[0x1880_0000, BATCH, STORE, 0, TARGET + 8, 3]);
    assert_eq!([0, 4, 8].map(|at| rig.at(TARGET + at)), [1, 2, 3]);
    assert_eq!(rig.gpu.lints(), vec![(Rule::ChainedPrivilege, 1)]);
}

#[test]
fn registers_and_stores() {
    // 2.6, 2.9, 2.10: bit 22 of the store is the global table; there is no physical form.
    let rig = Rig::new(&GM45);
    rig.gpu.gtt_write(TARGET >> 12, 0x9_0001);
    rig.run(VCS, &[0, LRI, 0x4094, 0x77, STORE, 0, TARGET, 1]);
    rig.run(VCS, &[0x1000_0002, 0, TARGET + 4, 2, INDEX, 0x100, 3]);
    assert_eq!(rig.reg(0x4094), 0x77);
    assert_eq!([0x9_0000, 0x9_0004].map(|at| rig.at(at)), [1, 2]);
    assert_eq!(rig.at(status_page(VCS) + 0x100), 3);
    rig.clean();
    // 1.8, 2.6: bit 8 of the ring control.
    rig.set(0x403c, 0x101);
    rig.run(VCS, &[LRI, 0x4094, 0x11]);
    assert_eq!(rig.reg(0x4094), 0x77);
}

#[test]
fn what_a_program_may_not() {
    // 1.5.2, 2.4: as on the render engine; G-15: its error is the chip's.
    let rig = Rig::new(&G45);
    rig.set(0x20b4, 0);
    rig.put(BATCH, &[STORE, 0, TARGET, 1, LRI, 0x4094, 5, END]);
    rig.run(VCS, &[0x1880_0100, BATCH]);
    assert_eq!((rig.at(TARGET), rig.reg(0x4094)), (0, 0));
    assert_eq!(rig.reg(0x20b0), 1 << 4 | 1 << 3);
    assert_eq!(rig.gpu.client_lints(), vec![(Rule::Privilege, 2)]);
}

#[test]
fn flushes_and_waits() {
    // 2.5: "Wait for all media engines"; what the render engine has drawn is not its business. 2.12: nothing to wait
    // for.
    let rig = Rig::new(&G45);
    rig.run(RCS, &fill(TARGET, 64, (0, 1), (0, 1), 7));
    rig.run(VCS, &[FLUSH, 0x0180_0008, INDEX, 0x100, 9, USER]);
    assert_eq!((rig.at(TARGET), rig.at(status_page(VCS) + 0x100)), (0, 9));
    rig.run(RCS, &[FLUSH]);
    assert_eq!(rig.at(TARGET), 7);
    rig.clean();
}

#[test]
fn codecs_are_passed_over() {
    // 2.13; length in 11:0. A command of the render engine's pipe is a parse error.
    let rig = Rig::new(&GM45);
    rig.run(VCS, &[0x7000_0002, 0, 0, 0, INDEX, 0x100, 4]);
    assert_eq!(rig.at(status_page(VCS) + 0x100), 4);
    rig.clean();
    rig.submit(VCS, &[0x7b00_0004, 0, 0, 0, 0, 0]);
    rig.gpu.run_until_idle(10);
    assert_eq!(rig.gpu.step(VCS), StepResult::Stopped);
}
