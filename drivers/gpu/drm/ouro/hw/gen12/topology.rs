// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a card has: read from configuration space and registers, without changing anything (digest
//! §5.1 to §5.3, §5.9, §5.13).

use super::{
    engine::BCS0,
    fuses,
    gt_regs::{self as gt_reg, RpmConfig},
    parts::Parts,
    pte, restore,
};
use crate::{
    coherence::Coherence,
    context::ContextImages,
    engine::StatusPlace,
    generation::{DeviceError, LocalMemory, Pipes, Swizzle, Topology, Translation},
    io::{Hw, PCI_REVISION},
    types::PAGE_SIZE,
};

/// Configuration space: identity.
const PCI_ID: u16 = 0x00;
/// Configuration space: size of the global table, bits 7:6 (§5.2).
const PCI_TABLE: u16 = 0x50;
/// The base address register of the local memory (§5.2).
const MEMORY_BAR: u8 = 2;
/// Bytes of the largest image: render's and compute's (§5.10), and a page of commands behind it.
const CONTEXT_BYTES: u32 = 15 * 4096;
/// Local memory is given out in pages of this size (§4.5).
const MEMORY_PAGE: u64 = 64 << 10;

/// Entries of the global table: 1 MiB of them for a field of 1, doubled by each step. (§4.6: 3 is 8
/// MiB.)
fn table_entries(config: u32) -> Option<u32> {
    match config >> 6 & 3 {
        0 => None,
        n => Some(1 << (17 + n)),
    }
}

/// Bytes of local memory that can be used: up to the compression data (§5.2).
fn memory(range: u32, compression: u32) -> Option<u64> {
    let size = u64::from(range & 0xffff) >> 8 << 30;
    let usable = u64::from(compression >> 8) * MEMORY_PAGE;
    (usable != 0 && usable <= size).then_some(usable)
}

/// Ticks of the clock in a second (§3.3 row 1).
fn clock(config: u32) -> u32 {
    let config = RpmConfig::from_bits(config);
    let crystal = match config.crystal() {
        0 => 24_000_000u32,
        1 => 19_200_000,
        2 => 38_400_000,
        _ => 25_000_000,
    };
    crystal >> 3u8.wrapping_sub(config.shift())
}

/// The log text for a locked card: the cause, the consequence, and what to do.
const LOCKED: &str =
    "the firmware has locked the GuC's WOPCM, as on most retail cards: the engines \
    take work from the GuC, whose firmware this driver does not load, and not by execlists. The \
    card is left as it was; i915 or xe can bind it";

/// Returns whether the firmware has locked the memory of the GuC (WOPCM). Then the card takes work
/// from the GuC's firmware only, and no execlists (§5.13).
fn is_locked(hw: &Hw<'_>) -> bool {
    [gt_reg::GUC_WOPCM_SIZE, gt_reg::DMA_GUC_WOPCM_OFFSET]
        .iter()
        .any(|reg| hw.regs.read32(*reg) & gt_reg::WOPCM_LOCKED != 0)
}

/// Looks what the card has.
pub(super) fn probe(hw: &Hw<'_>, parts: Parts) -> Result<Topology, DeviceError> {
    let found = look(hw, parts);
    // It may have gone at any time, and what was read then says nothing.
    if hw.platform.config32(PCI_ID) == u32::MAX || hw.regs.read32(gt_reg::GU_CNTL) == u32::MAX {
        return Err(DeviceError::Gone);
    }
    found
}

