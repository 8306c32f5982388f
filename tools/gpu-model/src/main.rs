// SPDX-License-Identifier: GPL-2.0 OR MIT
//! `gpu-model`: serves a modelled GPU to QEMU over vfio-user.

use anyhow::Context;
use clap::Parser;
use gpu_model::chaos::Chaos;
use gpu_model::dma::DmaMemory;
use gpu_model::fault::Fault;
use gpu_model::model::{self, GpuModel, Options};
use gpu_model::server::{self, VfioIrq};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock};

/// A modelled GPU as a PCI device for QEMU.
#[derive(Parser)]
#[command(version, about)]
struct Args {
    /// List the models, one name per line.
    #[arg(long)]
    list: bool,
    /// Name of the model (see --list).
    #[arg(long, required_unless_present = "list")]
    gpu: Option<String>,
    /// Unix socket to listen on.
    #[arg(long, required_unless_present = "list")]
    socket: Option<PathBuf>,
    /// Microseconds that a piece of work takes at least.
    #[arg(long, default_value_t = 0)]
    delay_us: u64,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Fault to inject: kind[:engine][@skip][xTIMES][=value]. May be given several times.
    #[arg(long)]
    fault: Vec<Fault>,
    /// Random faults from this seed; SEED:hard also injects faults that lose work.
    #[arg(long, value_name = "SEED[:hard]")]
    chaos: Option<Chaos>,
    /// Write every register access and executed command here, one line each.
    #[arg(long)]
    trace: Option<PathBuf>,
    /// File for the list of registers that the driver wrote, a line of JSON each; written at the end.
    #[arg(long)]
    registers: Option<PathBuf>,
    /// Write counters and findings here, as JSON, at the end.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Fail (status 3) if a register without a document was accessed or a rule broken.
    #[arg(long)]
    strict: bool,
    /// Trap page-table or video memory accesses instead of sharing with the guest, to count them.
    #[arg(long)]
    trap_gtt: bool,
    /// Megabytes of global page table: 1 or 2.
    #[arg(long, default_value_t = 2)]
    gtt_mb: u32,
    /// KiB of the table of a Gen4: 128, 256, 512 or 1024. The last one counts.
    #[arg(long, value_name = "KB", overrides_with = "gtt_kb")]
    gtt_kb: Option<u32>,
    /// PCI device id in hexadecimal, for models with several ids (Intel, except DG2).
    #[arg(long, value_parser = parse_id)]
    id: Option<u16>,
    /// Megabytes of aperture: a power of two up to 512. An Intel chip has 64 at least. [default: 256;
    /// on an R5xx, as much as there is video memory]
    #[arg(long)]
    aperture_mb: Option<u32>,
    /// Megabytes of VRAM, a power of two up to 512. [default: 64 on an R5xx, 256 on a DG2]
    #[arg(long)]
    vram_mb: Option<u32>,
    /// No MSI capability, where a chip can do without: interrupts are INTx only.
    #[arg(long)]
    no_msi: bool,
    /// Behaviour of real cards that the model imitates: "all", or names with commas between; a wrong name
    /// prints the known ones.
    #[arg(
        long,
        value_name = "HABITS",
        default_value = "",
        overrides_with = "real"
    )]
    real: String,
    /// An Ivy Bridge whose forcewake is one thread's alone, as a Sandy Bridge's is.
    #[arg(long)]
    legacy_forcewake: bool,
    /// The device sits behind an IOMMU that translates: a Sandy Bridge must not use its per-process tables.
    #[arg(long)]
    vtd: bool,
    /// A DG2 with execlists locked by firmware, as sold (default). The last of --locked and --unlocked counts.
    #[arg(long, overrides_with = "unlocked")]
    locked: bool,
    /// A DG2 with execlists for software.
    #[arg(long, overrides_with = "locked")]
    unlocked: bool,
    /// Report equal memory channels, so that address bit 6 of tiled surfaces is swizzled.
    #[arg(long)]
    swizzle: bool,
    /// DG2: write the CSB where the PRM says, not where i915 reads it.
    #[arg(long)]
    document_status: bool,
    /// What happens to writes while the GT sleeps.
    #[arg(long, value_enum, default_value_t = AsleepWrites::Drop)]
    asleep_writes: AsleepWrites,
    /// What a DG2's engines write to an image as its tail when they save it.
    #[arg(long, value_enum, default_value_t = SavedTails::Register)]
    saved_tails: SavedTails,
}

