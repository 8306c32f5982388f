// SPDX-License-Identifier: GPL-2.0
//! Numbers of these texts, and the three ways in which they have memory: an offset and a dword a line, dwords to the
//! base 85, and the same of a stream deflated by zlib.

use crate::digits;
use std::io::Read;

/// Dwords that are filled with zeros where lines are missing; more of them is another mistake.
const GAP: u64 = 1 << 16;

/// The first number of a text: hexadecimal with `0x`, or decimal. Two dwords that follow each other, or are joined by
/// `_`, are one number, the upper first. What stands in brackets behind is another matter.
pub fn value(text: &str) -> Option<u64> {
    let text = text.trim().trim_start_matches("(memory)").trim_start();
    let Some(rest) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) else {
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        return text[..end].parse().ok();
    };
    let hex = |t: &str| {
        let end = t.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(t.len());
        Some((u64::from_str_radix(&t[..end], 16).ok()?, end))
    };
    let (first, end) = hex(rest)?;
    let rest = &rest[end..];
    let below = rest.strip_prefix('_').or_else(|| rest.strip_prefix(' '));
    let below = below.map(|t| t.strip_prefix("0x").unwrap_or(t));
    match below.and_then(hex) {
        // Of eight digits each: an address.
        Some((low, 8)) if end == 8 => Some(first << 32 | low),
        _ => Some(first),
    }
}

/// A dword without `0x`, of eight digits.
fn dword(text: &str) -> Option<u32> {
    (text.len() == 8).then(|| u32::from_str_radix(text, 16).ok())?
}

/// A line of a copy: where it stands, and what is there. `0000001c :  6904000` has one dword, `[0010] ...` has four.
pub fn row(line: &str) -> Option<(u64, Vec<u32>)> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix('[') {
        let (offset, rest) = rest.split_once(']')?;
        let offset = u64::from_str_radix(offset, 16).ok()?;
        let all: Option<Vec<u32>> = rest.split_ascii_whitespace().map(dword).collect();
        return Some((offset, all.filter(|a| !a.is_empty())?));
    }
    let (offset, rest) = line.split_once(':')?;
    let offset = u64::from(dword(offset.trim_end())?);
    Some((offset, vec![dword(rest.trim())?]))
}

/// A line of another decoder's output: `0x10c53000:      0x69040000: PIPELINE_SELECT`, also with a mark before it.
pub fn decoded(line: &str) -> Option<(u64, u32)> {
    let from = line.find("0x")?;
    let (address, rest) = line[from..].split_once(':')?;
    let (value, _) = rest.trim_start().split_once(':')?;
    let value = value.strip_prefix("0x").filter(|v| v.len() == 8)?;
    let address = address.replace('_', "");
    let address = u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()?;
    Some((address, u32::from_str_radix(value, 16).ok()?))
}

/// Appends a line to a copy. A gap is filled with zeros; the reason is returned if something is missing or twice.
pub fn append(dwords: &mut Vec<u32>, (offset, mut row): (u64, Vec<u32>)) -> Result<(), String> {
    let next = dwords.len() as u64 * 4;
    // The first kernels counted anew in each page.
    let anew = offset == next & 0xfff && offset < 0x1000;
    if offset == next || anew {
        dwords.append(&mut row);
        return Ok(());
    }
    if offset < next || offset % 4 != 0 {
        return Err(format!("the line of offset {offset:#x} is out of order"));
    }
    let missing = (offset - next) / 4;
    if missing <= GAP {
        let place = usize::try_from(offset / 4).unwrap_or(0);
        dwords.resize(place, 0);
        dwords.append(&mut row);
    }
    Err(format!(
        "{missing} dwords before offset {offset:#x} are missing"
    ))
}

