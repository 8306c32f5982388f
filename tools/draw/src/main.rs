// SPDX-License-Identifier: GPL-2.0
//! `ouro-draw`: see the library.

fn main() {}
