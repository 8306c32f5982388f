// SPDX-License-Identifier: GPL-2.0
//! Instructions of another process, one step at a time (ptrace(2), `PTRACE_SINGLESTEP`): exact, the same in
//! each run, and to be had wherever a process may look at its own children. A step takes some microseconds.

use nix::sys::{
    ptrace,
    signal::{raise, Signal},
    wait::{waitpid, WaitStatus},
};
use nix::unistd::Pid;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};

/// What tells regions apart. A process that nobody counts dies of it.
const MARK: Signal = Signal::SIGUSR1;

/// In the process that is counted: waits until somebody counts.
pub fn wait_for_the_counter() -> io::Result<()> {
    io::stdin().read_exact(&mut [0])
}

/// In the process that is counted: here a region ends, and the next one begins.
pub fn mark() {
    raise(MARK).expect("one's own signals are to be had");
}

/// Instructions of the regions of `command` between its first mark and its last one, which are `regions + 1`.
/// Each has those of a mark too: an empty region tells how many these are.
///
/// An error if processes may not be looked at here, or if this one ends early.
pub fn instructions(command: &mut Command, regions: usize) -> io::Result<Vec<u64>> {
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    let counted = steps(&mut child, regions);
    if counted.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    let counted = counted?;
    match status.success() {
        true => Ok(counted),
        false => Err(io::Error::other(format!("it ended with {status}"))),
    }
}

fn steps(child: &mut Child, regions: usize) -> io::Result<Vec<u64>> {
    let pid = Pid::from_raw(child.id() as i32);
    ptrace::attach(pid)?;
    stopped(pid)?;
    let mut stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    stdin.write_all(&[1])?;
    ptrace::cont(pid, None)?;
    loop {
        match stopped(pid)? {
            // It was attached to while it began: that is told as well.
            Signal::SIGSTOP | Signal::SIGTRAP => {}
            other if is_mark(other)? => break,
            _ => {}
        }
        ptrace::cont(pid, None)?;
    }
    let mut counted = Vec::new();
    let mut n = 0;
    while counted.len() < regions {
        ptrace::step(pid, None)?;
        match stopped(pid)? {
            Signal::SIGTRAP => n += 1,
            other if is_mark(other)? => {
                counted.push(n);
                n = 0;
            }
            _ => {}
        }
    }
    ptrace::detach(pid, None)?;
    Ok(counted)
}

/// Whether it has stopped at a mark. Signals that end nobody are not its own, and it does not get them; of
/// others it would die.
fn is_mark(signal: Signal) -> io::Result<bool> {
    match signal {
        MARK => Ok(true),
        Signal::SIGWINCH | Signal::SIGCONT | Signal::SIGCHLD | Signal::SIGURG => Ok(false),
        other => Err(io::Error::other(format!("it was sent {other}"))),
    }
}

/// Waits until it stops; by which signal.
fn stopped(pid: Pid) -> io::Result<Signal> {
    match waitpid(pid, None)? {
        WaitStatus::Stopped(_, signal) => Ok(signal),
        other => Err(io::Error::other(format!("it does not stop: {other:?}"))),
    }
}
