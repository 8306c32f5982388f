// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Registers of the host path, the command processor and the units that the driver itself writes.
//!
//! The document names them and gives no offset. Those, and bits that no section defines, are of
//! digest §3.1 to §3.3 and §5.2.

use bitfield_struct::bitfield;
use static_assertions::const_assert_eq;

/// Index of the clock registers: bits 5:0, bit 7 to write. Other bits are not ours (digest §5.2).
pub(super) const CLOCK_CNTL_INDEX: u32 = 0x0008;
/// Data of the clock registers.
pub(super) const CLOCK_CNTL_DATA: u32 = 0x000c;
/// Index and data of the registers of the bus interface (digest §5.2).
pub(super) const PCIE_INDEX: u32 = 0x0030;
/// See [`PCIE_INDEX`].
pub(super) const PCIE_DATA: u32 = 0x0034;
/// Which interrupts are let through.
pub(super) const GEN_INT_CNTL: u32 = 0x0040;
/// Which interrupts are pending; a one clears.
pub(super) const GEN_INT_STATUS: u32 = 0x0044;
/// Index and data of the registers of the memory controller.
pub(super) const MC_INDEX: u32 = 0x0070;
/// See [`MC_INDEX`].
pub(super) const MC_DATA: u32 = 0x0074;
/// Reset of units, a bit each.
pub(super) const RBBM_SOFT_RESET: u32 = 0x00f0;
/// Bytes of the card's memory.
pub(super) const CONFIG_MEMSIZE: u32 = 0x00f8;
/// Half of the bytes of it that the CPU sees, as it is set up here.
pub(super) const CONFIG_APER_SIZE: u32 = 0x0108;
/// The CPU's path to the card's memory.
pub(super) const HOST_PATH_CNTL: u32 = 0x0130;
/// Where the card's memory is for that path, in 64 KiB.
pub(super) const HDP_FB_LOCATION: u32 = 0x0134;
/// A write lets the next message be sent.
pub(super) const MSI_REARM_EN: u32 = 0x0160;

/// Where the ring is.
pub(super) const CP_RB_BASE: u32 = 0x0700;
/// See [`RbCntl`].
pub(super) const CP_RB_CNTL: u32 = 0x0704;
/// Where the read pointer is repeated (§4.4).
pub(super) const CP_RB_RPTR_ADDR: u32 = 0x070c;
/// The read pointer, in dwords.
pub(super) const CP_RB_RPTR: u32 = 0x0710;
/// The write pointer, in dwords.
pub(super) const CP_RB_WPTR: u32 = 0x0714;
/// How long a write of the write pointer waits for another one (§4.5).
pub(super) const CP_RB_WPTR_DELAY: u32 = 0x0718;
/// What the read pointer becomes with the next write of the write pointer (§4.8).
pub(super) const CP_RB_RPTR_WR: u32 = 0x071c;
/// Where the indirect buffer is (§4.10).
pub(super) const CP_IB_BASE: u32 = 0x0738;
/// Which streams are fetched, and how (§4.11).
pub(super) const CP_CSQ_CNTL: u32 = 0x0740;
/// How the queue is shared between the streams.
pub(super) const CP_CSQ_MODE: u32 = 0x0744;
/// Which scratch registers are repeated in memory (§4.9).
pub(super) const SCRATCH_UMSK: u32 = 0x0770;
/// DMA address of the scratch write-back (§4.9).
pub(super) const SCRATCH_ADDR: u32 = 0x0774;
/// What the command processor does.
pub(super) const CP_STAT: u32 = 0x07c0;
/// Index of the microcode's memory (§4.12).
pub(super) const CP_ME_RAM_ADDR: u32 = 0x07d4;
/// Upper 8 bits of a word.
pub(super) const CP_ME_RAM_DATAH: u32 = 0x07dc;
/// Lower 32 bits; writing them writes the word.
pub(super) const CP_ME_RAM_DATAL: u32 = 0x07e0;
/// Pointers of the queue: ring read 9:0, ring write 19:10, indirect buffer read 29:20.
pub(super) const CP_CSQ_STAT: u32 = 0x07f8;
/// Scratch register 0.
pub(super) const SCRATCH_REG0: u32 = 0x15e0;

