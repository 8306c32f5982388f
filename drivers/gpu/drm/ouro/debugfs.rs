// SPDX-License-Identifier: GPL-2.0

//! Files in `/sys/kernel/debug/dri/<device>`, for tests: those that IGT expects of a device named
//! `i915`. `Documentation/gpu/ouro/uapi.rst` lists them.

use kernel::{
    prelude::*,
    seq_file::SeqFile,
    seq_print,
    str::{parse_int::ParseInt, BStr},
    sync::Arc,
};
use ouro_kernel::drm::{DebugFile, DebugHold, UnregisteredDevice};

use crate::{
    device::{Device, Ouro},
    gpu::Gpu,
    report::Words,
    reset::{self, Why},
    submit::{self, request::Awake, Retirer},
};

/// Parses a number in C syntax, with or without a newline.
fn number<T: ParseInt>(data: &[u8]) -> Result<T> {
    T::from_str(BStr::from_bytes(data.trim_ascii()))
}

/// Waits until all requests have completed. Sleeps. Errors: `ERESTARTSYS`.
fn wait_idle(gpu: &Gpu) -> Result {
    loop {
        match gpu.wait_idle(1000) {
            Err(e) if e == ETIME => {}
            done => return done,
        }
    }
}

/// The mask of all engines.
const ALL: u32 = !0;
/// Milliseconds that work may take to end by itself before it is reset.
const PATIENCE_MS: u32 = 200;

/// Resets the work that does not end by itself, ready or blocked; a wedged device is revived.
fn end_work(gpu: &Gpu) -> Result {
    match gpu.wait_idle(PATIENCE_MS) {
        Err(e) if e == ETIME => gpu.recovery().give_up(),
        done => done?,
    }
    if gpu.recovery().is_wedged() {
        return ask_for_reset(gpu, ALL);
    }
    Ok(())
}

/// Resets the engines of the mask. It is no error if the device is wedged afterwards, as it is when
/// resets are disabled: `i915_wedged` tells.
fn ask_for_reset(gpu: &Gpu, mask: u32) -> Result {
    match gpu.recovery().reset(mask, Why::Asked) {
        Err(e) if e == EIO => Ok(()),
        done => done,
    }
}

/// Adds the files.
pub(crate) fn add(dev: &UnregisteredDevice<Ouro>) {
    let folder = dev.debug_folder();
    folder
        .file::<DropCaches>()
        .file::<Objects>()
        .file::<Batches>()
        .file::<Caches>()
        .file::<Directories>()
        .file::<Visits>()
        .file::<Workarounds>()
        .file::<Wedged>()
        .hold::<KeptAwake>();
    folder
        .folder(c"i915_params")
        .file::<ResetParam>()
        .file::<HangcheckParam>();
}

/// `i915_gem_drop_caches`: returns a device to its idle state.
struct DropCaches;

/// Idle BOs lose their addresses and pages; purgeable ones are purged.
const DROP_UNBOUND: u64 = 1 << 0;
const DROP_BOUND: u64 = 1 << 1;
const DROP_SHRINK_ALL: u64 = 1 << 5;
/// Completed requests are retired.
const DROP_RETIRE: u64 = 1 << 2;
/// Waits until all requests have completed.
const DROP_ACTIVE: u64 = 1 << 3;
const DROP_IDLE: u64 = 1 << 6;
/// Waits until memory that is being freed is free.
const DROP_FREED: u64 = 1 << 4;
const DROP_RCU: u64 = 1 << 9;
/// Resets work that does not end by itself, and revives a wedged device.
const DROP_RESET_ACTIVE: u64 = 1 << 7;
/// Restarts seqnos: here they belong to each ring, and nothing needs to be done.
const DROP_RESET_SEQNO: u64 = 1 << 8;

const DROP_ALL: u64 = DROP_UNBOUND
    | DROP_BOUND
    | DROP_RETIRE
    | DROP_ACTIVE
    | DROP_FREED
    | DROP_SHRINK_ALL
    | DROP_IDLE
    | DROP_RESET_ACTIVE
    | DROP_RESET_SEQNO
    | DROP_RCU;

