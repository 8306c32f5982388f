// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Commands, a row each: their length and the rule for them.
//!
//! A table is searched from its beginning, so specific rows precede general ones. Lengths and rules
//! are those of upstream's version 10 (Linux 7.3; V-19, V-20), since user space was written for
//! them; a row with a stricter rule has a comment with the reason. Formats: VCS §1.2; for the other
//! engines §2 of the digest of Sandy Bridge, which has the same header rules.

use crate::intel::ring::check::{
    Bits,
    Length::{Field, Fixed},
    Row,
    Rule::{Doubt, Load, Move, Pass, Refuse},
};

/// Bit 22 of a header: the address is a GGTT address.
const GLOBAL: u32 = 1 << 22;
/// The address is a PPGTT address.
const OWN: &[Bits] = &[Bits::clear(0, GLOBAL)];
/// The length of three dwords, which upstream assumes: the chip may use the length field.
const THREE: &[Bits] = &[Bits::equal(0, 0xff, 1)];
/// A length of four or five dwords, and no reserved bits, 21:8 (VCS §1.2.12).
const STORE_LENGTH: &[Bits] = &[Bits::equal(0, 0x003f_fffe, 2)];
/// Whole pairs, all bytes of which are written (VCS §1.2.8: partial writes are not defined).
const PAIRS: &[Bits] = &[Bits::equal(0, 1, 1), Bits::clear(0, 0xf00)];
/// No bits above a length of five bits, which a chip may add to the length.
const SHORT: &[Bits] = &[Bits::clear(0, 0xe0)];
/// No other bits of a command that ends a batch, or of one without other bits (VCS §1.2.2).
const NO_BITS: &[Bits] = &[Bits::clear(0, 0x007f_ffff)];

const NOOP: Row = Row::mi("MI_NOOP", 0x00, Fixed(1), Pass);
/// The driver counts completions by these interrupts.
const USER_INTERRUPT: Row = Row::mi("MI_USER_INTERRUPT", 0x02, Fixed(1), Refuse);
/// A wait for an event that never comes stops the engine for all clients.
const WAIT_FOR_EVENT: Row = Row::mi("MI_WAIT_FOR_EVENT", 0x03, Fixed(1), Refuse);
/// Takes over a new head, which only the driver could have set (VCS-049).
const ARB_CHECK: Row = Row::mi("MI_ARB_CHECK", 0x05, Fixed(1), Pass).should(NO_BITS);
/// Writes the ring's head to a dword of the HWSP that no code reads (V-22).
const REPORT_HEAD: Row = Row::mi("MI_REPORT_HEAD", 0x07, Fixed(1), Pass).should(NO_BITS);
/// Disables preemption (VCS-051).
const ARB_ON_OFF: Row = Row::mi("MI_ARB_ON_OFF", 0x08, Fixed(1), Refuse);
/// Bit 0 delays external flushes, those of an IOMMU too, until it is cleared (VCS-068).
const SUSPEND_FLUSH: Row =
    Row::mi("MI_SUSPEND_FLUSH", 0x0b, Fixed(1), Pass).should(&[Bits::clear(0, 1)]);
/// An ID of the process for a debugger.
const SET_APPID: Row = Row::mi("MI_SET_APPID", 0x0e, Fixed(1), Pass);
/// The display does not belong to the client.
const DISPLAY_FLIP: Row = Row::mi("MI_DISPLAY_FLIP", 0x14, Field(0xff), Refuse);
/// It may write to the GGTT, and wait without end.
const SEMAPHORE_MBOX: Row = Row::mi("MI_SEMAPHORE_MBOX", 0x16, Field(0xff), Refuse);
/// The HWSP has the seqnos of requests.
const STORE_DWORD_INDEX: Row = Row::mi("MI_STORE_DWORD_INDEX", 0x21, Field(0xff), Refuse);
const LOAD_REGISTER_IMM: Row =
    Row::mi("MI_LOAD_REGISTER_IMM", 0x22, Field(0xff), Load).should(PAIRS);
const STORE_REGISTER_MEM: Row = Row::mi(
    "MI_STORE_REGISTER_MEM",
    0x24,
    Fixed(3),
    Move { loads: false },
)
.must(OWN)
.should(THREE);
const LOAD_REGISTER_MEM: Row =
    Row::mi("MI_LOAD_REGISTER_MEM", 0x29, Fixed(3), Move { loads: true })
        .must(OWN)
        .should(THREE);
/// The batch that it starts was not checked.
const BATCH_BUFFER_START: Row = Row::mi("MI_BATCH_BUFFER_START", 0x31, Field(0xff), Refuse);
/// Ends the batch depending on a value in memory.
const CONDITIONAL_END: Row = Row::mi("MI_CONDITIONAL_BATCH_BUFFER_END", 0x36, Field(0xff), Pass)
    .must(OWN)
    .should(THREE);
