// SPDX-License-Identifier: GPL-2.0 OR MIT
//! How the vendor submits to DG2's execlists on its simulators (`Documentation/gpu/ouro/witnesses.rst`, VW38 and on:
//! GitHub intel/aubstream), and what an idle engine of a real Tiger Lake shows (TW01 and on).

use crate::dg2_rig::*;
use gpu_model::dg2::{Dg2Config, EngineId, ENGINES};

/// The vendor's image of context 0 (VW41, VW43): lists of absolute offsets, in the unused places of the first
/// CTX_CONTROL, in the first of the second CS_DEBUG_MODE2 (VW42), then NOPID. Its ring has four pages; the table's
/// root is the bench's.
fn image(rig: &Rig, e: EngineId) {
    let base = e.base();
    let mut d = vec![0u32; 0x60];
    let mut list = |at: usize, header: u32, entries: &[(u32, u32)]| {
        d[at] = header;
        for (i, (register, value)) in entries.iter().enumerate() {
            (d[at + 1 + 2 * i], d[at + 2 + 2 * i]) = (base + register, *value);
        }
    };
    let control = (0x244, 0x0009_0009);
    let mut first = [control; 14];
    first[1..7].copy_from_slice(&[
        (0x34, 0),
        (0x30, 0),
        (0x38, 0x101_0000),
        (0x3c, 0x3001),
        (0x168, 0),
        (0x140, 0),
    ]);
    list(0x01, 0x1100_101b, &first);
    let mut second = [(0xd8, 0x0020_0020); 9];
    for (i, pair) in second[1..].iter_mut().enumerate() {
        *pair = (0x28c - 4 * i as u32, 0);
    }
    second[8].1 = ROOT as u32;
    list(0x21, 0x1100_1011, &second);
    list(0x41, 0x1100_0001, &[(0x94, 0)]);
    d.truncate(0x60);
    rig.put_local(Rig::page(0), &d);
}

/// VW38 and on, of each engine that the vendor drives: set-up with bit 3 of GFX_MODE clear and bit 15 set, status page,
/// image, ring; the request; the tail into the image; eight elements; Load.
#[test]
fn the_vendors_submission() {
    for (e, base) in [
        (EngineId::Rcs, 0x2000),
        (EngineId::Bcs, 0x2_2000),
        (EngineId::Ccs0, 0x1_a000),
        (EngineId::Vcs0, 0x1c_0000),
        (EngineId::Vecs0, 0x1c_8000),
    ] {
        let rig = Rig::bare(Dg2Config::default());
        rig.wake_all();
        assert_eq!(e.base(), base, "VW48");
        rig.set(0x1_4800, 0x0003_0003);
        // VW38, VW39, VW40.
        rig.eset(e, 0x29c, 0xffff_8280);
        assert_eq!(rig.ereg(e, 0x29c), 0x8280);
        rig.eset(e, 0x9c, 0x1000_0000);
        rig.eset(e, 0x80, SYSTEM as u32 + 0x1000 * e as u32);
        image(&rig, e);
        // VW44: a program that stores, flushes, a number to a global address, an even number of dwords.
        rig.batch(0x8_0000, &[0x1000_0002, 0x1000, 1, 7]);
        let flush: &[u32] = match e {
            EngineId::Rcs => &[
                0x7a00_0004,
                0x0010_1221,
                0,
                0,
                0,
                0,
                0x7a00_0004,
                0x2010_0e3c,
                0,
                0,
                0,
                0,
            ],
            EngineId::Ccs0 => &[
                0x7a00_0004,
                0x0010_0220,
                0,
                0,
                0,
                0,
                0x7a00_0004,
                0x2010_0e2c,
                0,
                0,
                0,
                0,
            ],
            _ => &[0x1300_0003, 0, 0, 0, 0, NOOP],
        };
        let request = [
            &[0x1100_0001, base + 0x244, 0x0009_0008][..],
            &[0x1880_0101, 0x8_0000, 1],
            flush,
            &store(SYSTEM + 0x2_0000, 0x99),
        ]
        .concat();
        assert_eq!(request.len() % 2, 0);
        // VW45: the tail in dword 7 of the image, then all elements, lower half first, then Load.
        assert_eq!(rig.append(0, &request), 4 * request.len() as u32);
        rig.load(e, &[1 << 39 | 0x100_0000 | 0x119]);
        rig.settle();
        assert_eq!((rig.at(0x10_1000), rig.at(0x2_0000)), (7, 0x99), "{e:?}");
        rig.clean();
        // VW47: the end shows in bit 15, or in bit 0.
        assert_eq!(rig.ereg(e, 0x234) & 1 << 15, 1 << 15);
        // NOPID and CTX_CONTROL came from image and ring.
        assert_eq!((rig.ereg(e, 0x94), rig.ereg(e, 0x244)), (0, 8), "{e:?}");
    }
}

