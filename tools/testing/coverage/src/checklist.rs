// SPDX-License-Identifier: GPL-2.0
//! The checklists: their rows, and what their pages say before those.

/// Rows with a common beginning of their names.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What names begin with.
    pub prefix: &'static str,
    /// Digits that follow, at least.
    pub digits: usize,
    /// How many there are, from 1 on.
    pub rows: usize,
    /// What stands above them.
    pub heading: &'static str,
    /// What they were taken from.
    pub from: &'static str,
}

impl Part {
    /// The names of its rows, in order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let Self { prefix, digits, .. } = *self;
        (1..=self.rows).map(move |n| format!("{prefix}{n:0digits$}"))
    }
}

const DOCUMENT: &str = "Document";

/// A checklist.
#[derive(Clone, Copy, Debug)]
pub struct Checklist {
    /// What its tables' names begin with.
    pub name: &'static str,
    /// The backend that drives its chips.
    pub backend: &'static str,
    /// Its page, in `Documentation/gpu/ouro`.
    pub page: &'static str,
    /// What stands at the top of the page.
    pub title: &'static str,
    /// What its rows are.
    pub about: &'static str,
    /// Its rows.
    pub parts: &'static [Part],
}

impl Checklist {
    /// The names that the rows must have, in order.
    pub fn names(&self) -> Vec<String> {
        self.parts.iter().flat_map(Part::names).collect()
    }
}

/// Sandy Bridge.
pub const SNB: Checklist = Checklist {
    name: "snb",
    backend: "gen6",
    page: "coverage.rst",
    title: "Coverage of Sandy Bridge",
    about: "\
Each row is one mechanism of the chip. ``G6-001`` to ``G6-166`` are what the hardware document
describes (SNB PRM, volume 1 part 2); ``G-01`` to ``G-50`` are what it leaves out and a driver
needs all the same: offsets, bits and orders known from elsewhere. The model's table lists the
former only; the latter are in its files without a row of their own.
",
    parts: &[
        Part {
            prefix: "G6-",
            digits: 3,
            rows: 166,
            heading: "What the document describes",
            from: DOCUMENT,
        },
        Part {
            prefix: "G-",
            digits: 2,
            rows: 50,
            heading: "What it leaves out",
            from: "Public sources",
        },
    ],
};

const fn part(prefix: &'static str, rows: usize, heading: &'static str) -> Part {
    Part {
        prefix,
        digits: 1,
        rows,
        heading,
        from: DOCUMENT,
    }
}

/// R5xx.
pub const R5XX: Checklist = Checklist {
    name: "r5xx",
    backend: "r5xx",
    page: "coverage-r5xx.rst",
    title: "Coverage of R5xx",
    about: "\
Each row is one mechanism of the chip that the hardware document describes (R5xx Acceleration,
revision 1.3). Registers, which the document leaves out, have no rows of their own.
",
    parts: &[
        part("A", 11, "Tiles, surfaces, memory"),
        part("B", 8, "The command processor and the host"),
        part("C", 12, "The ring"),
        part("D", 7, "Indirect buffers"),
        part("E", 14, "Engines of general copies"),
        part("F", 6, "Reset, and the microcode's memory"),
        part("G", 12, "Synchronisation"),
        part("H", 7, "Kinds of packets"),
        part("I", 32, "2D packets"),
        part("J", 12, "3D packets"),
        part("K", 25, "Vertices"),
        part("L", 24, "The vertex engine's memory and programs"),
        part("M", 9, "Pixel shaders"),
        part("N", 58, "Instructions of the vertex engine"),
    ],
};

