// SPDX-License-Identifier: GPL-2.0
//! What real machines with a Sandy Bridge do and a kind model spares its driver.

crate::habits! {
    /// Habits of real machines, all off in a kind one.
    pub struct Real {}
}
