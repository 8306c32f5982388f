// SPDX-License-Identifier: GPL-2.0
//! Error states of i915, from Linux 2.6.34 to 6.x (`/sys/kernel/debug/dri/0/i915_error_state`,
//! `/sys/class/drm/card0/error`).
//!
//! Lines `NAME: VALUE` come first: of the device, then, indented, of each engine below `render command stream:`. In
//! the oldest texts the only engine has no such line. Then there are copies of memory below `render ring --- gtt_offset
//! = ADDRESS`, a dword a line, from 4.11 on a stream in one line; and lists of requests. From 5.6 on each engine
//! has its copies behind its registers. Where the microcontroller told the registers, the engine's line is longer.
//!
//! The order is not relied on: what a line is, it says itself.

use super::chips::{self, Chip};
use super::{bare, memory, pair, Buffer, Kind, Post, Request, Role};
use std::borrow::Cow;

/// Registers of an engine, which the oldest texts have without an engine.
const OF_AN_ENGINE: &[&str] = &[
    "ACTHD",
    "BBADDR",
    "BB_STATE",
    "CTL",
    "FADDR",
    "HEAD",
    "HWS",
    "INSTDONE",
    "INSTDONE1",
    "INSTPM",
    "INSTPS",
    "IPEHR",
    "IPEIR",
    "MODE",
    "START",
    "TAIL",
    "seqno",
    "last_seqno",
    "waiting",
    "ring->head",
    "ring->tail",
    "FAULT_REG",
    "RC PSMI",
    "GFX_MODE",
    "PP_DIR_BASE",
];

/// Registers of the device, which end an engine's even where indentation was lost.
const OF_THE_DEVICE: &[&str] = &[
    "EIR",
    "IER",
    "PGTBL_ER",
    "FORCEWAKE",
    "DERRMR",
    "ERROR",
    "DONE_REG",
    "ERR_INT",
    "FAULT_TLB_DATA",
    "PCI ID",
    "Kernel",
    "Time",
    "GTIER",
    "GAM_DONE",
    "GTT_CACHE_EN",
    "AUX_ERR_DBG",
];

/// What the lines that follow belong to.
enum Section {
    /// Nothing in particular.
    Device,
    /// An engine's registers.
    Engine(String),
    /// The last copy.
    Copy,
    /// An engine's requests.
    Requests(String),
    /// Who waits for an engine.
    Waiters(String),
    /// Objects that the GPU had.
    Objects,
    /// What nothing is taken from: the display's registers.
    Other,
}

/// Reads a text. Everything is passed over that is not known.
pub fn read(text: &str) -> Post {
    let mut post = Post::new(Kind::I915);
    let mut section = Section::Device;
    for line in lines(text) {
        let indented = line.starts_with([' ', '\t']);
        let line = line.trim_start();
        if line.is_empty() {
            continue;
        }
        if let Some(next) = header(&mut post, line) {
            section = next;
            continue;
        }
        section = line_of(&mut post, section, line, indented);
    }
    post.chip = chip(&post);
    owners(&mut post);
    cut(&mut post);
    post
}

/// The lines of the state; those of memory in one piece, if mail has wrapped them.
fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let digits = |l: &str| l.bytes().all(|b| matches!(b, b'!'..=b'u' | b'z'));
    let mut rest = text.lines().skip(before(text)).map(bare).peekable();
    std::iter::from_fn(move || {
        let mut whole = Cow::Borrowed(rest.next()?);
        if whole.starts_with([':', '~']) {
            while let Some(more) = rest.next_if(|l| !l.is_empty() && digits(l)) {
                whole.to_mut().push_str(more);
            }
        }
        Some(whole)
    })
}

/// Objects have whole pages; a copy that has not was cut off.
fn cut(post: &mut Post) {
    for buffer in &mut post.buffers {
        let part = buffer.dwords.len() % 1024;
        if buffer.role != Role::Other && part != 0 && buffer.damage.is_none() {
            let bytes = buffer.dwords.len() * 4;
            buffer.damage = Some(format!("the text ends within a page, after {bytes} bytes"));
        }
    }
}

/// Lines before the error state, if it was posted behind something else.
fn before(text: &str) -> usize {
    let first = ["GPU HANG: ", "Time: ", "Kernel: ", "PCI ID: "];
    let begins = |l: &str| first.iter().any(|f| bare(l).trim_start().starts_with(f));
    let copies = |l: &str| l.contains("command stream:") || l.contains("--- ");
    let at = text.lines().position(|l| begins(l) || copies(l));
    at.unwrap_or(0)
}

