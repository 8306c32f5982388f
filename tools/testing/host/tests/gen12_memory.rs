// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: entries of the global table and of a context's own, written by the backend and walked by the
//! modelled engines (digest §4.5, §4.6), and copies and fills by the blitter (§2.2 rows 2 and 3).

use gpu_model::counters::Counter;
use ouro_cross::{
    dg2_machine::{page, Dg2Machine, Object, Work},
    local::Tree,
    program::{self, UserSpace, USER},
};
use ouro_hw::{
    engine::{PageCopy, PageFill, COPY_DWORDS},
    page_table::Leaf,
    ring::{Commands, Overflow},
    types::{GgttAddr, MemoryKind, Seqno},
};

/// The blitter's number.
const BCS: usize = 1;

#[test]
fn every_kind_of_leaf_is_walked() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let context = m.context_in(BCS, space.tree, 0, None);
    let system = m.system(64 << 10);
    let local = m.local(4 << 20);
    // 2 MiB of local memory, aligned to that.
    let whole = local.at.next_multiple_of(2 << 20);
    let cases = [
        (
            Leaf::Page,
            page(MemoryKind::System, system.at + 0x3000),
            0u64,
        ),
        (Leaf::Run, page(MemoryKind::Local, local.at), 0x1_0000),
        (Leaf::Table, page(MemoryKind::Local, whole), 0x20_0000),
    ];
    for (leaf, page, at) in cases {
        let addr = USER + 0x1000_0000 + at;
        let tables = m.tables;
        space.tree.map(&mut m.local, tables, addr, page, leaf);
        // The first and the last dword of it.
        for offset in [0, leaf.bytes() - 4] {
            let value = 0x6000_0000 + offset as u32;
            let program = space.program(&mut m, &[&program::store(addr + offset, value)]);
            m.work(context, &Work::batch(program));
            let place = page.addr.0 + offset;
            let found = match page.memory {
                MemoryKind::System => m.memory.dword(place),
                MemoryKind::Local => m.local.dword(place),
            };
            assert_eq!(found, value, "{leaf:?} {offset:#x}");
        }
    }
    m.assert_lawful();
}

#[test]
fn a_run_of_system_memory_is_walked() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let context = m.context_in(BCS, space.tree, 0, None);
    let system = m.system(128 << 10);
    let at = system.at.next_multiple_of(64 << 10);
    let addr = USER + 0x1000_0000;
    let tables = m.tables;
    let first = page(MemoryKind::System, at);
    space.tree.map(&mut m.local, tables, addr, first, Leaf::Run);
    let program = space.program(&mut m, &[&program::store(addr + 0xfffc, 7)]);
    m.work(context, &Work::batch(program));
    assert_eq!(m.memory.dword(at + 0xfffc), 7);
    m.assert_lawful();
}

#[test]
fn spaces_do_not_see_each_other() {
    let mut m = Dg2Machine::default();
    let spaces = [UserSpace::new(&mut m), UserSpace::new(&mut m)];
    let pages = [m.system(4096), m.local(4096)];
    let addr = USER + 0x2000_0000;
    for ((space, object), value) in spaces.iter().zip(pages).zip([0x1111u32, 0x2222]) {
        m.map(&space.tree, addr, object);
        let context = m.context_in(BCS, space.tree, 0, None);
        let program = space.program(&mut m, &[&program::store(addr, value)]);
        m.work(context, &Work::batch(program));
    }
    assert_eq!(pages.map(|page| m.dword(page, 0)), [0x1111, 0x2222]);
    m.assert_lawful();
}

