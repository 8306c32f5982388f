// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A hostile guest in front of the modelled Sandy Bridge and Ivy Bridge: accesses of every place, size and value,
//! garbage on rings with the engines on their threads, memory that comes and goes under them, a
//! client that leaves in the middle of a message. The model answers, stays small and ends.

use crate::hostile_rig::{access, noise};
use crate::snb_rig::Rig;
use gpu_model::dma::DmaMemory;
use gpu_model::fault::{Fault, Kind};
use gpu_model::memory::GuestMemory;
use gpu_model::model::{self, NoIrq, Options};
use gpu_model::ring::chip::CHIPS;
use gpu_model::ring::{RingConfig, RingGpu};
use gpu_model::server::{serve, VfioIrq};
use proptest::prelude::*;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A bound for things that happen in microseconds: not a measurement.
const PATIENCE: Duration = Duration::from_secs(20);

/// A change of a DMA map, or a use of it.
#[derive(Clone, Debug)]
enum Dma {
    Map(u64, u64, u64, bool),
    Unmap(u64, u64),
    Read(u64, usize),
    Write(u64, usize),
}

fn dma() -> impl Strategy<Value = Dma> {
    let address = || prop_oneof![8 => 0..0x9000u64, 1 => any::<u64>()];
    prop_oneof![
        (address(), 0..0x5000u64, 0..0x5000u64, any::<bool>())
            .prop_map(|(a, s, o, w)| Dma::Map(a, s, o, w)),
        (0..9u64, 0..5u64, 0..4u64, any::<bool>()).prop_map(|(a, s, o, w)| Dma::Map(
            a << 12,
            s << 12,
            o << 12,
            w
        )),
        (address(), prop_oneof![0..0x5000u64, any::<u64>()]).prop_map(|(a, s)| Dma::Unmap(a, s)),
        (address(), 0..9000usize).prop_map(|(a, n)| Dma::Read(a, n)),
        (address(), 0..9000usize).prop_map(|(a, n)| Dma::Write(a, n)),
    ]
}

fn memfd(size: u64) -> File {
    let fd = rustix::fs::memfd_create("guest", rustix::fs::MemfdFlags::CLOEXEC).expect("memfd");
    rustix::fs::ftruncate(&fd, size).expect("size");
    fd.into()
}

/// Forcewake of one thread, or of several: a chip hears one of them.
fn wake(gpu: &RingGpu) {
    gpu.mmio_write32(0xa18c, 1);
    gpu.mmio_write32(0xa188, 0x0001_0001);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_access_of_any_region(
        all in proptest::collection::vec(access(), 1..200),
        chip in proptest::sample::select(CHIPS),
    ) {
        let rig = Rig::with(RingConfig { keep_events: 16, ..RingConfig::of(chip) });
        wake(&rig.gpu);
        for a in &all {
            a.apply(&rig.gpu);
        }
        rig.gpu.power_on();
        prop_assert_eq!(rig.gpu.mmio_read32(chip.irq.mask), 0xffff_ffff);
    }

    #[test]
    fn any_dma_map(all in proptest::collection::vec(dma(), 1..60)) {
        let memory = DmaMemory::new();
        let file = memfd(0x4000);
        for step in all {
            match step {
                // What is not in the file, or not on a page, is refused.
                Dma::Map(address, size, offset, writable) => {
                    let fd = file.try_clone().expect("descriptor");
                    let mapped = memory.map(address, size, offset, writable, Some(fd)).is_ok();
                    let good = size > 0
                        && offset % 4096 == 0
                        && offset + size <= 0x4000
                        && address.checked_add(size).is_some();
                    prop_assert_eq!(mapped, good, "{:#x}+{:#x} at {:#x}", address, size, offset);
                }
                Dma::Unmap(address, size) => memory.unmap(address, size),
                Dma::Read(address, n) => {
                    let _ = memory.read(address, &mut vec![0; n]);
                }
                Dma::Write(address, n) => {
                    let _ = memory.write(address, &vec![1; n]);
                }
            }
        }
    }
}

#[test]
fn garbage_on_running_engines_while_memory_goes() {
    const MEMORY: u64 = 1 << 20;
    for seed in 0..6 {
        let mut random = noise(seed);
        let memory = Arc::new(DmaMemory::new());
        let file = memfd(MEMORY);
        let gpu = RingGpu::in_real_time(
            RingConfig {
                keep_events: 16,
                ..RingConfig::of(CHIPS[seed as usize % CHIPS.len()])
            },
            memory.clone(),
            Arc::new(NoIrq),
        );
        wake(&gpu);
        for page in 0..256 {
            // Some of it valid, some past the end of memory.
            gpu.gtt_write(page, (random() % 300) << 12 | 5);
        }
        let garbage: Vec<u8> = (0..MEMORY / 4)
            .flat_map(|_| {
                let r = random();
                let dword = match r % 4 {
                    0 => 0,
                    // Often a header: MI, blitter or render.
                    1 => (random() % 0x40) << 23 | r >> 8 & 0x40_0f07,
                    2 => 2 << 29 | (random() % 0x80) << 22 | r >> 8 & 0x3f_ff0f,
                    _ => random(),
                };
                dword.to_le_bytes()
            })
            .collect();
        std::os::unix::fs::FileExt::write_all_at(&file, &garbage, 0).expect("memory");
        gpu.start_engines();
        for round in 0..40u64 {
            let fd = file.try_clone().expect("descriptor");
            memory.map(0, MEMORY, 0, true, Some(fd)).expect("maps");
            for block in [0x2000, 0x12000, 0x22000u32] {
                for (offset, value) in [
                    (0x38, random() & 0xf_f000),
                    (0x34, 0),
                    (0x30, random() & 0xfff8),
                    (0x3c, 0xf001),
                    (0x30, random() & 0xfff8),
                ] {
                    gpu.mmio_write32(block + offset, value);
                }
            }
            std::thread::sleep(Duration::from_millis(1 + round % 3));
            memory.unmap(0, MEMORY);
            gpu.mmio_write32(0x941c, 1);
            assert_eq!(gpu.mmio_read32(0x941c), 0, "seed {seed} round {round}");
        }
        let start = Instant::now();
        gpu.stop_engines();
        assert!(start.elapsed() < PATIENCE, "seed {seed}");
    }
}

