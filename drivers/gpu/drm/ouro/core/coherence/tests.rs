// SPDX-License-Identifier: GPL-2.0
//! Tests of a BO on a machine whose CPU cache evicts and fetches lines at any time.
//!
//! [`World`] is memory, the CPU's cache before it, and a device that accesses memory only.
//! [`Object`] calls [`CpuCaches`] as the driver does. [`Client`] does what a program may do by the
//! rules of the uAPI, and knows what each byte must be. No read may return anything else; and if
//! one kind of flush is left out, some read does.

mod world;

use super::*;
use ouro_hw::types::CacheLevel;
use std::{
    collections::BTreeMap,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use world::{Dice, World};

const PAGE: u64 = 4096;
const PAGES: u64 = 4;
const BYTES: u64 = PAGES * PAGE;
const STEPS: u32 = 100_000;

/// How user space accesses the BO.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    /// Through the cache.
    Cpu,
    /// Past the cache: write-combined, or through the aperture.
    Uncached,
}

/// A BO, and what the driver does with it.
struct Object {
    coherence: Coherence,
    cache: CacheLevel,
    caches: CpuCaches,
    /// The contents while the BO has no pages.
    swapped: Option<Vec<u8>>,
    /// Pages that write-back mappings have mapped; whether there is a mapping past the cache.
    mapped: [bool; PAGES as usize],
    mapped_uncached: bool,
}

impl Object {
    fn is_apart(&self) -> bool {
        self.cache == CacheLevel::None
    }

    /// Allocates pages, in which memory and cache hold what another user left.
    fn settle(&mut self, world: &mut World) {
        let Some(contents) = self.swapped.take() else {
            return;
        };
        for at in 0..BYTES {
            let byte = world.dice.next() as u8;
            world.poke(at, byte);
        }
        world.empty_cache();
        for (at, byte) in (0..).zip(&contents) {
            world.store(at, *byte);
        }
        world.noise();
        if self.is_apart() {
            let flush = |range, cause| world.flush(range, cause);
            self.caches.populated(BYTES, flush).unwrap();
        }
    }

    fn release(&mut self, world: &mut World) {
        if self.swapped.is_some() {
            return;
        }
        if self.is_apart() {
            let flush = |range, cause| world.flush(range, cause);
            self.caches.released(BYTES, true, flush).unwrap();
        }
        self.mapped = [false; PAGES as usize];
        self.mapped_uncached = false;
        self.swapped = Some((0..BYTES).map(|at| world.load(at)).collect());
    }

    fn set_domain(&mut self, world: &mut World, domain: Domain, write: bool) {
        self.settle(world);
        if self.is_apart() {
            let coherence = self.coherence;
            let flush = |range, cause| world.flush(range, cause);
            match domain {
                Domain::Cpu => self.caches.cpu_domain(BYTES, write, flush),
                Domain::Uncached => self.caches.uncached(coherence, write, flush),
            }
            .unwrap();
        }
    }

    /// Faults in a page of a mapping.
    fn fault(&mut self, world: &mut World, domain: Domain, page: u64) {
        let mapped = match domain {
            Domain::Cpu => &mut self.mapped[page as usize],
            Domain::Uncached => &mut self.mapped_uncached,
        };
        if core::mem::replace(mapped, true) || !self.is_apart() {
            return;
        }
        match domain {
            Domain::Cpu => self.caches.shown(page * PAGE..(page + 1) * PAGE),
            Domain::Uncached => {
                let flush = |range, cause| world.flush(range, cause);
                self.caches.uncached(self.coherence, true, flush).unwrap();
            }
        }
    }

    /// Copies data in: by `PWRITE`.
    fn write(&mut self, world: &mut World, range: Range<u64>, bytes: &[u8]) {
        self.settle(world);
        let world = core::cell::RefCell::new(world);
        let write = || {
            for (at, byte) in range.clone().zip(bytes) {
                world.borrow_mut().store(at, *byte);
            }
            world.borrow_mut().noise();
            Ok(())
        };
        match self.is_apart() {
            true => {
                let flush = |range, cause| world.borrow_mut().flush(range, cause);
                self.caches.write(&range, flush, write)
            }
            false => write(),
        }
        .unwrap();
    }

