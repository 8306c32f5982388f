// SPDX-License-Identifier: GPL-2.0
//! The checker of what user space sends to an R5xx: whatever it is sent, it decides, and in what it lets
//! pass there are no packets, registers and addresses but those that may be there.

use crate::card::topology;
use crate::source::Source;
use ouro_cross::r5xx_machine::patched;
use ouro_hw::checker::{Object, Patch, Resolve, Verdict};
use ouro_hw::fence_regs::Tiling;
use ouro_hw::types::GpuAddr;

/// Objects, and who knows how they are tiled.
struct Objects {
    list: Vec<Object>,
    stream_knows: bool,
}

impl Resolve for Objects {
    fn object(&self, n: u32) -> Option<Object> {
        self.list.get(n as usize).copied()
    }

    fn stream_knows_tiling(&self) -> bool {
        self.stream_knows
    }
}

impl Objects {
    /// True if one of them has the byte.
    fn have(&self, address: u64) -> bool {
        self.list
            .iter()
            .any(|o| (o.addr.0..o.addr.0 + o.bytes).contains(&address))
    }
}

/// Takes any bytes.
pub fn run(bytes: &[u8]) {
    let mut s = Source::new(bytes);
    let objects = objects(&mut s);
    let mut stream = Vec::new();
    // What is refused is left out, most of the time: so more is behind what passes than one packet.
    while !s.is_empty() && stream.len() < 1024 {
        let before = stream.len();
        piece(&mut s, &mut stream);
        if !passes(&stream, &objects) && s.u8() > 2 {
            stream.truncate(before);
        }
    }
    passes(&stream, &objects);
}

/// Whether a stream passes; if so, it may.
fn passes(stream: &[u32], objects: &Objects) -> bool {
    let checker = topology().engines[0]
        .checker()
        .expect("this chip confines nobody");
    let mut list = vec![Patch::default(); Patch::most(stream.len())];
    match checker.check(stream, objects, &mut list) {
        Verdict::Passes { dwords, patches } => {
            assert_eq!(dwords, stream.len());
            audit(&patched(stream, &list[..patches]), objects);
            // With room for all but one patch it is refused: none is left out.
            if let Some(fewer) = patches.checked_sub(1) {
                let verdict = checker.check(stream, objects, &mut list[..fewer]);
                assert!(matches!(verdict, Verdict::Reject { .. }));
            }
            true
        }
        Verdict::Reject { at, .. } => {
            assert!(at <= stream.len());
            false
        }
        verdict => panic!("nobody is confined: {verdict:?}"),
    }
}

fn objects(s: &mut Source<'_>) -> Objects {
    let list = (0..s.below(4)).map(|n| Object {
        addr: GpuAddr((n + 1) << 24),
        bytes: 1 + s.below(1 << 20),
        tiling: [None, Some(Tiling::Macro), Some(Tiling::MacroMicro)][s.below(3) as usize],
    });
    Objects {
        list: list.collect(),
        stream_knows: s.flag(),
    }
}

/// Registers that a stream needs to draw and blit, beside any.
const REGISTERS: [u32; 20] = [
    0x4e28, 0x4e38, 0x4f20, 0x4f24, 0x4540, 0x4f5c, 0x1428, 0x142c, 0x1434, 0x1438, 0x143c, 0x146c,
    0x43e4, 0x4e0c, 0x4104, 0x2134, 0x4e4c, 0x4f18, 0x4f1c, 0x1720,
];
/// Commands that pass, and some that do not.
const COMMANDS: [u32; 14] = [
    0x10, 0x28, 0x29, 0x2a, 0x2f, 0x33, 0x34, 0x35, 0x36, 0x92, 0x9a, 0x9b, 0x23, 0x37,
];

/// A packet, or what looks like one, and some relocations.
fn piece(s: &mut Source<'_>, stream: &mut Vec<u32>) {
    let count = s.below(6) as u32;
    match s.u8() % 8 {
        0..=2 => {
            let register = REGISTERS[s.below(20) as usize];
            stream.extend([register / 4, s.odd() as u32]);
        }
        3 => {
            stream.push(count << 16 | s.u32() & 0x9fff);
            stream.extend((0..=count).map(|_| s.odd() as u32));
        }
        4 | 5 => {
            let opcode = COMMANDS[s.below(14) as usize];
            stream.push(3 << 30 | count << 16 | opcode << 8);
            stream.extend((0..=count).map(|_| s.odd() as u32));
        }
        6 => stream.push(0x8000_0000 | s.u32()),
        _ => stream.push(s.u32()),
    }
    for _ in 0..s.below(3) {
        stream.extend([0xc000_1000, s.below(20) as u32]);
    }
}

/// Goes through what passed.
fn audit(copy: &[u32], objects: &Objects) {
    let mut rest = copy;
    while let Some((header, behind)) = rest.split_first() {
        if header >> 30 == 2 {
            rest = behind;
            continue;
        }
        let (body, next) = behind.split_at((header >> 16 & 0x3fff) as usize + 1);
        rest = next;
        match header >> 30 {
            0 => registers(*header, body, objects),
            3 => command(header >> 8 & 0xff, body, objects),
            _ => panic!("a packet of type 1 passed"),
        }
    }
}

fn registers(header: u32, body: &[u32], objects: &Objects) {
    let mut register = (header & 0x1fff) * 4;
    for value in body {
        // Not the host's, the command processor's, the display's; no port, no start of a draw.
        let allowed = (0x1400..0x15e0).contains(&register)
            || (0x1600..0x2000).contains(&register)
            || register == 0x2080
            || (0x2088..0x20c0).contains(&register)
            || (0x2130..0x5000).contains(&register);
        assert!(allowed, "{register:#x} passed");
        let address = match register {
            0x4540..=0x457c => Some(u64::from(value & !0x1f)),
            0x4e28..=0x4e34 | 0x4e80 | 0x4f20 | 0x4f5c => Some(u64::from(*value)),
            0x1428 | 0x142c => Some(u64::from(value & 0x3f_ffff) * 1024),
            _ => None,
        };
        assert!(
            address.is_none_or(|a| objects.have(a)),
            "{register:#x}: {value:#x}"
        );
        if header & 0x8000 == 0 {
            register += 4;
        }
    }
}

fn command(opcode: u32, body: &[u32], objects: &Objects) {
    match opcode {
        0x10 | 0x28 | 0x29 | 0x2a | 0x34 | 0x35 | 0x36 => {}
        0x2f => {
            for n in 0..(body[0] & 0x1f) as usize {
                assert!(objects.have(body[2 + n / 2 * 3 + n % 2].into()));
            }
        }
        // The surfaces that the control names, source first.
        0x92 | 0x9a | 0x9b => {
            for surface in &body[1..1 + (body[0] & 3).count_ones() as usize] {
                assert!(objects.have(u64::from(surface & 0x3f_ffff) * 1024));
            }
        }
        0x33 => {
            assert_eq!(body[0], 0x8000_0810, "indices go to their port");
            let last = u64::from(body[1]) + u64::from(body[2]) * 4 - 1;
            assert!(objects.have(body[1].into()) && objects.have(last));
        }
        _ => panic!("{opcode:#x} passed"),
    }
}
