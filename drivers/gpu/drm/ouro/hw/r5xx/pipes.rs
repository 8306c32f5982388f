// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Counts the pipes, and sets up all units for that number (digest §5.2, "pipes").
//!
//! Waits for idle engines between the steps, where radeon and radeonhd do: see `idle`.

use super::{
    idle,
    indirect::change_clock,
    regs::{self, PipeSelect, TileConfig},
};
use crate::{
    generation::{DeviceError, Pipes},
    io::{Hw, SleepWait},
};

/// [`regs::GB_TILE_CONFIG`]: the codes of one to four pipes.
const PIPE_CODES: [u8; 4] = [0, 3, 6, 7];
/// [`regs::GB_TILE_CONFIG`]: tiles of 16 pixels.
const TILE_16: u8 = 1;
/// [`regs::GA_ENHANCE`] while pipes are set up.
const ENHANCE_ALL: u32 = 0xf;
/// [`regs::DST_PIPE_CONFIG`]: the chip finds the pipes itself.
const PIPE_AUTO_CONFIG: u32 = 1 << 31;
/// [`regs::DST_PIPE_CONFIG`]: the selected pipe, bits 3:2.
const PIPE_CURRENT_SHIFT: u32 = 2;
/// [`regs::RB2D_DSTCACHE_MODE`]: flushes by itself; ignores the pixel engine.
const DSTCACHE_MODE: u32 = 1 << 8 | 1 << 17;
/// Clock register of the pipes.
const PIPE_CLOCKS: u32 = 0x0d;
/// [`regs::ISYNC_CNTL`]: 2D waits for 3D and 3D for 2D, on any and on trigger; register reads of an
/// idle engine (digest §3.2).
const ISYNC: u32 = 0x33;

/// [`regs::GB_PIPE_SELECT2`]: there is a second unit of depth (digest §5.2).
const SECOND_DEPTH: u32 = 3;

/// Returns the number of pipes, from the fuses.
pub(super) fn count(depth_pipes: bool, hw: &Hw<'_>) -> Pipes {
    let fuses = PipeSelect::from_bits(hw.regs.read32(regs::GB_PIPE_SELECT));
    let second = depth_pipes && hw.regs.read32(regs::GB_PIPE_SELECT2) & 3 == SECOND_DEPTH;
    Pipes {
        colour: fuses.count_less_one().wrapping_add(1),
        depth: if second { 2 } else { 1 },
    }
}

/// Sets up all units for the pipes.
pub(super) fn set_up(
    depth_pipes: bool,
    hw: &Hw<'_>,
    wait: &dyn SleepWait,
) -> Result<(), DeviceError> {
    let r = hw.regs;
    idle::engines(hw, wait)?;
    r.write32(regs::GA_ENHANCE, ENHANCE_ALL);
    idle::engines(hw, wait)?;
    let fuses = PipeSelect::from_bits(r.read32(regs::GB_PIPE_SELECT));
    let more = usize::from(fuses.count_less_one());
    if depth_pipes {
        r.write32(regs::GB_FIFO_SIZE2, 0xff);
        // The read has no use here: queries read whether there is a second unit of depth.
        let _ = r.read32(regs::GB_PIPE_SELECT2);
    }
    r.write32(
        regs::SU_REG_DEST,
        2u32.wrapping_shl(more as u32).wrapping_sub(1),
    );
    let tiles = TileConfig::new()
        .with_enable(true)
        .with_pipes(PIPE_CODES.get(more).copied().unwrap_or(0))
        .with_size(TILE_16);
    r.write32(regs::GB_TILE_CONFIG, tiles.into_bits());
    idle::engines(hw, wait)?;
    let config = r.read32(regs::DST_PIPE_CONFIG);
    r.write32(regs::DST_PIPE_CONFIG, config | PIPE_AUTO_CONFIG);
    let mode = r.read32(regs::RB2D_DSTCACHE_MODE);
    r.write32(regs::RB2D_DSTCACHE_MODE, mode | DSTCACHE_MODE);
    idle::engines(hw, wait)?;
    // The configuration may have changed the selected pipe.
    let current = r.read32(regs::DST_PIPE_CONFIG) >> PIPE_CURRENT_SHIFT & 3;
    let clocks = 1u32.wrapping_shl(current) | u32::from(fuses.enabled()) << 4;
    change_clock(r, PIPE_CLOCKS, |_| clocks);
    idle::engines(hw, wait)?;
    r.write32(regs::ISYNC_CNTL, ISYNC);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Access, Mock};

    #[test]
    fn one_to_four_pipes() {
        // Digest §5.2: codes 0, 3, 6, 7, shifted by 1; tile size 1 << 4; enable.
        for (fuses, dest, tiles, clocks) in [
            (0x0000_0100, 1, 0x11, 0x14),
            (0x0000_1300, 3, 0x17, 0x34),
            (0x0000_2700, 7, 0x1d, 0x74),
            (0x0000_3f00, 15, 0x1f, 0xf4),
        ] {
            let mock = Mock::default();
            mock.set(0x402c, fuses);
            // Pipe 2 is current.
            mock.set(0x170c, 0x0000_0008);
            mock.set(0xe40, 0x40);
            set_up(false, &mock.hw(), &mock).unwrap();
            assert!(mock.warned.borrow().is_empty());
            assert_eq!(mock.written(0x4274), [0xf]);
            assert_eq!(mock.written(0x42c8), [dest]);
            assert_eq!(mock.written(0x4018), [tiles]);
            assert_eq!(mock.written(0x170c), [0x8000_0008]);
            assert_eq!(mock.written(0x3428), [0x0002_0100]);
            assert_eq!(mock.written(0xc), [clocks]);
            assert_eq!(mock.written(0x1724), [0x33]);
            assert_eq!(mock.written(0x4128), []);
        }
    }

    #[test]
    fn rv530_has_another_queue() {
        let mock = Mock::default();
        set_up(true, &mock.hw(), &mock).unwrap();
        assert_eq!(mock.written(0x4128), [0xff]);
    }

    #[test]
    fn engines_are_waited_for_between_the_steps() {
        let mock = Mock::default();
        mock.set(0xe40, 0x40);
        mock.set(0x402c, 0x0000_0100);
        // The chip selects another pipe, number 1, when it finds the pipes itself.
        mock.script(0x170c, &[0x0000_0000, 0x8000_0004]);
        set_up(false, &mock.hw(), &mock).unwrap();
        let (r, w) = (Access::R, Access::W);
        assert_eq!(
            mock.take(),
            [
                r(0xe40),
                w(0x4274, 0xf),
                r(0xe40),
                r(0x402c),
                w(0x42c8, 1),
                w(0x4018, 0x11),
                r(0xe40),
                r(0x170c),
                w(0x170c, 0x8000_0000),
                r(0x3428),
                w(0x3428, 0x0002_0100),
                r(0xe40),
                r(0x170c),
                // Clock register 0d: pipe 1 selected, pipe 0 there.
                r(0x8),
                w(0x8, 0xd),
                r(0xc),
                w(0x8, 0x8d),
                w(0xc, 0x12),
                w(0x8, 0),
                r(0xe40),
                w(0x1724, 0x33),
            ]
        );
        mock.gone.set(true);
        let r = set_up(false, &mock.hw(), &mock);
        assert_eq!(r, Err(DeviceError::Gone));
    }
}
