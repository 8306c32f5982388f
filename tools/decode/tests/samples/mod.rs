// SPDX-License-Identifier: GPL-2.0
//! Texts as kernels of different years write them, made from the descriptions of their formats: nobody's dump. Each
//! test target uses some.
#![allow(dead_code)]

use flate2::{write::ZlibEncoder, Compression};
use std::fmt::Write as _;
use std::io::Write as _;

/// A page that begins with these dwords.
pub fn page(dwords: &[u32]) -> Vec<u32> {
    let mut all = dwords.to_vec();
    all.resize(all.len().next_multiple_of(1024), 0);
    all
}

/// A page with dwords at some places.
pub fn pieces(pieces: &[(usize, &[u32])]) -> Vec<u32> {
    let mut all = vec![0; 1024];
    for (at, dwords) in pieces {
        all[*at..at + dwords.len()].copy_from_slice(dwords);
    }
    all
}

/// One dword a line, as until 4.10.
pub fn rows(dwords: &[u32]) -> String {
    let mut out = String::new();
    for (n, dword) in dwords.iter().enumerate() {
        writeln!(out, "{:08x} :  {dword:08x}", n * 4).expect("a string takes all");
    }
    out
}

/// To the base 85.
pub fn digits(dwords: &[u32]) -> String {
    let mut out = String::new();
    for d in dwords {
        if *d == 0 {
            out.push('z');
            continue;
        }
        for power in [85u32.pow(4), 85 * 85 * 85, 85 * 85, 85, 1] {
            out.push(char::from(0x21 + (d / power % 85) as u8));
        }
    }
    out
}

/// Not compressed, as with `CONFIG_DRM_I915_COMPRESS_ERROR` off.
pub fn plain(dwords: &[u32]) -> String {
    format!("~{}\n", digits(dwords))
}

/// Compressed, as since 4.11.
pub fn packed(dwords: &[u32]) -> String {
    let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&bytes).expect("memory takes all");
    let mut stream = encoder.finish().expect("memory takes all");
    stream.resize(stream.len().next_multiple_of(4), 0);
    let all: Vec<u32> = stream
        .chunks(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect();
    format!(":{}\n", digits(&all))
}

/// A request of Gen4's ring: flush, batch, flush, number, interrupt.
fn request(batch: u32, number: u32) -> [u32; 10] {
    [
        0x0200_0026,
        0,
        0x1880_0180,
        batch,
        0x0200_0024,
        0,
        0x1080_0001,
        0x80,
        number,
        0x0100_0000,
    ]
}

/// GM45 under 3.9. Its ring has wrapped: the head is behind the tail, and behind that lie remains, first the end of a
/// command that the tail has cut.
pub fn gm45() -> String {
    let batch = page(&[
        0x6904_0000,
        0x6101_0004,
        1,
        0x10c5_3001,
        1,
        0,
        0,
        0x7b00_3804,
        4,
        0,
        1,
        0,
        0,
        0x6002_0100,
        0x10c5_4001,
        0x7b00_3804,
        4,
        4,
        1,
        0,
        0,
        0x0200_0004,
        0x0500_0000,
    ]);
    let ring = pieces(&[
        (0, &request(0x10c6_3000, 0x12)),
        (10, &[0x80, 7, 0x0100_0000]),
        (1004, &request(0x10c4_3000, 0x10)),
        (1014, &request(0x10c5_3000, 0x11)),
    ]);
    String::from(
        "Time: 1361486941 s 24003 us\n\
         Kernel: 3.9.0\n\
         PCI ID: 0x2a42\n\
         EIR: 0x00000020\n\
         IER: 0x02028c53\n\
         PGTBL_ER: 0x00100000\n\
         \x20 fence[0] = 1f5700001f4800d\n\
         \x20 fence[1] = 00000000\n\
         render command stream:\n\
         \x20 HEAD: 0x00600fe8\n\
         \x20 TAIL: 0x00000028\n\
         \x20 CTL: 0x00000001\n\
         \x20 ACTHD: 0x10c53034\n\
         \x20 IPEIR: 0x00000000\n\
         \x20 IPEHR: 0x7b003804\n\
         \x20 INSTDONE: 0x80dfffff\n\
         \x20 INSTDONE1: 0xffffffbe\n\
         \x20 BBADDR: 0x10c53037\n\
         \x20 INSTPM: 0x00000000\n\
         \x20 FADDR: 0x10c53200\n\
         \x20 seqno: 0x00000010\n\
         \x20 waiting: yes\n\
         \x20 ring->head: 0x00000000\n\
         \x20 ring->tail: 0x00000028\n\
         bsd command stream:\n\
         \x20 HEAD: 0x00000000\n\
         \x20 TAIL: 0x00000000\n\
         \x20 ACTHD: 0x00000000\n\
         \x20 IPEHR: 0x00000000\n\
         \x20 seqno: 0x00000000\n\
         \x20 waiting: no\n\
         Active [2]:\n\
         \x20 10c53000     4096 0050 0000 00000011 dirty purgeable render uncached\n\
         \x20 10c63000    65536 0060 0000 00000012 X dirty render uncached (name: 2) (fence: 0)\n\
         Pinned [1]:\n\
         \x20 00001000     4096 0040 0040 00000000 P dirty uncached\n\
         render ring --- gtt_offset = 0x10c53000\n",
    ) + &rows(&batch)
        + "render ring --- 2 requests\n\
           \x20 seqno 0x00000011, emitted 4297777194, tail 0x00000ff8\n\
           \x20 seqno 0x00000012, emitted 4297777195, tail 0x00000020\n\
           render ring --- ringbuffer = 0x00001000\n"
        + &rows(&ring)
        + "bsd ring --- ringbuffer = 0x00022000\n"
        + &rows(&page(&[0]))
        + "Pipe [0]:\n\
           \x20 CONF: 00000000\n\
           Plane [0]:\n\
           \x20 ADDR: 00000000\n"
}

