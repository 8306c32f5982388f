// SPDX-License-Identifier: GPL-2.0
//! Each target with some hundreds of random inputs.

use ouro_fuzz::target;
use proptest::prelude::*;

macro_rules! bounded {
    ($($name:ident)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
                    let name = stringify!($name).replace('_', "-");
                    let target = target(&name).expect("in the list");
                    (target.run)(&bytes);
                }
            )*
        }

        #[test]
        fn every_target_is_here() {
            let here = [$(stringify!($name).replace('_', "-")),*];
            let all: Vec<_> = ouro_fuzz::TARGETS.iter().map(|t| t.name).collect();
            assert_eq!(all, here);
        }
    };
}

bounded!(backend checker decode encoders gen7_copies gen7_parser hang lists model ports posts ranges streams values);