/// A line that begins a section.
fn header(post: &mut Post, line: &str) -> Option<Section> {
    if let Some(name) = line.strip_suffix("command stream:") {
        // `global --- GuC Error Capture on rcs0 command stream:`.
        let name = name.rsplit_once(" on ").map_or(name, |(_, n)| n).trim();
        post.engine(name);
        return Some(Section::Engine(name.to_owned()));
    }
    let full = post.buffers.len() == super::ITEMS;
    if let Some(copy) = decoded_heading(line).filter(|_| !full) {
        post.buffers.push(copy);
        return Some(Section::Copy);
    }
    let (left, right) = match line.split_once("--- ") {
        Some((left, right)) if left.is_empty() || left.ends_with(' ') => {
            (left.trim(), right.trim())
        }
        _ if line.starts_with("Semaphore page = ") => ("global", line),
        _ => return objects(line),
    };
    let (engine, owner) = match left.split_once(" (") {
        Some((engine, rest)) => (engine, rest.strip_prefix("submitted by ")),
        None => (left, None),
    };
    let engine = if engine.is_empty() {
        "render ring"
    } else {
        engine
    };
    let owner = owner.map(|o| o.trim_end_matches(')').to_owned());
    if let Some((name, address)) = right.split_once(" = ") {
        if full {
            return Some(Section::Other);
        }
        let workaround = left.ends_with("(w/a)");
        post.buffers.push(Buffer {
            engine: engine.to_owned(),
            role: if workaround { Role::Other } else { role(name) },
            name: if workaround {
                format!("workaround {name}")
            } else {
                name.to_owned()
            },
            owner,
            address: memory::value(address).unwrap_or(0),
            dwords: Vec::new(),
            damage: None,
        });
        return Some(Section::Copy);
    }
    if right.ends_with(" requests") {
        return Some(Section::Requests(engine.to_owned()));
    }
    if right.contains("waiters") {
        return Some(Section::Waiters(engine.to_owned()));
    }
    None
}

/// A heading of another decoder's output: `batch buffer (render ring) at 0x00000000_10c53000`, `ringbuffer (blt) at ...`.
fn decoded_heading(line: &str) -> Option<Buffer> {
    let (name, rest) = line.split_once(" (")?;
    let (engine, at) = rest.split_once(") at 0x")?;
    let role = match name.replace(' ', "").as_str() {
        "batchbuffer" => Role::Batch,
        "ringbuffer" => Role::Ring,
        "HWContext" => Role::Other,
        _ => return None,
    };
    Some(Buffer {
        engine: engine.to_owned(),
        role,
        name: name.to_owned(),
        owner: None,
        address: memory::value(&format!("0x{at}")).unwrap_or(0),
        dwords: Vec::new(),
        damage: None,
    })
}

/// `Active [169]:`, `Pinned (global) [7]:`, and headings of the display's registers.
fn objects(line: &str) -> Option<Section> {
    let heading = line.strip_suffix("]:")?;
    let list = ["Active", "Pinned", "Buffers"]
        .iter()
        .any(|w| heading.starts_with(w));
    let display = ["Pipe", "Plane", "Cursor", "CPU transcoder", "Overlay"]
        .iter()
        .any(|w| heading.starts_with(w));
    match (list, display) {
        (true, _) => Some(Section::Objects),
        (_, true) => Some(Section::Other),
        _ => None,
    }
}

fn role(name: &str) -> Role {
    match name {
        "gtt_offset" | "batch" => Role::Batch,
        "ringbuffer" | "ring" | "HW ringbuffer" => Role::Ring,
        "user" => Role::User,
        _ => Role::Other,
    }
}

