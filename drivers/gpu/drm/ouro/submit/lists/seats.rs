// SPDX-License-Identifier: GPL-2.0

//! Contexts enter and leave an execlist engine ([`super`]): their seats, whose number grows without
//! a lock held, and the golden image that they start from.

use core::{mem, ptr};
use kernel::{list::List, prelude::*, sync::Arc};
use ouro_core::{
    roster::Slot,
    sched::{Client, Item, What},
};
use ouro_hw::{ring::Ring, types::Seqno};
use ouro_kernel::time;

use super::{
    super::{engine::Queue, port::Port, Context, Engine},
    balanced::Siblings,
    cancel::Cancelled,
    logical_ring::LogicalRing,
    ListedContext, Lists, Party,
};

/// Number of seats to allocate first.
const FIRST_PLACES: usize = 16;
/// The largest context id; higher ids are reserved by the hardware.
const MAX_ID: usize = 0xfffe;

/// The client and priority of a context.
#[derive(Clone, Copy)]
pub(in crate::submit) struct Who {
    /// Identifies the client.
    pub(in crate::submit) holder: usize,
    pub(in crate::submit) priority: i32,
}

impl Who {
    /// Returns those of a context.
    pub(in crate::submit) fn of(context: &Context) -> Self {
        // The kernel's own contexts share the holder 0, which is no object's address.
        let holder = context.holder().map_or(0, |h| ptr::from_ref(h).addr());
        Self {
            holder,
            priority: context.priority(),
        }
    }
}

/// Memory for more contexts, allocated without a lock held.
struct Growth {
    contexts: KVVec<Option<ListedContext>>,
    parties: KVVec<Party>,
    free: KVVec<u32>,
    slots: KVVec<Slot>,
    leaving: KVVec<u32>,
    gone: KVVec<Arc<LogicalRing>>,
    items: KVVec<Item>,
    count: usize,
}

impl Growth {
    fn new(count: usize) -> Result<Self> {
        // Each context may come with a client.
        let mut items = KVVec::with_capacity(count * 2, GFP_KERNEL)?;
        for _ in 0..count * 2 {
            items.push(Item::default(), GFP_KERNEL)?;
        }
        Ok(Self {
            contexts: KVVec::with_capacity(count, GFP_KERNEL)?,
            parties: KVVec::with_capacity(count, GFP_KERNEL)?,
            free: KVVec::with_capacity(count, GFP_KERNEL)?,
            slots: KVVec::from_elem(Slot::default(), count, GFP_KERNEL)?,
            leaving: KVVec::with_capacity(count, GFP_KERNEL)?,
            gone: KVVec::with_capacity(count * 2, GFP_KERNEL)?,
            items,
            count,
        })
    }
}

/// Moves all items to `to`, which has capacity for them, and swaps the two.
fn carry<T: Clone>(from: &mut KVVec<T>, to: &mut KVVec<T>) {
    for item in from.iter() {
        drop(to.push_within_capacity(item.clone()));
    }
    mem::swap(from, to);
}

impl Lists {
    fn grow(&mut self, growth: &mut Growth) {
        for listed in self.contexts.iter_mut() {
            drop(growth.contexts.push_within_capacity(listed.take()));
        }
        mem::swap(&mut self.contexts, &mut growth.contexts);
        carry(&mut self.parties, &mut growth.parties);
        carry(&mut self.free, &mut growth.free);
        carry(&mut self.leaving, &mut growth.leaving);
        carry(&mut self.gone, &mut growth.gone);
        for at in self.contexts.len()..growth.count {
            drop(self.contexts.push_within_capacity(None));
            drop(self.free.push_within_capacity(at as u32));
        }
        let items = &mut self.sched.arena_mut().0;
        for (to, from) in growth.items.iter_mut().zip(items.iter()) {
            *to = from.clone();
        }
        mem::swap(items, &mut growth.items);
        let slots = &mut self.roster.arena_mut().0;
        for (to, from) in growth.slots.iter_mut().zip(slots.iter()) {
            *to = *from;
        }
        mem::swap(slots, &mut growth.slots);
    }

