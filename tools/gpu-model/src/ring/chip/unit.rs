// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Units outside the engines that chips have each in its own way: the bus, interrupts, the host bridge's window.

use crate::intel::clocks::Capabilities;
use crate::ring::core::Core;
use crate::ring::regs::reg;

/// A chip's place on the bus.
#[derive(Clone, Copy, Debug)]
pub struct BusLayout {
    /// Bytes of BAR0.
    pub bar0: u64,
    /// Where in it page-table entries begin; registers lie below.
    pub table: u32,
    /// KB of entries, unless they can be chosen in megabytes.
    pub table_kb: Option<u32>,
    /// It can send messages; else its interrupts are INTx alone.
    pub msi: bool,
    /// It has advanced features: a reset of the function.
    pub function_reset: bool,
    /// Where a reset is asked for.
    pub reset: ResetBy,
}

/// Where a reset is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetBy {
    /// A register.
    Register(u32),
    /// A byte of the configuration space.
    Config(usize),
}

impl BusLayout {
    /// Gen6's and Gen7's: 2 MB of registers, 2 MB of entries (digest G-01 to G-05).
    pub const GEN6: BusLayout = BusLayout {
        bar0: 4 << 20,
        table: 2 << 20,
        table_kb: None,
        msi: true,
        function_reset: true,
        reset: ResetBy::Register(reg::GDRST),
    };
}

/// Where ring-local interrupt bits ([`crate::ring::irq::bit`]) of an engine are in the interrupt registers.
#[derive(Clone, Copy, Debug)]
pub enum IrqBits {
    /// All of them, so far up.
    Shifted(u32),
    /// Some of them, each at a place of its own: local bit, place.
    Placed(&'static [(u32, u32)]),
}

impl IrqBits {
    /// The mask of a ring-local bit; zero if the engine has no such event.
    pub fn mask(self, local: u32) -> u32 {
        match self {
            IrqBits::Shifted(n) => 1 << (local + n),
            IrqBits::Placed(bits) => {
                let place = bits.iter().find(|b| b.0 == local);
                place.map_or(0, |b| 1 << b.1)
            }
        }
    }

    /// All bits of the engine.
    pub fn all(self) -> u32 {
        match self {
            IrqBits::Shifted(n) => 0x1ff << n,
            IrqBits::Placed(bits) => bits.iter().fold(0, |all, b| all | 1 << b.1),
        }
    }

    /// Status bits in ring-local places.
    pub fn local(self, status: u32) -> u32 {
        match self {
            IrqBits::Shifted(n) => status >> n & 0x1ff,
            IrqBits::Placed(bits) => bits
                .iter()
                .fold(0, |all, b| all | (status >> b.1 & 1) << b.0),
        }
    }
}

/// The registers that engines' interrupts go through.
#[derive(Clone, Copy, Debug)]
pub struct IrqBlock {
    /// Status: levels as they are.
    pub status: u32,
    /// Mask: what does not reach the identity.
    pub mask: u32,
    /// Identity: what has happened; ones clear.
    pub identity: u32,
    /// Enable: what reaches the line.
    pub enable: u32,
    /// It is the chip's only one. Else each engine has a mask before it, and display and power management have
    /// blocks beside it, of which the display's has the master switch.
    pub only: bool,
    /// Bits whose identity is set when the status falls, not when it rises.
    pub falling: u32,
    /// A second event before the identity is cleared is kept, and shows after that.
    pub queues: bool,
}

impl IrqBlock {
    /// Gen6's and Gen7's (digest G-11 to G-14).
    pub const GEN6: IrqBlock = IrqBlock {
        status: reg::GTISR,
        mask: reg::GTIMR,
        identity: reg::GTIIR,
        enable: reg::GTIER,
        only: false,
        falling: 0,
        queues: false,
    };

    /// True for a register of interrupts.
    pub fn has(&self, offset: u32) -> bool {
        let own = [self.status, self.mask, self.identity, self.enable];
        own.contains(&offset) || !self.only && (reg::DEISR..=reg::PMIER).contains(&offset)
    }
}

/// The host bridge's registers that are seen through BAR0.
#[derive(Clone, Copy)]
pub struct Mchbar {
    /// First byte and the one after the last.
    pub range: (u32, u32),
    /// Registers of them that cannot be written; all others are storage.
    pub read_only: &'static [u32],
    /// Says what memory there is, at power-on.
    pub(crate) memory: fn(&mut Core),
    /// The engines' clocks (RP_STATE_CAP); zero where they are no driver's to choose.
    pub clocks: Capabilities,
}

impl Mchbar {
    /// Gen6's and Gen7's: sizes of the memory modules of both channels (G-31), which are equal if memory is
    /// swizzled; and the clocks, which are the chip's.
    pub const GEN6: Mchbar = Mchbar {
        range: (reg::MCHBAR, reg::MCHBAR_END),
        read_only: &[reg::MAD_DIMM_C0, reg::MAD_DIMM_C1, reg::RP_STATE_CAP],
        memory: |core| {
            let second = if core.cfg.swizzle { 0x10 } else { 0 };
            core.set(reg::MAD_DIMM_C0, 0x10);
            core.set(reg::MAD_DIMM_C1, second);
            let clocks = core.cfg.chip.mchbar.clocks;
            core.set(reg::RP_STATE_CAP, clocks.into());
        },
        clocks: Capabilities::new(),
    };

    /// True for an offset inside.
    pub fn contains(&self, offset: u32) -> bool {
        (self.range.0..self.range.1).contains(&offset)
    }
}

/// Bits that let swizzled memory be swizzled: a register and its bit each; `None` if nothing can keep it off.
#[derive(Clone, Copy, Debug)]
pub struct Swizzling {
    /// For the CPU, through fences.
    pub aperture: Option<(u32, u32)>,
    /// For the blitter.
    pub blitter: Option<(u32, u32)>,
}

impl Swizzling {
    /// Gen6's and Gen7's (G-31).
    pub const GEN6: Swizzling = Swizzling {
        aperture: Some((reg::TILECTL, 1 << 0)),
        blitter: Some((reg::ARB_MODE, 1 << 4)),
    };
}
