// SPDX-License-Identifier: GPL-2.0

//! The calling task, and its capabilities.

use kernel::{bindings, prelude::*};

use crate::raw;

/// The capabilities that a GPU driver checks.
#[derive(Clone, Copy)]
pub enum Capability {
    /// Anything that no other capability covers.
    SysAdmin,
    /// Raising priority.
    SysNice,
    /// Watching performance counters.
    Perfmon,
}

/// Returns whether the calling task has a capability in the initial user namespace.
pub fn capable(capability: Capability) -> bool {
    let cap = match capability {
        Capability::SysAdmin => bindings::CAP_SYS_ADMIN,
        Capability::SysNice => bindings::CAP_SYS_NICE,
        Capability::Perfmon => bindings::CAP_PERFMON,
    };
    // SAFETY: No requirement.
    unsafe { bindings::capable(cap as c_int) }
}

/// The process that opened a file.
#[derive(Clone, Copy)]
pub struct Client {
    /// Process id, as the initial namespace knows it.
    pub pid: i32,
    /// Name of the command, ending in a zero byte.
    pub comm: [u8; 16],
}

impl Client {
    /// Returns the calling task.
    pub fn current() -> Self {
        let mut comm = [0u8; 16];
        // SAFETY: The function writes 16 bytes (`TASK_COMM_LEN`).
        unsafe { raw::ouro_task_comm(comm.as_mut_ptr().cast()) };
        // SAFETY: No requirement.
        let pid = unsafe { raw::ouro_task_pid() };
        Self { pid, comm }
    }

    /// Returns the name as bytes, without the zero.
    pub fn name(&self) -> &[u8] {
        let end = self.comm.iter().position(|&b| b == 0);
        self.comm.get(..end.unwrap_or(16)).unwrap_or(&[])
    }
}

/// Returns whether the calling task was killed: its results are not needed any more.
pub fn is_killed() -> bool {
    // SAFETY: No requirement.
    unsafe { raw::ouro_task_is_killed() }
}

/// Returns whether the caller is known to be in process context, with no spinlock held. It may hold
/// locks of other kinds.
pub fn may_sleep() -> bool {
    // SAFETY: No requirement.
    unsafe { raw::ouro_task_may_sleep() }
}

/// Returns the number of pages of memory of the system.
pub fn total_pages() -> usize {
    // SAFETY: No requirement.
    (unsafe { raw::ouro_total_pages() }) as usize
}
