// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A chip that drops privileged commands of an unprivileged batch, and some harmless ones as well.
//! Its first engine has a checker, so that a batch that passes runs with privilege from a copy. Its
//! second engine has no checker.

use super::Memory;
use crate::{
    checker::{Checker, Patch, Placed, Plan, Resolve, Verdict},
    engine::{
        Batch, Emit, Engine, EngineDesc, EngineMemory, PortKind, Privilege, StatusPage, Submission,
        Switch,
    },
    generation::DeviceError,
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    report::Activity,
    ring::{Commands, Overflow},
    types::{EngineClass, EngineId, GgttAddr, GpuAddr, Seqno},
};
use std::{cell::Cell, vec, vec::Vec};

/// Commands.
mod op {
    /// Ends a batch.
    pub(super) const END: u32 = 1 << 24;
    /// Sets the register of bits 23:0 to the dword that follows. Only with privilege.
    pub(super) const SET: u32 = 2 << 24;
    /// Stores the dword that follows it at the address of bits 23:0.
    pub(super) const STORE: u32 = 3 << 24;
    /// Runs the batch at the address that follows. Bit 0: without privilege.
    pub(super) const CALL: u32 = 4 << 24;
}

/// The register that a client may set.
const ALLOWED: u32 = 0x10;
/// A register that a client must not set.
const SECRET: u32 = 0x20;
/// Dwords of a batch that the core copies at most.
const BOUND: usize = 16;

// --- The backend ---

/// An engine, and whether it has a checker.
struct Guarded(bool);

/// `SET` of the one register; `STORE` anywhere, as addresses are the client's own.
struct Sets;

impl Checker for Sets {
    fn check(&self, stream: &[u32], objects: &dyn Resolve, _: &mut [Patch]) -> Verdict {
        let mut at = 0;
        loop {
            let Some(header) = stream.get(at) else {
                return match objects.goes_on() {
                    true => Verdict::Original { at, rule: "long" },
                    false => Verdict::Reject { at, rule: "end" },
                };
            };
            match header & 0xff00_0000 {
                op::END => return Verdict::unchanged(at + 1),
                op::SET if header & 0xff_ffff == ALLOWED => at += 2,
                op::STORE => at += 2,
                op::SET | op::CALL => return Verdict::Original { at, rule: "set" },
                _ => {
                    return Verdict::Reject {
                        at,
                        rule: "unknown",
                    }
                }
            }
        }
    }

    fn version(&self) -> u8 {
        3
    }
}

const fn desc(instance: u8) -> EngineDesc {
    EngineDesc {
        id: EngineId {
            class: EngineClass::Render,
            instance,
        },
        registers: 0,
        port: PortKind::Ring,
        ring_bytes: 4096,
        ring_end: u64::MAX,
        noop: 0,
        emit_dwords: 4,
        golden_dwords: 0,
        known_dwords: 0,
        private_dwords: 0,
        copy_pages: 0,
        state_bytes: 0,
        fill_pages: 0,
        seqno_at: 0,
        contexts: false,
        reset_group: None,
        events: None,
        watchdog: None,
    }
}
static DESCS: [EngineDesc; 2] = [desc(0), desc(1)];

impl Engine for Guarded {
    fn desc(&self) -> &'static EngineDesc {
        &DESCS[usize::from(!self.0)]
    }
    fn checker(&self) -> Option<&'static dyn Checker> {
        self.0.then_some(&Sets)
    }
    fn start(
        &self,
        _hw: &Hw<'_>,
        _mem: &EngineMemory,
        _wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        Ok(())
    }
    fn stop(&self, _hw: &Hw<'_>, _wait: &dyn SleepWait) -> Result<(), DeviceError> {
        Ok(())
    }
    fn emit(
        &self,
        request: &Emit<'_>,
        _mem: &EngineMemory,
        out: &mut Commands<'_>,
    ) -> Result<(), Overflow> {
        let batch = request.batch.ok_or(Overflow)?;
        let user = u32::from(batch.privilege == Privilege::User);
        out.put(&[op::CALL | user, batch.addr.0 as u32])
    }
    fn submit(
        &self,
        _hw: &Hw<'_>,
        _gt: &mut Gt,
        _what: Submission<'_>,
        _wait: &dyn AtomicWait,
    ) -> Result<(), DeviceError> {
        Ok(())
    }
    fn golden(&self, _out: &mut Commands<'_>) -> Result<(), Overflow> {
        Ok(())
    }
    fn activity(&self, _hw: &Hw<'_>) -> Activity {
        Activity::default()
    }
}

