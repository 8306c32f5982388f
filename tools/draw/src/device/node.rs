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
    /// A driver that speaks i915 and is not ours.
    fn of_peer(path: &Path, driver: String) -> Identity {
        Identity {
            node: path.to_path_buf(),
            driver,
            vendor: 0x8086,
            device: 0,
            backend: "another driver's".into(),
            chip: "of the i915 interface".into(),
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
    /// Opens this node, or the first render node whose driver is `i915` and answers
    /// DRM_IOCTL_OURO_DEVICE; as a `peer`, the driver may be another that speaks i915 and lacks our ioctls.
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
        if driver != "i915" {
            bail!("its driver is {driver}, not i915");
        }
        let identity = if peer {
            Identity::of_peer(path, driver)
        } else {
            Identity::of_ouro(path, driver, file.as_fd())?
        };
        let mut device = Device {
            file,
            identity,
            peer,
        };
        device.identity.engines = device.engine_names()?;
        if peer {
            device.identity.device = device.parameter(I915_PARAM_CHIPSET_ID) as u16;
        }
        Ok(device)
    }

    /// Whether the driver lacks our own ioctls.
    pub fn is_peer(&self) -> bool {
        self.peer
    }

    fn engine_names(&self) -> Result<Vec<String>> {
        if self.peer {
            let there = |p| self.parameter(p) > 0;
            let mut names = vec!["rcs0".to_owned()];
            names.extend(there(I915_PARAM_HAS_BLT).then(|| "bcs0".to_owned()));
            names.extend(there(I915_PARAM_HAS_BSD).then(|| "vcs0".to_owned()));
            return Ok(names);
        }
        Ok(self.engines()?.iter().map(|e| text(&e.name)).collect())
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

    /// A parameter; 0 if the driver does not know it.
    pub fn parameter(&self, number: u32) -> i32 {
        let mut value = 0;
        let mut get = drm_i915_getparam {
            param: number as i32,
            value: &mut value,
        };
        match sys::ioctl(self.fd(), DRM_COMMAND_BASE + DRM_I915_GETPARAM, &mut get) {
            Ok(()) => value,
            Err(_) => 0,
        }
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

    /// Makes a context.
    pub fn context(&self) -> Result<u32> {
        let mut create = drm_i915_gem_context_create::default();
        self.call(
            "I915_GEM_CONTEXT_CREATE",
            DRM_I915_GEM_CONTEXT_CREATE,
            &mut create,
        )?;
        Ok(create.ctx_id)
    }

    /// Ends a context.
    pub fn destroy_context(&self, id: u32) -> Result<()> {
        let mut destroy = drm_i915_gem_context_destroy {
            ctx_id: id,
            ..Default::default()
        };
        self.call(
            "I915_GEM_CONTEXT_DESTROY",
            DRM_I915_GEM_CONTEXT_DESTROY,
            &mut destroy,
        )
    }
}
