// SPDX-License-Identifier: GPL-2.0 OR MIT
//! A draw that begins takes the registers of all that is behind the vertex program: other draws' are written before
//! its turn comes.
//!
//! Pixels are drawn by pipe 0's registers. Which part of the screen another pipe draws is in no source.

use super::assemble::{Assembler, Kind};
use super::cb::{Blend, Colour};
use super::clip::View;
use super::fog::{Alpha, Fog};
use super::interp;
use super::packing::Packing;
use super::pixel::{Drawing, Pipeline, Resolve};
use super::raster::{samples, Scan};
use super::setup;
use super::surfaces::Targets;
use super::zb::Depth;
use super::VfCntl;
use crate::r5xx::access::Unit;
use crate::r5xx::core::Core;
use crate::r5xx::regs::reg;
use crate::r5xx::us;

/// VAP_OUT_VTX_FMT_0: all four colours.
const COLOURS: u32 = 15 << 1;
/// VAP_CLIP_CNTL: colours 2 and 3 are textures.
const COLOUR_2_IS_TEXTURE: u32 = 1 << 20;

impl Core {
    fn float(&self, offset: u32) -> f32 {
        f32::from_bits(self.seen(offset))
    }

    fn several<const N: usize>(&self, first: u32) -> [u32; N] {
        std::array::from_fn(|n| self.seen(first + 4 * n as u32))
    }

    /// Returns the destination of a draw's vertices; `None` if it cannot draw a pixel.
    pub(super) fn drawing(&mut self, control: VfCntl, targets: &Targets) -> Option<Drawing> {
        let kind = Kind::new(control.0)?;
        let has_position = self.get(reg::VAP_OUT_VTX_FMT_0) & 1 != 0;
        if !has_position || targets.area.is_none() {
            return None;
        }
        let (colours, depth) = (self.colours(targets), self.depth(targets));
        let resolve = self.resolve(targets);
        if colours.is_empty() && depth.is_off() && resolve.is_none() {
            return None;
        }
        let shade = self.seen(reg::GA_COLOR_CONTROL);
        let program = self.pixel_program();
        let units = self.units(program.units());
        let pipeline = Pipeline {
            view: self.view(),
            setup: self.setup_registers(),
            scan: self.scan(targets),
            interpolators: self.interpolators(kind),
            shade,
            program,
            constants: self.gfx.three.memories.us_constants(),
            units,
            alpha: Alpha {
                function: self.seen(reg::FG_ALPHA_FUNC),
                value: self.seen(reg::FG_ALPHA_VALUE),
            },
            fog: self.fog(),
            own_depth: self.seen(reg::FG_DEPTH_SRC) & 1 != 0,
            depth,
            blend: Blend {
                colour: self.seen(reg::RB3D_BLENDCNTL),
                alpha: self.seen(reg::RB3D_BLENDCNTL + 4),
                rop: self.seen(reg::RB3D_ROPCNTL),
                constant: self.several(reg::RB3D_CONSTANT_COLOR_AR),
                discard: self.several(reg::RB3D_DISCARD_SRC_PIXEL_LTE),
            },
            colours,
            resolve,
        };
        Some(Drawing::new(pipeline, Assembler::new(kind, shade >> 16)))
    }

    fn fog(&self) -> Fog {
        let [blend, factor, r, g, b] = self.several(reg::FG_FOG_BLEND);
        Fog {
            blend,
            factor,
            colour: [r, g, b],
            select: self.get(reg::GB_SELECT),
            scale: self.float(reg::GA_FOG_SCALE),
            offset: self.float(reg::GA_FOG_SCALE + 4),
        }
    }

    fn view(&self) -> View {
        let port = |n: u32| {
            let at = reg::VAP_VPORT_XSCALE + 8 * n;
            (self.float(at), self.float(at + 4))
        };
        View {
            clip: self.get(reg::VAP_CLIP_CNTL),
            from_zero: self.get(reg::VAP_CNTL) >> 22 & 1 != 0,
            guard: [
                self.float(reg::VAP_GB_HORZ_CLIP_ADJ),
                self.float(reg::VAP_GB_VERT_CLIP_ADJ),
            ],
            user: self.gfx.three.memories.user_planes(),
            vte: self.get(reg::VAP_VTE_CNTL),
            viewport: [port(0), port(1), port(2)],
        }
    }