/// What the units do; see [`super::names::UNITS`].
pub(super) const RBBM_STATUS: u32 = 0x0e40;
/// Directions of the 2D engine.
pub(super) const DP_CNTL: u32 = 0x16c0;
/// [`DP_CNTL`]: columns to the right, rows down, no tiles.
pub(super) const DP_RIGHT_DOWN: u32 = 3;
/// The same as [`DP_CNTL`], in the layout of later register lists.
pub(super) const DP_CNTL_XDIR_YDIR_YMAJOR: u32 = 0x16d0;
/// [`DP_CNTL_XDIR_YDIR_YMAJOR`]: columns to the right (31), rows down (15).
pub(super) const DP_XDIR_YDIR: u32 = 1 << 31 | 1 << 15;
/// How the pipes are found.
pub(super) const DST_PIPE_CONFIG: u32 = 0x170c;
/// Flush of the 2D engine's cache.
pub(super) const DSTCACHE_CTLSTAT: u32 = 0x1714;
/// Waiting for units (§4.9).
pub(super) const WAIT_UNTIL: u32 = 0x1720;
/// What the 2D and the 3D engine wait for by themselves.
pub(super) const ISYNC_CNTL: u32 = 0x1724;
/// Mode of the 2D engine's cache.
pub(super) const RB2D_DSTCACHE_MODE: u32 = 0x3428;
/// How the screen is cut into tiles and shared between pipes.
pub(super) const GB_TILE_CONFIG: u32 = 0x4018;
/// Fuses: which pipes there are.
pub(super) const GB_PIPE_SELECT: u32 = 0x402c;
/// Which textures' caches are dropped: all, by any write.
pub(super) const TX_INVALTAGS: u32 = 0x4100;
/// Fuses of units of depth, RV530.
pub(super) const GB_PIPE_SELECT2: u32 = 0x4124;
/// Queue sizes, RV530.
pub(super) const GB_FIFO_SIZE2: u32 = 0x4128;
/// Workarounds of the setup unit.
pub(super) const GA_ENHANCE: u32 = 0x4274;
/// Which pipes get what is written to registers behind this one, a bit each.
pub(super) const SU_REG_DEST: u32 = 0x42c8;
/// [`SU_REG_DEST`]: all that there may be.
pub(super) const ALL_PIPES: u32 = 0xf;
/// Mask of Z pipes that following ZB writes reach (RV530).
pub(super) const FG_ZBREG_DEST: u32 = 0x4be8;
/// [`FG_ZBREG_DEST`]: both.
pub(super) const ALL_DEPTH_PIPES: u32 = 3;
/// First corner of the scissor; the second one follows.
pub(super) const SC_SCISSOR0: u32 = 0x43e0;
/// Flush of the colour cache.
pub(super) const RB3D_DSTCACHE_CTLSTAT: u32 = 0x4e4c;
/// Flush of the depth cache.
pub(super) const ZB_ZCACHE_CTLSTAT: u32 = 0x4f18;
/// Which events of the display interrupt.
pub(super) const DXMODE_INT_MASK: u32 = 0x6540;

/// [`GEN_INT_CNTL`] and [`GEN_INT_STATUS`]: the ring's own interrupt.
pub(super) const SW_INT: u32 = 1 << 25;
/// [`GEN_INT_STATUS`]: raises it.
pub(super) const SW_INT_FIRE: u32 = 1 << 26;
/// [`GEN_INT_STATUS`]: an access outside all memory ranges.
pub(super) const MC_PROBE_FAULT: u32 = 1 << 16;
/// [`GEN_INT_STATUS`]: an access that is not allowed.
pub(super) const MC_PROTECTION_FAULT: u32 = 1 << 21;
/// [`HOST_PATH_CNTL`]: the CPU sees twice the aperture's size.
pub(super) const HDP_APER_CNTL: u32 = 1 << 23;
/// [`HOST_PATH_CNTL`]: drops what was read for the CPU ahead.
pub(super) const HDP_READ_BUFFER_INVALIDATE: u32 = 1 << 27;
/// [`CP_CSQ_CNTL`]: ring and indirect buffers are fetched by the chip (§4.11, row B2).
pub(super) const CSQ_PRIBM_INDBM: u32 = 4 << 28;
/// [`CP_CSQ_MODE`]: where the parts of the queue begin (digest §5.2).
pub(super) const CSQ_MODE_STARTS: u32 = 0x0000_4d4d;
/// [`RBBM_STATUS`]: the command processor's stream is.
pub(super) const CP_STREAM_BUSY: u32 = 1 << 16;
/// [`RBBM_STATUS`]: anything of the 2D or 3D engine is busy.
pub(super) const GUI_ACTIVE: u32 = 1 << 31;
/// [`RBBM_STATUS`]: setup is busy.
pub(super) const GA_BUSY: u32 = 1 << 26;
/// [`RBBM_STATUS`]: vertices are.
pub(super) const VAP_BUSY: u32 = 1 << 20;
/// [`RBBM_STATUS`]: E2 and RB2D of the 2D engine (17, 18); RB3D (19); RE, TAM, TDM, PB, TIM (21 to
/// 25) of the 3D engine, by their public names.
pub(super) const PIXELS_BUSY: u32 = 0x7 << 17 | 0x1f << 21;
/// [`RBBM_SOFT_RESET`]: the command processor.
pub(super) const RESET_CP: u32 = 1 << 0;
/// [`RBBM_SOFT_RESET`]: vertices.
pub(super) const RESET_VAP: u32 = 1 << 2;
/// [`RBBM_SOFT_RESET`]: RE, PP, E2 and RB: raster, pixels, the 2D engine, and what writes to memory
/// (bits 3 to 6, by their public names).
pub(super) const RESET_PIXELS: u32 = 0xf << 3;
/// [`RBBM_SOFT_RESET`]: the memory controller.
pub(super) const RESET_MC: u32 = 1 << 8;
/// [`RBBM_SOFT_RESET`]: setup.
pub(super) const RESET_GA: u32 = 1 << 13;
/// [`WAIT_UNTIL`]: the engine of general copies is idle.
pub(super) const WAIT_DMA_GUI_IDLE: u32 = 1 << 9;
/// [`WAIT_UNTIL`]: the 2D engine is idle and its cache clean.
pub(super) const WAIT_2D_IDLECLEAN: u32 = 1 << 16;
/// [`WAIT_UNTIL`]: the 3D engine is idle and its caches clean.
pub(super) const WAIT_3D_IDLECLEAN: u32 = 1 << 17;
/// [`DSTCACHE_CTLSTAT`]: flush all.
pub(super) const DSTCACHE_FLUSH_ALL: u32 = 0xf;
/// [`RB3D_DSTCACHE_CTLSTAT`]: flush and free.
pub(super) const COLOUR_FLUSH_FREE: u32 = 0xa;
/// [`ZB_ZCACHE_CTLSTAT`]: flush and free.
pub(super) const DEPTH_FLUSH_FREE: u32 = 0x3;

