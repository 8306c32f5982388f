// SPDX-License-Identifier: GPL-2.0
//! Figures of `make bench`: as they were recorded from commit to commit, as one picture (a panel for each call, the
//! instructions of each record as a line, those of the upstream driver dashed); and of one call by function.

mod draw;
mod profile;
mod record;

pub use draw::plot;
pub use profile::{functions, table};
pub use record::{figures, history, upstream, Figures, Record};
