// SPDX-License-Identifier: GPL-2.0 OR MIT
//! How properties of the shaders are run.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

/// Runs a property over as many cases, which are the same each time; `OURO_CASES=n` takes n times as many others.
pub fn check<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value) -> TestCaseResult) {
    let times: Option<u32> = std::env::var("OURO_CASES")
        .ok()
        .and_then(|v| v.parse().ok());
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::with_cases(cases.saturating_mul(times.unwrap_or(1)))
    };
    let mut runner = match times {
        Some(_) => TestRunner::new(config),
        None => {
            let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            TestRunner::new_with_rng(config, rng)
        }
    };
    runner.run(strategy, test).unwrap_or_else(|e| panic!("{e}"));
}
