// SPDX-License-Identifier: GPL-2.0
//! The picture: a client that draws through the ioctls of an ouro device.
//!
//! * [`picture`] has the scene: buffers, blitter commands, stores.
//! * [`device`] has the GPU run everything.
//! * [`report`] says what was compared and what it cost.

#![warn(missing_docs)]

pub mod device;
pub mod report;

/// The scene that was composed when this program was built.
pub mod picture {
    use anyhow::{Context, Result};
    use ouro_scene::flat::Flat;
    use ouro_scene::scene::{Manner, Scene};

    /// What three rings store by, or their like.
    const BY_ENGINES: [&str; 6] = [
        "rcs dword",
        "rcs qword",
        "rcs pipe",
        "rcs global",
        "bcs flush",
        "vcs flush",
    ];
    /// What Gen4's render ring does, which carries the blitter's commands.
    const BY_RENDER: [&str; 6] = [
        "rcs blit",
        "rcs pipe",
        "rcs pipe",
        "rcs global",
        "rcs pipe",
        "rcs pipe",
    ];
    /// A 2D engine alone: all icons are filled.
    const BY_FILLS: [&str; 6] = ["2d fill"; 6];

    /// How a chip draws the picture, for its heading.
    fn manner(chip: &str) -> Manner {
        let (how, captions) = match chip {
            "Sandy Bridge" | "Ivy Bridge" => ("drawn by three rings", BY_ENGINES),
            _ if chip.starts_with("DG2") || chip.starts_with("ATS-M") => {
                ("drawn by lists of contexts", BY_ENGINES)
            }
            _ if is_gen4(chip) => ("drawn by one ring", BY_RENDER),
            _ => ("drawn by one ring", BY_FILLS),
        };
        Manner { how, captions }
    }

    /// Whether it is a chip of Gen4, by its name.
    fn is_gen4(chip: &str) -> bool {
        const NAMES: [&str; 11] = [
            "946GZ", "G35", "965Q", "965G", "965GM", "965GME", "G45", "Q45", "G41", "B43", "GM45",
        ];
        NAMES.contains(&chip)
    }

    /// A chip's name, for the heading: without what its size and its package are called.
    pub fn chip(name: &str) -> &str {
        name.split(" GT").next().unwrap_or(name)
    }

    /// The chip of a model, as far as is known of it before a driver has looked.
    pub fn chip_of_model(name: &str) -> String {
        match name {
            "snb" => "Sandy Bridge".to_owned(),
            "ivb" => "Ivy Bridge".to_owned(),
            "g965" => "965G".to_owned(),
            "gm965" => "965GM".to_owned(),
            _ => name.to_uppercase(),
        }
    }

    /// The scene as a chip draws it: what the build left, with its heading.
    pub fn load(chip: &str) -> Result<Scene> {
        let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/scene.bin"));
        let mut scene = Scene::from_bytes(bytes).context("the scene in this program")?;
        scene.entitle(chip, &manner(chip));
        Ok(scene)
    }

    /// The picture of a scene, for a blitter that fills and copies alone: what the build left, with the
    /// scene's heading.
    pub fn flat(scene: &Scene) -> Result<Flat> {
        let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/flat.bin"));
        let mut flat = Flat::from_bytes(bytes).context("the flat picture in this program")?;
        flat.entitle(scene).context("the heading")?;
        Ok(flat)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn each_chip_has_a_picture_of_its_own() {
            let head = |chip: &str| {
                let scene = load(chip).expect("composed").heading_alone();
                scene.expected().expect("drawn").buffers.swap_remove(0)
            };
            let chips = [
                chip("Sandy Bridge GT2 mobile").to_owned(),
                chip("RV515").to_owned(),
                chip_of_model("dg2"),
            ];
            assert_eq!(chips, ["Sandy Bridge", "RV515", "DG2"]);
            assert_eq!(chip_of_model("snb"), chips[0]);
            assert_eq!(chip_of_model("ivb"), chip("Ivy Bridge GT2 desktop"));
            let heads = chips.each_ref().map(|c| head(c));
            assert!(heads[0] != heads[1] && heads[1] != heads[2] && heads[0] != heads[2]);
            assert!(heads.iter().all(|h| h.iter().any(|byte| *byte != 0)));
        }

        #[test]
        fn captions_name_engines_that_the_chip_has() {
            // Gen4 has no blitter's ring, and its video engine lets no user's batch store (G45 PRM Vol 1b §1.5.2).
            for gen4 in [
                "946GZ", "G35", "965G", "965GM", "965GME", "G45", "Q45", "GM45",
            ] {
                let manner = manner(chip(gen4));
                assert!(
                    manner.captions.iter().all(|c| c.starts_with("rcs ")),
                    "{gen4}"
                );
                assert_eq!(manner.how, "drawn by one ring");
            }
            assert!(manner("Sandy Bridge").captions.contains(&"vcs flush"));
            assert!(manner("RV515").captions.iter().all(|c| *c == "2d fill"));
        }
    }
}
