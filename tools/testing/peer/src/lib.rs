// SPDX-License-Identifier: GPL-2.0
//! The peer as a list: which registers the upstream driver writes on a model, which ouro writes on the same, and a
//! reason for each difference. A difference without a reason fails, and so does a reason without a difference.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod compare;
pub mod list;
pub mod order;
pub mod reasons;
pub mod verdict;
