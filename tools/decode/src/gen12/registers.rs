// SPDX-License-Identifier: GPL-2.0
//! Names of registers that commands load and store, by byte offset (digest §3.1 to §3.3). Each engine has a
//! block of its own; a command may also say that it means the block of the engine that runs it.

use std::borrow::Cow;

/// Where the blocks of engines begin.
const BASES: &[(u32, &str)] = &[
    (0x2000, "rcs0"),
    (0x1_a000, "ccs0"),
    (0x1_c000, "ccs1"),
    (0x1_e000, "ccs2"),
    (0x2_2000, "bcs0"),
    (0x2_6000, "ccs3"),
    (0x1c_0000, "vcs0"),
    (0x1c_4000, "vcs1"),
    (0x1c_8000, "vecs0"),
    (0x1d_0000, "vcs2"),
    (0x1d_4000, "vcs3"),
    (0x1d_8000, "vecs1"),
    (0x1e_0000, "vcs4"),
    (0x1e_4000, "vcs5"),
    (0x1e_8000, "vecs2"),
    (0x1f_0000, "vcs6"),
    (0x1f_4000, "vcs7"),
    (0x1f_8000, "vecs3"),
];

/// In each block.
const BLOCK: &[(u32, &str)] = &[
    (0x028, "EXCC"),
    (0x030, "RING_TAIL"),
    (0x034, "RING_HEAD"),
    (0x038, "RING_START"),
    (0x03c, "RING_CTL"),
    (0x050, "PSMI_CTL"),
    (0x05c, "ACTHD_UDW"),
    (0x060, "DMA_FADD_UDW"),
    (0x064, "IPEIR"),
    (0x068, "IPEHR"),
    (0x06c, "INSTDONE"),
    (0x070, "INSTPS"),
    (0x074, "ACTHD"),
    (0x078, "DMA_FADD"),
    (0x080, "HWS_PGA"),
    (0x084, "CMD_BUF_CCTL"),
    (0x08c, "RING_ID"),
    (0x094, "NOPID"),
    (0x098, "HWSTAM"),
    (0x09c, "MI_MODE"),
    (0x0a4, "INT_SRC_REPORT_PTR"),
    (0x0a8, "IMR"),
    (0x0ac, "INT_STATUS_REPORT_PTR"),
    (0x0b0, "EIR"),
    (0x0b4, "EMR"),
    (0x0b8, "ESR"),
    (0x0c0, "INSTPM"),
    (0x0c4, "CMD_CCTL"),
    (0x0c8, "R_PWR_CLK_STATE"),
    (0x0d0, "RESET_CTL"),
    (0x0d4, "CSFE_CHICKEN1"),
    (0x110, "BB_STATE"),
    (0x134, "UHPTR"),
    (0x140, "BB_HEAD"),
    (0x150, "BB_START_ADDR"),
    (0x154, "BB_ADD_DIFF"),
    (0x158, "BB_OFFSET"),
    (0x168, "BB_HEAD_UDW"),
    (0x170, "BB_START_ADDR_UDW"),
    (0x178, "PR_CTR_CTL"),
    (0x17c, "PR_CTR_THRSH"),
    (0x180, "CCID"),
    (0x1b8, "CS_INT_VEC"),
    (0x1c0, "BB_PER_CTX_PTR"),
    (0x1c4, "INDIRECT_CTX"),
    (0x1c8, "INDIRECT_CTX_OFFSET"),
    (0x1fc, "PREDICATION_MASK"),
    (0x200, "SWCTRL"),
    (0x204, "BLIT_CCTL"),
    (0x230, "ELSP"),
    (0x234, "EXECLIST_STATUS"),
    (0x238, "EXECLIST_STATUS_UDW"),
    (0x240, "CURRENT_LRCA"),
    (0x244, "CTX_CONTROL"),
    (0x24c, "SEMA_WAIT_POLL"),
    (0x29c, "GFX_MODE"),
    (0x2b4, "SEMAPHORE_TOKEN"),
    (0x358, "TIMESTAMP"),
    (0x35c, "TIMESTAMP_UDW"),
    (0x3a0, "CONTEXT_STATUS_PTR"),
    (0x3a8, "CTX_TIMESTAMP"),
    (0x3b4, "CS_MI_ADDRESS_OFFSET"),
    (0x3b8, "MI_SET_PREDICATE_RESULT"),
    (0x3bc, "MI_PREDICATE_RESULT_2"),
    (0x400, "MI_PREDICATE_SRC0"),
    (0x404, "MI_PREDICATE_SRC0_UDW"),
    (0x408, "MI_PREDICATE_SRC1"),
    (0x40c, "MI_PREDICATE_SRC1_UDW"),
    (0x410, "MI_PREDICATE_DATA"),
    (0x414, "MI_PREDICATE_DATA_UDW"),
    (0x418, "MI_PREDICATE_RESULT"),
    (0x41c, "MI_PREDICATE_RESULT_1"),
    (0x550, "EXECLIST_CONTROL"),
    (0x580, "CS_CHICKEN1"),
];

