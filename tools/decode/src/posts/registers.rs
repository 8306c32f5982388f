// SPDX-License-Identifier: GPL-2.0
//! What the bits of error and status registers say.
//!
//! PGTBL_ER of Gen4: G45 PRM Vol 1b 5.7.2; fault registers of Gen6 and Gen7: SNB PRM V1P2 5.7.2.1, VCS PRM
//! 4.3; of Gen8 and later, and the names of units in INSTDONE: upstream's tools (digests of Gen4 G-07 and G-11, Gen6
//! G-23). RBBM_STATUS: digest of R5xx.

/// Names of bits.
type Bits = &'static [(u8, &'static str)];

const INSTRUCTION: (u8, &str) = (
    0,
    "instruction error: a command that is none, or not allowed",
);

/// EIR of 965 (digest of Gen4 G-15).
const EIR_965: Bits = &[
    INSTRUCTION,
    (1, "memory refresh error"),
    (4, "page table error"),
];

/// The same of G4X and Gen5.
const EIR_G4X: Bits = &[
    INSTRUCTION,
    (1, "memory refresh error"),
    (3, "command privilege violation"),
    (4, "memory privilege violation"),
    (5, "page table error"),
];

/// The same of the engines of Gen6 and later (digest of Gen12 I12 to I14).
const EIR_LATER: Bits = &[
    INSTRUCTION,
    (2, "command privilege violation"),
    (4, "page table error"),
];

const PGTBL_ER: Bits = &[
    (0, "host: invalid entry"),
    (1, "a valid entry references memory that is not allowed"),
    (4, "display A: invalid entry"),
    (8, "display B: invalid entry"),
    (17, "overlay: invalid entry"),
    (18, "cursor: invalid entry"),
    (19, "command streamer: invalid entry"),
    (20, "fetch of commands: invalid entry"),
    (21, "fetch of vertices: invalid entry"),
    (23, "instruction and state cache: invalid entry"),
    (24, "render cache: invalid entry"),
    (26, "sampler cache: invalid entry"),
];

/// ERROR at 40A0h.
const ERROR_6: Bits = &[
    (0, "page fault: PTE is not valid"),
    (1, "context image: GGTT entry is not valid"),
    (2, "page directory entry is not valid"),
    (3, "status page: GGTT entry is not valid"),
    (4, "VT-d fault on a page"),
    (5, "VT-d fault on the context image"),
    (6, "VT-d fault on a page directory"),
    (7, "VT-d fault on the status page"),
    (8, "page directory was not loaded"),
];

const ERROR_7: Bits = &[
    (0, "page fault: PTE is not valid"),
    (1, "address of a stream that is not allowed (read)"),
    (2, "page directory entry is not valid"),
    (3, "address of a read-only stream that is not allowed"),
    (4, "VT-d fault on a page"),
    (5, "address of a write that is not allowed"),
    (6, "VT-d fault on a page directory"),
    (8, "page directory was not loaded"),
];

const UNITS_4: Bits = &[
    (1, "command parser"),
    (2, "instruction cache of row 1"),
    (3, "instruction cache of row 0"),
    (4, "message arbiter of row 1"),
    (5, "message arbiter of row 0"),
    (6, "map L2"),
    (7, "map filter"),
    (8, "colour calculator"),
    (9, "pixel shader"),
    (10, "bypass"),
    (11, "filter"),
    (12, "sampler cache"),
    (13, "texture decompression"),
    (14, "texture fetch"),
    (15, "quad cache"),
    (16, "dependency graph"),
    (17, "projection"),
    (18, "dispatcher"),
    (21, "windower"),
    (22, "setup engine"),
    (23, "strips and fans"),
    (24, "EU 3 of row 1"),
    (25, "EU 2 of row 1"),
    (26, "EU 1 of row 1"),
    (27, "EU 0 of row 1"),
    (28, "EU 3 of row 0"),
    (29, "EU 2 of row 0"),
    (30, "EU 1 of row 0"),
    (31, "EU 0 of row 0"),
];

const UNITS_4_FIRST: Bits = &[
    (0, "vertex fetch"),
    (1, "vertex shader"),
    (2, "geometry shader"),
    (3, "clipper"),
    (4, "instruction and state cache"),
    (5, "URB"),
];

const UNITS_G4X: Bits = &[
    (0, "vertex fetch"),
    (1, "vertex shader"),
    (2, "geometry shader"),
    (3, "clipper"),
    (4, "strips and fans"),
    (5, "URB"),
    (6, "windower"),
    (7, "PL"),
    (8, "stream out"),
    (9, "SI"),
    (10, "dependency graph"),
    (11, "texture fetch"),
    (12, "texture decompression"),
    (13, "sampler cache"),
    (14, "filter"),
    (15, "quad cache"),
    (16, "MASM"),
    (17, "SVSM"),
    (20, "MAWB"),
    (21, "data port"),
    (22, "render cache"),
    (23, "map and texture"),
    (24, "instruction and state cache"),
    (25, "SVRR"),
    (26, "SVRW"),
    (27, "SVDR"),
    (28, "SVDW"),
    (29, "MASF"),
    (30, "command streamer"),
    (31, "blitter and codec streamer"),
];

