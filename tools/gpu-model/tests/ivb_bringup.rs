// SPDX-License-Identifier: GPL-2.0 OR MIT
//! What a driver meets first on the modelled Ivy Bridge: ids, forcewake of several threads, what the
//! upstream driver's probe reads (digest V-01 to V-08; peer digest A.3, A.9, I.3).

use crate::ivb_rig::{block, Rig, ENGINES, RCS, STORE_GLOBAL, TARGET};
use gpu_model::fault::Fault;
use gpu_model::memory::VecMemory;
use gpu_model::model::{NoIrq, Options};
use gpu_model::ring::chip::IVB;
use gpu_model::ring::lint::Rule;
use gpu_model::ring::{FifoDrain, RingConfig};
use std::sync::Arc;

#[test]
fn ids() {
    // V-01: desktop 0152 and 0162, server 015a and 016a, mobile 0156 and 0166.
    let mut ids = IVB.ids.to_vec();
    assert_eq!(ids[0], 0x0162, "the usual one");
    ids.sort_unstable();
    assert_eq!(ids, [0x0152, 0x0156, 0x015a, 0x0162, 0x0166, 0x016a]);
    for id in ids {
        let options = Options {
            device_id: Some(id),
            ..Options::default()
        };
        let memory = Arc::new(VecMemory::new(1 << 20));
        let built = gpu_model::model::build("ivb", options, memory, Arc::new(NoIrq));
        let model = built.expect("there is one").expect("an id of its own");
        let mut word = [0; 4];
        model.config_read(0, &mut word);
        assert_eq!(u32::from_le_bytes(word), u32::from(id) << 16 | 0x8086);
        assert_eq!(model.name(), "ivb");
    }
    let options = Options {
        device_id: Some(0x0116),
        ..Options::default()
    };
    let memory = Arc::new(VecMemory::new(1 << 20));
    let built = gpu_model::model::build("ivb", options, memory, Arc::new(NoIrq));
    assert!(built.expect("there is one").is_err(), "another chip's");
}

#[test]
fn forcewake_of_several_threads() {
    // V-04: A188h is masked, a bit for each thread; 130040h acknowledges. ECOBUS bit 5 says so.
    let rig = Rig::found(Rig::choices());
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0xa180) & 1 << 5, 1 << 5);
    assert_eq!(rig.reg(0x13_0040) & 1, 1);
    assert_eq!(rig.reg(0x13_805c) & 7, 0);
    // Another thread requests; the first one releases, and the device stays awake.
    rig.set(0xa188, 0x0004_0004);
    rig.set(0xa188, 0x0001_0000);
    assert_eq!(rig.reg(0x13_0040), 4);
    rig.set(0x2094, 5);
    assert_eq!(rig.reg(0x2094), 5);
    // Without its mask bit a bit does not change.
    rig.set(0xa188, 0x0000_0001);
    assert_eq!(rig.reg(0x13_0040), 4);
    rig.clean();
    rig.set(0xa188, 0x0004_0000);
    assert_eq!(rig.reg(0x13_0040), 0);
    assert_eq!(rig.reg(0x2094), 0);
    assert_eq!(rig.gpu.lint_count(Rule::AsleepRead), 1);
    // The old one is not heard.
    rig.set(0xa18c, 1);
    assert_eq!((rig.reg(0x13_0090), rig.reg(0x13_0040)), (0, 0));
}

#[test]
fn forcewake_of_one_thread() {
    // V-04: with bit 5 of ECOBUS clear, A18Ch and 130090h as before.
    let rig = Rig::found(RingConfig {
        legacy_forcewake: true,
        ..Rig::choices()
    });
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0040), 0);
    rig.set(0xa18c, 1);
    assert_eq!((rig.reg(0x13_0090), rig.reg(0x13_805c) & 7), (1, 0));
    assert_eq!(rig.reg(0xa180) & 1 << 5, 0);
    rig.set(0x2094, 5);
    assert_eq!(rig.reg(0x2094), 5);
    rig.set(0xa18c, 0);
    assert_eq!(rig.reg(0x13_0090), 0);
    rig.clean();
    // As a server's option.
    for legacy_forcewake in [false, true] {
        let options = Options {
            legacy_forcewake,
            ..Options::default()
        };
        let memory = Arc::new(VecMemory::new(1 << 20));
        let model = gpu_model::model::build("ivb", options, memory, Arc::new(NoIrq));
        let model = model.expect("there is one").expect("made");
        for (at, value) in [(0xa188, 0x0001_0001u32), (0xa18c, 1)] {
            model.bar_write(0, at, &value.to_le_bytes());
        }
        let mut ack = [0; 4];
        model.bar_read(0, 0x13_0090, &mut ack);
        assert_eq!(ack[0], u8::from(legacy_forcewake));
    }
}

#[test]
fn forcewake_that_does_not_come() {
    let rig = Rig::found(Rig::choices());
    rig.gpu
        .inject("stuck-forcewake".parse::<Fault>().expect("a fault"));
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0040), 0);
    rig.set(0xa188, 0x0001_0000);
    rig.set(0xa188, 0x0001_0001);
    assert_eq!(rig.reg(0x13_0040), 1);
}

#[test]
fn the_display_is_fused_off() {
    // Peer digest A.9: SFUSE_STRAP C2014h is 0, and DEIER's master bit is on from the start, since the
    // upstream driver then leaves the block alone.
    let rig = Rig::found(Rig::choices());
    assert_eq!(rig.reg(0xc_2014), 0);
    assert_eq!(rig.reg(0x4_400c), 0x8000_0000);
    rig.set(0xa188, 0x0001_0001);
    for e in ENGINES {
        rig.set(block(e) + 0xa8, 0);
    }
    rig.clean();
}