    /// Copies dwords in, one after the other: relocations.
    fn write_dwords(&mut self, world: &mut World, dwords: &[(u64, Vec<u8>)]) {
        self.settle(world);
        let mut touched = Touched::default();
        for (at, bytes) in dwords {
            if self.is_apart() {
                let flush = |range, cause| world.flush(range, cause);
                self.caches.touch(&mut touched, *at, flush).unwrap();
            }
            for (at, byte) in (*at..).zip(bytes) {
                world.store(at, *byte);
            }
            world.noise();
        }
        let flush = |range, cause| world.flush(range, cause);
        self.caches.written(&mut touched, flush).unwrap();
    }

    fn read(&mut self, world: &mut World, range: Range<u64>) -> Vec<u8> {
        self.settle(world);
        if self.is_apart() {
            let flush = |range, cause| world.flush(range, cause);
            self.caches.read(&range, flush).unwrap();
        }
        range.map(|at| world.load(at)).collect()
    }

    /// Publishes a batch.
    fn bind(&mut self, world: &mut World, writes: bool) {
        self.settle(world);
        if self.is_apart() {
            let flush = |range, cause| world.flush(range, cause);
            self.caches.batch(flush).unwrap();
            if writes {
                self.caches.batch_writes(self.coherence);
            }
        }
    }

    fn set_cache(&mut self, world: &mut World, cache: CacheLevel) {
        if cache == self.cache {
            return;
        }
        if self.swapped.is_none() {
            match cache {
                CacheLevel::None => self.caches = CpuCaches::of_unknown(BYTES),
                CacheLevel::Coherent => {
                    let flush = |range, cause| world.flush(range, cause);
                    self.caches.joined(BYTES, flush).unwrap();
                    // Evicts a mapping of it from the aperture.
                    self.mapped_uncached = false;
                }
            }
        }
        self.cache = cache;
    }
}

/// A program, and what it must read.
struct Client {
    world: World,
    object: Object,
    truth: Vec<u8>,
}

/// A failure: which reader read a wrong byte.
type Wrong = String;

