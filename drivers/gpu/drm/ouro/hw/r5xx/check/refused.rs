// SPDX-License-Identifier: GPL-2.0
//! Rules of the checker, by name: which one refused a stream.
//!
//! User space gets `EINVAL` whichever it was. The name goes to the log of whoever debugs
//! (`Documentation/gpu/ouro/r5xx.rst` has the list).

/// The rule that a stream broke.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// A packet goes on behind the end of the stream.
    Truncated,
    /// A packet of type 1, or a header with bits that mean nothing.
    Header,
    /// A command that is none of those in the list.
    Opcode,
    /// A command with fewer or more dwords than it takes.
    Length,
    /// A register that no stream may write.
    Register,
    /// Bits of a register that were not proved harmless.
    Bits,
    /// A register is written while the masks leave pipes out.
    PipeMask,
    /// No relocation where one belongs, or one that names nothing.
    Relocation,
    /// An offset that is not inside its object, or an address that the field cannot hold.
    Offset,
    /// Tiles that the object or the format does not have.
    Tiling,
    /// A colour target.
    Colour,
    /// The depth target.
    Depth,
    /// What samples are resolved to.
    Resolve,
    /// The scissor goes beyond a target's pitch, and was said for another draw.
    Scissor,
    /// A texture's format or size.
    Texture,
    /// A texture's logical id is not that of its unit.
    TextureId,
    /// The finest level of a texture is none that it has.
    TextureLevel,
    /// `VAP_VF_CNTL`: what is drawn, or where its vertices come from.
    Draw,
    /// An array of vertices.
    Array,
    /// Indices, or the packet that says where they are.
    Indices,
    /// Where the count of pixels goes.
    Query,
    /// `DP_GUI_MASTER_CNTL`.
    BlitControl,
    /// A surface of the 2D engine, or a rectangle that is not inside it.
    Surface,
    /// A size that is zero or more than the field holds.
    BlitSize,
}

impl Refused {
    /// The rule's name, as the log has it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Header => "header",
            Self::Opcode => "opcode",
            Self::Length => "length",
            Self::Register => "register",
            Self::Bits => "register-bits",
            Self::PipeMask => "pipe-mask",
            Self::Relocation => "relocation",
            Self::Offset => "offset",
            Self::Tiling => "tiling",
            Self::Colour => "colour-target",
            Self::Depth => "depth-target",
            Self::Resolve => "resolve-target",
            Self::Scissor => "scissor",
            Self::Texture => "texture",
            Self::TextureId => "texture-id",
            Self::TextureLevel => "texture-level",
            Self::Draw => "draw",
            Self::Array => "vertex-array",
            Self::Indices => "indices",
            Self::Query => "query",
            Self::BlitControl => "blit-control",
            Self::Surface => "blit-surface",
            Self::BlitSize => "blit-size",
        }
    }
}

/// Whether to go on.
pub(super) type Checked<T> = Result<T, Refused>;

/// `Ok` if it is so; else the rule that asks for it.
pub(super) fn require(is_so: bool, rule: Refused) -> Checked<()> {
    if is_so {
        Ok(())
    } else {
        Err(rule)
    }
}
