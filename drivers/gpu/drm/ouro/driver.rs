// SPDX-License-Identifier: GPL-2.0

//! The PCI driver and the DRM driver: probe and unbind.
//!
//! This module selects the uAPI of a device: that of the upstream driver for chips of the same
//! vendor.
//!
//! Probe shows nothing to user space before every engine has completed a request. Unbind first
//! shuts the core down, so that all published fences are signalled and all waits end, and then
//! unplugs the DRM device; open files keep the core, which accesses no register any more.

use core::ops::Range;
use kernel::{
    device::{self, Bound, Core},
    firmware::Firmware,
    irq::IrqReturn,
    new_mutex, pci,
    prelude::*,
    str::CString,
    sync::{aref::ARef, Arc, Mutex},
};
use ouro_core::{
    choice::{self, Step},
    disjoint::Disjoint,
};
use ouro_hw::{
    chips, for_each_chip,
    generation::{LocalMemory, Translation},
    types::{DmaAddr, GpuAddr, PAGE_SIZE},
    Chip, Iommu,
};
use ouro_kernel::{
    drm::{
        self,
        dumb::{Buffer, Picture},
    },
    irq::{Irq, IrqHandler},
    mmio::Bar,
    param,
    pci::{enable_mem, is_guest, Claim, DmaDevice},
    pm,
    shrinker::Shrinker,
    task::Client,
    Caching,
};

use crate::{
    bars::{Claims, MemoryBars},
    debugfs,
    device::{Device, DrmFile, Ouro},
    file::File,
    gem::{
        region::{Local, Reach},
        shrink::Reclaim,
        Bo,
    },
    gpu::{activity, Gpu},
    hardware::Hardware,
    look::{Lit, Look, PLANES},
    module_parameters,
    platform::Surroundings,
    report::{self, Words},
    sysfs::{self, ErrorFile},
    uapi::{dumb, i915::I915, radeon::Radeon},
    vm::TableStore,
};

/// The driver's data of a DRM device.
pub(crate) struct Data {
    gpu: Arc<Gpu>,
}

impl Data {
    /// Returns the device's core.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }
}

impl drm::Driver for Ouro {
    type Data = Data;
    type File = File;
    type Object = Bo;
    type Module = crate::LocalModule;

    fn open(dev: &Device, client: &Client) -> Result<Pin<KBox<File>>> {
        File::new(dev.gpu().clone(), client)
    }

    fn create_dumb(dev: &Device, file: &DrmFile, picture: Picture) -> Result<Buffer> {
        dumb::create(dev, file, picture)
    }

    fn dumb_offset(file: &DrmFile, handle: u32) -> Result<u64> {
        dumb::offset(file, handle)
    }
}

/// The interrupt handler of a device.
struct Handler(Arc<Gpu>);

impl IrqHandler for Handler {
    fn handle_irq(&self) -> IrqReturn {
        if self.0.interrupt() {
            IrqReturn::Handled
        } else {
            IrqReturn::None
        }
    }
}

/// The resources of a bound device.
#[derive(Default)]
struct Parts {
    registration: Option<drm::Registration<Ouro>>,
    /// The sysfs directories.
    folders: Option<sysfs::Folders>,
    shrinker: Option<Shrinker<Reclaim>>,
    irq: Option<Irq<Handler>>,
}

/// The driver's data of a PCI device.
pub(crate) struct Binding {
    gpu: Arc<Gpu>,
    /// `None` after the end.
    parts: Pin<KBox<Mutex<Option<Parts>>>>,
}

impl Binding {
    fn add(&self, what: impl FnOnce(&mut Parts)) {
        if let Some(parts) = &mut *self.parts.lock() {
            what(parts);
        }
    }

    /// Stops the device and releases its resources, unless that was done before.
    fn end(&self) {
        let Some(parts) = self.parts.lock().take() else {
            return;
        };
        // Memory of BOs is not reclaimed from here on.
        drop(parts.shrinker);
        self.gpu.shutdown();
        drop(parts.folders);
        drop(parts.registration);
        drop(parts.irq);
        if let Some(tables) = self.gpu.tables() {
            tables.close();
        }
        // Pages of BOs stay allocated while files are open, and are reused after that: the device
        // must not reach them.
        self.gpu.space().retract();
        self.gpu.hardware().close();
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        // For a probe that fails.
        self.end();
    }
}

/// Most bytes of VRAM for page tables.
const MAX_TABLES: u64 = 64 << 20;