const UNITS_5: Bits = &[
    (1, "AM"),
    (2, "AC"),
    (3, "AI"),
    (4, "gateway"),
    (5, "thread spawner"),
    (6, "SVTS"),
    (7, "thread dispatcher"),
    (8, "video front end"),
    (15, "VC-1"),
    (19, "codec"),
];

const UNITS_6: Bits = &[
    (1, "AVS"),
    (2, "HiZ"),
    (3, "gateway"),
    (4, "thread spawner"),
    (6, "thread dispatcher"),
    (7, "video front end"),
    (8, "IEF"),
    (9, "VSC"),
];

const UNITS_6_2: Bits = &[
    (0, "vertex fetch"),
    (1, "vertex shader"),
    (2, "geometry shader"),
    (3, "clipper"),
    (4, "strips and fans"),
    (5, "motion estimation"),
    (7, "stream out"),
    (9, "dependency graph"),
    (10, "texture fetch"),
    (12, "sampler cache"),
    (13, "filter"),
    (16, "windower front end"),
    (17, "intermediate Z"),
    (18, "pixel shader dispatch"),
    (19, "data port"),
    (20, "depth cache"),
    (25, "instruction and state cache"),
    (27, "render cache"),
    (29, "windower back end"),
    (30, "command streamer"),
    (31, "memory arbiter (GAM)"),
];

const UNITS_7: Bits = &[
    (1, "vertex fetch"),
    (2, "vertex shader"),
    (3, "hull shader"),
    (4, "tessellation"),
    (5, "domain shader"),
    (6, "geometry shader"),
    (7, "stream out"),
    (8, "clipper"),
    (9, "strips and fans"),
    (12, "thread dispatcher"),
    (13, "URB"),
    (14, "SVG"),
    (16, "video front end"),
    (17, "thread spawner"),
    (18, "GAFM"),
    (19, "memory arbiter (GAM)"),
    (20, "resource streamer"),
    (21, "command streamer"),
    (22, "SDE"),
    (23, "FBC"),
];

const RBBM: Bits = &[
    (31, "the chip (GUI active)"),
    (17, "2D engine (E2)"),
    (18, "2D back end (RB2D)"),
    (19, "3D back end (RB3D)"),
    (20, "vertex processing (VAP)"),
    (21, "rasterizer (RE)"),
    (22, "texture address (TAM)"),
    (23, "texture data (TDM)"),
    (24, "PB"),
    (25, "texture input (TIM)"),
    (26, "geometry assembly (GA)"),
    (27, "CBA2D"),
    (28, "host interface (HI)"),
    (29, "SKID_CF"),
    (30, "vertex fetch (VAP_VF)"),
    (16, "command stream (CP)"),
];

/// The bits that are set, in words; those without a name by number.
fn set(bits: Bits, value: u64) -> Vec<String> {
    (0..32u8)
        .filter(|bit| value >> bit & 1 != 0)
        .map(|bit| match bits.iter().find(|b| b.0 == bit) {
            Some((_, name)) => (*name).to_owned(),
            None => format!("bit {bit}"),
        })
        .collect()
}

/// EIR, or an engine's ESR: what is wrong. `generation` is times ten.
pub fn errors(generation: u16, value: u64) -> Vec<String> {
    let bits = match generation {
        ..45 => EIR_965,
        45..60 => EIR_G4X,
        _ => EIR_LATER,
    };
    set(bits, value & 0xffff)
}

/// PGTBL_ER: whose access had an invalid entry.
pub fn table_errors(generation: u16, value: u64) -> Vec<String> {
    match generation {
        40..=50 => set(PGTBL_ER, value),
        _ => vec![format!("{value:#010x}")],
    }
}

/// ERROR, at 40A0h.
pub fn faults(generation: u16, value: u64) -> Vec<String> {
    match generation {
        60 => set(ERROR_6, value),
        75 => set(ERROR_7, value & !0x7c00),
        _ => set(ERROR_7, value),
    }
}

/// FAULT_REG of an engine: `None` if it holds no fault.
pub fn fault(generation: u16, value: u64) -> Option<String> {
    if value & 1 == 0 {
        return None;
    }
    let kind = value >> 1 & 3;
    let source = value >> 3 & 0xff;
    if generation < 80 {
        let kind = [
            "page",
            "page directory not valid",
            "page directory not loaded",
            "page directory neither valid nor loaded",
        ][kind as usize];
        let table = if value >> 11 & 1 != 0 {
            "GGTT"
        } else {
            "PPGTT"
        };
        let address = value & 0xffff_f000;
        return Some(format!(
            "fault at {address:#010x} in the {table}: {kind}, source {source:#x}"
        ));
    }
    let level = [
        "page table",
        "page directory",
        "directory pointer",
        "level 4",
    ][kind as usize];
    let engine = [
        "render",
        "video 0",
        "video 1",
        "enhancement",
        "blitter",
        "5",
        "6",
        "7",
    ][(value >> 12 & 7) as usize];
    Some(format!(
        "fault of the {engine} engine: entry of the {level} is not valid, source {source:#x}"
    ))
}

