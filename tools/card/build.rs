// SPDX-License-Identifier: GPL-2.0
//! Makes the Rust side of the kernel's own uAPI headers, by the `bindgen`
//! program: `drm/i915_drm.h` and `drm/radeon_drm.h` from the system, `ouro_drm.h` from the tree.
//! `BINDGEN` names another program, `BINDGEN_EXTRA_CLANG_ARGS` more folders.

use std::path::PathBuf;
use std::process::{exit, Command};

/// What is taken of the headers: our part and what it needs.
const ALLOW: &[(&str, &str)] = &[
    (
        "--allowlist-type",
        "drm_(i915|radeon|ouro|syncobj|version|gem_close|prime)_?.*",
    ),
    (
        "--allowlist-var",
        "(DRM_COMMAND_BASE|DRM_I915_.*|DRM_RADEON_.*|RADEON_.*|DRM_OURO_.*|DRM_SYNCOBJ_.*|I915_.*|EXEC_OBJECT_.*)",
    ),
];

fn main() {
    let top =
        PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..");
    let ours = top.join("include/uapi/drm/ouro_drm.h");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo"));
    let header = out.join("headers.h");
    println!("cargo::rerun-if-changed={}", ours.display());
    println!("cargo::rerun-if-env-changed=BINDGEN");
    println!("cargo::rerun-if-env-changed=BINDGEN_EXTRA_CLANG_ARGS");

    let text = format!(
        "#include <drm/i915_drm.h>\n#include <drm/radeon_drm.h>\n#include \"{}\"\n",
        ours.display()
    );
    std::fs::write(&header, text).expect("OUT_DIR can be written");

    let program = std::env::var("BINDGEN").unwrap_or_else(|_| "bindgen".into());
    let mut command = Command::new(&program);
    command.arg(&header).arg("-o").arg(out.join("uapi.rs"));
    command.args([
        "--no-doc-comments",
        "--no-layout-tests",
        "--with-derive-default",
    ]);
    for (option, value) in ALLOW {
        command.args([option, value]);
    }
    // ouro_drm.h includes "drm.h" as it does where both are installed.
    command.args(["--", "-I/usr/include/drm", "-iquote", "/usr/include/drm"]);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(_) => {
            println!("cargo::error=bindgen failed: are the kernel's headers (package linux-libc-dev) installed?");
            exit(1);
        }
        Err(error) => {
            println!("cargo::error=cannot run {program}: {error} (package bindgen)");
            exit(1);
        }
    }
}
