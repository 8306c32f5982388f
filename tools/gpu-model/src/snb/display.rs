// SPDX-License-Identifier: GPL-2.0
//! Display registers: no display is modelled. They read zero, drop writes and are counted; the
//! upstream driver then finds no connector and comes up clean (peer digest A.1, list I.1).
//!
//! The display engine's interrupt registers 0x44000.. are real; see `irq`. The south interrupt
//! registers are storage.

/// Offset and a plain word about each.
pub const REGISTERS: &[(u32, &str)] = &[
    (0x04_1000, "VGA control"),
    (0x04_2000, "display clock gating"),
    (0x04_2004, "display chicken"),
    (0x04_2020, "display clock gating D"),
    (0x04_3208, "fuse"),
    (0x04_4030, "hot-plug control"),
    (0x04_5000, "display arbiter"),
    (0x04_5100, "watermark 0"),
    (0x04_5104, "watermark 1"),
    (0x04_5108, "watermark 2"),
    (0x04_510c, "watermark 3"),
    (0x04_5110, "watermark 4"),
    (0x04_5120, "watermark sprite"),
    (0x06_4000, "display port A"),
    (0x07_0008, "pipe A"),
    (0x07_0080, "cursor A"),
    (0x07_00c0, "cursor B"),
    (0x07_0180, "plane A"),
    (0x07_019c, "plane A surface"),
    (0x07_1008, "pipe B"),
    (0x07_1180, "plane B"),
    (0x07_119c, "plane B surface"),
    (0x07_2180, "sprite A"),
    (0x07_3180, "sprite B"),
    (0x07_8000, "virtual GPU signature"),
    (0x07_8004, "virtual GPU signature (high)"),
    (0x0c_2004, "south chicken"),
    (0x0c_2020, "south clock gating"),
    (0x0c_4000, "south interrupt status"),
    (0x0c_4004, "south interrupt mask"),
    (0x0c_4008, "south interrupt identity"),
    (0x0c_400c, "south interrupt enable"),
    (0x0c_4030, "south hot-plug"),
    (0x0c_4040, "south error interrupt"),
    (0x0c_5100, "GMBUS 0"),
    (0x0c_5110, "GMBUS 4"),
    (0x0c_6014, "DPLL A"),
    (0x0c_6018, "DPLL B"),
    (0x0c_6040, "FPA0"),
    (0x0c_6044, "FPA1"),
    (0x0c_6048, "FPB0"),
    (0x0c_604c, "FPB1"),
    (0x0c_6200, "reference clock"),
    (0x0c_6204, "raw clock"),
    (0x0c_7204, "panel power"),
    (0x0e_1100, "CRT"),
    (0x0e_1140, "HDMI B"),
    (0x0e_1150, "HDMI C"),
    (0x0e_1160, "HDMI D"),
    (0x0e_1180, "LVDS"),
    (0x0e_4200, "display port C"),
    (0x0e_4300, "display port D"),
    (0x0f_0060, "transcoder chicken A"),
    (0x0f_0064, "transcoder chicken A2"),
    (0x0f_1060, "transcoder chicken B"),
    (0x0f_1064, "transcoder chicken B2"),
];

/// South interrupt registers that keep what is written: mask and enable.
pub const STORED: [u32; 2] = [0x0c_4004, 0x0c_400c];
