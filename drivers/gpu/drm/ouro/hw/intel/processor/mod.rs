// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Processor graphics, beside the memory controller and the last-level cache: the parts that Sandy
//! Bridge and Ivy Bridge share, beyond those of all machines with a ring per engine
//! ([`super::ring`]).
//!
//! [`Processor`] implements [`Generation`] for both; its fields are the differences. `topology`
//! describes a chip, `engines` the engines of each kind, `display` the planes that the firmware
//! left on. `frequency`, `translation` and `swizzle` bring the chip up. `context` and `pte` are
//! formats; `gt_regs` has the registers outside the engines.

pub(crate) mod card;
pub(crate) mod context;
pub(crate) mod display;
pub(crate) mod engines;
mod frequency;
pub(crate) mod gt_regs;
pub(crate) mod names;
pub(crate) mod pte;
mod swizzle;
pub(crate) mod topology;
pub(crate) mod translation;
pub(crate) mod user_regs;

use crate::{
    chips,
    clocks::ClockControl,
    generation::{DeviceError, Events, Generation, Layout, ResetScope, Scanout, Topology, Windows},
    gt::Gt,
    intel::{
        bars,
        ring::{
            engine::{self, Kind, RingEngine},
            errors,
            fifo::Fifo,
            fixes::{self, Fix, Fixes},
            forcewake::{self, Forcewake, Method},
            interrupts::{self, Bank, Gate, Interrupts},
            regs::{Base, PGTBL_ER},
            reset::{self, Reset},
            RingChip,
        },
    },
    io::{AtomicWait, Hw, SleepWait},
    poll::Named,
    report::{BitName, FaultKind, Report},
    types::GgttAddr,
};
use card::Card;
use display::Pipes;
use gt_regs as gt_reg;
use topology::Parts;

/// Bytes of registers; the GGTT is behind them (G-02).
const REGISTER_BYTES: u32 = 2 << 20;

/// The differences between generations as machines with a ring per engine.
pub(crate) struct Chip {
    /// The engines, in the order of the topology.
    pub(crate) engines: &'static [&'static RingEngine],
    /// The forcewake methods.
    pub(crate) methods: &'static [Method],
    /// Names of the bits of the device's error register.
    pub(crate) translation_names: &'static [BitName],
    /// The kinds of page faults, by number.
    pub(crate) fault_kinds: [FaultKind; 4],
    /// Loads an engine's page directory. The ring must be stopped.
    pub(crate) load_directory: fn(&Hw<'_>, Base, GgttAddr),
}

/// The forcewake method that all of these chips have (G-15).
pub(crate) const LEGACY_WAKE: Method = Method {
    request: gt_reg::FORCEWAKE,
    on: gt_reg::FORCEWAKE_ON,
    answer: Named {
        offset: gt_reg::FORCEWAKE_ACK,
        name: "FORCEWAKE_ACK",
    },
    works: |_| true,
};

/// Returns the description of a chip as a machine with a ring per engine.
pub(crate) const fn chip(own: Chip) -> RingChip {
    RingChip {
        engines: own.engines,
        wake: Some(Forcewake {
            methods: own.methods,
            known: |hw| usize::from(Card::from_bits(hw.card).method()).checked_sub(1),
            threads: Named {
                offset: gt_reg::GT_THREAD_STATUS,
                name: "GT_THREAD_STATUS",
            },
            not_c0: gt_reg::GT_THREAD_NOT_C0,
            fifo: Fifo {
                control: Named {
                    offset: gt_reg::GTFIFOCTL,
                    name: "GTFIFOCTL",
                },
                free: gt_reg::GTFIFO_FREE,
                lost: gt_reg::GTFIFODBG,
            },
            fast: frequency::fast,
            slow: frequency::slow,
        }),
        interrupts: Interrupts {
            gate: Some(Gate {
                register: gt_reg::DEIER,
                open: gt_reg::DEIER_MASTER,
            }),
            mask: gt_reg::GTIMR,
            identity: gt_reg::GTIIR,
            enable: gt_reg::GTIER,
            others: &[
                Bank {
                    mask: gt_reg::PMIMR,
                    identity: gt_reg::PMIIR,
                    enable: Some(gt_reg::PMIER),
                },
                // This bank's enable register is the master enable.
                Bank {
                    mask: gt_reg::DEIMR,
                    identity: gt_reg::DEIIR,
                    enable: None,
                },
            ],
        },
        reset: Some(Reset {
            register: Named {
                offset: gt_reg::GDRST,
                name: "GDRST",
            },
            all: gt_reg::GDRST_FULL,
        }),
        status_page: engine::in_table,
        engine_masks: true,
        sync_flush: true,
        chipset_flush: false,
        error_edge: false,
        translation_errors: gt_reg::ERROR_GEN6,
        translation_names: own.translation_names,
        fault_kinds: own.fault_kinds,
        table_errors: PGTBL_ER,
        load_directory: own.load_directory,
    }
}

/// Disables render standby: the device is kept awake while it works (G-39).
pub(crate) const STANDBY_OFF: &[Fix] = &[
    Fix::write(gt_reg::RC_CONTROL, 0),
    Fix::write(gt_reg::RC_STATE, 0),
];

