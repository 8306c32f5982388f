// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Gen4: 965G and GM965, G45 and GM45 (G45 PRM V1b, which has the rules; offsets and layouts that it leaves out are
//! from the digest, G-nn). What the four do in their own way is in [`crate::gen4`].
//!
//! The document says "CTG" of GM45 and never names G45; both are taken to be alike but for the display (digest,
//! "Product names").

mod regs;

use super::{
    BusLayout, Chip, ContextImage, DisplayEvents, EngineCounters, EngineRow, Forcewake, Hooks,
    IrqBits, IrqBlock, Mchbar, PipeControl, ResetBy, Swizzling, Ways,
};
use crate::gen4::{self, bits, Gen4};
use crate::intel::clocks::Capabilities;
use crate::intel::{cmd3d, fence, mi, pte};
use crate::ring::blit;
use crate::ring::engine::EngineId;
use crate::ring::irq::bit;

/// 8086:2e22 is the G45 that upstream works on; the others of its class are Q45, G41, B43 (G-01).
pub const G45: Chip = Chip {
    name: "g45",
    ids: &[0x2e22, 0x2e02, 0x2e12, 0x2e32, 0x2e42, 0x2e92],
    engines: &[RCS_G4X, VCS],
    bus: BusLayout {
        // G-02: entries begin at 2 MB; 1 MB of them is what upstream was measured with (peer digest B).
        bar0: 4 << 20,
        table: 2 << 20,
        table_kb: Some(1024),
        ..G965.bus
    },
    mchbar: Mchbar {
        memory: gen4::chipset::channels,
        ..G965.mchbar
    },
    ways: Ways {
        table_error: bits::G4X_PAGE_TABLE,
        status_page_bits: 0xffff_f000,
        start_in_head: true,
        ..G965.ways
    },
    mi: &[mi::GEN4, mi::G4X],
    // G-40: bits 63:20 count quarters of a nanosecond.
    timestamp: |ns| ns << 22,
    registers: &[regs::GEN4, regs::DISPLAY, regs::G4X],
    gen4: Some(&Gen4 {
        g4x: true,
        broadwater: false,
        mobile: false,
        ..GEN4_965G
    }),
    map: register_map!(G45),
    ..G965
};

/// 8086:2a42, Cantiga, is mobile: memory tells swizzling in another way, and its display compresses (7).
pub const GM45: Chip = Chip {
    name: "gm45",
    ids: &[0x2a42],
    mchbar: Mchbar {
        memory: gen4::chipset::mobile_channels,
        ..G965.mchbar
    },
    registers: &[regs::GEN4, regs::DISPLAY, regs::G4X, regs::DPFC],
    gen4: Some(&Gen4 {
        g4x: true,
        broadwater: false,
        mobile: true,
        compressor: Some(gen4::Compressor::Dpfc),
    }),
    map: register_map!(GM45),
    ..G45
};