/// GGTT entries belong to the driver.
const fn update_gtt(mask: u32) -> Row {
    Row::mi("MI_UPDATE_GTT", 0x23, Field(mask), Refuse)
}
/// The mask of the length differs between engines, and so does upstream's largest length.
const fn store_data(mask: u32) -> Row {
    Row::mi("MI_STORE_DATA_IMM", 0x20, Field(mask), Pass)
        .must(OWN)
        .should(STORE_LENGTH)
}
/// No notification (bit 8), no store in the GGTT (bit 2 of the address) or in the HWSP (bit 21), if
/// it stores at all (bits 15:14). Upstream calls bit 22 protected memory; no document describes it.
const FLUSH_DW: Row = Row::mi("MI_FLUSH_DW", 0x26, Field(0x3f), Pass)
    .must(&[
        Bits::clear(0, 1 << 8),
        Bits::clear(1, 1 << 2).when(0, 3 << 14),
        Bits::clear(0, 1 << 21).when(0, 3 << 14),
    ])
    .should(&[Bits::clear(0, 1 << 22)]);
/// Any other MI command: the chip may not have it, and its length is not known.
const OTHER_MI: Row = Row::new("an MI command", 0, 0xe000_0000, Field(0x3f), Doubt);

/// Commands of the render engine, in order of search.
#[rustfmt::skip]
pub static RENDER_ROWS: &[Row] = &[
    NOOP,
    USER_INTERRUPT,
    WAIT_FOR_EVENT,
    // Flushes only the engine's own caches.
    Row::mi("MI_FLUSH", 0x04, Fixed(1), Pass),
    ARB_CHECK,
    REPORT_HEAD,
    ARB_ON_OFF,
    SUSPEND_FLUSH,
    // Decides whether the next draws are skipped.
    Row::mi("MI_PREDICATE", 0x0c, Fixed(1), Pass),
    // Decides which topologies are skipped.
    Row::mi("MI_TOPOLOGY_FILTER", 0x0d, Fixed(1), Pass),
    SET_APPID,
    DISPLAY_FLIP,
    SEMAPHORE_MBOX,
    // Contexts belong to the driver.
    Row::mi("MI_SET_CONTEXT", 0x18, Field(0xff), Refuse),
    // Clears the context's URB.
    Row::mi("MI_URB_CLEAR", 0x19, Field(0xff), Pass).should(&[Bits::clear(0, 0xff)]),
    store_data(0x3f),
    STORE_DWORD_INDEX,
    LOAD_REGISTER_IMM,
    update_gtt(0xff),
    STORE_REGISTER_MEM,
    // MI lengths have six bits (G45); upstream allows four more.
    Row::mi("MI_CLFLUSH", 0x27, Field(0x3ff), Pass)
        .must(OWN)
        .should(&[Bits::clear(0, 0x3c0)]),
    // The address is a PPGTT address (bit 0 of its dword).
    Row::mi("MI_REPORT_PERF_COUNT", 0x28, Field(0x3f), Pass)
        .must(&[Bits::clear(1, 1)])
        .should(THREE),
    LOAD_REGISTER_MEM,
    BATCH_BUFFER_START,
    CONDITIONAL_END,
    OTHER_MI,
    // 28:27 = 1: commands of one dword. The two that exist, and others to which upstream gives a
    // length.
    Row::gfx("3DSTATE_VF_STATISTICS", 0x680b, Fixed(1), Pass),
    Row::gfx("PIPELINE_SELECT", 0x6904, Fixed(1), Pass),
    Row::new("a command of one dword", 0x6800_0000, 0xf800_0000, Field(0xff), Doubt),
    // No register access for threads (bits 4:3 of dword 2).
    Row::gfx("MEDIA_VFE_STATE", 0x7000, Field(0xffff), Pass).must(&[Bits::clear(2, 0x18)]),
    // Bit 8, and bit 10 of a walker, are not part of the length. A chip that used the other bits as
    // length, as it does in all other media commands, would continue after the end of the copy.
    Row::gfx("GPGPU_OBJECT", 0x7104, Field(0xff), Pass).should(&[Bits::clear(0, 0xfe00)]),
    Row::gfx("GPGPU_WALKER", 0x7105, Field(0xff), Pass).should(&[Bits::clear(0, 0xfa00)]),
    Row::new("a media command", 0x7000_0000, 0xf800_0000, Field(0xffff), Pass),
    Row::gfx("3DSTATE_SO_DECL_LIST", 0x7917, Field(0x1ff), Pass),
    // No register load (bit 23), no notification (bit 8), no store in the GGTT (bit 24) or in the
    // HWSP (bit 21), if it stores at all (bits 15:14).
    Row::gfx("PIPE_CONTROL", 0x7a00, Field(0xff), Pass).must(&[
        Bits::clear(1, 1 << 23 | 1 << 8),
        Bits::clear(1, 1 << 24 | 1 << 21).when(1, 3 << 14),
    ]),
    // All other state and draws: their addresses are PPGTT addresses.
    Row::new("a 3D command", 0x6000_0000, 0xe000_0000, Field(0xff), Pass),
];

