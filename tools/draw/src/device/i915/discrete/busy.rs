// SPDX-License-Identifier: GPL-2.0
//! What submissions cost while the engine has enough to do: of a context that is listed behind the one that
//! runs, nothing. (What a list costs that is given to it, the tests of the backend say.)

use std::{thread, time::Duration};

use anyhow::{bail, Result};

use super::super::super::cost::{self, EngineCost};
use super::super::super::Device;
use super::super::destroy_context;
use super::artist::{again, context_of, submit};
use super::ENGINE;
use ouro_card::i915::local::{Addresses, Bo, Memory};

/// MI_SEMAPHORE_WAIT of four dwords (digest of DG2 PRM Vol 8, §2.1 row 20): reads memory again and again (bit
/// 15) until it is the number that follows (bits 14:12 are 4).
const WAIT_UNTIL_EQUAL: u32 = 0x1c << 23 | 1 << 15 | 4 << 12 | 2;
/// Bytes of a batch that waits, and of one that does nothing.
const WAIT: usize = 24;
const NOTHING: usize = 8;
/// After which what the engine has been given has been reported.
const SETTLED: Duration = Duration::from_millis(20);

/// Counts what a row of submissions costs while nobody waits for any of them, and a more urgent context has the
/// engine, and waits for memory.
pub fn count_cost(device: &Device, addresses: &mut Addresses) -> Result<EngineCost> {
    let (urgent, other) = (context_of(device, 100)?, context_of(device, 0)?);
    let gate = Bo::new(device, addresses, Memory::System, 4096)?;
    let set = |value: u32| -> Result<()> {
        gate.map()?.write(0, &value.to_le_bytes());
        Ok(())
    };
    // Once, so that everything is made and bound.
    let batch = submit(device, other, addresses, Vec::new(), &[])?;
    batch.wait()?;
    set(0)?;
    let wait = vec![
        WAIT_UNTIL_EQUAL,
        1,
        gate.address as u32,
        (gate.address >> 32) as u32,
    ];
    let waiting = submit(device, urgent, addresses, wait, &[(&gate, false)])?;
    let open = || -> Result<()> {
        set(1)?;
        waiting.wait()?;
        batch.wait()
    };
    let counted = cost::count(
        device,
        ENGINE,
        |n| {
            again(device, other, &batch, NOTHING, &[])?;
            if n == 0 {
                // The engine is given the first one, and says so by an interrupt.
                thread::sleep(SETTLED);
            }
            Ok(())
        },
        || {
            open()?;
            set(0)?;
            again(device, urgent, &waiting, WAIT, &[(&gate, false)])
        },
    );
    open()?;
    let after = gate.map()?.read();
    if after[..4] != [1, 0, 0, 0] {
        bail!("the gate was written");
    }
    for context in [urgent, other] {
        destroy_context(device, context)?;
    }
    counted
}
