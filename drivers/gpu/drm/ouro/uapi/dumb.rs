// SPDX-License-Identifier: GPL-2.0

//! Dumb buffers (`DRM_IOCTL_MODE_CREATE_DUMB`, `MAP_DUMB`): BOs in system memory, mapped
//! write-combined. The same on every chip.

use kernel::prelude::*;
use ouro_kernel::drm::dumb::{Buffer, Picture};

use crate::{
    device::{Device, DrmFile},
    gem::{
        bo::{self, kind},
        region::Placements,
        Object,
    },
};

/// Alignment of rows in bytes.
const PITCH_ALIGN: u32 = 64;

/// Creates a BO for a picture, and a handle for it. `picture.bits` is rounded up to whole bytes;
/// rows are aligned to [`PITCH_ALIGN`].
///
/// Errors: `EINVAL` for pixels of other sizes than one, two or four bytes, and for a picture beyond
/// 32 bits; those of creating BOs and handles.
pub(crate) fn create(dev: &Device, file: &DrmFile, picture: Picture) -> Result<Buffer> {
    let bytes = picture.bits.div_ceil(8);
    if !matches!(bytes, 1 | 2 | 4) {
        return Err(EINVAL);
    }
    let row = picture.width.checked_mul(bytes).ok_or(EINVAL)?;
    let pitch = row.checked_next_multiple_of(PITCH_ALIGN).ok_or(EINVAL)?;
    let size = u64::from(pitch) * u64::from(picture.height);
    let object = bo::create(dev, size, 1, Placements::system())?;
    Ok(Buffer {
        handle: object.create_handle(file)?,
        pitch,
        size: object.bytes(),
    })
}

/// Returns the `mmap` offset of a dumb buffer.
///
/// Errors: `ENOENT` for an unknown handle; `EINVAL` for a userptr or an imported BO.
pub(crate) fn offset(file: &DrmFile, handle: u32) -> Result<u64> {
    let object = Object::lookup(file, handle)?;
    if object.user().is_some() || object.attachment().is_some() {
        return Err(EINVAL);
    }
    object.mmap_offset(kind::WRITE_COMBINED)
}
