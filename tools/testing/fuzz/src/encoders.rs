// SPDX-License-Identifier: GPL-2.0
//! What requests become: within the bound that the engine states, in whole quadwords, and nothing but
//! commands that the engine has, as the decoder's own tables know them.

use crate::source::Source;
use crate::values::topology;
use ouro_decode::command::Engine as Class;
use ouro_decode::gen6;
use ouro_decode::stream::Walk;
use ouro_hw::engine::{
    Batch, Emit, Engine, EngineMemory, PageCopy, Privilege, Switch, COPY_DWORDS,
};
use ouro_hw::ring::Commands;
use ouro_hw::types::{EngineClass, GgttAddr, GpuAddr, MemoryKind, Seqno};

fn page(s: &mut Source<'_>) -> GgttAddr {
    GgttAddr(s.u32() & 0xffff_f000)
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    let engines = topology().engines;
    while !s.is_empty() {
        let engine = engines[s.below(engines.len() as u64) as usize];
        match s.u8() % 3 {
            0 => copies(&mut s, engine),
            _ => requests(&mut s, engine),
        }
    }
}

fn requests(s: &mut Source<'_>, engine: &dyn Engine) {
    let desc = engine.desc();
    let mem = EngineMemory {
        ring: page(s),
        status: page(s),
        scratch: page(s),
        directory: s.flag().then(|| page(s)),
        card: s.u32(),
    };
    let to = Switch::To {
        image: page(s),
        saved: s.flag(),
    };
    let request = Emit {
        switch: if s.flag() { to } else { Switch::Stay },
        known: None,
        batch: s.flag().then(|| Batch {
            addr: GpuAddr(if s.flag() {
                s.odd()
            } else {
                u64::from(s.u32() & !7)
            }),
            len: s.u32(),
            privilege: [Privilege::User, Privilege::Kernel][usize::from(s.flag())],
        }),
        inline: [&[][..], &[0; 6]][usize::from(s.flag())],
        seqno: Seqno(s.u32()),
    };
    let bound = desc.emit_dwords + request.inline.len();
    let mut buf = vec![0xffff_ffff; s.below(bound as u64 + 8) as usize];
    let room = buf.len();
    let mut out = Commands::new(&mut buf);
    if engine.emit(&request, &mem, &mut out).is_err() {
        let fits = request
            .batch
            .is_none_or(|b| b.addr.0 <= 0xffff_fffc && b.addr.0 % 4 == 0);
        assert!(room < bound || !fits, "{request:?}");
        return;
    }
    assert!(out.len() <= bound, "{request:?}: {} of {bound}", out.len());
    assert_eq!(out.len() % 2, 0, "whole quadwords");
    known(engine, out.as_slice());
}

fn copies(s: &mut Source<'_>, engine: &dyn Engine) {
    let copy = PageCopy {
        from: page(s),
        to: page(s),
        pages: s.odd() as u32,
        memory: MemoryKind::System,
    };
    let mut buf = [0; COPY_DWORDS];
    let room = s.below(COPY_DWORDS as u64 + 1) as usize;
    let mut out = Commands::new(&mut buf[..room]);
    if engine.copy(&copy, &mut out).is_ok() {
        assert!(copy.pages <= engine.desc().copy_pages, "{copy:?}");
        known(engine, out.as_slice());
    }
}

/// Fails unless a stream has commands of the engine only, and ends with the last one.
fn known(engine: &dyn Engine, dwords: &[u32]) {
    let class = match engine.desc().id.class {
        EngineClass::Render => Class::Render,
        EngineClass::Copy => Class::Blitter,
        _ => Class::Video,
    };
    for item in Walk::new(&gen6::GENERATION, class, dwords, 0, usize::MAX) {
        assert!(
            item.command.is_some(),
            "{}: {:08x?}",
            item.name,
            item.dwords
        );
        assert!(!item.is_cut(), "{}: {:08x?}", item.name, item.dwords);
    }
}
