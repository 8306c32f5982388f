// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Reads the properties of a card from configuration space and a few registers, without changing
//! anything.
//!
//! The card's firmware must have set up the card. Otherwise (after sleep, or as a second card on
//! some boards) the code in its ROM would have to run, which the driver does not do.

use super::{memory, pipes, pte, regs, surfaces, R5xx};
use crate::{
    coherence::Coherence,
    engine::StatusPlace,
    generation::{DeviceError, LocalMemory, Swizzle, Topology, Translation},
    io::{Hw, Platform, PCI_REVISION},
    types::PAGE_SIZE,
};

/// Configuration space: identity.
const PCI_ID: u16 = 0x00;
/// Configuration space: offset of the first capability, bits 7:0.
const PCI_CAPABILITIES: u16 = 0x34;
/// Capability ID: AGP.
const CAPABILITY_AGP: u8 = 0x02;
/// Capability ID: PCI Express.
const CAPABILITY_EXPRESS: u8 = 0x10;
/// Most capabilities that fit into configuration space.
const CAPABILITIES: usize = 48;

/// Returns whether the card has a capability.
fn has_capability(platform: &dyn Platform, wanted: u8) -> bool {
    let mut at = platform.config32(PCI_CAPABILITIES) & 0xfc;
    for _ in 0..CAPABILITIES {
        if at < 0x40 {
            return false;
        }
        let capability = platform.config32(at as u16);
        if capability as u8 == wanted {
            return true;
        }
        at = capability >> 8 & 0xfc;
    }
    false
}

/// Fails if the firmware has not set up the card: its memory size is zero then.
fn posted(size: u32) -> Result<(), DeviceError> {
    match size {
        u32::MAX => Err(DeviceError::Gone),
        0 => Err(DeviceError::Unsupported("card not posted by its firmware")),
        _ => Ok(()),
    }
}

/// Fails if the card is no longer as [`probe`] found it: after sleep or a reset, it may not be set
/// up.
pub(super) fn unchanged(hw: &Hw<'_>, topo: &Topology) -> Result<(), DeviceError> {
    let size = hw.regs.read32(regs::CONFIG_MEMSIZE);
    posted(size)?;
    let found = u64::from(size).min(memory::LOCAL_MAX);
    let local = topo.local.map(|l| l.size.saturating_add(l.window_at));
    match local == Some(found) {
        true => Ok(()),
        false => Err(DeviceError::Unsupported(
            "VRAM size (CONFIG_MEMSIZE) differs from that at probe",
        )),
    }
}

