// SPDX-License-Identifier: GPL-2.0
//! What went wrong, decoded: for the log, the error state and tests.

use crate::types::EngineId;

/// Engines that a report has room for.
pub const MAX_ENGINES: usize = 32;

/// What an engine is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Byte offset of the next command in the ring.
    pub head: u32,
    /// Byte offset behind the last command in the ring.
    pub tail: u32,
    /// Address of the command that is executed now, in the ring or a batch.
    pub acthd: u64,
    /// Whether it says that it has nothing to do.
    pub idle: bool,
}

/// Why a translation failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// An entry was not valid.
    InvalidEntry,
    /// A directory entry was not valid.
    InvalidDirectory,
    /// No directory was loaded.
    NoDirectory,
}

/// A failed translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageFault {
    /// Address, of a page.
    pub addr: u64,
    /// Whether the global table was used.
    pub global: bool,
    /// The unit that asked, as the chip numbers them.
    pub source: u8,
    /// Why.
    pub kind: FaultKind,
}

/// What an engine has to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineReport {
    /// Which one.
    pub id: EngineId,
    /// What it was doing.
    pub activity: Activity,
    /// Error identity: which errors it had latched.
    pub eir: u32,
    /// Error status: which ones persist.
    pub esr: u32,
    /// Instruction parser error: what it choked on.
    pub ipeir: u32,
    /// Header of the instruction that it choked on, or executes.
    pub ipehr: u32,
    /// Units that are done (ones) or busy (zeros).
    pub instdone: u32,
    /// The first failed translation since the last report.
    pub fault: Option<PageFault>,
}

/// What a device has to say. Entries beyond the device's engines are `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// By engine, in the order of the topology.
    pub engines: [Option<EngineReport>; MAX_ENGINES],
    /// A device-wide error word, as the backend documents it.
    pub global: u32,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            engines: [None; MAX_ENGINES],
            global: 0,
        }
    }
}
