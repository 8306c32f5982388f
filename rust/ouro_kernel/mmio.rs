// SPDX-License-Identifier: GPL-2.0

//! Registers and other memory of the device, from `'static` code.
//!
//! A [`Bar`] is a mapping of a part of a BAR behind a gate: after the unbind, or after
//! [`Bar::revoke()`], reads are ones and writes go nowhere. The gate is an RCU section around each
//! access, so that it costs next to nothing, works in interrupts, and is never held while waiting.

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
        // SAFETY: By the invariant of the claim it is a range of a memory BAR. It is not mapped cached.
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

    /// The address of `size` bytes at `offset`, if they are inside and aligned.
    fn at(&self, offset: usize, size: usize) -> Option<*mut c_void> {
        let end = offset.checked_add(size)?;
        if end > self.len || offset & (size - 1) != 0 {
            return None;
        }
        Some(self.addr.wrapping_add(offset).cast())
    }

    /// Reads 32 bits; ones outside of the mapping or at an offset that is no multiple of 4.
    pub fn read32(&self, offset: usize) -> u32 {
        // SAFETY: By the invariant.
        self.at(offset, 4)
            .map_or(!0, |p| unsafe { bindings::readl(p) })
    }

    /// Reads 64 bits in one access; ones outside of the mapping or at an offset that is no
    /// multiple of 8.
    pub fn read64(&self, offset: usize) -> u64 {
        // SAFETY: By the invariant.
        self.at(offset, 8)
            .map_or(!0, |p| unsafe { bindings::readq(p) })
    }

    /// Writes 8 bits; nothing outside of the mapping.
    pub fn write8(&self, offset: usize, value: u8) {
        if let Some(p) = self.at(offset, 1) {
            // SAFETY: By the invariant.
            unsafe { bindings::writeb(value, p) }
        }
    }

    /// Writes 32 bits; nothing outside of the mapping or at an offset that is no multiple of 4.
    pub fn write32(&self, offset: usize, value: u32) {
        if let Some(p) = self.at(offset, 4) {
            // SAFETY: By the invariant.
            unsafe { bindings::writel(value, p) }
        }
    }

    /// Writes 64 bits in one access; nothing outside of the mapping or at an offset that is no
    /// multiple of 8.
    pub fn write64(&self, offset: usize, value: u64) {
        if let Some(p) = self.at(offset, 8) {
            // SAFETY: By the invariant.
            unsafe { bindings::writeq(value, p) }
        }
    }

    /// Copies out, in the widest accesses that the offset allows. `None` if it is not all inside.
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

    /// Copies in, in the widest accesses that the offset allows. `None`, with nothing written, if it is
    /// not all inside.
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

    /// `None` if so many bytes are not all inside, in whole words of 64 bits.
    fn inside(&self, offset: usize, len: usize) -> Option<()> {
        let end = offset.checked_add(len)?;
        (end <= self.len & !7).then_some(())
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing in it: never.
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

/// What the unbind revokes.
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

/// A part of a BAR.
pub struct Bar {
    gate: Arc<RevocableMapping>,
    claim: Claim,
}

impl Bar {
    /// Maps what was claimed of a BAR of this device.
    ///
    /// Errors: `EINVAL` if it is of another one; `ENOMEM`.
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

    /// Opens the gate for several accesses, in which the caller must not sleep. `None` after the
    /// revocation.
    pub fn access(&self) -> Option<RevocableGuard<'_, Mapping>> {
        self.gate.mapping.try_access()
    }

    /// Ends all accesses, and waits for those that are going on. Sleeps.
    pub fn revoke(&self) {
        self.gate.mapping.revoke();
    }

    /// Whether it was revoked.
    pub fn is_revoked(&self) -> bool {
        self.access().is_none()
    }

    /// The frame of a page of it, for mappings of user space. `None` outside, and after the unbind.
    pub fn frame(&self, page: usize) -> Option<Frame<'_>> {
        self.claim.frame(page)
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        // It is mapped, hence so many.
        self.claim.len() as usize
    }

    /// Whether there is nothing in it: never.
    pub fn is_empty(&self) -> bool {
        self.claim.is_empty()
    }

    /// Reads 32 bits; ones if that is not possible: revoked, outside, not aligned.
    pub fn read32(&self, offset: usize) -> u32 {
        self.access().map_or(!0, |m| m.read32(offset))
    }

    /// Reads 64 bits, as [`Bar::read32()`].
    pub fn read64(&self, offset: usize) -> u64 {
        self.access().map_or(!0, |m| m.read64(offset))
    }

    /// Writes 32 bits; nothing if that is not possible.
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

    /// Writes words of 32 bits one behind the other, with the gate opened once for all of them, two by one access
    /// where they are aligned so: for memory whose writes may be combined. Those that lie outside go nowhere. There
    /// should not be many more than a page of them.
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
        while let Some(low) = values.next() {
            match values.next() {
                Some(high) => m.write64(at, u64::from(high) << 32 | u64::from(low)),
                None => m.write32(at, low),
            }
            at = at.saturating_add(8);
        }
    }

    /// The same with words of 64 bits, by one access each.
    pub fn write64s(&self, offset: usize, values: impl ExactSizeIterator<Item = u64>) {
        if let Some(m) = self.access() {
            let mut at = offset;
            for value in values {
                m.write64(at, value);
                at = at.saturating_add(8);
            }
        }
    }
}

/// Bytes that are copied before the gate is opened anew.
const STEP: usize = 4096;

impl Bar {
    /// Copies out. It may be slow: each access waits for the device.
    ///
    /// Errors: `EINVAL` if it is not all inside, `ENODEV` after the revocation.
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

/// All writes of this CPU before it are seen before those after it, by devices too.
pub fn wmb() {
    // SAFETY: No requirement.
    unsafe { crate::raw::ouro_wmb() }
}
