// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The topology of a chip, from configuration space and a few registers. Read only.

use super::{
    clocks, context,
    fences::FENCES,
    mirror,
    pte::ENTRIES,
    regs::{Gmch, PgtblCtl, BRIDGE_GMCH, PGTBL_CTL},
    swizzle, translation, Gen4,
};
use crate::{
    generation::{DeviceError, Pipes, Swizzle, Topology, Translation},
    intel::{
        bars::{self, MIB, REGISTER_BAR},
        processor::context::IMAGES,
    },
    io::{Hw, PCI_REVISION},
};

/// Size of stolen memory in MiB, by the bridge's code (G-27).
const STOLEN_MIB: [u64; 16] = [
    0, 1, 4, 8, 16, 32, 48, 64, 128, 256, 96, 160, 224, 352, 0, 0,
];

/// Reads the chip's topology.
pub(super) fn probe(hw: &Hw<'_>, chip: &Gen4) -> Result<Topology, DeviceError> {
    let family = chip.family;
    let left = hw.regs.read32(PGTBL_CTL);
    if left == u32::MAX {
        return Err(DeviceError::Gone);
    }
    // The firmware places the table, in memory of its own (G-06); at 0 is memory of others.
    let found = PgtblCtl::from_bits(left);
    if family.table_switch && (found.page(), found.high()) == (0, 0) {
        return Err(DeviceError::NoTranslationTable);
    }
    // Without access to the bridge, the code is not known.
    let bridge = match hw.platform.bridge32(BRIDGE_GMCH) {
        u32::MAX => Gmch::new(),
        word => Gmch::from_bits(word),
    };
    let control = translation::control(found, bridge, family.table_switch);
    let bad_table = DeviceError::Unsupported("GGTT size");
    let table = translation::bytes(control).ok_or(bad_table)?;
    let window = hw.platform.bar_len(REGISTER_BAR);
    if window < u64::from(family.table_at).saturating_add(table.into()) {
        return Err(bad_table);
    }
    let gtt_entries = table / 4;
    let context_bytes =
        context::detect(hw).ok_or(DeviceError::Unsupported("context image size"))?;
    let aperture = bars::aperture(hw, gtt_entries)?;
    let stolen = STOLEN_MIB.get(usize::from(bridge.stolen())).copied();
    let mirrored = mirror::is_on(hw);
    if !mirrored {
        hw.platform
            .warn("MCHBAR is disabled: the bit-6 swizzle of tiled surfaces is unknown");
    }
    Ok(Topology {
        engines: family.engines,
        gtt_entries,
        pages: &ENTRIES,
        space: Translation::Global,
        aperture,
        fences: Some(&FENCES),
        context: Some(&IMAGES),
        local: None,
        swizzle: match (mirrored, chip.mobile) {
            (true, true) => swizzle::mobile(hw),
            (true, false) => swizzle::desktop(hw),
            (false, _) => Swizzle::Unknown,
        },
        coherence: family.coherence,
        status: family.status,
        timestamp_hz: match (family.table_switch, mirrored) {
            (true, true) => clocks::timestamp_hz(hw, chip.mobile),
            (true, false) => clocks::assumed_hz(hw),
            (false, _) => clocks::G4X_HZ,
        },
        context_bytes,
        stolen_bytes: stolen.unwrap_or(0).wrapping_mul(MIB),
        revision: hw.platform.config32(PCI_REVISION) as u8,
        // Only the interrupt line (G-14).
        msi: false,
        pipes: Pipes::default(),
        shaders: None,
        // The value of PGTBL_CTL, to restore it after a reset.
        card: control.into_bits(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coherence::Coherence,
        engine::StatusPlace,
        gen4::{DESKTOP_965, DESKTOP_G4X, MOBILE_965, MOBILE_G4X},
        generation::{Generation, Swizzle},
        mock::{Access, Mock},
    };

    /// Returns a chip with a GGTT of 512 KiB on 965, 1 MiB on G4X, and an aperture of 256 MiB.
    fn device(chip: &Gen4) -> Mock {
        let mock = Mock::default();
        let (bar, control) = match chip.family.table_switch {
            true => (1 << 20, 0x7f80_0000),
            false => (4 << 20, 0x7f80_0006),
        };
        mock.memory.set(bar);
        mock.aperture.set(256 << 20);
        mock.set(0x2020, control);
        mock.set(0x21a0, 31);
        mock.config(0x08, 0x0380_0007);
        mock.bridge(0x50, 0x0050_0000);
        mock
    }

    fn probe(mock: &Mock, chip: &Gen4) -> Result<Topology, DeviceError> {
        let found = chip.probe(&mock.hw(), &crate::chips::ALL[0]);
        assert!(mock.take().iter().all(|a| matches!(a, Access::R(_))));
        found
    }

    #[test]
    fn a_965_is_described() {
        for chip in [&DESKTOP_965, &MOBILE_965] {
            let mock = device(chip);
            mock.set(0x1_0c00, 2);
            let t = probe(&mock, chip).unwrap();
            assert_eq!((t.engines.len(), t.gtt_entries), (1, 0x2_0000));
            assert_eq!((t.coherence, t.status), (Coherence::None, StatusPlace::Bus));
            assert_eq!((t.timestamp_hz, t.context_bytes), (200_000_000, 4096));
            // Size 0 is 512 KiB; bit 0 is the enable.
            assert_eq!((t.card, chip.dma_bits()), (0x7f80_0001, 32));
            assert_eq!((t.stolen_bytes, t.revision), (32 << 20, 7));
            assert!(matches!(t.space, Translation::Global));
            assert!(!t.msi && !t.confines() && !t.resets_engines());
        }
    }

    #[test]
    fn a_g4x_is_described() {
        for chip in [&DESKTOP_G4X, &MOBILE_G4X] {
            let mock = device(chip);
            mock.bridge(0x50, 0x0b80_0000);
            let t = probe(&mock, chip).unwrap();
            assert_eq!((t.engines.len(), t.gtt_entries), (2, 0x8_0000));
            assert_eq!(
                (t.coherence, t.status),
                (Coherence::Snoop, StatusPlace::Aperture)
            );
            assert_eq!((t.timestamp_hz, t.stolen_bytes), (976_562, 128 << 20));
            // Size 4: 2 MiB according to the bridge.
            assert_eq!((t.card, chip.dma_bits()), (0x7f80_0008, 36));
            assert_eq!(t.fences.map(|f| f.count()), Some(16));
            assert!(t.context.is_some() && t.shaders.is_none() && t.local.is_none());
        }
    }

    #[test]
    fn mobile_and_desktop_ask_different_registers_for_the_swizzle() {
        for (chip, swizzle) in [
            (&DESKTOP_965, Swizzle::Bit9_10),
            (&DESKTOP_G4X, Swizzle::Bit9_10),
            (&MOBILE_965, Swizzle::Bit9_10_17),
            (&MOBILE_G4X, Swizzle::Bit9_10_17),
        ] {
            let mock = device(chip);
            mock.set(0x1_0200, 0x202);
            mock.set(0x1_0204, 0x0010_0000);
            mock.set(0x1_0604, 0x0010_0000);
            assert_eq!(probe(&mock, chip).unwrap().swizzle, swizzle);
        }
    }

    #[test]
    fn without_the_mirror_no_register_of_the_memory_controller_is_read() {
        let mirrored = |a: &Access| {
            matches!(
                a,
                Access::R(0x1_0000..=0x1_3fff) | Access::W(0x1_0000..=0x1_3fff, _)
            )
        };
        // The bridge's device and vendor at 0, MCHBAR at 48h, whose bit 0 enables it: on, off, and
        // the bridge of a virtual machine.
        for (id, mchbar, on) in [
            (0x29a0_8086, 0xfed1_4001, true),
            (0x29a0_8086, 0xfed1_4000, false),
            (0x1237_8086, 0, true),
        ] {
            for (chip, on_965) in [
                (&DESKTOP_965, true),
                (&MOBILE_965, true),
                (&DESKTOP_G4X, false),
                (&MOBILE_G4X, false),
            ] {
                let mock = device(chip);
                mock.bridge(0x00, id);
                mock.bridge(0x48, mchbar);
                mock.set(0x1_0c00, 2);
                mock.set(0x1_0200, 0x202);
                mock.set(0x1_0204, 0x0010_0000);
                mock.set(0x1_0604, 0x0010_0000);
                let t = chip.probe(&mock.hw(), &crate::chips::ALL[0]).unwrap();
                assert_eq!(t.swizzle != Swizzle::Unknown, on);
                let hz = match (on_965, on) {
                    (true, true) => 200_000_000,
                    (true, false) => 333_333_000,
                    (false, _) => 976_562,
                };
                assert_eq!(t.timestamp_hz, hz);
                assert_eq!(mock.take().iter().any(mirrored), on);
                let warnings = if on { 0 } else { 1 + usize::from(on_965) };
                assert_eq!(mock.warned.borrow().len(), warnings);
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let error = |change: &dyn Fn(&Mock)| {
            let mock = device(&MOBILE_G4X);
            change(&mock);
            probe(&mock, &MOBILE_G4X).err()
        };
        let unsupported = |what| Some(DeviceError::Unsupported(what));
        assert_eq!(error(&|_| ()), None);
        assert_eq!(error(&|m| m.gone.set(true)), Some(DeviceError::Gone));
        let table = unsupported("GGTT size");
        assert_eq!(error(&|m| m.set(0x2020, 0x7f80_000c)), table);
        assert_eq!(error(&|m| m.memory.set(2 << 20)), table);
        let context = unsupported("context image size");
        assert_eq!(error(&|m| m.set(0x21a0, 0x400)), context);
        let aperture = unsupported("aperture size");
        for bytes in [0, 32 << 20, 300 << 20, 1 << 30] {
            assert_eq!(error(&|m| m.aperture.set(bytes)), aperture);
        }
        // 128 KiB of entries reach 128 MiB.
        assert_eq!(error(&|m| m.set(0x2020, 0x7f80_0004)), aperture);
    }

    #[test]
    fn a_table_that_the_firmware_did_not_place_is_not_written() {
        // G-06: 31:12 and 7:4 are the address. On G4X the driver does not enable the table.
        let missing = Some(DeviceError::NoTranslationTable);
        for (chip, at_zero) in [
            (&DESKTOP_965, missing),
            (&MOBILE_965, missing),
            (&DESKTOP_G4X, None),
            (&MOBILE_G4X, None),
        ] {
            let size = if chip.family.table_switch { 0 } else { 6 };
            for (left, error) in [(0, at_zero), (1, at_zero), (0x1000, None), (0x10, None)] {
                let mock = device(chip);
                mock.set(0x2020, left | size);
                assert_eq!(probe(&mock, chip).err(), error, "{left:#x}");
            }
        }
    }

    #[test]
    fn without_a_bridge_the_register_says_the_size() {
        let mock = device(&DESKTOP_G4X);
        mock.bridge(0x50, u32::MAX);
        let t = probe(&mock, &DESKTOP_G4X).unwrap();
        assert_eq!((t.gtt_entries, t.stolen_bytes), (0x4_0000, 0));
    }
}
