// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The golden state: commands that give all state of a context a legal value.
//!
//! After a reset a context's state is undefined (SNB PRM V1P2 §5.9), and all of it must be legal
//! before the first save (§5.8.1.3.1). So the commands disable each shader stage, make each pointer
//! and surface null, and set each mode to the simplest value. They draw nothing, so no pointer is
//! ever followed.
//!
//! Each generation has its own commands: its [`Golden`]. This file has those that several
//! generations share, as in the public XML of their commands.

use crate::{
    engine::ContextWorkaround,
    intel::mi::LoadRegisters,
    ring::{Commands, Overflow},
};

/// A command: its header without length, its length in dwords, and the dwords after the header that
/// are not zero, by index.
pub(crate) struct State {
    header: u32,
    dwords: u32,
    set: &'static [(u32, u32)],
}

/// Creates a [`State`].
pub(crate) const fn state(header: u32, dwords: u32, set: &'static [(u32, u32)]) -> State {
    State {
        header,
        dwords,
        set,
    }
}

/// Creates a [`State`] whose dwords after the header are zero; `opcode` is bits 31:16 of the
/// header.
pub(crate) const fn null(opcode: u32, dwords: u32) -> State {
    state(opcode << 16, dwords, &[])
}

/// Bit 0 of an address or pointer: the command changes it.
pub(crate) const CHANGE: u32 = 1;

/// `PIPELINE_SELECT`: 3D (it requires a flush before it, §5.3.8: the request's invalidation has
/// one); `STATE_BASE_ADDRESS`: sets all bases and bounds to 0, which means no bound; `STATE_SIP`:
/// no system routine; `3DSTATE_VF_STATISTICS`: disabled. From Gen6 on.
#[rustfmt::skip]
pub(crate) const BEGINNING: &[State] = &[
    null(0x6904, 1),
    state(0x6101_0000, 10, &[
        (1, CHANGE), (2, CHANGE), (3, CHANGE), (4, CHANGE), (5, CHANGE), (6, CHANGE), (7, CHANGE),
        (8, CHANGE), (9, CHANGE),
    ]),
    null(0x6102, 2),
    null(0x680b, 1),
];
/// `3DSTATE_VERTEX_ELEMENTS`: one valid element whose four components are stored as 0. From Gen6
/// on.
pub(crate) const VERTEX_ELEMENTS: State = state(0x7809_0000, 3, &[(1, 1 << 25), (2, 0x2222_0000)]);
/// `3DSTATE_INDEX_BUFFER`: empty; `3DSTATE_DRAWING_RECTANGLE`: one pixel.
pub(crate) const ONE_PIXEL: &[State] = &[null(0x780a, 3), null(0x7900, 4)];
/// `3DSTATE_AA_LINE_PARAMETERS`, `_LINE_STIPPLE`, `_POLY_STIPPLE_OFFSET`. From Gen6 on.
pub(crate) const LINES: &[State] = &[null(0x790a, 3), null(0x7908, 3), null(0x7906, 2)];
/// `3DSTATE_CHROMA_KEY`: the four tables (31:30).
pub(crate) const CHROMA_KEYS: &[State] = &[
    null(0x7904, 4),
    state(0x7904_0000, 4, &[(1, 1 << 30)]),
    state(0x7904_0000, 4, &[(1, 2 << 30)]),
    state(0x7904_0000, 4, &[(1, 3 << 30)]),
];

/// The golden state of a generation.
pub(crate) struct Golden {
    /// Dwords before the commands.
    pub(crate) before: &'static [u32],
    /// Registers that contexts save and whose values differ from those after a reset: offset and
    /// value.
    pub(crate) registers: &'static [(u32, u32)],
    /// Lists of commands after the register loads.
    pub(crate) states: &'static [&'static [State]],
}

impl Golden {
    const fn load(&self) -> LoadRegisters<'static> {
        LoadRegisters(self.registers)
    }

    /// Returns the number of dwords of [`commands`](Self::commands).
    pub(crate) const fn dwords(&self) -> usize {
        let mut dwords = self.before.len() + self.load().dwords();
        let mut list = 0;
        while list < self.states.len() {
            let mut n = 0;
            while n < self.states[list].len() {
                dwords += self.states[list][n].dwords as usize;
                n += 1;
            }
            list += 1;
        }
        dwords
    }

    /// Writes only the commands that load registers. The other state is then as after a reset,
    /// which the document does not allow; but the 3D commands are the part that has run on no known
    /// chip in this order.
    pub(crate) fn registers(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        out.put(self.before)?;
        self.load().put(out)
    }

    /// Returns the registers with workarounds. All are masked ones: bits 31:16 of a write select
    /// the bits 15:0 that change (G-09).
    pub(crate) fn workarounds(&self) -> impl Iterator<Item = ContextWorkaround> {
        self.registers.iter().map(|(offset, value)| {
            let bits = value >> 16;
            ContextWorkaround {
                offset: *offset,
                bits,
                value: value & bits,
            }
        })
    }

    /// Writes all commands.
    pub(crate) fn commands(&self, out: &mut Commands<'_>) -> Result<(), Overflow> {
        self.registers(out)?;
        for s in self.states.iter().copied().flatten() {
            // The length field counts the dwords after the first two; a command of one dword has
            // none.
            out.put(&[s.header | s.dwords.saturating_sub(2)])?;
            for n in 1..s.dwords {
                let value = s.set.iter().find(|(at, _)| *at == n).map_or(0, |(_, v)| *v);
                out.put(&[value])?;
            }
        }
        Ok(())
    }
}

/// Returns all commands of a golden state, whose number is the promised one: they do not fit in
/// less.
#[cfg(test)]
pub(crate) fn written(golden: &Golden) -> std::vec::Vec<u32> {
    let mut buf = [0; 512];
    let buf = &mut buf[..golden.dwords()];
    let mut out = Commands::new(buf);
    golden.commands(&mut out).unwrap();
    let all = out.as_slice().to_vec();
    assert_eq!(all.len(), golden.dwords());
    let short = &mut buf[1..];
    let refused = golden.commands(&mut Commands::new(short));
    assert_eq!(refused, Err(Overflow));
    all
}

/// Splits commands by the length rule of digest §2.2 and returns their headers.
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
