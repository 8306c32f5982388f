// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Engines at work: step by step in process, or by threads for a device in real time.

use super::{Chip, Device, Job, StepResult};
use crate::clock::Clock;
use crate::memory::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// How long a thread sleeps while an engine waits for memory to change.
const POLL: Duration = Duration::from_millis(1);

/// What the threads have in common.
pub(super) struct Shared<C: Chip> {
    pub core: Mutex<C>,
    pub clock: Clock,
    /// One for each thread.
    changed: Vec<Condvar>,
    quit: AtomicBool,
}

impl<C: Chip> Shared<C> {
    pub fn new(core: C, clock: Clock) -> Self {
        Shared {
            core: Mutex::new(core),
            clock,
            changed: C::THREADS.iter().map(|_| Condvar::new()).collect(),
            quit: AtomicBool::new(false),
        }
    }

    /// Wakes the threads of a mask.
    pub fn wake(&self, mask: u32) {
        for (i, changed) in self.changed.iter().enumerate() {
            if mask >> i & 1 != 0 {
                changed.notify_all();
            }
        }
    }

    /// A thread: each of its engines in turn does one thing, the device locked only for its own part of
    /// it. Register accesses come in between.
    fn run(&self, thread: usize) {
        let mut core = lock(&self.core);
        while !self.quit.load(Ordering::SeqCst) {
            let mut ran = false;
            let mut sleep = None;
            for e in C::THREADS[thread] {
                let at_most = match core.step(*e) {
                    Ok(StepResult::Ran) => {
                        self.wake(core.started());
                        ran = true;
                        drop(core);
                        core = lock(&self.core);
                        continue;
                    }
                    Ok(StepResult::Idle | StepResult::Stopped) => continue,
                    Ok(StepResult::Waiting) => POLL,
                    Ok(StepResult::NotBefore(t)) => {
                        Duration::from_nanos(t.saturating_sub(self.clock.now()))
                    }
                    Err(mut job) => {
                        ran = true;
                        drop(core);
                        job.run();
                        core = lock(&self.core);
                        core.finish(*e, job);
                        continue;
                    }
                };
                sleep = Some(sleep.map_or(at_most, |s: Duration| s.min(at_most)));
            }
            if ran {
                continue;
            }
            let changed = &self.changed[thread];
            core = match sleep {
                None => changed.wait(core).unwrap_or_else(|p| p.into_inner()),
                Some(time) => {
                    let woken = changed.wait_timeout(core, time);
                    woken.unwrap_or_else(|p| p.into_inner()).0
                }
            };
        }
    }
}

impl<C: Chip> Device<C> {
    /// Does at most one thing of an engine.
    pub(crate) fn step_of(&self, e: C::Engine) -> StepResult {
        // In a statement of its own, so that the device is unlocked after it.
        let step = self.core().step(e);
        match step {
            Ok(done) => done,
            Err(mut job) => {
                job.run();
                self.core().finish(e, job)
            }
        }
    }

    /// Runs all engines in turn, and the clock with them, until none can go on, or `max_steps` rounds
    /// were made (on a Sandy Bridge: commands were executed). Returns true in the first case.
    pub fn run_until_idle(&self, max_steps: usize) -> bool {
        let mut steps = 0;
        loop {
            let mut ran = false;
            let mut next: Option<u64> = None;
            for e in C::THREADS.iter().copied().flatten() {
                match self.step_of(*e) {
                    StepResult::Ran if !C::COUNTS_COMMANDS => ran = true,
                    StepResult::Ran if steps == max_steps => return false,
                    StepResult::Ran => {
                        steps += 1;
                        ran = true;
                    }
                    StepResult::NotBefore(t) => next = Some(next.map_or(t, |n| n.min(t))),
                    _ => {}
                }
            }
            match next {
                _ if ran => {}
                Some(t) if self.clock().is_manual() => self.clock().advance_to(t),
                _ => return true,
            }
            if !C::COUNTS_COMMANDS {
                steps += 1;
                if steps >= max_steps {
                    return false;
                }
            }
        }
    }

    /// Starts the engines' threads. Does nothing if they run already. Only for a device in real time: a
    /// clock that stands still would make a delay endless.
    pub fn start_engines(&self) {
        let mut threads = lock(&self.threads);
        if !threads.is_empty() {
            return;
        }
        self.shared.quit.store(false, Ordering::SeqCst);
        for thread in 0..C::THREADS.len() {
            let shared = self.shared.clone();
            threads.push(std::thread::spawn(move || shared.run(thread)));
        }
    }

    /// Stops the engines' threads and waits for them.
    pub fn stop_engines(&self) {
        let threads = std::mem::take(&mut *lock(&self.threads));
        self.shared.quit.store(true, Ordering::SeqCst);
        // Under the lock, so that no thread is between its look at `quit` and its sleep.
        self.core().stop();
        self.shared.wake(!0);
        for t in threads {
            // A thread that panicked has said so on standard error.
            let _ = t.join();
        }
    }
}
