// SPDX-License-Identifier: GPL-2.0

//! The user space interfaces that the driver answers, as bindgen reads them from the kernel's
//! `include/uapi/drm/{i915,radeon}_drm.h` and from our `include/uapi/drm/ouro_drm.h`.
//!
//! Every `DRM_IOCTL_*` number is a constant of its module. All structures are plain numbers: each
//! bit pattern is a value, and the derives of `zerocopy` prove it (`FromBytes`). Of those that the
//! driver writes as a whole, `ouro-uapi-out` of the driver's Makefile, they prove that there are no
//! hidden padding bytes that could carry kernel memory to user space (`IntoBytes`).

#![allow(
    clippy::all,
    clippy::as_underscore,
    clippy::cast_lossless,
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    improper_ctypes,
    unused_imports,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    unnecessary_transmutes
)]

/// A module with what bindgen made of one header.
macro_rules! header {
    ($(#[$doc:meta])* $name:ident, $file:literal) => {
        $(#[$doc])*
        pub mod $name {
            use kernel::ffi;
            use pin_init::MaybeZeroable;
            use zerocopy_derive::{FromBytes, Immutable, IntoBytes};
            type __kernel_size_t = usize;
            type __kernel_ssize_t = isize;
            type __kernel_ptrdiff_t = isize;
            include!(concat!(env!("OURO_OBJ"), "/ouro_uapi/", $file));
        }
    };
}

header!(
    /// `include/uapi/drm/i915_drm.h` of the kernel.
    i915,
    "i915_generated.rs"
);
header!(
    /// `include/uapi/drm/radeon_drm.h` of the kernel.
    radeon,
    "radeon_generated.rs"
);
header!(
    /// `include/uapi/drm/ouro_drm.h` of this driver.
    ouro,
    "ouro_generated.rs"
);
