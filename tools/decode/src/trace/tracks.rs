// SPDX-License-Identifier: GPL-2.0
//! What lies on which track.

use super::event::Event;
use super::{Mark, Options};
use serde_json::json;

/// Tracks that are no engine's.
const REGISTERS: u64 = 1;
const INTERRUPTS: u64 = 2;
const FINDINGS: u64 = 3;
/// The first engine's; they are numbered as they come.
const ENGINES: u64 = 10;

/// What may lie on an engine's track, one in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Context,
    Request,
    Batch,
    Command,
}

/// Names of colours that viewers know; a context has one by its number.
const COLOURS: [&str; 8] = [
    "thread_state_running",
    "rail_response",
    "rail_animation",
    "cq_build_passed",
    "thread_state_iowait",
    "rail_load",
    "good",
    "generic_work",
];

/// The number of no context in a status.
const NOBODY: u64 = 0xffff;

#[derive(Debug)]
struct Engine {
    name: String,
    open: Vec<Level>,
    requests: u64,
}

/// All tracks.
#[derive(Debug)]
pub(super) struct Tracks {
    options: Options,
    engines: Vec<Engine>,
    named: Vec<u64>,
    out: Vec<(u64, Mark)>,
}

/// The context of an image's address, or of its number.
fn colour(of: u64) -> Option<&'static str> {
    let n = of % COLOURS.len() as u64;
    COLOURS.get(n as usize).copied()
}

