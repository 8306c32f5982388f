// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What the model counts. The position of a counter is also its index in the test
//! capability (see `test_capability`), so entries are only ever added at the end.

/// Declares the counters: identifier and the name in reports.
macro_rules! counters {
    ($($(#[$doc:meta])* $id:ident = $name:literal,)*) => {
        /// A counter; its discriminant is the index in the test capability.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Counter { $($(#[$doc])* $id,)* }

        /// Names of all counters, in index order.
        pub const NAMES: &[&str] = &[$($name,)*];
    };
}

counters! {
    /// Register reads by the CPU.
    RegReads = "reg_reads",
    /// Register writes by the CPU.
    RegWrites = "reg_writes",
    /// Reads below 0x40000, the range that needs the GT awake.
    GtReads = "gt_reads",
    /// Writes below 0x40000.
    GtWrites = "gt_writes",
    /// Reads in the render engine's block 0x2000..0x2fff.
    RcsReads = "rcs_reads",
    /// Writes in the render engine's block.
    RcsWrites = "rcs_writes",
    /// Reads in the video engine's block 0x12000..0x12fff.
    VcsReads = "vcs_reads",
    /// Writes in the video engine's block.
    VcsWrites = "vcs_writes",
    /// Reads in the blitter's block 0x22000..0x22fff.
    BcsReads = "bcs_reads",
    /// Writes in the blitter's block.
    BcsWrites = "bcs_writes",
    /// Writes of the render ring's tail.
    RcsTailWrites = "rcs_tail_writes",
    /// Writes of the video ring's tail.
    VcsTailWrites = "vcs_tail_writes",
    /// Writes of the blitter ring's tail.
    BcsTailWrites = "bcs_tail_writes",
    /// Accesses to the forcewake request and its acknowledge.
    ForcewakeAccesses = "forcewake_accesses",
    /// Reads of the free entries of the GT write FIFO.
    FifoReads = "fifo_reads",
    /// Accesses to the interrupt registers 0x44000..0x4402f.
    IrqAccesses = "irq_accesses",
    /// Writes to fence registers.
    FenceWrites = "fence_writes",
    /// Accesses to display registers, which read zero here.
    DisplayAccesses = "display_accesses",
    /// Reads of page-table entries through the BAR (only when trapped).
    GttReads = "gtt_reads",
    /// Writes of page-table entries through the BAR (only when trapped).
    GttWrites = "gtt_writes",
    /// Reads through the aperture.
    ApertureReads = "aperture_reads",
    /// Writes through the aperture.
    ApertureWrites = "aperture_writes",
    /// PCI config reads.
    ConfigReads = "config_reads",
    /// PCI config writes.
    ConfigWrites = "config_writes",
    /// Accesses to registers that no document names.
    Undocumented = "undocumented",
    /// Rules broken by the driver (see `ring::lint`).
    Lints = "lints",
    /// Rising edges of the interrupt line.
    Interrupts = "interrupts",
    /// MI_USER_INTERRUPT executed by the render engine.
    RcsUserInterrupts = "rcs_user_interrupts",
    /// MI_USER_INTERRUPT executed by the video engine.
    VcsUserInterrupts = "vcs_user_interrupts",
    /// MI_USER_INTERRUPT executed by the blitter.
    BcsUserInterrupts = "bcs_user_interrupts",
    /// Commands executed by the render engine.
    RcsCommands = "rcs_commands",
    /// Commands executed by the video engine.
    VcsCommands = "vcs_commands",
    /// Commands executed by the blitter.
    BcsCommands = "bcs_commands",
    /// Blitter (client 2) commands executed.
    BltCommands = "blt_commands",
    /// Pixels that blitter commands wrote.
    BltPixels = "blt_pixels",
    /// Batch buffers started from a ring.
    Batches = "batches",
    /// Context switches with a save, a restore or both.
    ContextSwitches = "context_switches",
    /// Translations that failed in an engine.
    PageFaults = "page_faults",
    /// Instruction errors.
    InstructionErrors = "instruction_errors",
    /// Engine resets through GDRST.
    Resets = "resets",
    /// TLB invalidations of any kind.
    TlbFlushes = "tlb_flushes",
    /// Injected faults that took effect.
    Injected = "injected",
    /// Commands of a non-secure batch that were dropped or changed for lack of privilege.
    PrivilegeViolations = "privilege_violations",
    /// Post-sync and store commands that reached memory.
    Stores = "stores",
    /// Register writes by command streamers.
    CsRegWrites = "cs_reg_writes",
    /// 3D and media commands parsed and skipped.
    SkippedCommands = "skipped_commands",
    /// Rules broken by commands in non-secure batches.
    ClientLints = "client_lints",
    /// Accesses to the registers of the command processor (R5xx: 0x700..0x7ff).
    CpAccesses = "cp_accesses",
    /// Writes of the ring's write pointer (CP_RB_WPTR).
    WptrWrites = "wptr_writes",
    /// Packets executed by the command processor, padding not counted.
    CpPackets = "cp_packets",
    /// Dwords that scratch registers and the read pointer wrote to memory.
    WriteBacks = "write_backs",
    /// Software interrupts raised (R5xx: GEN_INT_STATUS bit 26).
    SwInterrupts = "sw_interrupts",
    /// 2D operations.
    Draws2d = "draws_2d",
    /// Pixels that 2D operations wrote.
    Pixels2d = "pixels_2d",
    /// 3D draws.
    Draws3d = "draws_3d",
    /// Vertices that 3D draws fetched.
    Vertices = "vertices",
    /// DMA descriptors executed.
    DmaDescriptors = "dma_descriptors",
    /// Times that something locked up until a reset.
    Lockups = "lockups",
    /// Writes of dwords of a submission queue (DG2: EXECLIST_SQ_CONTENTS).
    SqWrites = "sq_writes",
    /// Loads of submission queues.
    Loads = "loads",
    /// Loads while an earlier one had not been switched to.
    LoadsUnacknowledged = "loads_unacknowledged",
    /// Valid elements in loaded queues.
    Submissions = "submissions",
    /// Switches to a loaded queue.
    QueueSwitches = "queue_switches",
    /// Switches to a newer queue that begins with the context that runs.
    LiteRestores = "lite_restores",
    /// Switches to a newer queue away from a context that was not done, and does not come first there.
    Preemptions = "preemptions",
    /// Entries written into context status buffers.
    StatusEntries = "status_entries",
    /// Context images restored.
    ContextRestores = "context_restores",
    /// Context images saved.
    ContextSaves = "context_saves",
    /// Tails in images that a save wrote an older one over.
    TailsLost = "tails_lost",
    /// Semaphore waits that were not successful at once.
    SemaphoreWaits = "semaphore_waits",
    /// Commands executed by compute engines.
    CcsCommands = "ccs_commands",
    /// Commands executed by video enhancement engines.
    VecsCommands = "vecs_commands",
    /// MI_USER_INTERRUPT executed by compute engines.
    CcsUserInterrupts = "ccs_user_interrupts",
    /// MI_USER_INTERRUPT executed by video enhancement engines.
    VecsUserInterrupts = "vecs_user_interrupts",
    /// Bytes that blitter commands wrote (DG2).
    BltBytes = "blt_bytes",
    /// Accesses of ring streamers to pages above 4 GB.
    HighAccesses = "high_accesses",
    /// Vertices that went through a vertex program (R5xx).
    VerticesShaded = "vertices_shaded",
    /// Instructions of vertex programs (R5xx).
    VsInstructions = "vs_instructions",
    /// Squares of two by two pixels that went through a pixel program (R5xx).
    QuadsShaded = "quads_shaded",
    /// Instructions of pixel programs, each for four pixels (R5xx).
    UsInstructions = "us_instructions",
    /// Pairs of GGTT entries side by side with different memory types, found when an engine gets work (G45, GM45).
    MixedNeighbours = "mixed_neighbours",
}

/// Number of counters.
pub const COUNT: usize = NAMES.len();

/// All counters of one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters([u64; COUNT]);

impl Default for Counters {
    fn default() -> Self {
        Counters([0; COUNT])
    }
}

impl Counters {
    /// Adds one.
    pub fn inc(&mut self, c: Counter) {
        self.add(c, 1);
    }

    /// Adds `n`.
    pub fn add(&mut self, c: Counter, n: u64) {
        let v = &mut self.0[c as usize];
        *v = v.wrapping_add(n);
    }

    /// The value of one counter.
    pub fn get(&self, c: Counter) -> u64 {
        self.0[c as usize]
    }

    /// The value by index, as the test capability asks for it; `None` past the end.
    pub fn by_index(&self, index: usize) -> Option<u64> {
        self.0.get(index).copied()
    }

    /// Name and value of each counter, in index order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        NAMES.iter().copied().zip(self.0.iter().copied())
    }

    /// All zero again.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