/// 8086:29a2; others of its class are 946GZ, G35 and 965Q (G-01).
pub const G965: Chip = Chip {
    name: "g965",
    ids: &[0x29a2, 0x2972, 0x2982, 0x2992],
    engines: &[RCS_965],
    bus: BusLayout {
        // G-02: entries begin at 512 KB, and there is a BAR of 1 MB.
        bar0: 1 << 20,
        table: 512 << 10,
        table_kb: Some(512),
        // G-14: no messages, though real ones have the capability: upstream loses interrupts with it.
        msi: false,
        function_reset: false,
        reset: ResetBy::Config(gen4::reset::BYTE),
    },
    irq: IrqBlock {
        // G-13.
        status: 0x20ac,
        mask: 0x20a8,
        identity: 0x20a4,
        enable: 0x20a0,
        only: true,
        falling: bits::FLIP_A | bits::FLIP_B | bits::FLIP_C | bits::FLIP_OVERLAY,
        queues: true,
    },
    mchbar: Mchbar {
        // G-27.
        range: (0x1_0000, 0x1_4000),
        read_only: &[
            gen4::chipset::DCC,
            gen4::chipset::C0DRB3,
            gen4::chipset::C1DRB3,
            gen4::chipset::CLKCFG,
        ],
        memory: gen4::chipset::channels,
        clocks: Capabilities::new(),
    },
    ways: Ways {
        // G-10: an address of the bus, of 36 bits.
        status_page_bits: 0xffff_f0f0,
        // G-15.
        table_error: bits::I965_PAGE_TABLE,
        // 5.3.10.5: the command stream's go with a write of an entry.
        stream_tlb: false,
        flush_by_mode: false,
        ..Ways::GEN6
    },
    mi: &[mi::GEN4],
    // Its own form is in `crate::gen4::flush`.
    pipe_control: PipeControl {
        global: (1, 1 << 2),
        prelude: false,
        stalls: false,
    },
    pte: pte::GEN4,
    fences: fence::GEN4,
    tiled_by: None,
    // TIL-18, G-26: nothing keeps it off.
    swizzling: Swizzling {
        aperture: None,
        blitter: None,
    },
    // G-40: a quarter of the front side bus, here of 800 MHz.
    timestamp: |ns| ns / 5,
    // Eight lines in a batch (GM45, a real machine's error record: GW09); a ring as its relatives.
    ahead: [5, 8],
    forcewake: Forcewake::NONE,
    always_on: &[],
    fifo: None,
    context: ContextImage {
        // 5.8.1: 2 KB at most.
        main: 2048,
        extended: 1024,
        // 5.8.1: addresses are of 2 KB.
        address: 0xffff_f800,
        physical: true,
        blitter: true,
        // 5.8.
        saved: &[
            regs::INSTPM,
            regs::CACHE_MODE_0,
            regs::CACHE_MODE_1,
            regs::MI_ARB_STATE,
        ],
        statistics: regs::STATISTICS,
    },
    display_events: DisplayEvents {
        vblank: bits::VBLANK_A,
        flips: &[bits::FLIP_A, bits::FLIP_B, bits::FLIP_C],
    },
    display: regs::SHOWN,
    block: &[regs::BLOCK],
    registers: &[regs::GEN4, regs::DISPLAY],
    arrays: &[],
    firmware_bits: regs::FIRMWARE_BITS,
    hooks: Hooks {
        read: gen4::read,
        written: gen4::written,
        command: gen4::mi::command,
        page_fault: gen4::errors::page_fault,
        aperture: gen4::errors::aperture,
        power_on: gen4::power_on,
        settle: gen4::settle,
        reset_done: gen4::reset::done,
        config: gen4::reset::config_written,
        config_byte: gen4::reset::byte_read,
        pending: gen4::irq::left_pending,
        ..Hooks::NONE
    },
    gen4: Some(&GEN4_965G),
    map: register_map!(G965),
};

/// 8086:2a02, and its twin.
pub const GM965: Chip = Chip {
    name: "gm965",
    ids: &[0x2a02, 0x2a12],
    mchbar: Mchbar {
        memory: gen4::chipset::mobile_channels,
        ..G965.mchbar
    },
    registers: &[regs::GEN4, regs::DISPLAY, regs::FBC],
    arrays: &[regs::FBC_TAGS],
    gen4: Some(&Gen4 {
        mobile: true,
        broadwater: false,
        compressor: Some(gen4::Compressor::Rle),
        ..GEN4_965G
    }),
    map: register_map!(GM965),
    ..G965
};

const GEN4_965G: Gen4 = Gen4 {
    g4x: false,
    mobile: false,
    broadwater: true,
    compressor: None,
};

const RCS_965: EngineRow = EngineRow {
    id: EngineId::Rcs,
    // G-04.
    base: 0x2000,
    // G-13.
    irq: IrqBits::Placed(&[
        (bit::USER, 1),
        (bit::SYNC_STATUS, 12),
        (bit::MASTER_ERROR, 15),
        (bit::NOTIFY, 18),
    ]),
    fault: None,
    // G-10.
    hws_pga: 0x2080,
    // The domain of the reset byte (G-20), as a bit: 1 render, 2 media.
    reset_bit: 1 << 1,
    mode: None,
    // 1.21: five of them.
    conditions: 0x1f,
    events: gen4::events::EVENTS,
    unreported: 0,
    reports_unmasked: false,
    flush_stopped: false,
    sleeps: false,
    head_waits: false,
    renders: true,
    // MIB-01: the blitter's commands ride this ring.
    two_d: Some(blit::decode),
    three_d: Some(|header| cmd3d::render(&[cmd3d::GEN4, cmd3d::G965], header)),
    table_errors: true,
    watchdog: false,
    counters: EngineCounters::RCS,
};

const RCS_G4X: EngineRow = EngineRow {
    three_d: Some(|header| cmd3d::render(&[cmd3d::GEN4, cmd3d::G4X], header)),
    ..RCS_965
};

/// The video codec engine, from Cantiga on (2.1).
const VCS: EngineRow = EngineRow {
    id: EngineId::Vcs,
    base: 0x4000,
    irq: IrqBits::Placed(&[(bit::USER, 25), (bit::MASTER_ERROR, 15)]),
    hws_pga: 0x4080,
    reset_bit: 1 << 2,
    // 2.12: none.
    events: 0,
    conditions: 0,
    renders: false,
    two_d: None,
    three_d: Some(cmd3d::video),
    counters: EngineCounters::VCS,
    ..RCS_965
};
