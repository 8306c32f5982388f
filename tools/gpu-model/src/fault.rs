// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Injected misbehaviour: what a test can make a model do wrong, and when.
//!
//! On the command line: `kind[:engine][@skip][xTIMES][=value]`, for example `hang:bcs@10`,
//! `lose-irq:rcs x3`, `delay:vcs=500`, `stuck-reset`. `skip` opportunities pass unharmed first;
//! then the fault takes effect `TIMES` times (default once, `x0` without end).

use std::fmt;
use std::str::FromStr;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The engine stops at its next command and stays so until reset.
    Hang,
    /// A user or notify interrupt of the engine is swallowed.
    LoseIrq,
    /// The interrupt message is sent twice.
    DupIrq,
    /// The next memory access of the engine faults.
    PageFault,
    /// A reset request is never answered.
    StuckReset,
    /// The card is gone: everything reads all ones. Counted in register accesses.
    Remove,
    /// The next piece of work takes `value` microseconds longer.
    Delay,
    /// A store into the status page writes garbage.
    Garbage,
    /// The forcewake acknowledge never comes.
    StuckForcewake,
    /// The GT write FIFO reports no room.
    FifoFull,
    /// The pcode mailbox never becomes free.
    StuckPcode,
    /// A read of a status register (HEAD, ACTHD, INSTDONE, MI_MODE) returns garbage.
    GarbageRead,
    /// A reset takes `value` microseconds.
    LateReset,
    /// A user or notify interrupt comes `value` microseconds late.
    LateIrq,
    /// A user interrupt that no command asked for.
    SpuriousIrq,
    /// The interrupt line rises, but its message is lost.
    LoseMsg,
    /// An error bit (`value`, or bit 0) shows in EIR although nothing is wrong.
    SpuriousError,
    /// The engine rests `value` microseconds before a command.
    Pause,
    /// The forcewake acknowledge takes `value` microseconds.
    SlowWake,
    /// A mailbox command takes `value` microseconds.
    SlowPcode,
    /// The GT write FIFO reports `value` entries of room at most.
    BusyFifo,
    /// A read of a register that only informs (ACTHD, INSTDONE, IPEIR, IPEHR, INSTPS, BB_ADDR,
    /// DMA_FADD) returns garbage, but never all ones.
    GarbageStatus,
    /// The engine's TLB forgets everything.
    ForgetTlb,
    /// The card comes out of a power-on without its firmware having run.
    Unposted,
    /// The memory controller says that it is busy.
    BusyMc,
    /// MI_MODE does not show that an engine is idle, though its ring is empty.
    StuckIdle,
    /// RING_HEAD of a ring that is off does not take what is written.
    DeafHead,
    /// The bit of a sync flush stays for `value` microseconds, or 3000.
    StuckFlush,
}

/// All kinds with their names and the codes of the test capability.
pub const KINDS: &[(Kind, &str)] = &[
    (Kind::Hang, "hang"),
    (Kind::LoseIrq, "lose-irq"),
    (Kind::DupIrq, "dup-irq"),
    (Kind::PageFault, "page-fault"),
    (Kind::StuckReset, "stuck-reset"),
    (Kind::Remove, "remove"),
    (Kind::Delay, "delay"),
    (Kind::Garbage, "garbage"),
    (Kind::StuckForcewake, "stuck-forcewake"),
    (Kind::FifoFull, "fifo-full"),
    (Kind::StuckPcode, "stuck-pcode"),
    (Kind::GarbageRead, "garbage-read"),
    (Kind::LateReset, "late-reset"),
    (Kind::LateIrq, "late-irq"),
    (Kind::SpuriousIrq, "spurious-irq"),
    (Kind::LoseMsg, "lose-msg"),
    (Kind::SpuriousError, "spurious-error"),
    (Kind::Pause, "pause"),
    (Kind::SlowWake, "slow-wake"),
    (Kind::SlowPcode, "slow-pcode"),
    (Kind::BusyFifo, "busy-fifo"),
    (Kind::GarbageStatus, "garbage-status"),
    (Kind::ForgetTlb, "forget-tlb"),
    (Kind::Unposted, "unposted"),
    (Kind::BusyMc, "busy-mc"),
    (Kind::StuckIdle, "stuck-idle"),
    (Kind::DeafHead, "deaf-head"),
    (Kind::StuckFlush, "stuck-flush"),
];

