// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A picture that firmware has left on the screen ([`Real::lit`](crate::ring::real::Real::lit)): pipe A and
//! its plane, as far as a driver must know them to keep the picture or to turn it off.
//!
//! Offsets and bits are those that the upstream driver uses; values are of a real machine's planes
//! (GM45 error record, same registers). A plane's control and size take effect with the vertical blank
//! after its surface address is written; the pipe stops with a vertical blank too.

use crate::intel::pte::{Pte, PAGE};
use crate::memory::{GuestMemory, MemoryError};
use crate::ring::config::{STOLEN_BASE, STOLEN_SIZE};
use crate::ring::core::Core;
use crate::ring::lint::Rule;
use std::sync::Arc;

/// The line that is drawn.
const DSL: u32 = 0x7_0000;
const CONF: u32 = 0x7_0008;
const FRAME: u32 = 0x7_0040;
const SRC: u32 = 0x6_001c;
const CURSOR: u32 = 0x7_0080;
const CNTR: u32 = 0x7_0180;
const STRIDE: u32 = 0x7_0188;
const SURF: u32 = 0x7_019c;
const SURF_LIVE: u32 = 0x7_01ac;
const VGA: u32 = 0x4_1000;
/// Where Gen4 has it.
const VGA_GEN4: u32 = 0x7_1400;
/// Registers that keep what is written while there is a picture, with what firmware has left.
const LEFT: &[(u32, u32)] = &[
    // 1024 by 768, in timings of 1344 by 806.
    (0x6_0000, 1343 << 16 | 1023),
    (0x6_0004, 1343 << 16 | 1023),
    (0x6_0008, 1183 << 16 | 1047),
    (0x6_000c, 805 << 16 | 767),
    (0x6_0010, 805 << 16 | 767),
    (0x6_0014, 776 << 16 | 770),
    (SRC, 1023 << 16 | 767),
    (CONF, ENABLE | ACTIVE),
    (CURSOR, 0),
    (0x7_0084, 0),
    (0x7_0088, 0),
    // Gamma, 32 bits of blue, green, red.
    (CNTR, 0xd800_0000),
    (0x7_0184, 0),
    (STRIDE, 4096),
    (SURF, 0),
    (0x7_01a4, 0),
    (VGA, 1 << 31),
    (VGA_GEN4, 1 << 31),
];
const ENABLE: u32 = 1 << 31;
const ACTIVE: u32 = 1 << 30;
/// Nanoseconds from one vertical blank to the next, and lines between.
const PERIOD: u64 = 16_666_667;
const LINES: u64 = 806;

/// What is scanned out.
struct Live {
    first: u32,
    entries: Vec<u32>,
}

/// State of the picture.
#[derive(Default)]
pub(crate) struct Screen {
    /// Firmware has left one since power-on.
    lit: bool,
    /// The plane's control as it is in force.
    armed: u32,
    live: Option<Live>,
    /// The vertical blank with which the registers come into force.
    latch: Option<u64>,
    /// The frame in which the plane has last fetched.
    frame: u64,
    lost: bool,
    freed: bool,
}

impl Core {
    /// Firmware's picture.
    pub fn light(&mut self) {
        for (offset, value) in LEFT {
            self.set(*offset, *value);
        }
        for page in 0..768 {
            // Uncached, valid.
            let address = STOLEN_BASE + page * PAGE;
            let entry = address | self.cx.pte.uncached << 1 | 1;
            self.cx.gtt.set(page, entry);
        }
        if self.cfg.chip.gen4.is_some_and(|g| !g.g4x) {
            // The plane's memory is mapped, so firmware has enabled the table (G45 PRM V1b 4.6).
            let control = crate::gen4::bits::PGTBL_CTL;
            self.set(control, self.get(control) | 1);
            crate::gen4::errors::table_switched(self);
        }
        self.screen.lit = true;
        self.screen.armed = self.get(CNTR);
        self.latch();
    }

    /// A reset that takes the display with it.
    pub fn dark(&mut self) {
        if self.screen.lit {
            for (offset, _) in LEFT {
                self.set(*offset, 0);
            }
            self.screen = Screen::default();
        }
    }

    /// A display register as it reads, if the picture gives it a value.
    pub fn screen_read(&self, offset: u32) -> Option<u32> {
        if !self.screen.lit {
            return None;
        }
        let now = self.notes.clock.now();
        let runs = self.get(CONF) & ACTIVE != 0;
        match offset {
            DSL if runs => Some((now % PERIOD * LINES / PERIOD) as u32),
            FRAME => Some((now / PERIOD) as u32),
            SURF_LIVE => Some(self.screen.live.as_ref().map_or(0, |l| l.first * PAGE)),
            _ if LEFT.iter().any(|r| r.0 == offset) => Some(self.get(offset)),
            _ => None,
        }
    }

