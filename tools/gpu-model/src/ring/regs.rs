// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The register file: every register that a document or the digest names, with its reset value and write
//! rule. Here is what the family shares; the rest is in the chips' files. Effects beyond storing are in `mmio`.
//!
//! Sources: SNB PRM V1P2 §3, §4.5.4, §5.4–5.9; VCS PRM 1.1 for the engine block; offsets that the
//! documents leave out from the digest of Gen6, §5 (G-nn). What no document names but the upstream
//! driver touches is marked so and is plain storage or zero.

use crate::intel::fence::FenceUnit;
use crate::intel::regfile::{Domain, RegDef, RegMap, Write};
use crate::ring::chip::{Chip, EngineRow};
use crate::ring::engine::EngineId;

/// Size of the register half of BAR0.
pub const MMIO_SIZE: u32 = 2 << 20;
/// Registers below this need the GT awake (digest G-15).
pub const GT_LIMIT: u32 = 0x4_0000;

/// Offsets in an engine's block.
pub mod ring {
    #![allow(missing_docs)]
    pub const EXCC: u32 = 0x28;
    pub const TAIL: u32 = 0x30;
    pub const HEAD: u32 = 0x34;
    pub const START: u32 = 0x38;
    pub const CTL: u32 = 0x3c;
    pub const SYNC0: u32 = 0x40;
    pub const SYNC1: u32 = 0x44;
    pub const PSMI_CTL: u32 = 0x50;
    pub const MAX_IDLE: u32 = 0x54;
    pub const IPEIR: u32 = 0x64;
    pub const IPEHR: u32 = 0x68;
    pub const INSTDONE: u32 = 0x6c;
    pub const INSTPS: u32 = 0x70;
    pub const ACTHD: u32 = 0x74;
    pub const DMA_FADD: u32 = 0x78;
    pub const NOPID: u32 = 0x94;
    pub const HWSTAM: u32 = 0x98;
    pub const MI_MODE: u32 = 0x9c;
    pub const IMR: u32 = 0xa8;
    pub const EIR: u32 = 0xb0;
    pub const EMR: u32 = 0xb4;
    pub const ESR: u32 = 0xb8;
    pub const INSTPM: u32 = 0xc0;
    pub const BB_STATE: u32 = 0x110;
    pub const UHPTR: u32 = 0x134;
    pub const BB_ADDR: u32 = 0x140;
    pub const CCID: u32 = 0x180;
    pub const RNCID_LO: u32 = 0x198;
    pub const RNCID_HI: u32 = 0x19c;
    pub const SECOND_BATCH: u32 = 0x144;
    pub const CNTR: u32 = 0x178;
    pub const THRSH: u32 = 0x17c;
    pub const PP_DCLV: u32 = 0x220;
    pub const PP_DCLV_HI: u32 = 0x224;
    pub const PP_DIR_BASE: u32 = 0x228;
    pub const TIMESTAMP: u32 = 0x358;
    pub const HINT: u32 = 0x4c8;
    pub const PP_DIR_BASE_READ: u32 = 0x518;
}

