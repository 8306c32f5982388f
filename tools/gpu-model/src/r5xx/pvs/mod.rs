// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The programmable vertex shader: PVS (R5xx guide §6.5; digest of 3D, §3).
//!
//! It is pure: a code store, constants and the registers that steer a program make a [`Program`]; that runs over a
//! [`Vertex`] and says what was odd. No program makes it panic, and each run is bounded. Nothing is allocated for a
//! vertex.
//!
//! | file | what |
//! | --- | --- |
//! | `word.rs` | the bits of instructions and registers |
//! | `opcode.rs` | the 58 operations, and their sources |
//! | `decode.rs` | the code store: instructions taken apart |
//! | `vector.rs`, `math.rs` | what the two engines compute |
//! | `flow.rs` | jumps, loops, subroutines |
//! | `machine.rs` | a vertex, and a program that runs over it |
//! | `note.rs` | what a program does that it should not |
//!
//! Where the document and user space of the chip, or the document and itself, say different things, the
//! comments at the place say what is done; the list is in `Documentation/gpu/ouro/model-r5xx.rst`.

mod decode;
mod flow;
mod machine;
mod math;
mod note;
mod opcode;
mod vector;
mod word;

pub use decode::{Code, CODE};
pub use flow::{FlowControl, ENTRIES};
pub use machine::{Control, Program, Progress, Run, Vertex, ALTERNATES, CONSTANTS, STEPS, VECTORS};
pub use note::{Note, Notes};
pub use opcode::{MathOp, VectorOp};
pub use vector::Vec4;
pub use word::{
    CodeCntl0, ConstCntl, DualMath, FlowAddrsLw, FlowAddrsUw, Instruction, LoopIndex, OpDstOperand,
    SrcOperand,
};
