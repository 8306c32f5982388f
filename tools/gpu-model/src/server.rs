// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The vfio-user door: one client (QEMU) drives one model.
//!
//! QEMU's client needs three interrupt indexes, maps an area inside BAR0 only, and does not expect
//! errors from accesses.

use crate::dma::DmaMemory;
use crate::memory::lock;
use crate::model::{GpuModel, IrqSink};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use vfio_bindings::bindings::vfio::{
    vfio_region_info, vfio_region_sparse_mmap_area, VFIO_IRQ_INFO_AUTOMASKED,
    VFIO_IRQ_INFO_EVENTFD, VFIO_IRQ_INFO_MASKABLE, VFIO_IRQ_INFO_NORESIZE,
    VFIO_IRQ_SET_ACTION_MASK, VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_ACTION_UNMASK,
    VFIO_IRQ_SET_DATA_EVENTFD, VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_INTX_IRQ_INDEX,
    VFIO_PCI_MSI_IRQ_INDEX, VFIO_PCI_NUM_REGIONS, VFIO_REGION_INFO_FLAG_MMAP,
    VFIO_REGION_INFO_FLAG_READ, VFIO_REGION_INFO_FLAG_WRITE,
};
use vfio_user::{
    DmaMapFlags, DmaUnmapFlags, IrqInfo, Server, ServerBackend, ServerRegion, SparseArea,
};

#[derive(Default)]
struct IrqState {
    line: bool,
    intx: Option<File>,
    masked: bool,
    disabled: bool,
    msi: Option<File>,
}

impl IrqState {
    /// Signals a level-triggered interrupt, which stays masked until the guest unmasks it.
    fn raise_intx(&mut self) {
        if !self.line || self.masked || self.disabled || self.msi.is_some() {
            return;
        }
        if let Some(fd) = &mut self.intx {
            self.masked = true;
            signal(fd);
        }
    }
}

/// An eventfd counts in host-endian 64-bit steps.
fn signal(fd: &mut File) {
    if let Err(e) = fd.write_all(&1u64.to_ne_bytes()) {
        tracing::warn!("interrupt eventfd: {e}");
    }
}

/// The interrupt line's end: an MSI message per rising edge, or INTx as a level.
#[derive(Default)]
pub struct VfioIrq(Mutex<IrqState>);

impl IrqSink for VfioIrq {
    fn set_line(&self, asserted: bool) {
        let mut s = lock(&self.0);
        s.line = asserted;
        match &mut s.msi {
            Some(fd) if asserted => signal(fd),
            Some(_) => {}
            None => s.raise_intx(),
        }
    }
}

/// A model behind the protocol.
struct Backend {
    model: Arc<dyn GpuModel>,
    memory: Arc<DmaMemory>,
    irq: Arc<VfioIrq>,
    sizes: Vec<u64>,
}

const CONFIG_SIZE: u64 = 256;