// --- The device and a core ---

/// Where the copy is, and where the object with the batch.
const COPY_AT: u32 = 0x1000;
const OBJECT_AT: u32 = 0x2000;
const TARGET: u32 = 0x3000;

struct Core {
    memory: Memory,
    engine: Guarded,
    /// Whether the chip keeps batches without privilege apart.
    confines: bool,
    allowed: Cell<u32>,
    secret: Cell<u32>,
    copies: Cell<u32>,
    originals: Cell<u32>,
}

impl Core {
    fn new(checks: bool, confines: bool) -> Self {
        Self {
            memory: Memory::new(4),
            engine: Guarded(checks),
            confines,
            allowed: Cell::new(0),
            secret: Cell::new(0),
            copies: Cell::new(0),
            originals: Cell::new(0),
        }
    }

    fn run(&self, mut at: u32, user: bool) {
        loop {
            let (header, value) = (self.memory.get(at), self.memory.get(at + 4));
            let operand = header & 0xff_ffff;
            match header & 0xff00_0000 {
                op::END => return,
                op::SET if user => {}
                op::SET if operand == ALLOWED => self.allowed.set(value),
                op::SET => self.secret.set(value),
                op::STORE => self.memory.set(operand, value),
                _ => panic!("no command {header:x} at {at:x}"),
            }
            at += 8;
        }
    }

    /// A client's request. `meanwhile` runs when the batch was checked, before the engine gets it.
    fn exec(&self, stream: &[u32], meanwhile: impl Fn(&Memory)) -> Result<(), usize> {
        self.memory.put(OBJECT_AT, stream);
        let object = Batch {
            addr: GpuAddr(OBJECT_AT.into()),
            len: stream.len() as u32 * 4,
            privilege: Privilege::User,
        };
        let batch = match self.engine.checker() {
            None => object,
            Some(checker) => {
                let len = stream.len().min(BOUND);
                let copy: Vec<u32> = (0..len as u32)
                    .map(|n| self.memory.get(OBJECT_AT + 4 * n))
                    .collect();
                let placed = Placed {
                    goes_on: len < stream.len(),
                };
                match checker.check(&copy, &placed, &mut []).plan(self.confines) {
                    Plan::Copy {
                        dwords: len,
                        patches: 0,
                    } => {
                        self.copies.set(self.copies.get() + 1);
                        self.memory.put(COPY_AT, &copy[..len]);
                        Batch {
                            addr: GpuAddr(COPY_AT.into()),
                            len: len as u32 * 4,
                            privilege: Privilege::Kernel,
                        }
                    }
                    Plan::Object => {
                        self.originals.set(self.originals.get() + 1);
                        object
                    }
                    Plan::Refuse { at, .. } => return Err(at),
                    Plan::Copy { .. } => panic!("it patches nothing"),
                }
            }
        };
        meanwhile(&self.memory);
        let request = Emit {
            switch: Switch::Stay,
            known: None,
            directory: None,
            watchdog: None,
            batch: Some(batch),
            inline: &[],
            seqno: Seqno(1),
        };
        let mem = EngineMemory {
            ring: GgttAddr(0),
            status: StatusPage::Ggtt(GgttAddr(0)),
            scratch: GgttAddr(0),
            directory: None,
            card: 0,
        };
        let mut buffer = vec![0; self.engine.desc().emit_dwords];
        let mut out = Commands::new(&mut buffer);
        self.engine.emit(&request, &mem, &mut out).unwrap();
        let [call, at] = *out.as_slice() else {
            panic!("one call");
        };
        self.run(at, call & 1 != 0);
        Ok(())
    }

