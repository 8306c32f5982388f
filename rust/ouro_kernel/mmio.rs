// SPDX-License-Identifier: GPL-2.0

//! Registers and other memory of the device, from `'static` code.
//!
//! A [`Bar`] is a revocable mapping of a part of a BAR: after the unbind, or after
//! [`Bar::revoke()`], reads return all ones and writes have no effect. Each access is in an RCU
//! read section, so that it costs next to nothing, works in interrupts, and is never held while
//! waiting.

use kernel::{
    bindings,
    device::Bound,
    pci,
    prelude::*,
    revocable::{Revocable, RevocableGuard},
    sync::Arc,
};

use crate::{
    pages::Frame,
    pci::{end_with_bond, Claim, EndWithBond},
    Caching,
};

/// A mapping of device memory.
///
/// # Invariants
///
/// `addr` is the address of `len` bytes of device memory, mapped until this is dropped.
pub struct Mapping {
    addr: *mut u8,
    len: usize,
}

// SAFETY: Device memory may be accessed from any thread.
unsafe impl Send for Mapping {}
// SAFETY: As above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn map(claim: &Claim, caching: Caching) -> Result<Self> {
        let (start, len) = (claim.start(), usize::try_from(claim.len())?);
        // SAFETY: By the invariant of the claim it is a range of a memory BAR. It is not mapped
        // cached.
        let addr = unsafe {
            match caching {
                Caching::WriteCombining => bindings::ioremap_wc(start, len),
                Caching::Uncached | Caching::WriteBack => bindings::ioremap(start, len),
            }
        };
        if addr.is_null() {
            return Err(ENOMEM);
        }
        Ok(Self {
            addr: addr.cast(),
            len,
        })
    }

    /// Returns the address of `size` bytes at `offset`, if they are inside and aligned.
    fn at(&self, offset: usize, size: usize) -> Option<*mut c_void> {
        let end = offset.checked_add(size)?;
        if end > self.len || offset & (size - 1) != 0 {
            return None;
        }
        Some(self.addr.wrapping_add(offset).cast())
    }

    /// Reads 32 bits; all ones outside of the mapping or if `offset` is not a multiple of 4.
    pub fn read32(&self, offset: usize) -> u32 {
        // SAFETY: By the invariant.
        self.at(offset, 4)
            .map_or(!0, |p| unsafe { bindings::readl(p) })
    }

    /// Reads 64 bits in one access; all ones outside of the mapping or if `offset` is not a
    /// multiple of 8.
    pub fn read64(&self, offset: usize) -> u64 {
        // SAFETY: By the invariant.
        self.at(offset, 8)
            .map_or(!0, |p| unsafe { bindings::readq(p) })
    }

    /// Writes 8 bits; no effect outside of the mapping.
    pub fn write8(&self, offset: usize, value: u8) {
        if let Some(p) = self.at(offset, 1) {
            // SAFETY: By the invariant.
            unsafe { bindings::writeb(value, p) }
        }
    }

    /// Writes 32 bits; no effect outside of the mapping or if `offset` is not a multiple of 4.
    pub fn write32(&self, offset: usize, value: u32) {
        if let Some(p) = self.at(offset, 4) {
            // SAFETY: By the invariant.
            unsafe { bindings::writel(value, p) }
        }
    }

    /// Writes 64 bits in one access; no effect outside of the mapping or if `offset` is not a
    /// multiple of 8.
    pub fn write64(&self, offset: usize, value: u64) {
        if let Some(p) = self.at(offset, 8) {
            // SAFETY: By the invariant.
            unsafe { bindings::writeq(value, p) }
        }
    }

    /// Writes consecutive 64-bit words, each in one access; no effect if one is outside of the
    /// mapping or `offset` is not a multiple of 8. Not ordered before later writes to other memory.
    pub fn write64s(&self, offset: usize, values: &[u64]) {
        let (Some(p), Some(())) = (self.at(offset, 8), self.inside(offset, size_of_val(values)))
        else {
            return;
        };
        // SAFETY: By the invariant, as many words are mapped there.
        unsafe { bindings::__iowrite64_copy(p, values.as_ptr().cast(), values.len()) }
    }

    /// Copies out, in the widest accesses that the offset allows. `None` if the range is not
    /// inside.
    pub fn read_bytes(&self, offset: usize, out: &mut [u8]) -> Option<()> {
        self.inside(offset, out.len())?;
        let mut at = offset;
        let mut rest = out;
        while !rest.is_empty() {
            let bytes = self.read64(at & !7).to_le_bytes();
            let from = bytes.get(at & 7..)?;
            let n = from.len().min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            now.copy_from_slice(from.get(..n)?);
            rest = later;
            at += n;
        }
        Some(())
    }

    /// Copies in, in the widest accesses that the offset allows. `None`, with nothing written, if
    /// the range is not inside.
    pub fn write_bytes(&self, offset: usize, data: &[u8]) -> Option<()> {
        self.inside(offset, data.len())?;
        let head = (offset.wrapping_neg() & 7).min(data.len());
        let (head, rest) = data.split_at(head);
        let mut at = offset;
        for byte in head {
            self.write8(at, *byte);
            at += 1;
        }
        let mut words = rest.chunks_exact(8);
        for word in &mut words {
            self.write64(at, u64::from_le_bytes(word.try_into().ok()?));
            at += 8;
        }
        for byte in words.remainder() {
            self.write8(at, *byte);
            at += 1;
        }
        Some(())
    }

    /// Returns `None` unless `len` bytes are inside, in whole words of 64 bits.
    fn inside(&self, offset: usize, len: usize) -> Option<()> {
        let end = offset.checked_add(len)?;
        (end <= self.len & !7).then_some(())
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it is empty: never.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: By the invariant.
        unsafe { bindings::iounmap(self.addr.cast()) }
    }
}

