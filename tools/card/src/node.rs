// SPDX-License-Identifier: GPL-2.0
//! A render node, open.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::io::Errno;

use super::sys;
use super::uapi::*;

/// Number of DRM_IOCTL_VERSION.
const VERSION: u32 = 0x00;

/// An open render node of any DRM driver.
pub struct Node {
    file: File,
    /// Its path.
    pub path: PathBuf,
    /// Name of the DRM driver that it speaks for.
    pub driver: String,
}

/// Returns the render nodes that there are, in order.
///
/// # Errors
/// When there is no `/dev/dri`.
pub fn nodes() -> Result<Vec<PathBuf>> {
    let mut nodes: Vec<PathBuf> = std::fs::read_dir("/dev/dri")
        .context("there is no /dev/dri: is a DRM driver loaded?")?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("renderD"))
        })
        .collect();
    nodes.sort();
    Ok(nodes)
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

impl Node {
    /// Opens a node and asks for its driver's name.
    ///
    /// # Errors
    /// When it cannot be opened, or is no DRM device.
    pub fn open(path: &Path) -> Result<Node> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| format!("open {}", path.display()))?;
        let driver = driver_name(file.as_fd()).context("DRM_IOCTL_VERSION")?;
        Ok(Node {
            file,
            path: path.to_path_buf(),
            driver,
        })
    }

    /// The file.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// An ioctl of the driver, by its number in the driver's range.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn call<T>(&self, name: &'static str, number: u32, argument: &mut T) -> Result<()> {
        sys::ioctl(self.fd(), DRM_COMMAND_BASE + number, argument)
            .with_context(|| format!("DRM_IOCTL_{name}"))
    }

    /// An ioctl of the DRM core.
    ///
    /// # Errors
    /// What the core answers.
    pub fn core<T>(&self, name: &'static str, number: u32, argument: &mut T) -> Result<()> {
        sys::ioctl(self.fd(), number, argument).with_context(|| format!("DRM_IOCTL_{name}"))
    }
}
