// SPDX-License-Identifier: GPL-2.0
//! A backend whose registers read anything: it says so, or goes on; it does not panic, and it does
//! not wait for ever.

use crate::kinds::KINDS;
use crate::source::Source;
use ouro_hw::chips;
use ouro_hw::engine::{EngineMemory, ListEntry, PortKind, StatusPage, Submission};
use ouro_hw::fence_regs::{FenceRegion, Tiling};
use ouro_hw::generation::{Layout, ResetScope};
use ouro_hw::gt::Gt;
use ouro_hw::io::{AtomicWait, Hw, Platform, Registers, SleepWait, Timeout};
use ouro_hw::types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page, RingOffset};
use std::cell::{Cell, RefCell};

/// Registers that read what the bytes say.
struct Garbage<'a> {
    bytes: RefCell<Source<'a>>,
    accesses: Cell<u64>,
}

/// No function of a backend needs more accesses: the longest one clears a table.
const MOST: u64 = 4_000_000;

impl Garbage<'_> {
    fn count(&self) {
        let n = self.accesses.get() + 1;
        assert!(n < MOST, "it does not come to an end");
        self.accesses.set(n);
    }
}

impl Registers for Garbage<'_> {
    fn read32(&self, _: u32) -> u32 {
        self.count();
        let mut s = self.bytes.borrow_mut();
        match s.u8() % 4 {
            0 => 0,
            1 => !0,
            2 => 1 << s.below(32),
            _ => s.u32(),
        }
    }

    fn write32(&self, _: u32, _: u32) {
        self.count();
    }

    fn write64(&self, _: u32, _: u64) {
        self.count();
    }
}

impl Platform for Garbage<'_> {
    fn config32(&self, _: u16) -> u32 {
        self.bytes.borrow_mut().u32()
    }

    fn bar_len(&self, _: u8) -> u64 {
        self.bytes.borrow_mut().odd()
    }

    fn iommu(&self) -> bool {
        self.bytes.borrow_mut().flag()
    }

    fn set_master(&self, _: bool) {
        self.count();
    }

    fn warn(&self, _: &'static str) {}
}

/// Time: every wait looks a few times.
struct Time;

fn poll(done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
    (0..8).any(|_| done()).then_some(()).ok_or(Timeout)
}

impl AtomicWait for Time {
    fn spin(&self, _: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        poll(done)
    }
}

impl SleepWait for Time {
    fn poll(&self, _: u32, done: &mut dyn FnMut() -> bool) -> Result<(), Timeout> {
        poll(done)
    }

    fn pause(&self, _: u32) {}
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    let calls: Vec<u8> = (0..1 + s.below(12)).map(|_| s.u8()).collect();
    let (number, tail) = (s.u8(), s.u32());
    let firmware = vec![number; 8 * (tail as usize % 300) + usize::from(number % 2)];
    let device = Garbage {
        bytes: RefCell::new(s),
        accesses: Cell::new(0),
    };
    let kind = &KINDS[tail as usize % KINDS.len()];
    let topo = (kind.topology)();
    let hw = Hw {
        regs: &device,
        gtt: &device,
        platform: &device,
        firmware: &firmware,
        card: topo.card,
    };
    let chips: Vec<_> = chips::of(kind.name).collect();
    let chip = chips[usize::from(number) % chips.len()];
    let generation = chip.generation;
    let n = usize::from(number) % topo.engines.len();
    let engine = topo.engines[n];
    let mem = EngineMemory {
        ring: GgttAddr(0x10_0000),
        status: StatusPage::Ggtt(GgttAddr(0x12_0000)),
        scratch: GgttAddr(0x12_1000),
        directory: Some(GgttAddr(0x20_0000)),
        card: 0,
    };
    let scratch = Page {
        addr: DmaAddr(0x1000),
        memory: MemoryKind::System,
        cache: CacheLevel::Coherent,
    };
    let layout = Layout {
        scratch,
        directory: mem.directory,
    };
    let mut gt = Gt::default();
    for call in calls {
        match call % 23 {
            0 => drop(generation.wake(&hw, &mut gt, &Time)),
            1 => generation.sleep(&hw, &mut gt),
            2 => {
                if let Ok(found) = generation.probe(&hw, chip) {
                    assert!(!found.engines.is_empty() && found.gtt_entries > 0);
                    let table = u64::from(found.gtt_entries) * u64::from(found.pages.entry_bytes());
                    // A window without a length reaches to the end of its region.
                    let window = u64::from(generation.windows().gtt.len);
                    assert!(window == 0 || table <= window, "{table:#x}");
                }
            }
            3 => drop(generation.start(&hw, topo, &layout, &Time)),
            4 => generation.stop(&hw),
            5 => generation.irq_on(&hw, &mut gt),
            6 => generation.irq_off(&hw, &mut gt),
            7 => generation.irq_arm(&hw, &mut gt, n, tail & 1 != 0),
            8 => {
                let events = generation.irq_ack(&hw);
                let all = (1u32 << topo.engines.len()) - 1;
                assert_eq!(
                    (events.completed | events.errors | events.overdue) & !all,
                    0,
                    "no such engine"
                );
            }
            9 => drop(generation.reset(&hw, ResetScope::All, &Time)),
            10 => drop(generation.reset(&hw, ResetScope::Engine(n), &Time)),
            11 => generation.gtt_flush(&hw),
            17 => generation.gtt_on(&hw, tail & 1 != 0),
            18 => drop(generation.prepare(&hw, topo, &Time)),
            20 => generation.gtt_settle(&hw),
            21 => generation.scanouts(&hw, topo, &mut |s| {
                let end = u64::from(s.first) + u64::from(s.entries);
                assert!(s.entries != 0 && end <= u64::from(topo.gtt_entries));
            }),
            12 => {
                let report = generation.errors(&hw, &mut gt, topo);
                assert!(
                    report.to_string().len() < 16384,
                    "a report is a page or two"
                );
            }
            13 => drop(engine.start(&hw, &mem, &Time)),
            14 => drop(engine.stop(&hw, &Time)),
            15 => {
                let tail = RingOffset(tail & 0xfff8);
                let entry = ListEntry {
                    descriptor: u64::from(number) << 39,
                    tail,
                    restore: number & 1 != 0,
                };
                let list = [entry; 8];
                let what = match engine.desc().port {
                    PortKind::Ring => Submission::Tail(tail),
                    PortKind::List { .. } => Submission::List {
                        entries: &list[..usize::from(number % 9)],
                        tails: &|| (),
                    },
                };
                let _ = engine.submit(&hw, &mut gt, what, &Time);
            }
            16 => {
                let activity = engine.activity(&hw);
                let _ = engine.running(&hw);
                let _ = (engine.kick(&hw), format!("{activity:?}"));
                let mut entries = 0;
                engine.translations(&hw, &mut |entry| {
                    entries += 1;
                    assert!(entry.to_string().len() < 120, "an entry is a line");
                });
                assert!(entries <= 5 * 64, "there is room for so many");
            }
            22 => generation.irq_watch(&hw, &mut gt, n, tail & 1 != 0),
            _ => {
                if let Some(fences) = topo.fences {
                    let region = FenceRegion {
                        start: GgttAddr(tail),
                        len: tail.rotate_left(8),
                        stride: tail & 0xfff,
                        tiling: Tiling::X,
                    };
                    let good = fences.check(&region).is_ok() && number < fences.count();
                    assert_eq!(fences.set(&device, number, Some(&region)).is_ok(), good);
                }
            }
        }
    }
}
