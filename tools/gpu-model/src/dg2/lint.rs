// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Rules whose breach a real chip punishes late, rarely or with a hang, and which this model reports
//! at once. A correct driver breaks none; what a program does in a PPGTT batch is counted apart.

use crate::notes::rules;

rules! {
    /// A register of a sleeping well was read (digest §5.5).
    AsleepRead = "asleep-read",
    /// A register of a sleeping well was written, and the write does not wake it (digest §5.5).
    AsleepWrite = "asleep-write",
    /// An access that is not an aligned dword or quadword.
    BadAccess = "bad-access",
    /// Load while execlists are off (A5): nothing starts.
    LoadDisabled = "load-disabled",
    /// Load of a queue without a valid element while nothing runs (B4).
    EmptyLoad = "empty-load",
    /// A descriptor with the reserved context ID FFFFh (C5).
    IdleContextId = "idle-context-id",
    /// A descriptor whose addressing mode is not the 48-bit one (digest §4.1).
    AddressingMode = "addressing-mode",
    /// An element with another context ID, or another counter, names the image that runs (C6).
    ContextIdChanged = "context-id-changed",
    /// A lite restore whose tail lies behind the head (B12).
    TailBackwards = "tail-backwards",
    /// RING_HEAD or another register of the ring was written while a context runs (J2).
    LiveRing = "live-ring",
    /// A context image with a command or register that cannot be there (A4, D15).
    ContextImage = "context-image",
    /// A context image whose length of a list does not fit its place (D4).
    ContextList = "context-list",
    /// The ring is disabled, or the tail lies past its end (J1, F12).
    RingShape = "ring-shape",
    /// The tail is not at the end of a command.
    PartialCommand = "partial-command",
    /// HWS_PGA was not set, or is not mapped, when a status had to be stored (H1).
    StatusPage = "status-page",
    /// The write pointer of the status buffer is 12 or more (E17).
    StatusPointer = "status-pointer",
    /// An interrupt selector with none or several bits, or one that has nothing to tell (digest §5.8).
    Selector = "selector",
    /// The selector was written before the last identity was cleared (digest §5.8).
    IdentityBusy = "identity-busy",
    /// GDRST of an engine that was not asked to get ready (digest §5.6).
    ResetNotReady = "reset-not-ready",
    /// MI_USER_INTERRUPT while posted stores are on their way (S1, I1).
    EarlyInterrupt = "early-interrupt",
    /// A command that only a privileged batch may execute (Q2).
    Privilege = "privilege",
    /// A register outside of the whitelists (Q21, Q22).
    PrivilegedRegister = "privileged-register",
    /// A program's command names a register that no document has.
    ClientRegister = "client-register",
    /// A command that the engine does not have (I13).
    Instruction = "instruction",
    /// A batch that is nested too deep (J7).
    Nesting = "nesting",
    /// MI_BATCH_BUFFER_END in the ring (M8).
    EndInRing = "end-in-ring",
    /// A batch address that is no quadword's (J3).
    BatchAddress = "batch-address",
    /// A source that is no engine has interrupted a hundred times, without being masked or cleared.
    IrqStorm = "irq-storm",
    /// Bits that firmware had set were cleared by who changed others of the register.
    BitsLost = "bits-lost",
    /// The global table was changed under a picture that is shown.
    ScanoutLost = "scanout-lost",
    /// Local memory was written that a picture lies in.
    ScanoutFreed = "scanout-freed",
    /// Bus mastering was switched on while an engine may still run what a kernel before has left.
    DmaBeforeReset = "dma-before-reset",
    /// A register is not as the upstream driver would have it, when an engine is loaded.
    WorkaroundMissing = "workaround-missing",
    /// An engine of 3D or compute is loaded, and the L3's table of MOCS is not written (`lost_l3`).
    L3Unprogrammed = "l3-unprogrammed",
    /// The global table was accessed by more than a quadword: such an access is lost.
    TableWidth = "table-width",
    /// A reserved value in a command.
    Reserved = "reserved",
    /// An ALU instruction or operand that the tables do not have (O3).
    Alu = "alu",
    /// MI_FLUSH_DW to an address with bit 5 set (G7).
    FlushAddress = "flush-address",
    /// A store that is not aligned to its size.
    Unaligned = "unaligned",
    /// A semaphore wait with arbitration off: nothing preempts it (F4).
    WaitWithoutArbitration = "wait-without-arbitration",
    /// A fault of translation that was not injected (U3).
    PageFault = "page-fault",
    /// A page table that does not lie in local memory (digest §4.5).
    TablePlace = "table-place",
    /// A 4 KB entry of local memory outside of a run of 64 KB (digest §4.5).
    SmallLocalPage = "small-local-page",
    /// A run of sixteen entries that is none (digest §4.5).
    UnevenRun = "uneven-run",
    /// A local address at or beyond the flat CCS (digest §5.2).
    BeyondLocal = "beyond-local",
    /// No guest memory answers.
    NoGuestMemory = "no-guest-memory",
    /// DMA while bus mastering is off.
    NoBusMaster = "no-bus-master",
    /// A write of an error bit whose cause only a reset takes away (I11).
    ErrorPersists = "error-persists",
    /// A pcode command that is not known (digest §5.9).
    UnknownPcode = "unknown-pcode",
    /// A blitter surface whose pitch, place or size does not fit its tiling (digest §2.2).
    BlitSurface = "blit-surface",
    /// A tiling or format that is not modelled; the command does nothing.
    NotModelled = "not-modelled",
}