fn look(hw: &Hw<'_>, parts: Parts) -> Result<Topology, DeviceError> {
    if hw.regs.read32(gt_reg::GU_CNTL) & gt_reg::GU_CNTL_MEMORY == 0 {
        return Err(DeviceError::Unsupported(
            "the firmware has not initialised VRAM (GU_CNTL bit 7 is 0)",
        ));
    }
    if is_locked(hw) {
        return Err(DeviceError::Unsupported(LOCKED));
    }
    let entries = table_entries(hw.platform.config32(PCI_TABLE));
    let gtt_entries = entries.ok_or(DeviceError::NoTranslationTable)?;
    let range = hw.regs.read32(gt_reg::TILE0_ADDR_RANGE);
    let compression = hw.regs.read32(gt_reg::FLAT_CCS_BASE_ADDR);
    let size = memory(range, compression).ok_or(DeviceError::Unsupported(
        "VRAM size (TILE0_ADDR_RANGE, FLAT_CCS_BASE_ADDR)",
    ))?;
    let visible = hw.platform.bar_len(MEMORY_BAR).min(size);
    if visible == 0 {
        return Err(DeviceError::Unsupported(
            "BAR 2 (VRAM) has no size or no address",
        ));
    }
    let card = fuses::read(hw) | parts.card();
    Ok(Topology {
        engines: fuses::engines(card),
        gtt_entries,
        pages: &pte::GLOBAL,
        space: Translation::PerContext {
            bits: restore::SPACE_BITS,
            kept: restore::KEPT / PAGE_SIZE,
            tables: &pte::OWN,
        },
        aperture: 0,
        fences: None,
        context: Some(&BCS0.images as &dyn ContextImages),
        local: Some(LocalMemory {
            size,
            cpu_visible: visible,
            window_at: 0,
            at: None,
            grain: MEMORY_PAGE as u32,
        }),
        swizzle: Swizzle::None,
        coherence: Coherence::Bus,
        status: StatusPlace::Table,
        timestamp_hz: clock(hw.regs.read32(gt_reg::RPM_CONFIG0)),
        context_bytes: CONTEXT_BYTES,
        stolen_bytes: 0,
        revision: hw.platform.config32(PCI_REVISION) as u8,
        msi: true,
        pipes: Pipes::default(),
        shaders: Some(fuses::shaders(hw)),
        card,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::Engine, mock::Mock};

    /// 16 GiB of memory, of which 256 MiB are seen; all engines.
    fn device() -> Mock {
        let mock = Mock::default();
        mock.config(0x00, 0x56a0_8086);
        mock.config(0x08, 0x0380_0008);
        mock.config(0x50, 0xc0);
        mock.set(0x10_1010, 0x80);
        mock.set(0x4900, 16 << 8);
        mock.set(0x4910, 0x3f800 << 8);
        mock.set(0x9140, 0x0003_0005);
        mock.set(0x9144, 0xffff_ffff);
        mock.aperture.set(256 << 20);
        mock
    }

    #[test]
    fn a_card_is_what_its_registers_say() {
        let mock = device();
        let topo = probe(&mock.hw(), Parts::G10).unwrap();
        assert_eq!(topo.engines.len(), 7);
        assert_eq!(topo.card & 0x3ff, 0b11_1100_0111);
        let hw = Hw {
            card: topo.card,
            ..mock.hw()
        };
        assert_eq!(Parts::of(&hw), Parts::G10);
        // §4.6: 8 MiB of table are 4 GiB.
        assert_eq!(topo.gtt_entries, 1 << 20);
        assert_eq!(topo.timestamp_hz, 3_000_000);
        assert_eq!((topo.revision, topo.msi), (8, true));
        assert_eq!(topo.coherence, Coherence::Bus);
        let local = topo.local.unwrap();
        // 0x3f800 pages of 64 KiB.
        assert_eq!(
            (local.size, local.cpu_visible),
            (0x3_f800_0000, 0x1000_0000)
        );
        assert!(local.at.is_none());
        let bytes = |e: &&dyn Engine| e.images().unwrap().bytes();
        assert_eq!(
            topo.engines.iter().map(bytes).max(),
            Some(topo.context_bytes)
        );
        // Nothing was changed.
        assert!(mock
            .take()
            .iter()
            .all(|a| matches!(a, crate::mock::Access::R(_))));
    }

    #[test]
    fn clocks_are_those_of_3_3() {
        // Crystal at 5:3, shift at 2:1.
        for (config, hz) in [
            (0, 3_000_000),
            (0x08, 2_400_000),
            (0x10, 4_800_000),
            (0x18, 3_125_000),
            (0x06, 24_000_000),
            (0x14, 19_200_000),
        ] {
            assert_eq!(clock(config), hz);
        }
    }

    #[test]
    fn a_locked_card_is_refused_with_the_reason() {
        for reg in [0xc050, 0xc340] {
            let mock = device();
            mock.set(reg, 1);
            let Err(DeviceError::Unsupported(why)) = probe(&mock.hw(), Parts::G10) else {
                panic!("refused");
            };
            for word in ["locked", "GuC", "execlists", "left as it was"] {
                assert!(why.contains(word), "{why}");
            }
            assert!(!why.contains("  "), "{why}");
            let log = mock.take();
            assert!(log.iter().all(|a| matches!(a, crate::mock::Access::R(_))));
        }
    }

    #[test]
    fn cards_that_cannot_be_used_are_refused() {
        let no_table = device();
        no_table.config(0x50, 0);
        assert_eq!(
            probe(&no_table.hw(), Parts::G10).err(),
            Some(DeviceError::NoTranslationTable)
        );
        for (reg, value) in [
            (0x10_1010, 0),
            (0x4910, 0),
            (0x4910, 0x4_0001 << 8),
            (0x4900, 0),
        ] {
            let mock = device();
            mock.set(reg, value);
            assert!(
                matches!(
                    probe(&mock.hw(), Parts::G10),
                    Err(DeviceError::Unsupported(_))
                ),
                "{reg:x}"
            );
        }
        let hidden = device();
        hidden.aperture.set(0);
        assert!(probe(&hidden.hw(), Parts::G10).is_err());
        let gone = device();
        gone.gone.set(true);
        assert_eq!(probe(&gone.hw(), Parts::G10).err(), Some(DeviceError::Gone));
        // Behind the first look.
        let going = device();
        going.script(0x10_1010, &[0x80, u32::MAX]);
        assert_eq!(
            probe(&going.hw(), Parts::G10).err(),
            Some(DeviceError::Gone)
        );
    }

    #[test]
    fn tables_may_be_smaller() {
        assert_eq!(table_entries(0x40), Some(1 << 18));
        assert_eq!(table_entries(0x80), Some(1 << 19));
    }
}
