// SPDX-License-Identifier: GPL-2.0

//! Raw declarations: the functions of `helpers.h`, by bindgen. The types are those of
//! `kernel::bindings`, so that both can be mixed; the few that the kernel crate does not have are
//! opaque here.

#![allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    improper_ctypes,
    missing_docs,
    non_camel_case_types,
    unreachable_pub,
    dead_code
)]

use kernel::bindings::*;
use kernel::ffi;

/// Types of which only pointers are used.
macro_rules! opaque {
    ($($name:ident),*) => {$(
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
        }
    )*};
}
opaque!(dma_fence_array, dma_fence_chain, drm_syncobj, sync_file);

include!(concat!(
    env!("OURO_OBJ"),
    "/ouro_kernel/helpers_generated.rs"
));