    fn setup_registers(&self) -> setup::Registers {
        let [s0, t0, s1, t1] = self.several(reg::GA_POINT_S0).map(f32::from_bits);
        let [front_scale, front, back_scale, back] = self
            .several(reg::SU_POLY_OFFSET_FRONT_SCALE)
            .map(f32::from_bits);
        let formats = self.get(reg::VAP_OUT_VTX_FMT_0);
        let textures = self.get(reg::VAP_CLIP_CNTL) & COLOUR_2_IS_TEXTURE != 0;
        setup::Registers {
            point_size: self.get(reg::GA_POINT_SIZE),
            point_minmax: self.get(reg::GA_POINT_MINMAX),
            line: self.get(reg::GA_LINE_CNTL),
            stuffed: [s0, t0, s1, t1],
            stipple: setup::Stipple {
                config: self.get(reg::GA_LINE_STIPPLE_CONFIG),
                ..setup::Stipple::default()
            },
            offset: self.get(reg::GA_OFFSET),
            round: self.get(reg::GA_ROUND_MODE),
            polygon: self.get(reg::GA_POLY_MODE),
            select: self.get(reg::GB_SELECT),
            cull: self.get(reg::SU_CULL_MODE),
            depth: (
                self.float(reg::SU_DEPTH_SCALE),
                self.float(reg::SU_DEPTH_OFFSET),
            ),
            offsets: self.get(reg::SU_POLY_OFFSET_ENABLE),
            poly_offset: [(front_scale, front), (back_scale, back)],
            edge_rule: self.seen(reg::SC_EDGERULE),
            two_sided: formats & COLOURS == COLOURS && !textures,
        }
    }

    fn scan(&self, targets: &Targets) -> Scan {
        let rectangle = |n: usize| {
            let corner = |v: u32| (i64::from(v & 0x1fff), i64::from(v >> 13 & 0x1fff));
            let at = reg::SC_CLIP_0_A + 8 * n as u32;
            let ((x0, y0), (x1, y1)) = (corner(self.seen(at)), corner(self.seen(at + 4)));
            [x0, y0, x1, y1]
        };
        Scan {
            scissor: targets.area,
            rectangles: std::array::from_fn(rectangle),
            rule: self.seen(reg::SC_CLIP_RULE),
            screen_door: self.seen(reg::SC_SCREENDOOR),
            samples: samples(self.seen(reg::GB_AA_CONFIG), self.several(reg::GB_MSPOS0)),
        }
    }

    fn interpolators(&self, kind: Kind) -> interp::Interpolators {
        let registers = interp::Registers {
            formats: [
                self.get(reg::VAP_OUT_VTX_FMT_0),
                self.get(reg::VAP_OUT_VTX_FMT_1),
            ],
            enable: self.get(reg::GB_ENABLE),
            round: self.get(reg::GA_ROUND_MODE),
            instructions: self.seen(reg::RS_INST_COUNT),
            ip: self.several(reg::RS_IP_0),
            inst: self.several(reg::RS_INST_0),
            stuffing: match kind {
                Kind::Points => Some(0),
                Kind::Lines | Kind::LineStrip | Kind::LineLoop => Some(1),
                _ => None,
            },
        };
        registers.program()
    }

    fn pixel_program(&self) -> us::Program {
        let control = us::Control {
            config: self.seen(reg::US_CONFIG),
            code_addr: self.seen(reg::US_CODE_ADDR),
            code_range: self.seen(reg::US_CODE_RANGE),
            code_offset: self.seen(reg::US_CODE_OFFSET),
            booleans: self.seen(reg::US_FC_BOOL_CONST),
            integers: self.several(reg::US_FC_INT_CONST_0),
        };
        us::Program::new(self.gfx.three.memories.us_code(), &control)
    }

    fn depth(&self, targets: &Targets) -> Depth {
        let target = targets.surfaces.iter().find(|t| t.unit == Unit::Depth);
        let clears = self.seen(reg::ZB_BW_CNTL) >> 5 & 1 != 0;
        Depth {
            target: target.copied(),
            control: self.seen(reg::ZB_CNTL),
            functions: self.seen(reg::ZB_ZSTENCILCNTL),
            reference: [
                self.seen(reg::ZB_STENCILREFMASK),
                self.seen(reg::ZB_STENCILREFMASK_BF),
            ],
            early: self.seen(reg::ZB_ZTOP) & 1 != 0,
            clear: clears.then_some(self.seen(reg::ZB_DEPTHCLEARVALUE)),
        }
    }

    fn colours(&self, targets: &Targets) -> Vec<Colour> {
        let control = self.seen(reg::RB3D_CCTL);
        let repeated = (control >> 5 & 3) + 1;
        let mask = self.seen(reg::RB3D_COLOR_CHANNEL_MASK);
        let mine = targets.surfaces.iter().filter(|t| t.unit == Unit::Color);
        let colour = |t: &super::surfaces::Target| {
            // Copies are of the first output, in its format.
            let output = if t.number < repeated { 0 } else { t.number };
            let out_fmt = self.seen(reg::US_OUT_FMT0 + 4 * output);
            let packing = Packing::new(t.format, out_fmt)?;
            // Without masks of their own, all have the first one's (RB3D_CCTL 12).
            let shift = if control >> 12 & 1 != 0 {
                4 * t.number
            } else {
                0
            };
            let lanes = mask >> shift & 15;
            let fits = packing.bytes as u64 == t.bytes;
            fits.then(|| Colour::new(*t, packing, lanes, output as usize))
        };
        mine.filter_map(colour).collect()
    }

    fn resolve(&self, targets: &Targets) -> Option<Resolve> {
        let to = targets.surfaces.iter().find(|t| t.unit == Unit::Resolve);
        Some(Resolve {
            to: *to?,
            control: self.seen(reg::RB3D_AARESOLVE_CTL),
        })
    }
}