/// A device id in hexadecimal, with 0x before it or without.
fn parse_id(text: &str) -> Result<u16, std::num::ParseIntError> {
    u16::from_str_radix(text.trim_start_matches("0x"), 16)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AsleepWrites {
    /// They are lost.
    Drop,
    /// The FIFO takes them and the GT wakes for them, as the upstream driver expects.
    Fifo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SavedTails {
    /// The one that they had, over what was written there meanwhile.
    Register,
    /// Nothing: that of the image stays, as the upstream driver expects.
    Image,
}

/// Writes the report once, at the first of hang-up and signal.
struct Ending {
    model: Arc<dyn GpuModel>,
    report: Option<PathBuf>,
    registers: Option<PathBuf>,
    strict: bool,
    done: Mutex<Option<u8>>,
}

impl Ending {
    fn finish(&self) -> u8 {
        let mut done = self.done.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(code) = *done {
            return code;
        }
        self.model.stop();
        let failed = self.strict && self.model.strict_failure();
        let mut code = if failed { 3 } else { 0 };
        if let Some(path) = &self.report {
            if let Err(e) = write_report(path, &*self.model, failed) {
                eprintln!("gpu-model: {e:#}");
                code = 1;
            }
        }
        if let Some(path) = &self.registers {
            if let Err(e) = write_registers(path, &*self.model) {
                eprintln!("gpu-model: {e:#}");
                code = 1;
            }
        }
        *done = Some(code);
        code
    }
}

fn write_report(path: &Path, model: &dyn GpuModel, failed: bool) -> anyhow::Result<()> {
    let mut report = model.report();
    report["strict_failed"] = serde_json::json!(failed);
    write_whole(path, serde_json::to_string_pretty(&report)? + "\n")
}

fn write_registers(path: &Path, model: &dyn GpuModel) -> anyhow::Result<()> {
    let text = model
        .registers()
        .with_context(|| format!("{} does not note its registers", model.name()))?;
    write_whole(path, text)
}

/// Complete or not there: a reader must never see half of it.
fn write_whole(path: &Path, text: String) -> anyhow::Result<()> {
    let part = path.with_extension("part");
    std::fs::write(&part, text).with_context(|| format!("{}", part.display()))?;
    std::fs::rename(&part, path).with_context(|| format!("{}", path.display()))
}

fn run(args: Args) -> anyhow::Result<u8> {
    if args.list {
        for name in model::NAMES {
            println!("{name}");
        }
        return Ok(0);
    }
    let (Some(gpu), Some(socket)) = (args.gpu, args.socket) else {
        anyhow::bail!("--gpu and --socket are needed");
    };
    let trace = match &args.trace {
        Some(p) => Some(std::fs::File::create(p).with_context(|| format!("{}", p.display()))?),
        None => None,
    };
    let options = Options {
        delay_us: args.delay_us,
        seed: args.seed,
        faults: args.fault,
        chaos: args.chaos,
        registers: args.registers.is_some(),
        trace,
        trap_gtt: args.trap_gtt,
        asleep_fifo: args.asleep_writes == AsleepWrites::Fifo,
        image_tails: args.saved_tails == SavedTails::Image,
        document_status: args.document_status,
        gtt_mb: args.gtt_mb,
        gtt_kb: args.gtt_kb,
        aperture_mb: args.aperture_mb,
        vram_mb: args.vram_mb,
        no_msi: args.no_msi,
        real: args.real,
        legacy_forcewake: args.legacy_forcewake,
        vtd: args.vtd,
        unlocked: args.unlocked && !args.locked,
        swizzle: args.swizzle,
        strict: args.strict,
        device_id: args.id,
    };
    let memory = Arc::new(DmaMemory::new());
    let irq = Arc::new(VfioIrq::default());
    let model = model::build(&gpu, options, memory.clone(), irq.clone())
        .with_context(|| format!("no model {gpu:?}; there are: {}", model::NAMES.join(" ")))??;
    let ending = Arc::new(Ending {
        model: model.clone(),
        report: args.report,
        registers: args.registers,
        strict: args.strict,
        done: Mutex::new(None),
    });
    let mut signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
    ])?;
    let on_signal = ending.clone();
    let stale = socket.clone();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            let code = on_signal.finish();
            // The server's own clean-up does not run on this way out.
            let _ = std::fs::remove_file(&stale);
            std::process::exit(i32::from(code));
        }
    });
    let served = server::serve(&socket, model, memory, irq, &OnceLock::new());
    let code = ending.finish();
    served?;
    Ok(code)
}

fn main() -> ExitCode {
    // The protocol crate calls QEMU's question for an absent interrupt index an error.
    let filter = tracing_subscriber::EnvFilter::try_from_env("GPU_MODEL_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,vfio_user=off"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match run(Args::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            eprintln!("gpu-model: {e:#}");
            ExitCode::from(1)
        }
    }
}
