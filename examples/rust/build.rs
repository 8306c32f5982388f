// SPDX-License-Identifier: GPL-2.0
//! Has bindgen translate the headers. `HEADERS` is a folder of the kernel's, if not that of the system; `BINDGEN` is
//! the program, if it has another name.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=uapi.h");
    println!("cargo::rerun-if-env-changed=HEADERS");
    println!("cargo::rerun-if-env-changed=BINDGEN");
    let out = env::var("OUT_DIR").expect("Cargo gives a folder");
    let bindgen = env::var("BINDGEN").unwrap_or_else(|_| "bindgen".into());
    let headers = env::var("HEADERS").unwrap_or_else(|_| "/usr/include".into());
    // As the kernel installs them the one header of DRM includes the other as "drm.h".
    let inner = if Path::new(&headers).join("libdrm").is_dir() {
        "libdrm"
    } else {
        "drm"
    };
    let made = Command::new(&bindgen)
        .args(["uapi.h", "--output"])
        .arg(Path::new(&out).join("uapi.rs"))
        .args(["--with-derive-default", "--no-layout-tests"])
        .args(["--allowlist-file", r".*/(drm|i915_drm|ouro_drm)\.h"])
        .args(["--", "-I../../include/uapi", "-isystem", &headers])
        .arg(format!("-isystem{headers}/{inner}"))
        .status();
    match made {
        Ok(status) if status.success() => {}
        Ok(_) => panic!("{bindgen} failed: are the kernel's headers in {headers}?"),
        Err(error) => panic!("{bindgen}: {error} (package bindgen, or cargo install bindgen-cli)"),
    }
}