/// VW46: the port is written sixteen times, the lower half of an element first.
#[test]
fn the_vendors_port() {
    let e = EngineId::Rcs;
    let rig = Rig::new();
    image(&rig, e);
    rig.append(0, &store(SYSTEM + 0x2_0000, 5));
    for d in [descriptor(0), 0, 0, 0, 0, 0, 0, 0] {
        rig.eset(e, 0x230, d as u32);
        rig.eset(e, 0x230, (d >> 32) as u32);
    }
    rig.eset(e, 0x550, 1);
    rig.settle();
    assert_eq!(rig.at(0x2_0000), 5);
    rig.clean();
}

/// VW50: a leaf of 64 KB of local memory is its address, 800h (local), 400h (atomics), valid and writable; what is above
/// it has the latter two alone. VW51: an entry of the global table has bit 0, and bit 1 for local memory.
#[test]
fn the_vendors_tables() {
    let rig = Rig::new();
    rig.put_local64(ROOT, 0x0220_1003);
    rig.put_local64(ROOT + 0x4000, 0x242_0c03);
    rig.run_batch(EngineId::Rcs, &[0x1000_0002, 0x20_0004, 1, 7]);
    assert_eq!(rig.local(0x242_0004), 7);
    rig.gpu.ggtt_write(0x2000, 0x242_0003);
    rig.gpu.ggtt_write(0x2001, 0x2_0001);
    let stores = [store(0x200_0008, 8), store(0x200_1008, 9)].concat();
    rig.run(EngineId::Rcs, &stores);
    assert_eq!((rig.local(0x242_0008), rig.at(0x2_0008)), (8, 9));
    rig.clean();
}

/// TW01, TW02, TW04 to TW09, TW12: a real Tiger Lake's render engine that has run a context and idles.
#[test]
fn an_idle_engine() {
    for e in ENGINES {
        let rig = Rig::new();
        let all = |offsets: &[u32]| offsets.iter().map(|o| rig.ereg(e, *o)).collect::<Vec<_>>();
        rig.batch(0x8_0000, &[NOOP; 4]);
        rig.run(e, &[&start(USER + 0x8_0000)[..], &[ARB_CHECK; 3]].concat());
        // EXECLIST_STATUS, the upper half the last context's; the queue keeps its element.
        let d = descriptor(0);
        assert_eq!(all(&[0x234, 0x238]), [0x1_8001, (d >> 32) as u32], "{e:?}");
        assert_eq!(all(&[0x510, 0x514]), [d as u32, (d >> 32) as u32]);
        // CTL without its enable, ACTHD, DMA_FADD at START + TAIL, HEAD and TAIL.
        assert_eq!(all(&[0x3c, 0x74, 0x5c]), [0, 0, 0]);
        let ring = rig.ereg(e, 0x38);
        assert_eq!(all(&[0x34, 0x30, 0x78]), [24, 24, ring + 24]);
        // BB_ADDR of the last batch, not valid: here it ended at 80010h.
        assert_eq!(all(&[0x140, 0x168]), [0x8_0010, 1]);
        assert_eq!(all(&[0x9c, 0x68]), [0x200, ARB_CHECK]);
        rig.clean();
    }
}
