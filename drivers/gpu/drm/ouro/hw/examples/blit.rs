// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Writes a copy of four pages for Sandy Bridge into a ring that is nothing but a vector, and
//! prints the ring.
//!
//!     cargo run -p ouro_hw --example blit
//!
//! No device is needed: encoders are pure functions. Only `Generation::probe` reads registers, and
//! here a table of values answers it. In a driver these are reads of the card.

use ouro_hw::{
    chips,
    engine::{EngineMemory, PageCopy, StatusPage, Switch, COPY_DWORDS},
    io::{Hw, Platform, Registers},
    ring::{Commands, Ring},
    types::{EngineClass, GgttAddr, MemoryKind, Seqno},
    Emit,
};
use std::error::Error;

/// A card on paper: the few values that a probe reads (row G-03; CXT_SIZE: SNB PRM V1P2 §5.8).
struct Card;

impl Registers for Card {
    fn read32(&self, offset: u32) -> u32 {
        match offset {
            // CXT_SIZE: how large each part of a context image is.
            0x21a0 => 0x0a10_d7ed,
            _ => 0,
        }
    }
    fn write32(&self, _offset: u32, _value: u32) {}
    fn write64(&self, _offset: u32, _value: u64) {}
}

impl Platform for Card {
    fn config32(&self, offset: u16) -> u32 {
        match offset {
            // GGC: 1 MiB of GGTT entries.
            0x50 => 0x0100,
            _ => 0,
        }
    }
    fn bar_len(&self, bar: u8) -> u64 {
        match bar {
            // The aperture.
            2 => 256 << 20,
            _ => 0,
        }
    }
    fn iommu(&self) -> bool {
        false
    }
    fn set_master(&self, _on: bool) {}
    fn warn(&self, what: &'static str) {
        eprintln!("warning: {what}");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let hw = Hw {
        regs: &Card,
        gtt: &Card,
        platform: &Card,
        firmware: &[],
        card: 0,
    };
    let chip = chips::lookup(chips::INTEL, 0x0116).ok_or("no backend has this chip")?;
    let topology = chip
        .generation
        .probe(&hw, chip)
        .map_err(|e| e.to_string())?;
    let mut engines = topology.engines.iter();
    let blitter = engines
        .find(|e| e.desc().id.class == EngineClass::Copy)
        .ok_or("it has no blitter")?;
    println!("{}: engine {}", chip.name, blitter.desc().id);

    // Where the ring and what belongs to it would be mapped. Nothing reads these pages here.
    let memory = EngineMemory {
        ring: GgttAddr(0x1_0000),
        status: StatusPage::Ggtt(GgttAddr(0x2_0000)),
        scratch: GgttAddr(0x3_0000),
        directory: None,
        card: topology.card,
    };
    let mut room = [0; COPY_DWORDS];
    let mut blit = Commands::new(&mut room);
    let copy = PageCopy {
        from: GgttAddr(0x10_0000),
        to: GgttAddr(0x20_0000),
        pages: 4,
        memory: MemoryKind::System,
        state: None,
    };
    blitter
        .copy(&copy, &mut blit)
        .map_err(|_| "the copy does not fit")?;
    let request = Emit {
        switch: Switch::Stay,
        directory: None,
        known: None,
        batch: None,
        inline: blit.as_slice(),
        watchdog: None,
        seqno: Seqno(1),
    };
    let mut room = vec![0; blitter.desc().emit_dwords + blit.len()];
    let mut out = Commands::new(&mut room);
    blitter
        .emit(&request, &memory, &mut out)
        .map_err(|_| "the request does not fit")?;

    // The ring: commands are copied into it in one piece, then the tail is written to a register.
    let mut dwords = vec![blitter.desc().noop; (blitter.desc().ring_bytes / 4) as usize];
    let mut ring = Ring::new(blitter.desc().ring_bytes);
    let slot = ring.reserve(out.len()).ok_or("the ring is full")?;
    let start = (slot.start.0 / 4) as usize;
    dwords[start..start + out.len()].copy_from_slice(out.as_slice());
    for (n, line) in dwords[..out.len()].chunks(4).enumerate() {
        let line: Vec<_> = line.iter().map(|d| format!("{d:08x}")).collect();
        println!("{:04x}  {}", 16 * n, line.join(" "));
    }
    println!(
        "tail {:#x}: written to the engine's register, it starts the work",
        slot.tail.0
    );
    Ok(())
}
