// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The register file: every register that the document or its digest names (§3.2, §3.3, §5.8), with
//! reset value and write rule. What only the upstream driver touches comes last, and is plain storage.

mod engine;

use super::engine::{Class, EngineId, ENGINES};
use super::l3;
use super::regs::{reg, ring, MMIO_SIZE, RPM_CONFIG0_VALUE};
use super::storage;
use super::workarounds::MASKED as MASKED_WORKAROUNDS;
use crate::intel::regfile::{Domain, RegDef, RegMap, Write};
use engine::ENGINE;
use std::sync::OnceLock;

const ALL: Write = Write::Bits(0xffff_ffff);
const MASKED: Write = Write::Masked(0xffff);

/// Registers of the GT: offset, dwords, name, value after power-on, rule, domain.
const GT: &[(u32, u32, &str, u32, Write, Domain)] = &[
    (
        reg::RPM_CONFIG0,
        1,
        "RPM_CONFIG0",
        RPM_CONFIG0_VALUE,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (0x0fd0, 1, "MCFG_MCR_SELECTOR", 0, ALL, Domain::Gt),
    (0x0fd8, 1, "SF_MCR_SELECTOR", 0, ALL, Domain::Gt),
    (0x0fdc, 1, "MCR_SELECTOR", 0, ALL, Domain::Gt),
    (0x0fe0, 1, "GAM_MCR_SELECTOR", 0, ALL, Domain::Gt),
    (reg::MOCS, 64, "GLOBAL_MOCS", 0, ALL, Domain::Gt),
    (0x4400, 6, "TRTT RCS", 0, ALL, Domain::Gt),
    (0x4420, 6, "TRTT VDBOX0", 0, ALL, Domain::Gt),
    (0x4440, 6, "TRTT VDBOX1", 0, ALL, Domain::Gt),
    (0x4460, 6, "TRTT VEBOX0", 0, ALL, Domain::Gt),
    (0x4480, 6, "TRTT BCS", 0, ALL, Domain::Gt),
    (0x4520, 6, "TRTT VDBOX2", 0, ALL, Domain::Gt),
    (0x4540, 6, "TRTT VDBOX3", 0, ALL, Domain::Gt),
    (0x4560, 6, "TRTT VEBOX1", 0, ALL, Domain::Gt),
    (0x4580, 6, "TRTT CCS0", 0, ALL, Domain::Gt),
    (0x45a0, 6, "TRTT CCS1", 0, ALL, Domain::Gt),
    (0x45c0, 6, "TRTT CCS2", 0, ALL, Domain::Gt),
    (0x45e0, 6, "TRTT CCS3", 0, ALL, Domain::Gt),
    (0x4800, 8, "PAT_INDEX", 0, ALL, Domain::Gt),
    (
        reg::TILE0_ADDR_RANGE,
        1,
        "TILE0_ADDR_RANGE",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::FLAT_CCS_BASE,
        1,
        "FLAT_CCS_BASE_ADDR",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (0x8000, 5, "MSG_IDLE", 0, Write::ReadOnly, Domain::Chip),
    (0x80c0, 9, "MSG_IDLE", 0, Write::ReadOnly, Domain::Chip),
    (0x9114, 1, "FUSE4", 0, Write::ReadOnly, Domain::Chip),
    (
        reg::MIRROR_FUSE3,
        1,
        "MIRROR_FUSE3",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::FUSE1,
        1,
        "MIRROR_FUSE1",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::FUSE_EU,
        1,
        "EU_ENABLE",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::FUSE_GEOMETRY_DSS,
        1,
        "GEOMETRY_DSS_ENABLE",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::FUSE_VDBOX_VEBOX,
        1,
        "VEBOX_VDBOX_ENABLE",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::FUSE_COMPUTE_DSS,
        1,
        "COMPUTE_DSS_ENABLE",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (0x91b8, 4, "PERFCNT", 0, Write::ReadOnly, Domain::Chip),
    (reg::GDRST, 1, "GDRST", 0, Write::Bits(0), Domain::Chip),
    (0xa01c, 1, "RP_STATUS0", 0, Write::ReadOnly, Domain::Chip),
    (0xa058, 1, "RP_PREV_UP", 0, Write::ReadOnly, Domain::Chip),
    (0xa064, 1, "RP_PREV_DOWN", 0, Write::ReadOnly, Domain::Chip),
    (0xa068, 2, "RP_UP_EI, RP_DOWN_EI", 0, ALL, Domain::Chip),
    (0xa26c, 1, "CTC_MODE", 0, Write::ReadOnly, Domain::Chip),
    (0xa288, 2, "FLC_THRESHOLD", 0, ALL, Domain::Chip),
    (0xa538, 2, "UNSLICE_FF_COUNT", 0, ALL, Domain::Chip),
    (l3::TABLE, l3::REGISTERS, "LNCFCMOCS", 0, ALL, Domain::Gt),
    (
        reg::GUC_STATUS,
        1,
        "GUC_STATUS",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    // Bit 0 is the lock, which forbids execlists to software (digest §5.13).
    (
        reg::GUC_WOPCM_SIZE,
        1,
        "GUC_WOPCM_SIZE",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::DMA_GUC_WOPCM_OFFSET,
        1,
        "DMA_GUC_WOPCM_OFFSET",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::FAULT_TLB_DATA0,
        2,
        "FAULT_TLB_DATA",
        0,
        Write::ReadOnly,
        Domain::Gt,
    ),
    (reg::RING_FAULT, 1, "RING_FAULT", 0, ALL, Domain::Gt),
    (0xced8, 1, "GFX_TLB_INV_CR", 0, Write::Bits(0), Domain::Gt),
    (0xcedc, 1, "VD_TLB_INV_CR", 0, Write::Bits(0), Domain::Gt),
    (0xcee0, 1, "VE_TLB_INV_CR", 0, Write::Bits(0), Domain::Gt),
    (0xcee4, 1, "BLT_TLB_INV_CR", 0, Write::Bits(0), Domain::Gt),
    (
        0xcf04,
        1,
        "COMPCTX_TLB_INV_CR",
        0,
        Write::Bits(0),
        Domain::Gt,
    ),
    (
        reg::GUC_TLB_INV,
        1,
        "GUC_TLB_INV_CR",
        0,
        Write::Bits(0),
        Domain::Gt,
    ),
    (0x1_4800, 1, "RCU_MODE", 0, MASKED, Domain::Gt),
    (
        0x1_4804,
        1,
        "CCS_MODE",
        0,
        Write::Masked(0x0fff),
        Domain::Gt,
    ),
    (0x4_44e0, 1, "PCU_ISR", 0, Write::ReadOnly, Domain::Chip),
    (0x4_44e4, 1, "PCU_IMR", 0xffff_ffff, ALL, Domain::Chip),
    (
        0x4_44e8,
        1,
        "PCU_IIR",
        0,
        Write::Clear(0xffff_ffff),
        Domain::Chip,
    ),
    (0x4_44ec, 1, "PCU_IER", 0, ALL, Domain::Chip),
    (0x4_44f0, 1, "GU_MISC_ISR", 0, Write::ReadOnly, Domain::Chip),
    (0x4_44f4, 1, "GU_MISC_IMR", 0xffff_ffff, ALL, Domain::Chip),
    (
        0x4_44f8,
        1,
        "GU_MISC_IIR",
        0,
        Write::Clear(0xffff_ffff),
        Domain::Chip,
    ),
    (0x4_44fc, 1, "GU_MISC_IER", 0, ALL, Domain::Chip),
    (
        0x10_1008,
        1,
        "GFX_FLSH_CNTL",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    (
        reg::GU_CNTL_PROTECTED,
        1,
        "GU_CNTL_PROTECTED",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (
        reg::GU_CNTL,
        1,
        "GU_CNTL",
        1 << 7,
        Write::Bits(0),
        Domain::Chip,
    ),
    (
        reg::GU_DEBUG,
        1,
        "GU_DEBUG",
        0,
        Write::Clear(1 << 31),
        Domain::Chip,
    ),
    (reg::DSMBASE, 2, "DSMBASE", 0, Write::ReadOnly, Domain::Chip),
    (reg::GSMBASE, 2, "GSMBASE", 0, Write::ReadOnly, Domain::Chip),
    (
        0x10_82c0,
        2,
        "STOLEN_RESERVED",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    (0x13_8104, 3, "GT_GFX_RC6", 0, Write::ReadOnly, Domain::Chip),
    (
        reg::PCODE_MAILBOX,
        1,
        "PCODE_MAILBOX",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    (reg::PCODE_DATA, 2, "PCODE_DATA", 0, ALL, Domain::Chip),
    (0x14_5040, 7, "GFXREG_GT", 0, Write::ReadOnly, Domain::Chip),
    (0x14_5828, 13, "GFXREG_IA", 0, Write::ReadOnly, Domain::Chip),
    (0x14_5928, 24, "GFXREG_IO", 0, Write::ReadOnly, Domain::Chip),
    // The interrupt tree keeps its own state; see `irq`.
    (
        reg::MSTR_TILE,
        1,
        "MSTR_TILE_INTR",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    (
        reg::GFX_MSTR,
        1,
        "GFX_MSTR_IRQ",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    (
        reg::INTR_DW0,
        2,
        "GT_INTR_DW",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    (0x19_0030, 7, "GT interrupt enables", 0, ALL, Domain::Chip),
    (
        reg::IDENTITY0,
        2,
        "INTR_IDENTITY",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    (
        reg::SELECTOR0,
        2,
        "IIR_REG_SELECTOR",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    (
        0x19_0090,
        1,
        "RCS0 interrupt mask",
        0xffff_ffff,
        ALL,
        Domain::Chip,
    ),
    (
        0x19_00a0,
        1,
        "BCS interrupt mask",
        0xffff_ffff,
        ALL,
        Domain::Chip,
    ),
    (
        0x19_00a8,
        2,
        "VCS interrupt masks",
        0xffff_ffff,
        ALL,
        Domain::Chip,
    ),
    (
        0x19_00d0,
        1,
        "VECS interrupt mask",
        0xffff_ffff,
        ALL,
        Domain::Chip,
    ),
    (
        0x19_00e4,
        6,
        "other interrupt masks",
        0xffff_ffff,
        ALL,
        Domain::Chip,
    ),
    (
        0x19_0100,
        2,
        "CCS interrupt masks",
        0xffff_ffff,
        ALL,
        Domain::Chip,
    ),
];

struct Table(Vec<RegDef>);

impl Table {
    fn add(&mut self, at: u32, n: u32, name: &str, reset: u32, write: Write, domain: Domain) {
        self.0.extend((0..n).map(|i| RegDef {
            offset: at + 4 * i,
            name: name.to_owned(),
            reset,
            write,
            domain,
        }));
    }

    /// The display: interrupts, power wells, pipes and planes are storage ([`super::lit`]).
    fn display(&mut self) {
        let chip = Domain::Chip;
        self.add(
            reg::DISPLAY_INT_CTL,
            1,
            "DISPLAY_INT_CTL",
            0,
            Write::Bits(1 << 31),
            chip,
        );
        for base in INTERRUPT_SETS {
            self.add(*base, 1, "display ISR", 0, Write::ReadOnly, chip);
            self.add(base + 4, 1, "display IMR", !0, ALL, chip);
            self.add(base + 8, 1, "display IIR", 0, Write::Clear(!0), chip);
            self.add(base + 12, 1, "display IER", 0, ALL, chip);
        }
        self.add(0x4_5400, 4, "PWR_WELL_CTL", 0, ALL, chip);
        for pipe in 0..4 {
            self.add(0x6_0000 + 0x1000 * pipe, 12, "transcoder", 0, ALL, chip);
            self.add(
                0x7_0000 + 0x1000 * pipe,
                0x180,
                "pipe and planes",
                0,
                ALL,
                chip,
            );
        }
    }
}

/// Sets of ISR, IMR, IIR and IER of the display: of its four pipes, of ports, of the rest, of plugs, of the
/// south display.
const INTERRUPT_SETS: &[u32] = &[
    0x4_4400, 0x4_4410, 0x4_4420, 0x4_4430, 0x4_4440, 0x4_4460, 0x4_4470, 0xc_4000,
];

/// All definitions. Engine registers of absent engines are among them; see `mmio`.
pub fn map() -> &'static RegMap {
    static MAP: OnceLock<RegMap> = OnceLock::new();
    MAP.get_or_init(|| {
        let mut t = Table(Vec::new());
        let render = Domain::Engine(EngineId::Rcs as u8);
        for (at, n) in storage::USER {
            t.add(*at, *n, "register of a whitelist", 0, ALL, render);
        }
        for (at, n, name, reset, write, domain) in GT {
            t.add(*at, *n, name, *reset, *write, *domain);
        }
        for (request, acknowledge) in super::forcewake::REGISTERS {
            t.add(request, 1, "FORCEWAKE", 0, Write::Bits(0), Domain::Chip);
            t.add(
                acknowledge,
                1,
                "FORCEWAKE_ACK",
                0,
                Write::ReadOnly,
                Domain::Chip,
            );
        }
        for e in ENGINES {
            let domain = Domain::Engine(e as u8);
            for (at, n, name, reset, write) in ENGINE {
                t.add(e.base() + at, *n, name, *reset, *write, domain);
            }
            if e.class() == Class::Decode {
                t.add(e.base() + 0x800, 512, "MFC", 0, ALL, domain);
                t.add(e.base() + 0x2800, 64, "HEVC", 0, ALL, domain);
            }
            // The submission queue is kept over resets (B9).
            t.add(
                e.base() + ring::SQ,
                16,
                "EXECLIST_SQ_CONTENTS",
                0,
                ALL,
                Domain::Chip,
            );
        }
        for at in storage::OPENED {
            t.add(*at, 1, "register opened to programs", 0, MASKED, render);
        }
        for (at, n) in storage::UPSTREAM {
            t.add(*at, *n, "register of upstream", 0, ALL, Domain::Gt);
        }
        for at in MASKED_WORKAROUNDS {
            t.add(*at, 1, "register of a workaround", 0, MASKED, Domain::Gt);
        }
        // Outside of the GT: upstream writes it once, before its resets.
        t.add(0x10_1014, 1, "XEHP_CLOCK_GATE_DIS", 0, ALL, Domain::Chip);
        t.display();
        RegMap::new(MMIO_SIZE, t.0)
    })
}
