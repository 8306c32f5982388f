// SPDX-License-Identifier: GPL-2.0
//! The queue of clients that wait for the engine, the one that waits longest at its head.

use super::{Arena, Entity, Store};
use crate::heap::Link;

impl<A: Arena> Store<A> {
    /// Appends a client that has a runnable entity and waits from now on.
    pub(super) fn join_row(&mut self, client: Link, now: u64) {
        let last = self.row.1;
        if let Some(owner) = self.owner(client) {
            owner.waits = Some(now);
            owner.row = (last, 0);
        }
        match self.owner(last) {
            Some(before) => before.row.1 = client,
            None => self.row.0 = client,
        }
        self.row.1 = client;
    }

    /// Removes a client that does not wait any more.
    pub(super) fn leave_row(&mut self, client: Link) {
        let Some(owner) = self.owner(client) else {
            return;
        };
        if owner.waits.take().is_none() {
            return;
        }
        let (before, behind) = core::mem::take(&mut owner.row);
        match self.owner(before) {
            Some(owner) => owner.row.1 = behind,
            None => self.row.0 = behind,
        }
        match self.owner(behind) {
            Some(owner) => owner.row.0 = before,
            None => self.row.1 = before,
        }
    }

    /// Returns the first entity of the client that has waited longest, and since when it has.
    pub(in crate::sched) fn longest(&mut self) -> Option<(u64, Entity)> {
        let owner = self.owner(self.row.0)?;
        let (since, first) = (owner.waits?, owner.entities);
        Some((since, self.entity_at(first)?))
    }

    /// An entity has the engine: its client does not wait any more.
    pub(in crate::sched) fn runs(&mut self, entity: Entity) {
        if let Some(client) = self.state(entity).map(|s| s.client) {
            self.leave_row(client);
            self.runs = client;
        }
    }

    /// The entity that had the engine lost it: its client waits again if it has a runnable entity.
    pub(in crate::sched) fn waits_again(&mut self, now: u64) {
        let client = core::mem::take(&mut self.runs);
        if self
            .owner(client)
            .is_some_and(|o| o.queued && o.waits.is_none())
        {
            self.join_row(client, now);
        }
    }
}
