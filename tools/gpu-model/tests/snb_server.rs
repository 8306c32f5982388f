// SPDX-License-Identifier: GPL-2.0 OR MIT
//! The server as QEMU meets it: the protocol crate's own client drives it over a socket, with
//! guest memory in a file, interrupts in eventfds and the engines on their threads.

use gpu_model::dma::DmaMemory;
use gpu_model::memory::{GuestMemory, MemoryError};
use gpu_model::model::{self, GpuModel, Options};
use gpu_model::server::{serve, VfioIrq};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD, VFIO_PCI_CONFIG_REGION_INDEX,
    VFIO_PCI_INTX_IRQ_INDEX, VFIO_PCI_MSI_IRQ_INDEX,
};
use vfio_user::Client;

const MEMORY: u64 = 4 << 20;
/// A bound for things that happen in microseconds: not a measurement.
const PATIENCE: Duration = Duration::from_secs(120);

struct ServerTest {
    client: Client,
    memory: File,
    model: Arc<dyn GpuModel>,
    server: JoinHandle<anyhow::Result<()>>,
    socket: PathBuf,
}

fn memfd(size: u64) -> File {
    let fd = rustix::fs::memfd_create("guest", rustix::fs::MemfdFlags::CLOEXEC).expect("memfd");
    rustix::fs::ftruncate(&fd, size).expect("size");
    fd.into()
}

impl ServerTest {
    fn new(name: &str, options: Options) -> ServerTest {
        let socket = std::env::temp_dir().join(format!("gpu-model-{name}-{}", std::process::id()));
        let dma = Arc::new(DmaMemory::new());
        let irq = Arc::new(VfioIrq::default());
        let model = model::build("snb", options, dma.clone(), irq.clone())
            .expect("known")
            .expect("made");
        let ready = Arc::new(OnceLock::new());
        let server = {
            let (socket, model, ready) = (socket.clone(), model.clone(), ready.clone());
            std::thread::spawn(move || serve(&socket, model, dma, irq, &ready))
        };
        let start = Instant::now();
        while ready.get().is_none() {
            assert!(start.elapsed() < PATIENCE, "the server does not come up");
            std::thread::yield_now();
        }
        let mut client = Client::new(&socket).expect("connects");
        let memory = memfd(MEMORY);
        // In two pieces, as QEMU cuts it.
        for half in [0, MEMORY / 2] {
            client
                .dma_map(half, half, MEMORY / 2, memory.as_raw_fd())
                .expect("maps");
        }
        ServerTest {
            client,
            memory,
            model,
            server,
            socket,
        }
    }

    fn read(&mut self, offset: u64) -> u32 {
        let mut b = [0; 4];
        self.client.region_read(0, offset, &mut b).expect("reads");
        u32::from_le_bytes(b)
    }

    fn write(&mut self, offset: u64, value: u32) {
        self.client
            .region_write(0, offset, &value.to_le_bytes())
            .expect("writes");
    }

    fn put(&self, addr: u64, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.memory.write_all_at(&bytes, addr).expect("memory");
    }

    fn at(&self, addr: u64) -> u32 {
        let mut b = [0; 4];
        self.memory.read_exact_at(&mut b, addr).expect("memory");
        u32::from_le_bytes(b)
    }

    fn wait_for(&self, addr: u64, value: u32) {
        let start = Instant::now();
        while self.at(addr) != value {
            assert!(
                start.elapsed() < PATIENCE,
                "{value:#x} does not arrive at {addr:#x}"
            );
            std::thread::yield_now();
        }
    }

