// SPDX-License-Identifier: GPL-2.0
//! Names of registers that commands load and store, by byte offset. Each engine has a block of its
//! own at 0x2000, 0x12000 or 0x22000 (the upstream driver's headers; SNB PRM V1P2 §5 has the names).
//! Those of `COMMON` are Gen7's as well.

/// Makes the table that is named: for each engine the registers of its block, then those that only one
/// has.
macro_rules! table {
    ($table:ident: block [$($offset:literal $name:literal)*] single [$($at:literal $single:literal)*]) => {
        /// Byte offsets and names of registers.
        pub const $table: &[(u32, &str)] = &[
            $((0x2000 + $offset, concat!("rcs ", $name)),)*
            $((0x12000 + $offset, concat!("vcs ", $name)),)*
            $((0x22000 + $offset, concat!("bcs ", $name)),)*
            $(($at, $single),)*
        ];
    };
}
pub(crate) use table;

table! {
    COMMON: block [
        0x028 "EXCC"
        0x030 "RING_TAIL"
        0x034 "RING_HEAD"
        0x038 "RING_START"
        0x03c "RING_CTL"
        0x040 "SYNC_0"
        0x044 "SYNC_1"
        0x050 "PSMI_CTL"
        0x064 "IPEIR"
        0x068 "IPEHR"
        0x06c "INSTDONE"
        0x070 "INSTPS"
        0x074 "ACTHD"
        0x078 "DMA_FADD"
        0x094 "NOPID"
        0x098 "HWSTAM"
        0x09c "MI_MODE"
        0x0a8 "IMR"
        0x0b0 "EIR"
        0x0b4 "EMR"
        0x0b8 "ESR"
        0x0c0 "INSTPM"
        0x134 "UHPTR"
        0x140 "BB_ADDR"
        0x180 "CCID"
        0x220 "PP_DCLV"
        0x228 "PP_DIR_BASE"
        0x358 "TIMESTAMP"
    ]
    single [
        0x0207c "rcs INSTDONE_1"
        0x020e4 "rcs MI_ARB_STATE"
        0x02350 "rcs PS_DEPTH_COUNT"
        0x04080 "rcs HWS_PGA"
        0x04094 "rcs FAULT"
        0x04194 "vcs FAULT"
        0x04294 "bcs FAULT"
        0x0941c "GDRST"
        0x22200 "bcs BCS_SWCTRL"
    ]
}

table! {
    OWN: block [] single [
        0x02120 "rcs CACHE_MODE_0"
        0x021a0 "rcs CXT_SIZE"
        0x02520 "rcs GFX_MODE"
        0x14080 "vcs HWS_PGA"
        0x24080 "bcs HWS_PGA"
        0x12198 "vcs RNCID"
    ]
}

/// The name in one of several tables.
pub fn find(tables: &[&[(u32, &'static str)]], offset: u32) -> Option<&'static str> {
    let mut all = tables.iter().copied().flatten();
    all.find(|r| r.0 == offset).map(|r| r.1)
}

/// A register's name.
pub fn name(offset: u32) -> Option<&'static str> {
    find(&[COMMON, OWN], offset)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names() {
        assert_eq!(name(0x209c), Some("rcs MI_MODE"));
        assert_eq!(name(0x120c0), Some("vcs INSTPM"));
        assert_eq!(name(0x22358), Some("bcs TIMESTAMP"));
        assert_eq!(name(0x2520), Some("rcs GFX_MODE"));
        assert_eq!(name(0x2000), None);
    }
}
