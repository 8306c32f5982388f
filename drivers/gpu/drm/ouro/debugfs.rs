// SPDX-License-Identifier: GPL-2.0

//! Files in `/sys/kernel/debug/dri/<device>`, for tests: those that IGT wants of a device named
//! `i915` before it runs anything on it. `Documentation/gpu/ouro/uapi.rst` lists them.

use kernel::{
    prelude::*,
    seq_file::SeqFile,
    seq_print,
    str::{parse_int::ParseInt, BStr},
    sync::Arc,
};
use ouro_kernel::{
    drm::{DebugFile, DebugHold, UnregisteredDevice},
    release,
};

use crate::{
    device::{Device, Ouro},
    gpu::Gpu,
    report::Words,
    reset::{self, Why},
    submit::{self, request::Awake, Retirer},
};

/// A number, as C writes them, with or without the end of its line.
fn number<T: ParseInt>(data: &[u8]) -> Result<T> {
    T::from_str(BStr::from_bytes(data.trim_ascii()))
}

/// Waits until nothing is under way. Sleeps. Errors: `ERESTARTSYS`.
fn wait_idle(gpu: &Gpu) -> Result {
    loop {
        match gpu.wait_idle(1000) {
            Err(e) if e == ETIME => {}
            done => return done,
        }
    }
}

/// All engines.
const ALL: u32 = !0;
/// Milliseconds that work has to end by itself before it is ended.
const PATIENCE_MS: u32 = 200;

/// Ends what does not end by itself, queued behind it or not; a device that was given up is brought
/// back.
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

/// Resets the engines of the mask. It is no error that the device is given up after that, as it is
/// where resets are not allowed: whoever wants to know reads `i915_wedged`.
fn ask_for_reset(gpu: &Gpu, mask: u32) -> Result {
    match gpu.recovery().reset(mask, Why::Asked) {
        Err(e) if e == EIO => Ok(()),
        done => done,
    }
}

/// Adds them.
pub(crate) fn add(dev: &UnregisteredDevice<Ouro>) {
    let folder = dev.debug_folder();
    folder
        .file::<DropCaches>()
        .file::<Objects>()
        .file::<Batches>()
        .file::<Caches>()
        .file::<Directories>()
        .file::<Wedged>()
        .hold::<KeptAwake>();
    folder
        .folder(c"i915_params")
        .file::<ResetParam>()
        .file::<HangcheckParam>();
}

/// `i915_gem_drop_caches`: takes a device back to where it was before anybody used it.
struct DropCaches;

/// Idle objects lose their addresses and pages; contents that nobody needs are thrown away.
const DROP_UNBOUND: u64 = 1 << 0;
const DROP_BOUND: u64 = 1 << 1;
const DROP_SHRINK_ALL: u64 = 1 << 5;
/// What is done is let go of.
const DROP_RETIRE: u64 = 1 << 2;
/// Waits until all work is done.
const DROP_ACTIVE: u64 = 1 << 3;
const DROP_IDLE: u64 = 1 << 6;
/// Waits until what is on its way to be freed is free.
const DROP_FREED: u64 = 1 << 4;
const DROP_RCU: u64 = 1 << 9;
/// Ends work that does not end by itself, and brings a device back that was given up.
const DROP_RESET_ACTIVE: u64 = 1 << 7;
/// Begins the numbers of requests anew: here they belong to each ring, and nothing depends on them.
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
            release::settle();
            gpu.retirer().retire();
        }
        Ok(())
    }
}

/// `i915_gem_objects`: how many objects there are. IGT reads the first number, to see whether some are
/// left over.
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

/// `ouro_batches`: what became of batches that were checked before they ran. Two zeros where none are.
struct Batches;

impl DebugFile<Ouro> for Batches {
    const NAME: &'static CStr = c"ouro_batches";

    fn show(dev: &Device, m: &SeqFile) -> Result {
        let (copies, originals) = dev.gpu().pool().map_or((0, 0), |pool| pool.counts());
        seq_print!(m, "{copies} copies\n{originals} originals\n");
        Ok(())
    }
}

/// `ouro_caches`: lines of the CPU's caches that were flushed, by cause, and how often that was. Zeros where the GPU sees
/// what is in them.
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

/// `ouro_directories`: how often requests had an engine load a directory, where contexts have their own.
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

/// `i915_params/reset`: how far a reset may go; 0 if an engine that hangs is the end of the device. A
/// program that knows that its work hangs sets it before.
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

/// `i915_params/enable_hangcheck`: whether engines that hang are looked for.
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
        let ms = match data.trim_ascii() {
            b"Y" | b"y" | b"1" => reset::default_hang_ms(),
            b"N" | b"n" | b"0" => 0,
            _ => return Err(EINVAL),
        };
        dev.gpu().recovery().set_hang_ms(ms);
        Ok(())
    }
}

/// `i915_wedged`: whether the device was given up.
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
        // A mask of engines; programs write -1 for all of them.
        let mask = match number::<u64>(data) {
            Ok(mask) => mask as u32,
            Err(_) => number::<i64>(data)? as u32,
        };
        ask_for_reset(dev.gpu(), mask)
    }
}

/// `i915_forcewake_user`: the device is awake while it is open, for programs that map its registers.
struct KeptAwake {
    /// `None` when it is let go of.
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
        self.retirer.wind();
    }
}
