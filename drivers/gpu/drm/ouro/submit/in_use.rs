// SPDX-License-Identifier: GPL-2.0

//! A context in use: its image keeps its address as long as a request needs it, or an engine holds it.

use core::ops::Deref;
use kernel::{prelude::*, sync::Arc};
use ouro_hw::types::GgttAddr;

use super::Context;
use crate::gem::image::Image;

/// A context that a request runs in, or that an engine holds: its image stays where it is.
pub(crate) struct InUse {
    context: Arc<Context>,
    image: Option<Arc<Image>>,
}

impl InUse {
    /// A context, and its image if the engine wants one. Process context.
    ///
    /// Errors: those of finding room for the image: `ENOSPC`, `ENOMEM`.
    pub(crate) fn new(context: &Arc<Context>, image: Option<&Arc<Image>>) -> Result<Self> {
        if let Some(image) = image {
            image.pin()?;
        }
        Ok(Self {
            context: context.clone(),
            image: image.cloned(),
        })
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Where its image is, if it has one.
    pub(crate) fn image(&self) -> Option<GgttAddr> {
        self.image.as_ref()?.address()
    }
}

impl Clone for InUse {
    fn clone(&self) -> Self {
        if let Some(image) = &self.image {
            image.pin_again();
        }
        Self {
            context: self.context.clone(),
            image: self.image.clone(),
        }
    }
}

impl Deref for InUse {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(image) = &self.image {
            image.unpin();
        }
    }
}
