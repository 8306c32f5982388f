// SPDX-License-Identifier: GPL-2.0

//! The fences of `EXECBUFFER2`: syncobjs and timeline points to wait for, and to signal.

use kernel::{prelude::*, sync::aref::ARef};
use ouro_kernel::{
    fence::{ChainNode, Fence},
    lazy::LazyVec,
    sync_file::SyncFile,
    syncobj::Syncobj,
    uaccess,
};
use ouro_uapi::i915 as abi;

use super::{exec::MAX_COUNT, extension, require};
use crate::{device::DrmFile, submit::exec::Publish};

/// Most syncobjs that a call may signal, those of points included. They are signaled at the
/// publication, when locks are held and nothing can be interrupted.
const MAX_SIGNALS: usize = 4096;
/// Most points: the kernel walks a timeline's unsignaled points for each new one.
const MAX_POINTS: usize = 1024;

/// A syncobj to signal: binary, or at a point of its timeline.
enum Signal {
    Binary(ARef<Syncobj>),
    Point(ARef<Syncobj>, u64, Option<ChainNode>),
}

/// The recipients of a batch's fence.
pub(super) struct Signals {
    wants_file: bool,
    file: Option<SyncFile>,
    syncobjs: LazyVec<Signal>,
    /// How many user space has named, and how many of them are points.
    named: usize,
    points: usize,
}

impl Signals {
    /// Creates the list; with `wants_file`, the fence is also returned as a sync file.
    pub(super) fn new(wants_file: bool) -> Self {
        Self {
            wants_file,
            file: None,
            syncobjs: LazyVec::new(),
            named: 0,
            points: 0,
        }
    }

    /// Adds a syncobj, or a point of its timeline if `point` is not zero. Of several points of one
    /// timeline the greatest is enough: all have the same fence.
    ///
    /// Errors: `EINVAL` for too many, `ENOMEM`.
    fn add(&mut self, syncobj: ARef<Syncobj>, point: u64) -> Result {
        self.named += 1;
        self.points += usize::from(point != 0);
        require(self.named <= MAX_SIGNALS && self.points <= MAX_POINTS)?;
        let same = |other: &Syncobj| core::ptr::eq::<Syncobj>(other, &*syncobj);
        let known = self.syncobjs.iter_mut().rev().find(|signal| match signal {
            Signal::Binary(other) | Signal::Point(other, ..) => same(other),
        });
        match (known, point) {
            (Some(Signal::Binary(_)), 0) => return Ok(()),
            (Some(Signal::Point(_, greatest, _)), 1..) => {
                *greatest = point.max(*greatest);
                return Ok(());
            }
            _ => {}
        }
        let signal = match point {
            0 => Signal::Binary(syncobj),
            _ => Signal::Point(syncobj, point, Some(ChainNode::new()?)),
        };
        Ok(self.syncobjs.push(signal, GFP_KERNEL)?)
    }

    /// Returns the sync file.
    pub(super) fn into_file(self) -> Option<SyncFile> {
        self.file
    }
}

impl Publish for Signals {
    fn prepare(&mut self, fence: &Fence) -> Result {
        if self.wants_file {
            self.file = Some(SyncFile::new(fence)?);
        }
        Ok(())
    }

    fn publish(&mut self, fence: &Fence) {
        for signal in self.syncobjs.iter_mut() {
            match signal {
                Signal::Binary(syncobj) => syncobj.replace_fence(Some(fence)),
                Signal::Point(syncobj, point, node) => {
                    if let Some(node) = node.take() {
                        // It cannot fail: the fence is a request's, not a container.
                        let _ = syncobj.add_point(node, fence, *point);
                    }
                }
            }
        }
    }
}

const FENCE_FLAGS: u32 = abi::I915_EXEC_FENCE_WAIT | abi::I915_EXEC_FENCE_SIGNAL;

/// Reads the array of syncobjs to wait for and to signal. Errors: `EINVAL`, `ENOENT`, `EFAULT`,
/// `ENOMEM`.
pub(super) fn fence_array(
    file: &DrmFile,
    arg: &abi::drm_i915_gem_execbuffer2,
    after: &mut KVVec<ARef<Fence>>,
    signals: &mut Signals,
) -> Result {
    let count = arg.num_cliprects as usize;
    require(count <= MAX_COUNT)?;
    let list: KVVec<abi::drm_i915_gem_exec_fence> = uaccess::read_array(arg.cliprects_ptr, count)?;
    for f in list.iter() {
        fence(file, f, None, after, signals)?;
    }
    Ok(())
}

/// Adds a syncobj, or a point of its timeline.
fn fence(
    file: &DrmFile,
    f: &abi::drm_i915_gem_exec_fence,
    point: Option<u64>,
    after: &mut KVVec<ARef<Fence>>,
    signals: &mut Signals,
) -> Result {
    require(f.flags & !FENCE_FLAGS == 0)?;
    let syncobj = Syncobj::find(file, f.handle)?;
    // Point zero of a timeline means the binary syncobj.
    let point = point.unwrap_or(0);
    // Waiting for a point that the same batch signals would never end.
    require(point == 0 || f.flags != FENCE_FLAGS)?;
    if f.flags & abi::I915_EXEC_FENCE_WAIT != 0 {
        if let Some(fence) = syncobj.fence_at(point)? {
            after.push(fence, GFP_KERNEL)?;
        }
    }
    if f.flags & abi::I915_EXEC_FENCE_SIGNAL != 0 {
        signals.add(syncobj, point)?;
    }
    Ok(())
}

/// Reads the chain of extensions: arrays of timeline points. Errors: `EINVAL`, `E2BIG`, `ENOENT`,
/// `EFAULT`, `ENOMEM`.
pub(super) fn extensions(
    file: &DrmFile,
    first: u64,
    after: &mut KVVec<ARef<Fence>>,
    signals: &mut Signals,
) -> Result {
    let mut all = 0usize;
    extension::walk(first, |name, at| {
        require(name == abi::DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES)?;
        let ext: abi::drm_i915_gem_execbuffer_ext_timeline_fences = uaccess::read(at)?;
        let count = usize::try_from(ext.fence_count).map_err(|_| EINVAL)?;
        all = all.saturating_add(count);
        require(all <= MAX_COUNT)?;
        let list: KVVec<abi::drm_i915_gem_exec_fence> =
            uaccess::read_array(ext.handles_ptr, count)?;
        let points: KVVec<u64> = uaccess::read_array(ext.values_ptr, count)?;
        for (f, point) in list.iter().zip(points.iter()) {
            fence(file, f, Some(*point), after, signals)?;
        }
        Ok(())
    })
}