/// A generation of processor graphics.
pub struct Processor {
    /// Name of the generation.
    pub(crate) name: &'static str,
    /// Its description as a machine with a ring per engine.
    pub(crate) chip: &'static RingChip,
    /// The parts of its topology.
    pub(crate) parts: Parts,
    /// The display pipes, whose planes the firmware may have left on.
    pub(crate) display: &'static Pipes,
    /// Workarounds of the whole device.
    pub(crate) device: Fixes,
    /// Workarounds of the render engine, which its reset undoes.
    pub(crate) render: Fixes,
    /// The bit of [`gt_regs::ARB_MODE`] that makes the engines swizzle.
    pub(crate) swizzle: u16,
    /// Settings of caching and faults of address translation.
    pub(crate) translation: Fixes,
    /// Whether the execution units keep registers of an earlier batch, which the next client could
    /// read.
    pub(crate) leftovers: bool,
    /// Enables or disables the PPGTT, where one mode register serves all engines.
    pub(crate) mode: fn(&Hw<'_>, bool),
}

impl Generation for Processor {
    fn name(&self) -> &'static str {
        self.name
    }

    fn windows(&self) -> Windows {
        bars::windows(REGISTER_BYTES, REGISTER_BYTES)
    }

    /// G-05.
    fn dma_bits(&self) -> u8 {
        40
    }

    fn probe(&self, hw: &Hw<'_>, _chip: &chips::Chip) -> Result<Topology, DeviceError> {
        topology::probe(hw, &self.parts)
    }

    fn scanouts(&self, hw: &Hw<'_>, topo: &Topology, found: &mut dyn FnMut(Scanout)) {
        display::scanouts(hw, self.display, topo.gtt_entries, found);
    }

    fn start(
        &self,
        hw: &Hw<'_>,
        topo: &Topology,
        layout: &Layout,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let chip = self.chip;
        forcewake::hold(chip, hw, wait)?;
        interrupts::off(chip, hw);
        reset::reset(chip, hw, wait)?;
        errors::forget(chip, hw);
        fixes::apply(chip, hw, self.device, wait)?;
        fixes::apply(chip, hw, self.render, wait)?;
        frequency::start(chip, hw, wait)?;
        swizzle::apply(hw, topo.swizzle, self.swizzle);
        fixes::apply(chip, hw, self.translation, wait)?;
        (self.mode)(hw, layout.directory.is_some());
        translation::flush(hw);
        Ok(())
    }

    fn stop(&self, hw: &Hw<'_>) {
        interrupts::off(self.chip, hw);
    }

    fn wake(&self, hw: &Hw<'_>, gt: &mut Gt, wait: &dyn AtomicWait) -> Result<(), DeviceError> {
        forcewake::wake(self.chip, hw, gt, wait)
    }

    fn sleep(&self, hw: &Hw<'_>, gt: &mut Gt) {
        forcewake::sleep(self.chip, hw, gt);
    }

    fn irq_on(&self, hw: &Hw<'_>, gt: &mut Gt) {
        interrupts::on(self.chip, hw, gt);
    }

    fn irq_off(&self, hw: &Hw<'_>, _gt: &mut Gt) {
        interrupts::off(self.chip, hw);
    }

    fn irq_arm(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        interrupts::arm(self.chip, hw, gt, engine, on);
    }

    fn irq_watch(&self, hw: &Hw<'_>, gt: &mut Gt, engine: usize, on: bool) {
        interrupts::watch(self.chip, hw, gt, engine, on);
    }

    fn irq_ack(&self, hw: &Hw<'_>) -> Events {
        interrupts::ack(self.chip, hw)
    }

    fn reset(
        &self,
        hw: &Hw<'_>,
        what: ResetScope,
        wait: &dyn SleepWait,
    ) -> Result<(), DeviceError> {
        let ResetScope::Engine(n) = what else {
            return reset::reset(self.chip, hw, wait);
        };
        let engine = self.chip.engines.get(n).copied();
        let engine = engine.ok_or(DeviceError::Unsupported("no such engine"))?;
        reset::alone(engine, hw, wait)?;
        match engine.kind {
            Kind::Render => fixes::apply(self.chip, hw, self.render, wait),
            Kind::Blitter | Kind::Video => Ok(()),
        }
    }

    fn gtt_flush(&self, hw: &Hw<'_>) {
        translation::flush(hw);
    }

    fn gtt_settle(&self, hw: &Hw<'_>) {
        translation::settle(hw);
    }

    fn keeps_leftovers(&self) -> bool {
        self.leftovers
    }

    fn clocks(&self) -> Option<&dyn ClockControl> {
        Some(self)
    }

    fn user_register(&self, hw: &Hw<'_>, offset: u32) -> Option<u64> {
        user_regs::read(hw, offset)
    }

    fn errors(&self, hw: &Hw<'_>, _gt: &mut Gt, _topo: &Topology) -> Report {
        errors::report(self.chip, hw)
    }
}