/// Dwords to the base 85 behind a mark: `~` as they are, `:` deflated, none for those of xe. At most `most` bytes are
/// inflated: what is posted may be made to be huge.
pub fn packed(line: &str, most: u64) -> (Vec<u32>, Option<String>) {
    let (mark, text) = match line.as_bytes() {
        [b':', ..] => (true, &line[1..]),
        [b'~', ..] => (false, &line[1..]),
        _ => (false, line),
    };
    let text = text.trim();
    let (all, cut) = digits::dwords(text.as_bytes());
    let cut = cut.then(|| {
        format!(
            "the text ends in a character that is no digit, after {} dwords",
            all.len()
        )
    });
    if !mark {
        return (all, cut);
    }
    let bytes: Vec<u8> = all.iter().flat_map(|d| d.to_le_bytes()).collect();
    let mut out = Vec::new();
    let mut reader = flate2::read::ZlibDecoder::new(&bytes[..]).take(most);
    let end = reader.read_to_end(&mut out);
    let dwords: Vec<u32> = out
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect();
    let bad = end.err().map(|e| {
        format!(
            "the compressed text ends in error after {} dwords: {e}",
            dwords.len()
        )
    });
    (dwords, cut.or(bad))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("0x0000e200", Some(0xe200)),
            ("0x00000001 062058cc", Some(0x1_0620_58cc)),
            ("0x00000001_00000040", Some(0x1_0000_0040)),
            ("0x00000000 0x10c56560", Some(0x10c5_6560)),
            ("0x062058cc [0x00005870]", Some(0x0620_58cc)),
            ("0x00005bf0 [0x000058f8, 0x00005920]", Some(0x5bf0)),
            ("0x0000403980010000", Some(0x4039_8001_0000)),
            ("17", Some(17)),
            ("(memory) 632", Some(632)),
            ("632, (memory) 640", Some(632)),
            ("yes", None),
            ("0x", None),
            ("", None),
            ("0x11112222333344445555", None),
        ] {
            assert_eq!(value(text), expected, "{text:?}");
        }
    }

    #[test]
    fn rows() {
        assert_eq!(row("00000010 :  10c53001"), Some((0x10, vec![0x10c5_3001])));
        assert_eq!(
            row("  00000010 : 10c53001 "),
            Some((0x10, vec![0x10c5_3001]))
        );
        let four = row("[0010] 00000001 00000002 00000003 ffffffff");
        assert_eq!(four, Some((0x10, vec![1, 2, 3, 0xffff_ffff])));
        for none in [
            "EIR: 0x00000000",
            "00000010 :  10c5300",
            "[0010]",
            "[00x0] 00000001",
            "",
        ] {
            assert_eq!(row(none), None, "{none:?}");
        }
    }

    #[test]
    fn rows_of_another_decoder() {
        let line = "0x10c53000:      0x69040000: PIPELINE_SELECT";
        assert_eq!(decoded(line), Some((0x10c5_3000, 0x6904_0000)));
        let line = "0x00000001_00000010:  0x00000007:    dword 1";
        assert_eq!(decoded(line), Some((0x1_0000_0010, 7)));
        for none in ["ACTHD: 0x10c56560", "0x10: 0x7: x", "0x10c53000: x: y", "x"] {
            assert_eq!(decoded(none), None, "{none}");
        }
    }

    #[test]
    fn lines_follow_each_other() {
        let mut all = Vec::new();
        assert_eq!(append(&mut all, (0, vec![1])), Ok(()));
        assert_eq!(append(&mut all, (4, vec![2])), Ok(()));
        assert!(append(&mut all, (0x10, vec![5]))
            .is_err_and(|e| e.contains("2 dwords before offset 0x10")));
        assert_eq!(all, [1, 2, 0, 0, 5]);
        assert!(append(&mut all, (4, vec![9])).is_err());
        // Too far to be a gap.
        assert!(append(&mut all, (0x0010_0000, vec![9])).is_err());
        assert!(append(&mut all, (0xffff_fffc, vec![9])).is_err());
        assert_eq!(all.len(), 5);
        // The second page of a dump that counts anew.
        let mut page = vec![7; 1024];
        assert_eq!(append(&mut page, (0, vec![8])), Ok(()));
        assert_eq!(page.len(), 1025);
    }

    fn packed_all(line: &str) -> (Vec<u32>, Option<String>) {
        packed(line, 1 << 20)
    }

    #[test]
    fn compressed_and_plain() {
        // 0x18800000: see `digits`.
        assert_eq!(packed_all("~(k;Sdz"), (vec![0x1880_0000, 0], None));
        assert_eq!(packed_all("(k;Sd"), (vec![0x1880_0000], None));
        // RFC 1950 and 1951: 78 01, a stored block of 4 bytes 05 00 00 0a as it would be in memory of 0x0a000005,
        // and its Adler-32: a = 1+5+0+0+10 = 16, b = 6+6+6+16 = 34. Fifteen bytes, and one to fill.
        let stream = [0x78, 1, 1, 4, 0, 0xfb, 0xff, 5, 0, 0, 0x0a, 0, 34, 0, 16, 0];
        let mut text = String::from(":");
        for c in stream.chunks(4) {
            let mut v = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
            let mut digits = [0u8; 5];
            for d in digits.iter_mut().rev() {
                *d = b'!' + (v % 85) as u8;
                v /= 85;
            }
            text.push_str(std::str::from_utf8(&digits).expect("ASCII"));
        }
        assert_eq!(packed_all(&text), (vec![0x0a00_0005], None));
        assert!(packed(&text, 0).0.is_empty());
        // Cut, and no stream at all.
        assert!(packed_all(&text[..16]).1.is_some());
        assert!(packed_all(":zzz").1.is_some());
        assert!(packed_all(":").1.is_some());
        assert!(packed_all("~(k;S").1.is_some());
    }
}
