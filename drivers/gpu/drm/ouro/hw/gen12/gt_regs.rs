// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of the device that belong to no engine. The document has none of them; offsets and
//! bits are those of digest §3.3 and §5, cited by row or section.

pub(super) use crate::intel::gt_regs::*;

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Frequency of the clock behind timestamps (§3.3 row 1).
pub(super) const RPM_CONFIG0: u32 = 0x0d00;

/// [`RPM_CONFIG0`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct RpmConfig {
    #[bits(1)]
    __: u8,
    /// Bits 2:1: the clock is divided by two, `3 - shift` times.
    #[bits(2)]
    pub(super) shift: u8,
    /// Bits 5:3: the crystal: 24, 19.2, 38.4 or 25 MHz.
    #[bits(3)]
    pub(super) crystal: u8,
    #[bits(26)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<RpmConfig>(), 4);

/// Selects the instance of multicast registers: one selector for each kind (§3.3 row 2).
pub(super) const STEER_CONFIG: u32 = 0x0fd0;
/// The selector of the copy fabric.
pub(super) const STEER_SF: u32 = 0x0fd8;
/// The selector of slices.
pub(super) const STEER_SLICE: u32 = 0x0fdc;
/// The selector of the translation units.
pub(super) const STEER_GAM: u32 = 0x0fe0;

/// A selector (§5.7).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Steer {
    #[bits(24)]
    __: u32,
    /// Bits 26:24: the instance.
    #[bits(3)]
    pub(super) instance: u8,
    /// Bits 30:27: the group.
    #[bits(4)]
    pub(super) group: u8,
    /// Bit 31: writes go to all instances.
    pub(super) multicast: bool,
}
const_assert_eq!(core::mem::size_of::<Steer>(), 4);

/// Cache control of eight page kinds (§3.3 row 5).
pub(super) const PAT_INDEX: u32 = 0x4800;
/// Size of the local memory (§3.3 row 6).
pub(super) const TILE0_ADDR_RANGE: u32 = 0x4900;
/// Start of the CCS behind it (§3.3 row 7).
pub(super) const FLAT_CCS_BASE_ADDR: u32 = 0x4910;
/// Execution units of all subslices: bits 7:0, two units each (§3.3 row 9).
pub(super) const EU_FUSE: u32 = 0x9134;
/// Subslices that can render (§3.3 row 9).
pub(super) const GEOMETRY_DSS: u32 = 0x913c;
/// Whether the compute engines' slices are enabled (§3.3 row 9).
pub(super) const COMPUTE_DSS: u32 = 0x9144;
/// Existing media engines (§3.3 row 9).
pub(super) const MEDIA_FUSE: u32 = 0x9140;

/// [`MEDIA_FUSE`]: ones are existing engines (§5.3).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct MediaFuse {
    /// Bits 7:0: video decoders.
    pub(super) video: u8,
    __: u8,
    /// Bits 19:16: video enhancers.
    #[bits(4)]
    pub(super) enhance: u8,
    #[bits(12)]
    __: u16,
}
const_assert_eq!(core::mem::size_of::<MediaFuse>(), 4);

/// Bit 2 of [`GDRST`]: the blitter.
pub(super) const GDRST_BLITTER: u32 = 1 << 2;
/// Bit 5 of [`GDRST`]: the first video decoder; the others follow by their instances.
pub(super) const GDRST_VIDEO: u32 = 1 << 5;
/// Bit 13 of [`GDRST`]: the first video enhancer; the others follow.
pub(super) const GDRST_ENHANCE: u32 = 1 << 13;
/// Bit 17 of [`GDRST`]: the scaler of the first two decoders and the first enhancer; the others
/// follow.
pub(super) const GDRST_SCALER: u32 = 1 << 17;

/// Forcewake domains that are awake (the upstream driver's `gt/intel_gt_regs.h`, Linux 7.3).
pub(super) const WELL_STATUS: u32 = 0xa2a0;

