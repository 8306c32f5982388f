// SPDX-License-Identifier: GPL-2.0 OR MIT
//! Lengths and names of 3D and media commands (client 3), which the models parse and skip.
//!
//! Header: 28:27 sub-type, 26:24 opcode, 23:16 sub-opcode, length in 7:0 (media on the render
//! engine 15:0, but for `GPGPU`; on the video engine 11:0, or 15:0 for opcode 6), bias two (digest §2.2).

/// A command of the render engine: bits 31:16 of the header, name, whether it is always one dword.
pub struct Def(pub u32, pub &'static str, pub bool);

/// Commands that Gen6 and Gen7 have.
pub const COMMON: &[Def] = &[
    Def(0x6101, "STATE_BASE_ADDRESS", false),
    Def(0x6102, "STATE_SIP", false),
    Def(0x6904, "PIPELINE_SELECT", true),
    Def(0x680b, "3DSTATE_VF_STATISTICS", true),
    Def(0x690b, "3DSTATE_VF_STATISTICS", true),
    Def(0x7000, "MEDIA_VFE_STATE", false),
    Def(0x7001, "MEDIA_CURBE_LOAD", false),
    Def(0x7002, "MEDIA_INTERFACE_DESCRIPTOR_LOAD", false),
    Def(0x7003, "MEDIA_GATEWAY_STATE", false),
    Def(0x7004, "MEDIA_STATE_FLUSH", false),
    Def(0x7100, "MEDIA_OBJECT", false),
    Def(0x7102, "MEDIA_OBJECT_PRT", false),
    Def(0x7103, "MEDIA_OBJECT_WALKER", false),
    Def(0x7808, "3DSTATE_VERTEX_BUFFERS", false),
    Def(0x7809, "3DSTATE_VERTEX_ELEMENTS", false),
    Def(0x780a, "3DSTATE_INDEX_BUFFER", false),
    Def(0x780e, "3DSTATE_CC_STATE_POINTERS", false),
    Def(0x780f, "3DSTATE_SCISSOR_STATE_POINTERS", false),
    Def(0x7810, "3DSTATE_VS", false),
    Def(0x7811, "3DSTATE_GS", false),
    Def(0x7812, "3DSTATE_CLIP", false),
    Def(0x7813, "3DSTATE_SF", false),
    Def(0x7814, "3DSTATE_WM", false),
    Def(0x7815, "3DSTATE_CONSTANT_VS", false),
    Def(0x7816, "3DSTATE_CONSTANT_GS", false),
    Def(0x7817, "3DSTATE_CONSTANT_PS", false),
    Def(0x7818, "3DSTATE_SAMPLE_MASK", false),
    Def(0x7900, "3DSTATE_DRAWING_RECTANGLE", false),
    Def(0x7902, "3DSTATE_SAMPLER_PALETTE_LOAD0", false),
    Def(0x7904, "3DSTATE_CHROMA_KEY", false),
    Def(0x7906, "3DSTATE_POLY_STIPPLE_OFFSET", false),
    Def(0x7907, "3DSTATE_POLY_STIPPLE_PATTERN", false),
    Def(0x7908, "3DSTATE_LINE_STIPPLE", false),
    Def(0x790a, "3DSTATE_AA_LINE_PARAMETERS", false),
    Def(0x790c, "3DSTATE_SAMPLER_PALETTE_LOAD1", false),
    Def(0x790d, "3DSTATE_MULTISAMPLE", false),
    Def(0x7911, "3DSTATE_MONOFILTER_SIZE", false),
    Def(PIPE_CONTROL, "PIPE_CONTROL", false),
    Def(0x7b00, "3DPRIMITIVE", false),
];

/// Those of Gen6 that Gen7 has elsewhere, or in another shape.
pub const GEN6: &[Def] = &[
    Def(0x7801, "3DSTATE_BINDING_TABLE_POINTERS", false),
    Def(0x7802, "3DSTATE_SAMPLER_STATE_POINTERS", false),
    Def(0x7805, "3DSTATE_URB", false),
    Def(0x780d, "3DSTATE_VIEWPORT_STATE_POINTERS", false),
    Def(0x7905, "3DSTATE_DEPTH_BUFFER", false),
    Def(0x790b, "3DSTATE_GS_SVB_INDEX", false),
    Def(0x790e, "3DSTATE_STENCIL_BUFFER", false),
    Def(0x790f, "3DSTATE_HIER_DEPTH_BUFFER", false),
    Def(0x7910, "3DSTATE_CLEAR_PARAMS", false),
];

/// Those of Gen7 (names and opcodes are the upstream driver's).
pub const GEN7: &[Def] = &[
    Def(0x6103, "SWTESS_BASE_ADDRESS", false),
    Def(0x6104, "GPGPU_CSR_BASE_ADDRESS", false),
    Def(0x7104, "GPGPU_OBJECT", false),
    Def(0x7105, "GPGPU_WALKER", false),
    Def(0x7804, "3DSTATE_CLEAR_PARAMS", false),
    Def(0x7805, "3DSTATE_DEPTH_BUFFER", false),
    Def(0x7806, "3DSTATE_STENCIL_BUFFER", false),
    Def(0x7807, "3DSTATE_HIER_DEPTH_BUFFER", false),
    Def(0x7819, "3DSTATE_CONSTANT_HS", false),
    Def(0x781a, "3DSTATE_CONSTANT_DS", false),
    Def(0x781b, "3DSTATE_HS", false),
    Def(0x781c, "3DSTATE_TE", false),
    Def(0x781d, "3DSTATE_DS", false),
    Def(0x781e, "3DSTATE_STREAMOUT", false),
    Def(0x781f, "3DSTATE_SBE", false),
    Def(0x7820, "3DSTATE_PS", false),
    Def(0x7821, "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP", false),
    Def(0x7823, "3DSTATE_VIEWPORT_STATE_POINTERS_CC", false),
    Def(0x7824, "3DSTATE_BLEND_STATE_POINTERS", false),
    Def(0x7825, "3DSTATE_DEPTH_STENCIL_STATE_POINTERS", false),
    Def(0x7826, "3DSTATE_BINDING_TABLE_POINTERS_VS", false),
    Def(0x7827, "3DSTATE_BINDING_TABLE_POINTERS_HS", false),
    Def(0x7828, "3DSTATE_BINDING_TABLE_POINTERS_DS", false),
    Def(0x7829, "3DSTATE_BINDING_TABLE_POINTERS_GS", false),
    Def(0x782a, "3DSTATE_BINDING_TABLE_POINTERS_PS", false),
    Def(0x782b, "3DSTATE_SAMPLER_STATE_POINTERS_VS", false),
    Def(0x782c, "3DSTATE_SAMPLER_STATE_POINTERS_HS", false),
    Def(0x782d, "3DSTATE_SAMPLER_STATE_POINTERS_DS", false),
    Def(0x782e, "3DSTATE_SAMPLER_STATE_POINTERS_GS", false),
    Def(0x782f, "3DSTATE_SAMPLER_STATE_POINTERS_PS", false),
    Def(0x7830, "3DSTATE_URB_VS", false),
    Def(0x7831, "3DSTATE_URB_HS", false),
    Def(0x7832, "3DSTATE_URB_DS", false),
    Def(0x7833, "3DSTATE_URB_GS", false),
    Def(0x7912, "3DSTATE_PUSH_CONSTANT_ALLOC_VS", false),
    Def(0x7913, "3DSTATE_PUSH_CONSTANT_ALLOC_HS", false),
    Def(0x7914, "3DSTATE_PUSH_CONSTANT_ALLOC_DS", false),
    Def(0x7915, "3DSTATE_PUSH_CONSTANT_ALLOC_GS", false),
    Def(0x7916, "3DSTATE_PUSH_CONSTANT_ALLOC_PS", false),
    Def(SO_DECL_LIST, "3DSTATE_SO_DECL_LIST", false),
    Def(0x7918, "3DSTATE_SO_BUFFER", false),
];

/// Those of Gen4. Names, places and lengths are those of a real machine's batch (digest of witnesses GW45 to
/// GW55) and of the user-space driver; the 3D volume is not among the documents.
pub const GEN4: &[Def] = &[
    Def(0x6000, "URB_FENCE", false),
    Def(0x6001, "CS_URB_STATE", false),
    Def(0x6002, "CONSTANT_BUFFER", false),
    Def(0x6101, "STATE_BASE_ADDRESS", false),
    Def(0x6102, "STATE_SIP", false),
    Def(0x7000, "MEDIA_STATE_POINTERS", false),
    Def(0x7100, "MEDIA_OBJECT", false),
    Def(0x7101, "MEDIA_OBJECT_EX", false),
    Def(0x7800, "3DSTATE_PIPELINED_POINTERS", false),
    Def(0x7801, "3DSTATE_BINDING_TABLE_POINTERS", false),
    Def(0x7808, "3DSTATE_VERTEX_BUFFERS", false),
    Def(0x7809, "3DSTATE_VERTEX_ELEMENTS", false),
    Def(0x780a, "3DSTATE_INDEX_BUFFER", false),
    Def(0x7900, "3DSTATE_DRAWING_RECTANGLE", false),
    Def(0x7901, "3DSTATE_CONSTANT_COLOR", false),
    Def(0x7902, "3DSTATE_SAMPLER_PALETTE_LOAD0", false),
    Def(0x7904, "3DSTATE_CHROMA_KEY", false),
    Def(0x7905, "3DSTATE_DEPTH_BUFFER", false),
    Def(0x7906, "3DSTATE_POLY_STIPPLE_OFFSET", false),
    Def(0x7907, "3DSTATE_POLY_STIPPLE_PATTERN", false),
    Def(0x7908, "3DSTATE_LINE_STIPPLE", false),
    Def(0x7909, "3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP", false),
    Def(0x790a, "3DSTATE_AA_LINE_PARAMETERS", false),
    Def(0x790b, "3DSTATE_GS_SVB_INDEX", false),
    Def(PIPE_CONTROL, "PIPE_CONTROL", false),
    Def(0x7b00, "3DPRIMITIVE", false),
];

/// Those of 965G and GM965 that their successors have elsewhere (the user-space driver).
pub const G965: &[Def] = &[
    Def(0x6104, "PIPELINE_SELECT", true),
    Def(0x780b, "3DSTATE_VF_STATISTICS", true),
];

/// And where G45 and GM45 have them (GW45).
pub const G4X: &[Def] = &[
    Def(0x6904, "PIPELINE_SELECT", true),
    Def(0x680b, "3DSTATE_VF_STATISTICS", true),
];

/// Bits 31:16 of those of media whose length is 7:0; bit 8 says that they are predicated, bit 10 that a walker's
/// size is in registers (the public XML of this generation).
const GPGPU: [u32; 2] = [0x7104, 0x7105];
/// Bits 31:16 of the one whose length has nine bits.
const SO_DECL_LIST: u32 = 0x7917;
/// Bits 31:16 of a PIPE_CONTROL header.
pub const PIPE_CONTROL: u32 = 0x7a00;

/// Sub-types, bits 28:27.
fn sub_type(header: u32) -> u32 {
    (header >> 27) & 3
}

/// Name and length of a client-3 command on the render engine by a chip's tables; `None` if there is none.
pub fn render(tables: &[&'static [Def]], header: u32) -> Option<(&'static str, usize)> {
    let mut all = tables.iter().copied().flatten();
    // Flags of Gen4's PIPE_CONTROL are in the header, bits 15:8.
    let def = all.find(|d| d.0 == header >> 16)?;
    let len = match (def.2, sub_type(header)) {
        (true, _) => 1,
        _ if def.0 == SO_DECL_LIST => (header & 0x1ff) as usize + 2,
        (false, 2) if !GPGPU.contains(&def.0) => (header & 0xffff) as usize + 2,
        (false, _) => (header & 0xff) as usize + 2,
    };
    Some((def.1, len))
}

/// Name and length of a client-3 command on the video engine; `None` if there is none.
pub fn video(header: u32) -> Option<(&'static str, usize)> {
    match sub_type(header) {
        1 if (header >> 16) & 0x7ff == 0 => Some(("MFX_WAIT", 1)),
        2 if (header >> 24) & 7 == 6 => Some(("MFX", (header & 0xffff) as usize + 2)),
        2 => Some(("MFX", (header & 0xfff) as usize + 2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNB: &[&[Def]] = &[COMMON, GEN6];

    #[test]
    fn headers_of_gen7() {
        let ivb: &[&[Def]] = &[COMMON, GEN7];
        assert_eq!(render(ivb, 0x7820_0006), Some(("3DSTATE_PS", 8)));
        assert_eq!(render(ivb, 0x7805_0005), Some(("3DSTATE_DEPTH_BUFFER", 7)));
        assert_eq!(
            render(ivb, 0x7917_0101),
            Some(("3DSTATE_SO_DECL_LIST", 0x103))
        );
        assert_eq!(render(ivb, 0x7a00_0002), Some(("PIPE_CONTROL", 4)));
        // Predicated and indirect.
        assert_eq!(render(ivb, 0x7105_0509), Some(("GPGPU_WALKER", 11)));
        assert_eq!(render(ivb, 0x7104_0106), Some(("GPGPU_OBJECT", 8)));
        assert_eq!(render(ivb, 0x7100_0100), Some(("MEDIA_OBJECT", 0x102)));
        assert_eq!(render(ivb, 0x7905_0005), None, "Gen6's place");
        assert_eq!(render(SNB, 0x7820_0006), None);
    }

    #[test]
    fn headers_of_a_real_gen4_batch() {
        // GW45 to GW54.
        let g45: &[&[Def]] = &[GEN4, G4X];
        for (header, name, length) in [
            (0x6904_0000, "PIPELINE_SELECT", 1),
            (0x680b_0000, "3DSTATE_VF_STATISTICS", 1),
            (0x7909_0000, "3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP", 2),
            (0x6102_0000, "STATE_SIP", 2),
            (0x6001_0000, "CS_URB_STATE", 2),
            (0x6101_0004, "STATE_BASE_ADDRESS", 6),
            (0x7801_0004, "3DSTATE_BINDING_TABLE_POINTERS", 6),
            (0x7800_0005, "3DSTATE_PIPELINED_POINTERS", 7),
            (0x6000_3f01, "URB_FENCE", 3),
            (0x7901_0003, "3DSTATE_CONSTANT_COLOR", 5),
            (0x7905_0004, "3DSTATE_DEPTH_BUFFER", 6),
            (0x7900_0002, "3DSTATE_DRAWING_RECTANGLE", 4),
            (0x7808_000f, "3DSTATE_VERTEX_BUFFERS", 17),
            (0x7809_0007, "3DSTATE_VERTEX_ELEMENTS", 9),
            (0x6002_0100, "CONSTANT_BUFFER", 2),
            (0x7b00_3804, "3DPRIMITIVE", 6),
            (0x7b00_1c04, "3DPRIMITIVE", 6),
        ] {
            assert_eq!(render(g45, header), Some((name, length)), "{header:08x}");
        }
        // Digest G-24: four dwords, flags in the header.
        assert_eq!(render(g45, 0x7a00_d102), Some(("PIPE_CONTROL", 4)));
        assert_eq!(render(g45, 0x7820_0006), None, "Gen7's");
        let g965: &[&[Def]] = &[GEN4, G965];
        assert_eq!(render(g965, 0x6104_0000), Some(("PIPELINE_SELECT", 1)));
        assert_eq!(render(g965, 0x6904_0000), None);
        assert_eq!(render(g45, 0x6104_0000), None);
    }

    #[test]
    fn literal_headers() {
        assert_eq!(render(SNB, 0x7a00_0002), Some(("PIPE_CONTROL", 4)));
        assert_eq!(render(SNB, 0x7a00_0003), Some(("PIPE_CONTROL", 5)));
        assert_eq!(render(SNB, 0x6904_0000), Some(("PIPELINE_SELECT", 1)));
        assert_eq!(render(SNB, 0x6101_0008), Some(("STATE_BASE_ADDRESS", 10)));
        assert_eq!(render(SNB, 0x7b00_0004), Some(("3DPRIMITIVE", 6)));
        assert_eq!(render(SNB, 0x7000_0006), Some(("MEDIA_VFE_STATE", 8)));
        assert_eq!(
            render(SNB, 0x7907_001f),
            Some(("3DSTATE_POLY_STIPPLE_PATTERN", 33))
        );
        assert_eq!(render(SNB, 0x7fff_0000), None);
        assert_eq!(video(0x6800_0000), Some(("MFX_WAIT", 1)));
        assert_eq!(video(0x7000_0002), Some(("MFX", 4)));
        assert_eq!(video(0x7600_1000), Some(("MFX", 0x1002)));
        assert_eq!(video(0x7a00_0002), None);
    }
}