/// Offsets of single registers that are at the same place on all chips.
pub mod reg {
    #![allow(missing_docs)]
    pub const PGTBL_ER: u32 = 0x2024;
    pub const PS_DEPTH_COUNT: u32 = 0x2350;
    pub const ARB_MODE: u32 = 0x4030;
    pub const GAM_ECOCHK: u32 = 0x4090;
    pub const ERROR_GEN6: u32 = 0x40a0;
    pub const DONE_REG: u32 = 0x40b0;
    pub const GDRST: u32 = 0x941c;
    pub const RPNSWREQ: u32 = 0xa008;
    pub const RP_DOWN_TIMEOUT: u32 = 0xa010;
    pub const RPSTAT1: u32 = 0xa01c;
    pub const RP_CONTROL: u32 = 0xa024;
    pub const RP_UP_THRESHOLD: u32 = 0xa02c;
    pub const RP_DOWN_THRESHOLD: u32 = 0xa030;
    pub const RP_CUR_UP_EI: u32 = 0xa050;
    pub const RP_PREV_UP: u32 = 0xa058;
    pub const RP_CUR_DOWN_EI: u32 = 0xa05c;
    pub const RP_PREV_DOWN: u32 = 0xa064;
    pub const RP_UP_EI: u32 = 0xa068;
    pub const RP_DOWN_EI: u32 = 0xa06c;
    pub const RC_CONTROL: u32 = 0xa090;
    pub const RC_STATE: u32 = 0xa094;
    pub const PMINTRMSK: u32 = 0xa168;
    pub const FORCEWAKE: u32 = 0xa18c;
    pub const GAC_ECO_BITS: u32 = 0x1_4090;
    pub const GAB_CTL: u32 = 0x2_4000;
    pub const FLUSH_CYCLE: u32 = 0x4_f100;
    pub const DEISR: u32 = 0x4_4000;
    pub const DEIMR: u32 = 0x4_4004;
    pub const DEIIR: u32 = 0x4_4008;
    pub const DEIER: u32 = 0x4_400c;
    pub const GTISR: u32 = 0x4_4010;
    pub const GTIMR: u32 = 0x4_4014;
    pub const GTIIR: u32 = 0x4_4018;
    pub const GTIER: u32 = 0x4_401c;
    pub const PMISR: u32 = 0x4_4020;
    pub const PMIMR: u32 = 0x4_4024;
    pub const PMIIR: u32 = 0x4_4028;
    pub const PMIER: u32 = 0x4_402c;
    pub const TILECTL: u32 = 0x10_1000;
    pub const GFX_FLSH_CNTL: u32 = 0x10_1008;
    pub const STOLEN_RESERVED: u32 = 0x10_82c0;
    pub const GTFIFODBG: u32 = 0x12_0000;
    pub const GTFIFOCTL: u32 = 0x12_0008;
    pub const FORCEWAKE_ACK: u32 = 0x13_0090;
    pub const GT_THREAD_STATUS: u32 = 0x13_805c;
    pub const RC6_STATUS: u32 = 0x13_8108;
    pub const RC6PP_STATUS: u32 = 0x13_8110;
    pub const PCODE_MAILBOX: u32 = 0x13_8124;
    pub const PCODE_DATA: u32 = 0x13_8128;
    pub const PCODE_DATA1: u32 = 0x13_812c;
    pub const MCHBAR: u32 = 0x14_0000;
    pub const MCHBAR_END: u32 = 0x18_0000;
    pub const MAD_DIMM_C0: u32 = 0x14_5004;
    pub const MAD_DIMM_C1: u32 = 0x14_5008;
    pub const RP_STATE_CAP: u32 = 0x14_5998;
}

