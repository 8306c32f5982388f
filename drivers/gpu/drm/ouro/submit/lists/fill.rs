// SPDX-License-Identifier: GPL-2.0

//! The sets of an execlist engine's contexts ([`ouro_core::roster`]), and the emission of ready
//! requests.

use kernel::list::List;
use ouro_core::roster::Set;
use ouro_hw::{engine::COPY_DWORDS, types::Seqno};

use super::{
    super::{request::Request, Engine},
    emit, Lists,
};

/// Requests that are emitted with the lock held, after which the rest is left to the worker: a
/// hundred microseconds.
const AT_ONCE: u32 = 64;

/// Returns an engine seqno, continued beyond 32 bits; `last` is a later one, continued.
fn continued(last: u64, number: Seqno) -> u64 {
    last.saturating_sub(u64::from((last as u32).wrapping_sub(number.0)))
}

impl Lists {
    /// Returns the engine seqno of the next request.
    fn next_number(&self) -> Seqno {
        self.last().next()
    }

    /// Assigns the engine seqno of the next request.
    pub(super) fn take_number(&mut self) -> Seqno {
        let number = self.next_number();
        self.last += u64::from(number.0.wrapping_sub(self.last as u32));
        number
    }

    /// Marks a context as having requests.
    pub(in crate::submit) fn activate(&mut self, at: u32) {
        self.roster.join(Set::Active, at);
        let siblings = self.context(at).and_then(|p| p.siblings.as_ref());
        if siblings.is_some() {
            self.roster.join(Set::Roaming, at);
        }
    }

    /// Marks a context as having no requests.
    pub(in crate::submit) fn deactivate(&mut self, at: u32) {
        for set in [Set::Active, Set::Ready, Set::Roaming, Set::Pressed] {
            self.roster.leave(set, at);
        }
        self.set_full(at, false);
    }

    /// Updates a context's place after a change of its requests in flight, or of the engine's
    /// access to it.
    pub(in crate::submit) fn sort(&mut self, at: u32) {
        let listed = self.context(at).filter(|p| !p.flight.is_empty());
        let oldest = listed.and_then(|p| p.flight.iter().next().map(|r| r.number()));
        let oldest = oldest.filter(|_| !self.roster.has(Set::Listed, at));
        let oldest = oldest.map(|number| continued(self.last, number));
        self.roster.set_oldest(at, oldest);
    }

    /// Sets whether requests of a context wait for room in its ring.
    pub(in crate::submit) fn set_full(&mut self, at: u32, full: bool) {
        if self.roster.has(Set::Full, at) == full {
            return;
        }
        if full {
            self.roster.join(Set::Full, at);
        } else {
            self.roster.leave(Set::Full, at);
        }
        if let Some(entity) = self.context(at).map(|p| p.entity) {
            self.sched.set_full(entity, full);
        }
    }

    /// Emits ready requests into the rings, as far as there is room. Requests that cannot be
    /// emitted go to `failed`. Returns whether there are more than may be emitted at once.
    pub(super) fn fill(&mut self, engine: &Engine, now: u64, failed: &mut List<Request>) -> bool {
        let mut count = 0;
        while let Some(at) = self.roster.first(Set::Ready) {
            if count >= AT_ONCE {
                return true;
            }
            self.roster.leave(Set::Ready, at);
            count += self.fill_one(at, engine, now, failed);
        }
        false
    }

    /// Does what [`fill`](Self::fill) does, with one context. Returns the number of requests that
    /// were emitted, or one.
    fn fill_one(&mut self, at: u32, engine: &Engine, now: u64, failed: &mut List<Request>) -> u32 {
        let desc = engine.hw.desc();
        let most = desc.emit_dwords + desc.golden_dwords.max(COPY_DWORDS);
        let mut count = 0;
        let mut tail = None;
        loop {
            let number = self.next_number();
            let Some(listed) = self.contexts.get_mut(at as usize).and_then(|p| p.as_mut()) else {
                return 1;
            };
            if listed.ready.is_empty() || !listed.reclaim_room(most) {
                break;
            }
            let Some(request) = listed.ready.pop_front() else {
                break;
            };
            match emit::emit(engine, listed, &request, number, now, &mut self.commands) {
                Some(end) => {
                    tail = Some(end);
                    listed.flight.push_back(request);
                    self.take_number();
                }
                None => {
                    // Do not signal its fence here: this may run in another fence's callback.
                    engine.not_encoded(most);
                    failed.push_back(request);
                }
            }
            count += 1;
        }
        let Some(listed) = self.contexts.get(at as usize).and_then(|p| p.as_ref()) else {
            return 1;
        };
        let full = !listed.ready.is_empty();
        let ends = !full && listed.flight.is_empty();
        let falls = ends && listed.lifted.is_some();
        if let Some(tail) = tail {
            self.sched.publish(listed.entity, tail, now);
            if self.roster.leave(Set::Done, at) {
                self.roster.join(Set::Listed, at);
            }
            self.sort(at);
        }
        self.set_full(at, full);
        if ends {
            self.deactivate(at);
        }
        if falls {
            self.rank(at, now);
        }
        count.max(1)
    }
}