/// 965G under 2.6.35: no engine has a name, and no ring has a register.
pub fn first_kernels() -> String {
    let batch = page(&[
        0x6104_0000,
        0x54f0_0006,
        0x03cc_0100,
        0,
        0x0010_0010,
        0x0020_0000,
        0,
        0x100,
        0x0030_0000,
        0x0500_0000,
    ]);
    let ring = page(&[0x1880_0180, 0x0300_0000, 0x0200_0000, 0]);
    String::from(
        "Time: 1278512451 s 982711 us\n\
         PCI ID: 0x29a2\n\
         EIR: 0x00000010\n\
         \x20 PGTBL_ER: 0x00000001\n\
         \x20 INSTPM: 0x00000000\n\
         \x20 IPEIR: 0x00000000\n\
         \x20 IPEHR: 0x61040000\n\
         \x20 INSTDONE: 0xfffffffe\n\
         \x20 ACTHD: 0x03000004\n\
         \x20 INSTDONE1: 0xffffffff\n\
         \x20 seqno: 0x00000007\n\
         Buffers [1]:\n\
         \x20 03000000     4096 00000010 00000000 00000008 dirty purgeable\n\
         --- gtt_offset = 0x03000000\n",
    ) + &rows(&batch)
        + "--- ringbuffer = 0x00004000\n"
        + &rows(&ring)
}

