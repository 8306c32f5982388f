// SPDX-License-Identifier: GPL-2.0
//! Names of registers that Gen7 adds to those of Gen6, by byte offset (VCS PRM 1.1; what it leaves out
//! from the digest of Gen7, V-04, V-06, V-09, V-24, and the upstream driver's headers).

use crate::gen6::registers::{find, table, COMMON};
use std::borrow::Cow;

table! {
    OWN: block [
        0x110 "BB_STATE"
        0x144 "2nd level batch address"
        0x178 "CNTR"
        0x17c "THRSH"
        0x224 "PP_DCLV (high)"
        0x29c "MODE"
        0x35c "TIMESTAMP (high)"
        0x518 "PP_DIR_BASE_READ"
    ] single [
        0x021a8 "rcs CXT_SIZE"
        0x04090 "GAM_ECOCHK"
        0x04180 "vcs HWS_PGA"
        0x04280 "bcs HWS_PGA"
        0x05070 "skin Y"
        0x05074 "skin pixels"
        0x05280 "SO_WRITE_OFFSET0"
        0x05284 "SO_WRITE_OFFSET1"
        0x05288 "SO_WRITE_OFFSET2"
        0x0528c "SO_WRITE_OFFSET3"
        0x07000 "CACHE_MODE_0"
        0x07004 "CACHE_MODE_1"
        0x07008 "GT_MODE"
        0x07010 "COMMON_SLICE_CHICKEN1"
        0x0a180 "ECOBUS"
        0x0a188 "FORCEWAKE_MT"
        0x0a18c "FORCEWAKE"
        0x0b01c "L3CNTLREG1"
        0x0b020 "L3CNTLREG2"
        0x0b024 "L3CNTLREG3"
        0x0b030 "L3_CHICKEN_MODE_REGISTER"
        0x0b034 "L3SQCREG4"
        0x0b100 "L3SQCREG1"
        0x120a0 "GAC_MODE"
        0x121a8 "vcs CXT_SIZE"
        0x124c8 "vcs PREEMPTION_HINT_UDW"
        0x14040 "GFX_PEND_TLB"
        0x14050 "GAC_ARB_CTL"
        0x14090 "GAC_ECO_BITS"
        0x14700 "TLBPEND_VLD0"
        0x14704 "TLBPEND_VLD1"
        0x14708 "TLBPEND_RDY0"
        0x1470c "TLBPEND_RDY1"
        0x14780 "TLB064_VLD0"
        0x14784 "TLB064_VLD1"
        0x14788 "TLB132_VLD0"
        0x1478c "TLB132_VLD1"
        0x14790 "TLB232_VLD0"
        0x14794 "TLB232_VLD1"
        0x14798 "TLB304_VLD0"
        0x1479c "TLB304_VLD1"
        0x4f100 "sync flush cycle"
        0x130040 "FORCEWAKE_MT_ACK"
        0x130090 "FORCEWAKE_ACK"
    ]
}

/// Arrays of dwords: first offset, how many, name.
const ARRAYS: &[(u32, u32, &str)] = &[
    (0x05000, 11, "FMD variance of stream 0"),
    (0x0502c, 2, "GNE of stream 0"),
    (0x05034, 11, "FMD variance of stream 1"),
    (0x05060, 2, "GNE of stream 1"),
    (0x05080, 64, "ACE histogram"),
    (0x14400, 64, "TLBPEND_SEC0"),
    (0x14500, 64, "TLBPEND_SEC1"),
    (0x14600, 64, "TLBPEND_SEC2"),
    (0x14800, 64, "TLB064_VA"),
    (0x14900, 64, "TLB132_VA"),
    (0x14a00, 64, "TLB232_VA"),
    (0x14b00, 64, "TLB304_VA"),
];

/// A register's name.
pub fn name(offset: u32) -> Option<Cow<'static, str>> {
    if let Some(name) = find(&[COMMON, OWN], offset) {
        return Some(Cow::Borrowed(name));
    }
    let (first, _, name) = ARRAYS
        .iter()
        .find(|(first, count, _)| (*first..first + count * 4).contains(&offset))?;
    Some(Cow::Owned(format!("{name}[{}]", (offset - first) / 4)))
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names() {
        // VCS PRM, headings and addresses: 1.1.2.1, 1.1.2.2.1, 1.1.3.4, 1.1.4, 1.1.5.1, 1.1.9.
        for (offset, expected) in [
            (0x12220, "vcs PP_DCLV"),
            (0x04180, "vcs HWS_PGA"),
            (0x1229c, "vcs MODE"),
            (0x2203c, "bcs RING_CTL"),
            (0x02134, "rcs UHPTR"),
            (0x12178, "vcs CNTR"),
            (0x1217c, "vcs THRSH"),
            (0x121a8, "vcs CXT_SIZE"),
            (0x14050, "GAC_ARB_CTL"),
            (0x14804, "TLB064_VA[1]"),
            (0x14bfc, "TLB304_VA[63]"),
            (0x145fc, "TLBPEND_SEC1[63]"),
            (0x05028, "FMD variance of stream 0[10]"),
            (0x05060, "GNE of stream 1[0]"),
            (0x0517c, "ACE histogram[63]"),
        ] {
            assert_eq!(name(offset).as_deref(), Some(expected), "{offset:#x}");
        }
        // Gen6's own places.
        for gone in [0x14080, 0x24080, 0x2520, 0x12198, 0x05180] {
            assert_eq!(name(gone), None, "{gone:#x}");
        }
    }
}
