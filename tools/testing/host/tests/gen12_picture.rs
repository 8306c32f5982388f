// SPDX-License-Identifier: GPL-2.0
//! Gen12.5: surfaces in the card's own memory, drawn by eight contexts that take the blitter away from each
//! other. Each pixel is compared with what software draws.

use gpu_model::counters::Counter;
use ouro_cross::{
    dg2_machine::{Dg2Machine, Object, Work},
    program::{self, Corners, UserSpace},
};

/// The blitter's number.
const BCS: usize = 1;
/// Contexts, each with a surface of its own.
const MANY: usize = 8;
/// Pixels across, and rows.
const SIDE: u32 = 128;
/// Bytes of a row.
const PITCH: u32 = SIDE * 4;
/// Requests of a context.
const REQUESTS: usize = 12;
/// Commands of a request.
const COMMANDS: usize = 16;

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as u32 % end
    }

    fn corners(&mut self) -> Corners {
        let (x, y) = (self.below(SIDE), self.below(SIDE));
        let (width, height) = (1 + self.below(SIDE - x), 1 + self.below(SIDE - y));
        [(x, y), (x + width, y + height)]
    }
}

fn index(x: u32, y: u32) -> usize {
    (y * SIDE + x) as usize
}

struct Artist {
    context: usize,
    surface: Object,
    addr: u64,
    /// What must be there.
    pixels: Vec<u32>,
}

impl Artist {
    fn new(m: &mut Dg2Machine, space: &UserSpace, priority: i32) -> Self {
        let surface = m.local(PITCH * SIDE);
        Self {
            context: m.context_in(BCS, space.tree, priority, None),
            surface,
            addr: space.map(m, surface),
            pixels: vec![0; (SIDE * SIDE) as usize],
        }
    }

    /// A command, as dwords and in software.
    fn draw(&mut self, random: &mut Random, sheet: (u64, &[u32])) -> Vec<u32> {
        let corners = random.corners();
        let [(x, y), (right, bottom)] = corners;
        if random.below(2) == 0 {
            let colour = random.below(u32::MAX);
            for row in y..bottom {
                self.pixels[index(x, row)..][..(right - x) as usize].fill(colour);
            }
            return program::fill(self.addr, PITCH, corners, colour).to_vec();
        }
        let from_x = random.below(SIDE - (right - x) + 1);
        let from_y = random.below(SIDE - (bottom - y) + 1);
        for row in 0..bottom - y {
            let width = (right - x) as usize;
            let source = &sheet.1[index(from_x, from_y + row)..][..width];
            self.pixels[index(x, y + row)..][..width].copy_from_slice(source);
        }
        program::copy(self.addr, PITCH, corners, sheet.0, (from_x, from_y)).to_vec()
    }

    fn request(
        &mut self,
        m: &mut Dg2Machine,
        space: &UserSpace,
        random: &mut Random,
        sheet: (u64, &[u32]),
    ) {
        let mut commands = Vec::new();
        for _ in 0..COMMANDS {
            commands.push(self.draw(random, sheet));
            commands.push(vec![program::ARB_CHECK]);
        }
        let commands: Vec<&[u32]> = commands.iter().map(Vec::as_slice).collect();
        let program = space.program(m, &commands);
        m.submit(self.context, &Work::batch(program));
    }
}

#[test]
fn eight_contexts_draw_and_every_pixel_is_right() {
    let mut m = Dg2Machine::default();
    let random = &mut Random(2026);
    let space = UserSpace::new(&mut m);
    let sheet = m.local(PITCH * SIDE);
    let sheet_at = space.map(&mut m, sheet);
    let colours: Vec<u32> = (0..SIDE * SIDE).map(|_| random.below(u32::MAX)).collect();
    m.put(sheet, 0, &colours);
    let mut artists: Vec<_> = (0..MANY)
        .map(|n| Artist::new(&mut m, &space, (n % 3) as i32))
        .collect();
    let mut left = [REQUESTS; MANY];
    while left.iter().any(|n| *n > 0) {
        let n = random.below(MANY as u32) as usize;
        if left[n] > 0 {
            left[n] -= 1;
            artists[n].request(&mut m, &space, random, (sheet_at, &colours));
        }
        m.gpu.run_until_idle(random.below(60) as usize + 1);
        m.interrupt();
        m.wait(BCS);
    }
    assert!(m.run());
    for (n, artist) in artists.iter().enumerate() {
        let done = m.done(artist.context).0;
        assert_eq!(done as usize, REQUESTS, "context {n}");
        for y in 0..SIDE {
            for x in 0..SIDE {
                let found = m.dword(artist.surface, y * SIDE + x);
                assert_eq!(found, artist.pixels[index(x, y)], "context {n} at {x}, {y}");
            }
        }
    }
    let count = |counter| m.gpu.counter(counter);
    let loads = count(Counter::Loads);
    println!(
        "cover: lists: {loads} loads, {} lite restores, {} preemptions of {} requests",
        count(Counter::LiteRestores),
        count(Counter::Preemptions),
        MANY * REQUESTS
    );
    // What the driver makes of events is what the model did.
    let counts = m.ports[BCS].sched.port().counts();
    assert_eq!(counts.lite_restores, count(Counter::LiteRestores));
    assert_eq!(counts.preemptions, count(Counter::Preemptions));
    assert_eq!(counts.switches, count(Counter::ContextRestores));
    assert!(count(Counter::Preemptions) >= MANY as u64);
    assert!(count(Counter::LiteRestores) > 0);
    assert_eq!(count(Counter::LoadsUnacknowledged), 0);
    // One more in each restore (workaround 16018031267).
    assert_eq!(
        count(Counter::BltCommands) - count(Counter::ContextRestores),
        (MANY * REQUESTS * COMMANDS) as u64
    );
    m.assert_lawful();
}