/// Sandy Bridge under 4.15, compressed. The engine stands in its ring behind a PIPE_CONTROL, with a page fault.
pub fn sandy_bridge() -> String {
    let one = |number: u32| {
        [
            0x1880_0100,
            0x0200_0000,
            0x7a00_0003,
            0x0010_1001,
            0x0012_e004,
            0,
            0,
            0x1080_0001,
            0xc0,
            number,
            0x0100_0000,
            0,
        ]
    };
    let ring = pieces(&[(0, &one(5)), (12, &one(6))]);
    let batch = page(&[
        0x6904_0001,
        0x7000_0006,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0x7100_0004,
        0,
        0,
        0,
        0,
        0,
        0x0500_0000,
    ]);
    String::from(
        "GPU HANG: ecode 6:0:0xf288ffec, in ffmpeg [3825], reason: Hang on rcs0, action: reset\n\
         Kernel: 4.15.0-20-generic\n\
         Time: 1526686410 s 103856 us\n\
         Active process (on ring render): ffmpeg [3825], score 0\n\
         Platform: SANDYBRIDGE\n\
         PCI ID: 0x0126\n\
         EIR: 0x00000000\n\
         PGTBL_ER: 0x00000000\n\
         Missed interrupts: 0x00000000\n\
         ERROR: 0x00000005\n\
         DONE_REG: 0x00000000\n\
         render command stream:\n\
         \x20 START: 0x0012d000\n\
         \x20 HEAD:  0x0620001c [0x00000000]\n\
         \x20 TAIL:  0x00000060 [0x00000008, 0x00000030]\n\
         \x20 CTL:   0x00000001\n\
         \x20 ACTHD: 0x00000000 0620001c\n\
         \x20 IPEIR: 0x00000000\n\
         \x20 IPEHR: 0x7a000003\n\
         \x20 INSTDONE: 0x8888ffef\n\
         \x20 SC_INSTDONE: 0xfffffffe\n\
         \x20 batch: [0x00000000_02000000, 0x00000000_02001000]\n\
         \x20 BBADDR: 0x00000000_0200003d\n\
         \x20 FADDR: 0x00000000 0012d200\n\
         \x20 FAULT_REG: 0x02000003\n\
         \x20 seqno: 0x00000004\n\
         \x20 last_seqno: 0x00000006\n\
         \x20 waiting: yes\n\
         \x20 hangcheck stall: yes\n\
         \x20 hangcheck action: dead\n\
         bsd command stream:\n\
         \x20 START: 0x00134000\n\
         \x20 HEAD:  0x00000040 [0x00000000]\n\
         \x20 TAIL:  0x00000040 [0x00000000, 0x00000000]\n\
         \x20 ACTHD: 0x00000000 00000040\n\
         \x20 seqno: 0x00000004\n\
         \x20 last_seqno: 0x00000004\n\
         \x20 waiting: no\n\
         Active (rcs0) [1]:\n\
         \x20   00000000_02000000     4096 3e 00 dirty LLC\n\
         rcs0 (submitted by ffmpeg [3825], ctx 3 [4], score 0) --- gtt_offset = 0x00000000 02000000\n",
    ) + &packed(&batch)
        + "rcs0 --- 2 requests\n\
           \x20 pid 3825, ban score 0, seqno        4:00000005, emitted 6804ms ago, head 00000000, tail 00000030\n\
           \x20 pid 3825, ban score 0, seqno        4:00000006, emitted 6803ms ago, head 00000030, tail 00000060\n\
           rcs0 --- 1 waiters\n\
           \x20seqno 0x00000006 for ffmpeg [3825]\n\
           rcs0 --- ringbuffer = 0x00000000 0012d000\n"
        + &packed(&ring)
        + "rcs0 --- HW Status = 0x00000000 7fdfd000\n"
        + &packed(&page(&[0, 4]))
}

/// Tiger Lake under 6.1, not compressed: lists, and a batch that leads to a second one, where a semaphore waits.
pub fn tiger_lake() -> String {
    let batch = page(&[0x1040_0002, 0x2000, 0, 7, 0x1880_0101, 0x0020_0000, 0]);
    let second = page(&[
        0x7a00_0004,
        0x0010_1000,
        0,
        0,
        0,
        0,
        0x0e00_8002,
        5,
        0x0030_0000,
        0,
        0x7b00_0005,
        4,
        3,
        0,
        1,
        0,
        0,
        0x0500_0000,
    ]);
    let ring = page(&[
        0x0280_0000,
        0x0400_0001,
        0x1880_0001,
        0x0010_0000,
        0,
        0x0400_0000,
        0x7a00_0004,
        0x0114_4000,
        0x2080,
        0,
        9,
        0,
        0x0280_0001,
        0x0100_0000,
    ]);
    String::from(
        "GPU HANG: ecode 12:1:85dffffb, in chrome [1818]\n\
         Kernel: 6.1.0-13-amd64 x86_64\n\
         Active process (on ring rcs0): chrome [1818]\n\
         Platform: TIGERLAKE\n\
         PCI ID: 0x9a49\n\
         EIR: 0x00000000\n\
         PGTBL_ER: 0x00000000\n\
         FAULT_TLB_DATA: 0x00000000 0x00000300\n\
         rcs0 command stream:\n\
         \x20 CCID:  0x00000000\n\
         \x20 START: 0x00ae1000\n\
         \x20 HEAD:  0x00000014 [0x00000000]\n\
         \x20 TAIL:  0x00000038 [0x00000014, 0x00000038]\n\
         \x20 CTL:   0x00000001\n\
         \x20 ACTHD: 0x00000000 00200028\n\
         \x20 IPEIR: 0x00000000\n\
         \x20 IPEHR: 0x0e008002\n\
         \x20 ESR:   0x00000000\n\
         \x20 INSTDONE: 0xffdffffb\n\
         \x20 SC_INSTDONE: 0xffffffff\n\
         \x20 BBADDR: 0x00000000_00200029\n\
         \x20 FAULT_REG: 0x00000000\n\
         \x20 ELSP[0]:  pid 1818, seqno     1e44:0000000a, prio 2, head 00000000, tail 00000038\n\
         \x20 ELSP[1]:\n\
         \x20 hung: 1\n\
         \x20 engine reset count: 0\n\
         \x20 Active context: chrome[1818] prio 0, guilty 1 active 0, runtime total 0ns, avg 0ns\n\
         rcs0 --- ring = 0x00000000 00ae1000\n",
    ) + &plain(&ring)
        + "rcs0 --- HW context = 0x00000000 00ad0000\n~zzz\n\
           rcs0 --- batch = 0x00000000 00100000\n"
        + &plain(&batch)
        + "rcs0 --- user = 0x00000000 00200000\n"
        + &plain(&second)
        + "GuC firmware: i915/tgl_guc_70.bin\n\
           graphics version: 12\n\
           is_mobile: no\n\
           i915.modeset=-1\n"
}

