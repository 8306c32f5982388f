// SPDX-License-Identifier: GPL-2.0 OR MIT
//! 2D packets that fill or copy rectangles: `PAINT_MULTI`, `BITBLT` and `BITBLT_MULTI` (§5.2.2,
//! §5.2.2.7 to §5.2.2.9; digest §2.3 to §2.5).
//!
//! The packet contains control, surfaces, brush, and rectangles by their upper left corners. The
//! rules are those of [`super::blits`], for each rectangle. Relocations follow the packet: the
//! source's, if there is a source, and the destination's. Not supported: clip rectangles in a
//! packet, its brush phase, and the 8x8 pixel brush, which leaves these values in registers that no
//! stream may write.
//!
//! It is not documented whether packets obey `DP_CNTL`. So it must be down and to the right, as in
//! the known state: then both readings access the same bytes. Nor is it documented which values the
//! registers have after a packet: the stream must set surfaces and control again.

use super::{
    blits::{Control, Surface},
    registers, require,
    state::State,
    Checked, Cursor, Refused, RELOCATION_DWORDS,
};

/// Kind of the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rectangles {
    /// Fills: corner and size of each rectangle.
    Paint,
    /// Copies of at most this many rectangles: corners of source and destination, and the size.
    Copy(usize),
}

/// Bits that a packet's control may have: no clip rectangles (3:2), which would be in the packet.
const CONTROL: u32 = registers::BLIT_CONTROL & !(3 << 2);

/// Dwords of a brush by its type (digest §2.4).
fn brush_dwords(brush: u8) -> Checked<usize> {
    match brush {
        0 => Ok(4),
        1 => Ok(3),
        13 | 14 => Ok(1),
        15 => Ok(0),
        _ => Err(Refused::BlitControl),
    }
}

