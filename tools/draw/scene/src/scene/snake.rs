// SPDX-License-Identifier: GPL-2.0
//! The snake that bites its tail, as a body along a circle: each pixel gets an
//! angle along the ring and a height across it, from these scales, light and
//! colour, and the whole is painted by scan lines.

use std::f32::consts::{PI, TAU};

use super::geometry::{ramp, segment, smooth, Colour, Outline};
use super::sky::CENTRE;
use super::spans::{over, paint};
use super::Studio;
use crate::reference::ReferenceError;
use crate::surface::{Rect, Surface};

/// Radius of the ring's middle line.
pub const RADIUS: f32 = 268.0;
/// Screen angle of the tail's tip; angles run clockwise.
const TIP: f32 = -1.36;
/// Angle from the tail's tip to where the head begins.
const NECK: f32 = TAU - 0.38;
/// Colours from tail to head.
pub const SKIN: [(f32, u32); 6] = [
    (0.0, 0x7a4df0),
    (0.2, 0x3d6bf2),
    (0.42, 0x17b1c4),
    (0.62, 0x22c07a),
    (0.82, 0x9fce3a),
    (1.0, 0xf5b731),
];
/// Direction to the light: from the upper left, towards the viewer.
const LIGHT: (f32, f32, f32) = (-0.48, -0.62, 0.62);

/// A point of the picture as seen from the ring.
struct BodyPoint {
    /// Angle from the tail's tip, 0 to 2π.
    along: f32,
    /// Pixels outwards from the middle line.
    across: f32,
    /// Outward direction.
    out: (f32, f32),
}

/// Where a pixel lies, if it is at most `reach` pixels off the middle line.
fn place_within(x: i32, y: i32, reach: f32) -> Option<BodyPoint> {
    let (dx, dy) = (x as f32 + 0.5 - CENTRE.0, y as f32 + 0.5 - CENTRE.1);
    let square = dx * dx + dy * dy;
    let (low, high) = (RADIUS - reach, RADIUS + reach);
    (square > low * low && square < high * high).then(|| place(x, y))
}

fn place(x: i32, y: i32) -> BodyPoint {
    let (dx, dy) = (x as f32 + 0.5 - CENTRE.0, y as f32 + 0.5 - CENTRE.1);
    let r = dx.hypot(dy).max(1.0);
    let along = (dy.atan2(dx) - TIP).rem_euclid(TAU);
    BodyPoint {
        along,
        across: r - RADIUS,
        out: (dx / r, dy / r),
    }
}

/// Half the body's thickness.
fn thickness(along: f32) -> f32 {
    let u = along / TAU;
    let grown = 3.0 + 41.0 * (1.0 - (1.0 - u).powf(2.1));
    grown * (1.0 - 0.14 * smooth(0.84, 0.97, u))
}

/// The tail dives a little inwards to meet the mouth.
fn middle(along: f32) -> f32 {
    -6.0 * (1.0 - smooth(0.0, 0.55, along))
}

/// Light on a surface whose normal is (nx, ny, nz): diffuse part and gloss.
fn lit(nx: f32, ny: f32, nz: f32) -> (f32, f32) {
    let diffuse = (nx * LIGHT.0 + ny * LIGHT.1 + nz * LIGHT.2).max(0.0);
    let (hx, hy, hz) = (LIGHT.0, LIGHT.1, LIGHT.2 + 1.0);
    let half = (hx * hx + hy * hy + hz * hz).sqrt();
    let gloss = ((nx * hx + ny * hy + nz * hz) / half).max(0.0).powi(28);
    (diffuse, gloss)
}

/// Scales in rows that shrink with the body: position along, counted in body thicknesses.
struct Scales(Vec<f32>);

impl Scales {
    const STEPS: usize = 1024;

    fn new() -> Scales {
        let mut sum = 0.0;
        Scales(
            (0..=Self::STEPS)
                .map(|i| {
                    let along = i as f32 / Self::STEPS as f32 * TAU;
                    let here = sum;
                    sum += TAU / Self::STEPS as f32 * RADIUS / (thickness(along) + 2.0);
                    here
                })
                .collect(),
        )
    }

    fn at(&self, along: f32) -> f32 {
        let f = (along / TAU).clamp(0.0, 0.999_9) * Self::STEPS as f32;
        let i = f as usize;
        self.0[i] + (self.0[i + 1] - self.0[i]) * (f - i as f32)
    }
}

