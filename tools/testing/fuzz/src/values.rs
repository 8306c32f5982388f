// SPDX-License-Identifier: GPL-2.0
//! Numbers that user space names: relocations, fence regions; and what tables are made of.

use crate::source::Source;
use gpu_model::ring::{chip::G45, RingConfig};
use ouro_core::relocation::{self, BadRelocation};
use ouro_cross::ring_machine::{RingMachine, Setup};
use ouro_hw::fence_regs::{FenceRegion, Tiling};
use ouro_hw::generation::Topology;
use ouro_hw::types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page, Seqno};
use std::sync::OnceLock;

/// What the modelled chip has.
pub fn topology() -> &'static Topology {
    static TOPOLOGY: OnceLock<Topology> = OnceLock::new();
    TOPOLOGY.get_or_init(|| RingMachine::default().topo)
}

/// What a modelled Ivy Bridge has.
pub fn ivb_topology() -> &'static Topology {
    static TOPOLOGY: OnceLock<Topology> = OnceLock::new();
    TOPOLOGY.get_or_init(|| RingMachine::new(&Setup::ivb()).topo)
}

/// What a modelled G45 has.
pub fn g45_topology() -> &'static Topology {
    static TOPOLOGY: OnceLock<Topology> = OnceLock::new();
    let setup = Setup {
        config: RingConfig::of(&G45),
        ..Setup::default()
    };
    TOPOLOGY.get_or_init(|| RingMachine::new(&setup).topo)
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    while !s.is_empty() {
        relocations(&mut s);
        tables(&mut s);
        fences(&mut s);
        // Numbers are ordered over half of their circle, whatever they are.
        let (a, b) = (Seqno(s.u32()), Seqno(s.u32()));
        if a != b && a.0 != b.0 ^ 0x8000_0000 {
            assert_ne!(a.passed(b), b.passed(a), "{a:?} {b:?}");
        }
        assert!(a.passed(a) && a.next().passed(a) && !a.passed(a.next()));
    }
}

fn relocations(s: &mut Source<'_>) {
    let (offset, size) = (s.odd(), s.odd());
    let expected = match offset {
        _ if offset % 4 != 0 => Err(BadRelocation::Unaligned),
        _ if u128::from(offset) + 4 > u128::from(size) => Err(BadRelocation::Outside),
        _ => Ok(offset),
    };
    assert_eq!(relocation::place(offset, size), expected);
    let (address, delta) = (s.odd(), s.u32());
    let sum = u128::from(address) + u128::from(delta);
    assert_eq!(
        u128::from(relocation::value(address, delta)),
        sum % (1 << 32)
    );
}

fn tables(s: &mut Source<'_>) {
    let pages = topology().pages;
    let page = Page {
        addr: DmaAddr(s.odd()),
        memory: [MemoryKind::System, MemoryKind::Local][usize::from(s.flag())],
        cache: [CacheLevel::Coherent, CacheLevel::None][usize::from(s.flag())],
    };
    let entry = pages.entry(page);
    assert!(
        entry >> (pages.entry_bytes() * 8 - 1) >> 1 == 0,
        "{page:?} is wider than an entry"
    );
    let _ = (
        pages.directory_entry(page.addr),
        pages.directory_entry_of(page),
    );
}

fn fences(s: &mut Source<'_>) {
    let Some(fences) = topology().fences else {
        return;
    };
    let region = FenceRegion {
        start: GgttAddr(s.odd() as u32),
        len: s.odd() as u32,
        stride: s.odd() as u32,
        tiling: [Tiling::X, Tiling::Y][usize::from(s.flag())],
    };
    if fences.check(&region).is_ok() {
        // SNB PRM V1P2 §4.5.4: whole pages, whole tiles in a row.
        assert!(
            region.start.0.is_multiple_of(4096)
                && region.len.is_multiple_of(4096)
                && region.len > 0,
            "{region:?}"
        );
        let tile = match region.tiling {
            Tiling::X => 512,
            Tiling::Y => 128,
            other => panic!("{other:?} is not of this chip"),
        };
        assert!(
            region.stride > 0 && region.stride.is_multiple_of(tile),
            "{region:?}"
        );
        assert!(
            region.start.0.checked_add(region.len - 1).is_some(),
            "{region:?}"
        );
    }
}