/// A line within a section; the section that the next one is in.
fn line_of(post: &mut Post, section: Section, line: &str, indented: bool) -> Section {
    if line.starts_with([':', '~']) {
        let room = post.room();
        if let Some(copy) = post.buffers.last_mut().filter(|b| b.dwords.is_empty()) {
            (copy.dwords, copy.damage) = memory::packed(line, room);
        }
        return section;
    }
    let copied = post.buffers.last().map(|b| b.address);
    let decoded = memory::decoded(line).zip(copied.filter(|_| matches!(section, Section::Copy)));
    let decoded =
        decoded.and_then(|((at, dword), base)| Some((at.checked_sub(base)?, vec![dword])));
    if let Some(row) = memory::row(line).or(decoded) {
        if let (Section::Copy, Some(copy)) = (&section, post.buffers.last_mut()) {
            if let Err(why) = memory::append(&mut copy.dwords, row) {
                copy.damage.get_or_insert(why);
            }
        }
        return section;
    }
    match &section {
        Section::Requests(engine) if line.contains("seqno ") => {
            let requests = &mut post.engine(engine).requests;
            if requests.len() < super::ITEMS {
                requests.extend(request(line, false));
            }
            return section;
        }
        Section::Waiters(engine) if line.contains(" for ") => {
            if let Some((number, who)) = line.split_once(" for ") {
                let seqno = number.trim_start_matches("seqno").trim();
                let waiter = (memory::value(seqno).unwrap_or(0), who.to_owned());
                post.engine(engine).waiters.push(waiter);
            }
            return section;
        }
        Section::Objects => {
            if let Some(object) = object(line) {
                if post.objects.len() < super::ITEMS {
                    post.objects.push(object);
                }
                return section;
            }
        }
        _ => {}
    }
    let fence = line.starts_with("fence[");
    let named = pair(line).or_else(|| line.split_once(" = ").filter(|_| fence));
    let Some((name, value)) = named else {
        return if indented { section } else { Section::Device };
    };
    // Not indented, where the microcontroller has told the registers.
    let coverage = name == "Coverage" && matches!(section, Section::Engine(_));
    let own = OF_AN_ENGINE.contains(&name) || coverage;
    let device = OF_THE_DEVICE.contains(&name);
    // The overlay's registers, and the display's without a number.
    let display = [
        "Overlay",
        "Num Pipes",
        "CPU transcoder",
        "PWR_WELL",
        "Pipe",
        "Plane",
        "Cursor",
    ];
    match section {
        _ if !indented && display.iter().any(|d| name.starts_with(d)) => Section::Other,
        Section::Other if indented => Section::Other,
        Section::Engine(engine) if indented || own && !device => {
            value_of(post, &engine, name, value);
            Section::Engine(engine)
        }
        _ if own => {
            value_of(post, "render ring", name, value);
            section
        }
        Section::Copy if indented => Section::Copy,
        _ => {
            post.head.push((name.to_owned(), value.to_owned()));
            Section::Device
        }
    }
}

fn value_of(post: &mut Post, engine: &str, name: &str, value: &str) {
    let state = post.engine(engine);
    if name == "Active context" {
        state.context = Some(value.to_owned());
    } else if name.starts_with("ELSP[") {
        state.requests.extend(request(value, true));
    } else {
        state.registers.push((name.to_owned(), value.to_owned()));
    }
}

/// `seqno 0x000c9559, emitted 4297777194, tail 0x0001e9b8`, and since 4.10
/// `pid 3825, seqno        4:00000a1b!+, prio 0, head 00005870, tail 00005920`.
fn request(line: &str, running: bool) -> Option<Request> {
    let mut out = Request {
        running,
        ..Request::default()
    };
    let hex = |t: &str| {
        let t = t.trim_start_matches("0x");
        let end = t.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(t.len());
        u64::from_str_radix(&t[..end], 16).ok()
    };
    let mut numbered = false;
    for part in line.split(',') {
        let Some((name, value)) = part.trim().split_once(' ') else {
            continue;
        };
        let value = value.trim();
        match name {
            "seqno" => {
                let (context, number) = value.rsplit_once(':').unwrap_or(("", value));
                out.context = u64::from_str_radix(context.trim(), 16).ok();
                out.seqno = hex(number)?;
                out.done = value.contains('!');
                numbered = true;
            }
            "head" => out.head = hex(value),
            "tail" => out.tail = hex(value),
            "pid" => out.pid = value.parse().ok(),
            _ => {}
        }
    }
    numbered.then_some(out)
}

/// `  02540000     4096 0050 0000 000c9559 dirty`, or the address as `00000000_02540000`.
fn object(line: &str) -> Option<(u64, u64, String)> {
    let mut words = line.split_ascii_whitespace();
    let (address, size) = (words.next()?, words.next()?);
    let address = u64::from_str_radix(&address.replace('_', ""), 16).ok()?;
    let size = size.parse().ok()?;
    Some((address, size, words.collect::<Vec<_>>().join(" ")))
}

