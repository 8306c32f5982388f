// SPDX-License-Identifier: GPL-2.0

//! The interrupt of a PCI device, with a handler that may outlive the binding.
//!
//! `kernel::irq` borrows the bound device. [`Irq`] does not: it can be kept in a `'static` core,
//! and is freed when the device is unbound, or before that by [`Irq::free()`].
//!
//! C header: `include/linux/interrupt.h`

use kernel::{
    bindings,
    device::Bound,
    error::to_result,
    irq::IrqReturn,
    new_mutex, pci,
    prelude::*,
    sync::{aref::ARef, Arc, Mutex},
};

use crate::pci::{end_with_bond, raw_pci, EndWithBond};

/// The handler of an interrupt.
pub trait IrqHandler: Send + Sync + 'static {
    /// Handles the interrupt. Interrupts are off on this CPU. An INTx line is shared: return
    /// `IrqReturn::None` if it was not this device's.
    fn handle_irq(&self) -> IrqReturn;
}

/// The kind of an interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IrqKind {
    /// A message (MSI).
    Msi,
    /// A legacy line, which other devices may share.
    Intx,
}

impl IrqKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Msi => "MSI",
            Self::Intx => "INTx",
        }
    }
}

/// The resources that the unbind frees.
#[pin_data]
struct Request<T: IrqHandler> {
    pdev: ARef<pci::Device>,
    irq: u32,
    kind: IrqKind,
    /// While it is requested: the handler, whose address is the cookie.
    #[pin]
    handler: Mutex<Option<Arc<T>>>,
}

/// A requested interrupt.
pub struct Irq<T: IrqHandler>(Arc<Request<T>>);

/// # Safety
///
/// `cookie` is the address of a `T`, which lives until the interrupt is freed.
unsafe extern "C" fn trampoline<T: IrqHandler>(
    _irq: c_int,
    cookie: *mut c_void,
) -> bindings::irqreturn_t {
    // SAFETY: By the requirement of this function.
    match unsafe { &*cookie.cast::<T>() }.handle_irq() {
        IrqReturn::None => bindings::irqreturn::IRQ_NONE,
        IrqReturn::Handled => bindings::irqreturn::IRQ_HANDLED,
    }
}

impl<T: IrqHandler> Irq<T> {
    /// Requests the interrupt: a message, or the line if the device has no messages or `msi`
    /// forbids them. The handler may be called before this returns.
    ///
    /// Errors: `ENOSPC`, `EBUSY`, `ENOMEM`.
    pub fn request(
        pdev: &pci::Device<Bound>,
        name: &'static CStr,
        msi: bool,
        handler: Arc<T>,
    ) -> Result<Self> {
        let messages = if msi { bindings::PCI_IRQ_MSI } else { 0 };
        let raw = raw_pci(pdev);
        // SAFETY: The device is bound.
        let n = unsafe {
            bindings::pci_alloc_irq_vectors(raw, 1, 1, messages | bindings::PCI_IRQ_INTX)
        };
        if n < 0 {
            return Err(Error::from_errno(n));
        }
        // SAFETY: There is a vector now.
        let (irq, msi) = unsafe {
            (
                bindings::pci_irq_vector(raw, 0),
                bindings::pci_irq_type(raw) == bindings::PCI_IRQ_MSI,
            )
        };
        let request = u32::try_from(irq)
            .map_err(|_| ENODEV)
            .and_then(|irq| Self::make(pdev, irq, msi, name, handler));
        request.inspect_err(|_| {
            // SAFETY: Allocated above, and not used.
            unsafe { bindings::pci_free_irq_vectors(raw) }
        })
    }

    fn make(
        pdev: &pci::Device<Bound>,
        irq: u32,
        msi: bool,
        name: &'static CStr,
        handler: Arc<T>,
    ) -> Result<Self> {
        let cookie = Arc::as_ptr(&handler).cast_mut();
        let request = Arc::pin_init(
            try_pin_init!(Request {
                pdev: pdev.into(),
                irq,
                kind: if msi { IrqKind::Msi } else { IrqKind::Intx },
                handler <- new_mutex!(None),
            }? Error),
            GFP_KERNEL,
        )?;
        let flags = if msi { 0 } else { bindings::IRQF_SHARED };
        let mut slot = request.handler.lock();
        // SAFETY: `name` is static. The handler is kept until the interrupt was freed.
        to_result(unsafe {
            bindings::request_threaded_irq(
                irq,
                Some(trampoline::<T>),
                None,
                flags as usize,
                name.as_char_ptr(),
                cookie.cast(),
            )
        })?;
        *slot = Some(handler);
        drop(slot);
        let this = Self(request.clone());
        if let Err(e) = end_with_bond(pdev, request) {
            // If devres did not take it, it was ended, with its vectors; freeing them again has no
            // effect.
            this.0.free_handler();
            return Err(e);
        }
        Ok(this)
    }

    /// Returns its kind.
    pub fn kind(&self) -> IrqKind {
        self.0.kind
    }

    /// Frees the interrupt, and drops the handler, which is not called any more when this returns.
    /// Sleeps; must not be called from the handler. Repeated calls have no effect.
    pub fn free(&self) {
        self.0.end();
    }
}

impl<T: IrqHandler> Request<T> {
    /// Frees the interrupt. Returns whether it was requested.
    fn free_handler(&self) -> bool {
        let mut slot = self.handler.lock();
        let Some(handler) = slot.take() else {
            return false;
        };
        let cookie = Arc::as_ptr(&handler).cast_mut();
        // SAFETY: Requested with this cookie. Waits for a running handler.
        unsafe { bindings::free_irq(self.irq, cookie.cast()) };
        drop(slot);
        drop(handler);
        true
    }
}

impl<T: IrqHandler> EndWithBond for Request<T> {
    fn end(&self) {
        if self.free_handler() {
            // SAFETY: Allocated by `Irq::request()`, and freed once.
            unsafe { bindings::pci_free_irq_vectors(raw_pci(&self.pdev)) }
        }
    }
}

impl<T: IrqHandler> Drop for Irq<T> {
    fn drop(&mut self) {
        self.free();
    }
}
