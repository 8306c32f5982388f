// SPDX-License-Identifier: GPL-2.0

//! The PCI driver and the DRM driver: a device's way in and out.
//!
//! On the way in, nothing is shown to user space before every engine has answered. On the way out,
//! the core is shut down first, so that everything published is signalled and every wait ends, and
//! then the DRM device is unplugged; open files keep the core, which reaches no register any more.

use kernel::{
    device::{Bound, Core},
    irq::IrqReturn,
    pci,
    prelude::*,
    sync::{aref::ARef, Arc},
};
use ouro_hw::{generation::Window as Place, Chip, Platform};
use ouro_kernel::{
    drm,
    irq::{Irq, IrqHandler},
    mmio::Bar,
    pci::{
        enable_mem, request_region, reserve_write_combining, take_from_firmware, Config, DmaDevice,
        Function,
    },
    pm,
    shrinker::Shrinker,
    task::Client,
    Caching,
};

use crate::{
    debugfs, fdinfo,
    file::File,
    gem::{shrink::Reclaim, Bo},
    gpu::Gpu,
    hardware::{Hardware, Window},
    reset::ErrorFile,
    sysfs,
    uapi::i915::I915,
};

/// The driver.
pub(crate) struct Ouro;

/// A DRM device.
pub(crate) type Device = drm::Device<Ouro>;
/// An open file.
pub(crate) type DrmFile = drm::File<Ouro>;

/// What a DRM device has.
pub(crate) struct Data {
    gpu: Arc<Gpu>,
}

impl Data {
    /// The device, as the core sees it.
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

    fn show_fdinfo(_: &Device, file: &DrmFile, printer: &mut drm::Printer<'_>) {
        fdinfo::show(file, file.inner().holder(), printer);
    }
}

/// What surrounds the device.
struct Surroundings {
    config: Config,
    bridge: Option<Function>,
    bars: [u64; 6],
    iommu: bool,
}

impl Platform for Surroundings {
    fn config32(&self, offset: u16) -> u32 {
        self.config.read32(offset)
    }

    fn bridge32(&self, offset: u16) -> u32 {
        self.bridge.as_ref().map_or(!0, |b| b.read32(offset))
    }

    fn bar_len(&self, bar: u8) -> u64 {
        self.bars.get(usize::from(bar)).copied().unwrap_or(0)
    }

    fn iommu(&self) -> bool {
        self.iommu
    }
}

/// The interrupt of a device.
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

/// What is bound to the PCI device. The core is shut down first, when this is dropped.
pub(crate) struct Binding {
    gpu: Arc<Gpu>,
    registration: Option<drm::Registration<Ouro>>,
    /// Their folders in sysfs.
    engines: Option<sysfs::Engines>,
    shrinker: Option<Shrinker<Reclaim>>,
    irq: Option<Irq<Handler>>,
}

impl Drop for Binding {
    fn drop(&mut self) {
        // Memory of objects stays as it is from here on.
        self.shrinker = None;
        self.gpu.shutdown();
        self.engines = None;
        self.registration = None;
        self.irq = None;
        self.gpu.hardware().close();
    }
}

fn window(pdev: &pci::Device<Bound>, place: Place, caching: Caching) -> Result<Window> {
    let bar = u32::from(place.bar);
    let offset = u64::from(place.start);
    Ok(Window::new(Bar::map(
        pdev,
        bar,
        offset,
        place.len as usize,
        caching,
    )?))
}