/// [`CP_RB_CNTL`] (§4.8 names the last bit only).
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct RbCntl {
    /// Bits 5:0: the logarithm of the ring's quadwords.
    #[bits(6)]
    pub(super) size: u8,
    #[bits(2)]
    __: u8,
    /// Bits 13:8: the logarithm of the quadwords after which the read pointer is repeated.
    #[bits(6)]
    pub(super) block: u8,
    #[bits(2)]
    __: u8,
    /// Bits 17:16: order of bytes.
    #[bits(2)]
    pub(super) swap: u8,
    /// Bits 19:18: how much is fetched at once.
    #[bits(2)]
    pub(super) fetch: u8,
    #[bits(7)]
    __: u8,
    /// Bit 27: the read pointer is not repeated.
    pub(super) no_update: bool,
    #[bits(3)]
    __: u8,
    /// Bit 31: [`CP_RB_RPTR_WR`] counts.
    pub(super) set_rptr: bool,
}
const_assert_eq!(core::mem::size_of::<RbCntl>(), 4);

/// [`GB_PIPE_SELECT`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct PipeSelect {
    #[bits(8)]
    __: u8,
    /// Bits 11:8: which ones there are, a bit each.
    #[bits(4)]
    pub(super) enabled: u8,
    /// Bits 13:12: how many, less one.
    #[bits(2)]
    pub(super) count_less_one: u8,
    #[bits(18)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<PipeSelect>(), 4);

/// [`GB_TILE_CONFIG`].
#[bitfield(u32)]
#[derive(PartialEq, Eq)]
pub(super) struct TileConfig {
    /// Bit 0.
    pub(super) enable: bool,
    /// Bits 3:1: pipes, by a code.
    #[bits(3)]
    pub(super) pipes: u8,
    /// Bits 5:4: 0, 1, 2 for 8, 16, 32 pixels.
    #[bits(2)]
    pub(super) size: u8,
    #[bits(26)]
    __: u32,
}
const_assert_eq!(core::mem::size_of::<TileConfig>(), 4);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_digest_3_1_says() {
        // Digest §4.3: 1 MiB of ring (17), a block of 4 KiB (9), MAX_FETCH 1.
        let cntl = RbCntl::new().with_size(17).with_block(9).with_fetch(1);
        assert_eq!(cntl.into_bits(), 0x0004_0911);
        assert_eq!(RbCntl::new().with_no_update(true).into_bits(), 0x0800_0000);
        assert_eq!(RbCntl::new().with_set_rptr(true).into_bits(), 0x8000_0000);
        assert_eq!(RbCntl::new().with_swap(3).into_bits(), 0x0003_0000);
        // Digest §5.5: 3f00 is four pipes.
        let four = PipeSelect::from_bits(0x3f00);
        assert_eq!((four.count_less_one(), four.enabled()), (3, 15));
        // Digest §5.2: (7 << 1) | 1 << 4 | 1.
        let tiles = TileConfig::new()
            .with_enable(true)
            .with_pipes(7)
            .with_size(1);
        assert_eq!(tiles.into_bits(), 0x1f);
    }
}
