// SPDX-License-Identifier: GPL-2.0

//! A context in use: its image and its directory keep their addresses as long as a request needs them, or an engine
//! holds them.

use core::ops::Deref;
use kernel::{prelude::*, sync::Arc};
use ouro_core::port::Edition;
use ouro_hw::types::GgttAddr;

use super::Context;
use crate::gem::{image::Image, root::Root};

/// A context that a request runs in, or that an engine holds: its image and its directory stay where they are.
pub(crate) struct InUse {
    context: Arc<Context>,
    image: Option<Arc<Image>>,
    root: Option<Arc<Root>>,
}

impl InUse {
    /// A context, its image if the engine wants one, and the directory of its space if that has one of its own.
    /// Process context.
    ///
    /// Errors: those of finding room for the two: `ENOSPC`, `ENOMEM`.
    pub(crate) fn new(
        context: &Arc<Context>,
        image: Option<&Arc<Image>>,
        root: Option<&Arc<Root>>,
    ) -> Result<Self> {
        let mut this = Self {
            context: context.clone(),
            image: None,
            root: None,
        };
        if let Some(image) = image {
            image.pin()?;
            this.image = Some(image.clone());
        }
        if let Some(root) = root {
            root.pin()?;
            this.root = Some(root.clone());
        }
        Ok(this)
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Where its image is, if it has one.
    pub(crate) fn image(&self) -> Option<GgttAddr> {
        self.image.as_ref()?.address()
    }

    /// Where the directory of its space is, and what an engine has to have loaded of it, if it has one of its own.
    pub(crate) fn directory(&self) -> Option<(GgttAddr, Edition)> {
        let root = self.root.as_ref()?;
        Some((root.slot()?, root.edition()))
    }
}

impl Clone for InUse {
    fn clone(&self) -> Self {
        if let Some(image) = &self.image {
            image.pin_again();
        }
        if let Some(root) = &self.root {
            root.pin_again();
        }
        Self {
            context: self.context.clone(),
            image: self.image.clone(),
            root: self.root.clone(),
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
        if let Some(root) = &self.root {
            root.unpin();
        }
    }
}
