// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Names of the checker's rules, to report which one refused a stream.
//!
//! User space gets `EINVAL` for all of them. The name is in the debug log
//! (`Documentation/gpu/ouro/r5xx.rst` has the list).

/// The rule that a stream broke.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// A packet extends beyond the end of the stream.
    Truncated,
    /// A packet of type 1, or a header with reserved bits.
    Header,
    /// A command that is not in the list.
    Opcode,
    /// A command with a wrong number of dwords.
    Length,
    /// A register that no stream may write.
    Register,
    /// Bits of a register that are not known to be harmless.
    Bits,
    /// A register is written while the masks deselect pipes.
    PipeMask,
    /// A relocation is missing, or refers to no BO.
    Relocation,
    /// The copy would differ from the stream in more dwords than any client's.
    Patches,
    /// An offset outside its BO, or an address that does not fit into the field.
    Offset,
    /// A tiling that the BO or the format does not have.
    Tiling,
    /// A colour target.
    Colour,
    /// The depth target.
    Depth,
    /// The target of a multisample resolve.
    Resolve,
    /// A register of a target is written while pixels of a draw may be in flight.
    InFlight,
    /// The scissor extends beyond a target's pitch, and was not set for this draw.
    Scissor,
    /// A texture's format or size.
    Texture,
    /// A texture's logical id is not that of its unit.
    TextureId,
    /// `VAP_VF_CNTL`: the kind of draw, or the source of its vertices.
    Draw,
    /// An array of vertices.
    Array,
    /// Indices, or the packet with their address.
    Indices,
    /// The address of a query's count.
    Query,
    /// `DP_GUI_MASTER_CNTL`.
    BlitControl,
    /// A surface of the 2D engine, or a rectangle that is not inside it.
    Surface,
    /// A size of zero, or one that does not fit into the field.
    BlitSize,
}

impl Refused {
    /// Returns the rule's name for the log.
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
            Self::Patches => "patches",
            Self::Offset => "offset",
            Self::Tiling => "tiling",
            Self::Colour => "colour-target",
            Self::Depth => "depth-target",
            Self::Resolve => "resolve-target",
            Self::InFlight => "draw-in-flight",
            Self::Scissor => "scissor",
            Self::Texture => "texture",
            Self::TextureId => "texture-id",
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

/// The result of a check.
pub(super) type Checked<T> = Result<T, Refused>;

/// Returns `Ok` if the condition holds; otherwise the rule that requires it.
pub(super) fn require(is_so: bool, rule: Refused) -> Checked<()> {
    if is_so {
        Ok(())
    } else {
        Err(rule)
    }
}
