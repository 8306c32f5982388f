// SPDX-License-Identifier: GPL-2.0

//! `/sys/class/drm/card<n>/engine/<name>/`: what each engine is, as tools for i915 look it up; and
//! `/sys/class/drm/card<n>/error`.
//! `Documentation/gpu/ouro/uapi.rst` lists the files.

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

/// The folders of the engines.
pub(crate) struct Engines {
    // In this order: a folder goes after what is in it.
    _defaults: KVec<Folder<Ouro>>,
    _each: KVec<Folder<Ouro>>,
    _all: Folder<Ouro>,
}

/// Adds them.
pub(crate) fn engines(registration: &Registration<Ouro>, gpu: &Arc<Gpu>) -> Result<Engines> {
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

/// What user space calls the engine of a folder.
fn id(dev: &Device, number: usize) -> Result<EngineId> {
    let engine = dev.gpu().engines().get(number).ok_or(ENODEV)?;
    dev.gpu().name_of(engine).ok_or(ENODEV)
}

/// Its name: `rcs0`.
struct Name;

impl Value<Ouro> for Name {
    const NAME: &'static CStr = c"name";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let id = id(dev, number)?;
        out.print(fmt!("{}{}\n", id.class.prefix(), id.instance));
        Ok(())
    }
}

/// Its class, as in `struct i915_engine_class_instance`.
struct Class;

impl Value<Ouro> for Class {
    const NAME: &'static CStr = c"class";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let class = i915::engine_class(id(dev, number)?.class);
        out.print(fmt!("{}\n", class));
        Ok(())
    }
}

/// Its number in the class.
struct Instance;

impl Value<Ouro> for Instance {
    const NAME: &'static CStr = c"instance";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", id(dev, number)?.instance));
        Ok(())
    }
}

/// Where its registers are.
struct Registers;

impl Value<Ouro> for Registers {
    const NAME: &'static CStr = c"mmio_base";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        let engine = dev.gpu().engines().get(number).ok_or(ENODEV)?;
        out.print(fmt!("{:#x}\n", engine.hw().desc().registers));
        Ok(())
    }
}

/// What it can beyond the rest of its class, in words. `ENGINE_INFO` gives the same as bits.
struct Capabilities;

impl Value<Ouro> for Capabilities {
    const NAME: &'static CStr = c"capabilities";

    fn show(dev: &Device, number: usize, out: &mut Text<'_>) -> Result {
        id(dev, number)?;
        // Both words are for engines later than any here.
        out.print(fmt!("\n"));
        Ok(())
    }
}

/// The words that the one above can have.
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

/// Milliseconds between two pulses of an engine's heart; 0: it has none, and may hang. One value for all
/// engines.
struct Heartbeat;

/// Intervals after which a request hangs. i915 sends a request as a pulse at the first one, raises its
/// priority at three more, and resets the engine at the next.
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

/// What [`Heartbeat`] was before anybody wrote it. Who has written it takes it back by this.
struct FirstHeartbeat;

impl Value<Ouro> for FirstHeartbeat {
    const NAME: &'static CStr = Heartbeat::NAME;

    fn show(_: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", reset::default_hang_ms() / PULSES));
        Ok(())
    }
}

/// Milliseconds for which an engine may keep what it is asked to let go of, before it is reset; 0: for as long
/// as a request may take at all, and nobody asks. One value for all engines.
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

/// What [`PreemptTimeout`] was before anybody wrote it.
struct FirstPreemptTimeout;

impl Value<Ouro> for FirstPreemptTimeout {
    const NAME: &'static CStr = PreemptTimeout::NAME;

    fn show(_: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", reset::default_preempt_ms()));
        Ok(())
    }
}

/// Milliseconds for which a context has the engine while another one of its priority waits; 0: for as long as it
/// has something to do.
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

/// What [`Timeslice`] was before anybody wrote it.
struct FirstTimeslice;

impl Value<Ouro> for FirstTimeslice {
    const NAME: &'static CStr = Timeslice::NAME;

    fn show(_: &Device, _: usize, out: &mut Text<'_>) -> Result {
        out.print(fmt!("{}\n", SLICE_MS));
        Ok(())
    }
}

/// `error`: the error state of the first engine that hung, until somebody writes to the file.
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

/// A number that somebody wrote.
fn number(data: &[u8]) -> Result<u32> {
    let text = core::str::from_utf8(data.trim_ascii()).map_err(|_| EINVAL)?;
    text.parse().map_err(|_| EINVAL)
}