impl DebugFile<Ouro> for DropCaches {
    const NAME: &'static CStr = c"i915_gem_drop_caches";
    const WRITABLE: bool = true;

    fn show(_: &Device, m: &SeqFile) -> Result {
        seq_print!(m, "0x{:08x}\n", DROP_ALL);
        Ok(())
    }

    fn write(dev: &Device, data: &[u8]) -> Result {
        let what = number::<u64>(data)?;
        let gpu = dev.gpu();
        if what & DROP_RESET_ACTIVE != 0 {
            end_work(gpu)?;
        }
        if what & (DROP_ACTIVE | DROP_IDLE) != 0 {
            wait_idle(gpu)?;
        }
        if what & (DROP_RETIRE | DROP_ACTIVE | DROP_IDLE) != 0 {
            gpu.retirer().retire();
        }
        if what & (DROP_UNBOUND | DROP_BOUND | DROP_SHRINK_ALL) != 0 {
            submit::evict_all(gpu.space());
            gpu.reclaim().give_back_all();
        }
        if what & (DROP_FREED | DROP_RCU) != 0 {
            gpu.retirer().drain();
        }
        Ok(())
    }
}

/// `i915_gem_objects`: the number of BOs. IGT reads the first number to find leaks.
struct Objects;

impl DebugFile<Ouro> for Objects {
    const NAME: &'static CStr = c"i915_gem_objects";

    fn show(dev: &Device, m: &SeqFile) -> Result {
        let counts = dev.gpu().counts();
        let (objects, bytes) = (counts.objects, counts.object_bytes);
        seq_print!(m, "{objects} objects, {bytes} bytes\n");
        seq_print!(m, "{} pages of them have memory\n", counts.object_pages);
        Ok(())
    }
}

/// `ouro_batches`: how many checked batches ran as copies, and how many without privilege; zeros on
/// chips without a checker.
struct Batches;

impl DebugFile<Ouro> for Batches {
    const NAME: &'static CStr = c"ouro_batches";

    fn show(dev: &Device, m: &SeqFile) -> Result {
        let (copies, originals) = dev.gpu().pool().map_or((0, 0), |pool| pool.counts());
        seq_print!(m, "{copies} copies\n{originals} originals\n");
        Ok(())
    }
}

/// `ouro_caches`: CPU cache lines flushed, and number of flushes, by cause. Zeros on coherent
/// chips.
struct Caches;

impl DebugFile<Ouro> for Caches {
    const NAME: &'static CStr = c"ouro_caches";

    fn show(dev: &Device, m: &SeqFile) -> Result {
        for (cause, lines, calls) in dev.gpu().flushed().each() {
            seq_print!(m, "{} {lines} lines {calls} times\n", cause.name());
        }
        Ok(())
    }
}

/// `ouro_directories`: how often requests loaded a directory, on chips with a directory per
/// context.
struct Directories;

impl DebugFile<Ouro> for Directories {
    const NAME: &'static CStr = c"ouro_directories";

    fn show(dev: &Device, m: &SeqFile) -> Result {
        for engine in dev.gpu().engines().iter() {
            let id = Words(engine.hw().desc().id);
            let loads = engine.counts().directory_loads;
            seq_print!(m, "{id} {loads}\n");
        }
        Ok(())
    }
}

/// `ouro_visits`: how often execlist engines have looked at a context, with interrupts disabled.
struct Visits;

impl DebugFile<Ouro> for Visits {
    const NAME: &'static CStr = c"ouro_visits";

    fn show(dev: &Device, m: &SeqFile) -> Result {
        for engine in dev.gpu().engines().iter().filter(|e| e.has_lists()) {
            let id = Words(engine.hw().desc().id);
            seq_print!(m, "{id} {}\n", engine.counts().visits);
        }
        Ok(())
    }
}

/// `i915_wa_registers`: the registers of context images that workarounds change: for each engine
/// that has some, their number, then offset, value, and mask of the bits.
struct Workarounds;

