// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Context images (D:Logical Ring Context Format, digest §4.2).
//!
//! ```text
//! page 0   the context's own status page: only the device uses it
//! page 1   00 ring context: ring, batch, address space
//!          60 engine context: general registers, predicates, clocks; on render and compute
//!             more behind
//! behind   pages that are no part of the context: one with commands that run within each restore,
//!          and on the blitter one with those behind it ([`super::restore`])
//! ```
//!
//! A first image has a ring context, and inhibits the restore of the engine context (D6): the
//! device fills that in when it saves the context. The saved image is the template of all later
//! ones (D9): their ring contexts are patched by searching for the registers ([`super::lri`]).

use super::{
    commands, descriptor,
    lri::{Load, Registers},
    parts::Parts,
    regs::{self, masked, Base, RingCtl},
    restore,
};
use crate::{
    context::{ContextImages, FirstImage},
    types::{DmaAddr, EngineClass, GgttAddr, PAGE_SIZE},
};

/// Dwords of a page.
const PAGE_DWORDS: usize = (PAGE_SIZE / 4) as usize;
/// Start of the engine context, in dwords of page 1. (D3: the text has one cache line less.)
const ENGINE_CONTEXT: usize = 0x60;
/// Index of the tail's value, in dwords of page 1.
const TAIL: u32 = 0x07;

/// The images of an engine.
pub(super) struct Images {
    /// Base of its registers: an image refers to them by absolute offset.
    pub(super) base: Base,
    /// Class of the engine.
    pub(super) class: EngineClass,
    /// Pages of a context (digest §5.10).
    pub(super) pages: u32,
}

/// Registers of a load, each with its value.
type Pairs<const N: usize> = [(u32, u32); N];
/// The ring, and the batch.
type RingPairs = Pairs<15>;
/// The clock, and the address space.
type SpacePairs = Pairs<9>;

/// The commands of a restore, as the ring context has them.
struct Restore {
    /// Those within it: address with the number of cache lines (K4).
    within: u32,
    /// The batch behind it: address with [`BEHIND`] (K5). Zero for none.
    behind: u32,
}

/// Where the commands within a restore run: lines of the engine context, before its general
/// registers, in bits 15:6 (K4).
const WITHIN_OFFSET: u32 = 0xd << 6;
/// Valid, bit 0, and run at each restore, bit 2 (K5).
const BEHIND: u32 = 1 << 2 | 1;

/// Returns the ring context of `what`: registers in the order of the image, in two loads (D4, D5).
/// `None` if the size of the ring is invalid (J1), or there is no PPGTT.
fn ring_context(what: &FirstImage, restore: &Restore) -> Option<(RingPairs, SpacePairs)> {
    let DmaAddr(root) = what.root?;
    let pages = what.ring_bytes / PAGE_SIZE;
    if !what.ring_bytes.is_power_of_two() || pages == 0 || pages > 512 || what.ring.0 == 0 {
        return None;
    }
    let ctl = RingCtl::new()
        .with_pages_less_one(u16::try_from(pages.checked_sub(1)?).ok()?)
        .with_enable(true);
    let first = [
        (
            regs::CTX_CONTROL,
            masked(regs::CTX_NO_SYNC_SWITCH, regs::CTX_RESTORE_INHIBIT),
        ),
        (regs::RING_HEAD, 0),
        (regs::RING_TAIL, 0),
        (regs::RING_START, what.ring.0),
        (regs::RING_CTL, ctl.into_bits()),
        (regs::BB_ADDR_UDW, 0),
        (regs::BB_ADDR, 0),
        (regs::BB_STATE, regs::BB_STATE_OWN_SPACE),
        (regs::BB_PER_CTX_PTR, restore.behind),
        (regs::INDIRECT_CTX, restore.within),
        (regs::INDIRECT_CTX_OFFSET, WITHIN_OFFSET),
        (regs::CCID, 0),
        (regs::SEMAPHORE_TOKEN, 0),
        (regs::PRT_BB_STATE[0], 0),
        (regs::PRT_BB_STATE[1], 0),
    ];
    let [pdp0, pdp1, pdp2, pdp3] = regs::PDP;
    let second = [
        (regs::CTX_TIMESTAMP, 0),
        (pdp3.wrapping_add(4), 0),
        (pdp3, 0),
        (pdp2.wrapping_add(4), 0),
        (pdp2, 0),
        (pdp1.wrapping_add(4), 0),
        (pdp1, 0),
        (pdp0.wrapping_add(4), (root >> 32) as u32),
        (pdp0, root as u32),
    ];
    Some((first, second))
}

