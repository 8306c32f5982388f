// SPDX-License-Identifier: GPL-2.0

//! `/sys/class/drm/card<n>/gt_*_freq_mhz`, and the same files as `gt/gt0/rps_*_freq_mhz`: the
//! engines' clock, on chips that let the driver choose it. Names and errors are i915's, which has
//! both, too.

use core::marker::PhantomData;
use kernel::prelude::*;
use ouro_kernel::drm::{
    sysfs::{Folder, Text, Value},
    Registration,
};

use super::number;
use crate::{
    device::{Device, Ouro},
    gpu::Gpu,
    hardware::Hardware,
};

/// The directories of the device's GT.
pub(super) struct OfGt {
    // In the order of removal: a directory after its contents.
    _gt0: Folder<Ouro>,
    _gt: Folder<Ouro>,
}

/// Adds the files, if the driver can change the clock.
pub(super) fn add(registration: &Registration<Ouro>, gpu: &Gpu) -> Result<Option<OfGt>> {
    if gpu.hardware().clocks().is_err() {
        return Ok(None);
    }
    let gt = registration.folder(c"gt")?;
    let mut gt0 = gt.folder(c"gt0")?;
    file::<Running>(registration, &mut gt0)?;
    file::<Requested>(registration, &mut gt0)?;
    file::<Lowest>(registration, &mut gt0)?;
    file::<Highest>(registration, &mut gt0)?;
    file::<Boost>(registration, &mut gt0)?;
    file::<ChipLowest>(registration, &mut gt0)?;
    file::<ChipSteady>(registration, &mut gt0)?;
    file::<ChipHighest>(registration, &mut gt0)?;
    Ok(Some(OfGt { _gt0: gt0, _gt: gt }))
}

/// Adds the two files of a clock.
fn file<C: Clock>(registration: &Registration<Ouro>, gt0: &mut Folder<Ouro>) -> Result {
    registration.value::<File<C, false>>()?;
    gt0.value::<File<C, true>>(0)
}

/// A clock in MHz.
trait Clock: 'static {
    /// The name of the card's file.
    const NAME: &'static CStr;
    /// The name of the GT's file.
    const OF_GT: &'static CStr;
    /// Whether root may write it.
    const WRITABLE: bool = false;

    fn get(hardware: &Hardware) -> Result<u32>;

    /// Errors: `EINVAL` without any change.
    fn set(hardware: &Hardware, mhz: u32) -> Result {
        let _ = (hardware, mhz);
        Err(EINVAL)
    }
}

/// A file of a [`Clock`], of the card or of its GT.
struct File<C, const OF_GT: bool>(PhantomData<C>);

impl<C: Clock, const OF_GT: bool> Value<Ouro> for File<C, OF_GT> {
    const NAME: &'static CStr = if OF_GT { C::OF_GT } else { C::NAME };
    const WRITABLE: bool = C::WRITABLE;

    fn show(dev: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", C::get(dev.gpu().hardware())?));
        Ok(())
    }

    fn store(dev: &Device, _: usize, data: &[u8]) -> Result {
        C::set(dev.gpu().hardware(), number(data)?)
    }
}

/// The clock at which the engines run; 0 while the device sleeps.
struct Running;

impl Clock for Running {
    const NAME: &'static CStr = c"gt_act_freq_mhz";
    const OF_GT: &'static CStr = c"rps_act_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        hardware.running_clock()
    }
}

/// The requested clock: the highest while the device is awake, the lowest while it sleeps.
struct Requested;

impl Clock for Requested {
    const NAME: &'static CStr = c"gt_cur_freq_mhz";
    const OF_GT: &'static CStr = c"rps_cur_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        hardware.requested_clock()
    }
}

/// The clock of a device that sleeps.
struct Lowest;

impl Clock for Lowest {
    const NAME: &'static CStr = c"gt_min_freq_mhz";
    const OF_GT: &'static CStr = c"rps_min_freq_mhz";
    const WRITABLE: bool = true;

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clock_limits()?.lowest)
    }

    fn set(hardware: &Hardware, mhz: u32) -> Result {
        hardware.limit_clocks(|limits| limits.lowest = mhz)
    }
}

/// The clock of a device that is awake.
struct Highest;

impl Clock for Highest {
    const NAME: &'static CStr = c"gt_max_freq_mhz";
    const OF_GT: &'static CStr = c"rps_max_freq_mhz";
    const WRITABLE: bool = true;

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clock_limits()?.highest)
    }

    fn set(hardware: &Hardware, mhz: u32) -> Result {
        hardware.limit_clocks(|limits| limits.highest = mhz)
    }
}

/// The clock that user space wants while a client waits. It is kept for programs that save and
/// restore it, and has no effect: a device that is awake has [`Highest`] anyway.
struct Boost;

impl Clock for Boost {
    const NAME: &'static CStr = c"gt_boost_freq_mhz";
    const OF_GT: &'static CStr = c"rps_boost_freq_mhz";
    const WRITABLE: bool = true;

    fn get(hardware: &Hardware) -> Result<u32> {
        hardware.boost_clock()
    }

    fn set(hardware: &Hardware, mhz: u32) -> Result {
        hardware.set_boost_clock(mhz)
    }
}

/// The chip's lowest clock.
struct ChipLowest;

impl Clock for ChipLowest {
    const NAME: &'static CStr = c"gt_RPn_freq_mhz";
    const OF_GT: &'static CStr = c"rps_RPn_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clocks()?.lowest)
    }
}

/// The clock that the chip can always sustain.
struct ChipSteady;

impl Clock for ChipSteady {
    const NAME: &'static CStr = c"gt_RP1_freq_mhz";
    const OF_GT: &'static CStr = c"rps_RP1_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clocks()?.steady)
    }
}

/// The chip's highest clock.
struct ChipHighest;

impl Clock for ChipHighest {
    const NAME: &'static CStr = c"gt_RP0_freq_mhz";
    const OF_GT: &'static CStr = c"rps_RP0_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clocks()?.highest)
    }
}