impl DebugFile<Ouro> for Workarounds {
    const NAME: &'static CStr = c"i915_wa_registers";

    fn show(dev: &Device, m: &SeqFile) -> Result {
        for engine in dev.gpu().engines().iter() {
            let mut count = 0;
            engine.hw().context_workarounds(&mut |_| count += 1);
            if count == 0 {
                continue;
            }
            let id = Words(engine.hw().desc().id);
            seq_print!(m, "{id}: Workarounds applied: {count}\n");
            engine.hw().context_workarounds(&mut |w| {
                let (offset, value, bits) = (w.offset, w.value, w.bits);
                seq_print!(m, "0x{offset:X}: 0x{value:08X}, mask: 0x{bits:08X}\n");
            });
            seq_print!(m, "\n");
        }
        Ok(())
    }
}

/// `i915_params/reset`: the largest scope of a reset; 0: a device that hangs is wedged. Tests that
/// provoke hangs set it.
struct ResetParam;

impl DebugFile<Ouro> for ResetParam {
    const NAME: &'static CStr = c"reset";
    const WRITABLE: bool = true;

    fn show(dev: &Device, m: &SeqFile) -> Result {
        seq_print!(m, "{}\n", dev.gpu().recovery().reset_param());
        Ok(())
    }

    fn write(dev: &Device, data: &[u8]) -> Result {
        dev.gpu().recovery().set_reset_param(number(data)?);
        Ok(())
    }
}

/// `i915_params/enable_hangcheck`: whether hangcheck is on.
struct HangcheckParam;

impl DebugFile<Ouro> for HangcheckParam {
    const NAME: &'static CStr = c"enable_hangcheck";
    const WRITABLE: bool = true;

    fn show(dev: &Device, m: &SeqFile) -> Result {
        let on = dev.gpu().recovery().hang_ms() != 0;
        seq_print!(m, "{}\n", if on { 'Y' } else { 'N' });
        Ok(())
    }

    fn write(dev: &Device, data: &[u8]) -> Result {
        let on = match data.trim_ascii() {
            b"Y" | b"y" | b"1" => true,
            b"N" | b"n" | b"0" => false,
            _ => return Err(EINVAL),
        };
        let ms = if on { reset::default_hang_ms() } else { 0 };
        if on && ms == 0 {
            let dev = dev.gpu().hardware().dev();
            dev_notice!(
                dev,
                "hangcheck stays off: the module parameter hang_ms is 0\n"
            );
        }
        dev.gpu().recovery().set_hang_ms(ms);
        Ok(())
    }
}

/// `i915_wedged`: whether the device is wedged.
struct Wedged;

impl DebugFile<Ouro> for Wedged {
    const NAME: &'static CStr = c"i915_wedged";
    const WRITABLE: bool = true;

    fn show(dev: &Device, m: &SeqFile) -> Result {
        let wedged = dev.gpu().recovery().is_wedged();
        seq_print!(m, "{}\n", i32::from(wedged));
        Ok(())
    }

    fn write(dev: &Device, data: &[u8]) -> Result {
        // A mask of engines; programs write -1 for all.
        let mask = match number::<u64>(data) {
            Ok(mask) => mask as u32,
            Err(_) => number::<i64>(data)? as u32,
        };
        ask_for_reset(dev.gpu(), mask)
    }
}

/// `i915_forcewake_user`: keeps the device awake while it is open, for programs that map registers.
struct KeptAwake {
    /// `None` once it is released.
    awake: Option<Awake>,
    retirer: Arc<Retirer>,
}

impl DebugHold<Ouro> for KeptAwake {
    const NAME: &'static CStr = c"i915_forcewake_user";

    fn open(dev: &Device) -> Result<Self> {
        let gpu = dev.gpu();
        Ok(Self {
            awake: Some(Awake::new(gpu.hardware())?),
            retirer: gpu.retirer().clone(),
        })
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        self.awake = None;
        // The device may sleep again.
        self.retirer.start_tick();
    }
}
