// SPDX-License-Identifier: GPL-2.0
//! The register file: every register that the document or its digest names (§3.2, §3.3, §5.8), with
//! reset value and write rule. What only the upstream driver touches comes last, and is plain storage.

use super::engine::{Class, EngineId, ENGINES};
use super::regs::{reg, ring, MMIO_SIZE, RPM_CONFIG0_VALUE};
use super::storage;
use super::workarounds::MASKED as MASKED_WORKAROUNDS;
use crate::intel::regfile::{Domain, RegDef, RegMap, Write};
use std::sync::OnceLock;

const ALL: Write = Write::Bits(0xffff_ffff);
const MASKED: Write = Write::Masked(0xffff);

/// Engine registers of every engine: offset, name, value after a reset, rule. Each of a range of `n`
/// dwords has the same.
const ENGINE: &[(u32, u32, &str, u32, Write)] = &[
    (ring::EXCC, 1, "EXCC", 0, MASKED),
    (ring::TAIL, 1, "RING_TAIL", 0, Write::Bits(0x001f_fff8)),
    (ring::HEAD, 1, "RING_HEAD", 0, Write::Bits(0xffff_fffc)),
    (ring::START, 1, "RING_START", 0, Write::Bits(0xffff_f000)),
    (ring::CTL, 1, "RING_CTL", 0, Write::Bits(0x001f_f007)),
    (0x050, 1, "PSMI_CTL", 0, MASKED),
    (0x054, 1, "RC_PWRCTX_MAXCNT", 0, ALL),
    (0x058, 1, "CTX_WA_PTR", 0, ALL),
    (ring::ACTHD_UDW, 1, "ACTHD_UDW", 0, Write::ReadOnly),
    (0x060, 1, "DMA_FADD_UDW", 0, Write::ReadOnly),
    (ring::IPEIR, 1, "IPEIR", 0, Write::ReadOnly),
    (ring::IPEHR, 1, "IPEHR", 0, Write::ReadOnly),
    (ring::INSTDONE, 1, "INSTDONE", 0xffff_ffff, Write::ReadOnly),
    (ring::INSTPS, 1, "INSTPS", 0, Write::ReadOnly),
    (ring::ACTHD, 1, "ACTHD", 0, Write::ReadOnly),
    (ring::DMA_FADD, 1, "DMA_FADD", 0, Write::ReadOnly),
    (ring::HWS_PGA, 1, "HWS_PGA", 0, Write::Bits(0xffff_f000)),
    (ring::CMD_BUF_CCTL, 1, "CMD_BUF_CCTL", 0, ALL),
    (ring::ID, 1, "CS_ENGINE_ID", 0, Write::ReadOnly),
    (ring::NOPID, 1, "NOPID", 0, Write::Bits(0x003f_ffff)),
    (ring::HWSTAM, 1, "HWSTAM", 0xffff_ffff, ALL),
    (ring::MI_MODE, 1, "MI_MODE", 0, Write::Masked(0xfdff)),
    (0x0a4, 1, "INT_SRC_REPORT_PTR", 0, ALL),
    // No document has its reset value. The upstream driver never writes it, and is interrupted.
    (ring::IMR, 1, "IMR", 0, ALL),
    (0x0ac, 1, "INT_STATUS_REPORT_PTR", 0, ALL),
    (ring::EIR, 1, "EIR", 0, Write::ReadOnly),
    (ring::EMR, 1, "EMR", 0xffff_ffff, ALL),
    (ring::ESR, 1, "ESR", 0, Write::ReadOnly),
    (0x0bc, 1, "STATE_ACK_DEBUG", 0, Write::ReadOnly),
    (ring::INSTPM, 1, "INSTPM", 0, MASKED),
    (0x0c4, 1, "CMD_CCTL", 0, MASKED),
    (ring::R_PWR_CLK_STATE, 1, "R_PWR_CLK_STATE", 0, ALL),
    (0x0cc, 1, "WAIT_FOR_RC6_EXIT", 0, ALL),
    (ring::RESET_CTL, 1, "RESET_CTL", 0, Write::Bits(0)),
    (0x0d4, 1, "CSFE_CHICKEN1", 0, MASKED),
    (0x010, 4, "FORCE_TO_NONPRIV 12-15", 0, ALL),
    (ring::BB_STATE, 1, "BB_STATE", 0, Write::ReadOnly),
    (0x114, 3, "SBB", 0, Write::ReadOnly),
    (ring::PRT_BB_STATE, 2, "PRT_BB_STATE", 0, ALL),
    (0x134, 1, "UHPTR", 0, ALL),
    (0x138, 2, "SBB_PREEMPT_ADDR", 0, ALL),
    (ring::BB_HEAD, 1, "BB_HEAD", 0, Write::ReadOnly),
    (0x148, 1, "BB_PREEMPT_ADDR", 0, ALL),
    (0x14c, 1, "RING_HEAD_PREEMPT", 0, ALL),
    (ring::BB_START_ADDR, 1, "BB_START_ADDR", 0, ALL),
    (0x154, 1, "BB_ADD_DIFF", 0, ALL),
    (ring::BB_OFFSET, 1, "BB_OFFSET", 0, ALL),
    (ring::BB_HEAD_UDW, 1, "BB_HEAD_UDW", 0, Write::ReadOnly),
    (0x16c, 1, "BB_PREEMPT_ADDR_UDW", 0, ALL),
    (ring::BB_START_ADDR_UDW, 1, "BB_START_ADDR_UDW", 0, ALL),
    // Zero would mean that it counts: it is off after a reset (P1).
    (ring::PR_CTR_CTL, 1, "PR_CTR_CTL", 1, ALL),
    (ring::PR_CTR_THRSH, 1, "PR_CTR_THRSH", 0, ALL),
    (0x180, 1, "CCID", 0, ALL),
    (0x188, 2, "display message forward status", 0, ALL),
    (0x1ac, 1, "CXT_OFFSET", 0, ALL),
    (0x1b0, 1, "register 1B0 of the context image", 0, ALL),
    (0x1b8, 1, "CS_INT_VEC", 0, MASKED),
    (ring::BB_PER_CTX_PTR, 1, "BB_PER_CTX_PTR", 0, ALL),
    (ring::INDIRECT_CTX, 1, "INDIRECT_CTX", 0, ALL),
    (
        ring::INDIRECT_CTX_OFFSET,
        1,
        "INDIRECT_CTX_OFFSET",
        0x340,
        ALL,
    ),
    (0x1d0, 4, "FORCE_TO_NONPRIV 16-19", 0, ALL),
    (0x1f8, 1, "SYNC_FLIP_STATUS", 0, ALL),
    (ring::PREDICATION_MASK, 1, "PREDICATION_MASK", 0, ALL),
    (0x200, 1, "SWCTRL", 0, MASKED),
    (0x204, 1, "BLIT_CCTL", 0, ALL),
    (0x20c, 1, "CSCMDOP", 0, Write::ReadOnly),
    (0x214, 1, "PREEMPT_DLY", 0, ALL),
    (ring::CSB_INTERRUPT_MASK, 1, "CSB_INTERRUPT_MASK", 0, ALL),
    (0x21c, 1, "WPARID", 0, ALL),
    (ring::ELSP, 1, "ELSP", 0, Write::Bits(0)),
    (
        ring::EXECLIST_STATUS,
        2,
        "EXECLIST_STATUS",
        0,
        Write::ReadOnly,
    ),
    (0x23c, 1, "IDLEDELAY", 0, ALL),
    (ring::CURRENT_LRCA, 1, "CURRENT_LRCA", 0, Write::ReadOnly),
    (ring::CTX_CONTROL, 1, "CTX_CONTROL", 0, MASKED),
    (0x248, 1, "CTXT_PREMP_DBG", 0, ALL),
    (0x24c, 1, "SEMA_WAIT_POLL", 0, ALL),
    (ring::PDP0, 8, "PDP", 0, ALL),
    (0x290, 2, "GPGPU_THREADS_DISPATCHED", 0, ALL),
    (ring::GFX_MODE, 1, "GFX_MODE", 0, MASKED),
    (0x2b4, 1, "SEMAPHORE_TOKEN", 0, ALL),
    (0x2b8, 1, "SYNC_FLIP_STATUS", 0, ALL),
    (0x2c0, 2, "SYNC_FLIP_STATUS", 0, ALL),
    (0x2d0, 2, "SYNC_FLIP_STATUS", 0, ALL),
    (0x2e8, 2, "SYNC_FLIP_STATUS", 0, ALL),
    (ring::TIMESTAMP, 2, "TIMESTAMP", 0, Write::ReadOnly),
    (0x360, 2, "OA_CTX_CONTROL", 0, ALL),
    (ring::CSB_LOW, 12, "CONTEXT_STATUS_BUF 0-5", 0, ALL),
    (
        ring::CSB_POINTER,
        1,
        "CONTEXT_STATUS_PTR",
        0,
        Write::Masked(0x0f0f),
    ),
    (ring::CTX_TIMESTAMP, 1, "CTX_TIMESTAMP", 0, ALL),
    (0x3b4, 1, "CS_MI_ADDRESS_OFFSET", 0, ALL),
    (
        ring::SET_PREDICATE_RESULT,
        1,
        "MI_SET_PREDICATE_RESULT",
        0,
        ALL,
    ),
    (ring::PREDICATE_RESULT_2, 1, "MI_PREDICATE_RESULT_2", 0, ALL),
    (ring::CSB_HIGH, 12, "CONTEXT_STATUS_BUF 6-11", 0, ALL),
    (
        ring::PREDICATE_SRC0,
        6,
        "MI_PREDICATE_SRC0, SRC1, DATA",
        0,
        ALL,
    ),
    (ring::PREDICATE_RESULT, 1, "MI_PREDICATE_RESULT", 0, ALL),
    (ring::PREDICATE_RESULT_1, 1, "MI_PREDICATE_RESULT_1", 0, ALL),
    (0x424, 3, "STOP_PARSER", 0, ALL),
    (0x4bc, 1, "CS_PREEMPTION_HINT", 0, ALL),
    (0x4c8, 2, "CS_PREEMPTION_HINT", 0, ALL),
    (ring::NONPRIV, 12, "FORCE_TO_NONPRIV 0-11", 0, ALL),
    (0x500, 3, "GPGPU_DISPATCHDIM", 0, ALL),
    (
        ring::EXECLIST_CONTROL,
        1,
        "EXECLIST_CONTROL",
        0,
        Write::Bits(0),
    ),
    (0x56c, 1, "EQ_ELEMENT_MASK", 0, ALL),
    (0x580, 1, "CS_CHICKEN1", 0, MASKED),
    (ring::BB_STACK, 1, "BB_STACK_WRITE_PORT", 0, Write::ReadOnly),
    (0x5a8, 2, "registers 5A8, 5AC of the context image", 0, ALL),
    (ring::GPR, 32, "CS_GPR", 0, ALL),
];

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
    (0xb020, 32, "LNCFCMOCS", 0, ALL, Domain::Gt),
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
