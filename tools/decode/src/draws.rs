// SPDX-License-Identifier: GPL-2.0
//! What is in the commands that draws are made of: primitives, vertices, where state and shaders are. No document at
//! hand has their layouts; these are those of the user-space driver's descriptions, checked against the batch of a real
//! GM45. They are for readers of a hang, so what places, counts and switches say is told, and how a unit is tuned is not.
//!
//! A table for each shape: Gen4 and Gen5, Gen6, Gen7, Gen8 and later, whose addresses have two dwords.

use crate::command::{
    address, bits, choice, flag, hex, number, Command, Field, Length, Show, Tail,
};
use crate::gen6::render::command;

const TOPOLOGIES: &[(u32, &str)] = &[
    (0x01, "points"),
    (0x02, "lines"),
    (0x03, "line strip"),
    (0x04, "triangles"),
    (0x05, "triangle strip"),
    (0x06, "triangle fan"),
    (0x07, "quads"),
    (0x08, "quad strip"),
    (0x09, "lines with neighbours"),
    (0x0a, "line strip with neighbours"),
    (0x0b, "triangles with neighbours"),
    (0x0c, "triangle strip with neighbours"),
    (0x0d, "reversed triangle strip"),
    (0x0e, "polygon"),
    (0x0f, "rectangles"),
    (0x10, "line loop"),
];

const ORDER: &[(u32, &str)] = &[(0, "in sequence"), (1, "by index")];
const INDICES: &[(u32, &str)] = &[(0, "bytes"), (1, "words"), (2, "dwords")];

/// Of dword `n` on: how many vertices and instances, and from where.
macro_rules! counts {
    ($n:expr) => {
        &[
            number($n, 31, 0, "vertices"),
            bits($n + 1, 31, 0, "from", Show::Some),
            number($n + 2, 31, 0, "instances"),
            bits($n + 3, 31, 0, "from instance", Show::Some),
            bits($n + 4, 31, 0, "base", Show::Some),
        ]
    };
}

const fn draw(fields: [&'static [Field]; 3]) -> Command {
    command("3DPRIMITIVE", 0x7b00, Length::Upto(7), &[]).groups(fields)
}

/// Until Gen6 the header says what is drawn.
const PRIMITIVE_4: Command = draw([
    &[
        choice(0, 14, 10, "of", TOPOLOGIES),
        choice(0, 15, 15, "vertices", ORDER),
        flag(0, 9, "count of the stream"),
    ],
    counts!(1),
    &[],
]);

const PRIMITIVE_7: Command = draw([
    &[
        flag(0, 8, "predicated"),
        flag(0, 10, "parameters from registers"),
        choice(1, 5, 0, "of", TOPOLOGIES),
        choice(1, 8, 8, "vertices", ORDER),
    ],
    counts!(2),
    &[],
]);

/// One field at a place, of those of a row that repeats.
fn at(row: &'static [&'static [Field]], n: usize) -> &'static [Field] {
    match n.checked_sub(1) {
        Some(n) if !row.is_empty() => row[n % row.len()],
        _ => &[],
    }
}

const STEP: &[Field] = &[bits(0, 31, 0, "step rate", Show::Some)];
const START: &[Field] = &[address(0, 31, 0, "at")];
const LAST: &[Field] = &[address(0, 31, 0, "last byte")];

const BUFFER_4: &[&[Field]] = &[
    &[
        number(0, 31, 27, "buffer"),
        choice(0, 26, 26, "by", &[(0, "vertex"), (1, "instance")]),
        number(0, 10, 0, "pitch"),
    ],
    START,
    &[bits(0, 31, 0, "last index or byte", Show::Some)],
    STEP,
];

const BUFFER_6: &[&[Field]] = &[
    &[
        number(0, 31, 26, "buffer"),
        choice(0, 20, 20, "by", &[(0, "vertex"), (1, "instance")]),
        flag(0, 13, "null"),
        number(0, 11, 0, "pitch"),
    ],
    START,
    LAST,
    STEP,
];

const BUFFER_8: &[&[Field]] = &[
    &[
        number(0, 31, 26, "buffer"),
        flag(0, 13, "null"),
        number(0, 11, 0, "pitch"),
    ],
    START,
    &[bits(0, 31, 0, "above", Show::Some)],
    &[number(0, 31, 0, "bytes")],
];

