// SPDX-License-Identifier: GPL-2.0

//! `/sys/class/drm/card<n>/engine/<name>/`: the properties of each engine, as tools for i915 expect
//! them; `/sys/class/drm/card<n>/error`; and the [`clocks`]. `Documentation/gpu/ouro/uapi.rst`
//! lists the files.

use kernel::{prelude::*, str::CString, sync::Arc};
use ouro_hw::{types::EngineId, EngineClass};
use ouro_kernel::drm::{
    sysfs::{Binary, Folder, Text, Value},
    Registration,
};

use crate::{
    device::{Device, Ouro},
    gpu::Gpu,
    reset,
    submit::lists::SLICE_MS,
    uapi::i915,
};

mod clocks;

/// The directories.
pub(crate) struct Folders {
    _engines: Engines,
    _clocks: Option<clocks::OfGt>,
}

/// Adds the directories, and the files of the clock.
pub(crate) fn add(registration: &Registration<Ouro>, gpu: &Arc<Gpu>) -> Result<Folders> {
    Ok(Folders {
        _engines: engines(registration, gpu)?,
        _clocks: clocks::add(registration, gpu)?,
    })
}

/// The directories of the engines.
struct Engines {
    // In the order of removal: a directory after its contents.
    _defaults: KVec<Folder<Ouro>>,
    _each: KVec<Folder<Ouro>>,
    _all: Folder<Ouro>,
}

fn engines(registration: &Registration<Ouro>, gpu: &Arc<Gpu>) -> Result<Engines> {
    let all = registration.folder(c"engine")?;
    let mut each = KVec::with_capacity(gpu.engines().len(), GFP_KERNEL)?;
    let mut defaults = KVec::with_capacity(gpu.engines().len(), GFP_KERNEL)?;
    for engine in gpu.engines() {
        let id = gpu.name_of(engine).ok_or(EINVAL)?;
        let name = CString::try_from_fmt(fmt!("{}{}", id.class.prefix(), id.instance))?;
        let mut folder = all.folder(&name)?;
        folder.value::<Name>(engine.index())?;
        folder.value::<Class>(engine.index())?;
        folder.value::<Instance>(engine.index())?;
        folder.value::<Registers>(engine.index())?;
        folder.value::<Capabilities>(engine.index())?;
        folder.value::<KnownCapabilities>(engine.index())?;
        folder.value::<Heartbeat>(engine.index())?;
        let mut first = folder.folder(c".defaults")?;
        first.value::<FirstHeartbeat>(engine.index())?;
        if engine.has_lists() {
            folder.value::<PreemptTimeout>(engine.index())?;
            first.value::<FirstPreemptTimeout>(engine.index())?;
            folder.value::<Timeslice>(engine.index())?;
            first.value::<FirstTimeslice>(engine.index())?;
        }
        defaults.push(first, GFP_KERNEL)?;
        each.push(folder, GFP_KERNEL)?;
    }
    Ok(Engines {
        _defaults: defaults,
        _each: each,
        _all: all,
    })
}

/// Returns the class and instance of a directory's engine.
fn id(dev: &Device, number: usize) -> Result<EngineId> {
    let engine = dev.gpu().engines().get(number).ok_or(ENODEV)?;
    dev.gpu().name_of(engine).ok_or(ENODEV)
}

/// The engine's name: `rcs0`.
struct Name;

impl Value<Ouro> for Name {
    const NAME: &'static CStr = c"name";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let id = id(dev, number)?;
        out.print(fmt!("{}{}\n", id.class.prefix(), id.instance));
        Ok(())
    }
}

/// The engine's class, as in `struct i915_engine_class_instance`.
struct Class;

impl Value<Ouro> for Class {
    const NAME: &'static CStr = c"class";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let class = i915::engine_class(id(dev, number)?.class);
        out.print(fmt!("{}\n", class));
        Ok(())
    }
}

/// The engine's instance in its class.
struct Instance;

impl Value<Ouro> for Instance {
    const NAME: &'static CStr = c"instance";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", id(dev, number)?.instance));
        Ok(())
    }
}

/// The offset of the engine's registers.
struct Registers;

impl Value<Ouro> for Registers {
    const NAME: &'static CStr = c"mmio_base";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let engine = dev.gpu().engines().get(number).ok_or(ENODEV)?;
        out.print(fmt!("{:#x}\n", engine.hw().desc().registers));
        Ok(())
    }
}

/// Capabilities beyond those of the whole class, as words. `ENGINE_INFO` reports the same as bits.
struct Capabilities;

