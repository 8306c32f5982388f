// SPDX-License-Identifier: GPL-2.0
//! What real machines with a DG2 do and a kind model spares its driver.
//!
//! Expected values are of the digest, and of what the upstream driver reads and writes.

mod dg2_rig;

use dg2_rig::*;
use gpu_model::dg2::Dg2Config;
use gpu_model::memory::VecMemory;
use gpu_model::model::{self, NoIrq, Options};
use std::sync::Arc;

/// C050h and C340h of a server's card.
fn locks(options: Options) -> [u32; 2] {
    let memory = Arc::new(VecMemory::new(1 << 20));
    let gpu = model::build("dg2", options, memory, Arc::new(NoIrq))
        .expect("a model")
        .expect("memory");
    gpu.bar_write(0, 0xa188, &0x0001_0001u32.to_le_bytes());
    [0xc050, 0xc340].map(|offset| {
        let mut b = [0; 4];
        gpu.bar_read(0, offset, &mut b);
        u32::from_le_bytes(b) & 1
    })
}

/// Bit 0 of C050h and of C340h (digest §5.13). A server's card is as it is sold, one in process is not.
/// Its memory is there all the same.
#[test]
fn a_card_as_sold_is_locked() {
    let unlocked = Options {
        unlocked: true,
        ..Options::default()
    };
    assert_eq!(locks(Options::default()), [1, 1]);
    assert_eq!(locks(unlocked), [0, 0]);
    let rig = Rig::new();
    assert_eq!((rig.reg(0xc050), rig.reg(0xc340)), (0, 0));
    let rig = Rig::with(Dg2Config {
        locked: true,
        ..Dg2Config::default()
    });
    assert_eq!((rig.reg(0xc050), rig.reg(0xc340)), (1, 1));
    rig.put_local64(0x10_0000, 0x1122_3344_5566_7788);
    assert_eq!(rig.local(0x10_0004), 0x1122_3344);
    rig.clean();
}
