//! A file that is uploaded to a store in parts, and becomes visible once all of them have arrived.

use crate::address::{Address, Retries, Scheme};
use crate::failure::Failure;
use crate::runtime::{handle, wait};
use crate::usage::count_request;
use brc_core::{Error, Result};
use object_store::{Error as StoreError, ObjectStoreExt, WriteMultipart};
use std::io::{self, Write};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The size of a part in bytes; stores accept up to 10,000 parts.
const PART_BYTES: usize = 16 << 20;

/// The maximum number of parts in flight.
const MAX_PARTS_IN_FLIGHT: usize = 4;

/// The maximum time for the store to abort an upload.
const ABORT_TIMEOUT: Duration = Duration::from_secs(5);

/// A file that is being written. If it is dropped before [`Upload::finish`], nothing is stored.
pub struct Upload {
    address: Address,
    replaces: bool,
    /// `None` once the upload has ended. Behind a lock only so that the struct is `Sync`.
    parts: Mutex<Option<WriteMultipart>>,
    /// The bytes of the next, incomplete part.
    pending: Vec<u8>,
}

impl Upload {
    /// Starts an upload; an existing file stays unchanged until it is complete.
    ///
    /// # Errors
    /// [`Error::Usage`] if the file exists and may not be replaced, or the store is read-only; or the store's error.
    pub fn create(address: &Address, replaces: bool) -> Result<Self> {
        if address.scheme == Scheme::Web {
            let reason = "brc reads from web servers, but does not write to them";
            return Err(Error::Usage(format!("{}: {reason}", address.path.display())));
        }
        let mut new = Self { address: address.clone(), replaces, parts: Mutex::default(), pending: Vec::new() };
        new.refuse_existing()?;
        let store = address.store(Retries::Library)?;
        let key = address.key.clone();
        count_request();
        let begun = wait(async move { store.put_multipart(&key).await });
        let begun = begun.map_err(|error| new.failed(error))?.map_err(|error| new.refused(&error))?;
        *new.parts() = Some(WriteMultipart::new_with_chunk_size(begun, PART_BYTES));
        Ok(new)
    }

    fn parts(&mut self) -> &mut Option<WriteMultipart> {
        self.parts.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.address.path, "write")(error)
    }

    fn refused(&self, error: &StoreError) -> Error {
        self.failed(Failure::of(error, &self.address).into())
    }

    fn refuse_existing(&self) -> Result<()> {
        if self.replaces {
            return Ok(());
        }
        let store = self.address.store(Retries::Library)?;
        let key = self.address.key.clone();
        count_request();
        match wait(async move { store.head(&key).await }).map_err(|error| self.failed(error))? {
            Ok(_) => {
                let hint = "already exists (--force replaces it)";
                Err(Error::Usage(format!("{}: {hint}", self.address.path.display())))
            }
            Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// Sends the buffered bytes as a part, as soon as few enough parts are in flight.
    fn send(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.pending);
        let mut parts = self.parts().take().ok_or_else(|| io::Error::other("it has ended"))?;
        {
            let _entered = handle()?.enter();
            parts.put(bytes.into());
        }
        let (outcome, parts) = wait(async move { (parts.wait_for_capacity(MAX_PARTS_IN_FLIGHT).await, parts) })?;
        *self.parts() = Some(parts);
        outcome.map_err(|error| io::Error::from(Failure::of(&error, &self.address)))
    }

    /// Completes the upload, which makes the file visible.
    ///
    /// # Errors
    /// [`Error::Usage`] if a file that may not be replaced has been created meanwhile; or the store's error.
    pub fn finish(mut self) -> Result<()> {
        self.refuse_existing()?;
        self.send().map_err(|error| self.failed(error))?;
        let Some(parts) = self.parts().take() else { return Ok(()) };
        count_request();
        let ended = wait(async move { parts.finish().await }).map_err(|error| self.failed(error))?;
        ended.map(drop).map_err(|error| self.refused(&error))
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART_BYTES - self.pending.len());
        self.pending.extend_from_slice(&bytes[..taken]);
        if self.pending.len() == PART_BYTES {
            self.send()?;
        }
        Ok(taken)
    }

    /// An incomplete part stays buffered.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let (Some(parts), Ok(runtime)) = (self.parts().take(), handle()) else { return };
        // Also after an interruption; anything that remains then is not visible in the store.
        let (sender, receiver) = channel();
        runtime.spawn(async move { drop(sender.send(parts.abort().await)) });
        let _ = receiver.recv_timeout(ABORT_TIMEOUT);
    }
}