#[test]
fn sizes_of_the_render_context() {
    // Peer digest A.9: 21A8h, bits 15:9 and 5:0 in lines of 64 bytes; not zero.
    let rig = Rig::bare(Rig::choices());
    let size = rig.reg(0x21a8);
    let lines = (size >> 9 & 0x7f) + (size & 0x3f);
    assert!(lines > 0 && lines * 64 <= 70 << 10, "{size:#x}");
    rig.set(0x21a8, 0);
    assert_eq!(rig.reg(0x21a8), size);
    rig.clean();
}

#[test]
fn contexts_of_the_render_engine() {
    // MI_SET_CONTEXT saves what the render engine has, extended part and all, within that size.
    let rig = Rig::new();
    let (one, two) = (0x20_0000, 0x21_0000);
    rig.run(RCS, &[0x0c00_0000, one | 0x109, 0]);
    rig.set(0x2310, 0x77);
    rig.run(RCS, &[0x0c00_0000, two | 0x109, 0]);
    rig.set(0x2310, 0x88);
    rig.run(RCS, &[0x0c00_0000, one | 0x10c, 0]);
    assert_eq!(rig.reg(0x2310), 0x77);
    let size = rig.reg(0x21a8);
    let bytes = ((size >> 9 & 0x7f) + (size & 0x3f)) * 64;
    assert!((one + bytes..two).step_by(4).all(|at| rig.at(at) == 0));
    assert_ne!(
        (one..one + bytes).step_by(4).map(|at| rig.at(at)).max(),
        Some(0)
    );
    rig.clean();
}

#[test]
fn what_upstream_touches_is_there() {
    // Peer digest I.3, all but the ring registers.
    let rig = Rig::bare(Rig::choices());
    for offset in [
        0x2024, 0x2054, 0x2064, 0x2090, 0x2098, 0x209c, 0x20a0, 0x20a8, 0x20b0, 0x20c0, 0x21a8,
        0x2220, 0x2228, 0x229c, 0x4080, 0x4090, 0x4094, 0x4180, 0x4194, 0x4280, 0x4394, 0x7008,
        0x7010, 0x900c, 0x9030, 0x9404, 0x941c, 0xa090, 0xa094, 0xa098, 0xa09c, 0xa0a0, 0xa0a8,
        0xa0ac, 0xa0b0, 0xa0b4, 0xa0b8, 0xa0bc, 0xa0c0, 0xa168, 0xa180, 0xa188, 0xa18c, 0xb01c,
        0xb030, 0xb034, 0xe4f4, 0xf4f4, 0x12054, 0x12098, 0x1209c, 0x120a8, 0x120c0, 0x12220,
        0x12228, 0x1229c, 0x14090, 0x22054, 0x22098, 0x2209c, 0x220a8, 0x220c0, 0x22220, 0x22228,
        0x2229c, 0x42000, 0x4200c, 0x42014, 0x42020, 0x4400c, 0x44014, 0x44018, 0x4401c, 0x44024,
        0x44028, 0x4402c, 0x45010, 0x78000, 0x78004, 0xc2004, 0xc2014, 0xc2020, 0xc400c, 0x101008,
        0x120000, 0x120008, 0x130040, 0x13805c, 0x138108, 0x13810c, 0x138124, 0x138128, 0x13812c,
        0x145004, 0x145008, 0x145998, 0x145d10, 0x145e04,
    ] {
        rig.reg(offset);
    }
    rig.clean();
}

#[test]
fn workarounds_stay() {
    // Peer digest A.9: upstream reads back what it has set; its list must be empty. Masked, but for
    // 9030h, B01Ch, B030h, B034h.
    let rig = Rig::bare(Rig::choices());
    for (offset, masked) in [
        (0x20a0, false),
        (0x2090, true),
        (0x7008, true),
        (0x7010, true),
        (0x9030, false),
        (0x900c, false),
        (0xb01c, false),
        (0xb030, false),
        (0xb034, false),
        (0xe4f4, true),
        (0xf4f4, true),
    ] {
        rig.set(offset, if masked { 0x0420_0420 } else { 0x0420 });
        assert_eq!(rig.reg(offset), 0x0420, "{offset:#x}");
    }
    // A reset of the render engine loses the masked ones but for none that is not its own.
    rig.clean();
}

#[test]
fn an_idle_machine_in_real_time_runs() {
    let memory = Arc::new(VecMemory::new(crate::ivb_rig::MEMORY));
    let gpu = gpu_model::ring::RingGpu::in_real_time(
        RingConfig {
            fifo: FifoDrain::Timed(100),
            ..Rig::choices()
        },
        memory.clone(),
        Arc::new(NoIrq),
    );
    gpu.start_engines();
    gpu.mmio_write32(0xa188, 0x0001_0001);
    for page in 1..1024 {
        gpu.gtt_write(page, (page << 12) | 0x5);
    }
    gpu.mmio_write32(0x12038, 0x20000);
    memory
        .put_dwords(0x20000, &[STORE_GLOBAL, 0, TARGET, 1])
        .expect("in memory");
    gpu.mmio_write32(0x1203c, 1);
    gpu.mmio_write32(0x12030, 0x10);
    for _ in 0..2000 {
        if memory.dword(u64::from(TARGET)) == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(memory.dword(u64::from(TARGET)), 1);
    gpu.stop_engines();
}
