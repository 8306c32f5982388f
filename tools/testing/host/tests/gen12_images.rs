// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: context images that the backend makes, the modelled engines execute and save (DG2 PRM Vol 8
//! "Logical Ring Context Format"; digest §1D, §4.2).

use gpu_model::counters::Counter;
use ouro_cross::{
    dg2_machine::{Dg2Machine, Work},
    program::{self, UserSpace},
};
use ouro_hw::{
    ring::Commands,
    types::{EngineClass, Seqno},
};

/// The blitter's number.
const BCS: usize = 1;
/// `CS_GPR` R0 (digest §3.2 row 87).
const GPR0: u32 = 0x600;
/// Where engines are, in the topology's order (digest §3.1).
const BASES: [u32; 7] = [
    0x2000, 0x2_2000, 0x1_a000, 0x1c_0000, 0x1d_0000, 0x1c_8000, 0x1d_8000,
];
/// Steps of a run that does not come to rest.
const SOME: usize = 2_000;

/// K4: what is run within a restore. DRAW_WATERMARK at 26C0h is 3FFh (upstream's workaround 16014892111).
#[test]
fn render_is_told_what_its_registers_forget() {
    let mut m = Dg2Machine::default();
    let rcs = m.first(EngineClass::Render);
    let (a, b) = (m.context(rcs), m.context(rcs));
    m.work(a, &Work::default());
    m.work(b, &Work::default());
    m.hw().regs.write32(0x26c0, 0);
    m.work(a, &Work::default());
    assert_eq!(m.hw().regs.read32(0x26c0), 0x3ff);
    m.assert_lawful();
}

/// K5: a fill of 8 bits a pixel, one by four, at the end of the space (upstream's workaround 16018031267). A card
/// writes no byte of it, says upstream; the model writes the four.
#[test]
fn the_blitter_fills_nothing_behind_each_restore() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    let (a, b) = (
        m.context_in(BCS, space.tree, 0, None),
        m.context_in(BCS, m.kernel, 0, None),
    );
    let (page, _) = space.page(&mut m);
    m.map(&space.tree, 0xffff_ffff_0000, page);
    for _ in 0..2 {
        m.put(page, 0, &[!0; 80]);
        m.work(a, &Work::default());
        // Rows of 64 bytes.
        let rows = [0, 16, 32, 48, 64].map(|at| m.dword(page, at));
        assert_eq!(rows, [!0xff, !0xff, !0xff, !0xff, !0]);
        m.work(b, &Work::default());
    }
    m.assert_lawful();
}

/// Dword `n` of the page with the registers.
fn state(image: &[u32], n: usize) -> u32 {
    image[1024 + n]
}

#[test]
fn a_first_image_is_not_read_and_then_is() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        // D6: inhibited, and without an engine context.
        let first = m.image(context);
        assert_eq!(state(&first, 3), 0x0009_0009);
        assert_eq!(state(&first, 0x60), 0x0500_0001);
        m.work(context, &Work::default());
        let saved = m.image(context);
        // D8, D10: all headers are there; bit 0 is not.
        assert_eq!(state(&saved, 1), 0x1108_101d, "engine {n}");
        assert_eq!(state(&saved, 0x21), 0x1108_1011);
        assert_eq!(state(&saved, 0x61), 0x1108_106d);
        assert_eq!(state(&saved, 3) & 9, 8);
        // P1: the watchdog does not run.
        assert_eq!(state(&saved, 0x75), 1);
        // The head is where the tail is; the ring and the root are those that were given.
        assert_eq!(state(&saved, 5) & 0x1f_fff8, state(&saved, 7));
        assert_ne!(state(&saved, 7), 0);
        assert_eq!(state(&saved, 9), m.contexts[context].mem.ring.0);
        assert_eq!(state(&saved, 0x0b), 0x3001);
        let root = u64::from(state(&saved, 0x33)) | u64::from(state(&saved, 0x31)) << 32;
        assert_eq!(root, space.tree.root().0);
        // H2: page 0 is the device's, and it has nothing to say there.
        assert!(saved[..1024].iter().all(|d| *d == 0));
    }
    m.assert_lawful();
}

