// SPDX-License-Identifier: GPL-2.0
//! What a submission costs where there is much else: instructions in the structures of `ouro_core`, counted one
//! by one, with 1 to 10,000 objects, contexts or clients beside it.
//!
//! [`cases`] has what is counted, and runs in a process of its own; [`count`] counts what that process does
//! between two marks. The same structures are in the module: what it adds (the kernel's own tables of
//! handles, locks, fences) is not counted here, but measured in a guest (`scale.c` of the kselftests).

pub mod cases;
pub mod count;