/// Colour of the body at a place inside it; `v` from -1 (inner edge) to 1.
fn body(scales: &Scales, p: &BodyPoint, v: f32) -> Colour {
    let (nz, around) = (
        (1.0 - v * v).max(0.0).sqrt(),
        v.clamp(-1.0, 1.0).asin() / PI,
    );
    let skin = ramp(&SKIN, p.along / TAU);
    let s = scales.at(p.along);

    // Diamonds: two families of lines across each other.
    let (a, b) = (s * 1.9 + around * 6.0, s * 1.9 - around * 6.0);
    let (fa, fb) = (a.fract(), (b + 64.0).fract());
    let edge = fa.min(1.0 - fa).min(fb.min(1.0 - fb));
    let tip = (fa + fb) * 0.5;
    let seam = smooth(0.0, 0.14, edge);

    // Saddles on the back: each third diamond darker, like the marks of a python.
    let mark = ((s * 0.95).fract() - 0.5).abs() * 2.0;
    let saddle = smooth(0.42, 0.62, mark - 0.35 * (around - 0.12).abs() * 2.0)
        * smooth(-0.22, -0.08, around);

    let mut colour = skin.mix(Colour::hex(0x10142c), 0.52 * saddle);
    colour = colour.scale(0.74 + 0.42 * tip).scale(0.42 + 0.58 * seam);

    // The belly: broad plates, pale.
    let belly = smooth(-0.2, -0.27, around);
    if belly > 0.0 {
        let plate = (s * 3.8).fract();
        let shade = 0.72 + 0.28 * smooth(0.0, 0.22, plate) * smooth(1.0, 0.86, plate);
        let pale = Colour::hex(0xf3e3b6).mix(skin, 0.28).scale(shade);
        colour = colour.mix(pale, belly);
    }

    let bump = (tip - 0.5) * 0.5 * (1.0 - belly);
    let tangent = (-p.out.1, p.out.0);
    let (nx, ny) = (
        p.out.0 * v + tangent.0 * bump,
        p.out.1 * v + tangent.1 * bump,
    );
    let (diffuse, gloss) = lit(nx, ny, nz);
    let rim = (1.0 - nz).powi(3) * 0.35;
    colour
        .scale(0.26 + 0.95 * diffuse)
        .add(Colour::hex(0xfff6dc).scale(0.5 * gloss * seam))
        .add(skin.scale(rim))
}

/// The head, in pixels along from the neck and outwards from the middle line.
struct Head {
    skull: Outline,
    jaw: Outline,
    mouth: Outline,
}

impl Head {
    fn new() -> Head {
        Head {
            skull: Outline::through(
                &[
                    (-34.0, 33.0),
                    (-12.0, 37.0),
                    (8.0, 46.0),
                    (34.0, 53.0),
                    (58.0, 49.0),
                    (84.0, 39.0),
                    (112.0, 32.0),
                    (132.0, 25.0),
                    (142.0, 14.0),
                    (138.0, 5.0),
                    (120.0, 6.0),
                    (94.0, 9.0),
                    (70.0, 7.0),
                    (48.0, 0.0),
                    (30.0, -10.0),
                    (8.0, -22.0),
                    (-16.0, -30.0),
                    (-34.0, -33.0),
                ],
                6,
            ),
            jaw: Outline::through(
                &[
                    (-30.0, -20.0),
                    (-10.0, -12.0),
                    (24.0, -10.0),
                    (46.0, -14.0),
                    (72.0, -20.0),
                    (98.0, -23.0),
                    (116.0, -23.0),
                    (124.0, -27.0),
                    (118.0, -34.0),
                    (98.0, -40.0),
                    (70.0, -46.0),
                    (40.0, -49.0),
                    (10.0, -45.0),
                    (-16.0, -37.0),
                    (-34.0, -33.0),
                ],
                6,
            ),
            mouth: Outline::through(
                &[
                    (28.0, -11.0),
                    (60.0, 6.0),
                    (100.0, 12.0),
                    (128.0, 9.0),
                    (116.0, -10.0),
                    (108.0, -26.0),
                    (70.0, -24.0),
                    (44.0, -18.0),
                ],
                6,
            ),
        }
    }
}