const ELEMENT_4: &[&[Field]] = &[
    &[
        number(0, 31, 27, "buffer"),
        flag(0, 26, "valid"),
        hex(0, 24, 16, "format"),
        number(0, 10, 0, "offset"),
    ],
    COMPONENTS,
];

const ELEMENT_6: &[&[Field]] = &[
    &[
        number(0, 31, 26, "buffer"),
        flag(0, 25, "valid"),
        hex(0, 24, 16, "format"),
        number(0, 11, 0, "offset"),
    ],
    COMPONENTS,
];

const COMPONENTS: &[Field] = &[hex(0, 31, 16, "components")];

const fn repeated(
    name: &'static str,
    head: u32,
    row: fn(&[u32], usize) -> &'static [Field],
) -> Command {
    command(name, head, Length::Upto(7), &[]).tail(Tail::Layout(row))
}

const fn told(name: &'static str, head: u32, fields: &'static [Field]) -> Command {
    command(name, head, Length::Upto(7), fields)
}

/// A base of a space of state: told if it is changed.
const fn base(dword: usize, name: &'static str) -> Field {
    address(dword, 31, 12, name)
}

const fn changed(dword: usize) -> Field {
    flag(dword, 0, "set")
}

const INDEX_BUFFER: Command = told(
    "3DSTATE_INDEX_BUFFER",
    0x780a,
    &[
        choice(0, 9, 8, "of", INDICES),
        flag(0, 10, "cut"),
        address(1, 31, 0, "at"),
        address(2, 31, 0, "last byte"),
    ],
);

const STIPPLE: Command = told(
    "3DSTATE_POLY_STIPPLE_OFFSET",
    0x7906,
    &[number(1, 12, 8, "x"), number(1, 4, 0, "y")],
);

/// Gen4 and Gen5.
pub const GEN4: &[Command] = &[
    PRIMITIVE_4,
    told(
        "URB_FENCE",
        0x6000,
        &[
            number(1, 9, 0, "VS below"),
            number(1, 19, 10, "GS"),
            number(1, 29, 20, "clipper"),
            number(2, 9, 0, "SF"),
            number(2, 19, 10, "VFE"),
            number(2, 30, 20, "CS"),
        ],
    ),
    told(
        "CS_URB_STATE",
        0x6001,
        &[number(1, 2, 0, "entries"), number(1, 8, 4, "size less 1")],
    ),
    told(
        "CONSTANT_BUFFER",
        0x6002,
        &[
            flag(0, 8, "valid"),
            address(1, 31, 6, "at"),
            number(1, 5, 0, "length less 1"),
        ],
    ),
    told(
        "STATE_BASE_ADDRESS",
        0x6101,
        &[
            base(1, "general"),
            changed(1),
            base(2, "surfaces"),
            changed(2),
            base(3, "indirect objects"),
            changed(3),
        ],
    ),
    told(
        "3DSTATE_PIPELINED_POINTERS",
        0x7800,
        &[
            address(1, 31, 5, "VS"),
            address(2, 31, 5, "GS"),
            flag(2, 0, "on"),
            address(3, 31, 5, "clipper"),
            flag(3, 0, "on"),
            address(4, 31, 5, "SF"),
            address(5, 31, 5, "WM"),
            address(6, 31, 5, "CC"),
        ],
    ),
    told(
        "3DSTATE_BINDING_TABLE_POINTERS",
        0x7801,
        &[
            hex(1, 31, 0, "VS"),
            hex(2, 31, 0, "GS"),
            hex(3, 31, 0, "clipper"),
            hex(4, 31, 0, "SF"),
            hex(5, 31, 0, "PS"),
        ],
    ),
    repeated("3DSTATE_VERTEX_BUFFERS", 0x7808, |_, n| at(BUFFER_4, n)),
    repeated("3DSTATE_VERTEX_ELEMENTS", 0x7809, |_, n| at(ELEMENT_4, n)),
    INDEX_BUFFER,
    STIPPLE,
    told(
        "3DSTATE_DEPTH_BUFFER",
        0x7905,
        &[
            choice(1, 31, 29, "surface", SURFACES),
            flag(1, 27, "tiled"),
            number(1, 16, 0, "pitch less 1"),
            address(2, 31, 0, "at"),
            number(3, 18, 6, "width less 1"),
            number(3, 31, 19, "height less 1"),
        ],
    ),
];

