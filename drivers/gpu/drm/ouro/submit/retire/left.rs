// SPDX-License-Identifier: GPL-2.0

//! Ready requests that engines have left to the worker ([`super::super::ready`]), and followers
//! ([`super::super::follow`]).

use kernel::{sync::Arc, workqueue::WorkItem};
use ouro_kernel::fence;

use super::Retirer;

impl WorkItem<4> for Retirer {
    type Pointer = Arc<Retirer>;

    fn run(this: Arc<Retirer>) {
        let _signalling = fence::signalling();
        for engine in this.engines.lock().iter() {
            engine.emit_deferred();
        }
        this.run_deferred();
    }
}

impl Retirer {
    /// An engine has left ready requests: the worker looks at it at once. Any context.
    pub(in crate::submit) fn kick(self: &Arc<Self>) {
        // After the end no engine runs.
        let incoming = self.incoming.lock();
        if !incoming.closed {
            let _ = self.signals.enqueue::<_, 4>(self.clone());
        }
    }
}
