//! A file that is written to a store in parts, and is there when all of them are.

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

/// A part has so many bytes: a store takes 10,000 of them.
const PART: usize = 16 << 20;

/// So many parts are on their way at most.
const COMING: usize = 4;

/// How long the store may take to forget what was given up.
const FAREWELL: Duration = Duration::from_secs(5);

/// A file that is being written. Dropped before [`Upload::finish`], it leaves nothing.
pub struct Upload {
    address: Address,
    replaces: bool,
    /// `None` when it has ended. Locked so that others may hold a reference to all of it.
    parts: Mutex<Option<WriteMultipart>>,
    /// What is not yet a whole part.
    pending: Vec<u8>,
}

impl Upload {
    /// Begins a file; one that is there stays as it is until this one is whole.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is one that may not be replaced, or nothing can be written there; the store's.
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
        *new.parts() = Some(WriteMultipart::new_with_chunk_size(begun, PART));
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
                let hint = "exists already (--force replaces it)";
                Err(Error::Usage(format!("{}: {hint}", self.address.path.display())))
            }
            Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// Hands over the bytes at hand as a part, as soon as the store is no further behind than some parts.
    fn send(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.pending);
        let mut parts = self.parts().take().ok_or_else(|| io::Error::other("it has ended"))?;
        {
            let _entered = handle()?.enter();
            parts.put(bytes.into());
        }
        let (outcome, parts) = wait(async move { (parts.wait_for_capacity(COMING).await, parts) })?;
        *self.parts() = Some(parts);
        outcome.map_err(|error| io::Error::from(Failure::of(&error, &self.address)))
    }

    /// Ends the file: now it is there, whole.
    ///
    /// # Errors
    /// [`Error::Usage`] if another one has come there meanwhile that may not be replaced; the store's.
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
        let taken = bytes.len().min(PART - self.pending.len());
        self.pending.extend_from_slice(&bytes[..taken]);
        if self.pending.len() == PART {
            self.send()?;
        }
        Ok(taken)
    }

    /// What is not yet a whole part waits for more.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let (Some(parts), Ok(runtime)) = (self.parts().take(), handle()) else { return };
        // Also where the user no longer waits; whatever is left then, the store shows to nobody.
        let (sender, receiver) = channel();
        runtime.spawn(async move { drop(sender.send(parts.abort().await)) });
        let _ = receiver.recv_timeout(FAREWELL);
    }
}
