// SPDX-License-Identifier: GPL-2.0

//! `/sys/class/drm/card<n>/gt_*_freq_mhz`: the engines' clock, on chips that let the driver choose
//! it. Names and errors are i915's.

use core::marker::PhantomData;
use kernel::prelude::*;
use ouro_kernel::drm::{
    sysfs::{Text, Value},
    Registration,
};

use super::number;
use crate::{
    device::{Device, Ouro},
    gpu::Gpu,
    hardware::Hardware,
};

/// Adds the files, if the driver can change the clock.
pub(crate) fn add(registration: &Registration<Ouro>, gpu: &Gpu) -> Result {
    if gpu.hardware().clocks().is_err() {
        return Ok(());
    }
    registration.value::<File<Running>>()?;
    registration.value::<File<Requested>>()?;
    registration.value::<File<Lowest>>()?;
    registration.value::<File<Highest>>()?;
    registration.value::<File<Boost>>()?;
    registration.value::<File<ChipLowest>>()?;
    registration.value::<File<ChipSteady>>()?;
    registration.value::<File<ChipHighest>>()
}

/// A clock in MHz.
trait Clock: 'static {
    /// The file's name.
    const NAME: &'static CStr;
    /// Whether root may write it.
    const WRITABLE: bool = false;

    fn get(hardware: &Hardware) -> Result<u32>;

    /// Errors: `EINVAL` without any change.
    fn set(hardware: &Hardware, mhz: u32) -> Result {
        let _ = (hardware, mhz);
        Err(EINVAL)
    }
}

/// The file of a [`Clock`].
struct File<C>(PhantomData<C>);

impl<C: Clock> Value<Ouro> for File<C> {
    const NAME: &'static CStr = C::NAME;
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

    fn get(hardware: &Hardware) -> Result<u32> {
        hardware.running_clock()
    }
}

/// The requested clock: the highest while the device is awake, the lowest while it sleeps.
struct Requested;

impl Clock for Requested {
    const NAME: &'static CStr = c"gt_cur_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        hardware.requested_clock()
    }
}

/// The clock of a device that sleeps.
struct Lowest;

impl Clock for Lowest {
    const NAME: &'static CStr = c"gt_min_freq_mhz";
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
    const WRITABLE: bool = true;

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clock_limits()?.highest)
    }

    fn set(hardware: &Hardware, mhz: u32) -> Result {
        hardware.limit_clocks(|limits| limits.highest = mhz)
    }
}

/// The clock while a client waits. The device has its highest clock then anyway: this is
/// [`Highest`], and a program cannot change it.
struct Boost;

impl Clock for Boost {
    const NAME: &'static CStr = c"gt_boost_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        Highest::get(hardware)
    }
}

/// The chip's lowest clock.
struct ChipLowest;

impl Clock for ChipLowest {
    const NAME: &'static CStr = c"gt_RPn_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clocks()?.lowest)
    }
}

/// The clock that the chip can always sustain.
struct ChipSteady;

impl Clock for ChipSteady {
    const NAME: &'static CStr = c"gt_RP1_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clocks()?.steady)
    }
}

/// The chip's highest clock.
struct ChipHighest;

impl Clock for ChipHighest {
    const NAME: &'static CStr = c"gt_RP0_freq_mhz";

    fn get(hardware: &Hardware) -> Result<u32> {
        Ok(hardware.clocks()?.highest)
    }
}
