// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Rules whose breach a real chip punishes late, rarely or with a lock-up, and which this model
//! reports at once. A correct driver breaks none; what a program does in an indirect buffer is
//! counted apart.

use crate::notes::rules;

rules! {
    /// A register access that is not an aligned dword; only CLOCK_CNTL_INDEX takes bytes (digest §5.5).
    BadAccess = "bad-access",
    /// A program's stream names a register of the host's (§4.3; digest §1.B).
    PrivilegedRegister = "privileged-register",
    /// A program's stream names a register that no document has.
    ClientRegister = "client-register",
    /// An address beyond the video memory that there is.
    BeyondVram = "beyond-vram",
    /// An address that is neither video memory nor in the GART's range.
    Unmapped = "unmapped",
    /// A page of the GART's range with an entry that permits nothing (digest §4.4).
    GartUnbound = "gart-unbound",
    /// The GART's table does not lie in video memory.
    TableOutside = "table-outside",
    /// Bit 1 of a GART entry is set (digest §4.4).
    PteReserved = "pte-reserved",
    /// The GART leads to no memory.
    NoGuestMemory = "no-guest-memory",
    /// DMA while bus mastering is off.
    NoBusMaster = "no-bus-master",
    /// An injected fault; no rule of a document.
    InjectedFault = "injected-fault",
    /// Two surface registers cover the same memory.
    SurfaceOverlap = "surface-overlap",
    /// A surface register whose pitch does not fit its tiles, or with less than a row of them (§2.3).
    SurfaceShape = "surface-shape",
    /// The write pointer lies past the end of the ring (§4.4).
    WptrOutOfRing = "wptr-out-of-ring",
    /// The ring's place or size changed while there is work in it (§4.4).
    RingChanged = "ring-changed",
    /// The queue mode changed while there is work (§4.3).
    ModeChanged = "mode-changed",
    /// Data for a stream that is off (§4.11).
    StreamOff = "stream-off",
    /// More data pushed than the queue holds (§4.10).
    PushOverflow = "push-overflow",
    /// Microcode words were written with DATAL before DATAH, or not at all (§4.12).
    NoMicrocode = "no-microcode",
    /// A type-3 packet's reserved bits (§5.1.4).
    ReservedBits = "reserved-bits",
    /// A type-3 packet that the document does not define; its body is skipped.
    UnknownOpcode = "unknown-opcode",
    /// The size of an indirect buffer is not the last register of its packet (§4.10): lock-up.
    IbSizeNotLast = "ib-size-not-last",
    /// An indirect buffer that may not start here: from the host, or at the wrong level (§4.10).
    IbLevel = "ib-level",
    /// An indirect buffer ends inside a packet (§4.6): lock-up.
    IbUnderrun = "ib-underrun",
    /// A packet that borrows the second indirect buffer, inside of it (§5.2.5): lock-up.
    NestedWait = "nested-wait",
    /// WAIT_MEM without the 2 that its object and its length must have (§5.2.5.2): lock-up.
    WaitMemShape = "wait-mem-shape",
    /// COND_EXEC without the address that its description needs: the printed form (§5.2.5.1).
    CondExecAddress = "cond-exec-address",
    /// A semaphore that is none of the four slots (§5.2.4.1).
    SemaphoreSlot = "semaphore-slot",
    /// A wait for something that cannot come: a display that is off (§4.9): lock-up.
    ImpossibleWait = "impossible-wait",
    /// The software interrupt was raised by the stream while a unit is busy or a cache dirty (§4.9).
    EarlyInterrupt = "early-interrupt",
    /// More resync entries than the FIFO holds (§4.9).
    ResyncOverflow = "resync-overflow",
    /// A packet that is too short for what its settings say (§5.2): lock-up.
    ShortPacket = "short-packet",
    /// A packet with more dwords than it uses (§5.2): they are dropped.
    LongPacket = "long-packet",
    /// A reserved code of GUI_CONTROL (§5.2.2).
    GuiControl = "gui-control",
    /// A brush that cannot draw this (§5.2.2).
    BrushUse = "brush-use",
    /// A 2D surface without a pitch, or whose place or pitch does not fit its tiles (§2.3, §5.2.2).
    PitchOffset = "pitch-offset",
    /// A coordinate whose bits 15:14 are no copies of bit 13 (§5.2.2.2).
    Coordinate = "coordinate",
    /// Raster dwords that are not ceil(width * height / 32), or none where they are needed (§5.2.2.3).
    RasterCount = "raster-count",
    /// A reserved colour comparison (§5.2.2.10).
    ColourCompare = "colour-compare",
    /// The 2D default pitch and offset are used without having been set (§5.2.2).
    DefaultUnset = "default-unset",
    /// Too much or too little vertex data (§6.4.1, §6.6): the vertex processor locks up.
    VertexCount = "vertex-count",
    /// A walk that the packet does not go with (§5.2.3).
    PrimWalk = "prim-walk",
    /// A draw of no vertices, or with a vertex size of zero.
    EmptyDraw = "empty-draw",
    /// Vertex arrays: none, more than sixteen, or a body of another length (§5.2.3.9).
    VertexArrays = "vertex-arrays",
    /// An index outside of the limits, which clamp it (§6.2).
    IndexClamped = "index-clamped",
    /// INDX_BUFFER to anything but the index port (§5.2.3.11).
    IndexPort = "index-port",
    /// Microcode or constants outside of the shader memories (§6.4.11).
    ShaderAddress = "shader-address",
    /// Elements of vertices without a last one, with reserved codes, or more than the arrays have (§6.4.7).
    StreamControl = "stream-control",
    /// More vertices are let into the vertex engine at a time than its memories hold (§6.4.2, §6.5.2).
    VertexSlots = "vertex-slots",
    /// A vertex program does what it must not: `pvs/note.rs` has the list (§6.5).
    VertexProgram = "vertex-program",
    /// A vertex program that does not end (§6.5.5): the vertex processor locks up.
    EndlessProgram = "endless-program",
    /// A pixel program does what it must not: `us/note.rs` has the list (digest of 3D, §9).
    PixelProgram = "pixel-program",
    /// A 3D surface whose place or pitch does not fit its tiles (§2.2, §2.3).
    SurfaceAlign = "surface-align",
    /// A micro-tiled form that the unit does not know (§2.2).
    UnsupportedTiling = "unsupported-tiling",
    /// A colour, depth or texture format with a reserved code (§3).
    Format = "format",
    /// The host writes more triggers than the drawing queue takes (digest B3).
    QueueOverflow = "queue-overflow",
    /// DMA in the registers' space, which runs any register write (§4.7).
    DmaRegisters = "dma-registers",
    /// A descriptor table that is not in video memory, or never ends (§4.7, §4.14).
    DmaTable = "dma-table",
    /// More DMA than the queue takes (§4.14).
    DmaOverflow = "dma-overflow",
    /// ABORT_EN was cleared while the channel was active (§4.7).
    DmaAbort = "dma-abort",
    /// A swap code whose meaning is not documented (§4.7).
    DmaSwap = "dma-swap",
    /// A register is used whose meaning is disputed, in a way that makes a difference (`disputed.rs` has the list).
    Disputed = "disputed",
    /// A flush, an invalidation or a wipe does not reach all pipes (SU_REG_DEST, FG_ZBREG_DEST), or a fence
    /// is written while pixels of a pipe that one has missed are not in memory.
    FlushMissed = "flush-missed",
    /// The GART is switched on over memory of a card that was not posted: its table is noise.
    GartOverNoise = "gart-over-noise",
    /// The GART is switched on, and its table lies where a surface turns bytes about for the CPU.
    TableInSurface = "table-in-surface",
    /// The GART is switched on, and the VGA's window still leads to an address that is not video memory.
    VgaMemory = "vga-memory",
    /// The command processor or the memory controller is reset while bus mastering is on.
    ResetMastering = "reset-mastering",
    /// A register of the pipes' set-up is written while something is drawn.
    PipesBusy = "pipes-busy",
    /// Two steps of the pipes' set-up, without RBBM_STATUS being read as idle between them.
    PipesUnwaited = "pipes-unwaited",
    /// Clocks go to a pipe that is not in use: it was asked for before the chip knew it.
    PipeClock = "pipe-clock",
}