#[test]
fn registers_are_a_contexts_own() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let (page, at) = space.page(&mut m);
        let contexts: Vec<_> = (0..3)
            .map(|_| m.context_in(n, space.tree, 0, None))
            .collect();
        for (value, context) in (0x11u32..).zip(&contexts) {
            let set = space.program(
                &mut m,
                &[
                    &program::load(GPR0, value),
                    &program::load(GPR0 + 0x7c, !value),
                ],
            );
            m.work(*context, &Work::batch(set));
        }
        for (k, context) in (0u64..).zip(&contexts) {
            let get = space.program(
                &mut m,
                &[
                    &program::save(GPR0, at + 8 * k),
                    &program::save(GPR0 + 0x7c, at + 8 * k + 4),
                ],
            );
            m.work(*context, &Work::batch(get));
        }
        for (k, value) in (0..).zip([0x11u32, 0x12, 0x13]) {
            assert_eq!(m.dword(page, 2 * k), value, "engine {n}");
            assert_eq!(m.dword(page, 2 * k + 1), !value, "engine {n}");
        }
    }
    m.assert_lawful();
}

/// Q23: the slots at 4D0h let programs use registers that are the kernel's. Whoever had the card before may have
/// filled them; a start shuts them.
#[test]
fn what_others_have_opened_is_shut() {
    // CTXT_PREMP_DBG, which is on no list of digest §3.5.
    const CLOSED: u32 = 0x248;
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for (n, base) in BASES.into_iter().enumerate() {
        let seen = |m: &mut Dg2Machine| {
            let (page, at) = space.page(m);
            let context = m.context_in(n, space.tree, 0, None);
            let program =
                space.program(m, &[&program::load(CLOSED, 5), &program::save(CLOSED, at)]);
            m.put(page, 0, &[7]);
            m.work(context, &Work::batch(program));
            m.dword(page, 0)
        };
        assert_eq!(seen(&mut m), 0, "engine {n}");
        for slot in 0..12 {
            m.hw().regs.write32(base + 0x4d0 + 4 * slot, base + CLOSED);
        }
        assert_eq!(seen(&mut m), 5, "engine {n}");
        m.start_engine(n).unwrap();
        assert_eq!(seen(&mut m), 0, "engine {n}");
    }
}