/// A register of every engine's block: offset in the block, name, value after a reset, write rule.
pub struct BlockRow(pub u32, pub &'static str, pub u32, pub Write);

/// A register at a place of its own: offset, name, value after a reset, write rule, and what resets it.
pub struct Row(pub u32, pub &'static str, pub u32, pub Write, pub Domain);

/// Registers one after the other: offset of the first, how many, their name, write rule, what resets them. All
/// are zero then.
pub struct Array(pub u32, pub u32, pub &'static str, pub Write, pub Domain);

/// All bits are stored.
pub const ALL: Write = Write::Bits(0xffff_ffff);
/// Sixteen bits with a mask above.
pub const MASKED: Write = Write::Masked(0xffff);

/// What every engine's block has, besides EXCC and the time.
pub const BLOCK: &[BlockRow] = &[
    BlockRow(ring::TAIL, "RING_TAIL", 0, Write::Bits(0x001f_fff8)),
    BlockRow(ring::HEAD, "RING_HEAD", 0, Write::Bits(0xffff_fffc)),
    BlockRow(ring::START, "RING_START", 0, Write::Bits(0xffff_f000)),
    BlockRow(ring::CTL, "RING_CTL", 0, Write::Bits(0x001f_f107)),
    BlockRow(ring::SYNC0, "SYNC_0", 0, ALL),
    BlockRow(ring::SYNC1, "SYNC_1", 0, ALL),
    BlockRow(ring::PSMI_CTL, "PSMI_CTL", 0, Write::Masked(0x0007)),
    BlockRow(ring::MAX_IDLE, "RING_MAX_IDLE", 0, ALL),
    BlockRow(ring::IPEIR, "IPEIR", 0, ALL),
    BlockRow(ring::IPEHR, "IPEHR", 0, Write::ReadOnly),
    BlockRow(ring::INSTDONE, "INSTDONE", 0xffff_ffff, Write::ReadOnly),
    BlockRow(ring::INSTPS, "INSTPS", 0, Write::ReadOnly),
    BlockRow(ring::ACTHD, "ACTHD", 0, Write::ReadOnly),
    BlockRow(ring::DMA_FADD, "DMA_FADD", 0, Write::ReadOnly),
    BlockRow(ring::NOPID, "NOPID", 0, Write::Bits(0x003f_ffff)),
    BlockRow(ring::HWSTAM, "HWSTAM", 0xffff_ffff, ALL),
    BlockRow(ring::MI_MODE, "MI_MODE", 0, Write::Masked(0xfdff)),
    BlockRow(ring::IMR, "IMR", 0xffff_ffff, ALL),
    BlockRow(ring::EIR, "EIR", 0, Write::ReadOnly),
    BlockRow(ring::EMR, "EMR", 0x0000_ffff, Write::Bits(0xffff)),
    BlockRow(ring::ESR, "ESR", 0, Write::ReadOnly),
    BlockRow(ring::INSTPM, "INSTPM", 0, Write::Masked(0xffff)),
    BlockRow(ring::BB_STATE, "BB_STATE", 0, Write::ReadOnly),
    BlockRow(ring::UHPTR, "UHPTR", 0, Write::Bits(0x001f_fff9)),
    BlockRow(ring::BB_ADDR, "BB_ADDR", 0, Write::ReadOnly),
    BlockRow(ring::PP_DCLV, "PP_DIR_DCLV", 0, ALL),
    BlockRow(ring::PP_DCLV_HI, "PP_DIR_DCLV (high)", 0, Write::ReadOnly),
    BlockRow(
        ring::PP_DIR_BASE,
        "PP_DIR_BASE",
        0,
        Write::Bits(0xffff_0000),
    ),
    BlockRow(
        ring::PP_DIR_BASE_READ,
        "PP_DIR_BASE_READ",
        0,
        Write::ReadOnly,
    ),
];

/// What every chip's GT has outside its engines.
pub const GT: &[Row] = &[
    Row(
        reg::ARB_MODE,
        "ARB_MODE",
        0,
        Write::Masked(0xffff),
        Domain::Gt,
    ),
    Row(reg::GAM_ECOCHK, "GAM_ECOCHK", 0, ALL, Domain::Gt),
    Row(reg::ERROR_GEN6, "ERROR", 0, ALL, Domain::Gt),
    Row(reg::DONE_REG, "DONE", 0, Write::ReadOnly, Domain::Gt),
    Row(0x1_4050, "GAC_ARB_CTL", 0x0040_0002, ALL, Domain::Gt),
    Row(reg::GAC_ECO_BITS, "GAC_ECO_BITS", 0, ALL, Domain::Gt),
    Row(reg::GAB_CTL, "GAB_CTL", 0, ALL, Domain::Gt),
    Row(0x9400, "UCGCTL1", 0, ALL, Domain::Chip),
    Row(0x9404, "UCGCTL2", 0, ALL, Domain::Chip),
    Row(reg::GDRST, "GDRST", 0, Write::Bits(0), Domain::Chip),
    Row(reg::RPNSWREQ, "RPNSWREQ", 0, ALL, Domain::Chip),
    Row(0xa00c, "RC_VIDEO_FREQ", 0, ALL, Domain::Chip),
    Row(
        reg::RP_DOWN_TIMEOUT,
        "RP_DOWN_TIMEOUT",
        0,
        ALL,
        Domain::Chip,
    ),
    Row(0xa014, "RP_INTERRUPT_LIMITS", 0, ALL, Domain::Chip),
    Row(reg::RPSTAT1, "RPSTAT1", 0, Write::ReadOnly, Domain::Chip),
    Row(reg::RP_CONTROL, "RP_CONTROL", 0, ALL, Domain::Chip),
    Row(
        reg::RP_UP_THRESHOLD,
        "RP_UP_THRESHOLD",
        0,
        ALL,
        Domain::Chip,
    ),
    Row(
        reg::RP_DOWN_THRESHOLD,
        "RP_DOWN_THRESHOLD",
        0,
        ALL,
        Domain::Chip,
    ),
    Row(
        reg::RP_CUR_UP_EI,
        "RP_CUR_UP_EI",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(0xa054, "RP_CUR_UP", 0, Write::ReadOnly, Domain::Chip),
    Row(
        reg::RP_PREV_UP,
        "RP_PREV_UP",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(
        reg::RP_CUR_DOWN_EI,
        "RP_CUR_DOWN_EI",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(0xa060, "RP_CUR_DOWN", 0, Write::ReadOnly, Domain::Chip),
    Row(
        reg::RP_PREV_DOWN,
        "RP_PREV_DOWN",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(reg::RP_UP_EI, "RP_UP_EI", 0, ALL, Domain::Chip),
    Row(reg::RP_DOWN_EI, "RP_DOWN_EI", 0, ALL, Domain::Chip),
    Row(0xa070, "RP_IDLE_HYSTERSIS", 0, ALL, Domain::Chip),
    Row(reg::RC_CONTROL, "RC_CONTROL", 0, ALL, Domain::Chip),
    Row(reg::RC_STATE, "RC_STATE", 0, ALL, Domain::Chip),
    Row(0xa098, "RC1_WAKE_RATE_LIMIT", 0, ALL, Domain::Chip),
    Row(0xa09c, "RC6_WAKE_RATE_LIMIT", 0, ALL, Domain::Chip),
    Row(0xa0a0, "RC6pp_WAKE_RATE_LIMIT", 0, ALL, Domain::Chip),
    Row(0xa0a8, "RC_EVALUATION_INTERVAL", 0, ALL, Domain::Chip),
    Row(0xa0ac, "RC_IDLE_HYSTERSIS", 0, ALL, Domain::Chip),
    Row(0xa0b0, "RC_SLEEP", 0, ALL, Domain::Chip),
    Row(0xa0b4, "RC1e_THRESHOLD", 0, ALL, Domain::Chip),
    Row(0xa0b8, "RC6_THRESHOLD", 0, ALL, Domain::Chip),
    Row(0xa0bc, "RC6p_THRESHOLD", 0, ALL, Domain::Chip),
    Row(0xa0c0, "RC6pp_THRESHOLD", 0, ALL, Domain::Chip),
    Row(reg::PMINTRMSK, "PMINTRMSK", 0xffff_ffff, ALL, Domain::Chip),
    Row(reg::FORCEWAKE, "FORCEWAKE", 0, Write::Bits(0), Domain::Chip),
    Row(reg::DEISR, "DEISR", 0, Write::ReadOnly, Domain::Chip),
    Row(reg::DEIMR, "DEIMR", 0xffff_ffff, ALL, Domain::Chip),
    Row(
        reg::DEIIR,
        "DEIIR",
        0,
        Write::Clear(0xffff_ffff),
        Domain::Chip,
    ),
    Row(reg::DEIER, "DEIER", 0, ALL, Domain::Chip),
    Row(reg::GTISR, "GTISR", 0, Write::ReadOnly, Domain::Chip),
    Row(reg::GTIMR, "GTIMR", 0xffff_ffff, ALL, Domain::Chip),
    Row(
        reg::GTIIR,
        "GTIIR",
        0,
        Write::Clear(0xffff_ffff),
        Domain::Chip,
    ),
    Row(reg::GTIER, "GTIER", 0, ALL, Domain::Chip),
    Row(reg::PMISR, "PMISR", 0, Write::ReadOnly, Domain::Chip),
    Row(reg::PMIMR, "PMIMR", 0xffff_ffff, ALL, Domain::Chip),
    Row(
        reg::PMIIR,
        "PMIIR",
        0,
        Write::Clear(0xffff_ffff),
        Domain::Chip,
    ),
    Row(reg::PMIER, "PMIER", 0, ALL, Domain::Chip),
    Row(reg::TILECTL, "TILECTL", 0, ALL, Domain::Chip),
    Row(
        reg::GFX_FLSH_CNTL,
        "GFX_FLSH_CNTL",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    Row(
        reg::STOLEN_RESERVED,
        "STOLEN_RESERVED",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(
        reg::GTFIFODBG,
        "GTFIFODBG",
        0,
        Write::Clear(0x7f),
        Domain::Chip,
    ),
    Row(
        reg::GTFIFOCTL,
        "GTFIFOCTL",
        0,
        Write::Bits(0xffff_ff80),
        Domain::Chip,
    ),
    Row(
        reg::FORCEWAKE_ACK,
        "FORCEWAKE_ACK",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(
        reg::GT_THREAD_STATUS,
        "GT_THREAD_STATUS",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(
        0x13_8104,
        "GT_GFX_RC6_LOCKED",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(
        reg::RC6_STATUS,
        "GT_GFX_RC6",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(0x13_810c, "GT_GFX_RC6p", 0, Write::ReadOnly, Domain::Chip),
    Row(
        reg::RC6PP_STATUS,
        "GT_GFX_RC6pp",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
    Row(
        reg::PCODE_MAILBOX,
        "PCODE_MAILBOX",
        0,
        Write::Bits(0),
        Domain::Chip,
    ),
    Row(reg::PCODE_DATA, "PCODE_DATA", 0, ALL, Domain::Chip),
    Row(reg::PCODE_DATA1, "PCODE_DATA1", 0, ALL, Domain::Chip),
    // Written inside the chip by a sync flush; harmless from outside (VCS PRM 1.1.3.5).
    Row(
        reg::FLUSH_CYCLE,
        "configuration write of a TLB flush",
        0,
        Write::ReadOnly,
        Domain::Chip,
    ),
];

/// A counter of 64 bits: the offset of its lower half, and its name.
pub type Counts = (u32, &'static str);

/// Counters of the pipeline's stages, which all of these chips have.
pub const STAGES: &[Counts] = &[
    (0x2310, "IA_VERTICES_COUNT"),
    (0x2318, "IA_PRIMITIVES_COUNT"),
    (0x2320, "VS_INVOCATION_COUNT"),
    (0x2328, "GS_INVOCATION_COUNT"),
    (0x2330, "GS_PRIMITIVES_COUNT"),
    (0x2338, "CL_INVOCATION_COUNT"),
    (0x2340, "CL_PRIMITIVES_COUNT"),
    (0x2348, "PS_INVOCATION_COUNT"),
    (0x2350, "PS_DEPTH_COUNT"),
];

struct Table(Vec<RegDef>);

impl Table {
    fn add(&mut self, offset: u32, name: &str, reset: u32, write: Write, domain: Domain) {
        self.0.push(RegDef {
            offset,
            name: name.to_owned(),
            reset,
            write,
            domain,
        });
    }

    fn engine(&mut self, chip: &Chip, engine: &EngineRow) {
        use ring::*;
        let base = engine.base;
        let domain = Domain::Engine(engine.id as u8);
        let tag = engine.id.name().to_uppercase();
        self.add(
            base + EXCC,
            &format!("{tag} EXCC"),
            0,
            Write::Masked(engine.conditions),
            domain,
        );
        for BlockRow(offset, name, reset, write) in chip.block.iter().copied().flatten() {
            self.add(
                base + offset,
                &format!("{tag} {name}"),
                *reset,
                *write,
                domain,
            );
        }
        // The low 32 and high 4 bits of the time; not stored (VCS PRM 1.1.9.5: survives a reset).
        self.add(
            base + TIMESTAMP,
            &format!("{tag} TIMESTAMP"),
            0,
            Write::ReadOnly,
            Domain::Chip,
        );
        self.add(
            base + TIMESTAMP + 4,
            &format!("{tag} TIMESTAMP (high)"),
            0,
            Write::ReadOnly,
            Domain::Chip,
        );
        self.add(
            engine.hws_pga,
            &format!("{tag} HWS_PGA"),
            chip.ways.status_page,
            Write::Bits(chip.ways.status_page_bits),
            domain,
        );
        if let Some(fault) = engine.fault {
            self.add(fault, &format!("{tag} FAULT"), 0, Write::Bits(0), domain);
        }
    }

    fn fences(&mut self, fences: &FenceUnit) {
        for n in 0..fences.count {
            for (half, name) in ["", " (high)"].into_iter().enumerate() {
                self.add(
                    fences.base + 8 * n + 4 * half as u32,
                    &format!("FENCE_{n}{name}"),
                    0,
                    Write::Bits(fences.stored[half]),
                    Domain::Chip,
                );
            }
        }
    }
}

/// A chip's register map; built once.
pub(super) fn map(chip: &Chip) -> RegMap {
    let mut t = Table(Vec::new());
    for (offset, name) in chip.display {
        t.add(*offset, name, 0, Write::ReadOnly, Domain::Display);
    }
    for engine in chip.engines {
        t.engine(chip, engine);
    }
    for (offset, name) in chip.context.counts() {
        let domain = Domain::Engine(EngineId::Rcs as u8);
        t.add(*offset, name, 0, ALL, domain);
        t.add(offset + 4, &format!("{name} (high)"), 0, ALL, domain);
    }
    for Row(offset, name, reset, write, domain) in chip.registers.iter().copied().flatten() {
        t.add(*offset, name, *reset, *write, *domain);
    }
    for Array(first, count, name, write, domain) in chip.arrays.iter().copied().flatten() {
        for n in 0..*count {
            t.add(first + 4 * n, &format!("{name}[{n}]"), 0, *write, *domain);
        }
    }
    t.fences(&chip.fences);
    RegMap::new(MMIO_SIZE, t.0)
}

/// The definition of a chip's register; `None` if no document names it.
///
/// The MCHBAR alias keeps the attributes of the host bridge's window (§3): storage, but for the
/// sizes of the memory modules and the frequency capability, which are filled in at power-on.
pub fn lookup(chip: &Chip, offset: u32) -> Option<(Write, Domain)> {
    if chip.mchbar.read_only.contains(&offset) {
        return Some((Write::ReadOnly, Domain::Chip));
    }
    if chip.mchbar.contains(offset) {
        return Some((ALL, Domain::Chip));
    }
    (chip.map)().get(offset).map(|d| (d.write, d.domain))
}