fn bring_up(pdev: &pci::Device<Core<'_>>, chip: &'static Chip) -> Result<Arc<Gpu>> {
    let windows = chip.generation.windows();
    enable_mem(pdev)?;
    let dma = DmaDevice::new(pdev, chip.generation.dma_bits().into())?;
    // The tables are about to be written over: what shows a picture through them must stop.
    take_from_firmware(pdev, c"ouro")?;
    request_region(pdev, windows.regs.bar.into(), c"ouro registers")?;
    if windows.gtt.bar != windows.regs.bar {
        request_region(pdev, windows.gtt.bar.into(), c"ouro tables")?;
    }
    let aperture = match windows.aperture {
        Some(aperture) => {
            let bar = aperture.bar.into();
            request_region(pdev, bar, c"ouro aperture")?;
            // Before user space has pages of it.
            reserve_write_combining(pdev, bar)?;
            Some(pdev.resource_start(bar)? + u64::from(aperture.start))
        }
        None => None,
    };
    let regs = window(pdev, windows.regs, Caching::Uncached)?;
    let gtt = window(pdev, windows.gtt, Caching::WriteCombining)?;

    let mut bars = [0; 6];
    for (i, len) in (0..).zip(bars.iter_mut()) {
        *len = pdev.resource_len(i).unwrap_or(0);
    }
    let platform = KBox::new(
        Surroundings {
            config: Config::new(pdev)?,
            bridge: Function::find(0, 0, 0),
            bars,
            iommu: dma.is_translated(),
        },
        GFP_KERNEL,
    )?;
    let hardware = Arc::pin_init(Hardware::new(chip, regs, gtt, platform)?, GFP_KERNEL)?;
    Gpu::new(hardware, dma, aperture, None)
}

macro_rules! ids {
    ($($device:expr),* $(,)?) => {
        kernel::pci_device_table!(
            PCI_TABLE,
            <Ouro as pci::Driver>::IdInfo,
            [$((pci::DeviceId::from_id(pci::Vendor::INTEL, $device), ())),*]
        );

        /// The table and the chips of the backends are the same list.
        const _: () = {
            let ids: &[u32] = &[$($device),*];
            assert!(ids.len() == ouro_hw::chips::CHIPS.len());
            let mut i = 0;
            while i < ids.len() {
                assert!(ids[i] == ouro_hw::chips::CHIPS[i].device as u32);
                i += 1;
            }
        };
    };
}

ids!(0x0102, 0x0106, 0x010a, 0x0112, 0x0116, 0x0122, 0x0126);

impl pci::Driver for Ouro {
    type IdInfo = ();
    type Data<'bound> = Binding;
    const ID_TABLE: pci::IdTable<Self::IdInfo> = &PCI_TABLE;

    fn probe<'bound>(
        pdev: &'bound pci::Device<Core<'_>>,
        _info: Option<&'bound Self::IdInfo>,
    ) -> impl PinInit<Self::Data<'bound>, Error> + 'bound {
        let chip =
            ouro_hw::chips::lookup(pdev.vendor_id().as_raw(), pdev.device_id()).ok_or(ENODEV)?;
        dev_info!(pdev, "{} ({})\n", chip.name, chip.generation.name());
        let gpu = bring_up(pdev, chip)?;
        // From here on a failure shuts the device down.
        let mut binding = Binding {
            gpu: gpu.clone(),
            registration: None,
            engines: None,
            shrinker: None,
            irq: None,
        };
        let handler = Arc::new(Handler(gpu.clone()), GFP_KERNEL)?;
        let irq = Irq::request(pdev, c"ouro", handler)?;
        dev_info!(pdev, "interrupt: {:?}\n", irq.kind());
        binding.irq = Some(irq);
        gpu.prove()?;

        binding.shrinker = Some(Shrinker::new(c"drm-ouro", gpu.reclaim().clone())?);
        let drm = drm::UnregisteredDevice::<Ouro>::new::<I915, _>(
            pdev.as_ref(),
            Data { gpu: gpu.clone() },
        )?;
        debugfs::add(&drm);
        let registration = drm.register()?;
        registration.binary::<ErrorFile>()?;
        gpu.recovery().events().begin(registration.device().clone());
        binding.engines = Some(sysfs::engines(&registration, &gpu)?);
        binding.registration = Some(registration);
        Ok(binding)
    }
}

impl pm::Driver for Ouro {
    fn suspend(_: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        this.gpu.suspend()
    }

    fn resume(_: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) -> Result {
        this.gpu.resume()
    }

    fn shutdown(_: &pci::Device<Bound>, this: Pin<&Self::Data<'_>>) {
        this.gpu.shutdown();
    }
}

/// The last reference of a device may be a file's.
const _: fn() = || {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Gpu>();
    let _: Option<ARef<Device>> = None;
};
