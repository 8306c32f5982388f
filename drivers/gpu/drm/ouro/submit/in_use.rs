// SPDX-License-Identifier: GPL-2.0

//! A context in use: its image and its directory are pinned in the GGTT while a request needs them,
//! or an engine has them loaded.

use core::ops::Deref;
use kernel::{prelude::*, sync::Arc};
use ouro_core::port::Edition;
use ouro_hw::types::GgttAddr;

use super::Context;
use crate::gem::{image::Image, root::Root};

/// A context that a request runs in, or that an engine has loaded, with its image and directory
/// pinned.
pub(crate) struct InUse {
    context: Arc<Context>,
    image: Option<Arc<Image>>,
    root: Option<Arc<Root>>,
}

impl InUse {
    /// Pins a context's image, if the engine uses one, and the directory of its space, if that has
    /// one of its own. Process context.
    ///
    /// Errors: `ENOSPC` or `ENOMEM` if there is no room for the two.
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

    /// Returns the context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Returns the GGTT address of its image, if it has one.
    pub(crate) fn image(&self) -> Option<GgttAddr> {
        self.image.as_ref()?.address()
    }

    /// Returns the GGTT slot of its directory, and the version that an engine must have loaded;
    /// `None` if it has no directory of its own.
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
