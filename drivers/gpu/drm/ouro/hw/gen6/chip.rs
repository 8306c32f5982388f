// SPDX-License-Identifier: GPL-2.0
//! What this generation is among machines with a ring per engine.

use super::{engine::RINGS, frequency, gt_regs as gt_reg, names, translation};
use crate::{
    intel::ring::{
        fifo::Fifo,
        forcewake::Forcewake,
        interrupts::{Bank, Interrupts},
        RingChip,
    },
    poll::Named,
};

/// The description.
pub(crate) static CHIP: RingChip = RingChip {
    engines: &RINGS,
    wake: Some(Forcewake {
        request: gt_reg::FORCEWAKE,
        on: gt_reg::FORCEWAKE_ON,
        answer: Named {
            offset: gt_reg::FORCEWAKE_ACK,
            name: "FORCEWAKE_ACK",
        },
        threads: Named {
            offset: gt_reg::GT_THREAD_STATUS,
            name: "GT_THREAD_STATUS",
        },
        not_c0: gt_reg::GT_THREAD_NOT_C0,
        fifo: Fifo {
            control: Named {
                offset: gt_reg::GTFIFOCTL,
                name: "GTFIFOCTL",
            },
            free: gt_reg::GTFIFO_FREE,
            lost: gt_reg::GTFIFODBG,
        },
        fast: frequency::fast,
        slow: frequency::slow,
    }),
    interrupts: Interrupts {
        gate: gt_reg::DEIER,
        open: gt_reg::DEIER_MASTER,
        mask: gt_reg::GTIMR,
        identity: gt_reg::GTIIR,
        enable: gt_reg::GTIER,
        others: &[
            Bank {
                mask: gt_reg::PMIMR,
                identity: gt_reg::PMIIR,
                enable: Some(gt_reg::PMIER),
            },
            // The gate is their enable register.
            Bank {
                mask: gt_reg::DEIMR,
                identity: gt_reg::DEIIR,
                enable: None,
            },
        ],
    },
    reset: Named {
        offset: gt_reg::GDRST,
        name: "GDRST",
    },
    reset_all: gt_reg::GDRST_FULL,
    translation_errors: gt_reg::ERROR_GEN6,
    translation_names: names::TRANSLATION,
    table_errors: gt_reg::PGTBL_ER,
    load_directory: translation::load_directory,
};
