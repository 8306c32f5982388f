// SPDX-License-Identifier: GPL-2.0

//! Submission: from a typed request to work on an engine, and back to a signalled fence.
//!
//! A [`Request`] is built completely in process context ([`exec`]) and published ([`publish`];
//! nothing can fail after that). It waits until the fences that it depends on are signalled, enters
//! the [`Engine`]'s queue, is emitted when the ring has room, and has completed when its seqno is
//! in the status page. The [`Retirer`] then releases its resources, in process context again.
//!
//! Locks, outermost first: a fence's own, the exchange ([`lists::balance`]), the [`Engine`]'s
//! queue, the device's `Gt`. Fences are signalled with none of them held.

mod batch;
pub(crate) mod busy;
pub(crate) mod context;
mod context_state;
mod emitted;
pub(crate) mod engine;
pub(crate) mod evict;
pub(crate) mod exec;
mod executor;
pub(crate) mod follow;
mod freed;
pub(crate) mod guilt;
pub(crate) mod in_use;
pub(crate) mod line;
pub(crate) mod lists;
pub(crate) mod moves;
pub(crate) mod own_space;
pub(crate) mod pool;
mod port;
mod prepare;
pub(crate) mod publish;
pub(crate) mod quiet;
pub(crate) mod quota;
mod ready;
mod recent;
pub(crate) mod relocate;
pub(crate) mod replay;
pub(crate) mod request;
pub(crate) mod retire;
mod ring;
pub(crate) mod scratch;
mod service;
pub(crate) mod stream;
mod timeline;

pub(crate) use context::Context;
pub(crate) use engine::Engine;
pub(crate) use evict::evict_all;
pub(crate) use executor::Executor;
pub(crate) use request::{Request, Tracker};
pub(crate) use retire::Retirer;
