// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The answers that come late on machines with a ring per engine: of forcewake, the threads'
//! status, the FIFO, the video engine (G-15 to G-17, G-37).
//!
//! Upstream goes on after each: `fw_domain_wait_ack_clear`, `fw_domain_wait_ack_set`,
//! `__gen6_gt_wait_for_thread_c0`, `__gen6_gt_wait_for_fifo`, `gen6_bsd_submit_request`.

use crate::intel::late::Late;

/// The acknowledge of a request that was released did not clear.
pub(crate) const RELEASE: Late = Late::new(
    0,
    "forcewake: the acknowledge of the previous request was not cleared in time",
);
/// A request was not acknowledged.
pub(crate) const ACKNOWLEDGE: Late = Late::new(
    1,
    "forcewake: not acknowledged in time, register accesses may be lost",
);
/// Threads were not in C0.
pub(crate) const THREADS: Late = Late::new(
    2,
    "forcewake: GT threads not in C0 in time, register writes may be lost",
);
/// The FIFO had no room.
pub(crate) const FIFO: Late = Late::new(3, "GT FIFO: no room in time, register writes may be lost");
/// The video engine did not wake up before its tail was written.
pub(crate) const VIDEO: Late =
    Late::new(4, "vcs0: not awake in time before a tail write (PSMI_CTL)");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gt::Gt, mock::Mock};

    #[test]
    fn each_has_a_bit_of_its_own() {
        let mock = Mock::default();
        let mut gt = Gt::default();
        for late in [RELEASE, ACKNOWLEDGE, THREADS, FIFO, VIDEO] {
            late.log_once(&mock.hw(), &mut gt);
        }
        assert_eq!(mock.warned.borrow().len(), 5);
    }
}
