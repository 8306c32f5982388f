// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: detiling fences that the driver sets, seen by a CPU through the modelled aperture.

use gpu_model::{counters::Counter, ring::RingConfig};
use ouro_cross::ring_machine::{Object, RingMachine, Setup};
use ouro_hw::{
    fence_regs::{BadRegion, FenceRegion, Tiling},
    types::GgttAddr,
};

/// A tiled surface: four tiles wide (digest §4.5), two tile rows high.
const PAGES: u32 = 8;

fn region(surface: Object, tiling: Tiling) -> FenceRegion {
    FenceRegion {
        start: GgttAddr(surface.addr),
        len: PAGES * 4096,
        stride: match tiling {
            Tiling::X => 4 * 512,
            Tiling::Y => 4 * 128,
            other => panic!("{other:?} is not of this chip"),
        },
        tiling,
    }
}

fn set(m: &RingMachine, n: u8, region: Option<&FenceRegion>) -> Result<(), BadRegion> {
    let fences = m.topo.fences.expect("this chip has fences");
    fences.set(m.windows.hw().regs, n, region)
}

/// Writes a byte through the aperture, as a CPU that knows of no tiles.
fn poke(m: &RingMachine, surface: Object, stride: u32, x: u32, y: u32, value: u8) {
    m.gpu
        .aperture_write(surface.addr + y * stride + x, &[value]);
}

fn byte(m: &RingMachine, surface: Object, at: u64) -> u8 {
    let dword = m.memory.dword((surface.bus + at) & !3);
    dword.to_le_bytes()[(at & 3) as usize]
}

#[test]
fn a_fence_shows_tiles_as_rows() {
    // The vectors of digest §4.5, for four tiles a row.
    for (tiling, x, y, at) in [(Tiling::X, 513, 9, 0x5201), (Tiling::Y, 145, 33, 0x5211)] {
        for n in [0, 15] {
            let mut m = RingMachine::default();
            let surface = m.alloc(PAGES);
            let r = region(surface, tiling);
            set(&m, n, Some(&r)).unwrap();
            poke(&m, surface, r.stride, x, y, 0xa5);
            assert_eq!(byte(&m, surface, at), 0xa5, "{tiling:?}");
            let mut read = [0];
            m.gpu
                .aperture_read(surface.addr + y * r.stride + x, &mut read);
            assert_eq!(read, [0xa5]);
            m.assert_lawful();
        }
    }
}

#[test]
fn without_its_fence_a_surface_is_what_memory_is() {
    let mut m = RingMachine::default();
    let surface = m.alloc(PAGES);
    let r = region(surface, Tiling::X);
    set(&m, 3, Some(&r)).unwrap();
    set(&m, 3, None).unwrap();
    poke(&m, surface, r.stride, 513, 9, 0xa5);
    assert_eq!(byte(&m, surface, 9 * 2048 + 513), 0xa5);
    m.assert_lawful();
}

#[test]
fn a_fence_ends_with_its_last_page() {
    let mut m = RingMachine::default();
    let surface = m.alloc(PAGES);
    let behind = m.alloc(1);
    let r = region(surface, Tiling::X);
    set(&m, 0, Some(&r)).unwrap();
    m.gpu.aperture_write(behind.addr + 513, &[7]);
    assert_eq!(byte(&m, behind, 513), 7);
    // The last row of the last tile row.
    poke(&m, surface, r.stride, 2047, 15, 9);
    assert_eq!(byte(&m, surface, 0x7fff), 9);
    m.assert_lawful();
}

#[test]
fn a_fence_moves_without_showing_a_mixture() {
    let mut m = RingMachine::default();
    let (a, b) = (m.alloc(PAGES), m.alloc(PAGES));
    set(&m, 1, Some(&region(a, Tiling::X))).unwrap();
    set(&m, 1, Some(&region(b, Tiling::Y))).unwrap();
    poke(&m, a, 2048, 513, 9, 1);
    assert_eq!(byte(&m, a, 9 * 2048 + 513), 1);
    poke(&m, b, 512, 145, 33, 2);
    assert_eq!(byte(&m, b, 0x5211), 2);
    m.assert_lawful();
}

#[test]
fn fences_survive_a_reset_of_all() {
    let mut m = RingMachine::default();
    let surface = m.alloc(PAGES);
    set(&m, 2, Some(&region(surface, Tiling::X))).unwrap();
    m.reset().unwrap();
    poke(&m, surface, 2048, 513, 9, 0x5a);
    assert_eq!(byte(&m, surface, 0x5201), 0x5a);
    m.assert_lawful();
}

#[test]
fn with_equal_channels_bit_6_is_swizzled() {
    // G-31: X tiles by bits 9 and 10, Y tiles by bit 9.
    for (tiling, x, y, plain) in [(Tiling::X, 513, 9, 0x5201u64), (Tiling::Y, 145, 33, 0x5211)] {
        let setup = Setup {
            config: RingConfig {
                swizzle: true,
                ..Setup::default().config
            },
            ..Setup::default()
        };
        let mut m = RingMachine::new(&setup);
        let surface = m.alloc(PAGES);
        let r = region(surface, tiling);
        set(&m, 0, Some(&r)).unwrap();
        poke(&m, surface, r.stride, x, y, 0xa5);
        // Bit 9 is set in both addresses and bit 10 in neither.
        assert_eq!(byte(&m, surface, plain ^ 0x40), 0xa5, "{tiling:?}");
        m.assert_lawful();
    }
}

#[test]
fn a_fence_costs_three_writes_and_two_reads() {
    let mut m = RingMachine::default();
    let surface = m.alloc(PAGES);
    m.gpu.clear_counters();
    set(&m, 0, Some(&region(surface, Tiling::X))).unwrap();
    assert_eq!(m.gpu.counter(Counter::FenceWrites), 3);
    assert_eq!(m.gpu.counter(Counter::RegReads), 2);
    // None of them is behind the write FIFO.
    assert_eq!(m.gpu.counter(Counter::GtWrites), 0);
}
