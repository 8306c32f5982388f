// SPDX-License-Identifier: GPL-2.0

//! Access to a device that does not isolate users: one user at a time.
//!
//! On some chips a batch can read, in registers, what another client's batch left there, whatever
//! their contexts, and the driver cannot clear them
//! ([`keeps_leftovers`](ouro_hw::Generation::keeps_leftovers)). There only the files of one user
//! may run batches, until the last of them is closed. Module parameter `share` allows all users.

use kernel::{
    current, new_mutex,
    prelude::*,
    sync::{Arc, Mutex},
    task::Kuid,
};

use crate::{hardware::Hardware, module_parameters};

/// The current user of the device.
struct User {
    uid: Kuid,
    /// Number of files that run batches.
    files: usize,
}

/// Holds the current user of the device.
#[pin_data]
pub(crate) struct SingleUser {
    #[pin]
    user: Mutex<Option<User>>,
}

impl SingleUser {
    /// Creates it for a device that does not isolate users; `None` for others. Errors: `ENOMEM`.
    pub(super) fn new(hardware: &Hardware) -> Result<Option<Arc<Self>>> {
        if !hardware.generation().keeps_leftovers() || module_parameters::share.value() != 0 {
            return Ok(None);
        }
        let single_user = Arc::pin_init(
            pin_init!(Self {
                user <- new_mutex!(None, "ouro_single_user"),
            }),
            GFP_KERNEL,
        )?;
        Ok(Some(single_user))
    }

    /// Allows a file of the calling user to run batches. Errors: `EACCES` if another user has the
    /// device.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<SingleUserPermit> {
        let uid = current!().uid();
        let mut user = self.user.lock();
        match &mut *user {
            Some(user) if user.uid == uid => user.files += 1,
            Some(_) => return Err(EACCES),
            none => *none = Some(User { uid, files: 1 }),
        }
        Ok(SingleUserPermit(self.clone()))
    }
}

/// The permission of a file to run batches.
pub(crate) struct SingleUserPermit(Arc<SingleUser>);

impl Drop for SingleUserPermit {
    fn drop(&mut self) {
        let mut user = self.0.user.lock();
        if let Some(User { files, .. }) = &mut *user {
            *files -= 1;
            if *files == 0 {
                *user = None;
            }
        }
    }
}