    /// A write to a display register; true if it belongs to the picture.
    pub fn screen_write(&mut self, offset: u32, data: u32) -> bool {
        if !self.screen.lit || !LEFT.iter().any(|r| r.0 == offset) {
            return false;
        }
        self.look_at_screen();
        match offset {
            CONF => self.set(CONF, data & !ACTIVE | self.get(CONF) & ACTIVE),
            _ => self.set(offset, data),
        }
        match offset {
            SURF => self.screen.armed = self.get(CNTR),
            // A plane that is off takes its control at once.
            CNTR if self.screen.armed & ENABLE == 0 => self.screen.armed = data,
            CONF => {}
            _ => return true,
        }
        let now = self.notes.clock.now();
        self.screen.latch = Some((now / PERIOD + 1) * PERIOD);
        true
    }

    /// The vertical blank: what was written comes into force.
    fn latch(&mut self) {
        self.screen.latch = None;
        let conf = self.get(CONF);
        let active = if conf & ENABLE != 0 { ACTIVE } else { 0 };
        self.set(CONF, conf & !ACTIVE | active);
        let on = active != 0 && self.screen.armed & ENABLE != 0;
        self.screen.live = on.then(|| {
            let first = self.get(SURF) / PAGE;
            let lines = u64::from(self.get(SRC) & 0xfff) + 1;
            let bytes = u64::from(self.get(STRIDE) & 0xffff) * lines;
            let count = bytes.div_ceil(u64::from(PAGE)).min(1 << 16) as u32;
            let entries = (first..first + count).map(|i| self.cx.gtt.get(i)).collect();
            Live { first, entries }
        });
    }

    /// Looks when a frame has passed: an engine's every command would be too often.
    pub fn frame_passes(&mut self) {
        let now = self.notes.clock.now();
        let due = self.screen.latch.is_some_and(|at| at <= now);
        if self.screen.lit && (due || now / PERIOD > self.screen.frame) {
            self.look_at_screen();
        }
    }

    /// The plane fetches: at each vertical blank that has passed, and whenever the CPU accesses a register,
    /// since entries are memory that the guest changes unseen.
    pub fn look_at_screen(&mut self) {
        if !self.screen.lit {
            return;
        }
        let now = self.notes.clock.now();
        let changed = |core: &Core| {
            let live = core.screen.live.as_ref()?;
            let pages = (live.first..).zip(&live.entries);
            let mut lost = pages.filter(|(i, e)| core.cx.gtt.get(*i) != **e);
            lost.next().map(|(i, _)| i)
        };
        if !self.screen.lost {
            if let Some(page) = changed(self) {
                self.screen.lost = true;
                self.lint(Rule::ScanoutLost, || format!("entry {page:#x}"));
            }
        }
        let frame = now / PERIOD;
        if frame > self.screen.frame {
            self.screen.frame = frame;
            if self.screen.live.is_some() {
                self.display_event(self.cfg.chip.display_events.vblank);
                self.freed_pages(false);
                if self.cfg.chip.gen4.is_some() {
                    crate::gen4::errors::plane_fetches(self);
                }
            }
        }
        if self.screen.latch.is_some_and(|at| at <= now) {
            self.latch();
        }
    }

    /// The driver will not come back: DMA is forbidden, the device is reset or closed. The memory that the plane still
    /// fetches must not be in use.
    pub fn look_at_screen_for_good(&mut self) {
        self.look_at_screen();
        self.freed_pages(true);
    }

    /// Returns whether the plane fetches foreign memory: memory that does not answer, or any of the system's if the
    /// driver is gone.
    fn freed_pages(&mut self, gone: bool) {
        if self.screen.freed {
            return;
        }
        let Some(live) = &self.screen.live else {
            return;
        };
        let freed = (live.first..live.first + live.entries.len() as u32).find(|i| {
            let pte = Pte(self.cx.gtt.get(*i));
            let address = self.cx.pte.address(pte);
            if !pte.valid() || stolen(address) {
                return false;
            }
            gone || self.cx.memory.read(address, &mut [0; 4]).is_err()
        });
        if let Some(page) = freed {
            self.screen.freed = true;
            self.lint(Rule::ScanoutFreed, || format!("entry {page:#x}"));
        }
    }
}

/// True for an address in stolen memory.
fn stolen(address: u64) -> bool {
    let base = u64::from(STOLEN_BASE);
    (base..base + STOLEN_SIZE).contains(&address)
}

/// Guest memory with stolen memory beside it, which is the graphics' own and keeps nothing here.
pub(crate) struct WithStolen(pub Arc<dyn GuestMemory>);

impl GuestMemory for WithStolen {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        if stolen(addr) {
            buf.fill(0);
            return Ok(());
        }
        self.0.read(addr, buf)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        if stolen(addr) {
            return Ok(());
        }
        self.0.write(addr, data)
    }
}
