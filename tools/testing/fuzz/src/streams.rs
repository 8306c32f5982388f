// SPDX-License-Identifier: GPL-2.0
//! Streams by a grammar, through the checker and on a modelled R5xx: whatever passes comes to its end, and
//! touches no byte that is not of its objects.

use crate::{grammar, source::Source};
use gpu_model::r5xx::{Access, Chip, R5xxConfig, Unit};
use ouro_cross::{
    r5xx_machine::{Job, Named, Object},
    stream::{packets, Packet},
    R5xxMachine,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Accesses that one stream may make: each unit's are merged where they follow each other.
const ACCESSES: usize = 1 << 20;

/// What was seen.
#[derive(Debug, Default)]
pub struct Tally {
    /// Streams.
    pub streams: u64,
    /// Those that passed.
    pub passed: u64,
    /// Rules that refused the others.
    pub rules: BTreeMap<&'static str, u64>,
    /// Commands in those that passed, by opcode.
    pub commands: BTreeMap<u32, u64>,
    /// Registers in those.
    pub registers: BTreeSet<u32>,
    /// Bytes that the units touched.
    pub bytes: BTreeMap<Unit, u64>,
}

/// A card with objects.
struct Card {
    card: R5xxMachine,
    objects: Vec<Object>,
}

impl Card {
    fn new(name: &str) -> Self {
        let mut config = R5xxConfig::new(Chip::named(name).expect("a model"));
        config.keep_accesses = ACCESSES;
        config.keep_events = 0;
        let mut card = R5xxMachine::with(config);
        let objects = (0..grammar::OBJECTS).map(|n| match n % 2 {
            0 => card.local(grammar::MAX_BYTES),
            _ => card.system(grammar::MAX_BYTES),
        });
        let objects = objects.collect();
        Self { card, objects }
    }
}

/// Two cards, and a count.
pub struct StreamMachine {
    /// RV515, which has one pipe, and RV530, which has a mask of units of depth.
    cards: [Card; 2],
    /// What was seen so far.
    pub tally: Tally,
}

impl Default for StreamMachine {
    fn default() -> Self {
        Self {
            cards: ["rv515", "rv530"].map(Card::new),
            tally: Tally::default(),
        }
    }
}

impl StreamMachine {
    /// Tries the stream that these bytes stand for.
    pub fn attempt(&mut self, bytes: &[u8]) {
        let mut s = Source::new(bytes);
        // Now and then the stream of another client comes next.
        let client = u32::from(s.u8() > 250);
        let made = grammar::make(&mut s);
        let Card { card, objects } = &mut self.cards[usize::from(made.depth_pipes)];
        let objects = objects.iter().zip(made.objects);
        let objects = objects.map(|(object, (bytes, tiling))| (object.cut(bytes), tiling));
        let named = Named {
            objects: objects.collect(),
            stream_knows: made.knows,
        };
        self.tally.streams += 1;
        let copy = match card.check(&made.stream, &named) {
            Ok(copy) => copy,
            Err(refusal) => {
                *self.tally.rules.entry(refusal.rule).or_default() += 1;
                return;
            }
        };
        self.tally.passed += 1;
        self.tally.count(&made.stream);
        let batch = Some(card.place(&copy));
        card.gpu.take_accesses();
        let seqno = card.submit(&Job {
            client,
            batch,
            inline: &[],
        });
        let rests = card.run();
        let stuck = card.gpu.vap_stuck();
        assert!(
            rests && card.done() == seqno && !stuck,
            "it does not come to its end: {:?}, vertices {stuck}, {:x?}\n{:x?}",
            card.gpu.lockup(),
            card.gpu.client_lints(),
            made.stream,
        );
        let (accesses, lost) = card.gpu.take_accesses();
        assert_eq!(lost, 0, "all accesses are seen");
        for access in accesses {
            if self.tally.look(&access, &named) {
                continue;
            }
            let places: Vec<_> = named
                .objects
                .iter()
                .map(|(o, t)| (o.addr, o.addr + o.bytes, t))
                .collect();
            panic!("{access:x?} is outside of {places:x?}\n{:x?}", made.stream);
        }
        card.assert_lawful();
    }
}

impl Tally {
    /// Whether an access is inside of an object, or the kernel's own.
    fn look(&mut self, access: &Access, named: &Named) -> bool {
        if matches!(access.unit, Unit::Ring | Unit::Indirect | Unit::WriteBack) {
            return true;
        }
        *self.bytes.entry(access.unit).or_default() += access.len;
        named.objects.iter().any(|(object, _)| {
            let (from, to) = (
                u64::from(object.addr),
                u64::from(object.addr + object.bytes),
            );
            access.addr >= from && access.end() <= to
        })
    }

    fn count(&mut self, stream: &[u32]) {
        packets(stream, |packet| match packet {
            Packet::Command(opcode) => *self.commands.entry(opcode).or_default() += 1,
            Packet::Register(register, _) => {
                self.registers.insert(register);
            }
        });
    }
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    thread_local! {
        static MACHINE: RefCell<StreamMachine> = RefCell::default();
    }
    MACHINE.with_borrow_mut(|m| m.attempt(bytes));
}
