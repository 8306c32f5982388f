// SPDX-License-Identifier: GPL-2.0

//! Keeps the error state until it is read and cleared, and passes it to devcoredump.

use kernel::{
    impl_has_work, new_mutex, new_work,
    prelude::*,
    sync::{Arc, Mutex},
    workqueue::{self, Work, WorkItem},
};
use ouro_kernel::{coredump, pci::DmaDevice, work};

use super::{state::ErrorState, text};
use crate::hardware::Hardware;

/// The text if there is no error state.
const NOTHING: &[u8] = b"No error state collected\n";

/// The text of an error state.
struct Rendered {
    of: Arc<ErrorState>,
    text: VVec<u8>,
}

/// The first error state, until it is cleared.
#[pin_data]
pub(crate) struct Errors {
    hardware: Arc<Hardware>,
    dma: Arc<DmaDevice>,
    /// Taken while fences wait: nothing may be allocated under it.
    #[pin]
    state: Mutex<Option<Arc<ErrorState>>>,
    /// Rendered at the first read, and kept for the following ones.
    #[pin]
    text: Mutex<Option<Rendered>>,
    #[pin]
    dump: Work<Errors>,
}

impl_has_work! {
    impl HasWork<Errors> for Errors { self.dump }
}

impl WorkItem for Errors {
    type Pointer = Arc<Errors>;

    fn run(this: Arc<Errors>) {
        let state = this.state.lock().clone();
        if let Some(state) = state {
            if let Ok(text) = text::render(&state, &this.hardware) {
                coredump::emit(this.dma.device(), text);
            }
        }
    }
}

impl Errors {
    pub(super) fn new(hardware: Arc<Hardware>, dma: Arc<DmaDevice>) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                hardware,
                dma,
                state <- new_mutex!(None, "ouro_error_state"),
                text <- new_mutex!(None, "ouro_error_text"),
                dump <- new_work!("ouro_dump"),
            }),
            GFP_KERNEL,
        )
    }

    /// Returns whether there is no error state, so that the next one is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().is_none()
    }

    /// Keeps an error state if there is none yet.
    pub(super) fn keep(self: &Arc<Self>, state: Arc<ErrorState>) {
        let mut kept = self.state.lock();
        if kept.is_none() {
            *kept = Some(state);
            drop(kept);
            let _ = workqueue::system_unbound().enqueue(self.clone());
        }
    }

    /// Ends devcoredumps. Sleeps.
    pub(super) fn end(self: &Arc<Self>) {
        work::cancel_sync::<Self, 0>(self);
    }

    /// Copies a part of the text; returns its length.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let mut rendered = self.text.lock();
        let state = self.state.lock().clone();
        let text: &[u8] = match state {
            None => NOTHING,
            Some(state) => {
                let known = matches!(&*rendered, Some(r) if Arc::ptr_eq(&r.of, &state));
                if !known {
                    *rendered = None;
                    let text = text::render(&state, &self.hardware)?;
                    *rendered = Some(Rendered { of: state, text });
                }
                rendered.as_ref().map_or(NOTHING, |r| &r.text)
            }
        };
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|at| text.get(at..))
            .unwrap_or(&[]);
        let n = rest.len().min(out.len());
        for (to, from) in out.iter_mut().zip(rest) {
            *to = *from;
        }
        Ok(n)
    }

    /// Drops the error state; the next one is kept.
    pub(crate) fn clear(&self) {
        let mut rendered = self.text.lock();
        let state = self.state.lock().take();
        *rendered = None;
        drop(rendered);
        drop(state);
    }
}