    /// Awake, table filled through `fill`, blitter ring at 0x30000, status page at 0x42000.
    fn bring_up(&mut self, fill: impl Fn(&mut Self, u32, u32)) {
        self.write(0xa18c, 1);
        // Bus mastering, without which a device must not touch memory.
        self.client
            .region_write(VFIO_PCI_CONFIG_REGION_INDEX, 4, &[6, 0])
            .expect("command");
        for page in 1..(MEMORY / 4096) as u32 {
            fill(self, page, page << 12 | 5);
        }
        self.write(0x101008, 1);
        self.write(0x24080, 0x42000);
        self.write(0x22038, 0x30000);
        self.write(0x2203c, 1);
    }

    /// The same, with the table in the file that the guest maps.
    fn bring_up_shared(&mut self) {
        let region = self.client.region(0).expect("BAR0");
        let shared = region.file_offset.as_ref().expect("a file").file();
        let table = shared.try_clone().expect("descriptor");
        self.bring_up(|_, index, pte| {
            table
                .write_all_at(&pte.to_le_bytes(), (2 << 20) + u64::from(index) * 4)
                .expect("table");
        });
    }

    fn end(self) {
        let ServerTest {
            client,
            server,
            socket,
            ..
        } = self;
        client.shutdown().expect("hangs up");
        drop(client);
        server.join().expect("no panic").expect("no error");
        let _ = std::fs::remove_file(socket);
    }
}

#[test]
fn a_client_runs_a_command_and_gets_its_message() {
    let mut b = ServerTest::new("msi", Options::default());
    let mut id = [0; 4];
    b.client
        .region_read(VFIO_PCI_CONFIG_REGION_INDEX, 0, &mut id)
        .expect("config");
    assert_eq!(u32::from_le_bytes(id), 0x0116_8086);
    let mut all = [0; 256];
    b.client
        .region_read(VFIO_PCI_CONFIG_REGION_INDEX, 0, &mut all)
        .expect("all of it");
    assert_eq!(all[0x0a..0x0c], [0x80, 0x03]);

    // The page table is a file that the guest maps; the server sees what is written there.
    let region = b.client.region(0).expect("BAR0");
    assert_eq!(region.size, 4 << 20);
    let area = region.sparse_areas[0];
    assert_eq!((area.offset, area.size), (2 << 20, 2 << 20));
    b.bring_up_shared();

    let msi = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).expect("eventfd");
    let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
    b.client
        .set_irqs(VFIO_PCI_MSI_IRQ_INDEX, flags, 0, 1, &[msi.as_raw_fd()])
        .expect("msi");
    b.write(0x220a8, !(1 << 22));
    b.write(0x44014, !(1 << 22));
    b.write(0x4401c, 1 << 22);
    b.write(0x4400c, 1 << 31);
    // Store into the second piece, number into the status page, interrupt.
    b.put(
        0x30000,
        &[
            0x1040_0002,
            0,
            0x30_0000,
            0xabcd,
            0x1320_4001,
            0x100,
            77,
            0x0100_0000,
        ],
    );
    b.write(0x22030, 0x20);
    let mut count = [0; 8];
    assert_eq!(rustix::io::read(&msi, &mut count).expect("a message"), 8);
    assert_eq!(u64::from_ne_bytes(count), 1);
    assert_eq!(b.at(0x30_0000), 0xabcd);
    assert_eq!(b.at(0x42100), 77);
    assert_eq!(b.model.report()["counters"]["lints"], 0);
    assert_eq!(b.read(0x44018), 1 << 22);
    b.write(0x44018, 1 << 22);
    assert_eq!(b.read(0x44018), 0);
    b.end();
}

