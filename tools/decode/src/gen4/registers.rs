// SPDX-License-Identifier: GPL-2.0
//! Names of registers of Gen4 by byte offset. G45 PRM Vol 1b has names and few offsets (7.2); the others are from the
//! upstream driver's headers (digest of Gen4, G-04 to G-33).

/// Of the blocks at 0x2000 (render) and 0x4000 (video).
const BLOCK: &[(u32, &str, &str)] = &[
    (0x028, "rcs EXCC", "vcs EXCC"),
    (0x030, "rcs RING_TAIL", "vcs RING_TAIL"),
    (0x034, "rcs RING_HEAD", "vcs RING_HEAD"),
    (0x038, "rcs RING_START", "vcs RING_START"),
    (0x03c, "rcs RING_CTL", "vcs RING_CTL"),
    (0x064, "rcs IPEIR", "vcs IPEIR"),
    (0x068, "rcs IPEHR", "vcs IPEHR"),
    (0x06c, "rcs INSTDONE", "vcs INSTDONE"),
    (0x070, "rcs INSTPS", "vcs INSTPS"),
    (0x074, "rcs ACTHD", "vcs ACTHD"),
    (0x078, "rcs DMA_FADD", "vcs DMA_FADD"),
    (0x080, "rcs HWS_PGA", "vcs HWS_PGA"),
    (0x094, "rcs NOPID", "vcs NOPID"),
    (0x09c, "rcs MI_MODE", "vcs MI_MODE"),
    (0x134, "rcs UHPTR", "vcs UHPTR"),
    (0x140, "rcs BBADDR", "vcs BBADDR"),
];

const SINGLE: &[(u32, &str)] = &[
    (0x02020, "PGTBL_CTL"),
    (0x02024, "PGTBL_ER"),
    (0x0207c, "INSTDONE_1"),
    (0x02098, "HWSTAM"),
    (0x020a0, "IER"),
    (0x020a4, "IIR"),
    (0x020a8, "IMR"),
    (0x020ac, "ISR"),
    (0x020b0, "EIR"),
    (0x020b4, "EMR"),
    (0x020b8, "ESR"),
    (0x020c0, "INSTPM"),
    (0x020c4, "PGTBL_CTL2"),
    (0x020c8, "PGTBL_STR2"),
    (0x020e0, "FW_BLC_SELF"),
    (0x020e4, "MI_ARB_STATE"),
    (0x02120, "CACHE_MODE_0"),
    (0x02124, "CACHE_MODE_1"),
    (0x02170, "GFX_FLSH_CNTL"),
    (0x02180, "CCID"),
    (0x021a0, "CXT_SIZE"),
    (0x021d0, "ECOSKPD"),
    (0x02350, "PS_DEPTH_COUNT"),
    (0x02358, "TIMESTAMP"),
    (0x02520, "GFX_MODE"),
    // 7.2; GM965 has another compressor there (6.2.1).
    (0x03200, "DPFC_CB_BASE or FBC_CFB_BASE"),
    (0x03204, "FBC_LL_BASE"),
    (0x03208, "DPFC_CONTROL or FBC_CONTROL"),
    (0x0320c, "DPFC_RECOMP_CTL or FBC_COMMAND"),
    (0x03210, "DPFC_STATUS or FBC_STATUS"),
    (0x03214, "DPFC_STATUS_2 or FBC_CONTROL2"),
    (0x03218, "DPFC_CPU_FENCE_OFFSET or FBC_YFENCE_DISP"),
    (0x0321c, "DPFC_SLB_DATA"),
    (0x03220, "DPFC_DEBUG_STATUS or FBC_MOD_CTR"),
    (0x03224, "DPFC_EXTRA"),
    (0x06200, "DSPCLK_GATE_D"),
    (0x06204, "RENCLK_GATE_D1"),
    (0x06208, "RENCLK_GATE_D2"),
    (0x0620c, "VDECCLK_GATE_D"),
    (0x06210, "RAMCLK_GATE_D"),
    (0x06214, "DEUC"),
    (0x10200, "DCC"),
    (0x10204, "DCC2 or C0DRB3"),
    (0x10604, "C1DRB3"),
    (0x10c00, "CLKCFG"),
    (0x70024, "PIPEASTAT"),
    (0x71024, "PIPEBSTAT"),
];

/// A register's name.
pub fn name(offset: u32) -> Option<&'static str> {
    if let Some(single) = SINGLE.iter().find(|r| r.0 == offset) {
        return Some(single.1);
    }
    if (0x3000..0x3080).contains(&offset) {
        return Some("FENCE");
    }
    let of = |base: u32| BLOCK.iter().find(|r| base + r.0 == offset);
    match (of(0x2000), of(0x4000)) {
        (Some(r), _) => Some(r.1),
        (_, Some(r)) => Some(r.2),
        _ => None,
    }
}