/// The mapping that the unbind revokes.
#[pin_data]
struct RevocableMapping {
    #[pin]
    mapping: Revocable<Mapping>,
}

impl EndWithBond for RevocableMapping {
    fn end(&self) {
        self.mapping.revoke();
    }
}

/// A revocable mapping of a part of a BAR.
pub struct Bar {
    gate: Arc<RevocableMapping>,
    claim: Claim,
}

impl Bar {
    /// Maps a claimed range of a BAR of this device.
    ///
    /// Errors: `EINVAL` if the claim is another device's; `ENOMEM`.
    pub fn map(pdev: &pci::Device<Bound>, claim: Claim, caching: Caching) -> Result<Self> {
        if !claim.is_of(pdev) {
            return Err(EINVAL);
        }
        let part = &claim;
        let gate = Arc::pin_init::<Error>(
            try_pin_init!(RevocableMapping {
                mapping <- Revocable::new(Mapping::map(part, caching)?),
            }? Error),
            GFP_KERNEL,
        )?;
        end_with_bond(pdev, gate.clone())?;
        Ok(Self { gate, claim })
    }

    /// Begins a read section for several accesses, in which the caller must not sleep. `None` after
    /// the revocation.
    pub fn access(&self) -> Option<RevocableGuard<'_, Mapping>> {
        self.gate.mapping.try_access()
    }

    /// Revokes the mapping, and waits for accesses that are going on. Sleeps.
    pub fn revoke(&self) {
        self.gate.mapping.revoke();
    }

    /// Returns whether it was revoked.
    pub fn is_revoked(&self) -> bool {
        self.access().is_none()
    }

    /// Returns the frame of a page, for mappings of user space. `None` outside, and after the
    /// unbind.
    pub fn frame(&self, page: usize) -> Option<Frame<'_>> {
        self.claim.frame(page)
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        // It is mapped, so the length fits.
        self.claim.len() as usize
    }

    /// Returns whether it is empty: never.
    pub fn is_empty(&self) -> bool {
        self.claim.is_empty()
    }

    /// Reads 32 bits; all ones if it is revoked, or `offset` is outside or not aligned.
    pub fn read32(&self, offset: usize) -> u32 {
        self.access().map_or(!0, |m| m.read32(offset))
    }

    /// Reads 64 bits, as [`Bar::read32()`].
    pub fn read64(&self, offset: usize) -> u64 {
        self.access().map_or(!0, |m| m.read64(offset))
    }

    /// Writes 32 bits; no effect if it is revoked, or `offset` is outside or not aligned.
    pub fn write32(&self, offset: usize, value: u32) {
        if let Some(m) = self.access() {
            m.write32(offset, value)
        }
    }

    /// Writes 64 bits, as [`Bar::write32()`].
    pub fn write64(&self, offset: usize, value: u64) {
        if let Some(m) = self.access() {
            m.write64(offset, value)
        }
    }

    /// Writes consecutive 32-bit words in one read section, two per access where they are aligned:
    /// for write-combined memory. There should not be many more than a page of them.
    pub fn write32s(&self, offset: usize, mut values: impl ExactSizeIterator<Item = u32>) {
        let Some(m) = self.access() else {
            return;
        };
        let mut at = offset;
        if at % 8 != 0 {
            if let Some(first) = values.next() {
                m.write32(at, first);
                at = at.saturating_add(4);
            }
        }
        let mut pairs = [0; PAIRS];
        loop {
            let (mut n, mut odd) = (0, None);
            for pair in &mut pairs {
                let Some(low) = values.next() else { break };
                let Some(high) = values.next() else {
                    odd = Some(low);
                    break;
                };
                *pair = u64::from(high) << 32 | u64::from(low);
                n += 1;
            }
            m.write64s(at, pairs.get(..n).unwrap_or(&[]));
            at = at.saturating_add(8 * n);
            if let Some(last) = odd {
                m.write32(at, last);
            }
            if n < PAIRS {
                return;
            }
        }
    }

    /// Writes consecutive 64-bit words in one read section, as [`Mapping::write64s()`]. There
    /// should not be many more than a page of them.
    pub fn write64s(&self, offset: usize, values: &[u64]) {
        if let Some(m) = self.access() {
            m.write64s(offset, values);
        }
    }
}

/// Pairs of 32-bit words that are put together before they are written.
const PAIRS: usize = 16;
/// Bytes that are copied in one read section.
const STEP: usize = 4096;

impl Bar {
    /// Copies out. Slow: each access waits for the device.
    ///
    /// Errors: `EINVAL` if the range is not inside, `ENODEV` after the revocation.
    pub fn read_bytes(&self, offset: usize, out: &mut [u8]) -> Result {
        let mut at = offset;
        for piece in out.chunks_mut(STEP) {
            let mapping = self.access().ok_or(ENODEV)?;
            mapping.read_bytes(at, piece).ok_or(EINVAL)?;
            at += piece.len();
        }
        Ok(())
    }

    /// Copies in.
    ///
    /// Errors: as for [`Bar::read_bytes()`].
    pub fn write_bytes(&self, offset: usize, data: &[u8]) -> Result {
        let mut at = offset;
        for piece in data.chunks(STEP) {
            let mapping = self.access().ok_or(ENODEV)?;
            mapping.write_bytes(at, piece).ok_or(EINVAL)?;
            at += piece.len();
        }
        Ok(())
    }
}

/// Orders all earlier writes of this CPU before later ones, also for devices.
pub fn wmb() {
    // SAFETY: No requirement.
    unsafe { crate::raw::ouro_wmb() }
}
