// SPDX-License-Identifier: GPL-2.0
//! Dwords as ASCII85: five characters each, or `z` for zero
//! (`Documentation/gpu/ouro/error-state.rst`).

/// Most characters of a dword.
pub const MAX: usize = 5;

/// Writes a dword; returns the number of characters.
pub fn encode(dword: u32, out: &mut [u8; MAX]) -> usize {
    if dword == 0 {
        out[0] = b'z';
        return 1;
    }
    let mut rest = dword;
    for digit in out.iter_mut().rev() {
        // A base-85 digit fits a byte, with room for the offset.
        *digit = b'!' + (rest % 85) as u8;
        rest /= 85;
    }
    MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(dword: u32) -> std::string::String {
        let mut out = [0; MAX];
        let n = encode(dword, &mut out);
        std::str::from_utf8(&out[..n]).unwrap().into()
    }

    #[test]
    fn dwords_become_digits() {
        assert_eq!(text(0), "z");
        assert_eq!(text(1), "!!!!\"");
        assert_eq!(text(84), "!!!!u");
        assert_eq!(text(85), "!!!\"!");
        // 85^4 and 4294967295 = 82*85^4 + 23*85^3 + 54*85^2 + 12*85 + 0.
        assert_eq!(text(52_200_625), "\"!!!!");
        assert_eq!(text(0xffff_ffff), "s8W-!");
        // The bytes "Man " in the order of a big-endian number, a well-known example.
        assert_eq!(text(0x4d61_6e20), "9jqo^");
    }
}