    fn seen(&self) -> (u32, u32, u32) {
        (
            self.allowed.get(),
            self.secret.get(),
            self.memory.get(TARGET),
        )
    }
}

fn nothing(_: &Memory) {}

#[test]
fn what_passes_runs_with_privilege_and_the_rest_without() {
    let core = Core::new(true, true);
    let good = [op::SET | ALLOWED, 7, op::STORE | TARGET, 8, op::END];
    core.exec(&good, nothing).unwrap();
    assert_eq!(core.seen(), (7, 0, 8));
    assert_eq!((core.copies.get(), core.originals.get()), (1, 0));
    // Other commands are no error: the batch runs without privilege, and the chip drops those
    // commands and the harmless ones.
    let bad = [
        op::SET | ALLOWED,
        9,
        op::SET | SECRET,
        9,
        op::STORE | TARGET,
        9,
        op::END,
    ];
    core.exec(&bad, nothing).unwrap();
    assert_eq!(core.seen(), (7, 0, 9));
    assert_eq!((core.copies.get(), core.originals.get()), (1, 1));
    assert_eq!(core.exec(&[op::STORE | TARGET, 1, 0], nothing), Err(2));
    assert_eq!(core.exec(&[op::STORE | TARGET, 1], nothing), Err(2));
    assert_eq!(core.seen(), (7, 0, 9), "nothing of these ran");
}

#[test]
fn what_is_written_after_the_check_does_not_run() {
    let core = Core::new(true, true);
    let good = [op::SET | ALLOWED, 7, op::END];
    core.exec(&good, |memory| {
        memory.put(OBJECT_AT, &[op::SET | SECRET, 1, op::END])
    })
    .unwrap();
    assert_eq!(core.seen(), (7, 0, 0));
}

#[test]
fn what_is_too_long_to_be_copied_runs_as_it_is() {
    let core = Core::new(true, true);
    let mut long = [op::SET | ALLOWED, 7].repeat(BOUND / 2);
    long.extend([op::STORE | TARGET, 5, op::END]);
    core.exec(&long, nothing).unwrap();
    assert_eq!(core.seen(), (0, 0, 5));
    // A batch whose end is inside the copy passes.
    let mut padded = vec![op::SET | ALLOWED, 7, op::END];
    padded.resize(2 * BOUND, 0);
    core.exec(&padded, nothing).unwrap();
    assert_eq!(core.seen(), (7, 0, 5));
    assert_eq!((core.copies.get(), core.originals.get()), (1, 1));
}

#[test]
fn where_nobody_is_confined_the_original_is_refused() {
    let core = Core::new(true, false);
    assert_eq!(
        core.exec(&[op::SET | SECRET, 7, op::END], nothing),
        Err(0),
        "it would reach everything"
    );
    core.exec(&[op::SET | ALLOWED, 7, op::END], nothing)
        .unwrap();
    assert_eq!(core.seen(), (7, 0, 0));
}

#[test]
fn an_engine_without_a_checker_runs_all_without_privilege() {
    let core = Core::new(false, true);
    let batch = [op::SET | ALLOWED, 7, op::STORE | TARGET, 8, op::END];
    core.exec(&batch, nothing).unwrap();
    assert_eq!(core.seen(), (0, 0, 8));
    assert_eq!((core.copies.get(), core.originals.get()), (0, 0));
    assert!(core.engine.checker().is_none());
    assert_eq!(Core::new(true, true).engine.checker().unwrap().version(), 3);
}
