// SPDX-License-Identifier: GPL-2.0
//! Engines that take lists: what they write (images, reports, status pages) may be anything. What the port
//! and the scheduler do with it keeps their promises, and what they ask of an engine that does its work
//! never breaks those of the engine.

use crate::source::Source;
use ouro_core::events::{Events, Look, Page};
use ouro_core::list::{ListPort, Wanted, MAX_LIST};
use ouro_core::port::ContextKey;
use ouro_core::sched::{Arena, Item, Policy, Scheduler, What};
use ouro_hw::chips;
use ouro_hw::context::FirstImage;
use ouro_hw::engine::{
    Batch, Emit, Engine, EngineMemory, PageFill, PortEvent, Privilege, StatusPage, Switch,
    COPY_DWORDS,
};
use ouro_hw::generation::Topology;
use ouro_hw::io::{Hw, Platform, Registers};
use ouro_hw::ring::Commands;
use ouro_hw::types::{DmaAddr, GgttAddr, GpuAddr, MemoryKind, RingOffset, Seqno};
use std::sync::OnceLock;

/// A card that reads as one does which its firmware has set up.
struct Arc;

impl Registers for Arc {
    fn read32(&self, offset: u32) -> u32 {
        // Digest of the document, 5.2, 5.3 and 5.9: its memory works, 1 GiB of which 256 MiB are used; all
        // media engines, and compute.
        match offset {
            0x10_1010 => 0x80,
            0x4900 => 1 << 8,
            0x4910 => 0x1000 << 8,
            0x9140 => 0x0003_0005,
            0x9144 => 1,
            _ => 0,
        }
    }

    fn write32(&self, _: u32, _: u32) {}

    fn write64(&self, _: u32, _: u64) {}
}

impl Platform for Arc {
    fn config32(&self, offset: u16) -> u32 {
        // Identity; the size of the table.
        match offset {
            0x00 => 0x56a0_8086,
            0x50 => 0xc0,
            _ => 0,
        }
    }

    fn bar_len(&self, _: u8) -> u64 {
        256 << 20
    }

    fn iommu(&self) -> bool {
        false
    }

    fn set_master(&self, _: bool) {}

    fn warn(&self, _: &'static str) {}
}

/// What it has.
pub fn topology() -> &'static Topology {
    static TOPOLOGY: OnceLock<Topology> = OnceLock::new();
    TOPOLOGY.get_or_init(|| {
        let chip = chips::lookup(chips::INTEL, 0x56a0).expect("it is in the list");
        let hw = Hw {
            regs: &Arc,
            gtt: &Arc,
            platform: &Arc,
            firmware: &[],
            card: 0,
        };
        chip.generation.probe(&hw, chip).expect("a good card")
    })
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    while !s.is_empty() {
        let engines = topology().engines;
        let engine = engines[s.below(engines.len() as u64) as usize];
        match s.u8() % 6 {
            0 => images(&mut s, engine),
            1 => requests(&mut s, engine),
            2 => reports(&mut s, engine),
            3 => garbage(&mut s, engine),
            4 => port(&mut s),
            _ => scheduler(&mut s),
        }
    }
}

/// An image that the device saved, with some dwords of it anything.
fn images(s: &mut Source<'_>, engine: &dyn Engine) {
    let context = engine.images().expect("each engine has its own");
    let what = FirstImage {
        image: GgttAddr(s.u32() & 0xffff_f000),
        card: s.u32(),
        ring: GgttAddr(s.u32() & 0xffff_f000),
        ring_bytes: 0x1000 << s.below(12),
        root: s.flag().then(|| DmaAddr(s.odd() & !0xfff)),
    };
    let mut image = vec![0; s.below(2) as usize + context.bytes() as usize / 4];
    let good = what.root.is_some() && what.ring.0 != 0 && what.ring_bytes <= 2 << 20;
    assert_eq!(context.first_image(&what, &mut image), good);
    for _ in 0..s.u8() % 32 {
        let at = s.below(1024 + 0x100) as usize;
        image[at] = match s.u8() % 4 {
            0 => 0x1108_0000 | u32::from(s.u8()),
            1 => 0x500_0000,
            _ => s.u32(),
        };
    }
    let before = image.clone();
    if !context.later_image(&what, &mut image) {
        assert_eq!(image, before, "all or nothing");
    }
    assert_eq!(image[..1024], before[..1024], "the first page is not ours");
}

