// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Gen12.5: DG2 (Arc A-series) and ATS-M (Flex series). Engines take execlists of contexts, each
//! with a ring, an image and a four-level PPGTT of its own; the card has VRAM.
//!
//! Source: Intel Arc A-Series and Flex Series PRM, volume 8, "Command Stream Programming", March
//! 2023, cited by section (`D:ELSP`). It has hardly any offsets and bits; those, and everything
//! around the command streamers, come from the project's digest of it, cited by section
//! (`digest §4.1`) or row of its checklist (`row B4`, or `B4` alone), which names the source of
//! each value.
//!
//! One file for each concept: `parts` and `fuses` identify the card and its engines, `topology` its
//! other properties, `planes` its display; `pcode`, `forcewake`, `steering`, `mocs` and `reset`
//! bring a card up, `engine` and `settings` an engine, `workarounds` (tables: `faults`) both.
//! `descriptor`, `image`, `restore` and `lri` are contexts; `submit` loads execlists, `status`
//! decodes their events. `commands`, `emit` and `blt` write rings; `pte` is PTEs and PDEs, `tlb`
//! their invalidation; `interrupts` and `errors` (`names`: of their bits) report events.

mod blt;
mod commands;
mod descriptor;
mod emit;
mod engine;
mod errors;
mod faults;
mod forcewake;
mod fuses;
mod gt_regs;
mod image;
mod interrupts;
mod lri;
mod mocs;
mod names;
mod parts;
mod pcode;
mod planes;
mod pte;
mod regs;
mod reset;
mod restore;
mod settings;
mod status;
mod steering;
mod submit;
mod tlb;
mod topology;
mod workarounds;

use crate::{
    chips::Chip,
    generation::{
        DeviceError, Events, Generation, Layout, Mapping, ResetScope, Scanout, SecureBatches,
        Topology, Window, Windows,
    },
    gt::Gt,
    io::{AtomicWait, Hw, SleepWait},
    poll,
    report::Report,
};

use parts::Parts;
use regs::{VECTOR_SWITCH, VECTOR_USER};

/// The generation, of a part.
pub struct Gen12(Parts);
/// DG2-G10.
pub static G10: Gen12 = Gen12(Parts::G10);
/// DG2-G11.
pub static G11: Gen12 = Gen12(Parts::G11);
/// DG2-G12.
pub static G12: Gen12 = Gen12(Parts::G12);
/// ATS-M150: the first part, for servers.
pub static ATS_M150: Gen12 = Gen12(Parts::G10.union(Parts::SERVER));
/// ATS-M75: the second one.
pub static ATS_M75: Gen12 = Gen12(Parts::G11.union(Parts::SERVER));

/// The BAR of registers and the GGTT (digest §5.2).
const REGISTER_BAR: u8 = 0;
/// The BAR of VRAM.
const MEMORY_BAR: u8 = 2;
/// Offset of the GGTT behind the registers (digest §4.6). The device drops writes to it of more
/// than a quadword at once, such as flushed write-combining buffers; the upstream driver maps it
/// uncached, too.
const TABLE_AT: u32 = 8 << 20;

