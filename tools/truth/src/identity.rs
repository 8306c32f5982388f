// SPDX-License-Identifier: GPL-2.0
//! Which card it is. Of the machine, only the kernel's release is asked for.

use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use ouro_card::{nodes, Node};
use ouro_hw::chips;
use ouro_streams::{file, Family};

/// A card with a node.
pub struct Found {
    /// Its node, open.
    pub node: Node,
    /// Its family.
    pub family: Family,
    vendor: u16,
    device: u16,
    revision: u16,
    driver: String,
}

/// The folder of sysfs that has a node's PCI function.
fn folder(node: &Node) -> Result<PathBuf> {
    let device = rustix::fs::fstat(node.fd()).context("fstat")?.st_rdev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    Ok(format!("/sys/dev/char/{major}:{minor}/device").into())
}

/// A number in a file of sysfs.
fn number(folder: &Path, name: &str) -> Result<u16> {
    let text =
        std::fs::read_to_string(folder.join(name)).with_context(|| format!("read {name}"))?;
    let digits = text.trim().trim_start_matches("0x");
    u16::from_str_radix(digits, 16).with_context(|| format!("{name} is {digits:?}"))
}

fn look(path: &Path) -> Result<Found> {
    let node = Node::open(path)?;
    if !["i915", "radeon"].contains(&node.driver.as_str()) {
        bail!("its driver is {}, not i915 or radeon", node.driver);
    }
    let folder = folder(&node)?;
    let (vendor, device) = (number(&folder, "vendor")?, number(&folder, "device")?);
    let Some(chip) = chips::lookup(vendor, device) else {
        bail!("{vendor:04x}:{device:04x} is no chip of which there is a model");
    };
    let name = chip.generation.name();
    let family = Family::named(name).with_context(|| format!("no streams for {name}"))?;
    let driver = std::fs::read_link(folder.join("driver")).context("its driver")?;
    Ok(Found {
        node,
        family,
        vendor,
        device,
        revision: number(&folder, "revision")?,
        driver: driver
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
    })
}

/// Opens a node, or the first one that will do.
pub fn find(node: Option<&Path>) -> Result<Found> {
    if let Some(path) = node {
        return look(path);
    }
    let mut reasons = Vec::new();
    for path in nodes()? {
        match look(&path) {
            Ok(found) => return Ok(found),
            Err(error) => reasons.push(format!("{}: {error:#}", path.display())),
        }
    }
    bail!(
        "no render node of a card that is known: {}",
        reasons.join("; ")
    )
}

impl Found {
    /// The card, as a file has it.
    pub fn card(&self, swizzle: &str) -> file::Card {
        file::Card {
            vendor: format!("{:04x}", self.vendor),
            device: format!("{:04x}", self.device),
            revision: format!("{:02x}", self.revision),
            family: self.family.name().into(),
            driver: self.driver.clone(),
            kernel: rustix::system::uname()
                .release()
                .to_string_lossy()
                .into_owned(),
            swizzle: swizzle.into(),
        }
    }
}