    /// Returns the scheduler's client of a holder, and adds it if there is none.
    fn join(&mut self, holder: usize) -> Option<Client> {
        if let Some(party) = self.parties.iter_mut().find(|p| p.holder == holder) {
            party.contexts += 1;
            return Some(party.client);
        }
        let client = self.sched.add_client().ok()?;
        let party = Party {
            holder,
            client,
            contexts: 1,
        };
        // There is capacity.
        drop(self.parties.push_within_capacity(party));
        Some(client)
    }

    /// Undoes [`join`](Self::join).
    pub(in crate::submit) fn leave(&mut self, holder: usize) {
        let mut parties = self.parties.iter_mut();
        let Some(at) = parties.position(|p| p.holder == holder) else {
            return;
        };
        let Some(party) = self.parties.get_mut(at) else {
            return;
        };
        party.contexts -= 1;
        if party.contexts != 0 {
            return;
        }
        let client = party.client;
        let last = self.parties.pop();
        if let (Some(slot), Some(last)) = (self.parties.get_mut(at), last) {
            *slot = last;
        }
        self.sched.remove_client(client);
    }

    fn enter(
        &mut self,
        at: u32,
        logical_ring: &Arc<LogicalRing>,
        who: Who,
        siblings: Option<&Arc<Siblings>>,
    ) -> Option<u32> {
        let Who { holder, priority } = who;
        let id = at.checked_add(1)?;
        let descriptor = logical_ring.descriptor(id)?;
        let client = self.join(holder)?;
        let what = What {
            id,
            descriptor,
            priority,
            roams: siblings.is_some(),
        };
        let Ok(entity) = self.sched.add_entity(client, &what) else {
            self.leave(holder);
            return None;
        };
        *self.contexts.get_mut(at as usize)? = Some(ListedContext {
            logical_ring: logical_ring.clone(),
            entity,
            holder,
            siblings: siblings.cloned(),
            ring: Ring::new(logical_ring.ring_bytes()),
            last: Seqno(0),
            ready: List::new(),
            flight: List::new(),
            own: priority,
            lifted: None,
            stale: false,
            cancelled: Cancelled::No,
        });
        Some(id)
    }

    /// Resets a context to its initial state.
    pub(in crate::submit) fn forget(&mut self, id: u32) {
        let golden = &self.golden;
        let listed = id
            .checked_sub(1)
            .and_then(|at| self.contexts.get(at as usize));
        if let Some(Some(listed)) = listed {
            listed.logical_ring.rewind(golden, true, &mut self.buffer);
        }
    }

    /// Sets the golden image, from which contexts start from now on, and a buffer of its size.
    pub(in crate::submit) fn set_golden(
        &mut self,
        golden: &mut KVVec<u32>,
        buffer: &mut KVVec<u32>,
    ) {
        mem::swap(&mut self.golden, golden);
        mem::swap(&mut self.buffer, buffer);
    }
}

impl Engine {
    /// Adds a context, which `siblings` may share. Returns its id. Errors: `ENOSPC` if there are
    /// too many, `ENOMEM`, `EINVAL` on ring engines.
    pub(in crate::submit) fn admit(
        &self,
        logical_ring: &Arc<LogicalRing>,
        who: Who,
        siblings: Option<&Arc<Siblings>>,
    ) -> Result<u32> {
        loop {
            let count = {
                let mut queue = self.queue.lock();
                let lists = queue.lists().ok_or(EINVAL)?;
                if let Some(at) = lists.free.pop() {
                    let taken = lists.enter(at, logical_ring, who, siblings);
                    if taken.is_none() {
                        drop(lists.free.push_within_capacity(at));
                    }
                    return taken.ok_or(ENOSPC);
                }
                lists.contexts.len()
            };
            if count >= MAX_ID {
                return Err(ENOSPC);
            }
            let more = count.saturating_mul(2).clamp(FIRST_PLACES, MAX_ID);
            let mut growth = Growth::new(more)?;
            let mut queue = self.queue.lock();
            let lists = queue.lists().ok_or(EINVAL)?;
            // Another task may have grown it meanwhile.
            if lists.contexts.len() == count {
                lists.grow(&mut growth);
            }
            drop(queue);
            drop(growth);
        }
    }