/// Reads the properties of the card.
pub(super) fn probe(family: &R5xx, hw: &Hw<'_>) -> Result<Topology, DeviceError> {
    let size = hw.regs.read32(regs::CONFIG_MEMSIZE);
    if hw.platform.config32(PCI_ID) == u32::MAX || size == u32::MAX {
        return Err(DeviceError::Gone);
    }
    // Boards for AGP have a bridge in front of a chip that reports both capabilities (digest §5.1):
    // the chip is not behind PCI Express, and has no GART.
    if has_capability(hw.platform, CAPABILITY_AGP) {
        return Err(DeviceError::Unsupported("AGP card: only PCI Express is"));
    }
    if !has_capability(hw.platform, CAPABILITY_EXPRESS) {
        return Err(DeviceError::NoTranslationTable);
    }
    posted(size)?;
    // Twice the register: bring-up sets the bit that doubles the aperture (digest §5.2).
    let half = u64::from(hw.regs.read32(regs::CONFIG_APER_SIZE));
    let window = hw.platform.bar_len(super::MEMORY_BAR);
    let size = u64::from(size).min(memory::LOCAL_MAX);
    let visible = half.saturating_mul(2).min(window).min(size);
    let reserved = u64::from(memory::RESERVED);
    if visible <= reserved {
        return Err(DeviceError::Unsupported("aperture size"));
    }
    let path = hw.regs.read32(regs::HOST_PATH_CNTL);
    Ok(Topology {
        engines: family.engines,
        gtt_entries: memory::TABLE_ENTRIES,
        pages: &pte::ENTRIES,
        space: Translation::Global,
        aperture: 0,
        fences: Some(&surfaces::SURFACES),
        context: None,
        local: Some(LocalMemory {
            size: size.saturating_sub(reserved),
            cpu_visible: visible.saturating_sub(reserved),
            window_at: reserved,
            at: Some(memory::local(memory::RESERVED)),
            grain: PAGE_SIZE,
        }),
        swizzle: Swizzle::None,
        coherence: Coherence::Bus,
        status: StatusPlace::Table,
        timestamp_hz: 0,
        context_bytes: 0,
        stolen_bytes: 0,
        revision: hw.platform.config32(PCI_REVISION) as u8,
        msi: family.msi,
        pipes: pipes::count(family.depth_pipes, hw),
        shaders: None,
        card: path & !regs::HDP_READ_BUFFER_INVALIDATE | regs::HDP_APER_CNTL,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        mock::{Access, Mock},
        r5xx,
    };

    /// A card with 256 MiB, all of it in the CPU's aperture.
    pub(in crate::r5xx) fn card() -> Mock {
        let mock = Mock::default();
        mock.config(0x00, 0x7140_1002);
        mock.config(0x08, 0x0380_0005);
        mock.config(0x34, 0x50);
        // Power management, and PCI Express behind it.
        mock.config(0x50, 0x0002_5801);
        mock.config(0x58, 0x0001_0010);
        mock.memory.set(256 << 20);
        mock.set(0xf8, 256 << 20);
        mock.set(0x108, 128 << 20);
        mock.set(0x130, 0x0800_0040);
        mock
    }

    #[test]
    fn a_card_is_described() {
        let mock = card();
        let t = probe(&r5xx::RV515, &mock.hw()).unwrap();
        assert_eq!((t.gtt_entries, t.aperture, t.revision), (131_072, 0, 5));
        assert_eq!(
            t.local,
            Some(LocalMemory {
                size: (256 << 20) - 0x8_1000,
                cpu_visible: (256 << 20) - 0x8_1000,
                window_at: 0x8_1000,
                at: Some(crate::GgttAddr(0x8008_1000)),
                grain: 4096,
            })
        );
        assert_eq!((t.engines.len(), t.fences.unwrap().count()), (1, 8));
        assert!(t.context.is_none() && matches!(t.space, Translation::Global));
        assert_eq!(t.coherence, Coherence::Bus);
        assert!(t.coherence.snoops());
        // Digest §5.2: bit 23 set, bit 27 is a pulse.
        assert_eq!(t.card, 0x0080_0040);
        // Digest §5.3.
        assert!(!t.msi && probe(&r5xx::R520, &mock.hw()).unwrap().msi);
        assert!(mock.take().iter().all(|a| matches!(a, Access::R(_))));
    }

    #[test]
    fn the_cpu_sees_what_window_register_and_memory_allow() {
        for (memory, half, bar, size, visible) in [
            (
                512u32 << 20,
                128u32 << 20,
                256u64 << 20,
                512u64 << 20,
                256u64 << 20,
            ),
            (64 << 20, 128 << 20, 256 << 20, 64 << 20, 64 << 20),
            (256 << 20, 32 << 20, 256 << 20, 256 << 20, 64 << 20),
            (0x8000_0000, 128 << 20, 256 << 20, 1 << 30, 256 << 20),
        ] {
            let mock = card();
            mock.set(0xf8, memory);
            mock.set(0x108, half);
            mock.memory.set(bar);
            let local = probe(&r5xx::R520, &mock.hw()).unwrap().local.unwrap();
            assert_eq!(local.size + local.window_at, size);
            assert_eq!(local.cpu_visible + local.window_at, visible);
        }
    }

    #[test]
    fn a_card_that_lost_its_memory_is_another_one() {
        let mock = card();
        let topo = probe(&r5xx::RV515, &mock.hw()).unwrap();
        assert_eq!(unchanged(&mock.hw(), &topo), Ok(()));
        for (size, error) in [
            (
                0,
                DeviceError::Unsupported("card not posted by its firmware"),
            ),
            (
                128 << 20,
                DeviceError::Unsupported("VRAM size (CONFIG_MEMSIZE) differs from that at probe"),
            ),
            (u32::MAX, DeviceError::Gone),
        ] {
            mock.set(0xf8, size);
            assert_eq!(unchanged(&mock.hw(), &topo), Err(error));
        }
    }

    #[test]
    fn cards_that_cannot_be_used_say_why() {
        let not_posted = card();
        not_posted.set(0xf8, 0);
        let no_aperture = card();
        no_aperture.set(0x108, 0);
        let agp = card();
        agp.config(0x58, 0x0001_0002);
        // A bridge: both, in either order.
        let bridge = card();
        bridge.config(0x58, 0x0001_6010);
        bridge.config(0x60, 0x0030_0002);
        let egdirb = card();
        egdirb.config(0x50, 0x0002_5802);
        let plain = card();
        plain.config(0x58, 0x0001_0001);
        let circle = card();
        circle.config(0x58, 0x0001_5005);
        let gone = card();
        gone.gone.set(true);
        for (mock, error) in [
            (
                not_posted,
                DeviceError::Unsupported("card not posted by its firmware"),
            ),
            (no_aperture, DeviceError::Unsupported("aperture size")),
            (
                agp,
                DeviceError::Unsupported("AGP card: only PCI Express is"),
            ),
            (
                bridge,
                DeviceError::Unsupported("AGP card: only PCI Express is"),
            ),
            (
                egdirb,
                DeviceError::Unsupported("AGP card: only PCI Express is"),
            ),
            (plain, DeviceError::NoTranslationTable),
            (circle, DeviceError::NoTranslationTable),
            (gone, DeviceError::Gone),
        ] {
            assert_eq!(probe(&r5xx::R520, &mock.hw()).err(), Some(error));
        }
    }
}