/// FAULT_TLB_DATA: the address, from the upper and the lower register.
pub fn fault_address(above: u64, below: u64) -> String {
    let address = (above & 0xf) << 44 | (below & 0xffff_ffff) << 12;
    let table = if above >> 4 & 1 != 0 { "GGTT" } else { "PPGTT" };
    format!("address {address:#014x} in the {table}")
}

/// Units that are not done, by INSTDONE and, where there is one, the second register of a render engine.
pub fn busy(generation: u16, first: Option<u64>, second: Option<u64>) -> Vec<String> {
    let (one, two): (Bits, Bits) = match generation {
        40 => (UNITS_4, UNITS_4_FIRST),
        45 => (UNITS_4, UNITS_G4X),
        50 => (UNITS_5, UNITS_G4X),
        60 => (UNITS_6, UNITS_6_2),
        70..=125 => (UNITS_7, &[]),
        _ => (&[], &[]),
    };
    let mut out = Vec::new();
    for (bits, value) in [(two, second), (one, first)] {
        let Some(value) = value else {
            continue;
        };
        let clear = bits.iter().filter(|(bit, _)| value >> bit & 1 == 0);
        out.extend(clear.map(|(_, name)| (*name).to_owned()));
    }
    units_once(out)
}

/// Each name once; execution units by their number.
fn units_once(names: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let eus = names.iter().filter(|n| n.starts_with("EU ")).count();
    if eus > 0 {
        out.push(format!("{eus} execution units"));
    }
    for name in names.into_iter().filter(|n| !n.starts_with("EU ")) {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// RBBM_STATUS of R5xx in words.
pub fn rbbm_status(value: u32) -> String {
    let busy: Vec<&str> = RBBM
        .iter()
        .filter(|(bit, _)| value >> bit & 1 != 0)
        .map(|b| b.1)
        .collect();
    match busy.is_empty() {
        true => String::from("idle"),
        false => format!("busy: {}", busy.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_words() {
        assert_eq!(errors(40, 0x10), ["page table error"]);
        assert_eq!(
            errors(45, 0x30),
            ["memory privilege violation", "page table error"]
        );
        assert!(errors(45, 0).is_empty());
        assert_eq!(
            errors(60, 0x81),
            [
                "instruction error: a command that is none, or not allowed",
                "bit 7"
            ]
        );
        // Digest of Gen4 G-07: 20 command fetch, 0 host.
        assert_eq!(
            table_errors(45, 0x0010_0001),
            ["host: invalid entry", "fetch of commands: invalid entry"]
        );
        assert_eq!(faults(60, 2), ["context image: GGTT entry is not valid"]);
        // Of Haswell, 14:10 count faults.
        assert_eq!(faults(75, 0x0c01), ["page fault: PTE is not valid"]);
    }

    /// VCS PRM 4.3, V-17: 31:12 address, 11 GGTT, 10:3 source, 2:1 type, 0 valid.
    #[test]
    fn faults_have_words() {
        assert_eq!(fault(70, 0x1234_5000), None);
        assert_eq!(
            fault(70, 0x1234_5803).as_deref(),
            Some("fault at 0x12345000 in the GGTT: page directory not valid, source 0x0")
        );
        assert_eq!(
            fault(90, 0x4013).as_deref(),
            Some(
                "fault of the blitter engine: entry of the page directory is not valid, source 0x2"
            )
        );
        assert_eq!(
            fault_address(0x11, 0x10),
            "address 0x100000010000 in the GGTT"
        );
    }

    #[test]
    fn units_have_words() {
        assert_eq!(
            busy(45, Some(0xffff_ffff), Some(0xbfff_fffe)),
            ["vertex fetch", "command streamer"]
        );
        assert_eq!(busy(70, Some(0xffff_fffd), None), ["vertex fetch"]);
        // All but bits 24 to 30 done, and of the second register all but the windower.
        let most = busy(45, Some(0x80ff_ffff & !(1 << 21)), Some(0xffff_ffbf));
        assert_eq!(most, ["7 execution units", "windower"]);
        assert!(busy(30, Some(0), None).is_empty());
    }

    #[test]
    fn radeon_status_has_words() {
        assert_eq!(rbbm_status(0x40), "idle");
        assert_eq!(
            rbbm_status(0x8010_0040),
            "busy: the chip (GUI active), vertex processing (VAP)"
        );
    }
}
