// SPDX-License-Identifier: GPL-2.0
//! Batches: commands and the places in them that need addresses, cut to pieces
//! of a handy size, and their submission in each of the ways the ioctl knows.

use std::os::fd::{FromRawFd, OwnedFd};

use anyhow::Result;

use super::super::Device;
use ouro_card::i915::{Bo, Caching};
use ouro_card::uapi::*;
use ouro_scene::blt::encode::{encode, Packet, Relocation};
use ouro_scene::blt::Command;
use ouro_scene::mi::{self, Layout};
use ouro_scene::scene::{Store, Storer};

/// Dwords after which a batch is closed.
const FULL: usize = 24 << 10;

/// How a batch says where its objects are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Addressing {
    /// Relocations that name handles; nothing is known of addresses.
    Relocations,
    /// Relocations by place in the list, the batch first; nothing is known of addresses.
    LookUp,
    /// The addresses of last time are written; relocations only if one has changed.
    Presumed,
    /// The objects must have these addresses; no relocations.
    Softpin,
}

impl Addressing {
    /// All of them, to be used by turns.
    pub const ALL: [Addressing; 4] = [
        Addressing::Relocations,
        Addressing::LookUp,
        Addressing::Presumed,
        Addressing::Softpin,
    ];
}

/// Commands for one engine.
#[derive(Default)]
pub struct Batch {
    dwords: Vec<u32>,
    relocations: Vec<Relocation>,
    global: bool,
}

impl Batch {
    fn append(&mut self, packet: Packet) {
        let start = self.dwords.len();
        self.dwords.extend(packet.dwords);
        self.relocations
            .extend(packet.relocations.iter().map(|r| Relocation {
                dword: r.dword + start,
                ..*r
            }));
    }

    /// Ends the batch on a qword.
    fn end(mut self) -> Batch {
        self.dwords.push(mi::BATCH_BUFFER_END);
        if !self.dwords.len().is_multiple_of(2) {
            self.dwords.push(mi::NOOP);
        }
        self
    }

    /// Blits. Set-up does not outlive a batch: each one starts with that of the one before.
    pub fn of_blits(commands: &[Command], setup: &mut Vec<Command>) -> Result<Vec<Batch>> {
        let mut done = Vec::new();
        let mut batch = Batch::default();
        for command in setup.iter() {
            batch.append(encode(command)?);
        }
        for command in commands {
            if batch.dwords.len() >= FULL {
                done.push(std::mem::take(&mut batch).end());
                for command in setup.iter() {
                    batch.append(encode(command)?);
                }
            }
            batch.append(encode(command)?);
            match command {
                Command::Setup(_) => *setup = vec![command.clone()],
                Command::SetupClip { .. } => {
                    setup.truncate(1);
                    setup.push(command.clone());
                }
                _ => {}
            }
        }
        done.push(batch.end());
        Ok(done)
    }

    /// Stores of values.
    pub fn of_stores(layout: Layout, by: Storer, stores: &[Store]) -> Vec<Batch> {
        let start = || Batch {
            dwords: mi::prologue(layout, by),
            global: by == Storer::PipeControlGlobal,
            ..Batch::default()
        };
        let mut done = Vec::new();
        for piece in stores.chunks(FULL / 8) {
            let mut batch = start();
            for store in piece {
                batch.append(mi::store(layout, by, store));
            }
            done.push(batch.end());
        }
        done
    }
}

/// Where a batch goes and what comes with it.
#[derive(Clone, Copy, Default)]
pub struct Target {
    /// Ring selector of the ioctl.
    pub ring: u32,
    /// Context id, 0 for the file's own.
    pub context: u32,
    /// Syncobj to signal, 0 for none.
    pub signal: u32,
    /// Whether a fence file is wanted.
    pub fence_out: bool,
}

/// The objects of a scene with the addresses they had last.
pub struct Objects<'a> {
    device: &'a Device,
    bos: &'a [Bo<'a>],
    addresses: Vec<Option<u64>>,
}

/// A batch on its way: its object must live until it is done.
pub struct Submitted<'a> {
    /// The batch object.
    pub bo: Bo<'a>,
    /// The fence, if one was asked for.
    pub fence: Option<OwnedFd>,
    /// How it was submitted: not as asked if an address was not known yet.
    pub addressing: Addressing,
    objects: Vec<drm_i915_gem_exec_object2>,
    length: u32,
    flags: u64,
    context: u32,
}