/// A DG2 under xe: a walker does not end; the batch leads into a second one and back.
pub fn xe() -> String {
    let mut batch = vec![0x1040_0002, 0x8000, 0x7f00, 1, 0x7208_0025];
    batch.resize(43, 0);
    batch.extend([0x18c0_0101, 0x1000, 0x7f01, 0x0500_0000]);
    let second = [0x1200_0002, 0x2358, 0x9000, 0x7f00, 0x0500_0000];
    format!(
        "**** Xe Device Coredump ****\n\
         kernel: 6.12.1\n\
         module: xe\n\
         Snapshot time: 1733555164.168474408\n\
         Process: vkcube\n\
         PCI ID: 0x56a0\n\
         PCI revision: 0x08\n\
         GT id: 0\n\
         \tType: main\n\
         \n\
         **** GuC CT ****\n\
         H2G CTB (all sizes in DW):\n\
         \tsize: 1024\n\
         \n\
         GuC ID: 5\n\
         \tName: rcs5\n\
         \tClass: 0\n\
         \tLRC Head: (memory) 64\n\
         \tLRC Tail: (internal) 632, (memory) 632\n\
         \tStart seqno: (memory) -127\n\
         \tSeqno: (memory) -128\n\
         \t[HWSP].length: 0x10\n\
         \t[HWSP].data: zzzz\n\
         \tJob: seqno=-127, fence=1, finished=0\n\
         \n\
         **** Job ****\n\
         batch_addr[0]: 0x00007f0100000000\n\
         \n\
         **** HW Engines ****\n\
         rcs0 (physical), logical instance=0\n\
         \tForcewake: domain 0x2, ref 1\n\
         \tRING_START: 0x00500000\n\
         \tRING_HEAD: 0x00000040\n\
         \tRING_TAIL: 0x00000278\n\
         \tRING_CTL: 0x00003001\n\
         \tRING_ESR: 0x00000001\n\
         \tACTHD: 0x00007f0100000010\n\
         \tIPEHR: 0x72080025\n\
         \n\
         **** VM state ****\n\
         [7f0100000000].length: {:#x}\n\
         [7f0100000000].data: {}\n\
         [7f0100001000].length: {:#x}\n\
         [7f0100001000].data: {}\n\
         [7f0200000000].length: 0x1000\n\
         [7f0200000000].error: -14\n",
        batch.len() * 4,
        digits(&batch),
        second.len() * 4,
        digits(&second),
    )
}

/// An RV515 whose ring does not move.
pub const RADEON: &str = "\
[    2.103811] [drm] initializing kernel modesetting (RV515 0x1002:0x7187 0x1043:0x0146).\n\
[  120.000001] radeon 0000:01:00.0: ring 0 stalled for more than 10003msec\n\
[  120.000002] radeon 0000:01:00.0: GPU lockup (current fence id 0x000000000000100e last fence id 0x0000000000001011 on ring 0)\n\
[  121.000001] radeon 0000:01:00.0: Saved 82 dwords of commands on ring 0.\n\
[  121.000002] radeon 0000:01:00.0: (rs600_asic_reset:348) RBBM_STATUS=0x80100040\n\
[  122.000001] radeon 0000:01:00.0: GPU reset succeed\n";

/// All of them.
pub fn all() -> Vec<String> {
    let radeon = String::from(RADEON);
    vec![
        gm45(),
        first_kernels(),
        sandy_bridge(),
        tiger_lake(),
        xe(),
        radeon,
    ]
}
