// SPDX-License-Identifier: GPL-2.0
//! `ouro-draw`: draws a picture with an ouro device, compares every pixel with
//! what software draws, and leaves picture and report in a folder.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;

use ouro_draw::device::{draw, Device};
use ouro_draw::picture;
use ouro_draw::report::{write_png, Coverage, Report};
use ouro_scene::scene::Scene;

/// Draws a picture with an ouro device through its ioctls and checks every pixel.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Folder for the picture (NAME.png) and the report (report.txt, report.json).
    #[arg(long, value_name = "DIR", required_unless_present = "software")]
    out: Option<PathBuf>,

    /// Name of the picture's file, without `.png`.
    #[arg(long, env = "OURO_GPU", default_value = "snb")]
    name: String,

    /// Render node; the first one of an ouro device if not given.
    #[arg(long, value_name = "NODE")]
    device: Option<PathBuf>,

    /// The driver may be another one that speaks i915: without our own ioctls, nothing is counted.
    #[arg(long)]
    peer: bool,

    /// Draw in software alone, without a device, into this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "device"])]
    software: Option<PathBuf>,
}

fn run(arguments: &Arguments) -> Result<bool> {
    let scene = picture::load()?;
    let software = |scene: &Scene| scene.expected().context("drawing in software");
    if let Some(file) = &arguments.software {
        write_png(file, &scene.rgb(&software(&scene)?.buffers[0]))?;
        return Ok(true);
    }
    let device = Device::open(arguments.device.as_deref(), arguments.peer)?;
    let started = Instant::now();
    let expected = software(&scene)?;
    let software_seconds = started.elapsed().as_secs_f64();
    let drawn = draw(&device, &scene, &expected)?;
    let report = Report {
        device: device.identity.clone(),
        drawn,
        coverage: Coverage::of(&scene),
        software_seconds,
    };
    let text = report.text();
    print!("{text}");
    println!("{}", report.coverage.line());

    let out = arguments.out.as_deref().context("--out is missing")?;
    std::fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
    write_png(
        &out.join(format!("{}.png", arguments.name)),
        &scene.rgb(&report.drawn.picture),
    )?;
    std::fs::write(out.join("report.txt"), &text)?;
    std::fs::write(
        out.join("report.json"),
        serde_json::to_string_pretty(&report)?,
    )?;
    Ok(report.good())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("ouro-draw: {error:#}");
            ExitCode::FAILURE
        }
    }
}
