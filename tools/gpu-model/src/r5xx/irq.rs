// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Interrupts: GEN_INT_STATUS, GEN_INT_CNTL, the line, MSI with its rearm (digest §3.2, §5.2; the
//! document names none of these registers, only the scratch interrupt of §4.9).

use super::core::Core;
use super::regs::reg;
use crate::counters::Counter;
use crate::fault::Kind;

/// Bits of GEN_INT_STATUS and, where they can be enabled, of GEN_INT_CNTL.
pub mod bit {
    /// Something of the display, which other registers tell. Nothing here has any.
    pub const DISPLAY: u32 = 1 << 0;
    /// The drawing engines went idle.
    pub const GUI_IDLE: u32 = 1 << 19;
    /// Software interrupt.
    pub const SW_INT: u32 = 1 << 25;
    /// Written: raise the software interrupt.
    pub const SW_INT_SET: u32 = 1 << 26;
    /// A descriptor table of the GUI channel is done.
    pub const GUI_DMA: u32 = 1 << 30;
    /// The same for the video channel.
    pub const VID_DMA: u32 = 1 << 31;
}

/// Interrupts that can be enabled.
const ENABLES: u32 = bit::GUI_IDLE | bit::SW_INT | bit::GUI_DMA | bit::VID_DMA;

impl Core {
    /// An event, with all that can happen to it on the way.
    pub fn interrupt(&mut self, bits: u32, engine: &'static str) {
        if self.notes.inject(Kind::LoseIrq, engine).is_some() {
            return;
        }
        if let Some(us) = self.notes.inject(Kind::LateIrq, engine) {
            let at = self.notes.in_us(us);
            self.later.interrupts.push(at, bits);
            return;
        }
        self.interrupt_now(bits);
    }

    /// Latches an event.
    pub fn interrupt_now(&mut self, bits: u32) {
        self.set(reg::GEN_INT_STATUS, self.get(reg::GEN_INT_STATUS) | bits);
        self.update_line();
    }

    /// GEN_INT_STATUS is written: ones clear, but for the one that raises. `from_stream` says that
    /// the command processor does it.
    pub fn int_status_written(&mut self, data: u32, from_stream: bool) {
        let left = self.get(reg::GEN_INT_STATUS) & !(data & !self.foreign_events());
        self.set(reg::GEN_INT_STATUS, left);
        if data & bit::SW_INT_SET != 0 {
            self.notes.count(Counter::SwInterrupts);
            if from_stream {
                self.watch_fence();
                self.cp.work_begins = true;
                self.interrupt(bit::SW_INT, "cp");
            } else {
                self.interrupt_now(bit::SW_INT);
            }
        }
        self.update_line();
    }

    /// MSI_REARM_EN is written.
    pub fn msi_rearm(&mut self) {
        self.msi_armed = true;
        if self.line {
            self.send(true);
        }
    }

    /// Recomputes the interrupt line and tells the sink when it changed.
    pub fn update_line(&mut self) {
        let pending = self.get(reg::GEN_INT_STATUS) & self.get(reg::GEN_INT_CNTL) & ENABLES;
        let line = pending != 0 && !self.removed;
        if line == self.line {
            return;
        }
        self.line = line;
        if line {
            self.notes.line_rises();
        }
        self.send(line);
    }

    /// MSI was switched on or off: what is pending goes the other way now.
    pub fn interrupt_path_changed(&mut self) {
        self.msi_armed = true;
        if self.line {
            self.send(true);
        }
    }

    /// The line's level goes out: as it is, or as a message, of which there is one for each rearm
    /// (digest §5.2: MSI_REARM_EN).
    fn send(&mut self, level: bool) {
        if !self.pci.msi_enabled() {
            self.irq.set_line(level);
            return;
        }
        if !level {
            self.irq.set_line(false);
            return;
        }
        if !std::mem::take(&mut self.msi_armed) {
            return;
        }
        self.notes.send(&*self.irq);
    }
}
