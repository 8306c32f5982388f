// SPDX-License-Identifier: GPL-2.0
//! Dwords written to the base 85, as an error state has its memory: five characters a dword, the
//! most significant first, 0x21 for the digit 0; `z` for a dword of zero
//! (`Documentation/gpu/ouro/error-state.rst`, "Memory").

/// Reads dwords up to the first character that cannot be one. The second value is true if that
/// was before the end.
pub fn dwords(text: &[u8]) -> (Vec<u32>, bool) {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        match rest {
            [] => return (out, false),
            [b'z', tail @ ..] => {
                out.push(0);
                rest = tail;
            }
            _ => {
                let Some(value) = rest.get(..5).and_then(five) else {
                    return (out, true);
                };
                out.push(value);
                rest = &rest[5..];
            }
        }
    }
}

fn five(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0u32, |sum, c| {
        let digit = c.checked_sub(0x21).filter(|d| *d < 85)?;
        sum.checked_mul(85)?.checked_add(u32::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        // 0x18800000 = 411041792 = 7*85^4 + 74*85^3 + 26*85^2 + 50*85 + 67.
        assert_eq!(dwords(b"(k;Sd"), (vec![0x1880_0000], false));
        assert_eq!(dwords(b"zz!!!!\""), (vec![0, 0, 1], false));
        // 2^32 - 1 = 82*85^4 + 23*85^3 + 54*85^2 + 12*85 + 0.
        assert_eq!(dwords(b"s8W-!"), (vec![0xffff_ffff], false));
        assert_eq!(dwords(b""), (vec![], false));
    }

    #[test]
    fn what_is_no_number_ends_it() {
        // One more than a dword holds; too short; a blank; a letter past the last digit.
        for bad in [&b"s8W-\""[..], b"!!!!", b"!! !!", b"~!!!!", b"!!!!v"] {
            let mut text = b"z".to_vec();
            text.extend_from_slice(bad);
            assert_eq!(dwords(&text), (vec![0], true), "{bad:?}");
        }
    }
}