/// The pre-parser fetches a batch's beginning by the entry that it finds: T3, and the upstream driver switches
/// it off around each invalidation.
#[test]
fn a_batch_that_is_bound_anew_is_the_one_that_runs() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        let (page, addr) = space.page(&mut m);
        let old = space.program(&mut m, &[&program::store(addr, 1)]);
        m.work(context, &Work::batch(old));
        assert_eq!(m.dword(page, 0), 1);
        // Another object gets the batch's address.
        let new = m.system(4096);
        let dwords = [&program::store(addr, 2)[..], &[program::END, program::NOOP]].concat();
        m.put(new, 0, &dwords);
        m.map(&space.tree, old, new);
        m.work(context, &Work::batch(old));
        assert_eq!(m.dword(page, 0), 2, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn translations_are_dropped_by_registers() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        let (old, gate_at) = space.page(&mut m);
        let new = m.system(4096);
        let wait = space.program(&mut m, &[&program::wait(gate_at, 1)]);
        m.submit(context, &Work::batch(wait));
        m.run_for(2_000);
        // The page has another owner, whom the engine must not see.
        m.map(&space.tree, gate_at, new);
        m.put(new, 0, &[1]);
        m.run_for(20_000);
        assert_eq!(m.done(context), Seqno(0), "it holds the old entry");
        m.put(old, 0, &[0]);
        let generation = m.chip.generation;
        assert!(generation.holds_entries());
        generation
            .invalidate_tlbs(&m.hw(), &m.topo, &m.time)
            .unwrap();
        m.run();
        assert_eq!(m.done(context), Seqno(1), "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn a_new_entry_is_seen_by_the_next_request() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        let (old, addr) = space.page(&mut m);
        let new = m.system(4096);
        let (gate, gate_at) = space.page(&mut m);
        let store = space.program(&mut m, &[&program::store(addr, 1)]);
        let wait = space.program(&mut m, &[&program::wait(gate_at, 1)]);
        // The context stays on the engine, so its translations are kept until the next request's prologue.
        m.queue(context, &Work::batch(store));
        m.submit(context, &Work::batch(wait));
        m.run_for(2_000);
        assert_eq!(m.dword(old, 0), 1);
        m.map(&space.tree, addr, new);
        m.submit(context, &Work::batch(store));
        m.put(gate, 0, &[1]);
        assert!(m.run());
        assert_eq!(m.done(context), Seqno(3));
        assert_eq!(m.dword(new, 0), 1, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn programs_do_not_reach_the_global_table() {
    // Q5: MI_STORE_DATA_IMM with bit 22 is dropped.
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        let target = m.system(4096);
        let program = space.program(&mut m, &[&[0x1040_0002, target.addr, 0, 0xbad]]);
        m.work(context, &Work::batch(program));
        assert_eq!(m.dword(target, 0), 0, "engine {n}");
        // I12: it is no error that ends work.
        m.work(context, &Work::default());
    }
    assert_eq!(
        m.gpu.counter(Counter::PrivilegeViolations),
        m.ports.len() as u64
    );
    assert_eq!(m.gpu.lints(), []);
}

/// Numbers that look like none.
fn pattern(object: Object, seed: u32) -> Vec<u32> {
    let dwords = object.bytes / 4;
    (0..dwords)
        .map(|n| (n ^ seed).wrapping_mul(0x9e37_79b1) ^ n >> 7)
        .collect()
}

fn dwords(m: &Dg2Machine, object: Object) -> Vec<u32> {
    (0..object.bytes / 4).map(|n| m.dword(object, n)).collect()
}

fn run_blit(
    m: &mut Dg2Machine,
    context: usize,
    write: &dyn Fn(&mut Commands<'_>) -> Result<(), Overflow>,
) {
    let mut buf = [0; COPY_DWORDS];
    let mut out = Commands::new(&mut buf);
    write(&mut out).expect("it fits");
    let commands = out.as_slice().to_vec();
    m.work(context, &Work::inline(&commands));
}

#[test]
fn pages_are_copied_between_all_memories() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    let engine = m.engine(BCS);
    // Pages before and behind those that are copied stay as they were.
    let all = [
        m.system(256 << 10),
        m.system(256 << 10),
        m.local(256 << 10),
        m.local(256 << 10),
    ];
    for (n, (from, to)) in (1u32..).zip([(0, 1), (0, 2), (2, 3), (3, 1)]) {
        let (from, to) = (all[from], all[to]);
        let (source, old) = (pattern(from, n), pattern(to, n + 100));
        m.put(from, 0, &source);
        m.put(to, 0, &old);
        // Of the card's own memory, pieces of 64 KiB.
        let (first, pages) = match to.memory {
            MemoryKind::System => (5, 3 + n),
            MemoryKind::Local => (16, 16 * (1 + n % 2)),
        };
        let what = PageCopy {
            from: GgttAddr(from.addr + 2 * 4096),
            to: GgttAddr(to.addr + first * 4096),
            pages,
            memory: to.memory,
            state: None,
        };
        run_blit(&mut m, context, &|out| engine.copy(&what, out));
        let mut expected = old.clone();
        let len = what.pages as usize * 1024;
        expected[first as usize * 1024..][..len].copy_from_slice(&source[2 * 1024..][..len]);
        assert_eq!(dwords(&m, to), expected);
        assert_eq!(dwords(&m, from), source);
    }
    m.assert_lawful();
}

#[test]
fn pages_of_both_memories_are_filled() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    let engine = m.engine(BCS);
    for (object, first, pages) in [(m.system(64 << 10), 1, 7), (m.local(256 << 10), 16, 32)] {
        let old = pattern(object, 3);
        m.put(object, 0, &old);
        let what = PageFill {
            to: GgttAddr(object.addr + first * 4096),
            pages,
            value: 0xfeed_beef,
            memory: object.memory,
        };
        run_blit(&mut m, context, &|out| engine.fill(&what, out));
        let mut expected = old;
        expected[first as usize * 1024..][..pages as usize * 1024].fill(0xfeed_beef);
        assert_eq!(dwords(&m, object), expected, "{:?}", object.memory);
    }
    m.assert_lawful();
}

#[test]
fn what_others_compressed_is_forgotten() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    let engine = m.engine(BCS);
    let (from, to) = (m.system(128 << 10), m.local(256 << 10));
    let source = pattern(from, 1);
    m.put(from, 0, &source);
    // A byte for each 256 of the memory, at its top (digest §5.2, "flat CCS").
    let state = m.topo.local.expect("it has memory").size + to.at / 256;
    for filled in [false, true] {
        let old = pattern(to, 9);
        m.put(to, 0, &old);
        m.local.put(state, &[0xa5a5_a5a5; 256]);
        let target = GgttAddr(to.addr + (64 << 10));
        match filled {
            false => run_blit(&mut m, context, &|out| {
                let what = PageCopy {
                    from: GgttAddr(from.addr),
                    to: target,
                    pages: 32,
                    memory: MemoryKind::Local,
                    state: None,
                };
                engine.copy(&what, out)
            }),
            true => run_blit(&mut m, context, &|out| {
                let what = PageFill {
                    to: target,
                    pages: 32,
                    value: 5,
                    memory: MemoryKind::Local,
                };
                engine.fill(&what, out)
            }),
        }
        // Of the 128 KiB and of nothing else; and they hold what they should.
        for n in 0..256 {
            let kept = !(64..192).contains(&n);
            let expected = if kept { 0xa5a5_a5a5 } else { 0 };
            assert_eq!(m.local.dword(state + n * 4), expected, "{n}");
        }
        let mut expected = old;
        let part = &mut expected[16 << 10..][..32 << 10];
        match filled {
            false => part.copy_from_slice(&source),
            true => part.fill(5),
        }
        assert_eq!(dwords(&m, to), expected);
    }
    m.assert_lawful();
    // Half a piece would be somebody else's.
    for (at, pages) in [(0x8000, 16), (0, 8)] {
        let what = PageFill {
            to: GgttAddr(to.addr + at),
            pages,
            value: 0,
            memory: MemoryKind::Local,
        };
        let mut buf = [0; COPY_DWORDS];
        let result = engine.fill(&what, &mut Commands::new(&mut buf));
        assert_eq!(result, Err(Overflow));
    }
}