/// Where a pixel lies in the head's own measure.
fn in_head(p: &BodyPoint) -> (f32, f32) {
    // Beyond the tip angles start again at zero: the head goes on over the tail.
    let along = if p.along < 1.0 {
        p.along + TAU
    } else {
        p.along
    };
    ((along - NECK) * RADIUS, p.across)
}

/// Colour on a domed part of the head, and how much of the pixel it covers.
fn dome(outline: &Outline, p: &BodyPoint, round: f32, skin: Colour) -> Option<(Colour, f32)> {
    let (s, v) = in_head(p);
    let depth = outline.depth(s, v);
    if depth < -0.5 {
        return None;
    }
    let step = 1.5;
    let slope = (
        outline.depth(s + step, v) - outline.depth(s - step, v),
        outline.depth(s, v + step) - outline.depth(s, v - step),
    );
    let t = (1.0 - depth.max(0.0) / round).clamp(0.0, 1.0);
    let (ns, nv) = (-slope.0 / (2.0 * step) * t, -slope.1 / (2.0 * step) * t);
    let tangent = (-p.out.1, p.out.0);
    let (nx, ny) = (tangent.0 * ns + p.out.0 * nv, tangent.1 * ns + p.out.1 * nv);
    let nz = (1.0 - nx * nx - ny * ny).max(0.0).sqrt();
    let (diffuse, gloss) = lit(nx, ny, nz);
    // Small scales: a honeycomb that fades towards the lips.
    let (a, b) = (s * 0.085 + v * 0.12, s * 0.085 - v * 0.12);
    let (fa, fb) = (a.rem_euclid(1.0), b.rem_euclid(1.0));
    let seam = smooth(0.0, 0.16, fa.min(1.0 - fa).min(fb.min(1.0 - fb)));
    let fade = smooth(2.0, 12.0, depth) * (1.0 - smooth(70.0, 110.0, s));
    let texture = 1.0 - fade * (0.42 - 0.42 * seam) + fade * 0.12 * ((fa + fb) * 0.5 - 0.5);
    let edge = 0.45 + 0.55 * smooth(0.0, 2.2, depth);
    // Behind, the head grows out of the neck.
    let grown = smooth(-33.0, -2.0, s + 0.25 * v);
    let colour = skin
        .scale((0.30 + 0.92 * diffuse) * texture * edge)
        .add(Colour::hex(0xfff6dc).scale(0.55 * gloss));
    Some((colour, (depth + 0.5).clamp(0.0, 1.0) * grown))
}

/// Eye, nostril and fangs, over the skull.
fn details(p: &BodyPoint) -> Option<(Colour, f32)> {
    let (s, v) = in_head(p);
    let (ex, ey) = (s - 62.0, v - 27.0);
    let r = ex.hypot(ey * 1.12);
    if r < 13.5 {
        let cover = (13.5 - r).clamp(0.0, 1.0);
        let lid = Colour::hex(0x2a1606);
        let iris = ramp(
            &[(0.0, 0xfff0a0), (0.55, 0xff9d1e), (1.0, 0xa32a05)],
            (r / 10.5).min(1.0),
        );
        let slit = smooth(
            2.9,
            1.8,
            (ex * 0.97 + ey * 0.2).abs() + (ey / 9.0).powi(2) * 2.2,
        );
        let mut colour = lid
            .mix(iris, smooth(11.0, 9.8, r))
            .mix(Colour::hex(0x080404), slit * smooth(11.0, 9.8, r));
        colour = colour.mix(
            Colour::hex(0xffffff),
            smooth(3.4, 2.2, (ex + 3.6).hypot(ey - 4.0)),
        );
        // The brow lies over the upper third.
        let brow = smooth(6.2, 8.2, ey + ex * 0.12);
        return Some((colour, cover * (1.0 - brow)));
    }
    let nostril = segment(s, v, (127.0, 17.0), (132.0, 15.5));
    if nostril < 3.0 {
        return Some((Colour::hex(0x2a1606), smooth(3.0, 1.4, nostril)));
    }
    None
}

/// Two fangs, each a curve that gets thinner; above the tail, below the lip.
fn fang(p: &BodyPoint) -> Option<(Colour, f32)> {
    let (s, v) = in_head(p);
    [(118.0_f32, 24.0_f32), (101.0, 17.0)]
        .iter()
        .find_map(|&(root, length)| {
            let t = (9.0 - v) / length;
            if !(-0.3..=1.0).contains(&t) {
                return None;
            }
            let half = 4.6 * (1.0 - t.max(0.0)).powf(0.8);
            let off = (s - (root - 6.0 * t * t)).abs();
            (off < half + 0.5).then(|| {
                (
                    Colour::hex(0xfffaf0).scale(1.0 - 0.3 * off / (half + 0.5)),
                    (half + 0.5 - off).min(1.0),
                )
            })
        })
}