impl Kind {
    /// The kind with a code of the test capability (1 for the first of [`KINDS`]).
    pub fn from_code(code: u32) -> Option<Kind> {
        KINDS.get((code as usize).checked_sub(1)?).map(|k| k.0)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|k| k.0 == self).map_or("?", |k| k.1)
    }
}

/// One injected fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: Kind,
    /// Only on this engine (by name); `None` means on any.
    pub engine: Option<String>,
    /// Opportunities that pass unharmed first.
    pub skip: u64,
    /// How often it takes effect; 0 means without end.
    pub times: u64,
    /// A parameter: microseconds for whatever takes time, see [`Kind`].
    pub value: u64,
}

impl Fault {
    /// `kind`, once, at the next opportunity, on any engine.
    pub fn once(kind: Kind) -> Self {
        Fault {
            kind,
            engine: None,
            skip: 0,
            times: 1,
            value: 0,
        }
    }

    /// The same on one engine.
    pub fn on(mut self, engine: &str) -> Self {
        self.engine = Some(engine.to_owned());
        self
    }

    /// The same after `skip` unharmed opportunities.
    pub fn after(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// The same, without end.
    pub fn forever(mut self) -> Self {
        self.times = 0;
        self
    }

    /// The same with a parameter.
    pub fn value(mut self, value: u64) -> Self {
        self.value = value;
        self
    }
}

/// A fault specification that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fault {0:?}: expected kind[:engine][@skip][xTIMES][=value] with kind one of {1}")]
pub struct ParseFaultError(String, String);

impl FromStr for Fault {
    type Err = ParseFaultError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let names: Vec<&str> = KINDS.iter().map(|k| k.1).collect();
        let bad = || ParseFaultError(s.to_owned(), names.join(", "));
        let compact: String = s.chars().filter(|c| !c.is_whitespace()).collect();
        let (rest, value) = match compact.split_once('=') {
            Some((r, v)) => (r, v.parse().map_err(|_| bad())?),
            None => (compact.as_str(), 0),
        };
        // The longest kind that starts the text; what follows is told by its first character.
        let (kind, name) = KINDS
            .iter()
            .filter(|k| rest.starts_with(k.1))
            .max_by_key(|k| k.1.len())
            .ok_or_else(bad)?;
        let mut fault = Fault::once(*kind).value(value);
        let mut tail = &rest[name.len()..];
        if let Some(t) = tail.strip_prefix(':') {
            let end = t.find(['@', 'x']).unwrap_or(t.len());
            fault.engine = Some(t[..end].to_owned());
            tail = &t[end..];
        }
        if let Some(t) = tail.strip_prefix('@') {
            let end = t.find('x').unwrap_or(t.len());
            fault.skip = t[..end].parse().map_err(|_| bad())?;
            tail = &t[end..];
        }
        if let Some(t) = tail.strip_prefix('x') {
            fault.times = t.parse().map_err(|_| bad())?;
            tail = "";
        }
        if tail.is_empty() {
            Ok(fault)
        } else {
            Err(bad())
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(e) = &self.engine {
            write!(f, ":{e}")?;
        }
        if self.skip != 0 {
            write!(f, "@{}", self.skip)?;
        }
        if self.times != 1 {
            write!(f, "x{}", self.times)?;
        }
        if self.value != 0 {
            write!(f, "={}", self.value)?;
        }
        Ok(())
    }
}

/// As many faults can wait at the same time: a guest must not make the model grow.
pub const MOST: usize = 4096;

/// The faults still to come.
#[derive(Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Adds one; it is dropped if there are [`MOST`] already.
    pub fn push(&mut self, fault: Fault) {
        if self.0.len() < MOST {
            self.0.push(fault);
        }
    }

    /// Returns how many are left.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// True if none is left; lets the fast path skip the search.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An opportunity for `kind` on `engine` ("" for none): the fault's value if it takes effect.
    pub fn take(&mut self, kind: Kind, engine: &str) -> Option<u64> {
        let at = self
            .0
            .iter()
            .position(|f| f.kind == kind && f.engine.as_deref().is_none_or(|e| e == engine))?;
        let fault = &mut self.0[at];
        if fault.skip > 0 {
            fault.skip -= 1;
            return None;
        }
        let value = fault.value;
        match fault.times {
            0 => {}
            1 => {
                self.0.remove(at);
            }
            _ => fault.times -= 1,
        }
        Some(value)
    }
}
