// SPDX-License-Identifier: GPL-2.0

//! Who may use a device that does not keep users apart: one user at a time.
//!
//! On some chips a batch finds in registers what another's batch left there, whatever contexts they are of, and
//! nothing that the driver could do clears them ([`keeps_leftovers`](ouro_hw::Generation::keeps_leftovers)). There
//! the files through which batches run are those of one user, until the last of them is closed. The module's
//! parameter `share` lets all in.

use kernel::{
    current, new_mutex,
    prelude::*,
    sync::{Arc, Mutex},
    task::Kuid,
};

use crate::{hardware::Hardware, module_parameters};

/// The user who has the device.
struct User {
    uid: Kuid,
    /// Files through which batches run.
    files: usize,
}

/// The place of the user who has the device.
#[pin_data]
pub(crate) struct SingleUser {
    #[pin]
    user: Mutex<Option<User>>,
}

impl SingleUser {
    /// Makes one for a device whose users are to be kept apart; `None` for others. Errors: `ENOMEM`.
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

    /// Lets a file of the calling user run batches. Errors: `EACCES` if another user has the device.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<Stay> {
        let uid = current!().uid();
        let mut user = self.user.lock();
        match &mut *user {
            Some(user) if user.uid == uid => user.files += 1,
            Some(_) => return Err(EACCES),
            none => *none = Some(User { uid, files: 1 }),
        }
        Ok(Stay(self.clone()))
    }
}

/// A file that runs batches.
pub(crate) struct Stay(Arc<SingleUser>);

impl Drop for Stay {
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
