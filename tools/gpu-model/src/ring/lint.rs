// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Rules of the documents whose breach a real chip punishes late, rarely or not at all, and which
//! this model reports at once. A correct driver breaks none. What a program does in a non-secure
//! batch is counted apart: no driver can answer for it.

use crate::notes::rules;

rules! {
    /// A register of the GT was read without forcewake (digest G-15).
    AsleepRead = "asleep-read",
    /// A register of the GT was written without forcewake (G-15).
    AsleepWrite = "asleep-write",
    /// More writes than the GT FIFO has room for (G-16).
    FifoOverflow = "fifo-overflow",
    /// An access that is not an aligned dword or quadword (§3, §2.2.1).
    BadAccess = "bad-access",
    /// HEAD was written while the ring is enabled (§5.3.4.2).
    HeadWriteEnabled = "head-write-enabled",
    /// START or the length was changed while the ring is enabled.
    RingChangedEnabled = "ring-changed-enabled",
    /// The ring was disabled while not empty (§5.3.4.2).
    DisabledNonEmpty = "disabled-non-empty",
    /// The tail lies past the end of the ring.
    TailOutOfRing = "tail-out-of-ring",
    /// Head and tail in one cacheline with the head above (§5.3.4.5).
    HeadAboveTail = "head-above-tail",
    /// A command crosses the end of the ring (§5.3.4.5).
    CommandWraps = "command-wraps",
    /// The tail is not at the end of a command (§5.3.4.2).
    PartialCommand = "partial-command",
    /// The video ring's tail was written without waking it first (G-37).
    VcsTailAsleep = "vcs-tail-asleep",
    /// The wake-up handshake of the video ring left out the context id (G-37).
    VcsRncid = "vcs-rncid",
    /// A program's command names a register that no document has.
    ClientRegister = "client-register",
    /// A sync flush of the video engine while its ring runs (VCS PRM 1.1.3.5).
    SyncFlushRunning = "sync-flush-running",
    /// The TLB invalidate bit of INSTPM without a sync flush from the CPU: no effect (ditto).
    InstpmTlbAlone = "instpm-tlb-alone",
    /// PIPE_CONTROL with a write-cache flush or depth stall without the two that must precede it.
    FlushPrelude = "flush-prelude",
    /// PIPE_CONTROL with a stall of the streamer and nothing to stall for.
    BareStall = "bare-stall",
    /// A TLB invalidation without a post-sync write has no effect (VCS PRM 1.2.7).
    TlbWithoutPostSync = "tlb-without-post-sync",
    /// A reserved post-sync operation.
    ReservedPostSync = "reserved-post-sync",
    /// MI_FLUSH_DW quadword store to an address with bit 5 set (VCS PRM 1.2.7 erratum).
    FlushDwBit5 = "flush-dw-bit5",
    /// MI_FLUSH without MI_MODE bit 12 (G-09).
    FlushDisabled = "mi-flush-disabled",
    /// A quadword store that is not aligned.
    UnalignedQword = "unaligned-qword",
    /// A store into the reserved first sixteen dwords of the status page (§5.5).
    StatusPageReserved = "status-page-reserved",
    /// The status page was used before its address was set (§5.9).
    StatusPageUnset = "status-page-unset",
    /// MI_SET_CONTEXT saved a context to the address that CCID had before the driver came (`old_context`).
    OldContextSaved = "old-context-saved",
    /// MI_SET_CONTEXT without an MI_NOOP after it.
    SetContextNoNoop = "set-context-no-noop",
    /// MI_SET_CONTEXT with force restore and restore inhibit.
    SetContextFlags = "set-context-flags",
    /// A context image that no save has written was restored (§5.8.1.3).
    ContextFabricated = "context-fabricated",
    /// A ring-only command in a batch buffer.
    RingOnly = "ring-only",
    /// A command of a non-secure batch without the privilege it needs (§2.3, §5.3.7.6).
    Privilege = "privilege",
    /// A chained batch asks for other privileges than the first (§5.3.7.6); ignored.
    ChainedPrivilege = "chained-privilege",
    /// Arbitration left off at the end of a batch (§5.3.7.1).
    ArbitrationOff = "arbitration-off",
    /// More than one event in MI_WAIT_FOR_EVENT (§5.3.7.3).
    ManyEvents = "many-events",
    /// A reserved value in a command.
    Reserved = "reserved",
    /// MI_LOAD_REGISTER_IMM or MI_STORE_REGISTER_MEM in the MCHBAR alias (§3).
    CsMchbar = "cs-mchbar",
    /// MI_STORE_REGISTER_MEM of a register that it may not read (VCS PRM 1.2.11).
    SrmForbidden = "srm-forbidden",
    /// MI_UPDATE_GTT, whose selector is not documented for Gen6 (G-48).
    UpdateGtt = "update-gtt",
    /// The same address means different pages in the two tables (§2.3.4).
    TlbAlias = "tlb-alias",
    /// A 32 KB page whose entries do not agree (§2.3).
    BigPageUneven = "big-page-uneven",
    /// A page-table entry with a reserved cacheability (§2.2.2.1).
    PteReserved = "pte-reserved",
    /// Sync status enabled as an interrupt (§5.4.3).
    SyncStatusEnabled = "sync-status-enabled",
    /// Overlapping fences (§4.5.4.1).
    FenceOverlap = "fence-overlap",
    /// A fence pitch that is no multiple of the tile width (§4.5.4.1.1).
    FencePitch = "fence-pitch",
    /// The page directory is not 64-byte aligned or leaves the table (§2.3.1).
    DirectoryPlace = "directory-place",
    /// DMA while bus mastering is off.
    NoBusMaster = "no-bus-master",
    /// An EIR write while the source of the error persists (§5.7.3).
    ErrorPersists = "error-persists",
    /// A pcode command that is not known (G-40).
    UnknownPcode = "unknown-pcode",
    /// An entry was changed that a plane scans out (habit `lit`).
    ScanoutLost = "scanout-lost",
    /// A plane scans out memory that has another owner by now (`lit`).
    ScanoutFreed = "scanout-freed",
    /// DMA was allowed while a ring ran that was found running (`running`).
    DmaBeforeReset = "dma-before-reset",
    /// Bits that firmware had set were cleared (`bits`).
    BitsLost = "bits-lost",
    /// The GT may sleep, after work, in the standby that firmware had set up (`rc6`).
    StandbyLeft = "standby-left",
    /// Messages without end for a source that the driver does not clear (`pending`).
    IrqStorm = "irq-storm",
    /// The per-process table was used behind an IOMMU (choice `vtd`).
    PpgttBehindIommu = "ppgtt-behind-iommu",
    /// A batch of the second level where there may be none, or a command that may not be in one (VCS PRM
    /// 1.2.5, 1.2.6).
    SecondLevel = "second-level",
    /// An operand of the per-process table while that is off (VCS PRM 1.2.11, 1.2.12, 1.2.18).
    GlobalBit = "global-bit",
    /// GFDT in MI_FLUSH_DW without a store (VCS PRM 1.2.7).
    GfdtWithoutStore = "gfdt-without-store",
    /// PP_DIR_BASE was written while PP_DCLV lets nothing through (VCS PRM 1.1.4).
    DirectoryUnloaded = "directory-unloaded",
    /// Reports of the head at each page, with a ring (VCS PRM 1.1.4).
    ReportInRingMode = "report-in-ring-mode",
    /// HWSTAM lets more than one bit through (VCS PRM 1.1.6.1).
    ManyReported = "many-reported",
    /// Sync status was not cleared before the next flush that the status page is to show (VCS PRM 1.1.6).
    SyncStatusKept = "sync-status-kept",
    /// The preemption hint, which is for validation alone (VCS PRM 1.1.3.10).
    PreemptionHint = "preemption-hint",
    /// PIPE_CONTROL invalidates the state cache, and the last did not stall the streamer (the upstream driver's
    /// way on Ivy Bridge).
    StateCacheStall = "state-cache-stall",
    /// Four PIPE_CONTROLs in a row that do not stall the streamer (ditto).
    FourthPipeControl = "fourth-pipe-control",
    /// PIPE_CONTROL flushes the write cache with a depth stall, and so does not (G45 PRM 5.3.10.1).
    FlushAndStall = "flush-and-stall",
    /// The PPGTT of Gen4 is used; no driver does so, and the model does not have it.
    ProcessTable = "process-table",
    /// Memory was asked for while the global table is off (G45 PRM 4.6, 5.9).
    TableOff = "table-off",
    /// The GGTT of a 965 was enabled with another base than the firmware's: its PTEs would be any memory (4.6).
    TableMoved = "table-moved",
    /// The CPU reached a snooped page through the aperture (G45 PRM 4.3.1, 4.6.1).
    SnoopedAperture = "snooped-aperture",
    /// Snooped and unsnooped pages are direct neighbours in the GGTT of a G45 or GM45 (`reads_across`; upstream keeps a
    /// page between them).
    MixedNeighbours = "mixed-neighbours",
    /// A ring, a batch or a context in snooped memory (G45 PRM 4.6.1).
    SnoopedStream = "snooped-stream",
    /// The media domain was reset while its clock is gated (digest of Gen4, G-20).
    VideoClock = "video-clock",
    /// A batch that does not begin at a multiple of 64 bytes (G45 PRM 1.5).
    BatchAlignment = "batch-alignment",
    /// An asynchronous flip of what cannot flip so (G45 PRM 1.6).
    AsyncFlip = "async-flip",
    /// A flip while one is pending (G45 PRM 5.4.4).
    FlipPending = "flip-pending",
    /// A flip of the overlay out of its order (G45 PRM 1.12.2).
    OverlayOrder = "overlay-order",
    /// A probed page is not there (G45 PRM 1.13).
    ProbeFault = "probe-fault",
    /// The compressor was given what it cannot compress, or was changed while it is on (G45 PRM 6.3, 6.4, 7.1, 7.2).
    Compressor = "compressor",
    /// The status page of a 965 lies above 4 GB (digest of Gen4, G-10).
    HighStatusPage = "high-status-page",
    /// A blitter command that its chapter forbids.
    Blt = "blt",
}