#[test]
fn an_endless_blit_does_not_keep_the_model_from_ending() {
    let memory = Arc::new(DmaMemory::new());
    let file = memfd(1 << 20);
    memory
        .map(0, 1 << 20, 0, true, Some(file.try_clone().expect("fd")))
        .expect("maps");
    let gpu = RingGpu::in_real_time(RingConfig::default(), memory, Arc::new(NoIrq));
    gpu.mmio_write32(0xa18c, 1);
    // All addresses are one page, so that no access faults.
    for page in 0..0x8_0000 {
        gpu.gtt_write(page, 0x5);
    }
    // The ring is that page too: a fill of 32767 x 32767 pixels, which writes over it.
    let fill: [u32; 8] = [0x5430_0004, 0x03f0_7ffc, 0, 0x7fff_7fff, 0, 0, 0, 0];
    let bytes: Vec<u8> = fill.iter().flat_map(|d| d.to_le_bytes()).collect();
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).expect("memory");
    gpu.start_engines();
    for (offset, value) in [(0x38, 0), (0x3c, 1), (0x30, 0x20)] {
        gpu.mmio_write32(0x22000 + offset, value);
    }
    std::thread::sleep(Duration::from_millis(20));
    let start = Instant::now();
    gpu.stop_engines();
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn what_a_guest_can_pile_up_is_bounded() {
    let rig = Rig::new();
    let write = |offset: usize, value: u32| rig.gpu.config_write_at(offset, &value.to_le_bytes());
    for _ in 0..100_000 {
        // Each skips 65535 opportunities.
        write(0xc8, 0xffff_0001);
    }
    assert!(rig.gpu.faults_to_come() <= 4096);
    rig.gpu.clear_faults();
    rig.gpu
        .inject(Fault::once(Kind::LateIrq).forever().value(u64::MAX));
    for _ in 0..64 {
        rig.submit(gpu_model::ring::EngineId::Rcs, &[0x0100_0000; 64]);
        while rig.gpu.step(gpu_model::ring::EngineId::Rcs) == gpu_model::ring::StepResult::Ran {}
    }
}

/// Serves one client that says these bytes, waits for an answer if told to, says more, and leaves.
fn visit(name: &str, first: &[u8], answer: bool, more: &[u8]) {
    let socket = std::env::temp_dir().join(format!("gpu-model-{name}-{}", std::process::id()));
    let dma = Arc::new(DmaMemory::new());
    let irq = Arc::new(VfioIrq::default());
    let gpu = model::build("snb", Options::default(), dma.clone(), irq.clone())
        .expect("known")
        .expect("made");
    let ready = Arc::new(OnceLock::new());
    let server = {
        let (socket, ready) = (socket.clone(), ready.clone());
        std::thread::spawn(move || serve(&socket, gpu, dma, irq, &ready))
    };
    let start = Instant::now();
    while ready.get().is_none() {
        assert!(
            start.elapsed() < PATIENCE,
            "{name}: the server does not come up"
        );
        std::thread::yield_now();
    }
    let mut stream = UnixStream::connect(&socket).expect("connects");
    stream.write_all(first).expect("says");
    if answer {
        stream.read_exact(&mut [0; 16]).expect("an answer");
    }
    stream.write_all(more).expect("says more");
    drop(stream);
    while !server.is_finished() {
        assert!(
            start.elapsed() < PATIENCE,
            "{name}: the server does not end"
        );
        std::thread::yield_now();
    }
    // Whether that is an error to report or not: it has ended, without a panic.
    let _ = server.join().expect("no panic");
    let _ = std::fs::remove_file(&socket);
}

/// A message: id, command, size, flags, error (vfio-user 0.9, "Header"), and what follows.
fn message(command: u16, size: u32, body: &[u8]) -> Vec<u8> {
    let mut all = vec![1, 0];
    all.extend(command.to_le_bytes());
    all.extend(size.to_le_bytes());
    all.extend([0; 8]);
    all.extend(body);
    all
}

#[test]
fn a_client_may_leave_at_any_moment() {
    let version = |size| message(1, size, b"\x00\x00\x01\x00{}\0");
    let hello = version(16 + 7);
    // Region write: offset, region, count, and fewer bytes than that.
    let mut write = vec![0; 8];
    write.extend([2, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3]);
    let write = message(10, 16 + 16 + 8, &write);
    visit("silent", &[], false, &[]);
    visit("half-header", &hello[..9], false, &[]);
    visit("no-body", &hello[..16], false, &[]);
    visit("half-body", &hello[..20], false, &[]);
    visit("after-hello", &hello, true, &[]);
    visit("half-message", &hello, true, &write[..20]);
    visit("half-data", &hello, true, &write);
    visit("unknown", &hello, true, &message(0x7777, 16, &[]));
}
