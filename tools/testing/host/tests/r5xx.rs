// SPDX-License-Identifier: GPL-2.0
//! The R5xx backend on the modelled cards.

mod r5xx_bringup;
mod r5xx_recorded;
mod r5xx_requests;