/// Registers of the engine context that a copy must not inherit: the stop of the parser, and the
/// offset of batches (digest §5.11).
const CLEARED: [(u32, u32); 2] = [
    (
        regs::MI_MODE,
        masked(0, regs::MI_MODE_STOP | regs::MI_MODE_NESTED),
    ),
    (regs::BB_OFFSET, 0),
];

/// Writes consecutive `dwords`.
fn put<'a>(to: &mut impl Iterator<Item = &'a mut u32>, dwords: &[u32]) {
    for (from, to) in dwords.iter().zip(to) {
        *to = *from;
    }
}

impl Images {
    /// Returns page 1 and the following ones; `None` if the image is too short.
    fn state<'a>(&self, image: &'a mut [u32]) -> Option<&'a mut [u32]> {
        let dwords = usize::try_from(self.bytes() / 4).ok()?;
        image.get_mut(PAGE_DWORDS..dwords)
    }

    fn load<'a>(&self, to: &mut impl Iterator<Item = &'a mut u32>, regs: &[(u32, u32)]) {
        put(to, &[Load::of_image(regs.len() as u8).into_bits()]);
        for (offset, value) in regs {
            put(to, &[self.base.at(*offset), *value]);
        }
    }

    /// Returns the commands of a restore of `what`.
    fn restore(&self, what: &FirstImage) -> Restore {
        let page = |n: u32| {
            let bytes = self.pages.wrapping_add(n).wrapping_mul(PAGE_SIZE);
            what.image.0.wrapping_add(bytes)
        };
        let within = restore::within(self.class, Parts::of_card(what.card), what.image);
        Restore {
            within: page(0) | within.lines,
            behind: restore::behind(self.class).map_or(0, |_| page(1) | BEHIND),
        }
    }

    /// Writes these commands behind the context. `state` is from [`Images::state`].
    fn put_commands(&self, what: &FirstImage, state: &mut [u32]) {
        let pages = (self.pages as usize).wrapping_sub(1);
        let mut behind = state.chunks_exact_mut(PAGE_DWORDS).skip(pages);
        let within = restore::within(self.class, Parts::of_card(what.card), what.image);
        if let Some(page) = behind.next() {
            put(&mut page.iter_mut(), &within.dwords);
        }
        if let (Some(page), Some(batch)) = (behind.next(), restore::behind(self.class)) {
            put(&mut page.iter_mut(), &batch);
        }
    }

    /// Writes page 1 of a first image, and the following ones.
    fn first(&self, what: &FirstImage, state: &mut [u32]) -> Option<()> {
        let (mut first, second) = ring_context(what, &self.restore(what))?;
        let control = masked(regs::CTX_NO_SYNC_SWITCH | regs::CTX_RESTORE_INHIBIT, 0);
        first[0].1 = control;
        state.fill(commands::NOOP);
        // Behind the ring context: the end for a reader of the engine context (D15).
        *state.get_mut(ENGINE_CONTEXT)? = commands::IMAGE_END;
        let mut to = state.iter_mut();
        put(&mut to, &[commands::NOOP]);
        self.load(&mut to, &first);
        put(&mut to, &[commands::NOOP]);
        self.load(&mut to, &second);
        self.put_commands(what, state);
        Some(())
    }

    /// Writes page 1 of a copy of an image that the device saved.
    fn copy(&self, what: &FirstImage, state: &mut [u32]) -> Option<()> {
        let (first, second) = ring_context(what, &self.restore(what))?;
        let all = || first.iter().chain(&second).chain(&CLEARED);
        let mut seen = 0u32;
        let mut places = [(0usize, 0u32); 15 + 9 + CLEARED.len()];
        for (at, offset) in Registers::new(state) {
            let wanted = all().enumerate().find(|(_, (reg, _))| *reg == offset);
            let Some((n, (_, value))) = wanted else {
                continue;
            };
            let bit = 1u32.wrapping_shl(n as u32);
            if seen & bit == 0 {
                seen |= bit;
                *places.get_mut(n)? = (at, *value);
            }
        }
        // The two pairs of a persistent batch are not in every image (D4); all else is.
        let wanted = (1u32 << places.len()).wrapping_sub(1) & !(3 << 13);
        if seen & wanted != wanted {
            return None;
        }
        for (n, (at, value)) in places.iter().enumerate() {
            if seen & 1u32.wrapping_shl(n as u32) != 0 {
                *state.get_mut(*at)? = *value;
            }
        }
        self.put_commands(what, state);
        Some(())
    }
}