impl State {
    /// Checks a packet of rectangles whose body is dwords `at..at + len`. Returns the place of the
    /// next packet.
    pub(super) fn rectangles(
        &mut self,
        cursor: &mut Cursor<'_>,
        at: usize,
        len: usize,
        packet: Rectangles,
    ) -> Checked<usize> {
        let stream = cursor.stream;
        let end = at.checked_add(len).ok_or(Refused::Truncated)?;
        let mut body = stream.get(at..end).ok_or(Refused::Truncated)?;
        let mut take = |n: usize| {
            let taken = body.get(..n).ok_or(Refused::Length)?;
            body = body.get(n..).ok_or(Refused::Length)?;
            Ok(taken)
        };
        let one = |dwords: &[u32]| dwords.first().copied().ok_or(Refused::Length);
        let value = one(take(1)?)?;
        let control = Control::from_bits(value);
        let plain = value & !CONTROL == 0 && control.dst_pitch_offset();
        require(plain, Refused::BlitControl)?;
        let mut place = at.wrapping_add(1);
        let mut next = end;
        let mut surfaces = [None; 2];
        for (is_there, surface) in [control.src_pitch_offset(), true]
            .into_iter()
            .zip(&mut surfaces)
        {
            if is_there {
                let (new, value) = Surface::new(one(take(1)?)?, next, cursor)?;
                cursor.put(place, value)?;
                place = place.wrapping_add(1);
                next = next.wrapping_add(RELOCATION_DWORDS);
                *surface = Some(new);
            }
        }
        take(brush_dwords(control.brush())?)?;
        // The rest of the body.
        let (unit, most) = match packet {
            Rectangles::Paint => (2, usize::MAX),
            Rectangles::Copy(most) => (3, most),
        };
        let rest = body;
        let whole = !rest.is_empty() && rest.len().is_multiple_of(unit);
        require(whole && rest.len() / unit <= most, Refused::Length)?;
        require(
            self.blit.directions == [Some([true; 2]); 2],
            Refused::BlitControl,
        )?;
        self.blit.control(control);
        for rectangle in rest.chunks_exact(unit) {
            let (from, to, size) = match *rectangle {
                [to, size] => (None, to, size),
                [from, to, size] => (Some(from), to, size),
                _ => return Err(Refused::Length),
            };
            // Columns are in the upper halves in packets, and in the lower halves in registers.
            self.blit.surfaces = surfaces;
            self.blit.corners = [from.map(|v| v.rotate_left(16)), Some(to.rotate_left(16))];
            self.blit(size >> 16, size & 0xffff)?;
        }
        self.blit.forget();
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use std::vec;

    /// Digest §2.3: 32 bits a pixel, ROP F0, a brush of one colour (13), the destination named,
    /// nothing compared.
    const FILL: u32 = 0x52f0_36d2;
    /// ROP CC, no brush (15), both named.
    const COPY: u32 = 0x52cc_36f3;
    /// Rows of 256 bytes.
    const ROWS: u32 = 4 << 22;
    /// `DP_CNTL`: to the right, down.
    const DOWN_RIGHT: u32 = 3;

    fn paint(control: u32, brush: &[u32], rectangles: &[u32]) -> Stream {
        let body = [&[control, ROWS], brush, rectangles].concat();
        new()
            .set(0x16c0, &[DOWN_RIGHT])
            .command(0x9a, &body)
            .object(0)
    }

    fn copy(opcode: u32, control: u32, rectangles: &[u32]) -> Stream {
        let body = [&[control, ROWS, ROWS], rectangles].concat();
        new()
            .set(0x16c0, &[DOWN_RIGHT])
            .command(opcode, &body)
            .object(0)
            .object(1)
    }

    /// §5.2.2.7: x and width are in the upper halves. (9, 4), 5 by 3 ends with row 6.
    #[test]
    fn each_rectangle_of_a_fill_is_inside() {
        let one = [9 << 16 | 4, 5 << 16 | 3];
        assert!(paint(FILL, &[1], &one).passes(&[7 * 256]));
        assert!(!paint(FILL, &[1], &one).passes(&[7 * 256 - 1]));
        // 64 columns are a row: from 9 on 55 are.
        for (width, fits) in [(55, true), (56, false), (0, false), (0x2000, false)] {
            let stream = paint(FILL, &[1], &[9 << 16, width << 16 | 1]);
            assert_eq!(stream.passes(&[1 << 20]), fits, "{width}");
        }
        // The second one counts, and so does a sign.
        let two = |last: u32| paint(FILL, &[1], &[0, 1 << 16 | 1, last, 1 << 16 | 1]);
        assert!(two(6).passes(&[7 * 256]) && !two(7).passes(&[7 * 256]));
        assert!(!two(0xffff).passes(&[1 << 20]) && !two(0xffff << 16).passes(&[1 << 20]));
    }

    /// §5.2.2.8, §5.2.2.9: source, destination, size; the source's relocation is the first.
    #[test]
    fn both_rectangles_of_a_copy_are_inside() {
        let one = [1 << 16 | 2, 9 << 16 | 4, 5 << 16 | 3];
        for opcode in [0x92, 0x9b] {
            assert!(copy(opcode, COPY, &one).passes(&[5 * 256, 7 * 256]));
            assert!(!copy(opcode, COPY, &one).passes(&[5 * 256 - 1, 7 * 256]));
            assert!(!copy(opcode, COPY, &one).passes(&[5 * 256, 7 * 256 - 1]));
        }
        let two = [one, one].concat();
        assert!(copy(0x9b, COPY, &two).passes(&[1 << 20, 1 << 20]));
        assert!(!copy(0x92, COPY, &two).passes(&[1 << 20, 1 << 20]));
    }

    /// Digest §2.4: 4, 3, 1, 1 and no dwords; pens, reserved ones and 64 pixels are refused.
    #[test]
    fn a_brush_has_the_dwords_of_its_type() {
        let dwords = [(0, 4), (1, 3), (13, 1), (14, 1), (15, 0)];
        for brush in 0..16 {
            let control = FILL & !0xf0 | brush << 4;
            for n in 0..=64 {
                let is = dwords.contains(&(brush, n));
                let stream = paint(control, &vec![1; n], &[0, 1 << 16 | 1]);
                // Two dwords more or less are a rectangle of one row and column, or none.
                let other = dwords
                    .iter()
                    .any(|(b, d)| *b == brush && n > *d && (n - d) % 2 == 0);
                if !other {
                    assert_eq!(stream.passes(&[1 << 20]), is, "{brush} {n}");
                }
            }
        }
    }

    #[test]
    fn controls_that_reach_elsewhere_are_refused() {
        let one = [0, 0, 1 << 16 | 1];
        assert!(copy(0x9b, COPY, &one).passes(&[256, 256]));
        for (what, control) in [
            ("default destination", COPY & !2),
            ("clip of the source", COPY | 1 << 2),
            ("clip of the destination", COPY | 1 << 3),
            ("reserved type", COPY & !0xf00),
            ("mono source", COPY & !0x3000),
            ("host data", COPY & !(7 << 24) | 3 << 24),
            ("more types", COPY | 1 << 27),
            ("reserved", COPY | 1 << 29),
            ("phase of the brush", COPY | 1 << 31),
        ] {
            assert!(
                !copy(0x9b, control, &one).passes(&[1 << 20, 1 << 20]),
                "{what}"
            );
        }
        // A fill has no source that its ROP could read, nor one to be compared.
        let fill = |control| paint(control, &[1], &[0, 1 << 16 | 1]);
        assert!(fill(FILL).passes(&[256]));
        assert!(!fill(FILL & !0xff_0000 | 0xcc_0000).passes(&[256]));
        let compares = new().set(0x15c0, &[4]).and(fill(FILL & !(1 << 28)));
        assert!(!compares.passes(&[256]));
    }

    #[test]
    fn directions_are_down_and_to_the_right() {
        let body = [FILL, ROWS, 1, 0, 1 << 16 | 1];
        let packet = || new().command(0x9a, &body).object(0);
        // The known state says down and to the right.
        assert!(packet().passes(&[256]));
        for directions in 0..4 {
            let stream = new().set(0x16c0, &[directions]).and(packet());
            assert_eq!(stream.passes(&[256]), directions == 3);
        }
    }

    /// The checker does not rely on the registers' values after a packet.
    #[test]
    fn a_packet_leaves_nothing_to_rely_on() {
        let stream = paint(FILL, &[1], &[0, 1 << 16 | 1]);
        let next = |s: Stream| s.set(0x1438, &[0]).set(0x1598, &[1 << 16 | 1]);
        assert!(!next(stream.clone()).passes(&[256]));
        let control = stream.set(0x146c, &[FILL]);
        assert!(!next(control.clone()).passes(&[256]));
        let surface = control.set(0x142c, &[ROWS]).object(0);
        assert!(!next(surface.clone()).passes(&[256]));
        // DP_CNTL sets both directions, DP_CNTL_XDIR_YDIR_YMAJOR only its own.
        let directions = |register: u32, value: u32| surface.clone().set(register, &[value]);
        assert!(next(directions(0x16c0, DOWN_RIGHT)).passes(&[256]));
        assert!(!next(directions(0x16d0, 1 << 31 | 1 << 15)).passes(&[256]));
    }

    /// Addresses are patched; the relocations stay.
    #[test]
    fn the_copy_has_addresses() {
        let out = copy(0x9b, COPY, &[0, 0, 1 << 16 | 1])
            .check(&objects(&[256, 256]))
            .expect("inside");
        assert_eq!(
            out[4..6],
            [ROWS | (address(0) / 1024), ROWS | (address(1) / 1024)]
        );
        assert_eq!(out[9..], [0xc000_1000, 0, 0xc000_1000, 4]);
    }
}
