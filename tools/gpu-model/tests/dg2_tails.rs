// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Tails that software writes while an engine saves the context. The upstream driver does so, and its selftests
//! live_chain_preempt and live_virtual_engine (gt/selftest_execlists.c) wait for each request that it sends so: with
//! `--saved-tails image` a save has no access to the tail.

use crate::dg2_rig::*;
use gpu_model::dg2::{Dg2Config, EngineId};
use gpu_model::memory::{GuestMemory, MemoryError, VecMemory};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Where the page with the registers of context 0 is in guest memory.
const IMAGE: u64 = 0x30_0000;
/// RING_TAIL is dword 7 of it (digest, section 4.2).
const TAIL: u64 = IMAGE + 4 * 7;

/// Guest memory with a driver that writes a tail as late as it can: when a save of the image has begun.
struct LateDriver {
    memory: Arc<VecMemory>,
    /// Zero: nothing to write.
    tail: AtomicU32,
}

impl GuestMemory for LateDriver {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        self.memory.read(addr, buf)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        if (IMAGE..IMAGE + 4096).contains(&addr) {
            let tail = self.tail.swap(0, Ordering::SeqCst);
            if tail != 0 {
                self.memory.write(TAIL, &tail.to_le_bytes())?;
            }
        }
        self.memory.write(addr, data)
    }
}

#[test]
fn a_save_that_leaves_tails_has_no_access_to_them() {
    let memory = Arc::new(VecMemory::new(4 << 20));
    let driver = Arc::new(LateDriver {
        memory: memory.clone(),
        tail: AtomicU32::new(0),
    });
    let cfg = Dg2Config {
        image_tails: true,
        ..Dg2Config::default()
    };
    let rig = Rig::over(cfg, memory, driver.clone());
    let e = EngineId::Bcs;
    rig.context(0);
    let first = rig.append(0, &store(SYSTEM + 0x2_0000, 1));
    let second = rig.append(0, &store(SYSTEM + 0x2_0010, 2));
    // The page with the registers moves to guest memory; its tail is that of the first store.
    let page: Vec<u32> = (0..1024).map(|i| rig.image(0, i)).collect();
    rig.put(IMAGE, &page);
    rig.put(TAIL, &[first]);
    rig.gpu.ggtt_write(0x1001, IMAGE | 1);
    driver.tail.store(second, Ordering::SeqCst);
    rig.load(e, &[descriptor(0)]);
    rig.settle();
    assert_eq!((rig.at(0x2_0000), rig.at(0x2_0010)), (1, 0));
    assert_eq!(driver.tail.load(Ordering::SeqCst), 0, "the save was seen");
    assert_eq!(rig.at(TAIL), second);
    // HEAD and all behind the tail are saved: RING_START is the ring's.
    assert_eq!(
        (rig.at(IMAGE + 4 * 5), rig.at(IMAGE + 4 * 9)),
        (first, 0x101_0000)
    );
    rig.load(e, &[descriptor(0)]);
    rig.settle();
    assert_eq!(rig.at(0x2_0010), 2);
    rig.clean();
}