/// The chip: by its id, its platform, or the generation.
fn chip(post: &Post) -> Option<Chip> {
    let by_id = post.number("PCI ID").and_then(chips::by_id);
    let by_platform = || post.value("Platform").and_then(chips::by_platform);
    let by_version = || {
        let text = post
            .value("graphics version")
            .or_else(|| post.value("gen"))?;
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let whole: u16 = whole.trim().parse().ok()?;
        let part: u16 = part.trim().parse().ok()?;
        let tenth = if part >= 50 { 5 } else { 0 };
        Some(chips::by_generation(
            whole.checked_mul(10)?.checked_add(tenth)?,
        ))
    };
    // `GPU HANG: ecode 6:0:0xf288ffec, ...`.
    let by_code = || {
        let code = post.value("GPU HANG")?.strip_prefix("ecode ")?;
        let generation: u16 = code.split(':').next()?.parse().ok()?;
        Some(chips::by_generation(generation.checked_mul(10)?))
    };
    by_id
        .or_else(by_platform)
        .or_else(by_version)
        .or_else(by_code)
}

/// Whom an engine worked for, where only the batch or a line of the head says so.
fn owners(post: &mut Post) {
    let mut found: Vec<(String, String)> = Vec::new();
    let batches = post
        .buffers
        .iter()
        .filter_map(|b| Some((b.engine.clone(), b.owner.clone()?)));
    found.extend(batches);
    for (name, value) in &post.head {
        let ring = name.strip_prefix("Active process (on ring ");
        let ring = ring.or_else(|| {
            name.strip_prefix("Active process (policy: ")
                .map(|_| "render")
        });
        if let Some(ring) = ring {
            found.push((ring.trim_end_matches(')').to_owned(), value.clone()));
        }
    }
    for (name, who) in found {
        let known = post
            .engines
            .iter_mut()
            .find(|e| super::same_engine(&e.name, &name));
        if let Some(state) = known {
            state.context.get_or_insert(who);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_all_kernels() {
        let old = request(
            "seqno 0x000c9559, emitted 4297777194, tail 0x0001e9b8",
            false,
        );
        let expected = Request {
            seqno: 0xc9559,
            tail: Some(0x1e9b8),
            ..Request::default()
        };
        assert_eq!(old, Some(expected));
        let new = "pid 3825, seqno        4:00000a1b!+, prio 2, emitted 6804ms ago, head 00005870, tail 00005920";
        let expected = Request {
            seqno: 0xa1b,
            context: Some(4),
            head: Some(0x5870),
            tail: Some(0x5920),
            pid: Some(3825),
            running: true,
            done: true,
        };
        assert_eq!(request(new, true), Some(expected));
        assert_eq!(request("tail 0x10", false), None);
    }

    /// Since 5.19 registers may be those that the microcontroller has saved.
    #[test]
    fn registers_of_the_microcontroller() {
        let text = "PCI ID: 0x56a0\n\
            global --- GuC Error Capture on bcs0 command stream:\n\
            Coverage:  full-capture\n\
            \x20 RegListType: Global\n\
            \x20   Owner-Id: 0\n\
            \x20   GEN12_FAULT_TLB_DATA0: 0x00000010\n\
            \x20   GEN12_FAULT_TLB_DATA1: 0x00000011\n\
            \x20 RegListType: Engine-Instance\n\
            \x20   i915-Eng-Name: bcs0 command stream\n\
            \x20   HEAD: 0x00000010\n\
            \x20   TAIL: 0x00000040\n\
            \x20   ACTHD_LDW: 0x00200010\n\
            \x20   ACTHD_UDW: 0x00000001\n\
            \x20 hung: 1\n";
        let post = read(text);
        assert_eq!(post.engines.len(), 1);
        let state = &post.engines[0];
        assert_eq!(state.name, "bcs0");
        assert_eq!((state.head(), state.tail()), (Some(0x10), Some(0x40)));
        assert_eq!(state.acthd(), Some(0x1_0020_0010));
        let wrong = crate::posts::verdict::wrong(&post);
        let fault = "  page fault: address 0x100000010000 in the GGTT";
        assert!(wrong.iter().any(|l| l == fault), "{wrong:?}");
    }

    #[test]
    fn objects_of_all_kernels() {
        let old = object("  02540000     4096 0050 0000 000c9559 dirty purgeable");
        assert_eq!(
            old,
            Some((
                0x254_0000,
                4096,
                String::from("0050 0000 000c9559 dirty purgeable")
            ))
        );
        let new = object("    00000001_07b88000    49152 44 00 [ 00 00 ] 00 X dirty");
        assert_eq!(new.map(|o| (o.0, o.1)), Some((0x1_07b8_8000, 49152)));
        assert_eq!(object("Pinned"), None);
    }
}
