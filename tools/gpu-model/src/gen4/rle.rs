// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Run lengths as GM965's compressor writes them (6.6.1 to 6.6.3).

/// Runs in a set of 32 bytes.
const SET: usize = 8;

/// Runs of a line: 31:24 the length less one and 23:0 the colour, or 26:16 and 15:0 with 16 bits per pixel; filled up
/// with zeros to whole sets. `None` if they take more than `limit` bytes.
pub(crate) fn compress(pixels: &[u32], wide: bool, limit: usize) -> Option<Vec<u32>> {
    let (most, shift, colour) = if wide {
        (256, 24, 0x00ff_ffff)
    } else {
        (2048, 16, 0xffff)
    };
    let mut runs = Vec::new();
    let mut rest = pixels;
    while let Some(first) = rest.first().map(|p| p & colour) {
        let same = rest.iter().take(most).take_while(|p| **p & colour == first);
        let n = same.count();
        runs.push((n as u32 - 1) << shift | first);
        if runs.len().div_ceil(SET) * SET * 4 > limit {
            return None;
        }
        rest = &rest[n..];
    }
    runs.resize(runs.len().div_ceil(SET) * SET, 0);
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::compress;

    #[test]
    fn runs() {
        // 6.6.1: lengths of 1 to 256, alpha is discarded; 6.6.2: eight runs are a set.
        let mut line = vec![0xff11_2233; 300];
        line.push(0x0044_5566);
        let runs = compress(&line, true, 64).expect("short");
        assert_eq!(runs[..4], [0xff11_2233, 0x2b11_2233, 0x0044_5566, 0]);
        assert_eq!(runs.len(), 8);
        // 1 to 2048 with 16 bits per pixel, the length in 26:16.
        let runs = compress(&[0x1234; 2048], false, 64).expect("short");
        assert_eq!(runs[0], 2047 << 16 | 0x1234);
    }

    #[test]
    fn a_line_that_is_too_long() {
        let line: Vec<u32> = (0..17).collect();
        assert!(compress(&line, true, 96).is_some());
        assert!(compress(&line, true, 64).is_none());
    }
}