impl ContextImages for Images {
    fn alignment(&self) -> u32 {
        PAGE_SIZE
    }

    fn bytes(&self) -> u32 {
        let behind = u32::from(restore::behind(self.class).is_some());
        let pages = self.pages.wrapping_add(1).wrapping_add(behind);
        pages.wrapping_mul(PAGE_SIZE)
    }

    fn saved_bytes(&self) -> u32 {
        self.pages.wrapping_mul(PAGE_SIZE)
    }

    fn first_image(&self, what: &FirstImage, image: &mut [u32]) -> bool {
        let Some(state) = self.state(image) else {
            return false;
        };
        self.first(what, state).is_some()
    }

    fn later_image(&self, what: &FirstImage, image: &mut [u32]) -> bool {
        let Some(state) = self.state(image) else {
            return false;
        };
        self.copy(what, state).is_some()
    }

    fn tail_at(&self) -> Option<u32> {
        Some(PAGE_SIZE.wrapping_add(TAIL.wrapping_mul(4)))
    }

    fn descriptor(&self, image: GgttAddr, id: u32) -> Option<u64> {
        descriptor::descriptor(image, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    const BLITTER: Images = Images {
        base: Base(0x2_2000),
        class: EngineClass::Copy,
        pages: 2,
    };
    const RENDER: Images = Images {
        base: Base(0x2000),
        class: EngineClass::Render,
        pages: 14,
    };
    const WHAT: FirstImage = FirstImage {
        image: GgttAddr(0x0045_6000),
        card: Parts::G11.card(),
        ring: GgttAddr(0x0012_3000),
        ring_bytes: 0x4000,
        root: Some(DmaAddr(0x2_3456_7000)),
    };

    fn first() -> Vec<u32> {
        let mut image = vec![0xaaaa_aaaa; 4096];
        image[..1024].fill(0);
        assert!(BLITTER.first_image(&WHAT, &mut image));
        image
    }

    #[test]
    fn a_first_image_is_that_of_4_2() {
        let image = first();
        assert!(image[..1024].iter().all(|d| *d == 0), "page 0 is not ours");
        #[rustfmt::skip]
        let expected: [u32; 0x34] = [
            0, 0x1108_101d,
            // Bits 3 and 0, and their masks.
            0x2_2244, 0x0009_0009,
            0x2_2034, 0, 0x2_2030, 0, 0x2_2038, 0x0012_3000, 0x2_203c, 0x3001,
            0x2_2168, 0, 0x2_2140, 0, 0x2_2110, 0x20,
            // K4 and K5: behind its two pages; a line at 0Dh of bits 15:6; bits 2 and 0.
            0x2_21c0, 0x0045_9005, 0x2_21c4, 0x0045_8001, 0x2_21c8, 0x340, 0x2_2180, 0,
            0x2_22b4, 0, 0x2_2120, 0, 0x2_2124, 0,
            0, 0x1108_1011,
            0x2_23a8, 0,
            0x2_228c, 0, 0x2_2288, 0, 0x2_2284, 0, 0x2_2280, 0, 0x2_227c, 0, 0x2_2278, 0,
            0x2_2274, 2, 0x2_2270, 0x3456_7000,
        ];
        assert_eq!(image[1024..1024 + 0x34], expected);
        assert!(image[1024 + 0x34..1024 + 0x60].iter().all(|d| *d == 0));
        assert_eq!(image[1024 + 0x60], 0x0500_0001);
        assert!(image[1024 + 0x61..2048].iter().all(|d| *d == 0));
        // Commands within a restore, and a batch behind it.
        assert_eq!((image[2048], image[2048 + 13]), (0x14c8_0002, 0));
        assert!(image[2048 + 14..3072].iter().all(|d| *d == 0));
        assert_eq!((image[3072], image[3072 + 16]), (0x5100_000e, 0x0500_0000));
        assert!(image[3072 + 17..].iter().all(|d| *d == 0));
        // The tail's value is dword 07.
        assert_eq!(BLITTER.tail_at(), Some(0x1000 + 7 * 4));
        assert_eq!(image[1024 + 6], 0x2_2030);
    }

    /// Digest §5.10: 2 and 14 pages; behind them, the page of commands is the driver's.
    #[test]
    fn the_device_saves_its_pages_only() {
        let sizes = |images: &Images| (images.saved_bytes(), images.bytes());
        assert_eq!(sizes(&BLITTER), (0x2000, 0x4000));
        assert_eq!(sizes(&RENDER), (0xe000, 0xf000));
    }

    /// K4: address and lines, and 0Dh in bits 15:6.
    #[test]
    fn render_runs_commands_within_its_restore() {
        let mut image = vec![0; 15 * 1024];
        assert!(RENDER.first_image(&WHAT, &mut image));
        let registers = [
            image[1024 + 0x14..][..2].to_vec(),
            image[1024 + 0x16..][..2].to_vec(),
        ];
        assert_eq!(registers, [[0x21c4, 0x0046_4002], [0x21c8, 0x340]]);
        // They stand at 45_6000h + 14 pages.
        let commands = &image[14 * 1024..];
        assert_eq!(commands[..3], [0x14c8_0002, 0x600, 0x0045_708c]);
        assert_eq!(commands[27..30], [0x1100_0001, 0x26c0, 0x3ff]);
        // A copy has its own, whatever the template has.
        let mut copy = image.clone();
        for (n, register) in [(0, 0x9c), (1, 0x158)] {
            copy[1024 + 0x61..][..1].fill(0x1108_1003);
            copy[1024 + 0x62 + 2 * n] = 0x2000 + register;
        }
        copy[1024 + 0x60] = 0;
        copy[14 * 1024..].fill(0x0bad_0bad);
        let what = FirstImage {
            image: GgttAddr(0x0080_0000),
            ..WHAT
        };
        assert!(RENDER.later_image(&what, &mut copy));
        assert_eq!(copy[1024 + 0x15], 0x0080_e002);
        let commands = &copy[14 * 1024..];
        assert_eq!(commands[..3], [0x14c8_0002, 0x600, 0x0080_108c]);
        assert_eq!(commands[27..30], [0x1100_0001, 0x26c0, 0x3ff]);
        // Compute has a line of them on the first part.
        let compute = Images {
            class: EngineClass::Compute,
            ..RENDER
        };
        let what = FirstImage {
            card: Parts::G10.card(),
            ..WHAT
        };
        assert!(compute.first_image(&what, &mut image));
        assert_eq!(image[1024 + 0x15], 0x0046_4001);
        // K5: nothing runs behind.
        assert_eq!(image[1024 + 0x13], 0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut image = vec![0; 4096];
        let bad = [
            FirstImage { root: None, ..WHAT },
            FirstImage {
                ring_bytes: 0,
                ..WHAT
            },
            FirstImage {
                ring_bytes: 0x3000,
                ..WHAT
            },
            FirstImage {
                ring_bytes: 2048,
                ..WHAT
            },
            // J1: 2 MiB at most.
            FirstImage {
                ring_bytes: 1 << 22,
                ..WHAT
            },
            FirstImage {
                ring: GgttAddr(0),
                ..WHAT
            },
        ];
        for what in &bad {
            assert!(!BLITTER.first_image(what, &mut image), "{what:?}");
        }
        assert!(!BLITTER.first_image(&WHAT, &mut image[..4095]));
        assert!(!BLITTER.first_image(&WHAT, &mut []));
    }

    /// An image as the device saves it: headers as in §4.2, the engine context with 55 registers
    /// from 0x61 on.
    fn saved() -> Vec<u32> {
        let mut image = first();
        let state = &mut image[1024..];
        state[3] = 0x0008;
        state[5] = 0x0020_0100;
        state[7] = 0x100;
        state[0x11] = 0x3f;
        state[0x23] = 0x1234;
        state[0x61] = 0x1108_106d;
        for n in 0..55 {
            let offset = match n {
                7 => 0x9c,
                15 => 0x158,
                _ => 0x600 + 8 * n as u32,
            };
            state[0x62 + 2 * n] = 0x2_2000 + offset;
            state[0x63 + 2 * n] = 0x5a5a_0000 + n as u32;
        }
        state[0x60] = 0;
        image
    }

    #[test]
    fn a_copy_keeps_the_engine_context_and_nothing_of_the_ring() {
        let mut image = saved();
        assert!(BLITTER.later_image(&WHAT, &mut image));
        let (fresh, state) = (first(), &image[1024..]);
        assert_eq!(state[3], 0x0009_0008, "the engine context is read");
        assert_eq!(state[4..0x34], fresh[1024 + 4..1024 + 0x34]);
        // §5.11: MI_MODE at 0x70 does not stop (8) or nest deeper (12), BB_OFFSET at 0x80 is zero.
        assert_eq!((state[0x71], state[0x81]), (0x1100_0000, 0));
        assert_eq!(state[0x63], 0x5a5a_0000);
        assert_eq!(state[0xcf], 0x5a5a_0036);
        // K5: the batch behind the restore is this context's own.
        let what = FirstImage {
            image: GgttAddr(0x0080_0000),
            ..WHAT
        };
        image[2048..].fill(0x0bad_0bad);
        assert!(BLITTER.later_image(&what, &mut image));
        assert_eq!(image[1024 + 0x13], 0x0080_3005);
        assert_eq!(image[1024 + 0x15], 0x0080_2001);
        assert_eq!(image[2048..][..3], [0x14c8_0002, 0x600, 0x0080_108c]);
        assert_eq!(image[3072..][..17], fresh[3072..][..17]);
    }

    #[test]
    fn a_template_may_lack_the_persistent_batch_and_nothing_else() {
        // The header of 13 registers, and four no-ops (D4).
        let mut image = saved();
        image[1024 + 1] = 0x1108_1019;
        image[1024 + 0x1c..1024 + 0x20].fill(0);
        assert!(BLITTER.later_image(&WHAT, &mut image));
        for at in [2, 6, 8, 0x22, 0x30, 0x32, 0x70, 0x80] {
            let mut image = saved();
            image[1024 + at] = 0x2_2ffc;
            let before = image.clone();
            assert!(!BLITTER.later_image(&WHAT, &mut image), "{at:x}");
            assert_eq!(image, before);
        }
        assert!(!BLITTER.later_image(&WHAT, &mut vec![0; 4096]));
    }

    #[test]
    fn sizes_are_those_of_5_10() {
        // 14 and 2 pages, and one or two for commands.
        let video = Images {
            class: EngineClass::Video,
            ..BLITTER
        };
        let bytes = [RENDER, BLITTER, video].map(|images| images.bytes());
        assert_eq!(bytes, [0xf000, 0x4000, 0x3000]);
    }

    proptest! {
        #[test]
        fn no_template_is_trusted(
            dwords in proptest::collection::vec((0usize..2048, any::<u32>()), 0..40),
        ) {
            let mut image = saved();
            for (at, value) in dwords {
                image[at] = value;
            }
            let before = image.clone();
            if BLITTER.later_image(&WHAT, &mut image) {
                let at = |reg| {
                    Registers::new(&image[1024..]).find(|r| r.1 == reg).map(|r| image[1024 + r.0])
                };
                prop_assert_eq!(at(0x38), Some(0x0012_3000));
                prop_assert_eq!(at(0x270), Some(0x3456_7000));
                prop_assert_eq!(at(0x34), Some(0));
            } else {
                prop_assert_eq!(image, before);
            }
        }
    }
}