#[test]
fn what_is_compressed_leaves_and_comes_back() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    let engine = m.engine(BCS);
    let (first, second) = (m.local(256 << 10), m.local(256 << 10));
    let (refuge, kept) = (m.system(256 << 10), m.system(4096));
    // A byte for each 256 of the memory, at its top (digest §5.2, "flat CCS").
    let top = m.topo.local.expect("it has memory").size;
    let state: Vec<u32> = (0..256u32).map(|n| n.wrapping_mul(0x9e37_79b9)).collect();
    let contents = pattern(first, 4);
    m.put(first, 0, &contents);
    m.local.put(top + first.at / 256, &state);
    // All but the first 64 KiB.
    let (offset, pages) = (64 << 10, 48);
    let leaves = PageCopy {
        from: GgttAddr(first.addr + offset),
        to: GgttAddr(refuge.addr),
        pages,
        memory: MemoryKind::System,
        state: Some(GgttAddr(kept.addr)),
    };
    run_blit(&mut m, context, &|out| engine.copy(&leaves, out));
    assert_eq!(engine.desc().state_bytes * pages, 192 * 4);
    assert_eq!(dwords(&m, kept)[..192], state[64..]);
    assert!(dwords(&m, kept)[192..].iter().all(|d| *d == 0));
    // Others have its place, and it comes back to another one.
    m.local.put(top + first.at / 256, &[0; 256]);
    m.local.put(top + second.at / 256, &[0xa5a5_a5a5; 256]);
    let comes = PageCopy {
        from: GgttAddr(refuge.addr),
        to: GgttAddr(second.addr + offset),
        pages,
        memory: MemoryKind::Local,
        state: Some(GgttAddr(kept.addr)),
    };
    run_blit(&mut m, context, &|out| engine.copy(&comes, out));
    for (n, expected) in (0..256).zip(&state) {
        let expected = if n < 64 { 0xa5a5_a5a5 } else { *expected };
        assert_eq!(
            m.local.dword(top + second.at / 256 + n * 4),
            expected,
            "{n}"
        );
    }
    assert_eq!(dwords(&m, second)[16 << 10..], contents[16 << 10..]);
    m.assert_lawful();
}