    /// Removes a destroyed context, all of whose requests are retired, once the engine does not
    /// hold it.
    pub(in crate::submit) fn dismiss(&self, id: u32) {
        let Some(at) = id.checked_sub(1) else {
            return;
        };
        // Makes sure that `gone` has capacity for one more.
        self.release_removed();
        let mut queue = self.queue.lock();
        let Some(lists) = queue.lists() else {
            return;
        };
        lists.listen(self, time::monotonic_ns());
        // The siblings hold this engine: break the cycle.
        let siblings = lists.context(at).and_then(|listed| listed.siblings.take());
        if !lists.remove(at) {
            // It has no work and will be switched out. There is capacity.
            drop(lists.leaving.push_within_capacity(at));
            self.pump(&mut queue);
        }
        drop(queue);
        self.retirer.run_deferred();
        drop(siblings);
        self.release_removed();
    }

    /// Returns whether there are logical rings of removed contexts to drop.
    pub(crate) fn has_removed(&self) -> bool {
        let mut queue = self.queue.lock();
        queue.lists().is_some_and(|lists| !lists.gone.is_empty())
    }

    /// Drops the logical rings of removed contexts. Process context.
    pub(crate) fn release_removed(&self) {
        loop {
            let gone = {
                let mut queue = self.queue.lock();
                queue.lists().and_then(|l| l.gone.pop())
            };
            if gone.is_none() {
                break;
            }
        }
    }

    /// Resets a context to its initial state. The engine was reset.
    pub(crate) fn forget(&self, id: u32) {
        if let Some(lists) = self.queue.lock().lists() {
            lists.forget(id);
        }
    }

    /// Returns whether the engine may have a context's image loaded.
    pub(crate) fn holds(&self, id: u32) -> bool {
        let mut queue = self.queue.lock();
        let Some(lists) = queue.lists() else {
            return false;
        };
        let listed = id.checked_sub(1).and_then(|at| lists.context(at));
        listed
            .map(|p| p.entity)
            .is_some_and(|entity| lists.sched.is_held(entity))
    }

    /// Returns a copy of the golden image, if there is one. Errors: `ENOMEM`.
    pub(crate) fn golden(&self) -> Result<Option<KVVec<u32>>> {
        let len = {
            let mut queue = self.queue.lock();
            queue.lists().map_or(0, |l| l.golden.len())
        };
        let mut copy = KVVec::from_elem(0, len, GFP_KERNEL)?;
        if let Some(lists) = self.queue.lock().lists() {
            for (to, from) in copy.iter_mut().zip(lists.golden.iter()) {
                *to = *from;
            }
        }
        Ok((len != 0).then_some(copy))
    }

    /// Sets the golden image, from which contexts start from now on. Errors: `ENOMEM`.
    pub(crate) fn set_golden(&self, mut golden: KVVec<u32>) -> Result {
        let mut buffer = KVVec::from_elem(0, golden.len(), GFP_KERNEL)?;
        let mut queue = self.queue.lock();
        if let Some(lists) = queue.lists() {
            lists.set_golden(&mut golden, &mut buffer);
        }
        drop(queue);
        Ok(())
    }
}

impl Queue {
    /// Returns the port of an execlist engine; `None` on ring engines.
    pub(in crate::submit) fn lists(&mut self) -> Option<&mut Lists> {
        match &mut self.port {
            Port::Lists(lists) => Some(lists),
            Port::Ring(_) => None,
        }
    }
}
