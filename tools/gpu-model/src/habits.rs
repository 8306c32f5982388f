// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Quirks of real cards, each enabled by name (`--real`).

/// A habit that a model has not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("habit {name:?}: expected \"all\", or some of {known} with commas between")]
pub struct ParseRealError {
    /// What was asked for.
    pub name: String,
    /// The names that there are, with commas between.
    pub known: String,
}

/// Declares the habits of a model: a structure of switches, which is read from their names with commas
/// between (`"all"` for all of them, `""` for none) and is written in the same way.
#[macro_export]
macro_rules! habits {
    (
        $(#[$about:meta])*
        $vis:vis struct $Real:ident {
            $($(#[$says:meta])* $name:ident,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $vis struct $Real {
            $($(#[$says])* pub $name: bool,)*
        }

        impl $Real {
            /// The names of all habits.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// A device with all of them.
            pub fn all() -> Self {
                Self { $($name: true,)* }
            }
        }

        impl std::str::FromStr for $Real {
            type Err = $crate::habits::ParseRealError;

            fn from_str(s: &str) -> Result<Self, Self::Err> {
                let mut on = Vec::new();
                for name in s.split(',').filter(|n| !n.is_empty()) {
                    match Self::NAMES.iter().find(|known| **known == name) {
                        Some(name) => on.push(*name),
                        None if name == "all" => on.extend(Self::NAMES),
                        None => {
                            return Err($crate::habits::ParseRealError {
                                name: name.to_owned(),
                                known: Self::NAMES.join(", "),
                            })
                        }
                    }
                }
                Ok(Self { $($name: on.contains(&stringify!($name)),)* })
            }
        }

        impl std::fmt::Display for $Real {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let on: &[(&str, bool)] = &[$((stringify!($name), self.$name)),*];
                let names: Vec<&str> = on.iter().filter(|h| h.1).map(|h| h.0).collect();
                f.write_str(&names.join(","))
            }
        }
    };
}