/// Gen12.5.
pub const GEN12: Checklist = Checklist {
    name: "gen12",
    backend: "gen12",
    page: "coverage-gen12.rst",
    title: "Coverage of Gen12.5",
    about: "\
Each row is one mechanism of DG2 and ATS-M that the hardware document describes (Intel Arc A-Series and
Flex Series PRM, volume 8). Offsets and bits, of which it has few, have no rows of their own. The
backend is tested on the host, and the driver binds these cards (:doc:`gen12` says what is missing).
",
    parts: &[
        part("A", 6, "Engines and topology"),
        part("B", 14, "Submission"),
        part("C", 9, "Context descriptors"),
        part("D", 20, "Context images, save and restore"),
        part("E", 21, "Reports on contexts"),
        part("F", 12, "Preemption and switching"),
        part("G", 9, "Semaphores, waits, other engines"),
        part("H", 5, "Status pages"),
        part("I", 15, "Interrupts and errors"),
        part("J", 13, "Rings and batches"),
        part("K", 8, "Persistent batches and batches of workarounds"),
        part("L", 7, "Parsing of commands"),
        part("M", 34, "Commands"),
        part("N", 9, "Predication"),
        part("O", 15, "The parser's arithmetic"),
        part("P", 7, "Watchdog and timestamps"),
        part("Q", 23, "Privilege and access to registers"),
        part("R", 5, "Power contexts and global state"),
        part("S", 10, "Order of memory and registers"),
        part("T", 6, "Fetching ahead"),
        part("U", 6, "Address translation and page faults"),
    ],
};

/// Gen7.
pub const GEN7: Checklist = Checklist {
    name: "gen7",
    backend: "gen7",
    page: "coverage-gen7.rst",
    title: "Coverage of Gen7",
    about: "\
Each row is one mechanism that the hardware document describes (Ivy Bridge PRM, volume 1 part 5: the
video engine's command streamer, whose rings, batches and registers the render engine and the blitter
share). What is known from elsewhere, as the forcewake of several threads, has no rows of its own.
",
    parts: &[Part {
        prefix: "VCS-",
        digits: 3,
        rows: 101,
        heading: "Command streamers",
        from: DOCUMENT,
    }],
};

const fn pair(prefix: &'static str, rows: usize, heading: &'static str) -> Part {
    Part {
        digits: 2,
        ..part(prefix, rows, heading)
    }
}

/// Gen4.
pub const GEN4: Checklist = Checklist {
    name: "gen4",
    backend: "gen4",
    page: "coverage-gen4.rst",
    title: "Coverage of Gen4",
    about: "\
Each row is one mechanism of 965 and G4X that the hardware document describes (G45 PRM, volume 1b). It gives hardly
any offset of a register, and nothing of the entries of the table, the chipset around and reset: those have no rows
of their own. The driver does not bind these chips yet (:doc:`gen4` says why).
",
    parts: &[
        pair("DEV-", 12, "Device, registers, address spaces"),
        pair("RNG-", 27, "Rings and the parser"),
        pair("BAT-", 15, "Batches and privilege"),
        pair("MIR-", 36, "Commands, render"),
        pair("MIV-", 12, "Commands, video"),
        pair("MIB-", 6, "Commands, the chapter of the blitter"),
        pair("GTT-", 17, "The translation table"),
        pair("TIL-", 18, "Tiles and fences"),
        pair("SYN-", 11, "Synchronisation and caches"),
        pair("HWS-", 5, "Status pages"),
        pair("IRQ-", 11, "Interrupts"),
        pair("ERR-", 13, "Errors"),
        pair("CTX-", 19, "Contexts"),
        pair("RST-", 11, "Reset"),
        pair("FBC-", 20, "Compression of the frame buffer, 965GM"),
        pair("DPF-", 13, "Compression of the frame buffer, GM45"),
        pair("BLT-", 38, "The blitter"),
        pair("B2D-", 27, "The blitter's commands"),
    ],
};

/// All of them.
pub const ALL: [&Checklist; 5] = [&SNB, &R5XX, &GEN12, &GEN7, &GEN4];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_names() {
        let snb = SNB.names();
        assert_eq!((snb.len(), &*snb[0], &*snb[166]), (216, "G6-001", "G-01"));
        let r5xx = R5XX.names();
        assert_eq!((r5xx.len(), &*r5xx[10], &*r5xx[11]), (237, "A11", "B1"));
        let gen4 = GEN4.names();
        assert_eq!(
            (gen4.len(), &*gen4[11], &*gen4[310]),
            (311, "DEV-12", "B2D-27")
        );
        let gen7 = GEN7.names();
        assert_eq!((gen7.len(), &*gen7[100]), (101, "VCS-101"));
        let gen12 = GEN12.names();
        assert_eq!((gen12.len(), &*gen12[6], &*gen12[253]), (254, "B1", "U6"));
    }

    #[test]
    fn each_chip_has_a_checklist() {
        for chip in ouro_hw::chips::ALL {
            let backend = chip.generation.name();
            assert!(ALL.iter().any(|c| c.backend == backend), "{}", chip.name);
        }
    }
}