impl Value<Ouro> for Capabilities {
    const NAME: &'static CStr = c"capabilities";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        id(dev, number)?;
        // Both words are for later engines than those here.
        out.print(fmt!("\n"));
        Ok(())
    }
}

/// The words that [`Capabilities`] can have.
struct KnownCapabilities;

impl Value<Ouro> for KnownCapabilities {
    const NAME: &'static CStr = c"known_capabilities";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let words = match id(dev, number)?.class {
            EngineClass::Video => "hevc sfc",
            EngineClass::VideoEnhance => "sfc",
            _ => "",
        };
        out.print(fmt!("{}\n", words));
        Ok(())
    }
}

/// Heartbeat interval of an engine in milliseconds; 0: no hangcheck. One value for all engines.
struct Heartbeat;

/// Intervals after which a request hangs. i915 submits a pulse request at the first interval,
/// raises its priority at three more, and resets the engine at the next.
const PULSES: u32 = 5;

impl Value<Ouro> for Heartbeat {
    const NAME: &'static CStr = c"heartbeat_interval_ms";
    const WRITABLE: bool = true;

    fn show(dev: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", dev.gpu().recovery().hang_ms() / PULSES));
        Ok(())
    }

    fn store(dev: &Device, _: usize, data: &[u8]) -> Result {
        let ms = number(data)?.checked_mul(PULSES).ok_or(EINVAL)?;
        dev.gpu().recovery().set_hang_ms(ms);
        Ok(())
    }
}

/// The initial value of [`Heartbeat`], for programs that restore it.
struct FirstHeartbeat;

impl Value<Ouro> for FirstHeartbeat {
    const NAME: &'static CStr = Heartbeat::NAME;

    fn show(_: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", reset::default_hang_ms() / PULSES));
        Ok(())
    }
}

/// Milliseconds in which an engine must answer a preemption before it is reset; 0: there are no
/// preemption probes, and only the hang limit applies. One value for all engines.
struct PreemptTimeout;

impl Value<Ouro> for PreemptTimeout {
    const NAME: &'static CStr = c"preempt_timeout_ms";
    const WRITABLE: bool = true;

    fn show(dev: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", dev.gpu().recovery().preempt_ms()));
        Ok(())
    }

    fn store(dev: &Device, _: usize, data: &[u8]) -> Result {
        dev.gpu().recovery().set_preempt_ms(number(data)?);
        Ok(())
    }
}

/// The initial value of [`PreemptTimeout`].
struct FirstPreemptTimeout;

impl Value<Ouro> for FirstPreemptTimeout {
    const NAME: &'static CStr = PreemptTimeout::NAME;

    fn show(_: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", reset::default_preempt_ms()));
        Ok(())
    }
}

/// Timeslice in milliseconds: how long a context runs while another one of its priority waits; 0:
/// as long as it has work.
struct Timeslice;

impl Value<Ouro> for Timeslice {
    const NAME: &'static CStr = c"timeslice_duration_ms";
    const WRITABLE: bool = true;

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let engine = dev.gpu().engines().get(number).ok_or(ENODEV)?;
        out.print(fmt!("{}\n", engine.slice_ms().ok_or(ENODEV)?));
        Ok(())
    }

    fn store(dev: &Device, at: usize, data: &[u8]) -> Result {
        let engine = dev.gpu().engines().get(at).ok_or(ENODEV)?;
        engine.set_slice_ms(number(data)?)
    }
}

/// The initial value of [`Timeslice`].
struct FirstTimeslice;

impl Value<Ouro> for FirstTimeslice {
    const NAME: &'static CStr = Timeslice::NAME;

    fn show(_: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", SLICE_MS));
        Ok(())
    }
}

/// `error`: the error state of the first engine that hung, until it is cleared by a write.
pub(crate) struct ErrorFile;

impl Binary<Ouro> for ErrorFile {
    const NAME: &'static CStr = c"error";
    const WRITABLE: bool = true;
    const PRIVATE: bool = true;

    fn read(dev: &Device, offset: u64, out: &mut [u8]) -> Result<usize> {
        dev.gpu().recovery().errors().read(offset, out)
    }

    fn write(dev: &Device, _: u64, _: &[u8]) -> Result {
        dev.gpu().recovery().errors().clear();
        Ok(())
    }
}

/// Parses a written number.
fn number(data: &[u8]) -> Result<u32> {
    let text = core::str::from_utf8(data.trim_ascii()).map_err(|_| EINVAL)?;
    text.parse().map_err(|_| EINVAL)
}