impl Client {
    fn new(coherence: Coherence, seed: u64, left_out: Option<Cause>) -> Self {
        Self {
            world: World {
                memory: vec![0; BYTES as usize],
                cache: (0..BYTES / LINE).map(|_| None).collect(),
                dice: Dice(seed),
                left_out,
                flushed: BTreeMap::new(),
            },
            object: Object {
                coherence,
                cache: coherence.default_cache(),
                caches: CpuCaches::default(),
                swapped: Some(vec![0; BYTES as usize]),
                mapped: [false; PAGES as usize],
                mapped_uncached: false,
            },
            truth: vec![0; BYTES as usize],
        }
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.world.dice.next() as u8).collect()
    }

    fn is_true(&self, who: &str, at: u64, byte: u8) -> Result<(), Wrong> {
        match self.truth[at as usize] == byte {
            true => Ok(()),
            false => Err(who.to_string()),
        }
    }

    /// Reads and writes through a mapping.
    fn touch(&mut self, domain: Domain, write: bool) -> Result<(), Wrong> {
        if domain == Domain::Uncached && !self.object.coherence.shows_in_aperture(self.object.cache)
        {
            return Ok(());
        }
        self.object.set_domain(&mut self.world, domain, write);
        for _ in 0..1 + self.world.dice.below(3) {
            let range = self.world.dice.range();
            for at in range {
                self.object.fault(&mut self.world, domain, at / PAGE);
                let byte = match domain {
                    Domain::Cpu => self.world.load(at),
                    Domain::Uncached => self.world.peek(at),
                };
                self.is_true("a mapping", at, byte)?;
                if write {
                    let byte = self.world.dice.next() as u8;
                    self.truth[at as usize] = byte;
                    match domain {
                        Domain::Cpu => self.world.store(at, byte),
                        Domain::Uncached => self.world.poke(at, byte),
                    }
                }
            }
            self.world.noise();
        }
        Ok(())
    }

    /// Runs a batch that reads some bytes and writes some.
    fn batch(&mut self, writes: bool) -> Result<(), Wrong> {
        self.object.bind(&mut self.world, writes);
        let snoops = !self.object.is_apart();
        for _ in 0..1 + self.world.dice.below(4) {
            self.world.noise();
            for at in self.world.dice.range() {
                if snoops {
                    self.world.snoop(at);
                }
                self.is_true("a batch", at, self.world.peek(at))?;
                if writes {
                    let byte = self.world.dice.next() as u8;
                    self.truth[at as usize] = byte;
                    self.world.poke(at, byte);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Wrong> {
        self.world.noise();
        match self.world.dice.below(16) {
            0 | 1 => {
                let range = self.world.dice.range();
                let bytes = self.bytes((range.end - range.start) as usize);
                self.object.write(&mut self.world, range.clone(), &bytes);
                self.truth[range.start as usize..range.end as usize].copy_from_slice(&bytes);
            }
            2..=4 => {
                let range = self.world.dice.range();
                let found = self.object.read(&mut self.world, range.clone());
                for (at, byte) in range.zip(found) {
                    self.is_true("a copy", at, byte)?;
                }
            }
            5 => self.touch(Domain::Cpu, false)?,
            6 => self.touch(Domain::Cpu, true)?,
            7 => self.touch(Domain::Uncached, false)?,
            8 => self.touch(Domain::Uncached, true)?,
            9 => {
                // Relocations, and the batch that uses them.
                let mut dwords = Vec::new();
                let mut at = self.world.dice.below(BYTES / 4) * 4;
                for _ in 0..1 + self.world.dice.below(12) {
                    dwords.push((at, self.bytes(4)));
                    // Nearby, or elsewhere.
                    at = match self.world.dice.below(4) {
                        0 => self.world.dice.below(BYTES / 4) * 4,
                        _ => (at + 4 + self.world.dice.below(40) * 4) % BYTES,
                    };
                }
                self.object.write_dwords(&mut self.world, &dwords);
                for (at, bytes) in dwords {
                    self.truth[at as usize..at as usize + 4].copy_from_slice(&bytes);
                }
                self.batch(false)?;
            }
            10 => self.batch(false)?,
            11 | 12 => self.batch(true)?,
            13 if self.world.dice.below(4) == 0 => self.object.release(&mut self.world),
            14 if self.object.coherence == Coherence::Snoop && self.world.dice.below(8) == 0 => {
                let cache = match self.object.cache {
                    CacheLevel::None => CacheLevel::Coherent,
                    CacheLevel::Coherent => CacheLevel::None,
                };
                self.object.set_cache(&mut self.world, cache);
            }
            15 => {
                // The driver of another device, through an exported buffer of ours.
                self.object.set_domain(&mut self.world, Domain::Cpu, false);
                if self.object.is_apart() {
                    self.object.caches.lent(BYTES);
                }
                for at in self.world.dice.range() {
                    let byte = self.world.load(at);
                    self.is_true("a borrower", at, byte)?;
                    let byte = self.world.dice.next() as u8;
                    self.world.store(at, byte);
                    self.truth[at as usize] = byte;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn run(&mut self, steps: u32) -> Result<(), (u32, Wrong)> {
        for n in 0..steps {
            self.step().map_err(|wrong| (n, wrong))?;
        }
        Ok(())
    }
}

#[test]
fn no_byte_is_wrong() {
    for (coherence, seed) in [(Coherence::None, 1), (Coherence::Snoop, 2)] {
        let mut client = Client::new(coherence, seed, None);
        assert_eq!(client.run(STEPS), Ok(()), "{coherence:?}");
        // Only the capture of a hang has no step here.
        let causes = Cause::ALL.iter().filter(|c| **c != Cause::Capture);
        for cause in causes {
            let lines = client.world.flushed.get(cause.name()).copied();
            assert!(lines.is_some_and(|n| n > 1000), "{cause:?}: {lines:?}");
        }
    }
}

#[test]
fn each_kind_of_flush_is_needed() {
    for cause in Cause::ALL.into_iter().filter(|c| *c != Cause::Capture) {
        let mut client = Client::new(Coherence::None, 3, Some(cause));
        assert!(client.run(STEPS).is_err(), "{cause:?} can be left out");
    }
}

#[test]
fn nothing_is_flushed_where_all_is_snooped() {
    for coherence in [Coherence::Llc, Coherence::Bus] {
        let mut client = Client::new(coherence, 4, None);
        // The aperture and write-combined mappings are not tested there: accesses past the cache
        // are not snooped.
        for n in 0..STEPS / 10 {
            match n % 4 {
                0 => client.batch(true).unwrap(),
                1 => client.touch(Domain::Cpu, true).unwrap(),
                2 => client.object.release(&mut client.world),
                _ => {
                    let found = client.object.read(&mut client.world, 0..BYTES);
                    assert_eq!(found, client.truth);
                }
            }
        }
        assert!(client.world.flushed.is_empty());
    }
}

/// Records what a call flushes.
#[derive(Default)]
struct Flushed(Vec<(Range<u64>, Cause)>);

impl Flushed {
    fn add(&mut self, range: Range<u64>, cause: Cause) -> Result<(), ()> {
        self.0.push((range, cause));
        Ok(())
    }

    fn take(&mut self) -> Vec<(Range<u64>, Cause)> {
        core::mem::take(&mut self.0)
    }
}

#[test]
fn ranges_are_flushed_and_not_objects() {
    let mut flushed = Flushed::default();
    let mut caches = CpuCaches::default();
    let none = Coherence::None;
    let mebi = 1 << 20;
    caches.populated(mebi, |r, c| flushed.add(r, c)).unwrap();
    assert_eq!(flushed.take(), [(0..mebi, Cause::Populate)]);
    // A batch that uses an unmapped BO.
    caches.batch(|r, c| flushed.add(r, c)).unwrap();
    assert_eq!(flushed.take(), []);
    // A relocation: one line, and two lines across a boundary.
    let write = |caches: &CpuCaches, range: Range<u64>, flushed: &mut Flushed| {
        caches
            .write(&range, |r, c| flushed.add(r, c), || Ok(()))
            .unwrap();
    };
    write(&caches, 100..104, &mut flushed);
    assert_eq!(flushed.take(), [(64..128, Cause::Write)]);
    // 4 KiB are 64 lines.
    write(&caches, 4096..8192, &mut flushed);
    assert_eq!(flushed.take(), [(4096..8192, Cause::Write)]);
    assert_eq!(lines(&(4096..8192)), 64);
    // When the device has written, the rest of the lines at both ends is fetched from memory.
    caches.batch_writes(none);
    write(&caches, 4090..8196, &mut flushed);
    assert_eq!(
        flushed.take(),
        [
            (4032..4096, Cause::Write),
            (8192..8256, Cause::Write),
            (4032..8256, Cause::Write)
        ]
    );
    caches.read(&(100..101), |r, c| flushed.add(r, c)).unwrap();
    assert_eq!(flushed.take(), [(64..128, Cause::Read)]);
    // User space wants to read the BO: all lines are flushed once.
    for expected in [&[(0..mebi, Cause::Domain)][..], &[]] {
        caches
            .cpu_domain(mebi, true, |r, c| flushed.add(r, c))
            .unwrap();
        assert_eq!(flushed.take(), expected);
    }
    caches.read(&(100..101), |r, c| flushed.add(r, c)).unwrap();
    assert_eq!(flushed.take(), []);
    // User space may write what it has mapped.
    caches.shown(8192..12288);
    caches.batch(|r, c| flushed.add(r, c)).unwrap();
    caches
        .cpu_domain(mebi, true, |r, c| flushed.add(r, c))
        .unwrap();
    caches
        .uncached(none, false, |r, c| flushed.add(r, c))
        .unwrap();
    assert_eq!(
        flushed.take(),
        [(8192..12288, Cause::Batch), (8192..12288, Cause::Uncached)]
    );
}

#[test]
fn a_line_of_many_dwords_is_flushed_once() {
    let mut flushed = Flushed::default();
    let mut caches = CpuCaches::default();
    let mut write = |caches: &CpuCaches, at: &[u64]| {
        let mut touched = Touched::default();
        for at in at {
            let flush = |r, c| flushed.add(r, c);
            caches.touch(&mut touched, *at, flush).unwrap();
        }
        let flush = |r, c| flushed.add(r, c);
        caches.written(&mut touched, flush).unwrap();
        flushed.take()
    };
    let lines = |first: u64, end: u64| (first * LINE..end * LINE, Cause::Write);
    // The last lines of a page are its own; a line further on is apart.
    assert_eq!(write(&caches, &[0, 4, 60, 64]), [lines(0, 2)]);
    assert_eq!(
        write(&caches, &[4092, 4032, 0]),
        [lines(0, 1), lines(63, 64)]
    );
    let page: Vec<u64> = (0..64).map(|line| PAGE + line * LINE).collect();
    assert_eq!(write(&caches, &page), [lines(64, 128)]);
    // Those of a page are flushed before those of the next.
    assert_eq!(write(&caches, &[4096, 0]), [lines(64, 65), lines(0, 1)]);
    // When the device has written, a line is fetched from memory before its first dword.
    caches.batch_writes(Coherence::None);
    assert_eq!(
        write(&caches, &[256, 260, 128, 256]),
        [lines(4, 5), lines(2, 3), lines(2, 3), lines(4, 5)]
    );
}

#[test]
fn a_part_that_was_written_is_flushed() {
    let mut flushed = Flushed::default();
    let write = || Err(());
    let flush = |r, c| flushed.add(r, c);
    assert_eq!(
        CpuCaches::default().write(&(64..128), flush, write),
        Err(())
    );
    assert_eq!(flushed.take(), [(64..128, Cause::Write)]);
    // Lines stay touched as long as their flush fails.
    let (caches, mut touched) = (CpuCaches::default(), Touched::default());
    caches
        .touch(&mut touched, 64, |_, _| Ok::<(), u8>(()))
        .unwrap();
    assert_eq!(caches.written(&mut touched, |_, _| Err(1)), Err(1));
    assert_eq!(caches.touch(&mut touched, 4096, |_, _| Err(2)), Err(2));
    let flush = |r, c| flushed.add(r, c);
    caches.written(&mut touched, flush).unwrap();
    assert_eq!(flushed.take(), [(64..128, Cause::Write)]);
}

#[test]
fn a_flush_that_fails_is_still_to_be_done() {
    let mut caches = CpuCaches::default();
    assert_eq!(caches.populated(4096, |_, _| Err(5)), Err(5));
    assert!(caches.is_dirty());
    assert_eq!(caches.batch(|_, _| Err(6)), Err(6));
    assert_eq!(caches.batch(|_, _| Ok::<(), u8>(())), Ok(()));
    assert!(!caches.is_dirty());
    caches.batch_writes(Coherence::Snoop);
    assert_eq!(caches.cpu_domain(4096, false, |_, _| Err(7)), Err(7));
    assert_eq!(caches.released(4096, true, |_, _| Err(8)), Err(8));
    // Contents that are discarded are not flushed.
    assert_eq!(caches.released(4096, false, |_, _| Err(9)), Ok(()));
}

#[test]
fn lines_are_those_that_a_range_has_a_part_of() {
    for (range, expected) in [
        (0..0, 0),
        (0..1, 1),
        (63..65, 2),
        (64..128, 1),
        (1..4096, 64),
    ] {
        assert_eq!(lines(&range), expected, "{range:?}");
    }
    assert_eq!(LINE, 64);
}

/// A batch that reads a BO on a machine with LLC, but with an uncached PTE: it reads memory.
#[test]
fn with_a_shared_cache_only_writes_are_flushed() {
    let mut caches = CpuCaches::of_unknown(4096);
    let mut flushed = Flushed::default();
    caches.batch(|r, c| flushed.add(r, c)).unwrap();
    caches.batch_writes(Coherence::Llc);
    caches
        .uncached(Coherence::Llc, true, |r, c| flushed.add(r, c))
        .unwrap();
    caches.read(&(0..64), |r, c| flushed.add(r, c)).unwrap();
    caches
        .cpu_domain(4096, false, |r, c| flushed.add(r, c))
        .unwrap();
    assert_eq!(flushed.take(), [(0..4096, Cause::Batch)]);
}