impl Tracks {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            engines: Vec::new(),
            named: Vec::new(),
            out: Vec::new(),
        }
    }

    /// What an event puts where.
    pub fn take(&mut self, event: Event<'_>) -> Vec<(u64, Mark)> {
        match event {
            Event::Access { .. } if self.options.without_registers => {}
            Event::Access {
                write,
                offset,
                value,
            } => {
                let name = format!("{} {offset:06x}", if write { "write" } else { "read" });
                let value = format!("{value:08x}");
                self.other(REGISTERS, "registers", name, json!({ "value": value }));
            }
            Event::Interrupt => {
                self.other(INTERRUPTS, "interrupts", "interrupt".into(), json!({}));
            }
            Event::Finding { kind, what } => {
                self.other(FINDINGS, "findings", kind.into(), json!({ "what": what }));
            }
            Event::Reset(what) => self.reset(what),
            Event::PageFault { engine, address } => {
                let at = self.engine(engine);
                let args = json!({ "address": format!("{address:#x}") });
                self.moment(at, "page fault", args);
            }
            Event::Switch { engine, status } => self.switch(engine, status),
            Event::Command {
                engine,
                batch,
                address,
                name,
                dwords,
            } => self.command(engine, batch, address, name, &dwords),
        }
        std::mem::take(&mut self.out)
    }

    /// All that is still open ends.
    pub fn end(&mut self) -> Vec<(u64, Mark)> {
        for at in 0..self.engines.len() {
            self.close(at, Level::Context);
        }
        std::mem::take(&mut self.out)
    }

    fn put(&mut self, track: u64, name: &str, mark: Mark) {
        if !self.named.contains(&track) {
            self.named.push(track);
            let name = name.to_owned();
            self.out.push((track, Mark::Name { name }));
        }
        self.out.push((track, mark));
    }

    fn other(&mut self, track: u64, track_name: &str, name: String, args: serde_json::Value) {
        let all = false;
        self.put(track, track_name, Mark::Moment { name, all, args });
    }

    fn engine(&mut self, name: &str) -> usize {
        let at = self.engines.iter().position(|e| e.name == name);
        at.unwrap_or_else(|| {
            self.engines.push(Engine {
                name: name.to_owned(),
                open: Vec::new(),
                requests: 0,
            });
            self.engines.len() - 1
        })
    }

    fn on(&mut self, at: usize, mark: Mark) {
        let name = self.engines[at].name.clone();
        self.put(ENGINES + at as u64, &name, mark);
    }

    fn moment(&mut self, at: usize, name: &str, args: serde_json::Value) {
        let name = name.to_owned();
        let all = false;
        self.on(at, Mark::Moment { name, all, args });
    }

    /// Ends what lies at a level, and all in it.
    fn close(&mut self, at: usize, level: Level) {
        while self.engines[at].open.last().is_some_and(|l| *l >= level) {
            self.engines[at].open.pop();
            self.on(at, Mark::End);
        }
    }

    fn open(&mut self, at: usize, level: Level, name: String, colour: Option<&'static str>) {
        self.begin(at, level, name, colour, json!({}));
    }

    fn begin(
        &mut self,
        at: usize,
        level: Level,
        name: String,
        colour: Option<&'static str>,
        args: serde_json::Value,
    ) {
        self.close(at, level);
        self.engines[at].open.push(level);
        self.on(at, Mark::Begin { name, colour, args });
    }

    fn has(&self, at: usize, level: Level) -> bool {
        self.engines[at].open.contains(&level)
    }

    fn reset(&mut self, what: &str) {
        let named: Vec<&str> = what.split([' ', ',']).filter(|w| !w.is_empty()).collect();
        for at in 0..self.engines.len() {
            if what == "all" || named.contains(&self.engines[at].name.as_str()) {
                self.close(at, Level::Context);
            }
        }
        if let ([one], true) = (&named[..], what != "all") {
            let at = self.engine(one);
            self.moment(at, "reset", json!({}));
            return;
        }
        let mark = Mark::Moment {
            name: format!("reset {what}"),
            all: true,
            args: json!({}),
        };
        self.put(FINDINGS, "findings", mark);
    }

    /// A status of Gen12.5: to whom in 25:10, from whom in 57:42, a new queue in 33, why in 3:0 (0: it is done; 1 to 4:
    /// it waited; 5: neither).
    fn switch(&mut self, engine: &str, status: u64) {
        let at = self.engine(engine);
        let (to, away, why) = (status >> 10 & 0xffff, status >> 42 & 0xffff, status & 0xf);
        if away != NOBODY && why != 0 {
            let by_a_queue = status & 1 << 33 != 0;
            let name = if by_a_queue { "preempted" } else { "waits" };
            self.moment(at, name, json!({ "context": away, "detail": why }));
        }
        // The same context comes again, with a new tail.
        if to == away && self.has(at, Level::Context) {
            return;
        }
        self.close(at, Level::Context);
        if to != NOBODY {
            self.open(at, Level::Context, format!("context {to}"), colour(to));
        }
    }

    fn command(&mut self, engine: &str, batch: bool, address: u64, name: &str, dwords: &[u32]) {
        let at = self.engine(engine);
        // What a command of the ring follows is the end of a batch.
        self.close(at, if batch { Level::Command } else { Level::Batch });
        if name == "MI_SET_CONTEXT" && !batch {
            // It stays until the next one, and requests lie in it.
            let image = u64::from(dwords.get(1).copied().unwrap_or(0) & !0xfff);
            self.open(
                at,
                Level::Context,
                format!("context {image:#x}"),
                colour(image >> 12),
            );
        }
        if !self.has(at, Level::Request) {
            self.engines[at].requests += 1;
            let name = format!("request {}", self.engines[at].requests);
            self.open(at, Level::Request, name, None);
        }
        if batch && !self.has(at, Level::Batch) {
            // An R5xx tells its packet's header, and not where it is.
            let name = match engine {
                "cp" => "indirect buffer".to_owned(),
                _ => format!("batch {address:#x}"),
            };
            self.open(at, Level::Batch, name, None);
        }
        let words: Vec<String> = dwords.iter().map(|d| format!("{d:08x}")).collect();
        let args = json!({ "address": format!("{address:#x}"), "dwords": words.join(" ") });
        self.begin(at, Level::Command, name.to_owned(), None, args);
        // On an R5xx a write of GEN_INT_STATUS (44h) is the interrupt of a fence; its place is the register's.
        let fence = name == "TYPE0" && address == 0x44;
        if !batch && (name == "MI_USER_INTERRUPT" || fence) {
            self.close(at, Level::Request);
        }
    }
}