impl Submitted<'_> {
    /// Submits the same once more: nothing is made, written or moved, all objects stay where they are.
    pub fn again(&mut self, device: &Device) -> Result<()> {
        for object in &mut self.objects {
            object.flags |= u64::from(EXEC_OBJECT_PINNED);
            object.relocation_count = 0;
        }
        let mut exec = drm_i915_gem_execbuffer2 {
            buffers_ptr: self.objects.as_mut_ptr() as u64,
            buffer_count: self.objects.len() as u32,
            batch_len: self.length,
            flags: self.flags | u64::from(I915_EXEC_NO_RELOC),
            rsvd1: u64::from(self.context),
            ..Default::default()
        };
        device.call("I915_GEM_EXECBUFFER2", DRM_I915_GEM_EXECBUFFER2, &mut exec)
    }
}

impl<'a> Objects<'a> {
    /// None has been used yet.
    pub fn new(device: &'a Device, bos: &'a [Bo<'a>]) -> Objects<'a> {
        Objects {
            device,
            bos,
            addresses: vec![None; bos.len()],
        }
    }

    /// Submits a batch and does not wait.
    pub fn submit(
        &mut self,
        batch: &Batch,
        target: Target,
        addressing: Addressing,
    ) -> Result<Submitted<'a>> {
        let mut used: Vec<(usize, bool)> = Vec::new();
        for r in &batch.relocations {
            let index = r.target.buffer.0;
            match used.iter_mut().find(|(i, _)| *i == index) {
                Some((_, write)) => *write |= r.write,
                None => used.push((index, r.write)),
            }
        }
        let known = used.iter().all(|(i, _)| self.addresses[*i].is_some());
        let addressing = if known {
            addressing
        } else {
            Addressing::Relocations
        };
        let presumed = matches!(addressing, Addressing::Presumed | Addressing::Softpin);
        let lookup = matches!(addressing, Addressing::LookUp | Addressing::Presumed);
        let first = addressing == Addressing::LookUp;

        let mut dwords = batch.dwords.clone();
        let mut relocations = Vec::with_capacity(batch.relocations.len());
        for r in &batch.relocations {
            let index = r.target.buffer.0;
            // Flags that a command keeps in the low bits of an address are part of the delta.
            let delta = r.target.offset | batch.dwords[r.dword];
            let address = if presumed {
                self.addresses[index].unwrap_or(0)
            } else {
                0
            };
            if presumed {
                dwords[r.dword] = (address as u32).wrapping_add(delta);
            }
            let place =
                used.iter().position(|(i, _)| *i == index).unwrap_or(0) + usize::from(first);
            relocations.push(drm_i915_gem_relocation_entry {
                target_handle: if lookup {
                    place as u32
                } else {
                    self.bos[index].handle()
                },
                delta,
                offset: (r.dword * 4) as u64,
                presumed_offset: if presumed { address } else { u64::MAX },
                read_domains: if batch.global {
                    I915_GEM_DOMAIN_INSTRUCTION
                } else {
                    I915_GEM_DOMAIN_RENDER
                },
                write_domain: match (r.write, batch.global) {
                    (false, _) => 0,
                    (true, true) => I915_GEM_DOMAIN_INSTRUCTION,
                    (true, false) => I915_GEM_DOMAIN_RENDER,
                },
            });
        }

        let bo = Bo::new(self.device, (dwords.len() * 4).next_multiple_of(4096))?;
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        match addressing {
            Addressing::Relocations | Addressing::Softpin => bo.pwrite(0, &bytes)?,
            Addressing::LookUp => bo.map(Caching::WriteCombined)?.write(0, &bytes),
            Addressing::Presumed => bo.map(Caching::WriteBack)?.write(0, &bytes),
        }

        let mut objects: Vec<drm_i915_gem_exec_object2> = used
            .iter()
            .map(|(index, write)| drm_i915_gem_exec_object2 {
                handle: self.bos[*index].handle(),
                offset: self.addresses[*index].unwrap_or(0),
                flags: u64::from(if *write { EXEC_OBJECT_WRITE } else { 0 })
                    | u64::from(if addressing == Addressing::Softpin {
                        EXEC_OBJECT_PINNED
                    } else {
                        0
                    })
                    | u64::from(if batch.global {
                        EXEC_OBJECT_NEEDS_GTT
                    } else {
                        0
                    }),
                ..Default::default()
            })
            .collect();
        let mut own = drm_i915_gem_exec_object2 {
            handle: bo.handle(),
            ..Default::default()
        };
        if addressing != Addressing::Softpin {
            own.relocs_ptr = relocations.as_ptr() as u64;
            own.relocation_count = relocations.len() as u32;
        }
        objects.insert(if first { 0 } else { objects.len() }, own);

        let mut fences = [drm_i915_gem_exec_fence {
            handle: target.signal,
            flags: I915_EXEC_FENCE_SIGNAL,
        }];
        let mut flags = u64::from(target.ring);
        flags |= if lookup {
            u64::from(I915_EXEC_HANDLE_LUT)
        } else {
            0
        };
        flags |= if first {
            u64::from(I915_EXEC_BATCH_FIRST)
        } else {
            0
        };
        flags |= if presumed {
            u64::from(I915_EXEC_NO_RELOC)
        } else {
            0
        };
        flags |= if target.fence_out {
            u64::from(I915_EXEC_FENCE_OUT)
        } else {
            0
        };
        flags |= if target.signal != 0 {
            u64::from(I915_EXEC_FENCE_ARRAY)
        } else {
            0
        };
        let mut exec = drm_i915_gem_execbuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: objects.len() as u32,
            batch_len: (dwords.len() * 4) as u32,
            flags,
            rsvd1: u64::from(target.context),
            num_cliprects: u32::from(target.signal != 0),
            cliprects_ptr: if target.signal != 0 {
                fences.as_mut_ptr() as u64
            } else {
                0
            },
            ..Default::default()
        };
        self.device
            .call("I915_GEM_EXECBUFFER2", DRM_I915_GEM_EXECBUFFER2, &mut exec)?;

        for ((index, _), object) in used.iter().zip(objects.iter().skip(usize::from(first))) {
            self.addresses[*index] = Some(object.offset);
        }
        // SAFETY: the ioctl succeeded and put a new descriptor, that nobody else has, into the upper half.
        let fence = target
            .fence_out
            .then(|| unsafe { OwnedFd::from_raw_fd((exec.rsvd2 >> 32) as i32) });
        let kept = u64::from(target.ring)
            | if first {
                u64::from(I915_EXEC_BATCH_FIRST)
            } else {
                0
            };
        Ok(Submitted {
            bo,
            fence,
            addressing,
            objects,
            length: (dwords.len() * 4) as u32,
            flags: kept,
            context: target.context,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ouro_scene::blt::Blit;
    use ouro_scene::surface::{Address, BufferId, Depth, Rect, Surface, Tiling};

    #[test]
    fn a_batch_ends_on_a_qword() {
        let base = Address {
            buffer: BufferId(0),
            offset: 0,
        };
        let s = Surface {
            base,
            pitch: 64,
            width: 16,
            height: 16,
            depth: Depth::Bpp32,
            tiling: Tiling::Linear,
        };
        let one = Batch::of_blits(&[Blit::fill(s, s.rect(), 1).into()], &mut Vec::new()).unwrap();
        assert_eq!(one[0].dwords[6..], [0x0500_0000, 0]);
        let three = [Command::SetupClip {
            rect: Rect::new(0, 0, 1, 1),
        }];
        assert_eq!(
            Batch::of_blits(&three, &mut Vec::new()).unwrap()[0].dwords[3..],
            [0x0500_0000]
        );
    }

    #[test]
    fn each_batch_starts_with_the_setup_of_the_last() {
        let base = Address {
            buffer: BufferId(0),
            offset: 0,
        };
        let s = Surface {
            base,
            pitch: 64,
            width: 16,
            height: 16,
            depth: Depth::Bpp32,
            tiling: Tiling::Linear,
        };
        let mut commands = vec![Command::Setup(ouro_scene::scene::solid_setup(s, 5))];
        commands.extend((0..FULL).map(|_| Command::Pixel {
            x: 1,
            y: 1,
            tiling: Tiling::Linear,
        }));
        let batches = Batch::of_blits(&commands, &mut Vec::new()).unwrap();
        assert!(batches.len() > 1);
        assert!(batches.iter().all(|b| b.dwords[0] == 0x4470_0007));
        assert!(batches.iter().all(|b| b.relocations[0].dword == 4));
    }
}
