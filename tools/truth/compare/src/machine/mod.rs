// SPDX-License-Identifier: GPL-2.0
//! A model with memory, and the least that a driver does to have it run a stream.

mod dg2;
mod r5xx;
mod rings;

use anyhow::{bail, Result};
use gpu_model::ring::Chip;
use ouro_streams::file::{Card, Left};
use ouro_streams::{Family, Stream};

/// A model that runs streams.
pub trait Machine {
    /// Runs a stream on its engine to its end, and looks at its buffers.
    fn run(&mut self, stream: &Stream) -> Left;

    /// The rules that streams have broken, by the model's own watch.
    fn broken(&self) -> Vec<String>;
}

/// Describes a stream's result buffers, which `read` reads by their number.
fn answer(stream: &Stream, read: impl Fn(usize, &mut [u8])) -> Left {
    let buffers = stream.buffers.iter().enumerate();
    let after: Vec<Vec<u8>> = buffers
        .filter(|(_, buffer)| buffer.is_result)
        .map(|(index, buffer)| {
            let mut bytes = vec![0; buffer.bytes.len()];
            read(index, &mut bytes);
            bytes
        })
        .collect();
    Left::of(stream, &after)
}

/// Builds the model of a name, as its family is reached.
///
/// # Errors
/// When there is none.
pub fn build(name: &str, swizzle: bool) -> Result<(Family, Box<dyn Machine>)> {
    if let Some(chip) = Chip::named(name) {
        let (family, machine) = rings::Rings::new(chip, swizzle);
        return Ok((family, Box::new(machine)));
    }
    if name == "dg2" {
        return Ok((Family::Gen12, Box::new(dg2::Lists::new()?)));
    }
    if let Some(chip) = gpu_model::r5xx::Chip::named(name) {
        return Ok((Family::R5xx, Box::new(r5xx::Processor::new(chip)?)));
    }
    bail!("there is no model called {name}")
}

/// The model's name for a card: by its PCI id, or else by its family.
fn model_of(card: &Card) -> Result<&'static str> {
    let id = u16::from_str_radix(&card.device, 16).unwrap_or(0);
    if card.vendor == "8086" {
        for name in gpu_model::model::NAMES {
            if Chip::named(name).is_some_and(|chip| chip.ids.contains(&id)) {
                return Ok(name);
            }
        }
    }
    for name in ["rv515", "rv530", "r520", "r580"] {
        let chip = gpu_model::r5xx::Chip::named(name);
        if card.vendor == "1002" && chip.is_some_and(|chip| chip.device_id == id) {
            return Ok(name);
        }
    }
    match Family::named(&card.family) {
        Some(Family::Gen4) => Ok("g45"),
        Some(Family::Gen6) => Ok("snb"),
        Some(Family::Gen7) => Ok("ivb"),
        Some(Family::Gen12) => Ok("dg2"),
        Some(Family::R5xx) => Ok("rv515"),
        None => bail!("no model is of the family {:?}", card.family),
    }
}

/// Builds the model of a card.
///
/// # Errors
/// When no model is of its family, or its memory is swizzled in a way that is not modelled.
pub fn build_for(card: &Card) -> Result<(&'static str, Family, Box<dyn Machine>)> {
    let swizzle = match card.swizzle.as_str() {
        "none" => false,
        "9-10" => true,
        other => bail!("the model has no swizzle {other:?}"),
    };
    let name = model_of(card)?;
    let (family, machine) = build(name, swizzle)?;
    Ok((name, family, machine))
}