/// The use of a device's VRAM.
#[derive(Default)]
struct VramParts {
    /// VRAM for BOs.
    objects: Option<Local>,
    /// VRAM for page tables.
    tables: Option<Arc<TableStore>>,
}

/// Divides the VRAM of a device, of which the CPU sees a part of `bar` from `start` on. `lit` is in
/// use by display planes.
///
/// Errors: `ENOSPC` if the display leaves no room for page tables; `ENOMEM`.
fn divide_vram(
    pdev: &pci::Device<Bound>,
    bar: &Claim,
    start: u64,
    memory: LocalMemory,
    lit: &Disjoint<PLANES>,
) -> Result<VramParts> {
    let start = start + memory.window_at;
    let map = |range: Range<u64>| {
        let part = bar.part(start + range.start, range.end - range.start)?;
        Bar::map(pdev, part, Caching::WriteCombining)
            .inspect_err(|e| dev_err!(pdev, "cannot map VRAM at {:#x}: {e:?}\n", range.start))
    };
    let grain = u64::from(memory.grain);
    // If VRAM needs PTEs, the first free part of it is for page tables, which must be CPU-visible.
    let (tables, first, reach) = match memory.at {
        Some(at) => (None, 0, Reach::Direct(GpuAddr(at.0.into()))),
        None => {
            let size = (memory.cpu_visible / 8).min(MAX_TABLES) & !(grain - 1);
            let mut at = 0;
            while let Some(over) = lit.hit(&(at..at + size)) {
                at = over.end.next_multiple_of(grain);
                if at
                    .checked_add(size)
                    .is_none_or(|end| end > memory.cpu_visible)
                {
                    dev_err!(
                        pdev,
                        "no VRAM for page tables: the firmware's framebuffer covers it\n"
                    );
                    return Err(ENOSPC);
                }
            }
            let end = at + size;
            (Some(at..end), end, Reach::Entries(DmaAddr(end)))
        }
    };
    let tables = match tables {
        Some(range) if !range.is_empty() => {
            let at = range.start;
            Some(TableStore::new(map(range)?, at)?)
        }
        _ => None,
    };
    // Whole granules, by pages from the first one on.
    let mut kept = Disjoint::default();
    for range in lit.iter() {
        let (from, end) = (range.start.max(first), range.end.min(memory.size));
        if from < end {
            let (from, end) = (
                (from - first) & !(grain - 1),
                (end - first).next_multiple_of(grain),
            );
            kept.add(from / u64::from(PAGE_SIZE)..end / u64::from(PAGE_SIZE));
        }
    }
    let objects = Local {
        window: map(first..memory.cpu_visible)?,
        size: memory.size - first,
        reach,
        grain: memory.grain / PAGE_SIZE,
        lit: kept,
    };
    Ok(VramParts {
        objects: Some(objects),
        tables,
    })
}

/// Loads the microcode of the device, if it has one. Errors: `ENOENT` if the file does not exist,
/// `ENOMEM`.
fn microcode(pdev: &pci::Device<Core<'_>>, chip: &Chip) -> Result<KVVec<u8>> {
    let mut bytes = KVVec::new();
    let Some(name) = chip.generation.firmware() else {
        return Ok(bytes);
    };
    let file = CString::try_from_fmt(fmt!("{name}"))?;
    let file = Firmware::request(&file, pdev.as_ref()).inspect_err(|e| {
        dev_err!(
            pdev,
            "cannot load firmware {name} ({e:?}): \
             install the package that has /lib/firmware/{name}\n"
        );
    })?;
    bytes.extend_from_slice(file.data(), GFP_KERNEL)?;
    Ok(bytes)
}

/// The step after which the bring-up of a device ends.
struct StopAfter {
    /// For the log.
    dev: ARef<device::Device>,
    last: Option<Step>,
}

impl StopAfter {
    /// Ends bring-up here if this is the last step that the administrator wants.
    ///
    /// Errors: `ECANCELED`, then.
    fn after(&self, step: Step) -> Result {
        if self.last != Some(step) {
            return Ok(());
        }
        dev_info!(
            self.dev,
            "stop_after={}: the device is released again\n",
            Words(step)
        );
        Err(ECANCELED)
    }
}