#[test]
fn trapped_table_and_intx() {
    let mut b = ServerTest::new(
        "intx",
        Options {
            trap_gtt: true,
            ..Options::default()
        },
    );
    assert!(b.client.region(0).expect("BAR0").sparse_areas.is_empty());
    b.bring_up(|b, index, pte| b.write((2 << 20) + u64::from(index) * 4, pte));
    let fd = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).expect("eventfd");
    let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
    b.client
        .set_irqs(VFIO_PCI_INTX_IRQ_INDEX, flags, 0, 1, &[fd.as_raw_fd()])
        .expect("intx");
    for (r, v) in [
        (0x220a8, 0),
        (0x44014, 0),
        (0x4401c, 1 << 22),
        (0x4400c, 1 << 31),
    ] {
        b.write(r, v);
    }
    b.put(0x30000, &[0x0100_0000, 0]);
    b.write(0x22030, 8);
    let mut count = [0; 8];
    rustix::io::read(&fd, &mut count).expect("a signal");
    let mut status = [0; 2];
    b.client
        .region_read(VFIO_PCI_CONFIG_REGION_INDEX, 6, &mut status)
        .expect("status");
    assert_eq!(status[0] & 8, 8, "pending");
    b.write(0x44018, 1 << 22);
    assert_eq!(b.model.report()["counters"]["gtt_writes"], 1023);
    b.end();
}

#[test]
fn reset_and_strange_accesses() {
    let mut b = ServerTest::new("reset", Options::default());
    b.write(0x4401c, 5);
    b.client.reset().expect("reset");
    assert_eq!(b.read(0x4401c), 0);
    // Past the end, in a region that is not there, unaligned: answered, without effect.
    let mut four = [1; 4];
    b.client
        .region_read(0, (4 << 20) - 2, &mut four)
        .expect("answered");
    assert_eq!(four, [0; 4]);
    b.client
        .region_write(0, (4 << 20) - 2, &four)
        .expect("answered");
    b.client.region_write(4, 0, &four).expect("answered");
    assert_eq!(b.read(0x44014), 0xffff_ffff);
    b.end();
}

#[test]
fn work_takes_its_time_and_a_wait_sees_memory_change() {
    let mut b = ServerTest::new(
        "delay",
        Options {
            delay_us: 2000,
            ..Options::default()
        },
    );
    b.bring_up_shared();
    // A semaphore in memory: waits until 0x80000 exceeds 4, then stores.
    b.put(
        0x30000,
        &[0x0b50_0001, 4, 0x8_0000, 0x1040_0002, 0, 0x8_1000, 9, 0],
    );
    b.write(0x22030, 0x20);
    let start = Instant::now();
    while b.read(0x2203c) & 0x400 == 0 {
        assert!(start.elapsed() < PATIENCE, "no wait");
    }
    assert_eq!(b.at(0x8_1000), 0);
    b.put(0x8_0000, &[5]);
    b.wait_for(0x8_1000, 9);
    b.end();
}

#[test]
fn dma_map_knows_its_pieces() {
    let memory = DmaMemory::new();
    let file = memfd(0x4000);
    memory
        .map(0x1000, 0x1000, 0, true, Some(file.try_clone().expect("fd")))
        .expect("maps");
    memory
        .map(
            0x2000,
            0x1000,
            0x2000,
            false,
            Some(file.try_clone().expect("fd")),
        )
        .expect("maps");
    memory.map(0x3000, 0x1000, 0, true, None).expect("accepted");
    memory.write(0x1ffe, &[1, 2]).expect("inside");
    assert_eq!(
        memory.write(0x1ffe, &[1, 2, 3]),
        Err(MemoryError::ReadOnly(0x1ffe))
    );
    file.write_all_at(&[7; 8], 0x2000).expect("file");
    let mut b = [0; 4];
    memory.read(0x1ffe, &mut b).expect("over the edge");
    assert_eq!(b, [1, 2, 7, 7]);
    assert_eq!(
        memory.read(0x3000, &mut b),
        Err(MemoryError::Unmapped(0x3000))
    );
    assert_eq!(
        memory.read(u64::MAX - 1, &mut b),
        Err(MemoryError::Unmapped(u64::MAX - 1))
    );
    memory.unmap(0x2000, 0x1000);
    assert!(memory.read(0x2000, &mut b).is_err());
    memory.clear();
    assert!(memory.read(0x1000, &mut b).is_err());
}
