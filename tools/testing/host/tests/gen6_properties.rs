// SPDX-License-Identifier: GPL-2.0
//! Sandy Bridge: whatever clients do, in whatever order, the right values arrive, no rule is broken and
//! the price of a submission stays what it is.

use gpu_model::counters::Counter;
use ouro_cross::ring_machine::{Object, RingMachine, Work, RCS};
use ouro_hw::{
    engine::{Privilege, Switch},
    ring::Commands,
    types::GgttAddr,
};
use proptest::prelude::*;

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An engine stores a value by a user's batch.
    Store { engine: usize, value: u32 },
    /// A context gets a value into a register that contexts save, or is asked for it.
    Keep { context: usize, bits: u32 },
    /// An empty request with so many dwords of the kernel's own.
    Pad { engine: usize, dwords: usize },
    /// Requests in flight, taken off together.
    Flight { engine: usize, requests: u32 },
    /// A page is bound elsewhere.
    Move,
    /// The device sleeps for a while.
    Sleep,
    /// The device is reset; what is loaded on it was saved before.
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    let engine = 0usize..3;
    prop_oneof![
        4 => (engine.clone(), any::<u32>()).prop_map(|(engine, value)| Step::Store { engine, value }),
        4 => (0usize..3, 0u32..4).prop_map(|(context, bits)| Step::Keep { context, bits }),
        2 => (engine.clone(), 0usize..200).prop_map(|(engine, dwords)| Step::Pad { engine, dwords }),
        2 => (engine, 1u32..12).prop_map(|(engine, requests)| Step::Flight { engine, requests }),
        1 => Just(Step::Move),
        1 => Just(Step::Sleep),
        1 => Just(Step::Reset),
    ]
}

const EMPTY: Work<'static> = Work {
    switch: Switch::Stay,
    batch: None,
    inline: &[],
};

/// A machine with three contexts of the golden state, and a page to store into.
struct Clients {
    m: RingMachine,
    /// What is loaded when no context is.
    home: Object,
    contexts: Vec<Object>,
    /// What each context has in bits 8 and 6 of CACHE_MODE_0.
    kept: Vec<u32>,
    target: Object,
    places: [u64; 2],
    batch: Object,
    out: Object,
}

impl Clients {
    fn new() -> Self {
        let mut m = RingMachine::default();
        let pages = m.topo.context_bytes / 4096;
        let (home, first) = (m.alloc(pages), m.alloc(pages));
        let engine = m.topo.engines[RCS];
        let mut buf = vec![0; engine.desc().golden_dwords];
        let mut golden = Commands::new(&mut buf);
        engine.golden(&mut golden).expect("the bound holds");
        let golden = golden.as_slice().to_vec();
        m.work(
            RCS,
            &Work {
                inline: &golden,
                ..Work::switch(first.addr, false)
            },
        );
        m.work(RCS, &Work::switch(home.addr, false));
        let contexts: Vec<Object> = (0..3)
            .map(|_| {
                let copy = m.alloc(pages);
                for n in 0..m.topo.context_bytes / 4 {
                    let dword = m.dword(first, n);
                    m.memory
                        .put_dwords(copy.bus + u64::from(n) * 4, &[dword])
                        .expect("images are in memory");
                }
                copy
            })
            .collect();
        let (target, other) = (m.alloc(1), m.alloc(1));
        let (batch, out) = (m.alloc(1), m.alloc(1));
        Self {
            places: [target.bus, other.bus],
            kept: vec![0; contexts.len()],
            m,
            home,
            contexts,
            target,
            batch,
            out,
        }
    }

    fn batch(&self, dwords: &[u32]) {
        self.m
            .memory
            .put_dwords(self.batch.bus, dwords)
            .expect("it fits");
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Store { engine, value } => {
                self.batch(&[0x1000_0002, 0, self.target.addr, value, 0x0500_0000, 0]);
                self.m.work(engine, &Work::batch(self.batch.addr));
                assert_eq!(self.m.memory.dword(self.places[0]), value);
            }
            Step::Keep { context, bits } => {
                // Stores what is there, then sets bits 8 and 6.
                let value = (bits & 1) << 6 | (bits & 2) << 7;
                self.batch(&[
                    0x1240_0001,
                    0x2120,
                    self.out.addr,
                    0x1100_0001,
                    0x2120,
                    0x0140_0000 | value,
                    0x0500_0000,
                    0,
                ]);
                let work = Work {
                    switch: Switch::To {
                        image: GgttAddr(self.contexts[context].addr),
                        saved: true,
                    },
                    batch: Some((self.batch.addr, Privilege::Kernel)),
                    inline: &[],
                };
                self.m.work(RCS, &work);
                assert_eq!(self.m.dword(self.out, 0) & 0x140, self.kept[context]);
                self.kept[context] = value;
            }
            Step::Pad { engine, dwords } => {
                let inline = vec![0; dwords];
                self.m.work(
                    engine,
                    &Work {
                        inline: &inline,
                        ..EMPTY
                    },
                );
            }
            Step::Flight { engine, requests } => {
                for _ in 0..requests {
                    self.m.submit(engine, &EMPTY).expect("the engine takes it");
                }
                assert!(self.m.run());
                assert_eq!(self.m.done(engine), self.m.ports[engine].seqno);
            }
            Step::Move => {
                self.places.swap(0, 1);
                self.m.bind(self.target.addr, self.places[0]);
            }
            Step::Sleep => {
                let generation = self.m.chip.generation;
                generation.sleep(&self.m.windows.hw(), &mut self.m.gt);
                generation
                    .wake(&self.m.windows.hw(), &mut self.m.gt, &self.m.time)
                    .expect("it wakes up");
            }
            Step::Reset => {
                self.m.work(RCS, &Work::switch(self.home.addr, false));
                self.m.reset().expect("it is reset");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_clients_do_the_right_values_arrive(steps in prop::collection::vec(step(), 1..60)) {
        let mut clients = Clients::new();
        for step in steps {
            clients.run(step);
        }
        clients.m.assert_lawful();
        let tails = clients.m.gpu.counter(Counter::RcsTailWrites)
            + clients.m.gpu.counter(Counter::BcsTailWrites)
            + clients.m.gpu.counter(Counter::VcsTailWrites);
        prop_assert!(tails >= clients.m.gt.counts.port_writes);
    }
}
