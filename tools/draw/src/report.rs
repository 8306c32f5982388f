// SPDX-License-Identifier: GPL-2.0
//! The report of a run: for people, and the same for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::device::{Device, Drawn, Identity};
use ouro_scene::blt::encode::encode;
use ouro_scene::blt::Command;
use ouro_scene::flat::{Paint, Step};
use ouro_scene::plain::{Brush, Operation};
use ouro_scene::rop::Rop;
use ouro_scene::scene::{Scene, Work, HEIGHT, WIDTH};
use ouro_scene::surface::Depth;

/// Which commands drew with which raster operations at which depths.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Coverage {
    /// Commands drawn.
    pub commands: u64,
    /// By command: how often, how many raster operations, how many depths.
    pub by_command: BTreeMap<String, CommandCoverage>,
    /// Different triples of command, raster operation and depth.
    pub triples: u64,
}

/// One command's part of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CommandCoverage {
    /// Times drawn.
    pub count: u64,
    /// Different raster operations.
    pub rops: usize,
    /// Different depths.
    pub depths: usize,
}

impl Coverage {
    /// Of all blits of a scene.
    pub fn of(scene: &Scene) -> Coverage {
        let mut seen: BTreeMap<String, (u64, BTreeSet<_>)> = BTreeMap::new();
        let mut state = None;
        for section in &scene.sections {
            let Work::Blits(commands) = &section.work else {
                continue;
            };
            for command in commands {
                let Ok(packet) = encode(command) else {
                    continue;
                };
                let how = match command {
                    Command::LinearFill { rop, depth, .. }
                    | Command::LinearCopy { rop, depth, .. } => Some((*rop, *depth)),
                    Command::Blit(blit) => Some((blit.rop, blit.dst.depth)),
                    Command::Setup(setup) => {
                        state = Some((setup.rop, setup.dst.depth));
                        state
                    }
                    _ => state,
                };
                let entry = seen.entry(packet.name.into()).or_default();
                entry.0 += 1;
                entry.1.extend(how);
            }
        }
        Coverage::from_seen(seen)
    }

    /// Of operations, by their kind.
    pub fn of_operations<'a>(operations: impl Iterator<Item = &'a Operation>) -> Coverage {
        let mut seen: BTreeMap<String, (u64, BTreeSet<_>)> = BTreeMap::new();
        for op in operations {
            let brush = match &op.brush {
                Brush::None => "",
                Brush::Solid(_) => "colour",
                Brush::Mono { .. } => "bits",
                Brush::Colour(_) => "colours",
            };
            let kind = match (op.source.is_some(), brush) {
                (false, brush) => format!("fill with {brush}"),
                (true, "") => "copy".to_owned(),
                (true, brush) => format!("copy with {brush}"),
            };
            let entry = seen.entry(kind).or_default();
            entry.0 += 1;
            entry.1.insert((op.rop, op.dst.depth));
        }
        Coverage::from_seen(seen)
    }

    /// Of fills and copies.
    pub fn of_steps<'a>(steps: impl Iterator<Item = &'a Step>) -> Coverage {
        let mut seen: BTreeMap<String, (u64, BTreeSet<_>)> = BTreeMap::new();
        for step in steps {
            let (name, rop) = match &step.paint {
                Paint::Colour(_) => ("XY_FAST_COLOR_BLT", Rop::PATTERN),
                Paint::Pixels(_) => ("XY_FAST_COPY_BLT", Rop::SOURCE),
            };
            let entry = seen.entry(name.into()).or_default();
            entry.0 += 1;
            entry.1.insert((rop, step.dst.depth));
        }
        Coverage::from_seen(seen)
    }

    fn from_seen(seen: BTreeMap<String, (u64, BTreeSet<(Rop, Depth)>)>) -> Coverage {
        let mut coverage = Coverage::default();
        for (name, (count, set)) in seen {
            let rops = set
                .iter()
                .map(|(rop, _)| rop)
                .collect::<BTreeSet<_>>()
                .len();
            let depths = set
                .iter()
                .map(|(_, depth)| depth)
                .collect::<BTreeSet<_>>()
                .len();
            coverage.commands += count;
            coverage.triples += set.len() as u64;
            coverage.by_command.insert(
                name,
                CommandCoverage {
                    count,
                    rops,
                    depths,
                },
            );
        }
        coverage
    }
}

impl Coverage {
    /// One line for the totals of a test run.
    pub fn line(&self) -> String {
        format!(
            "cover: picture: {} blitter commands in {} triples of command, raster operation and depth",
            self.by_command.len(),
            self.triples
        )
    }
}

/// What became of lists of contexts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lists {
    /// Priority of each context, and blits of a batch.
    pub contexts: Vec<(i32, usize)>,
    /// Requests that were published, those of the driver included.
    pub requests: u64,
    /// Lists that engines were given.
    pub loads: u64,
    /// Writes that had them take one.
    pub port_writes: u64,
    /// Times that an engine went from one context to another, or began with one.
    pub switches: u64,
    /// Times that a context went on with a new tail.
    pub lite_restores: u64,
    /// Times that a context was left before it had run to its tail.
    pub preemptions: u64,
    /// Times that an object went from one memory to another.
    pub migrations: u64,
}

