// SPDX-License-Identifier: GPL-2.0
//! The module parameters `probe=`, which selects the devices that the driver may bind, and
//! `stop_after=`, which ends bring-up after a step.

use core::fmt;

/// A word of a parameter that cannot be parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unknown<'a>(pub &'a str);

/// Returns whether `probe=` names a device: by `*`, or by its PCI id as in `8086:0126` (hexadecimal
/// digits). Several ids are separated by commas. An empty list names no device.
///
/// Errors: the first word that is neither, even after one that names the device.
pub fn names(list: &str, vendor: u16, device: u16) -> Result<bool, Unknown<'_>> {
    let mut named = false;
    for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        named |= match word {
            "*" => true,
            _ => id(word).ok_or(Unknown(word))? == (vendor, device),
        };
    }
    Ok(named)
}

/// Parses a vendor and a device id, of up to four hexadecimal digits each.
fn id(word: &str) -> Option<(u16, u16)> {
    let (vendor, device) = word.split_once(':')?;
    let number = |digits: &str| {
        // `from_str_radix` accepts a sign, which an id does not have.
        let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u16::from_str_radix(digits, 16).ok().filter(|_| plain)
    };
    Some((number(vendor)?, number(device)?))
}

/// The steps of bring-up, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// The device was woken and probed. A display that the firmware lit is still on.
    Probe,
    /// The device was reset and set up; the GGTT is written and read back.
    Table,
    /// The engines are started, and have had no request.
    Ring,
    /// Each engine has completed a request.
    Request,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Step; 4] = [Step::Probe, Step::Table, Step::Ring, Step::Request];

    /// Parses `stop_after=`; `None` if it is empty.
    ///
    /// Errors: the word, if it names no step.
    pub fn named(word: &str) -> Result<Option<Step>, Unknown<'_>> {
        let word = word.trim();
        if word.is_empty() {
            return Ok(None);
        }
        let step = Step::ALL.into_iter().find(|step| step.name() == word);
        step.map(Some).ok_or(Unknown(word))
    }

    /// Returns the step's name.
    pub const fn name(self) -> &'static str {
        match self {
            Step::Probe => "probe",
            Step::Table => "table",
            Step::Ring => "ring",
            Step::Request => "request",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_bound_when_it_is_named() {
        for (list, named) in [
            ("", false),
            (",, ,", false),
            ("*", true),
            ("8086:0126", true),
            ("8086:126", true),
            ("8086:0116", false),
            ("1002:0126", false),
            ("1002:7146, 8086:0126", true),
            ("8086:0126\n", true),
            ("8086:0116,*", true),
        ] {
            assert_eq!(names(list, 0x8086, 0x0126), Ok(named), "{list:?}");
        }
    }

    #[test]
    fn a_word_that_is_no_id_is_an_error() {
        for (list, word) in [
            ("8086", "8086"),
            ("8086:", "8086:"),
            (":0126", ":0126"),
            ("8086:0126:0", "8086:0126:0"),
            ("8086:10126", "8086:10126"),
            ("+8086:0126", "+8086:0126"),
            ("0x8086:0126", "0x8086:0126"),
            ("8086:0126,all", "all"),
            ("snb", "snb"),
        ] {
            assert_eq!(names(list, 0x8086, 0x0126), Err(Unknown(word)), "{list:?}");
        }
    }

    #[test]
    fn steps_have_names_and_an_order() {
        assert_eq!(Step::named(""), Ok(None));
        assert_eq!(Step::named("table\n"), Ok(Some(Step::Table)));
        assert_eq!(Step::named("tables"), Err(Unknown("tables")));
        for step in Step::ALL {
            assert_eq!(Step::named(step.name()), Ok(Some(step)));
        }
        assert!(Step::Probe < Step::Table && Step::Table < Step::Ring);
        assert!(Step::Ring < Step::Request);
    }
}