const SURFACES: &[(u32, &str)] = &[
    (0, "1D"),
    (1, "2D"),
    (2, "3D"),
    (3, "cube"),
    (4, "buffer"),
    (7, "null"),
];

/// Bases that Gen6 and Gen7 have.
const BASES_6: Command = told(
    "STATE_BASE_ADDRESS",
    0x6101,
    &[
        base(1, "general"),
        changed(1),
        base(2, "surfaces"),
        changed(2),
        base(3, "dynamic"),
        changed(3),
        base(4, "indirect objects"),
        changed(4),
        base(5, "instructions"),
        changed(5),
    ],
);

const fn kernel(name: &'static str, head: u32) -> Command {
    told(name, head, KERNEL)
}

const KERNEL: &[Field] = &[address(1, 31, 6, "kernel at")];

const VS_6: Command = told(
    "3DSTATE_VS",
    0x7810,
    &[address(1, 31, 6, "kernel at"), flag(5, 0, "on")],
);

/// Gen6.
pub const GEN6: &[Command] = &[
    PRIMITIVE_4,
    BASES_6,
    repeated("3DSTATE_VERTEX_BUFFERS", 0x7808, |_, n| at(BUFFER_6, n)),
    repeated("3DSTATE_VERTEX_ELEMENTS", 0x7809, |_, n| at(ELEMENT_6, n)),
    INDEX_BUFFER,
    STIPPLE,
    VS_6,
    kernel("3DSTATE_GS", 0x7811),
    kernel("3DSTATE_WM", 0x7814),
    told(
        "3DSTATE_BINDING_TABLE_POINTERS",
        0x7801,
        &[
            hex(1, 31, 0, "VS"),
            hex(2, 31, 0, "GS"),
            hex(3, 31, 0, "PS"),
        ],
    ),
    told(
        "3DSTATE_SAMPLER_STATE_POINTERS",
        0x7802,
        &[
            hex(1, 31, 0, "VS"),
            hex(2, 31, 0, "GS"),
            hex(3, 31, 0, "PS"),
        ],
    ),
    told(
        "3DSTATE_CC_STATE_POINTERS",
        0x780e,
        &[
            hex(1, 31, 6, "blend"),
            hex(2, 31, 6, "depth and stencil"),
            hex(3, 31, 6, "colour"),
        ],
    ),
    told(
        "3DSTATE_URB",
        0x7805,
        &[
            number(1, 15, 0, "VS entries"),
            number(1, 23, 16, "size less 1"),
            number(2, 17, 8, "GS entries"),
            number(2, 2, 0, "size less 1"),
        ],
    ),
];

const fn urb(name: &'static str, head: u32) -> Command {
    told(name, head, URB)
}

const URB: &[Field] = &[
    number(1, 31, 25, "start"),
    number(1, 15, 0, "entries"),
    number(1, 24, 16, "size less 1"),
];

/// What Gen7 and later have.
const LATER: [Command; 4] = [
    urb("3DSTATE_URB_VS", 0x7830),
    urb("3DSTATE_URB_HS", 0x7831),
    urb("3DSTATE_URB_DS", 0x7832),
    urb("3DSTATE_URB_GS", 0x7833),
];

/// Gen7.
pub const GEN7: &[Command] = &[
    PRIMITIVE_7,
    BASES_6,
    repeated("3DSTATE_VERTEX_BUFFERS", 0x7808, |_, n| at(BUFFER_6, n)),
    repeated("3DSTATE_VERTEX_ELEMENTS", 0x7809, |_, n| at(ELEMENT_6, n)),
    INDEX_BUFFER,
    STIPPLE,
    VS_6,
    kernel("3DSTATE_GS", 0x7811),
    kernel("3DSTATE_PS", 0x7820),
    LATER[0],
    LATER[1],
    LATER[2],
    LATER[3],
    Command::new("GPGPU_WALKER", 0xffff_0000, 0x7105_0000, Length::Upto(15)).with(&[
        flag(0, 8, "predicated"),
        number(1, 4, 0, "descriptor"),
        choice(2, 31, 30, "SIMD", SIMD),
        number(4, 31, 0, "groups"),
        number(6, 31, 0, "by"),
        number(8, 31, 0, "by"),
    ]),
];

const SIMD: &[(u32, &str)] = &[(0, "8"), (1, "16"), (2, "32")];

/// The upper dword of a base.
const fn over(dword: usize) -> Field {
    bits(dword, 31, 0, "above", Show::Some)
}

