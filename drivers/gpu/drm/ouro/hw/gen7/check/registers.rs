// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers that a batch may load and store, a row each.
//!
//! They are those of upstream's version 10 (Linux 7.3), since user space was written for these. The
//! reasons are the project's own. Offsets: upstream's register lists; the document has only the
//! timestamps (VCS §1.1.9.5).

use crate::intel::ring::check::Register;

/// The timestamp of an engine: read only, 36 bits of 80 ns (VCS §1.1.9.5).
const RENDER_TIMESTAMP: Register = Register::new(0x2358, 2);
/// See [`RENDER_TIMESTAMP`]. Earlier chips had the video engine's registers at this offset,
/// according to upstream; on this chip there is no register.
const OLD_VIDEO_TIMESTAMP: Register = Register::new(0x4358, 2);
/// See [`RENDER_TIMESTAMP`].
const BLITTER_TIMESTAMP: Register = Register::new(0x22358, 2);

/// Registers of the render engine, in the order of offsets. A context's image has all of them,
/// except the timestamps and the configuration of the L3 cache.
#[rustfmt::skip]
pub static RENDER_REGISTERS: &[Register] = &[
    // GPGPU_THREADS_DISPATCHED: a counter, for a query of the same context.
    Register::new(0x2290, 2),
    // 64-bit counters of the pipeline's stages, for queries of the same context: HS, DS, IA
    // (vertices, primitives), VS, GS (invocations, primitives), CL (invocations, primitives), PS
    // (invocations, depth).
    Register::new(0x2300, 2),
    Register::new(0x2308, 2),
    Register::new(0x2310, 2),
    Register::new(0x2318, 2),
    Register::new(0x2320, 2),
    Register::new(0x2328, 2),
    Register::new(0x2330, 2),
    Register::new(0x2338, 2),
    Register::new(0x2340, 2),
    Register::new(0x2348, 2),
    Register::new(0x2350, 2),
    RENDER_TIMESTAMP,
    // MI_PREDICATE_SRC0 and SRC1: the operands of MI_PREDICATE, which decides whether draws are
    // skipped.
    Register::new(0x2400, 2),
    Register::new(0x2408, 2),
    // 3DPRIM_END_OFFSET, and START_VERTEX to BASE_VERTEX: the parameters of an indirect draw.
    Register::new(0x2420, 1),
    Register::new(0x2430, 1),
    Register::new(0x2434, 1),
    Register::new(0x2438, 1),
    Register::new(0x243c, 1),
    Register::new(0x2440, 1),
    // GPGPU_DISPATCHDIMX, Y, Z: the parameters of an indirect walk.
    Register::new(0x2500, 1),
    Register::new(0x2504, 1),
    Register::new(0x2508, 1),
    OLD_VIDEO_TIMESTAMP,
    // SO_NUM_PRIMS_WRITTEN 0 to 3: counters of transform feedback.
    Register::new(0x5200, 8),
    // SO_PRIM_STORAGE_NEEDED 0 to 3: counters of transform feedback.
    Register::new(0x5240, 8),
    // SO_WRITE_OFFSET 0 to 3: the write offsets of transform feedback, which the buffers' sizes
    // limit.
    Register::new(0x5280, 4),
    // L3SQCREG1, L3CNTLREG2, L3CNTLREG3: the partitioning of the L3 cache. It affects performance,
    // but no data.
    Register::new(0xb010, 1),
    Register::new(0xb020, 2),
    BLITTER_TIMESTAMP,
];

/// Registers of the blitter, in the order of offsets.
pub static BLITTER_REGISTERS: &[Register] = &[
    RENDER_TIMESTAMP,
    OLD_VIDEO_TIMESTAMP,
    // BCS_SWCTRL: Y tiling of source and destination (bits 0, 1), each bit with its mask bit (16,
    // 17). Contexts do not save it, so its other bits, which are not documented, are not accepted.
    Register::masked(0x22200, 0x0003_0003),
    BLITTER_TIMESTAMP,
];
