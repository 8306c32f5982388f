// SPDX-License-Identifier: GPL-2.0
//! What requests become, on each backend: within the bound that the engine states, filled up as it is to be,
//! and nothing but commands that the engine has, as the decoder's own tables know them.

use crate::kinds::{Kind, KINDS};
use crate::source::Source;
use ouro_decode::command::Engine as Class;
use ouro_decode::stream::Walk;
use ouro_hw::engine::{
    Batch, Emit, Engine, EngineMemory, PageCopy, PageFill, Privilege, StatusPage, Switch,
    COPY_DWORDS,
};
use ouro_hw::ring::Commands;
use ouro_hw::types::{EngineClass, GgttAddr, GpuAddr, MemoryKind, Seqno};

fn page(s: &mut Source<'_>) -> GgttAddr {
    // some of them at pieces of the card's memory
    GgttAddr(s.u32() & [0xffff_f000, 0xffff_0000][usize::from(s.flag())])
}

fn memory(s: &mut Source<'_>) -> MemoryKind {
    [MemoryKind::System, MemoryKind::Local][usize::from(s.flag())]
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    while !s.is_empty() {
        let kind = &KINDS[s.below(KINDS.len() as u64) as usize];
        let engines = (kind.topology)().engines;
        let engine = engines[s.below(engines.len() as u64) as usize];
        match s.u8() % 4 {
            0 => copies(&mut s, kind, engine),
            1 => fills(&mut s, kind, engine),
            _ => requests(&mut s, kind, engine),
        }
    }
}

fn batch(s: &mut Source<'_>) -> Batch {
    Batch {
        addr: GpuAddr(match s.u8() % 3 {
            0 => s.odd(),
            1 => u64::from(s.u32() & !7),
            _ => s.u64() & 0x7fff_ffff_fff8,
        }),
        len: match s.u8() % 2 {
            0 => s.u32(),
            _ => s.u32() & 0xf_fffc,
        },
        privilege: [Privilege::User, Privilege::Kernel][usize::from(s.flag())],
    }
}

fn requests(s: &mut Source<'_>, kind: &Kind, engine: &dyn Engine) {
    let desc = engine.desc();
    let mem = EngineMemory {
        ring: page(s),
        status: StatusPage::Ggtt(page(s)),
        scratch: page(s),
        directory: s.flag().then(|| page(s)),
        card: s.u32(),
    };
    let to = Switch::To {
        image: page(s),
        saved: s.flag(),
    };
    let noops = [desc.noop; 6];
    let request = Emit {
        switch: if s.flag() { to } else { Switch::Stay },
        directory: None,
        known: (desc.known_dwords != 0 && s.flag()).then(|| batch(s)),
        batch: s.flag().then(|| batch(s)),
        inline: [&[][..], &noops][usize::from(s.flag())],
        watchdog: (desc.watchdog)
            .filter(|_| s.flag())
            .map(|limits| s.u32().clamp(limits.least, limits.most)),
        seqno: Seqno(s.u32()),
    };
    let bound = desc.emit_dwords + request.inline.len();
    let mut buf = vec![0xffff_ffff; s.below(bound as u64 + 8) as usize];
    let room = buf.len();
    let mut out = Commands::new(&mut buf);
    if engine.emit(&request, &mem, &mut out).is_err() {
        let named = request.known.iter().chain(&request.batch).all(kind.names);
        assert!(room < bound || !named, "{request:?}");
        return;
    }
    assert!(out.len() <= bound, "{request:?}: {} of {bound}", out.len());
    assert_eq!(out.len() % kind.unit, 0, "{request:?}");
    known(kind, engine, out.as_slice());
}

fn copies(s: &mut Source<'_>, kind: &Kind, engine: &dyn Engine) {
    let copy = PageCopy {
        from: page(s),
        to: page(s),
        pages: (s.odd() as u32) << [0, 4][usize::from(s.flag())],
        memory: memory(s),
        state: (engine.desc().state_bytes != 0 && s.flag()).then(|| page(s)),
    };
    let mut buf = [0; COPY_DWORDS];
    let room = s.below(COPY_DWORDS as u64 + 1) as usize;
    let mut out = Commands::new(&mut buf[..room]);
    if engine.copy(&copy, &mut out).is_ok() {
        assert!(copy.pages <= engine.desc().copy_pages, "{copy:?}");
        known(kind, engine, out.as_slice());
    }
}

fn fills(s: &mut Source<'_>, kind: &Kind, engine: &dyn Engine) {
    let fill = PageFill {
        to: page(s),
        pages: (s.odd() as u32) << [0, 4][usize::from(s.flag())],
        value: s.u32(),
        memory: memory(s),
    };
    let mut buf = [0; COPY_DWORDS];
    let room = s.below(COPY_DWORDS as u64 + 1) as usize;
    let mut out = Commands::new(&mut buf[..room]);
    if engine.fill(&fill, &mut out).is_ok() {
        assert!(fill.pages <= engine.desc().fill_pages, "{fill:?}");
        known(kind, engine, out.as_slice());
    }
}

/// Fails unless a stream has commands of the engine only, and ends with the last one.
fn known(kind: &Kind, engine: &dyn Engine, dwords: &[u32]) {
    let class = match engine.desc().id.class {
        EngineClass::Render => Class::Render,
        EngineClass::Copy => Class::Blitter,
        EngineClass::Video => Class::Video,
        EngineClass::VideoEnhance => Class::Enhance,
        EngineClass::Compute => Class::Compute,
    };
    for item in Walk::new(kind.generation, class, dwords, 0, usize::MAX) {
        assert!(
            item.command.is_some() || item.is_padding(),
            "{}: {:08x?}",
            item.name,
            item.dwords
        );
        assert!(!item.is_cut(), "{}: {:08x?}", item.name, item.dwords);
    }
}
