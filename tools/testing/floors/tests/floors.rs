// SPDX-License-Identifier: GPL-2.0

//! The driver's tree keeps its floors; and what would not is found.

use ouro_floors::{check, look, Fault};
use std::path::Path;

#[test]
fn the_tree_keeps_its_floors() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let wrong = check(&top).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn up(file: &str, text: &str) -> Vec<String> {
    let up = |fault| match fault {
        Fault::Up(path) => Some(path),
        _ => None,
    };
    let found = look(file, text).into_iter();
    found.filter_map(|finding| up(finding.fault)).collect()
}

fn names(file: &str, text: &str) -> Vec<String> {
    let name = |fault| match fault {
        Fault::Name(name) => Some(name),
        _ => None,
    };
    let found = look(file, text).into_iter();
    found.filter_map(|finding| name(finding.fault)).collect()
}

#[test]
fn an_import_that_goes_up_is_found_however_it_is_written() {
    for (file, text, found) in [
        ("vm/space.rs", "use crate::gem::Bo;", "gem::Bo"),
        (
            "vm/space.rs",
            "use crate::{gem, hardware::Hardware};",
            "gem",
        ),
        (
            "gem/bo.rs",
            "use crate::{\n    hardware::Hardware,\n    submit::{retire::{self, Retirer}},\n};",
            "submit::retire",
        ),
        (
            "gem/bo.rs",
            "use super::super::submit::Engine as E;",
            "submit::Engine",
        ),
        ("gem/view/mod.rs", "use super::super::gpu::Gpu;", "gpu::Gpu"),
        (
            "submit/retire.rs",
            "fn f(r: &crate::reset::Recovery) {}",
            "reset::Recovery",
        ),
        ("reset/mod.rs", "use super::uapi::i915;", "uapi::i915"),
        (
            "uapi/mod.rs",
            "mod inner { use super::super::driver; }",
            "driver",
        ),
        (
            "hardware.rs",
            "fn f() { super::vm::space::g() }",
            "vm::space::g",
        ),
    ] {
        let paths = up(file, text);
        assert!(
            paths.iter().any(|path| path == found),
            "{file}: {text}: {paths:?}"
        );
    }
}

#[test]
fn an_import_from_the_same_floor_or_below_is_fine() {
    for (file, text) in [
        (
            "gem/bo.rs",
            "use super::{bind, view::Tiled};\nuse crate::{hardware::Hardware, vm::Place};",
        ),
        (
            "gem/view/mod.rs",
            "use super::{bind, contents};\nuse super::super::vm::Space;",
        ),
        ("look.rs", "use crate::hardware::{errno, Hardware};"),
        ("hardware.rs", "use crate::look::Look;"),
        (
            "submit/mod.rs",
            "pub(crate) mod exec;\npub(crate) use exec::Exec;",
        ),
        ("driver.rs", "use crate::{gpu::Gpu, uapi::ouro};"),
        (
            "reset/mod.rs",
            "fn f() -> u32 { crate::module_parameters::hang_ms.value() }",
        ),
        ("vm/mod.rs", "mod tests { use super::*; }"),
    ] {
        assert_eq!(up(file, text), Vec::<String>::new(), "{file}: {text}");
    }
}

#[test]
fn what_is_not_code_counts_for_nothing() {
    let text = "//! See [`driver`](crate::driver).\n/* crate::uapi */ fn f<'a>() { g(\"crate::gpu\", '\"', 'x') }";
    assert_eq!(up("vm/mod.rs", text), Vec::<String>::new());
    assert_eq!(
        names("vm/mod.rs", "// as SNB PRM V1P2 has it\nfn f() {}"),
        Vec::<String>::new()
    );
}

#[test]
fn a_file_on_no_floor_is_found() {
    let found = look("attic.rs", "");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].fault, Fault::Homeless);
}

#[test]
fn a_generation_or_a_maker_is_found_in_names_and_strings() {
    for (text, name) in [
        ("use ouro_hw::gen6;", "gen6"),
        ("fn snb_only() {}", "snb"),
        ("struct RadeonStream;", "radeon"),
        ("if name == \"dg2\" {}", "dg2"),
        ("const IS_INTEL: bool = true;", "intel"),
        ("enum Uapi { I915 }", "i915"),
    ] {
        assert_eq!(names("submit/exec.rs", text), [name], "{text}");
    }
    for text in [
        "fn generation() {}",
        "let relative = creation;",
        "let sandbox = 4500;",
    ] {
        assert_eq!(
            names("submit/exec.rs", text),
            Vec::<String>::new(),
            "{text}"
        );
    }
}