/// 2 MiB of local memory that one entry can map, and where they are.
fn large(m: &mut Dg2Machine) -> u64 {
    let object = m.local(4 << 20);
    object.at.next_multiple_of(2 << 20)
}

#[test]
fn the_largest_copy_is_whole() {
    let mut m = Dg2Machine::default();
    let context = m.context(BCS);
    let engine = m.engine(BCS);
    // Coordinates have 15 bits and a sign: 16384 rows of a page, 64 MiB.
    let pages = engine.desc().copy_pages;
    assert_eq!(pages, 0x4000);
    // The same 2 MiB again and again, on both sides; the last ones are others.
    let (from, to) = (0x4000_0000u32, 0x5000_0000u32);
    let place: [[u64; 2]; 2] = [0; 2].map(|_| [0; 2].map(|_| large(&mut m)));
    for ([many, last], addr) in place.into_iter().zip([from, to]) {
        for n in 0..32u32 {
            let at = if n == 31 { last } else { many };
            let page = page(MemoryKind::Local, at);
            let addr = u64::from(addr + n * (2 << 20));
            let (tree, tables) = (m.kernel, m.tables);
            tree.map(&mut m.local, tables, addr, page, Leaf::Table);
        }
    }
    let end = (2 << 20) - 4;
    for (at, value) in [(0, 1), (end, 2)] {
        m.local.put(place[0][0] + at, &[value]);
        m.local.put(place[0][1] + at, &[value + 2]);
    }
    let what = PageCopy {
        from: GgttAddr(from),
        to: GgttAddr(to),
        pages,
        memory: MemoryKind::Local,
        state: None,
    };
    run_blit(&mut m, context, &|out| engine.copy(&what, out));
    for (at, value) in [(0, 1), (end, 2)] {
        assert_eq!(m.local.dword(place[1][0] + at), value);
        assert_eq!(m.local.dword(place[1][1] + at), value + 2);
    }
    let more = PageCopy {
        pages: pages + 1,
        ..what
    };
    let mut buf = [0; COPY_DWORDS];
    let result = engine.copy(&more, &mut Commands::new(&mut buf));
    assert_eq!(result, Err(Overflow));
    m.assert_lawful();
}

#[test]
fn a_tree_is_as_deep_as_its_addresses() {
    // Bits 47:39, 38:30, 29:21 and 20:12 each choose an entry: addresses that differ in one alone are
    // different pages.
    let mut m = Dg2Machine::default();
    let tree = Tree::new(&mut m.local);
    let space = UserSpace { tree };
    let context = m.context_in(BCS, tree, 0, None);
    let addrs = [12, 21, 30, 39].map(|bit| USER + 0x3000_0000 + (1 << bit));
    let pages = addrs.map(|_| m.system(4096));
    for (addr, page) in addrs.into_iter().zip(pages) {
        m.map(&tree, addr, page);
    }
    for (value, addr) in (1u32..).zip(addrs) {
        let program = space.program(&mut m, &[&program::store(addr, value)]);
        m.work(context, &Work::batch(program));
    }
    assert_eq!(pages.map(|page| m.dword(page, 0)), [1, 2, 3, 4]);
    m.assert_lawful();
}