/// Draws the snake.
pub fn draw(studio: &mut Studio, picture: Surface) -> Result<(), ReferenceError> {
    let reach = RADIUS as i32 + 92;
    let area = Rect::new(
        CENTRE.0 as i32 - reach,
        CENTRE.1 as i32 - reach,
        2 * reach,
        2 * reach,
    );
    let scales = Scales::new();
    let head = Head::new();

    studio.section("glow around the snake");
    paint(studio, picture, area, |studio, x, y| {
        let p = place_within(x, y, 100.0)?;
        let trunk = if p.along > NECK + 0.1 {
            99.0
        } else {
            (p.across - middle(p.along)).abs() - thickness(p.along)
        };
        let mut light = ramp(&SKIN, p.along / TAU);
        let mut near = trunk;
        if p.along > NECK - 0.5 || p.along < 0.6 {
            let (s, v) = in_head(&p);
            let skull = -head.skull.depth(s, v).max(head.jaw.depth(s, v));
            let share = smooth(-14.0, 14.0, trunk - skull);
            light = light.mix(ramp(&SKIN, 1.0), share);
            near = near.min(skull);
        }
        let strength = 0.32 * (-near.max(0.0) / 12.0).exp();
        over(
            studio,
            &picture,
            x,
            y,
            light,
            (strength * 48.0).round() / 48.0,
        )
    })?;

    studio.section("body");
    let trunk = |p: &BodyPoint| {
        let half = thickness(p.along);
        let v = p.across - middle(p.along);
        let cover = (half + 0.5 - v.abs()).clamp(0.0, 1.0);
        (cover > 0.0).then(|| (body(&scales, p, v / half), cover))
    };
    let blend = |studio: &Studio, x: i32, y: i32, layer: Option<(Colour, f32)>| {
        layer.and_then(|(colour, cover)| over(studio, &picture, x, y, colour, cover))
    };
    paint(studio, picture, area, |studio, x, y| {
        let p = place_within(x, y, 60.0).filter(|p| p.along < NECK + 0.02)?;
        blend(studio, x, y, trunk(&p))
    })?;

    studio.section("head");
    let skin = Colour::hex(SKIN[5].1);
    let (hx, hy) = (CENTRE.0 as i32 - 160, CENTRE.1 as i32 - reach);
    let near_head = Rect::new(hx, hy, 300, 200);
    let jaw_skin = Colour::hex(0xf3d98e);
    paint(studio, picture, near_head, |studio, x, y| {
        let p = place(x, y);
        let (s, v) = in_head(&p);
        let depth = head.mouth.depth(s, v);
        let red = ramp(
            &[(0.0, 0x2a0610), (0.5, 0x7c1626), (1.0, 0xb23a3f)],
            ((s - 20.0) / 110.0).clamp(0.0, 1.0),
        );
        (depth > -0.5)
            .then_some((red, (depth + 0.5).min(1.0)))
            .and_then(|l| blend(studio, x, y, Some(l)))
    })?;
    paint(studio, picture, near_head, |studio, x, y| {
        let p = place(x, y);
        // The tail again, over the mouth; it gets dark on its way down.
        if p.along > 0.6 {
            return None;
        }
        let dark = smooth(0.02, 0.2, p.along);
        blend(
            studio,
            x,
            y,
            trunk(&p).map(|(c, cover)| (Colour::hex(0x1a0410).mix(c, 0.25 + 0.75 * dark), cover)),
        )
    })?;
    paint(studio, picture, near_head, |studio, x, y| {
        blend(studio, x, y, fang(&place(x, y)))
    })?;
    paint(studio, picture, near_head, |studio, x, y| {
        blend(studio, x, y, dome(&head.jaw, &place(x, y), 17.0, jaw_skin))
    })?;
    paint(studio, picture, near_head, |studio, x, y| {
        blend(studio, x, y, dome(&head.skull, &place(x, y), 30.0, skin))
    })?;
    paint(studio, picture, near_head, |studio, x, y| {
        blend(studio, x, y, details(&place(x, y)))
    })
}