impl Generation for Gen12 {
    fn name(&self) -> &'static str {
        "gen12"
    }

    fn windows(&self) -> Windows {
        Windows {
            regs: Window {
                bar: REGISTER_BAR,
                start: 0,
                len: TABLE_AT,
                mapping: Mapping::Uncached,
            },
            gtt: Window {
                bar: REGISTER_BAR,
                start: TABLE_AT,
                len: 0,
                mapping: Mapping::Uncached,
            },
            aperture: None,
            local: Some(Window {
                bar: MEMORY_BAR,
                start: 0,
                len: 0,
                mapping: Mapping::WriteCombining,
            }),
        }
    }

    fn dma_bits(&self) -> u8 {
        pte::DMA_BITS
    }

    fn secure_batches(&self) -> SecureBatches {
        SecureBatches::Unknown
    }

    fn probe(&self, hw: &Hw<'_>, _chip: &Chip) -> Result<Topology, DeviceError> {
        topology::probe(hw, self.0)
    }

    fn scanouts(&self, hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
        planes::find(hw, topo, found);
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        _topo: &Topology,
        _layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        interrupts::off(hw);
        forcewake::hold(hw, wait)?;
        pcode::ready(hw, wait)?;
        reset::reset(hw, ResetScope::All, wait)?;
        steering::set(hw);
        workarounds::set_card(hw);
        mocs::set(hw);
        Ok(())
    }

    fn stop(&self, hw: &Hw<'_>) {
        interrupts::off(hw);
    }

    fn wake(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError> {
        forcewake::wake(hw, gt, wait)
    }

    fn sleep(&self, hw: &Hw<'_>, gt: &mut Gt) {
        forcewake::sleep(hw, gt);
    }

    fn irq_on(&self, hw: &Hw<'_>, _gt: &mut Gt) {
        interrupts::on(hw);
    }

    fn irq_off(&self, hw: &Hw<'_>, _gt: &mut Gt) {
        interrupts::off(hw);
    }

    fn irq_arm(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        interrupts::arm(hw, gt, engine, VECTOR_USER, on);
    }

    fn irq_switches(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        interrupts::arm(hw, gt, engine, VECTOR_SWITCH, on);
    }

    fn irq_ack(&self, hw: &Hw<'_>) -> Events {
        interrupts::ack(hw)
    }

    fn reset(
        &self,
        hw: &Hw<'_>,
        what: ResetScope,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        reset::reset(hw, what, wait)
    }

    /// Does nothing: PTE writes bypass all caches, and are ordered with the write that starts work;
    /// the device caches none across that (digest §4.6).
    fn gtt_flush(&self, _hw: &Hw<'_>) {}

    fn holds_entries(&self) -> bool {
        true
    }

    fn invalidate_tlbs(
        &self,
        hw: &Hw<'_>,
        _topo: &Topology,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        tlb::invalidate(hw, wait)
    }

    /// The clock of the render engine, which user space may read (row P6).
    fn user_register(&self, hw: &Hw<'_>, offset: u32) -> Option<u64> {
        const RENDER_TIMESTAMP: u32 = 0x2000 + regs::TIMESTAMP;
        if offset != RENDER_TIMESTAMP {
            return None;
        }
        // The upper half may have changed between two reads: then the lower half was small.
        let high = hw.regs.read32(offset.wrapping_add(4));
        let low = hw.regs.read32(offset);
        let again = hw.regs.read32(offset.wrapping_add(4));
        let low = if again == high {
            low
        } else {
            hw.regs.read32(offset)
        };
        Some(u64::from(again) << 32 | u64::from(low))
    }

    fn errors(&self, hw: &Hw<'_>, _gt: &mut Gt, _topo: &Topology) -> Report {
        errors::report(hw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chips,
        engine::{EngineMemory, StatusPage},
        mock::{Access, Mock},
        types::{CacheLevel, DmaAddr, GgttAddr, MemoryKind, Page},
    };

    /// A card that answers at once, with render and blitter.
    fn device() -> Mock {
        let mock = Mock::default();
        mock.config(0x00, 0x56a0_8086);
        mock.config(0x50, 0xc0);
        mock.set(0x10_1010, 0x80);
        mock.set(0x4900, 1 << 8);
        mock.set(0x4910, 0x1000 << 8);
        mock.aperture.set(256 << 20);
        for answer in [0x13_0044, 0x0d84, 0x13_8128] {
            mock.fix(answer, 1);
        }
        mock.fix(0x13_8124, 0);
        mock.fix(0x941c, 0);
        for base in [0x2000, 0x2_2000] {
            mock.fix(base + 0x9c, 0x200);
            mock.fix(base + 0xd0, 2);
            mock.fix(base + 0xb0, 0);
        }
        mock
    }

    #[test]
    fn a_card_comes_up() {
        let mock = device();
        let mut gt = Gt::default();
        let chip = chips::lookup(0x8086, 0x56a0).unwrap();
        let generation = chip.generation;
        generation.wake(&mock.hw(), &mut gt, &mock).unwrap();
        let topo = generation.probe(&mock.hw(), chip).unwrap();
        let hw = Hw {
            card: topo.card,
            ..mock.hw()
        };
        let layout = Layout {
            scratch: Page {
                addr: DmaAddr(0x1000),
                memory: MemoryKind::System,
                cache: CacheLevel::Coherent,
            },
            directory: None,
        };
        mock.take();
        generation.start(&hw, &topo, &layout, &mock).unwrap();
        // Interrupts off, awake, set up, reset, steered, mended, cached: in this order.
        let order = [
            0x19_0008, 0xa188, 0x13_8124, 0x941c, 0x0fd0, 0xcf54, 0xb020, 0x4800,
        ];
        let log = mock.take();
        let first = |reg| {
            log.iter()
                .position(|a| matches!(a, Access::W(r, _) if *r == reg))
        };
        let places: std::vec::Vec<_> = order.iter().map(|r| first(*r).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
        let mem = EngineMemory {
            ring: GgttAddr(0),
            status: StatusPage::Ggtt(GgttAddr(0x1000)),
            scratch: GgttAddr(0x2000),
            directory: None,
            card: topo.card,
        };
        for engine in topo.engines {
            engine.start(&hw, &mem, &mock).unwrap();
        }
        // Compute on, slices fixed.
        assert_eq!(mock.written(0x1_4800), [0x0003_0003]);
        generation.irq_on(&hw, &mut gt);
        assert!(!generation.errors(&hw, &mut gt, &topo).is_error());
        generation.stop(&hw);
        generation.sleep(&hw, &mut gt);
        assert!(!gt.awake);
    }

    #[test]
    fn windows_are_those_of_5_2() {
        let windows = G10.windows();
        assert_eq!(
            (windows.regs.bar, windows.regs.start, windows.regs.len),
            (0, 0, 8 << 20)
        );
        assert_eq!((windows.gtt.bar, windows.gtt.start), (0, 8 << 20));
        // §4.6: accesses of more than a quadword are dropped.
        assert_eq!(windows.gtt.mapping, Mapping::Uncached);
        assert_eq!(windows.regs.mapping, Mapping::Uncached);
        assert_eq!(windows.local.map(|w| w.bar), Some(2));
        assert!(windows.aperture.is_none());
        assert_eq!(G10.dma_bits(), 46);
    }

    #[test]
    fn the_clock_is_read_whole() {
        let mock = Mock::default();
        mock.script(0x235c, &[1, 2]);
        mock.script(0x2358, &[0xffff_ffff, 3]);
        assert_eq!(G10.user_register(&mock.hw(), 0x2358), Some(0x2_0000_0003));
        mock.set(0x235c, 7);
        mock.set(0x2358, 9);
        assert_eq!(G10.user_register(&mock.hw(), 0x2358), Some(0x7_0000_0009));
        assert_eq!(G10.user_register(&mock.hw(), 0x235c), None);
    }
}