/// Commands of the video engine, in order of search.
#[rustfmt::skip]
pub static VIDEO_ROWS: &[Row] = &[
    NOOP,
    USER_INTERRUPT,
    WAIT_FOR_EVENT,
    ARB_CHECK,
    REPORT_HEAD,
    ARB_ON_OFF,
    SUSPEND_FLUSH,
    SET_APPID,
    SEMAPHORE_MBOX,
    store_data(0xff),
    STORE_DWORD_INDEX,
    LOAD_REGISTER_IMM,
    update_gtt(0x3f),
    STORE_REGISTER_MEM,
    FLUSH_DW,
    LOAD_REGISTER_MEM,
    BATCH_BUFFER_START,
    CONDITIONAL_END,
    OTHER_MI,
    // It has a length field, but is always one dword (V-19).
    Row::gfx("MFX_WAIT", 0x6800, Fixed(1), Pass),
    // Codecs (V-20): those with 26:24 = 6 are longer.
    Row::new("a codec command", 0x7600_0000, 0xff00_0000, Field(0xffff), Pass),
    Row::new("a codec command", 0x7000_0000, 0xf800_0000, Field(0xfff), Pass),
    // This engine has no 3D pipeline.
    Row::new("a 3D command", 0x6000_0000, 0xe000_0000, Field(0xff), Doubt),
];

/// Commands of the blitter, in order of search. Opcodes of blits: §2.5 of the digest of Sandy
/// Bridge.
#[rustfmt::skip]
pub static BLITTER_ROWS: &[Row] = &[
    NOOP,
    USER_INTERRUPT,
    WAIT_FOR_EVENT,
    ARB_CHECK,
    REPORT_HEAD,
    SUSPEND_FLUSH,
    DISPLAY_FLIP,
    SEMAPHORE_MBOX,
    store_data(0x3ff),
    STORE_DWORD_INDEX,
    LOAD_REGISTER_IMM,
    update_gtt(0x3f),
    STORE_REGISTER_MEM,
    FLUSH_DW,
    LOAD_REGISTER_MEM,
    BATCH_BUFFER_START,
    OTHER_MI,
    // State for later blits; its only address is that of a pattern.
    Row::blt("XY_SETUP_BLT", 0x01, Field(0xff)),
    Row::blt("XY_SETUP_CLIP_BLT", 0x03, Field(0xff)),
    Row::blt("XY_SETUP_MONO_PATTERN_SL_BLT", 0x11, Field(0xff)),
    Row::blt("XY_PIXEL_BLT", 0x24, Field(0xff)),
    Row::blt("XY_SCANLINES_BLT", 0x25, Field(0xff)),
    Row::blt("XY_TEXT_BLT", 0x26, Field(0xff)),
    Row::blt("XY_TEXT_IMMEDIATE_BLT", 0x31, Field(0xff)),
    // The length is bits 5:0 for upstream, 4:0 in G45's document (§8.9.1, §8.9.2), and 7:0 in other
    // blits.
    Row::blt("COLOR_BLT", 0x40, Field(0x3f)).should(SHORT),
    Row::blt("SRC_COPY_BLT", 0x43, Field(0x3f)).should(SHORT),
    Row::blt("XY_COLOR_BLT", 0x50, Field(0xff)),
    Row::blt("XY_PAT_BLT", 0x51, Field(0xff)),
    Row::blt("XY_MONO_PAT_BLT", 0x52, Field(0xff)),
    Row::blt("XY_SRC_COPY_BLT", 0x53, Field(0xff)),
    Row::blt("XY_MONO_SRC_COPY_BLT", 0x54, Field(0xff)),
    Row::blt("XY_FULL_BLT", 0x55, Field(0xff)),
    Row::blt("XY_FULL_MONO_SRC_BLT", 0x56, Field(0xff)),
    Row::blt("XY_FULL_MONO_PATTERN_BLT", 0x57, Field(0xff)),
    Row::blt("XY_FULL_MONO_PATTERN_MONO_SRC_BLT", 0x58, Field(0xff)),
    Row::blt("XY_MONO_PAT_FIXED_BLT", 0x59, Field(0xff)),
    Row::blt("XY_MONO_SRC_COPY_IMMEDIATE_BLT", 0x71, Field(0xff)),
    Row::blt("XY_PAT_BLT_IMMEDIATE", 0x72, Field(0xff)),
    Row::blt("XY_SRC_COPY_CHROMA_BLT", 0x73, Field(0xff)),
    Row::blt("XY_FULL_IMMEDIATE_PATTERN_BLT", 0x74, Field(0xff)),
    Row::blt("XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT", 0x75, Field(0xff)),
    Row::blt("XY_PAT_CHROMA_BLT", 0x76, Field(0xff)),
    Row::blt("XY_PAT_CHROMA_BLT_IMMEDIATE", 0x77, Field(0xff)),
    // Any other blit.
    Row::new("a blit", 2 << 29, 0xe000_0000, Field(0xff), Doubt),
];