impl Backend {
    fn inside(&self, region: u32, offset: u64, len: usize) -> bool {
        let size = self.sizes.get(region as usize).copied().unwrap_or(0);
        offset
            .checked_add(len as u64)
            .is_some_and(|end| end <= size)
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> Result<(), io::Error> {
        data.fill(0);
        if !self.inside(region, offset, data.len()) {
            tracing::warn!("read outside region {region}: {offset:#x}+{}", data.len());
        } else if region == VFIO_PCI_CONFIG_REGION_INDEX {
            self.model.config_read(offset, data);
        } else {
            self.model.bar_read(region, offset, data);
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        if !self.inside(region, offset, data.len()) {
            tracing::warn!("write outside region {region}: {offset:#x}+{}", data.len());
        } else if region == VFIO_PCI_CONFIG_REGION_INDEX {
            self.model.config_write(offset, data);
            let disabled = self.model.intx_disabled();
            let mut s = lock(&self.irq.0);
            s.disabled = disabled;
            s.raise_intx();
        } else {
            self.model.bar_write(region, offset, data);
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> Result<(), io::Error> {
        tracing::debug!(
            "map {address:#x}+{size:#x} flags {:#x} fd {}",
            flags.bits(),
            fd.is_some()
        );
        self.memory.map(
            address,
            size,
            offset,
            flags.contains(DmaMapFlags::WRITE),
            fd,
        )
    }

    fn dma_unmap(
        &mut self,
        flags: DmaUnmapFlags,
        address: u64,
        size: u64,
    ) -> Result<(), io::Error> {
        tracing::debug!("unmap {address:#x}+{size:#x} flags {:#x}", flags.bits());
        if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            self.memory.clear();
        } else {
            self.memory.unmap(address, size);
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), io::Error> {
        tracing::info!("device reset");
        self.model.reset();
        lock(&self.irq.0).masked = false;
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        _start: u32,
        count: u32,
        mut fds: Vec<File>,
    ) -> Result<(), io::Error> {
        let eventfd = flags & VFIO_IRQ_SET_DATA_EVENTFD != 0;
        let trigger = flags & VFIO_IRQ_SET_ACTION_TRIGGER != 0;
        let mut s = lock(&self.irq.0);
        match index {
            VFIO_PCI_INTX_IRQ_INDEX => {
                if trigger && eventfd {
                    s.intx = fds.pop();
                    s.masked = false;
                } else if trigger && count == 0 {
                    s.intx = None;
                } else if flags & VFIO_IRQ_SET_ACTION_MASK != 0 {
                    s.masked = true;
                } else if flags & VFIO_IRQ_SET_ACTION_UNMASK != 0 {
                    s.masked = false;
                }
                s.raise_intx();
            }
            VFIO_PCI_MSI_IRQ_INDEX if trigger && eventfd => {
                s.msi = fds.pop();
                // A line that is up already is told once, or the guest would never hear of it.
                if let (true, Some(fd)) = (s.line, &mut s.msi) {
                    signal(fd);
                }
            }
            VFIO_PCI_MSI_IRQ_INDEX if trigger && count == 0 => s.msi = None,
            _ => {}
        }
        Ok(())
    }
}

fn regions(model: &dyn GpuModel) -> Vec<ServerRegion> {
    let access = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
    let mut all: Vec<ServerRegion> = (0..VFIO_PCI_NUM_REGIONS)
        .map(|index| ServerRegion {
            region_info: vfio_region_info {
                argsz: std::mem::size_of::<vfio_region_info>() as u32,
                index,
                ..Default::default()
            },
            sparse_areas: Vec::new(),
            mmap_fd: None,
        })
        .collect();
    for r in model.regions() {
        let Some(slot) = all.get_mut(r.bar as usize) else {
            continue;
        };
        slot.region_info.size = r.size;
        slot.region_info.flags = access;
        if let Some(s) = r.shared {
            slot.region_info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
            let area = vfio_region_sparse_mmap_area {
                offset: s.offset,
                size: s.size,
            };
            slot.sparse_areas.push(SparseArea { area });
            slot.mmap_fd = Some(s.file.as_raw_fd());
        }
    }
    let config = &mut all[VFIO_PCI_CONFIG_REGION_INDEX as usize];
    config.region_info.size = CONFIG_SIZE;
    config.region_info.flags = access;
    all
}

fn irqs(msi: bool) -> Vec<IrqInfo> {
    let intx = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE | VFIO_IRQ_INFO_AUTOMASKED;
    vec![
        IrqInfo {
            index: VFIO_PCI_INTX_IRQ_INDEX,
            flags: intx,
            count: 1,
        },
        IrqInfo {
            index: VFIO_PCI_MSI_IRQ_INDEX,
            flags: if msi {
                VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE
            } else {
                0
            },
            count: u32::from(msi),
        },
        IrqInfo {
            index: 2,
            flags: 0,
            count: 0,
        },
    ]
}

/// Serves one client on a new Unix socket at `path` and returns when it hangs up.
///
/// # Errors
/// When the socket cannot be bound, or the protocol breaks down.
pub fn serve(
    path: &Path,
    model: Arc<dyn GpuModel>,
    memory: Arc<DmaMemory>,
    irq: Arc<VfioIrq>,
    ready: &OnceLock<()>,
) -> anyhow::Result<()> {
    // A socket that a killed process left behind is in the way.
    if let Err(e) = std::fs::remove_file(path) {
        if e.kind() != io::ErrorKind::NotFound {
            return Err(anyhow::Error::new(e).context(format!("{}", path.display())));
        }
    }
    let all = regions(&*model);
    let sizes = all.iter().map(|r| r.region_info.size).collect();
    let server = Server::new(path, true, irqs(model.has_msi()), all)?;
    let _ = ready.set(());
    model.start();
    let mut backend = Backend {
        model: model.clone(),
        memory: memory.clone(),
        irq,
        sizes,
    };
    let result = server.run(&mut backend);
    model.stop();
    memory.clear();
    match result {
        Ok(()) => Ok(()),
        Err(e) => Err(anyhow::anyhow!("vfio-user: {e}")),
    }
}
