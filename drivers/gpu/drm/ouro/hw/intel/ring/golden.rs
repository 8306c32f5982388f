// SPDX-License-Identifier: GPL-2.0
//! How the golden state is written: commands that give all state that a context holds a legal value.
//!
//! What they are is a generation's own: a list of [`State`] behind the registers that contexts save.

use crate::{
    intel::mi::LoadRegisters,
    ring::{Commands, Overflow},
};

/// A 3D command: header without length, dwords in all, and those dwords after the header that
/// are not zero, by number.
pub(crate) struct State {
    header: u32,
    dwords: u32,
    set: &'static [(u32, u32)],
}

/// A [`State`].
pub(crate) const fn state(header: u32, dwords: u32, set: &'static [(u32, u32)]) -> State {
    State {
        header,
        dwords,
        set,
    }
}

/// Bit 0 of an address or pointer: change it.
pub(crate) const CHANGE: u32 = 1;

/// Writes a command that loads registers.
pub(crate) fn registers<const N: usize>(
    out: &mut Commands<'_>,
    registers: LoadRegisters<N>,
) -> Result<(), Overflow> {
    out.put(&[registers.header()])?;
    for pair in registers.pairs() {
        out.put(&pair)?;
    }
    Ok(())
}

/// Writes 3D commands.
pub(crate) fn states(out: &mut Commands<'_>, states: &[State]) -> Result<(), Overflow> {
    for s in states {
        // The length field counts the dwords after the first two; a command of one dword has none.
        out.put(&[s.header | s.dwords.saturating_sub(2)])?;
        for n in 1..s.dwords {
            let value = s.set.iter().find(|(at, _)| *at == n).map_or(0, |(_, v)| *v);
            out.put(&[value])?;
        }
    }
    Ok(())
}

/// Walks commands by the length rule of digest §2.2 and returns their headers.
#[cfg(test)]
pub(crate) fn headers(stream: &[u32]) -> std::vec::Vec<u32> {
    let mut found = std::vec::Vec::new();
    let mut at = 0;
    while at < stream.len() {
        let header = stream[at];
        found.push(header);
        at += match header >> 16 {
            // PIPELINE_SELECT and 3DSTATE_VF_STATISTICS have no length.
            0x6904 | 0x680b => 1,
            _ => (header & 0xff) as usize + 2,
        };
    }
    assert_eq!(at, stream.len());
    found
}