impl Lists {
    /// The counters as they are; `None` where nothing is counted.
    pub fn now(device: &Device) -> Result<Option<Lists>> {
        if device.is_peer() {
            return Ok(None);
        }
        let stats = device.stats()?;
        let mut now = Lists {
            requests: stats.requests,
            port_writes: stats.port_writes,
            lite_restores: stats.lite_restores,
            preemptions: stats.preemptions,
            migrations: stats.moves,
            ..Default::default()
        };
        for engine in device.engines()? {
            now.loads += engine.port_writes;
            now.switches += engine.context_switches;
        }
        Ok(Some(now))
    }

    /// What came since then.
    pub fn since(&self, then: &Lists) -> Lists {
        Lists {
            contexts: Vec::new(),
            requests: self.requests - then.requests,
            loads: self.loads - then.loads,
            port_writes: self.port_writes - then.port_writes,
            switches: self.switches - then.switches,
            lite_restores: self.lite_restores - then.lite_restores,
            preemptions: self.preemptions - then.preemptions,
            migrations: self.migrations - then.migrations,
        }
    }
}

/// All that is told of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The device.
    pub device: Identity,
    /// What came of it.
    pub drawn: Drawn,
}

impl Report {
    /// Whether every pixel is right.
    pub fn good(&self) -> bool {
        self.drawn.differences.is_empty()
    }

    /// For people.
    pub fn text(&self) -> String {
        let (d, id) = (&self.drawn, &self.device);
        let mut out = String::new();
        let mut line = |text: String| {
            let _ = writeln!(out, "{text}");
        };
        line(format!(
            "device       {:04x}:{:04x} {}, backend {}, as {} at {}",
            id.vendor,
            id.device,
            id.chip,
            id.backend,
            id.driver,
            id.node.display()
        ));
        line(format!("engines      {}", id.engines.join(" ")));
        let verdict = if self.good() {
            "all right"
        } else {
            "NOT ALL RIGHT"
        };
        line(format!(
            "pixels       {} checked, {} bytes in all: {verdict}",
            d.pixels_checked, d.bytes_checked
        ));
        line(format!(
            "blits        {} with {} commands; {} triples of command, raster operation and depth",
            d.coverage.commands,
            d.coverage.by_command.len(),
            d.coverage.triples
        ));
        let list = |map: &BTreeMap<String, u64>| {
            map.iter()
                .map(|(k, v)| format!("{v} {k}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        line(format!(
            "submissions  {}; {}",
            list(&d.submissions),
            list(&d.ways)
        ));
        if let Some((in_software, all)) = d.in_software {
            line(format!(
                "in software  {in_software} of {all} operations, which this blitter has not; their pixels are copied"
            ));
        }
        if let Some(l) = &d.lists {
            let contexts = l.contexts.iter();
            let contexts = contexts.map(|(priority, blits)| format!("{priority} ({blits})"));
            line(format!(
                "contexts     {}; priorities, and blits of a batch: {}",
                l.contexts.len(),
                contexts.collect::<Vec<_>>().join(", ")
            ));
            line(format!(
                "lists        {} requests in {} loads by {} port writes; {} lite restores, {} preemptions, {} switches",
                l.requests, l.loads, l.port_writes, l.lite_restores, l.preemptions, l.switches
            ));
            line(format!("migrations   {}", l.migrations));
        }
        for c in &d.costs {
            let per = |n: u64| n as f64 / c.submissions.max(1) as f64;
            line(format!(
                "cost {}    {} asynchronous submissions: {:.2} port writes, {:.2} other writes, {:.2} reads each; apart from these {} FIFO reads, {} table flushes, handshake {} reads {} writes, {} wakes, {} interrupts armed, {} taken",
                c.engine, c.submissions, per(c.port_writes), per(c.other_writes), per(c.reads), c.fifo_reads, c.table_flushes, c.handshake_reads, c.handshake_writes, c.wakes,
                c.irq_arms,
                c.interrupts
            ));
        }
        line(format!("interrupts   {}", d.interrupts));
        if d.resets != 0 {
            line(format!(
                "resets       {}: an engine took too long, as on a machine that is too busy; see the kernel's log",
                d.resets
            ));
        }
        if let Some(swizzle) = d.swizzle {
            line(format!("swizzle      {swizzle:?}"));
        }
        line(format!(
            "time         {:.2} s on the device with reading back, {:.2} s in software",
            d.seconds, d.software_seconds
        ));
        for difference in &d.differences {
            line(format!("WRONG        {difference}"));
        }
        out
    }
}

/// Writes rows of red, green and blue as a PNG of the picture's size.
pub fn write_png(path: &Path, rgb: &[u8]) -> Result<()> {
    let file = File::create(path).with_context(|| format!("create {}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer
        .finish()
        .with_context(|| format!("write {}", path.display()))
}
