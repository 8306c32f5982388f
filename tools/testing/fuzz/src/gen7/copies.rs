// SPDX-License-Identifier: GPL-2.0
//! Copies that run with privilege, on a modelled Ivy Bridge: what each of them wrote is looked up in the oracle's
//! tables. What counts is the model's own list of registers, entries and memory, and that it ran as many commands as
//! were checked: one that it takes for longer or shorter has it run what nobody has looked at.

use super::{batch, checker, offset, oracle, Engine, Fate, BCS_SWCTRL, BCS_SWCTRL_BITS, END};
use crate::source::Source;
use gpu_model::{
    counters::Counter,
    intel::tlb::AddressSpace,
    ring::{RingConfig, Wrote},
};
use ouro_cross::ring_machine::{Object, RingMachine, Setup, Work, BCS, RCS, VCS};
use ouro_hw::{
    checker::{Placed, Verdict},
    engine::Privilege,
    generation::ResetScope,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Writes of one copy that are listed.
const WRITES: usize = 1 << 16;
/// Pages for a copy: more than a batch of the target has.
const PAGES: u32 = 8;
/// Registers below the table: those that need the GT awake, and the others.
const REGISTERS: std::ops::Range<u32> = 0..0x4_0000;
/// The header of the command that an engine has come to, in its block (VCS §1.1.7).
const IPEHR: u32 = 0x68;
/// Faults of an engine (V-17), which an address without memory leaves.
const FAULTS: [u32; 4] = [0x4094, 0x4194, 0x4294, 0x40a0];
/// The context, which no engine has after its reset.
const CCID: u32 = 0x2180;
/// What changes with every request, in an engine's block: TAIL, HEAD, IPEHR, ACTHD, DMA_FADD, the time stamp
/// (VCS §1.1.4, 1.1.7, 1.1.9), and NOPID, which upstream lets a batch write (§1.2.15).
const PROGRESS: [u32; 8] = [0x30, 0x34, IPEHR, 0x74, 0x78, 0x94, 0x358, 0x35c];
/// Engines, and their numbers in the machine.
const NUMBERS: [(Engine, usize); 3] = [
    (Engine::Render, RCS),
    (Engine::Video, VCS),
    (Engine::Blitter, BCS),
];
/// Where the model counts their commands.
const COMMANDS: [Counter; 3] = [
    Counter::RcsCommands,
    Counter::VcsCommands,
    Counter::BcsCommands,
];
/// What is in the video engine's TLBs, and which of it is valid (VCS-087 to VCS-089).
const TLBS: std::ops::Range<u32> = 0x1_4780..0x1_4c00;
/// RP_CUR_UP_EI to RP_PREV_DOWN, in which the chip counts the work of all engines (the upstream driver's
/// `intel_gt_regs.h`).
const WORK_COUNTERS: std::ops::RangeInclusive<u32> = 0xa050..=0xa064;
/// Blocks of the engines (VCS §1.1.1).
const BLOCKS: [u32; 3] = [0x2000, 0x1_2000, 0x2_2000];

/// What was seen.
#[derive(Debug, Default)]
pub struct Tally {
    /// What batches became.
    pub fates: [u64; 4],
    /// Copies that ran, of each engine: render, video, blitter.
    pub ran: [u64; 3],
    /// Registers that they wrote, and how often.
    pub registers: BTreeMap<u32, u64>,
    /// Bytes of their own space that they wrote, with those of the same bytes again.
    pub bytes: u64,
    /// Copies that did not come to their end, by the header that stopped the engine.
    pub stuck: BTreeMap<u32, u64>,
}

/// A machine, and a count.
pub struct CopyMachine {
    machine: RingMachine,
    copy: Object,
    /// Of each engine: commands of a request beside its batch, and its dwords.
    around: [Option<(u64, u32)>; 3],
    /// What was seen so far.
    pub tally: Tally,
}

fn machine() -> RingMachine {
    let ivb = Setup::ivb();
    RingMachine::new(&Setup {
        config: RingConfig {
            keep_events: 0,
            keep_writes: WRITES,
            ..ivb.config
        },
        ..ivb
    })
}

impl Default for CopyMachine {
    fn default() -> Self {
        let mut machine = machine();
        let copy = machine.alloc(PAGES);
        let mut m = Self {
            machine,
            copy,
            around: [None; 3],
            tally: Tally::default(),
        };
        for engine in Engine::ALL {
            m.execute(engine, &[END]);
        }
        m.tally = Tally::default();
        m
    }
}

impl CopyMachine {
    /// Tries the batch that these bytes stand for.
    pub fn attempt(&mut self, bytes: &[u8]) {
        let mut s = Source::new(bytes);
        let engine = Engine::ALL[s.below(3) as usize];
        let mut commands: Vec<u32> = (0..=s.below(4))
            .flat_map(|_| writing(&mut s, engine))
            .collect();
        match s.u8() % 4 {
            0 => commands.extend(batch(&mut s, engine)),
            _ => commands.push(END),
        }
        self.run(engine, &commands);
    }

    /// Has it checked, and runs its copy if it has one.
    pub(super) fn run(&mut self, engine: Engine, batch: &[u32]) {
        let verdict = checker(engine).check(batch, &Placed { goes_on: false }, &mut []);
        let fate = match verdict {
            Verdict::Reject { .. } => Fate::Refused,
            Verdict::Original { .. } => Fate::Original,
            Verdict::Passes {
                dwords: len,
                patches: 0,
            } => {
                self.execute(engine, &batch[..len]);
                Fate::Copied
            }
            Verdict::Passes { .. } => panic!("it patches nothing: {batch:x?}"),
        };
        self.tally.fates[fate as usize] += 1;
    }

    fn execute(&mut self, engine: Engine, copy: &[u32]) {
        let n = NUMBERS[engine as usize].1;
        let m = &mut self.machine;
        let small = small(engine, copy);
        m.memory.put_dwords(self.copy.bus, &small).expect("it fits");
        m.gpu.take_writes();
        let before = m.gpu.counter(COMMANDS[engine as usize]);
        let batch = Some((self.copy.addr, Privilege::Kernel));
        let work = Work {
            batch,
            ..Work::batch(0)
        };
        let from = m.ports[n].ring.tail().0;
        let seqno = m.submit(n, &work).expect("the engine takes it");
        let bytes = m.topo.engines[n].desc().ring_bytes;
        let dwords = (m.ports[n].ring.tail().0 + bytes - from) % bytes / 4;
        let rests = m.run();
        assert!(rests, "it goes on and on: {small:x?}");
        self.tally.ran[engine as usize] += 1;
        let (writes, lost) = m.gpu.take_writes();
        assert_eq!(lost, 0, "all writes are seen");
        for wrote in &writes {
            assert!(
                self.may(engine, wrote),
                "{wrote:x?} on {engine:?}: {small:x?}"
            );
        }
        let heads = commands(engine, copy);
        let ran = self.machine.gpu.counter(COMMANDS[engine as usize]) - before;
        if self.machine.done(n) == seqno {
            let checked = heads.len() as u64;
            let around =
                self.around[engine as usize].get_or_insert_with(|| (ran - checked, dwords));
            // What fills the ring up to its end are no-ops.
            let ran = ran - around.0 - u64::from(dwords - around.1);
            // A value in memory may end it before its end.
            let conditional = heads.iter().any(|c| copy[c.start] >> 23 == 0x36);
            assert!(
                ran == checked || conditional && ran < checked,
                "{ran} of {checked} commands on {engine:?}: {small:x?}"
            );
        } else {
            let at = self
                .machine
                .gpu
                .mmio_read32(BLOCKS[engine as usize] + IPEHR);
            assert!(
                heads.iter().any(|c| copy[c.start] == at),
                "{at:x} is no command on {engine:?}: {small:x?}"
            );
            *self.tally.stuck.entry(at).or_default() += 1;
            self.start_again(n);
        }
    }

    /// Resets an engine that has stopped at a command that the model does not know.
    fn start_again(&mut self, n: usize) {
        let m = &mut self.machine;
        let generation = m.chip.generation;
        generation
            .reset(&m.hw(), ResetScope::Engine(n), &m.time)
            .expect("it is reset");
        m.ports[n].seqno = m.done(n);
        m.start_engine(n).expect("it starts");
    }

    /// Whether the tables let a copy write this.
    fn may(&mut self, engine: Engine, wrote: &Wrote) -> bool {
        match *wrote {
            Wrote::Register { offset, value } => {
                *self.tally.registers.entry(offset).or_default() += 1;
                oracle().registers.have(engine, offset)
                    && (offset != BCS_SWCTRL || value & !BCS_SWCTRL_BITS == 0)
            }
            Wrote::Memory { space, bytes, .. } => {
                self.tally.bytes += u64::from(bytes);
                space == AddressSpace::Ppgtt
            }
            Wrote::Entry(_) => false,
        }
    }

    /// Registers that hold something else than on a machine that ran none of it, but for what changes with every
    /// request and what batches may write: offset, what it held and what it holds. The machine is of no use afterwards.
    pub fn changed(&self) -> Vec<(u32, u32, u32)> {
        let mut before = Self::default();
        for (engine, n) in NUMBERS {
            before.start_again(n);
            before.execute(engine, &[END]);
        }
        let progress = |offset: u32| BLOCKS.iter().any(|b| PROGRESS.contains(&(offset ^ b)));
        let listed = |offset| {
            let have = |e: &Engine| oracle().registers.have(*e, offset);
            Engine::ALL.iter().any(have)
        };
        let all = REGISTERS.step_by(4);
        let others = all.filter(|o| {
            let counts = progress(*o) || WORK_COUNTERS.contains(o) || TLBS.contains(o);
            !counts && !listed(*o) && !FAULTS.contains(o) && *o != CCID
        });
        let differ = |offset| {
            let [now, then] = [self, &before].map(|b| b.machine.gpu.mmio_read32(offset));
            (now != then).then_some((offset, then, now))
        };
        others.filter_map(differ).collect()
    }
}

/// A command that writes what it may, or, by one bit, something else.
fn writing(s: &mut Source<'_>, engine: Engine) -> Vec<u32> {
    let own = oracle().registers.of(engine);
    let offset = match s.u8() {
        64.. if !own.is_empty() => {
            let (first, last) = own[s.below(own.len() as u64) as usize];
            (first + s.below(u64::from(last - first)) as u32) & !3
        }
        _ => offset(s),
    };
    // Headers: VCS §1.2.7, 1.2.8, 1.2.11, 1.2.12, 1.2.18; of PIPE_CONTROL the digest of Sandy Bridge, 2.4.
    // The video engine has no register that a batch may name.
    let first = if own.is_empty() && s.u8() > 8 { 3 } else { 0 };
    let mut command = match first + s.u8() % (5 - first) {
        0 => vec![0x1100_0001, offset, s.u32() & BCS_SWCTRL_BITS],
        1 => vec![0x1480_0001, offset, s.u32() >> 1],
        2 => vec![0x1200_0001, offset, s.u32() >> 1],
        3 => vec![0x1000_0002, 0, s.u32() >> 1, s.u32()],
        _ if engine == Engine::Render => vec![0x7a00_0002, 0x0000_4000, s.u32() >> 1, s.u32()],
        _ => vec![0x1300_4001, (s.u32() >> 1) & !4, s.u32()],
    };
    if s.u8() < 64 {
        let n = s.below(command.len() as u64) as usize;
        command[n] ^= 1 << s.below(32);
    }
    command
}

/// Where the commands of a copy are, by the lengths of the chip.
fn commands(engine: Engine, copy: &[u32]) -> Vec<std::ops::Range<usize>> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(header) = copy.get(at) {
        let line = oracle().chip.line(engine, *header);
        let behind = at + line.map_or(1, |line| line.dwords(*header));
        all.push(at..behind.min(copy.len()));
        at = behind;
    }
    all
}

/// The same commands, but no blit is larger than 64 rows of 64 pixels.
fn small(engine: Engine, copy: &[u32]) -> Vec<u32> {
    let mut small = copy.to_vec();
    for command in commands(engine, copy) {
        if small[command.start] >> 29 == 2 {
            for dword in small[command].iter_mut().skip(2).take(2) {
                *dword &= 0x003f_003f;
            }
        }
    }
    small
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    thread_local! {
        static MACHINE: RefCell<CopyMachine> = RefCell::default();
    }
    MACHINE.with_borrow_mut(|m| m.attempt(bytes));
}