/// Brings a device up to its first request. Another driver that displays on it keeps it until the
/// device is accepted; bus mastering is disabled until the device's earlier work has ended. After
/// an error the device may sleep again, and no PTE leads to a page of the driver.
fn bring_up(
    pdev: &pci::Device<Core<'_>>,
    chip: &'static Chip,
    stop: &StopAfter,
) -> Result<Arc<Gpu>> {
    let windows = chip.generation.windows();
    enable_mem(pdev).inspect_err(|e| dev_err!(pdev, "cannot enable the PCI device: {e:?}\n"))?;
    let bits = chip.generation.dma_bits();
    let dma = DmaDevice::new(pdev, bits.into())
        .inspect_err(|e| dev_err!(pdev, "cannot set a DMA mask of {bits} bits: {e:?}\n"))?;
    let mut claims = Claims::new(pdev);
    let regs = claims.window(windows.regs, c"ouro registers")?;

    let mut bars = [0; 6];
    for (i, len) in (0..).zip(bars.iter_mut()) {
        *len = pdev.resource_len(i).unwrap_or(0);
    }
    let iommu = Iommu::between(
        module_parameters::iommu.value(),
        dma.has_iommu(),
        is_guest(),
    );
    let shares_ppgtt = module_parameters::ppgtt.value() == 1;
    let platform = Surroundings::new(pdev, bars, dma.clone(), iommu, shares_ppgtt)?;
    let firmware = microcode(pdev, chip)?;
    let look = Look::new(pdev.as_ref(), chip, &regs, &*platform, &firmware)?;
    let topology = look.topology;
    // Chips with context images could use an aliasing PPGTT.
    if iommu.may_translate()
        && topology.context.is_some()
        && matches!(topology.space, Translation::Global)
    {
        dev_info!(pdev, "PPGTT disabled: {}\n", Words(iommu));
    }
    if shares_ppgtt && matches!(topology.space, Translation::Aliasing { .. }) {
        dev_info!(pdev, "one PPGTT for all contexts: ppgtt=1\n");
    }
    if stop.last.is_some() {
        report::topology(pdev.as_ref(), &topology);
    }
    if let Err(e) = stop.after(Step::Probe) {
        look.abandon(&regs, &*platform);
        return Err(e);
    }

    let memory = match MemoryBars::take(pdev, &windows, &mut claims) {
        Ok(memory) => memory,
        Err(e) => {
            look.abandon(&regs, &*platform);
            return Err(e);
        }
    };
    let gtt = memory.gtt;
    let hardware = Hardware::new(pdev.as_ref().into(), look, regs, gtt, platform, firmware)?;
    let hardware = Arc::pin_init(hardware, GFP_KERNEL)?;
    let lit = Lit::find(&hardware);
    for range in lit.entries.iter() {
        let (from, end) = (
            range.start * u64::from(PAGE_SIZE),
            range.end * u64::from(PAGE_SIZE),
        );
        dev_info!(
            pdev,
            "the firmware's framebuffer is kept: GGTT {from:#x} to {end:#x}\n"
        );
    }
    let vram = match (memory.local, topology.local) {
        (Some((bar, start)), Some(memory)) => divide_vram(pdev, &bar, start, memory, &lit.local),
        _ => Ok(VramParts::default()),
    };
    vram.and_then(|vram| {
        let (objects, tables) = (vram.objects, vram.tables);
        Gpu::new(
            hardware.clone(),
            dma,
            memory.aperture,
            objects,
            tables,
            &lit,
        )
    })
    .inspect_err(|_| hardware.abandon())
}

/// Returns whether the administrator wants the driver to bind this device, and how far it is
/// brought up.
///
/// Errors: `ENODEV` if not, `EINVAL` if a parameter is invalid; the log says so.
fn wanted(pdev: &pci::Device<Bound>) -> Result<Option<Step>> {
    let (vendor, device) = (pdev.vendor_id().as_raw(), pdev.device_id());
    let unknown = |name: &str, word: &str, what: &str| {
        dev_err!(pdev, "{name}={word}: {what}\n");
        EINVAL
    };
    let named = choice::names(param::probe(), vendor, device).map_err(|word| {
        let known = "not a list of PCI ids such as 8086:0126,8086:0116, nor *";
        unknown("probe", word.0, known)
    })?;
    if !named {
        dev_info!(
            pdev,
            "not bound; to bind it: modprobe ouro probe={vendor:04x}:{device:04x}\n"
        );
        return Err(ENODEV);
    }
    Step::named(param::stop_after())
        .map_err(|word| unknown("stop_after", word.0, "none of probe, table, ring, request"))
}

