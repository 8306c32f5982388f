// SPDX-License-Identifier: GPL-2.0
//! Opens a render node and says what device it is: `hello [/dev/dri/renderD128]`. It works on every chip.

use ouro_examples::{uapi::*, Device};
use std::{error::Error, ffi::CStr};

/// The text in an array of the kernel's.
fn text(bytes: &[i8]) -> String {
    let bytes: Vec<u8> = bytes.iter().map(|b| b.cast_unsigned()).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::new(), |s| s.to_string_lossy().into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "/dev/dri/renderD128".into());
    let device = Device::open(&path)?;

    let mut name = [0i8; 16];
    let mut version = drm_version {
        name: name.as_mut_ptr(),
        name_len: 15,
        ..Default::default()
    };
    device.call(&mut version)?;
    println!("{path} speaks the {} interface", text(&name));

    // Other drivers have no such ioctl: this is how to tell ouro from them.
    let mut what = drm_ouro_device::default();
    if device.call(&mut what).is_err() {
        return Err("it is not ouro".into());
    }
    println!(
        "{} ({}), PCI {:04x}:{:04x}, addresses of {} bits",
        text(&what.chip),
        text(&what.backend),
        what.pci_vendor,
        what.pci_device,
        what.gpu_address_bits
    );

    let mut engines = vec![drm_ouro_engine::default(); 64];
    let mut list = drm_ouro_list {
        ptr: engines.as_mut_ptr() as u64,
        count: engines.len() as u32,
        stride: size_of::<drm_ouro_engine>() as u32,
    };
    device.call(&mut list)?;
    for engine in engines.iter().take(list.count as usize) {
        let (completed, submitted) = (engine.completed, engine.submitted);
        println!(
            "{}: {completed} of {submitted} requests completed",
            text(&engine.name)
        );
    }
    Ok(())
}
