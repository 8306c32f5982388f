// SPDX-License-Identifier: GPL-2.0
//! Contexts on a [`Dg2Machine`]: how they are made, what is queued in them, and how an engine is given them.

use super::*;

impl Dg2Machine {
    /// A context of the kernel's space, of a client of its own, with a first image.
    pub fn context(&mut self, engine: usize) -> usize {
        let kernel = self.kernel;
        self.context_in(engine, kernel, 0, None)
    }

    /// A context of a space, with a first image or a copy of one that the device saved.
    pub fn context_in(
        &mut self,
        engine: usize,
        tree: Tree,
        priority: i32,
        template: Option<&[u32]>,
    ) -> usize {
        let images = self.engine(engine).images().expect("it has images");
        let desc = self.engine(engine).desc();
        let ring_at = self.local(desc.ring_bytes);
        let status = self.system(PAGE_SIZE);
        let scratch = self.system(PAGE_SIZE);
        self.end(&tree, scratch);
        let image = self.local(images.bytes());
        let what = FirstImage {
            image: GgttAddr(image.addr),
            card: self.topo.card,
            ring: GgttAddr(ring_at.addr),
            ring_bytes: desc.ring_bytes,
            root: Some(tree.root()),
        };
        let mut dwords = template.map_or(vec![0; images.bytes() as usize / 4], <[u32]>::to_vec);
        let made = match template {
            None => images.first_image(&what, &mut dwords),
            Some(_) => images.later_image(&what, &mut dwords),
        };
        assert!(made, "an image of {}", desc.id);
        self.put(image, 0, &dwords);
        let port = &mut self.ports[engine];
        let id = port.next_id;
        port.next_id += 1;
        let descriptor = images
            .descriptor(GgttAddr(image.addr), id)
            .expect("a number");
        port.sched
            .arena_mut()
            .0
            .extend([Item::default(), Item::default()]);
        let client = port.sched.add_client().expect("there is a place");
        let what = What {
            id,
            descriptor,
            priority,
            roams: false,
        };
        let entity = port
            .sched
            .add_entity(client, &what)
            .expect("there is a place");
        self.contexts.push(Logical {
            engine,
            id,
            image,
            mem: EngineMemory {
                ring: GgttAddr(ring_at.addr),
                status: ouro_hw::StatusPage::Ggtt(GgttAddr(status.addr)),
                scratch: GgttAddr(scratch.addr),
                directory: None,
                card: self.topo.card,
            },
            entity,
            descriptor,
            seqno: Seqno(0),
            tree,
            ring: Ring::new(desc.ring_bytes),
            ring_at,
            status,
            pending: VecDeque::new(),
            is_fresh: template.is_none(),
        });
        self.contexts.len() - 1
    }

    /// Maps the scratch page where the backend wants a hole. (The core has one in all holes.)
    fn end(&mut self, tree: &Tree, scratch: Object) {
        let Translation::PerContext { bits, kept, .. } = self.topo.space else {
            panic!("contexts have tables of their own");
        };
        if !self.ends.contains(&tree.root()) {
            self.ends.push(tree.root());
            let kept = u64::from(kept) * u64::from(PAGE_SIZE);
            self.map(tree, (1 << bits) - kept, scratch);
        }
    }

    /// What an image holds now.
    pub fn image(&self, context: usize) -> Vec<u32> {
        let image = self.contexts[context].image;
        (0..image.bytes / 4).map(|n| self.dword(image, n)).collect()
    }