/// P1: zero in PR_CTR_CTL (178h) starts the watchdog, one stops it. First images are made of what is there.
#[test]
fn a_watchdog_that_others_have_started_stops() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for (n, base) in BASES.into_iter().enumerate() {
        m.hw().regs.write32(base + 0x178, 0);
        m.start_engine(n).unwrap();
        let context = m.context_in(n, space.tree, 0, None);
        m.work(context, &Work::default());
        assert_eq!(state(&m.image(context), 0x75), 1, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn a_fresh_context_sees_nothing_of_others() {
    // With a first image, the device has no engine context to read, and what the last one left would stay in
    // its registers. With a copy of a saved one, all is loaded (D9).
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let golden = m.context(n);
        let commands = golden_state(&m, n);
        m.work(golden, &Work::inline(&commands));
        let template = m.image(golden);
        let noisy = m.context_in(n, space.tree, 0, None);
        let set = space.program(&mut m, &[&program::load(GPR0, 0x5ec2_e700)]);
        m.work(noisy, &Work::batch(set));
        let fresh = m.context_in(n, space.tree, 0, Some(&template));
        // D6: bit 0 is clear, and its mask is set.
        assert_eq!(state(&m.image(fresh), 3), 0x0009_0008);
        let (page, at) = space.page(&mut m);
        let get = space.program(&mut m, &[&program::save(GPR0, at)]);
        m.put(page, 0, &[0xffff_ffff]);
        m.work(fresh, &Work::batch(get));
        assert_eq!(m.dword(page, 0), 0, "engine {n}");
    }
    m.assert_lawful();
}

fn golden_state(m: &Dg2Machine, n: usize) -> Vec<u32> {
    let engine = m.engine(n);
    let mut buf = vec![0; engine.desc().golden_dwords];
    let mut out = Commands::new(&mut buf);
    engine.golden(&mut out).expect("the bound holds");
    out.as_slice().to_vec()
}

#[test]
fn the_blitters_caching_is_in_every_copy() {
    let mut m = Dg2Machine::default();
    let golden = m.context(BCS);
    let commands = golden_state(&m, BCS);
    m.work(golden, &Work::inline(&commands));
    let template = m.image(golden);
    // D11: dwords 41h to 45h. MOCS index 1, as 2, for both (§5.4).
    assert_eq!(state(&template, 0x41), 0x1100_1003);
    assert_eq!(
        (state(&template, 0x44), state(&template, 0x45)),
        (0x2_2204, 0x202)
    );
    let copy = m.context_in(BCS, m.kernel, 0, Some(&template));
    m.work(copy, &Work::default());
    assert_eq!(state(&m.image(copy), 0x45), 0x202);
    m.assert_lawful();
}

#[test]
fn a_copy_is_whole_on_every_engine() {
    // Its class's own parts too: of render and compute, and of media (D12, D17).
    let mut m = Dg2Machine::default();
    for n in 0..m.ports.len() {
        let golden = m.context(n);
        m.work(golden, &Work::default());
        let template = m.image(golden);
        let class = m.engine(n).desc().id.class;
        let pages = match class {
            EngineClass::Render | EngineClass::Compute => 14,
            _ => 2,
        };
        assert_eq!(
            template.len(),
            (pages * 1024usize).next_multiple_of(16 * 1024)
        );
        let copy = m.context_in(n, m.kernel, 0, Some(&template));
        for k in 1..=3 {
            m.work(copy, &Work::default());
            assert_eq!(m.done(copy), Seqno(k));
        }
    }
    m.assert_lawful();
}

#[test]
fn what_was_interrupted_goes_on_with_its_registers() {
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let (page, at) = space.page(&mut m);
        let slow = m.context_in(n, space.tree, 0, None);
        let urgent = m.context_in(n, space.tree, 9, None);
        let first = space.program(
            &mut m,
            &[
                &program::load(GPR0, 0xabcd),
                &program::wait(at, 1),
                &program::save(GPR0, at + 4),
            ],
        );
        let other = space.program(&mut m, &[&program::load(GPR0, 0x1111)]);
        m.submit(slow, &Work::batch(first));
        m.run_for(SOME);
        let before = m.gpu.counter(Counter::Preemptions);
        m.submit(urgent, &Work::batch(other));
        m.run_for(SOME);
        assert_eq!(m.done(urgent), Seqno(1));
        assert_eq!(m.gpu.counter(Counter::Preemptions) - before, 1);
        m.put(page, 0, &[1]);
        assert!(m.run());
        assert_eq!(m.dword(page, 1), 0xabcd, "engine {n}");
    }
    m.assert_lawful();
}

#[test]
fn a_program_cannot_leave_predication_behind() {
    // N3: all of the ring's tail would be skipped; M2: not the command that ends it.
    let mut m = Dg2Machine::default();
    let space = UserSpace::new(&mut m);
    for n in 0..m.ports.len() {
        let context = m.context_in(n, space.tree, 0, None);
        // MI_SET_PREDICATE of mode 15: everything is skipped.
        let program = space.program(&mut m, &[&[0x0080_000f]]);
        m.work(context, &Work::batch(program));
        m.work(context, &Work::default());
        assert_eq!(m.done(context), Seqno(2), "engine {n}");
    }
    m.assert_lawful();
}