macro_rules! pci_ids {
    ($($vendor:ident $name:literal $generation:path [$($device:literal),* $(,)?];)*) => {
        kernel::pci_device_table!(
            PCI_TABLE,
            <Ouro as pci::Driver>::IdInfo,
            [$($((pci::DeviceId::from_id(pci::Vendor::$vendor, $device), ())),*),*]
        );
    };
}

for_each_chip!(pci_ids);

/// Creates the DRM device, with the uAPI of the upstream driver for the vendor's chips.
fn device(pdev: &pci::Device<Bound>, gpu: &Arc<Gpu>) -> Result<drm::UnregisteredDevice<Ouro>> {
    let data = Data { gpu: gpu.clone() };
    match gpu.hardware().chip().vendor {
        chips::ATI => drm::UnregisteredDevice::new::<Radeon, _>(pdev.as_ref(), data),
        _ => drm::UnregisteredDevice::new::<I915, _>(pdev.as_ref(), data),
    }
}

impl pci::Driver for Ouro {
    type IdInfo = ();
    type Data<'bound> = Binding;
    const ID_TABLE: pci::IdTable<Self::IdInfo> = &PCI_TABLE;

    fn probe<'bound>(
        pdev: &'bound pci::Device<Core<'_>>,
        _info: Option<&'bound Self::IdInfo>,
    ) -> impl PinInit<Self::Data<'bound>, Error> + 'bound {
        let chip = chips::lookup(pdev.vendor_id().as_raw(), pdev.device_id()).ok_or(ENODEV)?;
        let stop = StopAfter {
            dev: pdev.as_ref().into(),
            last: wanted(pdev)?,
        };
        dev_info!(pdev, "{} ({})\n", chip.name, chip.generation.name());
        let parts = KBox::pin_init(new_mutex!(Some(Parts::default())), GFP_KERNEL)?;
        let gpu = bring_up(pdev, chip, &stop)?;
        // From here on an error shuts the device down.
        let binding = Binding {
            gpu: gpu.clone(),
            parts,
        };
        stop.after(Step::Table)?;
        let handler = Arc::new(Handler(gpu.clone()), GFP_KERNEL)?;
        let msi = gpu.hardware().topology().msi;
        let irq = Irq::request(pdev, c"ouro", msi, handler)
            .inspect_err(|e| dev_err!(pdev, "cannot request the interrupt: {e:?}\n"))?;
        dev_info!(pdev, "interrupts by {}\n", irq.kind().name());
        binding.add(|parts| parts.irq = Some(irq));
        if stop.last == Some(Step::Ring) {
            gpu.start_engines()?;
            activity::print(&gpu);
        }
        stop.after(Step::Ring)?;
        gpu.prove()?;
        if stop.last == Some(Step::Request) {
            activity::print(&gpu);
        }
        stop.after(Step::Request)?;

        let shrinker = Shrinker::new(c"drm-ouro", gpu.reclaim().clone())?;
        binding.add(|parts| parts.shrinker = Some(shrinker));
        let drm = device(pdev, &gpu)?;
        debugfs::add(&drm);
        let registration = drm
            .register(pdev.as_ref())
            .inspect_err(|e| dev_err!(pdev, "cannot register the DRM device: {e:?}\n"))?;
        registration.binary::<ErrorFile>()?;
        gpu.recovery().events().begin(registration.device().clone());
        let folders = sysfs::add(&registration, &gpu)
            .inspect_err(|e| dev_err!(pdev, "cannot create the sysfs files: {e:?}\n"))?;
        binding.add(|parts| {
            parts.folders = Some(folders);
            parts.registration = Some(registration);
        });
        Ok(binding)
    }

    /// The device is still bound: it is powered, and its IOMMU group is not another driver's.
    /// Neither holds later, when the returned value is dropped.
    fn unbind<'bound>(_: &'bound pci::Device<Core<'_>>, this: Pin<&Self::Data<'bound>>) {
        this.end();
    }
}

impl pm::Driver for Ouro {
    fn prepare(_: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        this.gpu.prepare_suspend()
    }

    fn suspend(_: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        this.gpu.suspend()
    }

    fn resume(_: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        this.gpu.resume()
    }

    fn poweroff_noirq(pdev: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        if this.gpu.hardware().generation().hibernates_in_d0() {
            pm::save_config(pdev);
        }
        Ok(())
    }

    fn shutdown(_: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) {
        this.gpu.shutdown();
    }
}

/// The last reference of a device may be dropped by a file.
const _: fn() = || {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Gpu>();
    let _: Option<ARef<Device>> = None;
};