/// Rows of registers in each block: the first one, the number of them, and dwords of each.
const ROWS: &[(u32, u32, u32, &str)] = &[
    (0x270, 4, 2, "PDP"),
    (0x4d0, 12, 1, "FORCE_TO_NONPRIV"),
    (0x510, 8, 2, "EXECLIST_SQ_CONTENTS"),
    (0x600, 16, 2, "CS_GPR"),
];

/// Of the device.
const SINGLE: &[(u32, &str)] = &[
    (0x0d00, "RPM_CONFIG0"),
    (0x0fdc, "MCR_SELECTOR"),
    (0x4900, "TILE0_ADDR_RANGE"),
    (0x4910, "FLAT_CCS_BASE_ADDR"),
    (0x941c, "GDRST"),
    (0xceb8, "FAULT_TLB_DATA0"),
    (0xcebc, "FAULT_TLB_DATA1"),
    (0xcec4, "RING_FAULT"),
    (0xced8, "GFX_TLB_INV_CR"),
    (0xcedc, "VD_TLB_INV_CR"),
    (0xcee0, "VE_TLB_INV_CR"),
    (0xcee4, "BLT_TLB_INV_CR"),
    (0xcf04, "COMPCTX_TLB_INV_CR"),
    (0x1_4800, "RCU_MODE"),
    (0x1_4804, "CCS_MODE"),
];

/// The name of a place in a block.
fn in_block(offset: u32) -> Option<Cow<'static, str>> {
    if let Some((_, name)) = BLOCK.iter().find(|r| r.0 == offset) {
        return Some(Cow::Borrowed(name));
    }
    let row = |r: &&(u32, u32, u32, &str)| (r.0..r.0 + 4 * r.1 * r.2).contains(&offset);
    let (first, _, dwords, name) = ROWS.iter().find(row)?;
    let dword = (offset - first) / 4;
    let half = match dwords {
        1 => "",
        _ if dword.is_multiple_of(2) => "",
        _ => "_UDW",
    };
    Some(Cow::Owned(format!("{name}{}{half}", dword / dwords)))
}

/// A register's name. An offset below all blocks is one in the block of the engine that runs the command.
pub fn name(offset: u32) -> Option<Cow<'static, str>> {
    if let Some((_, name)) = SINGLE.iter().find(|r| r.0 == offset) {
        return Some(Cow::Borrowed(name));
    }
    if offset < 0x800 {
        return in_block(offset);
    }
    let (base, engine) = BASES
        .iter()
        .find(|b| (b.0..b.0 + 0x800).contains(&offset))?;
    let name = in_block(offset - base)?;
    Some(Cow::Owned(format!("{engine} {name}")))
}

#[cfg(test)]
mod tests {
    use super::name;

    /// Offsets of the digest §3.1 to §3.3.
    #[test]
    fn names() {
        for (offset, expected) in [
            (0x0209c, Some("rcs0 MI_MODE")),
            (0x22244, Some("bcs0 CTX_CONTROL")),
            (0x1c0358, Some("vcs0 TIMESTAMP")),
            (0x1d8030, Some("vecs1 RING_TAIL")),
            (0x1a604, Some("ccs0 CS_GPR0_UDW")),
            (0x02678, Some("rcs0 CS_GPR15")),
            (0x002510, Some("rcs0 EXECLIST_SQ_CONTENTS0")),
            (0x004d4, Some("FORCE_TO_NONPRIV1")),
            (0x00244, Some("CTX_CONTROL")),
            (0x0cec4, Some("RING_FAULT")),
            (0x02000, None),
            (0x02800, None),
            (0x1c2800, None),
        ] {
            assert_eq!(name(offset).as_deref(), expected, "{offset:#x}");
        }
    }
}
