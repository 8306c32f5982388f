// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The pixel shader: US (R5xx guide §7; digest of 3D, §9).
//!
//! It is pure, as the vertex shader is: code and the registers that steer it make a [`Program`]; that runs over four
//! [`Pixels`] and says what was odd. No program makes it panic, and each run is bounded. Nothing is allocated for a
//! pixel.
//!
//! | file | what |
//! | --- | --- |
//! | `word.rs` | the bits of instructions and registers |
//! | `decode.rs` | a program's instructions, taken apart |
//! | `alu.rs` | what ALU and OUT compute |
//! | `flow.rs` | branches, loops, calls: four pixels in step |
//! | `machine.rs` | four pixels, and a program that runs over them |
//! | `note.rs` | what a program does that it should not |

mod alu;
mod decode;
mod flow;
mod machine;
mod note;
mod word;

pub use decode::{Control, Program, CONSTANTS, DWORDS, SLOTS, TARGETS, TEMPORARIES};
pub use machine::{Detail, Lane, Lookup, Pixels, Quad, Run, Sampler, STEPS};
pub use note::{Note, Notes};
pub use word::{
    kind, Addr, AlphaInst, Cmn, CodeAddr, FcAddr, FcInst, IntConst, RgbInst, RgbaInst, TexAddr,
    TexDxdy, TexInst,
};