/// Gen8 and later.
pub const GEN8: &[Command] = &[
    PRIMITIVE_7,
    told(
        "STATE_BASE_ADDRESS",
        0x6101,
        &[
            base(1, "general"),
            changed(1),
            over(2),
            base(4, "surfaces"),
            changed(4),
            over(5),
            base(6, "dynamic"),
            changed(6),
            over(7),
            base(8, "indirect objects"),
            changed(8),
            over(9),
            base(10, "instructions"),
            changed(10),
            over(11),
        ],
    ),
    repeated("3DSTATE_VERTEX_BUFFERS", 0x7808, |_, n| at(BUFFER_8, n)),
    repeated("3DSTATE_VERTEX_ELEMENTS", 0x7809, |_, n| at(ELEMENT_6, n)),
    told(
        "3DSTATE_INDEX_BUFFER",
        0x780a,
        &[
            choice(1, 9, 8, "of", INDICES),
            address(2, 31, 0, "at"),
            over(3),
            number(4, 31, 0, "bytes"),
        ],
    ),
    told(
        "3DSTATE_VF_TOPOLOGY",
        0x784b,
        &[choice(1, 5, 0, "of", TOPOLOGIES)],
    ),
    told(
        "3DSTATE_VS",
        0x7810,
        &[address(1, 31, 6, "kernel at"), over(2), flag(7, 0, "on")],
    ),
    kernel("3DSTATE_PS", 0x7820),
    LATER[0],
    LATER[1],
    LATER[2],
    LATER[3],
];

#[cfg(test)]
mod tests {
    use crate::command::{Engine, Generation};
    use crate::stream::Walk;
    use crate::words::Words;
    use crate::{gen4, gen6, gen7, kin};

    fn line(generation: &'static Generation, dwords: &[u32]) -> String {
        let mut walk = Walk::new(generation, Engine::Render, dwords, 0, usize::MAX);
        Words(generation).line(&walk.next().expect("a command"))
    }

    /// Headers and dwords as user-space drivers send them.
    #[test]
    fn draws_in_words() {
        for (generation, dwords, expected) in [
            (
                &gen4::GENERATION,
                &[0x7b00_3804, 4, 0x10, 1, 0, 0][..],
                "3DPRIMITIVE: of polygon, vertices in sequence, vertices 4, from 0x10, instances 1",
            ),
            (
                &gen6::GENERATION,
                &[0x7b00_9004, 6, 0, 1, 0, 0],
                "3DPRIMITIVE: of triangles, vertices by index, vertices 6, instances 1",
            ),
            (
                &gen7::GENERATION,
                &[0x7b00_0005, 0x105, 3, 0, 1, 0, 0],
                "3DPRIMITIVE: of triangle strip, vertices by index, vertices 3, instances 1",
            ),
            (
                &gen4::GENERATION,
                &[0x7808_0003, 0x0800_0014, 0x10c4_3000, 0x40, 0],
                "3DSTATE_VERTEX_BUFFERS: buffer 1, by vertex, pitch 20, at 0x10c43000, last index or byte 0x40",
            ),
            (
                &kin::GEN9,
                &[0x7808_0003, 0x0400_4010, 0x2000, 1, 64],
                "3DSTATE_VERTEX_BUFFERS: buffer 1, pitch 16, at 0x00002000, above 0x1, bytes 64",
            ),
            (
                &gen4::GENERATION,
                &[0x6002_0100, 0x0254_0602],
                "CONSTANT_BUFFER: valid, at 0x02540600, length less 1 2",
            ),
            (
                &gen4::GENERATION,
                &[0x6101_0004, 1, 0x10c5_3001, 0, 1, 0],
                "STATE_BASE_ADDRESS: general 0x00000000, set, surfaces 0x10c53000, set, indirect objects 0x00000000, 0x1, 0x0",
            ),
            (
                &gen4::GENERATION,
                &[0x7800_0005, 0x10c5_8820, 0, 0x10c5_87e1, 0x10c5_8840, 0x10c5_8660, 0x10c5_87c0],
                "3DSTATE_PIPELINED_POINTERS: VS 0x10c58820, GS 0x00000000, clipper 0x10c587e0, on, SF 0x10c58840, \
                 WM 0x10c58660, CC 0x10c587c0",
            ),
        ] {
            assert_eq!(line(generation, dwords), expected);
        }
    }
}
