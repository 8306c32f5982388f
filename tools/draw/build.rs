// SPDX-License-Identifier: GPL-2.0
//! Composes the picture, so that the guest need not.

use std::path::{Path, PathBuf};

/// The scene, for `picture::load`, and the picture for `picture::flat`.
fn compose(out: &Path) {
    let scene = ouro_scene::scene::Scene::compose().expect("the software blitter draws the scene");
    let bytes = scene.to_bytes().expect("a scene can be written as bytes");
    std::fs::write(out.join("scene.bin"), bytes).expect("OUT_DIR can be written");
    let flat = ouro_scene::flat::Flat::of(&scene.picture_alone());
    let flat = flat.expect("the software blitter draws the picture");
    let bytes = flat.to_bytes().expect("a picture can be written as bytes");
    std::fs::write(out.join("flat.bin"), bytes).expect("OUT_DIR can be written");
}

fn main() {
    compose(&PathBuf::from(
        std::env::var("OUT_DIR").expect("set by cargo"),
    ));
}