fn requests(s: &mut Source<'_>, engine: &dyn Engine) {
    let page = |s: &mut Source<'_>| GgttAddr(s.u32() & 0xffff_f000);
    let mem = EngineMemory {
        ring: page(s),
        status: StatusPage::Ggtt(page(s)),
        scratch: page(s),
        directory: None,
        card: topology().card,
    };
    let request = Emit {
        switch: Switch::Stay,
        known: None,
        directory: None,
        watchdog: None,
        batch: s.flag().then(|| Batch {
            addr: GpuAddr(if s.flag() {
                s.odd()
            } else {
                s.odd() & 0xffff_ffff_fff8
            }),
            len: s.u32(),
            privilege: [Privilege::User, Privilege::Kernel][usize::from(s.flag())],
        }),
        inline: [&[][..], &[0; 7]][usize::from(s.flag())],
        seqno: Seqno(s.u32()),
    };
    let bound = engine.desc().emit_dwords + request.inline.len();
    let mut buf = vec![0; s.below(bound as u64 + 4) as usize];
    let room = buf.len();
    let mut out = Commands::new(&mut buf);
    let fits = request
        .batch
        .is_none_or(|b| b.addr.0 < 1 << 48 && b.addr.0 % 8 == 0);
    match engine.emit(&request, &mem, &mut out) {
        Ok(()) => assert!(fits && out.len() <= bound && out.len() % 2 == 0),
        Err(_) => assert!(room < bound || !fits, "{request:?}"),
    }
    let fill = PageFill {
        to: page(s),
        pages: s.odd() as u32,
        value: s.u32(),
        memory: [MemoryKind::Local, MemoryKind::System][usize::from(s.flag())],
    };
    let mut buf = [0; COPY_DWORDS];
    let filled = engine.fill(&fill, &mut Commands::new(&mut buf)).is_ok();
    let most = engine.desc().copy_pages;
    // Of the card's own memory, pieces of 64 KiB.
    let whole = fill.to.0.is_multiple_of(0x1_0000) && fill.pages.is_multiple_of(16);
    let fits = fill.memory == MemoryKind::System || whole;
    assert_eq!(filled, fits && fill.pages > 0 && fill.pages <= most);
}

/// Any entry, and any status page.
fn reports(s: &mut Source<'_>, engine: &dyn Engine) {
    for _ in 0..8 {
        if let Some(event) = engine.event(s.odd()) {
            assert!(event.from.is_none() || event.from != event.to);
            assert!(!event.finished || event.from.is_some());
        }
    }
    let mut page = vec![u32::MAX; s.below(1025) as usize];
    for _ in 0..s.u8() % 8 {
        if let Some(dword) = page.get_mut(s.below(0x50) as usize) {
            *dword = s.odd() as u32;
        }
    }
    if let Some(area) = engine.find_events(&page) {
        let last = page[area.last_at as usize / 4];
        assert!(last < u32::from(area.entries));
    }
}

struct Status(Vec<u32>);

impl Page for Status {
    fn read(&self, offset: u32) -> u32 {
        self.0[offset as usize / 4]
    }
    fn write(&mut self, offset: u32, value: u32) {
        self.0[offset as usize / 4] = value;
    }
}

/// An engine that writes anything over its status page: it is read, and ends in an error or in events.
fn garbage(s: &mut Source<'_>, engine: &dyn Engine) {
    let area = engine.desc().events.expect("it takes lists");
    let mut page = Status(vec![0; 1024]);
    let mut events = Events::new(area);
    events.restart(&mut page);
    let mut port = ListPort::new(8, area.entries);
    port.load(&[wanted(1, 8, 0)]);
    for _ in 0..s.u8() % 16 {
        let at = area.at / 4 + s.below(u64::from(area.entries) * 2) as u32;
        page.write(4 * at, s.odd() as u32);
        page.write(area.last_at, s.below(14) as u32);
        let mut count = 0;
        while let Ok(Look::Event(raw)) = events.next(&mut page) {
            count += 1;
            assert!(count < area.entries, "no entry twice");
            if let Some(event) = engine.event(raw) {
                let _ = port.event(&event);
            }
        }
    }
}

