// SPDX-License-Identifier: GPL-2.0
//! Colours and shapes for the composition: mixing, smooth steps, distances.

/// A colour with red, green and blue from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Red.
    pub r: f32,
    /// Green.
    pub g: f32,
    /// Blue.
    pub b: f32,
}

impl Colour {
    /// From 0xRRGGBB; other bits are ignored.
    pub fn hex(rgb: u32) -> Colour {
        let channel = |shift: u32| ((rgb >> shift) & 0xff) as f32 / 255.0;
        Colour {
            r: channel(16),
            g: channel(8),
            b: channel(0),
        }
    }

    /// As an XRGB8888 pixel.
    pub fn pixel(self) -> u32 {
        let channel = |v: f32| (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u32;
        (channel(self.r) << 16) | (channel(self.g) << 8) | channel(self.b)
    }

    /// As a pixel whose channels are multiples of four: fewer colours, longer runs.
    pub fn coarse(self) -> u32 {
        let channel = |v: f32| (((v.clamp(0.0, 1.0) * 255.0 + 2.0) as u32) & 0x1fc).min(255);
        (channel(self.r) << 16) | (channel(self.g) << 8) | channel(self.b)
    }

    /// All channels times `by`.
    pub fn scale(self, by: f32) -> Colour {
        Colour {
            r: self.r * by,
            g: self.g * by,
            b: self.b * by,
        }
    }

    /// Channel by channel.
    pub fn add(self, other: Colour) -> Colour {
        Colour {
            r: self.r + other.r,
            g: self.g + other.g,
            b: self.b + other.b,
        }
    }

    /// From this one (0) to the other (1).
    pub fn mix(self, to: Colour, by: f32) -> Colour {
        self.scale(1.0 - by).add(to.scale(by))
    }
}

/// A colour on a way through several, `at` from 0 to 1.
pub fn ramp(stops: &[(f32, u32)], at: f32) -> Colour {
    let mut previous = stops[0];
    for &(position, colour) in stops {
        if at <= position {
            let span = (position - previous.0).max(1e-6);
            return Colour::hex(previous.1).mix(
                Colour::hex(colour),
                ((at - previous.0) / span).clamp(0.0, 1.0),
            );
        }
        previous = (position, colour);
    }
    Colour::hex(previous.1)
}

/// 0 below `from`, 1 above `to`, smooth between.
pub fn smooth(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Distance from a point to a piece of line.
pub fn segment(px: f32, py: f32, a: (f32, f32), b: (f32, f32)) -> f32 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let t = (((px - a.0) * dx + (py - a.1) * dy) / (dx * dx + dy * dy).max(1e-6)).clamp(0.0, 1.0);
    (px - a.0 - t * dx).hypot(py - a.1 - t * dy)
}

/// A closed outline through points, rounded by a Catmull-Rom curve.
pub struct Outline {
    points: Vec<(f32, f32)>,
    low: (f32, f32),
    high: (f32, f32),
}

impl Outline {
    /// A smooth outline through `corners`, each piece of it cut into `pieces`.
    pub fn through(corners: &[(f32, f32)], pieces: usize) -> Outline {
        let n = corners.len();
        let mut points = Vec::with_capacity(n * pieces);
        for i in 0..n {
            let [a, b, c, d] = [
                corners[(i + n - 1) % n],
                corners[i],
                corners[(i + 1) % n],
                corners[(i + 2) % n],
            ];
            for k in 0..pieces {
                let t = k as f32 / pieces as f32;
                let at = |p: f32, q: f32, r: f32, s: f32| {
                    0.5 * (2.0 * q
                        + (r - p) * t
                        + (2.0 * p - 5.0 * q + 4.0 * r - s) * t * t
                        + (3.0 * q - p - 3.0 * r + s) * t * t * t)
                };
                points.push((at(a.0, b.0, c.0, d.0), at(a.1, b.1, c.1, d.1)));
            }
        }
        let fold = |f: fn(f32, f32) -> f32, start: f32| {
            points
                .iter()
                .fold((start, start), |acc, p| (f(acc.0, p.0), f(acc.1, p.1)))
        };
        let (low, high) = (fold(f32::min, f32::MAX), fold(f32::max, f32::MIN));
        Outline { points, low, high }
    }

    /// Distance to the outline in pixels: positive inside. Far outside it is only some negative number.
    pub fn depth(&self, x: f32, y: f32) -> f32 {
        const NEAR: f32 = 60.0;
        let outside = (self.low.0 - x)
            .max(x - self.high.0)
            .max(self.low.1 - y)
            .max(y - self.high.1);
        if outside > NEAR {
            return -outside;
        }
        let mut nearest = f32::MAX;
        let mut inside = false;
        let mut previous = self.points[self.points.len() - 1];
        for &p in &self.points {
            nearest = nearest.min(segment(x, y, previous, p));
            if (p.1 > y) != (previous.1 > y)
                && x < (previous.0 - p.0) * (y - p.1) / (previous.1 - p.1) + p.0
            {
                inside = !inside;
            }
            previous = p;
        }
        if inside {
            nearest
        } else {
            -nearest
        }
    }
}

/// A small generator of numbers that look random and are the same each time.
pub struct Noise(pub u32);

impl Noise {
    /// The next number (xorshift, period 2^32 - 1).
    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// The next number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        self.next() % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_survive_the_way_through_numbers() {
        for pixel in [0, 0xffffff, 0x123456, 0xff0080] {
            assert_eq!(Colour::hex(pixel).pixel(), pixel);
        }
        assert_eq!(
            ramp(&[(0.0, 0x000000), (1.0, 0xfe0000)], 0.5).pixel(),
            0x7f0000
        );
    }

    #[test]
    fn an_outline_knows_its_inside() {
        let square = Outline::through(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)], 4);
        assert!(square.depth(5.0, 5.0) > 4.0);
        assert!(square.depth(-5.0, 5.0) < -3.0);
        assert!(square.depth(100.0, 5.0) < -60.0);
    }
}
