// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The topology of a chip, from configuration space and a few registers. Read only.

use super::{
    context::{Size, IMAGES},
    frequency,
    gt_regs::{self as gt_reg, Ggc},
    pte::ENTRIES,
    swizzle,
};
use crate::{
    coherence::Coherence,
    engine::Engine,
    engine::StatusPlace,
    fence_regs::FenceRegs,
    generation::{DeviceError, Pipes, Topology, Translation},
    intel::{
        bars::{self, MIB},
        pte,
    },
    io::{Hw, PCI_REVISION},
};

/// The parts of the topology that are the same on all chips of a generation.
pub(crate) struct Parts {
    /// The engines.
    pub(crate) engines: &'static [&'static dyn Engine],
    /// The fence registers.
    pub(crate) fences: &'static dyn FenceRegs,
    /// The register with the size of context images.
    pub(crate) context: Size,
    /// Whether the PPGTT works if an IOMMU translates the addresses of its page directory.
    pub(crate) directory_behind_iommu: bool,
    /// Whether each context has a page directory of its own, which its requests load, unless the
    /// platform says that they share one ([`Platform::shares_ppgtt`](crate::io::Platform)).
    pub(crate) own_directories: bool,
    /// Returns the forcewake method of the device, from 1 on; 0 if there is only one.
    pub(crate) method: fn(&Hw<'_>) -> u8,
}

/// Frequency of the timestamp in Hz (G-41).
const TIMESTAMP_HZ: u32 = 12_500_000;

/// Reads the chip's topology. The device must be awake.
pub(super) fn probe(hw: &Hw<'_>, parts: &Parts) -> Result<Topology, DeviceError> {
    let ggc = hw.platform.config32(gt_reg::PCI_GGC);
    let context_bytes = parts.context.detect(hw);
    let (false, Some(context_bytes)) = (ggc == u32::MAX, context_bytes) else {
        return Err(DeviceError::Gone);
    };
    let ggc = Ggc::from_bits(ggc);
    let gtt_entries = match ggc.table_1m() {
        0 => return Err(DeviceError::NoTranslationTable),
        n @ (1 | 2) => u32::from(n).wrapping_mul(MIB as u32 / 4),
        _ => return Err(DeviceError::Unsupported("GGTT size")),
    };
    if context_bytes == 0 {
        return Err(DeviceError::Unsupported("context image size"));
    }
    let aperture = bars::aperture(hw, gtt_entries)?;
    // Behind an IOMMU the PPGTT may not work (G-47). That includes a guest whose host uses an IOMMU
    // without showing it (UW27).
    let space = if hw.platform.iommu() && !parts.directory_behind_iommu {
        Translation::Global
    } else {
        let (directories, align) = (pte::DIRECTORY_ENTRIES, pte::DIRECTORY_ALIGN);
        match parts.own_directories && !hw.platform.shares_ppgtt() {
            true => Translation::PerContextDirectory { directories, align },
            false => Translation::Aliasing { directories, align },
        }
    };
    Ok(Topology {
        engines: parts.engines,
        gtt_entries,
        pages: &ENTRIES,
        space,
        aperture,
        fences: Some(parts.fences),
        context: Some(&IMAGES),
        local: None,
        swizzle: swizzle::detect(hw),
        msi: true,
        pipes: Pipes::default(),
        shaders: None,
        card: frequency::detect(hw)
            .with_method((parts.method)(hw))
            .into_bits(),
        coherence: Coherence::Llc,
        status: StatusPlace::Table,
        timestamp_hz: TIMESTAMP_HZ,
        context_bytes,
        stolen_bytes: u64::from(ggc.stolen_32m()).wrapping_mul(32 * MIB),
        revision: hw.platform.config32(PCI_REVISION) as u8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gen6::GEN6,
        generation::Swizzle,
        mock::{Access, Mock},
        types::EngineClass,
    };

    fn probe(hw: &Hw<'_>) -> Result<Topology, DeviceError> {
        super::probe(hw, &GEN6.parts)
    }

    fn chip() -> Mock {
        let mock = Mock::default();
        mock.config(0x50, 0x0100);
        mock.config(0x08, 0x0300_0009);
        mock.aperture.set(256 << 20);
        mock.set(0x21a0, 0x0a10_d7ed);
        mock.set(0x14_5004, 0x10);
        mock.set(0x14_5998, 0x0007_111a);
        mock
    }

    #[test]
    fn a_chip_is_described() {
        let mock = chip();
        mock.config(0x50, 0xabcd_0211);
        let t = probe(&mock.hw()).unwrap();
        // G-03: 2 MiB of entries, 2 x 32 MiB stolen.
        assert_eq!((t.gtt_entries, t.stolen_bytes), (524_288, 64 << 20));
        assert_eq!((t.aperture, t.revision), (256 << 20, 9));
        assert_eq!((t.context_bytes, t.coherence), (8192, Coherence::Llc));
        assert_eq!((t.swizzle, t.timestamp_hz), (Swizzle::None, 12_500_000));
        assert!(matches!(
            t.space,
            Translation::Aliasing {
                directories: 512,
                align: 16
            }
        ));
        assert_eq!(t.engines.len(), 3);
        assert_eq!(t.engines[1].desc().id.class, EngineClass::Copy);
        assert_eq!(t.local, None);
        assert_eq!(t.fences.unwrap().count(), 16);
        assert_eq!(t.card, 0x0007_111a);
        assert!(t.context.is_some());
        // UW46.
        assert!(!t.resets_engines());
        // Nothing was written.
        assert!(mock.take().iter().all(|a| matches!(a, Access::R(_))));
    }

    #[test]
    fn a_smaller_table_has_fewer_entries() {
        assert_eq!(probe(&chip().hw()).unwrap().gtt_entries, 262_144);
    }

    #[test]
    fn with_an_iommu_there_is_one_table() {
        let mock = chip();
        mock.iommu.set(true);
        assert!(matches!(
            probe(&mock.hw()).unwrap().space,
            Translation::Global
        ));
    }

    #[test]
    fn equal_channels_make_swizzle() {
        let mock = chip();
        mock.set(0x14_5008, 0x10);
        assert_eq!(probe(&mock.hw()).unwrap().swizzle, Swizzle::Bit9_10);
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let error = |change: &dyn Fn(&Mock)| {
            let mock = chip();
            change(&mock);
            probe(&mock.hw()).err()
        };
        assert_eq!(
            error(&|m| m.config(0x50, 0)),
            Some(DeviceError::NoTranslationTable)
        );
        let unsupported = |what| Some(DeviceError::Unsupported(what));
        assert_eq!(error(&|m| m.config(0x50, 0x300)), unsupported("GGTT size"));
        assert_eq!(
            error(&|m| m.set(0x21a0, 0)),
            unsupported("context image size")
        );
        for bytes in [0, 32 << 20, 300 << 20, 1 << 30] {
            assert_eq!(
                error(&|m| m.aperture.set(bytes)),
                unsupported("aperture size")
            );
        }
        assert_eq!(error(&|m| m.gone.set(true)), Some(DeviceError::Gone));
        assert_eq!(
            error(&|m| m.config(0x50, u32::MAX)),
            Some(DeviceError::Gone)
        );
    }
}
