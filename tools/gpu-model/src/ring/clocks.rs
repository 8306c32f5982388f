// SPDX-License-Identifier: GPL-2.0 OR MIT
//! When a GT of rings is at work, which [`intel::clocks`](crate::intel::clocks) counts, and the table by which the
//! CPU's clock follows that of the engines.

use super::core::Core;
use super::regs::reg;
use crate::intel::clocks::{status, Control, Events, Intervals, UNIT};
use crate::intel::standby;
use std::collections::HashMap;

/// What time is, for the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Now {
    /// Not counted.
    #[default]
    Off,
    /// Standby: intervals stand still.
    Asleep,
    /// No engine is at work.
    Idle,
    /// An engine is at work.
    Busy,
}

/// State of clocks that is in no register.
#[derive(Default)]
pub(crate) struct Clocks {
    /// What the time since the last look is.
    now: Now,
    /// Intervals that ask for more.
    up: Intervals,
    /// Intervals that ask for less.
    down: Intervals,
    /// Since when there is nothing to do, in nanoseconds; `None` while there is, and once that was told.
    idle_since: Option<u64>,
    /// Clocks of the CPU and of the way to memory (bits 15:0), by the engines' ratio.
    table: HashMap<u8, u32>,
}

impl Clocks {
    /// Mailbox command 8: an entry of the table, its ratio in bits 7:0.
    pub fn table_write(&mut self, data: u32) {
        self.table.insert(data as u8, data >> 8);
    }

    /// Mailbox command 9: the entry of a ratio.
    pub fn table_read(&self, ratio: u32) -> u32 {
        self.table.get(&(ratio as u8)).copied().unwrap_or(0)
    }
}

impl Core {
    /// Counts the time since the last look, tells what has ended, and looks again.
    pub fn count_clocks(&mut self) {
        let control = Control::from(self.get(reg::RP_CONTROL));
        if !control.enable() || !self.cfg.chip.forcewake.needed() {
            self.gt.clocks.now = Now::Off;
            return;
        }
        let now = self.notes.clock.now();
        let [up_length, down_length] = self.interval_lengths();
        let busy = self.gt.clocks.now == Now::Busy;
        let clocks = &mut self.gt.clocks;
        let mut events = Events::new();
        match clocks.now {
            Now::Off => {
                clocks.up.restart(now);
                clocks.down.restart(now);
            }
            Now::Asleep => {
                clocks.up.skip(now);
                clocks.down.skip(now);
            }
            Now::Idle | Now::Busy => {
                let up = clocks.up.pass(now, busy, up_length);
                let down = clocks.down.pass(now, busy, down_length);
                events.set_up_ended(up.is_some());
                events.set_down_ended(down.is_some());
                let threshold = |offset: u32| u64::from(self.values[offset as usize / 4]) * UNIT;
                let above = threshold(reg::RP_UP_THRESHOLD);
                let below = threshold(reg::RP_DOWN_THRESHOLD);
                events.set_up(up.is_some_and(|ended| match control.up() {
                    Control::BUSY_AVERAGE => ended.most > above,
                    Control::BUSY_ALL => ended.most == up_length,
                    _ => false,
                }));
                events.set_down(down.is_some_and(|ended| match control.down() {
                    Control::IDLE_AVERAGE => ended.least < below,
                    Control::IDLE_ALL => ended.least == 0,
                    _ => false,
                }));
            }
        }
        if self.idle_told_at().is_some_and(|at| at <= now) {
            self.gt.clocks.idle_since = None;
            events.set_timeout(true);
        }
        self.look_at_clocks(now);
        let told = u32::from(events) & !self.get(reg::PMINTRMSK);
        if told != 0 {
            self.pm_event(told);
        }
    }

    /// Looks at what the time from now on is.
    fn look_at_clocks(&mut self, now: u64) {
        let was = self.gt.clocks.now;
        let idle = self.cfg.chip.engines.iter().all(|row| self.is_idle(row.id));
        let sleeps = idle && !self.gt.awake;
        let level = standby::level(self.get(reg::RC_CONTROL), self.get(reg::RC_STATE));
        let clocks = &mut self.gt.clocks;
        clocks.now = match level {
            Some(_) if sleeps => Now::Asleep,
            _ if idle => Now::Idle,
            _ => Now::Busy,
        };
        match (was, clocks.now) {
            (Now::Idle, Now::Idle) => {}
            (_, Now::Idle) => clocks.idle_since = Some(now),
            _ => clocks.idle_since = None,
        }
    }

    /// Nanoseconds of an interval that asks for more, and of one that asks for less.
    fn interval_lengths(&self) -> [u64; 2] {
        [reg::RP_UP_EI, reg::RP_DOWN_EI].map(|r| u64::from(self.get(r)) * UNIT)
    }

    /// When it is told that there is nothing to do.
    fn idle_told_at(&self) -> Option<u64> {
        let after = u64::from(self.get(reg::RP_DOWN_TIMEOUT)) * UNIT;
        let since = self.gt.clocks.idle_since?;
        (after > 0).then_some(since + after)
    }

    /// RP_CONTROL is written: intervals begin again.
    pub fn clocks_restart(&mut self) {
        self.gt.clocks.now = Now::Off;
        self.count_clocks();
    }

    /// When something will be told, if that makes a difference, and nothing else happens.
    pub fn clocks_due(&self) -> Option<u64> {
        let clocks = &self.gt.clocks;
        let [up, down] = self.interval_lengths();
        let (up, down) = (clocks.up.end(up), clocks.down.end(down));
        let wanted = !self.get(reg::PMINTRMSK)
            & !self.get(reg::PMIMR)
            & self.get(reg::PMIER)
            & !self.get(reg::PMIIR);
        let wanted = Events::from(wanted);
        let busy = clocks.now == Now::Busy;
        match clocks.now {
            Now::Off | Now::Asleep => return None,
            Now::Idle | Now::Busy => {}
        }
        let due = [
            up.filter(|_| wanted.up_ended() || wanted.up() && busy),
            down.filter(|_| wanted.down_ended() || wanted.down() && !busy),
            self.idle_told_at().filter(|_| wanted.timeout()),
        ];
        due.into_iter().flatten().min()
    }

    /// Reads RPSTAT1, or a counter of intervals; `None` for any other register.
    pub fn clocks_read(&self, offset: u32) -> Option<u32> {
        let clocks = &self.gt.clocks;
        match offset {
            reg::RPSTAT1 => {
                let there_are = self.cfg.chip.mchbar.clocks;
                Some(status(self.get(reg::RPNSWREQ), there_are))
            }
            reg::RP_CUR_UP_EI..=reg::RP_PREV_UP => {
                Some(clocks.up.read((offset - reg::RP_CUR_UP_EI) / 4))
            }
            reg::RP_CUR_DOWN_EI..=reg::RP_PREV_DOWN => {
                Some(clocks.down.read((offset - reg::RP_CUR_DOWN_EI) / 4))
            }
            _ => None,
        }
    }
}