    /// Emits a request, writes it into the context's ring, and tells the scheduler.
    pub fn queue(&mut self, context: usize, work: &Work<'_>) -> RingOffset {
        let it = &mut self.contexts[context];
        let engine = self.topo.engines[it.engine];
        it.seqno = it.seqno.next();
        let seqno = it.seqno;
        // A context without a template begins with what the core makes the template by.
        let mut golden = vec![0; engine.desc().golden_dwords];
        let mut out = Commands::new(&mut golden);
        if core::mem::take(&mut it.is_fresh) && engine.desc().id.class == EngineClass::Render {
            engine.golden(&mut out).expect("as many as are said");
        }
        let inline = [out.as_slice(), work.inline].concat();
        let request = Emit {
            switch: Switch::Stay,
            known: None,
            directory: None,
            watchdog: None,
            batch: work.batch.map(|addr| Batch {
                addr: GpuAddr(addr),
                len: 0,
                privilege: Privilege::User,
            }),
            inline: &inline,
            seqno: it.seqno,
        };
        let mut buf = vec![0; engine.desc().emit_dwords + inline.len()];
        let mut out = Commands::new(&mut buf);
        engine
            .emit(&request, &it.mem, &mut out)
            .expect("the bound holds");
        let dwords = out.as_slice().to_vec();
        self.place(context, seqno, dwords)
    }

    /// Writes a request into its context's ring, and tells the scheduler.
    fn place(&mut self, context: usize, seqno: Seqno, dwords: Vec<u32>) -> RingOffset {
        let now = self.now();
        let it = &mut self.contexts[context];
        let slot = it.ring.reserve(dwords.len()).expect("the ring has room");
        let (ring, entity, n) = (it.ring_at, it.entity, it.engine);
        if let Some((at, dwords)) = slot.pad {
            let filler = vec![self.topo.engines[n].desc().noop; dwords as usize];
            self.put(ring, at.0 / 4, &filler);
        }
        self.put(ring, slot.start.0 / 4, &dwords);
        let tail = slot.tail;
        self.contexts[context].pending.push_back(Pending {
            seqno,
            tail,
            dwords,
        });
        self.ports[n].sched.publish(entity, tail, now);
        tail
    }

    /// A context that a reset took off its engine: what its image says of the ring is old. It gets a new
    /// image, of the state that was last saved, and what it had to do once more in an empty ring.
    pub(super) fn begin_anew(&mut self, context: usize) {
        let now = self.now();
        let it = &mut self.contexts[context];
        let engine = self.topo.engines[it.engine];
        let images = engine.images().expect("it has images");
        let what = FirstImage {
            image: GgttAddr(it.image.addr),
            card: self.topo.card,
            ring: it.mem.ring,
            ring_bytes: engine.desc().ring_bytes,
            root: Some(it.tree.root()),
        };
        it.ring.clear();
        let pending = std::mem::take(&mut it.pending);
        let (entity, n, image) = (it.entity, it.engine, it.image);
        let mut dwords = self.image(context);
        let made = images.later_image(&what, &mut dwords) || images.first_image(&what, &mut dwords);
        assert!(made);
        self.put(image, 0, &dwords);
        self.ports[n].sched.completed(entity, RingOffset(0), now);
        self.ports[n].sched.publish(entity, RingOffset(0), now);
        self.ports[n].sched.touched(entity, now);
        for it in pending {
            self.place(context, it.seqno, it.dwords);
        }
    }

    /// Writes tails into images, and has an engine take a list.
    pub fn load(&mut self, n: usize, entries: &[ListEntry]) {
        let mut gt = core::mem::take(&mut self.gt);
        let tails = || {
            for entry in entries {
                let mut all = self.contexts.iter();
                let of = all.find(|c| c.engine == n && c.descriptor == entry.descriptor);
                let image = of.expect("a context of this engine").image;
                let images = self.engine(n).images().expect("it has images");
                let at = images.tail_at().expect("it takes lists") / 4;
                self.put(image, at, &[entry.tail.0]);
            }
        };
        let list = Submission::List {
            entries,
            tails: &tails,
        };
        let hw = hw(&self.windows, self.topo.card);
        self.topo.engines[n]
            .submit(&hw, &mut gt, list, &self.time)
            .expect("the engine takes it");
        self.gt = gt;
    }

    /// Loads what should run now, if the engine must be told. Returns whether it was.
    pub fn kick(&mut self, n: usize) -> bool {
        let now = self.now();
        let Some(load) = self.ports[n].sched.schedule(now) else {
            return false;
        };
        self.load(n, load.entries());
        self.ports[n].loads.push(load);
        true
    }

