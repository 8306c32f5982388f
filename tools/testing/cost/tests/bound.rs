// SPDX-License-Identifier: GPL-2.0
//! Much of everything does not make a submission dear.

use ouro_cost::cases::Case;
use std::io::ErrorKind;
use std::path::Path;

const MANY: u32 = 10_000;

/// A submission beside [`MANY`] takes less than `bound` times the instructions of one beside `few`. Nothing is
/// said where no process may look at another one.
fn grows_less(case: Case, few: u32, bound: f64) {
    let program = Path::new(env!("CARGO_BIN_EXE_ouro-cost"));
    let count = |n| match case.instructions(program, n) {
        Ok(instructions) => Some(instructions as f64),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            println!("# nothing can be counted here: {error}");
            None
        }
        Err(error) => panic!("{case:?}: {error}"),
    };
    let (Some(small), Some(large)) = (count(few), count(MANY)) else {
        return;
    };
    let name = case.name();
    println!("# {name}: {small} instructions beside {few}, {large} beside {MANY}");
    assert!(small > 100.0, "{name}: hardly anything was counted");
    assert!(large < bound * small, "{name}: {small} and {large}");
}

#[test]
fn objects() {
    grows_less(Case::Objects, 1, 2.0);
}

#[test]
fn contexts() {
    grows_less(Case::Contexts, 1, 2.0);
}

#[test]
fn clients() {
    grows_less(Case::Clients, 1, 2.0);
}

/// A list is full with ten.
#[test]
fn contexts_that_wait() {
    grows_less(Case::Waiting, 10, 2.0);
}

#[test]
fn clients_that_wait() {
    grows_less(Case::WaitingClients, 10, 2.0);
}

/// The logarithm of 10,000 is twice that of 100.
#[test]
fn holes() {
    grows_less(Case::Holes, 100, 2.5);
}