fn wanted(n: u32, tail: u32, priority: i32) -> Wanted {
    Wanted {
        key: ContextKey(n.into()),
        id: n,
        priority,
        descriptor: n.into(),
        tail: RingOffset(tail),
        fresh: false,
    }
}

fn any_event(s: &mut Source<'_>) -> PortEvent {
    PortEvent {
        from: s.flag().then(|| s.below(6) as u32),
        finished: s.flag(),
        to: s.flag().then(|| s.below(6) as u32),
        new_list: s.flag(),
    }
}

/// A port between any calls: a load at a time, room for all events, nothing lost and nothing twice.
fn port(s: &mut Source<'_>) {
    let (depth, entries) = (s.u8() % 12, s.u8() % 16);
    let mut port = ListPort::new(depth, entries);
    for _ in 0..s.u8() {
        match s.u8() % 6 {
            0 | 1 => {
                let list: Vec<Wanted> = (0..s.below(6) as u32)
                    .map(|n| wanted(n, 8 * s.below(4) as u32, s.below(3) as i32))
                    .collect();
                let (room, loading) = (port.room(), port.is_loading());
                if let Some(load) = port.load(&list) {
                    assert!(!loading && load.entries().len() <= room.min(MAX_LIST));
                    assert!(port.is_loading() && port.room() == 0);
                }
            }
            2 | 3 => {
                let event = any_event(s);
                let loading = port.is_loading();
                if let Ok(outcome) = port.event(&event) {
                    assert_eq!(outcome.acknowledged, event.new_list);
                    assert!(!event.new_list || loading);
                    for released in port.released(&outcome) {
                        assert!(!port.holds(released.key));
                    }
                }
            }
            4 => port.cancel(ContextKey(s.below(6))),
            _ => port.completed(ContextKey(s.below(6)), RingOffset(8 * s.below(4) as u32)),
        }
    }
    for _ in port.reset() {}
    assert!(port.is_idle());
}

#[derive(Default)]
struct Items(Vec<Item>);

impl Arena for Items {
    fn items(&self) -> &[Item] {
        &self.0
    }
    fn items_mut(&mut self) -> &mut [Item] {
        &mut self.0
    }
}

/// A scheduler between any calls, with an engine that may say anything.
fn scheduler(s: &mut Source<'_>) {
    let policy = Policy {
        slice: s.below(20),
        patience: s.below(100),
        pause: s.below(50),
        credit: s.odd(),
    };
    let mut items = Items::default();
    items.0.resize(s.below(12) as usize, Item::default());
    let mut sched = Scheduler::new(items, 8, 12, policy);
    let (mut clients, mut entities) = (Vec::new(), Vec::new());
    let mut now = s.odd() >> 1;
    for _ in 0..s.u8() {
        now = now.saturating_add(s.below(30));
        let some = |s: &mut Source<'_>, all: &[_]| match all.len() {
            0 => None,
            n => Some(all[s.below(n as u64) as usize]),
        };
        let entity = some(s, &entities);
        let tail = RingOffset(8 * s.below(8) as u32);
        match (s.u8() % 12, entity) {
            (0, _) => clients.extend(sched.add_client()),
            (1 | 2, _) => {
                let what = What {
                    id: s.below(6) as u32,
                    descriptor: s.u64(),
                    priority: s.u32() as i32,
                    roams: s.below(2) == 0,
                };
                if let Some(client) = clients.last() {
                    entities.extend(sched.add_entity(*client, &what));
                }
            }
            (3 | 4, Some(entity)) => sched.publish(entity, tail, now),
            (5, Some(entity)) => sched.completed(entity, tail, now),
            (6, Some(entity)) => sched.set_priority(entity, s.u32() as i32, now),
            (7, Some(entity)) => sched.cancel(entity, now),
            (8, Some(entity)) => {
                let held = sched.is_held(entity);
                assert!(!(sched.remove_entity(entity) && held));
            }
            (9, _) => {
                if let Some(client) = clients.pop() {
                    sched.remove_client(client);
                }
            }
            (10, _) => sched.reset(now),
            _ => drop(sched.event(&any_event(s), now)),
        }
        let room = sched.port().room();
        if let Some(load) = sched.schedule(now) {
            assert!(load.entries().len() <= room && sched.port().is_loading());
        }
        assert_eq!(sched.schedule(now), None, "once is enough");
        assert!(sched.next(now).is_none_or(|t| t >= now));
    }
}
