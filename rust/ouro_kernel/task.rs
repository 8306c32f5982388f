// SPDX-License-Identifier: GPL-2.0

//! The calling task, and its capabilities.

use core::marker::PhantomData;
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

/// While it lives, allocations of the task do not reclaim memory, and may use the reserves. For a
/// few small allocations while reclaim may wait for the caller.
pub struct NoReclaim(c_uint, PhantomData<*mut ()>);

impl NoReclaim {
    /// Begins the scope.
    #[expect(clippy::new_without_default)]
    pub fn new() -> Self {
        // SAFETY: No requirement; ended by the guard, by the same task.
        Self(unsafe { raw::ouro_noreclaim_save() }, PhantomData)
    }
}

impl Drop for NoReclaim {
    fn drop(&mut self) {
        // SAFETY: The flags are those of our begin.
        unsafe { raw::ouro_noreclaim_restore(self.0) }
    }
}

/// Returns whether the calling task is in a system call of a 32-bit program on a 64-bit kernel.
pub fn is_compat() -> bool {
    // SAFETY: No requirement.
    unsafe { raw::ouro_in_compat_syscall() }
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
