// SPDX-License-Identifier: GPL-2.0
//! Finding and opening the device, and asking what it is.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::{bail, Result};
use ouro_card::{nodes, Node};
use serde::Serialize;

use super::{Personality, PERSONALITIES};
use ouro_card::uapi::*;

/// What the device says it is.
#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    /// The node that was opened.
    pub node: PathBuf,
    /// Name of the DRM driver that it speaks for.
    pub driver: String,
    /// PCI vendor id.
    pub vendor: u16,
    /// PCI device id.
    pub device: u16,
    /// The driver's backend.
    pub backend: String,
    /// Name of the chip.
    pub chip: String,
    /// Names of its engines.
    pub engines: Vec<String>,
}

impl Identity {
    /// A driver that is not ours; what it drives is asked later.
    fn of_peer(node: &Node) -> Identity {
        Identity {
            node: node.path.clone(),
            driver: node.driver.clone(),
            vendor: 0,
            device: 0,
            backend: "another driver's".into(),
            chip: format!("of the {} interface", node.driver),
            engines: Vec::new(),
        }
    }

    fn of_ouro(node: &Node) -> Result<Identity> {
        let mut device = drm_ouro_device::default();
        node.call("OURO_DEVICE", DRM_OURO_DEVICE, &mut device)?;
        Ok(Identity {
            node: node.path.clone(),
            driver: node.driver.clone(),
            vendor: device.pci_vendor,
            device: device.pci_device,
            backend: text(&device.backend),
            chip: text(&device.chip),
            engines: Vec::new(),
        })
    }
}

/// An open render node.
pub struct Device {
    node: Node,
    peer: bool,
    personality: &'static dyn Personality,
    /// What it is.
    pub identity: Identity,
}

/// A name of fixed length that ends in a zero byte.
fn text(bytes: &[std::ffi::c_char]) -> String {
    bytes
        .iter()
        .take_while(|c| **c != 0)
        .map(|c| char::from(*c as u8))
        .collect()
}

impl Deref for Device {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Device {
    /// Opens this node, or the first render node whose driver speaks one of the interfaces and answers
    /// DRM_IOCTL_OURO_DEVICE; as a `peer`, the driver may be another that lacks our ioctls.
    pub fn open(node: Option<&Path>, peer: bool) -> Result<Device> {
        if let Some(path) = node {
            return Device::open_node(path, peer);
        }
        let mut reasons = Vec::new();
        for path in nodes()? {
            match Device::open_node(&path, peer) {
                Ok(device) => return Ok(device),
                Err(error) => reasons.push(format!("{}: {error:#}", path.display())),
            }
        }
        bail!(
            "no render node of an ouro device ({})",
            if reasons.is_empty() {
                "none at all".into()
            } else {
                reasons.join("; ")
            }
        )
    }

    fn open_node(path: &Path, peer: bool) -> Result<Device> {
        let node = Node::open(path)?;
        let personality = PERSONALITIES.into_iter().find(|p| p.name() == node.driver);
        let Some(personality) = personality else {
            bail!("its driver is {}, which is not known here", node.driver);
        };
        let identity = if peer {
            Identity::of_peer(&node)
        } else {
            Identity::of_ouro(&node)?
        };
        let mut device = Device {
            node,
            identity,
            peer,
            personality,
        };
        if peer {
            let found = personality.peer(&device)?;
            device.identity.vendor = found.vendor;
            device.identity.device = found.device;
            device.identity.engines = found.engines;
        } else {
            device.identity.engines = device.engines()?.iter().map(|e| text(&e.name)).collect();
        }
        Ok(device)
    }

    /// What it speaks.
    pub fn personality(&self) -> &'static dyn Personality {
        self.personality
    }

    /// Whether the driver lacks our own ioctls.
    pub fn is_peer(&self) -> bool {
        self.peer
    }

    /// The engines and what they did.
    pub fn engines(&self) -> Result<Vec<drm_ouro_engine>> {
        let mut list = drm_ouro_list {
            stride: size_of::<drm_ouro_engine>() as u32,
            ..Default::default()
        };
        self.call("OURO_ENGINES", DRM_OURO_ENGINES, &mut list)?;
        let mut engines = vec![drm_ouro_engine::default(); list.count as usize];
        list.ptr = engines.as_mut_ptr() as u64;
        self.call("OURO_ENGINES", DRM_OURO_ENGINES, &mut list)?;
        engines.truncate(list.count as usize);
        Ok(engines)
    }

    /// The counters: all zero where there are none.
    pub fn stats(&self) -> Result<drm_ouro_stats> {
        let mut stats = drm_ouro_stats::default();
        if self.peer {
            return Ok(stats);
        }
        self.call("OURO_STATS", DRM_OURO_STATS, &mut stats)?;
        Ok(stats)
    }
}