    /// Emits and starts a request, without running it.
    pub fn submit(&mut self, context: usize, work: &Work<'_>) -> Seqno {
        self.queue(context, work);
        self.kick(self.contexts[context].engine);
        self.contexts[context].seqno
    }

    pub(super) fn read_numbers(&mut self, n: usize) {
        let now = self.now();
        for it in self.contexts.iter_mut().filter(|c| c.engine == n) {
            let at = u64::from(self.topo.engines[n].desc().seqno_at);
            let done = Seqno(self.memory.dword(it.status.at + at));
            while it.pending.front().is_some_and(|p| done.passed(p.seqno)) {
                let Some(pending) = it.pending.pop_front() else {
                    break;
                };
                it.ring.retire(pending.tail);
                self.ports[n].sched.completed(it.entity, pending.tail, now);
            }
        }
    }

    /// Reads what an engine said and completed, and loads what should run then.
    pub fn read_events(&mut self, n: usize) {
        self.listen(n).expect("what it says can be");
    }

    /// The same of an engine that may say anything.
    pub fn listen(&mut self, n: usize) -> Result<(), Nonsense> {
        let now = self.now();
        let port = &mut self.ports[n];
        let mut page = StatusMemory(&self.memory, port.status.at);
        while let Look::Event(raw) = port.events.next(&mut page).map_err(|_| Nonsense)? {
            let event = self.topo.engines[n].event(raw).ok_or(Nonsense)?;
            port.said.push(event);
            port.sched.event(&event, now).map_err(|_| Nonsense)?;
        }
        self.read_numbers(n);
        self.kick(n);
        Ok(())
    }

    /// What the interrupt handler would do.
    pub fn interrupt(&mut self) -> Events {
        let events = self.chip.generation.irq_ack(&self.hw());
        for n in 0..self.ports.len() {
            if events.completed >> n & 1 != 0 {
                self.read_events(n);
            }
        }
        events
    }

    /// Runs the device for so many steps at most, and takes its interrupts. True if it came to rest.
    pub fn run_for(&mut self, steps: usize) -> bool {
        for _ in 0..ROUNDS {
            let idle = self.gpu.run_until_idle(steps);
            let messages = self.line.messages();
            if messages == self.seen {
                return idle;
            }
            self.seen = messages;
            self.interrupt();
            if !idle {
                return false;
            }
        }
        panic!("interrupts do not end");
    }

    /// Runs the device until it has nothing to do.
    pub fn run(&mut self) -> bool {
        self.run_for(STEPS)
    }

    /// Lets time pass up to when the scheduler of an engine wants to look again. False if it does not.
    pub fn wait(&mut self, n: usize) -> bool {
        let now = self.now();
        let Some(then) = self.ports[n].sched.next(now) else {
            return false;
        };
        self.clock().advance_to(then);
        self.kick(n);
        true
    }

    /// Starts a request and runs the device. The request must complete.
    #[track_caller]
    pub fn work(&mut self, context: usize, work: &Work<'_>) {
        let seqno = self.submit(context, work);
        assert!(self.run(), "the device comes to rest");
        assert_eq!(self.done(context), seqno, "the request completes");
    }

    /// The number of the last request that a context completed.
    pub fn done(&self, context: usize) -> Seqno {
        let it = &self.contexts[context];
        let at = self.engine(it.engine).desc().seqno_at;
        Seqno(self.dword(it.status, at / 4))
    }

    /// Arms or disarms an engine's completion interrupt.
    pub fn arm(&mut self, n: usize, on: bool) {
        let hw = hw(&self.windows, self.topo.card);
        self.chip.generation.irq_arm(&hw, &mut self.gt, n, on);
    }

    /// Fails if a rule of the documents was broken, or a register touched that none names.
    #[track_caller]
    pub fn assert_lawful(&self) {
        assert_eq!(self.gpu.lints(), [], "no rule was broken");
        assert_eq!(self.gpu.client_lints(), [], "nor by a program");
        assert_eq!(self.gpu.undocumented(), [], "every register is documented");
    }
}