/// L3 cache control of 64 indices, two in a dword (§3.3 row 14).
pub(super) const LNCF_MOCS: u32 = 0xb020;

/// The first page fault (§3.3 row 15).
pub(super) const RING_FAULT: u32 = 0xcec4;
/// Its address, bits 43:12.
pub(super) const FAULT_TLB_DATA0: u32 = 0xceb8;
/// Its address, bits 47:44, and the table.
pub(super) const FAULT_TLB_DATA1: u32 = 0xcebc;

/// [`RING_FAULT`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct RingFault {
    /// Bit 0: there was a fault.
    pub(super) valid: bool,
    /// Bits 2:1: its kind.
    #[bits(2)]
    pub(super) kind: u8,
    /// Bits 10:3: the faulting unit.
    pub(super) source: u8,
    #[bits(1)]
    __: u8,
    /// Bits 16:12: the engine, in numbers that no source explains.
    #[bits(5)]
    pub(super) engine: u8,
    #[bits(15)]
    __: u16,
}
const_assert_eq!(core::mem::size_of::<RingFault>(), 4);

/// [`FAULT_TLB_DATA1`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct FaultData1 {
    /// Bits 3:0: bits 47:44 of the address.
    #[bits(4)]
    pub(super) high: u8,
    /// Bit 4: through the GGTT.
    pub(super) global: bool,
    #[bits(27)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<FaultData1>(), 4);

/// Enables compute engines; masked (§3.3 row 18).
pub(super) const RCU_MODE: u32 = 0x1_4800;
/// Bit 0 of [`RCU_MODE`]: enable.
pub(super) const RCU_MODE_COMPUTE: u16 = 1 << 0;
/// Bit 1 of [`RCU_MODE`]: slices are assigned by [`CCS_MODE`], not by load. (This bit and the next
/// register are from the upstream driver, `gt/intel_gt_regs.h`, Linux 7.3, and from Intel's test
/// harness.)
pub(super) const RCU_MODE_FIXED: u16 = 1 << 1;
/// The compute engine of each slice: three bits for each of four; masked by 27:16.
pub(super) const CCS_MODE: u32 = 0x1_4804;
/// Existing bits of [`CCS_MODE`].
pub(super) const CCS_MODE_ALL: u16 = 0xfff;

/// State of the device as a whole (§3.3 row 19).
pub(super) const GU_CNTL: u32 = 0x10_1010;
/// Bit 7 of [`GU_CNTL`]: its memory is initialized (§5.9).
pub(super) const GU_CNTL_MEMORY: u32 = 1 << 7;

/// The address range reserved for the firmware's processor (WOPCM); bit 0: locked (§3.3 row 23).
pub(super) const GUC_WOPCM_SIZE: u32 = 0xc050;
/// Its offset for that processor; bit 0: locked (§3.3 row 23).
pub(super) const DMA_GUC_WOPCM_OFFSET: u32 = 0xc340;
/// Bit 0 of both.
pub(super) const WOPCM_LOCKED: u32 = 1 << 0;

/// Commands to the power controller (§5.9).
pub(super) const PCODE_MAILBOX: u32 = 0x13_8124;
/// Bit 31 of [`PCODE_MAILBOX`]: busy.
pub(super) const PCODE_BUSY: u32 = 1 << 31;
/// Its answer (§5.9).
pub(super) const PCODE_DATA: u32 = 0x13_8128;
/// Its answer, bits 63:32 (§3.3 row 22).
pub(super) const PCODE_DATA1: u32 = 0x13_812c;

