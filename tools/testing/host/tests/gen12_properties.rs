// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: whatever is submitted in whatever order, on the modelled engines: all of it runs, each once and
//! in the order of its context, and no rule of loads is broken.

use gpu_model::{
    counters::Counter,
    dg2::{Dg2Config, EngineId},
};
use ouro_cross::{
    dg2_machine::{Dg2Machine, Object, Work},
    program::{self, UserSpace},
};
use proptest::prelude::*;

/// What a test does next.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// A request of a context: whether it waits for its gate, and whether others may take over before it.
    Submit(usize, bool),
    /// Opens the gate of a context.
    Open(usize),
    /// Lets the device run so many steps.
    Run(usize),
    /// Takes an interrupt.
    Interrupt,
    /// Lets time pass until the scheduler looks again.
    Wait,
    /// Changes a priority.
    Priority(usize, i32),
}

/// Contexts.
const MANY: usize = 5;

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..MANY, any::<bool>()).prop_map(|(n, wait)| Act::Submit(n, wait)),
        1 => (0..MANY).prop_map(Act::Open),
        4 => (1usize..60).prop_map(Act::Run),
        3 => Just(Act::Interrupt),
        1 => Just(Act::Wait),
        1 => (0..MANY, -3i32..4).prop_map(|(n, priority)| Act::Priority(n, priority)),
    ]
}

struct One {
    context: usize,
    /// Dword 0 is the gate; 1 counts the requests that ran; 2 + n is what that was at the n-th one.
    page: Object,
    requests: u32,
}

/// A request that counts itself and tells the count.
fn request(m: &mut Dg2Machine, space: &UserSpace, one: &One, waits: bool) -> u64 {
    const GPR0: u32 = 0x600;
    let at = UserSpace::addr(one.page);
    let wait = program::wait(at, 1);
    let wait: &[u32] = if waits { &wait } else { &[] };
    space.program(
        m,
        &[
            wait,
            &[program::ARB_CHECK],
            &program::increment(at + 4),
            &program::fetch(GPR0, at + 4),
            &program::save(GPR0, at + 8 + 4 * u64::from(one.requests)),
            &[program::ARB_CHECK],
        ],
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn all_that_is_submitted_runs_once_and_in_order(acts in proptest::collection::vec(act(), 1..80)) {
        let config = Dg2Config::default().with_engines(&[EngineId::Rcs, EngineId::Bcs]);
        let mut m = Dg2Machine::new(config);
        let space = UserSpace::new(&mut m);
        let mut all: Vec<One> = (0..MANY)
            .map(|n| {
                // Three of them share an engine.
                let context = m.context_in(usize::from(n < 3), space.tree, 0, None);
                let (page, _) = space.page(&mut m);
                One { context, page, requests: 0 }
            })
            .collect();
        for act in acts {
            match act {
                Act::Submit(n, waits) => {
                    let one = &mut all[n];
                    let program = request(&mut m, &space, one, waits);
                    one.requests += 1;
                    m.submit(one.context, &Work::batch(program));
                }
                Act::Open(n) => m.put(all[n].page, 0, &[1]),
                Act::Run(steps) => {
                    m.gpu.run_until_idle(steps);
                }
                Act::Interrupt => {
                    m.interrupt();
                }
                Act::Wait => {
                    for n in 0..m.ports.len() {
                        m.wait(n);
                    }
                }
                Act::Priority(n, priority) => {
                    let (entity, now) = (m.contexts[all[n].context].entity, m.now());
                    let engine = m.contexts[all[n].context].engine;
                    m.ports[engine].sched.set_priority(entity, priority, now);
                    m.kick(engine);
                }
            }
            for port in &m.ports {
                let acknowledged = port.said.iter().filter(|e| e.new_list).count();
                prop_assert!(port.loads.len() <= acknowledged + 1);
            }
        }
        for one in &all {
            m.put(one.page, 0, &[1]);
        }
        prop_assert!(m.run());
        // What waited for a look at the clock.
        while (0..m.ports.len()).any(|n| !m.ports[n].sched.port().is_idle()) {
            for n in 0..m.ports.len() {
                m.read_events(n);
            }
            prop_assert!(m.run());
        }
        for one in &all {
            prop_assert_eq!(m.done(one.context).0, one.requests);
            prop_assert_eq!(m.dword(one.page, 1), one.requests);
            for n in 0..one.requests {
                prop_assert_eq!(m.dword(one.page, 2 + n), n + 1);
            }
        }
        prop_assert_eq!(m.gpu.counter(Counter::LoadsUnacknowledged), 0);
        m.assert_lawful();
    }
}
