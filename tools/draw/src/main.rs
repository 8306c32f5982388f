// SPDX-License-Identifier: GPL-2.0
//! `ouro-draw`: draws a picture with an ouro device, compares every pixel with
//! what software draws, and leaves picture and report in a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use ouro_draw::device::Device;
use ouro_draw::picture;
use ouro_draw::report::{write_png, Report};

/// Draws a picture with an ouro device through its ioctls and checks every pixel.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Folder for the picture (NAME.png) and the report (report.txt, report.json).
    #[arg(long, value_name = "DIR", required_unless_present = "software")]
    out: Option<PathBuf>,

    /// Name of the picture's file, without `.png`. Without a device, or with another driver's, the picture
    /// says that the chip is called so, too.
    #[arg(long, env = "OURO_GPU", default_value = "snb")]
    name: String,

    /// Render node; the first one of an ouro device if not given.
    #[arg(long, value_name = "NODE")]
    device: Option<PathBuf>,

    /// The driver may be another one that speaks i915 or radeon: without our own ioctls, nothing is
    /// counted.
    #[arg(long)]
    peer: bool,

    /// Draw in software alone, without a device, into this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "device"])]
    software: Option<PathBuf>,
}

fn run(arguments: &Arguments) -> Result<bool> {
    let model = picture::chip_of_model(&arguments.name);
    if let Some(file) = &arguments.software {
        let scene = picture::load(&model)?;
        let expected = scene.expected().context("drawing in software")?;
        write_png(file, &scene.rgb(&expected.buffers[0]))?;
        return Ok(true);
    }
    let device = Device::open(arguments.device.as_deref(), arguments.peer)?;
    // Another driver does not say which chip it has.
    let scene = picture::load(match arguments.peer {
        true => &model,
        false => picture::chip(&device.identity.chip),
    })?;
    let report = Report {
        device: device.identity.clone(),
        drawn: device.personality().draw(&device, &scene)?,
    };
    let text = report.text();
    print!("{text}");
    println!("{}", report.drawn.coverage.line());

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
