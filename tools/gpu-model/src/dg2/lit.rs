// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The picture of the firmware ([`Real::lit`]): plane 1 of pipe A is on and reads local memory through the
//! global table, sixty times a second. The memory is usable memory, not stolen, so a driver must keep its
//! hands off it or turn the plane off. (Registers from the upstream driver's take-over of such a picture, display
//! version 13.)
//!
//! There are registers of four pipes with five planes each, and nothing behind them but storage.
//!
//! [`Real::lit`]: super::real::Real::lit

use super::core::Core;
use super::lint::Rule;

/// TRANSCONF of pipe A: bit 31 switches it on, bit 30 shows that it is.
const TRANSCONF: u32 = 0x7_0008;
/// PIPE_FRMCOUNT of pipe A.
const FRAME_COUNT: u32 = 0x7_0040;
/// Plane 1 of pipe A. PLANE_CTL: bit 31 on, 27:24 = 4 four bytes a pixel.
const PLANE_CTL: u32 = 0x7_0180;
/// In units of 64 bytes, for rows that follow each other.
const PLANE_STRIDE: u32 = 0x7_0188;
/// Height less one in 31:16, width less one in 15:0.
const PLANE_SIZE: u32 = 0x7_0190;
/// Global address; arms the plane's other registers.
const PLANE_SURF: u32 = 0x7_019c;
/// The same, of the picture that is shown.
const PLANE_SURFLIVE: u32 = 0x7_01ac;
/// PIPE_SRCSZ: width less one in 31:16.
const PIPE_SRCSZ: u32 = 0x6_001c;
/// Requests of the firmware for power wells, and those of the driver: two bits each, 0 is a state.
const POWER_WELLS: u32 = 0x4_5400;
const ON: u32 = 1 << 31;

/// 1024 by 768 pixels of four bytes.
const WIDTH: u32 = 1024;
const HEIGHT: u32 = 768;
/// Where they are in the global table, and in local memory, if there is so much.
const GLOBAL: u64 = 8 << 20;
const LOCAL: u64 = 16 << 20;
/// Present, in local memory.
const ENTRY: u64 = 3;
const PAGE: u64 = 4096;
/// A sixtieth of a second.
const FRAME: u64 = 16_666_667;

/// What is on the screen.
#[derive(Default)]
pub(crate) struct Picture {
    /// First entry of the global table, and the entries as they were when the plane was armed; none: it is off.
    first: u64,
    entries: Vec<u64>,
    lost: bool,
    freed: bool,
    /// When it is read next.
    next: u64,
}

/// Returns the picture's contents at an offset.
fn pattern(at: u64) -> u64 {
    at.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

impl Core {
    fn picture_at(&self) -> u64 {
        LOCAL.min(self.mem.lmem.size() / 2)
    }

    /// At power-on.
    pub fn leave_picture(&mut self) {
        self.picture = Picture::default();
        if !self.cfg.real.lit {
            return;
        }
        let local = self.picture_at();
        let bytes = u64::from(4 * WIDTH * HEIGHT);
        for at in (0..bytes).step_by(PAGE as usize) {
            self.mem
                .ggtt
                .set((GLOBAL + at) / PAGE, (local + at) | ENTRY);
            let page: Vec<u8> = (local + at..local + at + PAGE)
                .step_by(8)
                .flat_map(|at| pattern(at).to_le_bytes())
                .collect();
            self.mem.lmem.write(local + at, &page);
        }
        self.set(POWER_WELLS, 0xc03);
        self.set(POWER_WELLS + 4, 0x401);
        self.set(PIPE_SRCSZ, (WIDTH - 1) << 16 | (HEIGHT - 1));
        self.set(PLANE_STRIDE, 4 * WIDTH / 64);
        self.set(PLANE_SIZE, (HEIGHT - 1) << 16 | (WIDTH - 1));
        self.set(PLANE_CTL, ON | 4 << 24);
        self.set(PLANE_SURF, GLOBAL as u32);
        self.set(TRANSCONF, ON | ON >> 1);
        self.arm();
    }

    /// The whole card was reset: nothing is shown any more.
    pub fn darken(&mut self) {
        self.picture = Picture::default();
        for offset in [PLANE_CTL, TRANSCONF, POWER_WELLS, POWER_WELLS + 4] {
            self.set(offset, 0);
        }
    }

    /// The plane begins to show what its registers say, or is off.
    fn arm(&mut self) {
        self.picture = Picture::default();
        let surface = self.get(PLANE_SURF) & 0xffff_f000;
        self.set(PLANE_SURFLIVE, surface);
        if self.get(TRANSCONF) & self.get(PLANE_CTL) & ON == 0 {
            return;
        }
        let rows = u64::from(self.get(PLANE_SIZE) >> 16 & 0x1fff) + 1;
        let bytes = rows * 64 * u64::from(self.get(PLANE_STRIDE) & 0xfff);
        let first = u64::from(surface) / PAGE;
        let entries = (first..first + bytes.div_ceil(PAGE))
            .map(|i| self.mem.ggtt.get(i).0)
            .collect();
        self.picture = Picture {
            first,
            entries,
            ..Picture::default()
        };
    }

    /// A register of the display is written.
    pub fn display_written(&mut self, offset: u32) {
        match offset {
            TRANSCONF => {
                let value = self.get(TRANSCONF) & !(ON >> 1);
                self.set(TRANSCONF, value | (value & ON) >> 1);
                self.arm();
            }
            PLANE_SURF => self.arm(),
            _ => {}
        }
    }

    /// Frames that pipe A has shown.
    pub fn frame_count(&self, offset: u32) -> Option<u32> {
        let on = offset == FRAME_COUNT && self.get(TRANSCONF) & ON != 0;
        on.then(|| (self.notes.clock.now() / FRAME) as u32)
    }

    /// True if there is a picture to be read.
    pub fn is_lit(&self) -> bool {
        !self.picture.entries.is_empty()
    }

    /// The plane reads its picture, if it is time.
    pub fn scan_out(&mut self, now: u64) {
        if self.is_lit() && now >= self.picture.next {
            self.picture.next = now.saturating_add(FRAME);
            self.look_at_picture();
        }
    }

    /// Checks what has become of the picture: the first line of each page.
    pub fn look_at_picture(&mut self) {
        let local = self.picture_at();
        let end = local + u64::from(4 * WIDTH * HEIGHT);
        for (i, entry) in self.picture.entries.iter().enumerate() {
            let now = self.mem.ggtt.get(self.picture.first + i as u64);
            if now.0 != *entry && !self.picture.lost {
                self.picture.lost = true;
                self.notes.lint(Rule::ScanoutLost, || {
                    format!(
                        "entry {:#x} {entry:#x} {:#x}",
                        self.picture.first + i as u64,
                        now.0
                    )
                });
            }
            let page = entry & 0x3fff_ffff_f000;
            if self.picture.freed || entry & 3 != 3 || !(local..end).contains(&page) {
                continue;
            }
            let mut line = [0; 64];
            self.mem.lmem.read(page, &mut line);
            let whole = line
                .chunks_exact(8)
                .enumerate()
                .all(|(i, b)| b == pattern(page + 8 * i as u64).to_le_bytes());
            if !whole {
                self.picture.freed = true;
                self.notes.lint(Rule::ScanoutFreed, || format!("{page:#x}"));
            }
        }
    }
}