/// First level of interrupts: the tiles; bit 31 is the enable (§5.8).
pub(super) const TILE_INTERRUPT: u32 = 0x19_0008;
/// Second level (§5.8).
pub(super) const MASTER_INTERRUPT: u32 = 0x19_0010;
/// Bits 1:0 of [`MASTER_INTERRUPT`]: the two words of engines. Others: display (16), graphics
/// miscellany (29), power controller (30).
pub(super) const MASTER_WORDS: u32 = 0b11;
/// Bit 31 of both.
pub(super) const INTERRUPT_ENABLE: u32 = 1 << 31;
/// Bit 0 of [`TILE_INTERRUPT`]: tile 0.
pub(super) const TILE0: u32 = 1 << 0;
/// Third level: two words with a bit for each engine (§5.8).
pub(super) const GT_INTERRUPT: [u32; 2] = [0x19_0018, 0x19_001c];
/// Selects the bit whose identity is latched (§5.8).
pub(super) const IDENTITY_SELECTOR: [u32; 2] = [0x19_0070, 0x19_0074];
/// The latched identity (§5.8).
pub(super) const IDENTITY: [u32; 2] = [0x19_0060, 0x19_0064];

/// [`IDENTITY`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct Identity {
    /// Bits 15:0: the engine's interrupts.
    pub(super) vector: u16,
    /// Bits 18:16: class of the engine.
    #[bits(3)]
    pub(super) class: u8,
    #[bits(1)]
    __: u8,
    /// Bits 25:20: its number within the class.
    #[bits(6)]
    pub(super) instance: u8,
    #[bits(5)]
    __: u8,
    /// Bit 31: the identity is valid. Writing one acknowledges it.
    pub(super) valid: bool,
}
const_assert_eq!(core::mem::size_of::<Identity>(), 4);

/// Enables of interrupts: render in bits 31:16, blitter in 15:0 (§5.8).
pub(super) const ENABLE_RENDER_COPY: u32 = 0x19_0030;
/// Enables: video in both halves.
pub(super) const ENABLE_VIDEO: u32 = 0x19_0034;
/// Enables: compute in bits 31:16.
pub(super) const ENABLE_COMPUTE: u32 = 0x19_0048;

/// Enables and masks of sources in these words that are no engines: the GuC, the power manager, the
/// cipher unit and the system controller. (These and the next two are from the upstream driver,
/// `gt/intel_gt_regs.h` and `intel_gmd_interrupt_regs.h`, Linux 7.3.)
pub(super) const UNITS_INTERRUPT: [(u32, u32); 4] = [
    (0x19_0038, 0x19_00e8),
    (0x19_003c, 0x19_00ec),
    (0x19_0040, 0x19_00f0),
    (0x19_0044, 0x19_00f4),
];
/// Bit 31 enables all interrupts of the display.
pub(super) const DISPLAY_INTERRUPT: u32 = 0x4_4200;
/// Graphics miscellany and power controller: mask, enable, and pending, where ones clear.
pub(super) const OTHERS_INTERRUPT: [(u32, u32, u32); 2] = [
    (0x4_44f4, 0x4_44fc, 0x4_44f8),
    (0x4_44e4, 0x4_44ec, 0x4_44e8),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_digest_says() {
        let steer = Steer::new().with_multicast(true).with_group(1);
        assert_eq!(steer.into_bits(), 0x8800_0000);
        assert_eq!(Steer::new().with_instance(7).into_bits(), 0x0700_0000);
        let fuse = MediaFuse::from_bits(0x0003_0005);
        assert_eq!((fuse.video(), fuse.enhance()), (5, 3));
        let rpm = RpmConfig::from_bits(0b01_0110);
        assert_eq!((rpm.crystal(), rpm.shift()), (2, 3));
        let fault = RingFault::from_bits(0x0001_f7ff);
        assert!(fault.valid());
        assert_eq!(
            (fault.kind(), fault.source(), fault.engine()),
            (3, 0xff, 31)
        );
        let data = FaultData1::from_bits(0x1f);
        assert_eq!((data.high(), data.global()), (15, true));
        let identity = Identity::from_bits(0x8235_0109);
        assert!(identity.valid());
        assert_eq!(
            (identity.instance(), identity.class(), identity.vector()),
            (0x23, 5, 0x109)
        );
    }
}
