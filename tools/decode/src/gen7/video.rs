// SPDX-License-Identifier: GPL-2.0
//! Commands of the video codec of Gen7: client 3, pipe 2 in 28:27, opcode in 26:24, sub-opcodes in
//! 23:21 and 20:16 (digest V-21). The chapter does not describe them; names are the upstream driver's,
//! and what is in them is shown as numbers. A command that has no name here is passed over by its length.

use crate::command::{Command, Length};
use crate::gen6::video;

/// A command of the codec: bits 11:0 are its length.
const fn mfx(name: &'static str, opcode: u32, a: u32, b: u32) -> Command {
    let header = 3 << 29 | 2 << 27 | opcode << 24 | a << 21 | b << 16;
    Command::new(name, 0xffff_0000, header, Length::Upto(11))
}

/// Those that have a name.
pub const NAMED: &[Command] = &[
    mfx("MFX_PIPE_MODE_SELECT", 0, 0, 0),
    mfx("MFX_SURFACE_STATE", 0, 0, 1),
    mfx("MFX_PIPE_BUF_ADDR_STATE", 0, 0, 2),
    mfx("MFX_IND_OBJ_BASE_ADDR_STATE", 0, 0, 3),
    mfx("MFX_BSP_BUF_BASE_ADDR_STATE", 0, 0, 4),
    mfx("MFX_STATE_POINTER", 0, 0, 6),
    mfx("MFX_QM_STATE", 0, 0, 7),
    mfx("MFX_FQM_STATE", 0, 0, 8),
    mfx("MFD_IT_OBJECT", 0, 1, 9),
    mfx("MFX_PAK_INSERT_OBJECT", 0, 2, 8),
    mfx("MFX_STITCH_OBJECT", 0, 2, 10),
    mfx("MFX_AVC_IMG_STATE", 1, 0, 0),
    mfx("MFX_AVC_DIRECTMODE_STATE", 1, 0, 2),
    mfx("MFX_AVC_SLICE_STATE", 1, 0, 3),
    mfx("MFX_AVC_REF_IDX_STATE", 1, 0, 4),
    mfx("MFX_AVC_WEIGHTOFFSET_STATE", 1, 0, 5),
    mfx("MFD_AVC_DPB_STATE", 1, 1, 6),
    mfx("MFD_AVC_SLICEADDR", 1, 1, 7),
    mfx("MFD_AVC_BSD_OBJECT", 1, 1, 8),
    mfx("MFC_AVC_PAK_OBJECT", 1, 2, 9),
    mfx("MFX_VC1_PRED_PIPE_STATE", 2, 0, 1),
    mfx("MFX_VC1_DIRECTMODE_STATE", 2, 0, 2),
    mfx("MFD_VC1_SHORT_PIC_STATE", 2, 1, 0),
    mfx("MFD_VC1_LONG_PIC_STATE", 2, 1, 1),
    mfx("MFD_VC1_BSD_OBJECT", 2, 1, 8),
    mfx("MFX_MPEG2_PIC_STATE", 3, 0, 0),
    mfx("MFD_MPEG2_BSD_OBJECT", 3, 1, 8),
    mfx("MFC_MPEG2_SLICEGROUP_STATE", 3, 2, 3),
    mfx("MFC_MPEG2_PAK_OBJECT", 3, 2, 9),
    mfx("MFX_JPEG_PIC_STATE", 7, 0, 0),
    mfx("MFX_JPEG_HUFF_TABLE_STATE", 7, 0, 2),
    mfx("MFD_JPEG_BSD_OBJECT", 7, 1, 8),
];

/// MFX_WAIT, and the others by their lengths: bits 11:0, or 15:0 for opcode 6 (digest V-20).
pub const OTHERS: &[Command] = video::COMMANDS;
