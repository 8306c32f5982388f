// SPDX-License-Identifier: GPL-2.0
//! Memory-interface commands by bits 28:23 of their header.

use super::Era::*;
use super::{row, Row};

/// All of them, by header.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row(Gen6, Gen125, 0x00, "MI_NOOP"),
    row(Gen75, Gen125, 0x01, "MI_SET_PREDICATE"),
    row(Gen6, Gen125, 0x02, "MI_USER_INTERRUPT"),
    row(Gen6, Gen125, 0x03, "MI_WAIT_FOR_EVENT"),
    row(Gen4, Gen75, 0x04, "MI_FLUSH"),
    row(Gen11, Gen125, 0x04, "MI_WAIT_FOR_EVENT_2"),
    row(Gen6, Gen125, 0x05, "MI_ARB_CHECK"),
    row(Gen75, Gen125, 0x06, "MI_RS_CONTROL"),
    row(Gen6, Gen125, 0x07, "MI_REPORT_HEAD"),
    row(Gen6, Gen125, 0x08, "MI_ARB_ON_OFF"),
    row(Gen75, Gen9, 0x09, "MI_URB_ATOMIC_ALLOC"),
    row(Gen6, Gen125, 0x0a, "MI_BATCH_BUFFER_END"),
    row(Gen6, Gen125, 0x0b, "MI_SUSPEND_FLUSH"),
    row(Gen7, Gen125, 0x0c, "MI_PREDICATE"),
    row(Gen7, Gen125, 0x0d, "MI_TOPOLOGY_FILTER"),
    row(Gen12, Gen125, 0x0e, "MI_SET_APPID"),
    row(Gen75, Gen125, 0x0f, "MI_RS_CONTEXT"),
    row(Gen75, Gen125, 0x12, "MI_LOAD_SCAN_LINES_INCL"),
    row(Gen6, Gen125, 0x13, "MI_LOAD_SCAN_LINES_EXCL"),
    row(Gen9, Gen125, 0x14, "MI_DISPLAY_FLIP"),
    row(Gen6, Gen75, 0x16, "MI_SEMAPHORE_MBOX"),
    row(Gen6, Gen125, 0x18, "MI_SET_CONTEXT"),
    row(Gen6, Gen8, 0x19, "MI_URB_CLEAR"),
    row(Gen75, Gen125, 0x1a, "MI_MATH"),
    row(Gen8, Gen125, 0x1b, "MI_SEMAPHORE_SIGNAL"),
    row(Gen8, Gen125, 0x1c, "MI_SEMAPHORE_WAIT"),
    row(Gen9, Gen125, 0x1d, "MI_FORCE_WAKEUP"),
    row(Gen4, Gen125, 0x20, "MI_STORE_DATA_IMM"),
    row(Gen6, Gen125, 0x21, "MI_STORE_DATA_INDEX"),
    row(Gen4, Gen125, 0x22, "MI_LOAD_REGISTER_IMM"),
    row(Gen4, Gen125, 0x24, "MI_STORE_REGISTER_MEM"),
    row(Gen6, Gen125, 0x26, "MI_FLUSH_DW"),
    row(Gen6, Gen125, 0x27, "MI_CLFLUSH"),
    row(Gen7, Gen125, 0x28, "MI_REPORT_PERF_COUNT"),
    row(Gen7, Gen125, 0x29, "MI_LOAD_REGISTER_MEM"),
    row(Gen75, Gen125, 0x2a, "MI_LOAD_REGISTER_REG"),
    row(Gen75, Gen125, 0x2b, "MI_RS_STORE_DATA_IMM"),
    row(Gen75, Gen9, 0x2c, "MI_LOAD_URB_MEM"),
    row(Gen75, Gen9, 0x2d, "MI_STORE_URB_MEM"),
    row(Gen8, Gen125, 0x2e, "MI_COPY_MEM_MEM"),
    row(Gen8, Gen125, 0x2f, "MI_ATOMIC"),
    row(Gen6, Gen125, 0x31, "MI_BATCH_BUFFER_START"),
    row(Gen6, Gen125, 0x36, "MI_CONDITIONAL_BATCH_BUFFER_END"),
];
