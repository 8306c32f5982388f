// SPDX-License-Identifier: GPL-2.0
//! Finding and opening the device, and asking what it is.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use rustix::io::Errno;
use serde::Serialize;

use super::sys;
use super::uapi::*;
use super::{Personality, PERSONALITIES};

/// Number of DRM_IOCTL_VERSION.
const VERSION: u32 = 0x00;

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
    fn of_peer(path: &Path, driver: String) -> Identity {
        Identity {
            node: path.to_path_buf(),
            chip: format!("of the {driver} interface"),
            driver,
            vendor: 0,
            device: 0,
            backend: "another driver's".into(),
            engines: Vec::new(),
        }
    }

    fn of_ouro(path: &Path, driver: String, fd: BorrowedFd<'_>) -> Result<Identity> {
        let mut device = drm_ouro_device::default();
        sys::ioctl(fd, DRM_COMMAND_BASE + DRM_OURO_DEVICE, &mut device)
            .context("DRM_IOCTL_OURO_DEVICE")?;
        Ok(Identity {
            node: path.to_path_buf(),
            driver,
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
    file: File,
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

fn driver_name(fd: BorrowedFd<'_>) -> Result<String, Errno> {
    let mut name = [0u8; 32];
    let mut version = drm_version {
        name: name.as_mut_ptr().cast(),
        name_len: name.len() as _,
        ..Default::default()
    };
    sys::ioctl(fd, VERSION, &mut version)?;
    let length = (version.name_len as usize).min(name.len());
    Ok(String::from_utf8_lossy(&name[..length]).into_owned())
}

impl Device {
    /// Opens this node, or the first render node whose driver speaks one of the interfaces and answers
    /// DRM_IOCTL_OURO_DEVICE; as a `peer`, the driver may be another that lacks our ioctls.
    pub fn open(node: Option<&Path>, peer: bool) -> Result<Device> {
        if let Some(path) = node {
            return Device::open_node(path, peer);
        }
        let mut nodes: Vec<PathBuf> = std::fs::read_dir("/dev/dri")
            .context("there is no /dev/dri: is a DRM driver loaded?")?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("renderD"))
            })
            .collect();
        nodes.sort();
        let mut reasons = Vec::new();
        for path in nodes {
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
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| format!("open {}", path.display()))?;
        let driver = driver_name(file.as_fd()).context("DRM_IOCTL_VERSION")?;
        let personality = PERSONALITIES.into_iter().find(|p| p.name() == driver);
        let Some(personality) = personality else {
            bail!("its driver is {driver}, which is not known here");
        };
        let identity = if peer {
            Identity::of_peer(path, driver)
        } else {
            Identity::of_ouro(path, driver, file.as_fd())?
        };
        let mut device = Device {
            file,
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

    /// The file.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// An ioctl of the driver, by its number in the driver's range.
    pub fn call<T>(&self, name: &'static str, number: u32, argument: &mut T) -> Result<()> {
        sys::ioctl(self.fd(), DRM_COMMAND_BASE + number, argument)
            .with_context(|| format!("DRM_IOCTL_{name}"))
    }

    /// An ioctl of the DRM core.
    pub fn core<T>(&self, name: &'static str, number: u32, argument: &mut T) -> Result<()> {
        sys::ioctl(self.fd(), number, argument).with_context(|| format!("DRM_IOCTL_{name}"))
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
