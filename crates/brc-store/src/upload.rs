//! A file that is uploaded to a store in parts, and becomes visible once all of them have arrived.

use crate::address::{Address, Retries, Scheme};
use crate::failure::Failure;
use crate::runtime::{handle, wait};
use crate::usage::count_request;
use brc_core::{Error, Result};
use object_store::{Error as StoreError, MultipartUpload, ObjectStoreExt};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

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
    /// Shared with the work that is waited for, which an interruption drops.
    parts: Arc<Mutex<Parts>>,
    is_complete: bool,
    /// The bytes of the next, incomplete part.
    pending: Vec<u8>,
}

/// The parts of an upload. What has been stored of them is not visible, but may cost money until it is aborted.
struct Parts {
    upload: Box<dyn MultipartUpload>,
    in_flight: JoinSet<Result<(), StoreError>>,
}

impl Parts {
    /// Sends a part, as soon as few enough are in flight.
    async fn send(&mut self, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.wait_for(MAX_PARTS_IN_FLIGHT - 1).await?;
        self.in_flight.spawn(self.upload.put_part(bytes.into()));
        Ok(())
    }

    /// Waits until at most so many parts are in flight.
    async fn wait_for(&mut self, in_flight: usize) -> Result<(), StoreError> {
        while self.in_flight.len() > in_flight {
            self.in_flight.join_next().await.transpose()?.transpose()?;
        }
        Ok(())
    }

    async fn complete(&mut self) -> Result<(), StoreError> {
        self.wait_for(0).await?;
        self.upload.complete().await.map(drop)
    }

    async fn abort(&mut self) {
        self.in_flight.shutdown().await;
        // It cannot be reported any more.
        let _ = self.upload.abort().await;
    }
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
        refuse_existing(address, replaces)?;
        let store = address.store(Retries::Library)?;
        let key = address.key.clone();
        count_request();
        let begun = wait(async move { store.put_multipart(&key).await }).map_err(|error| failed(address, error))?;
        let upload = begun.map_err(|error| refused(address, &error))?;
        let parts = Arc::new(Mutex::new(Parts { upload, in_flight: JoinSet::new() }));
        Ok(Self { address: address.clone(), replaces, parts, is_complete: false, pending: Vec::new() })
    }

    /// Sends the buffered bytes as a part.
    fn send(&mut self) -> io::Result<()> {
        let (bytes, parts) = (std::mem::take(&mut self.pending), Arc::clone(&self.parts));
        let sent = wait(async move { parts.lock().await.send(bytes).await })?;
        sent.map_err(|error| io::Error::from(Failure::of(&error, &self.address)))
    }

    /// Completes the upload, which makes the file visible.
    ///
    /// # Errors
    /// [`Error::Usage`] if a file that may not be replaced has been created meanwhile; or the store's error.
    pub fn finish(mut self) -> Result<()> {
        refuse_existing(&self.address, self.replaces)?;
        if !self.pending.is_empty() {
            self.send().map_err(|error| failed(&self.address, error))?;
        }
        count_request();
        let parts = Arc::clone(&self.parts);
        let completed = wait(async move { parts.lock().await.complete().await });
        completed.map_err(|error| failed(&self.address, error))?.map_err(|error| refused(&self.address, &error))?;
        self.is_complete = true;
        Ok(())
    }
}

fn failed(address: &Address, error: io::Error) -> Error {
    Error::io(&address.path, "write")(error)
}

fn refused(address: &Address, error: &StoreError) -> Error {
    failed(address, Failure::of(error, address).into())
}

/// Refuses to replace a file, unless that is allowed.
fn refuse_existing(address: &Address, replaces: bool) -> Result<()> {
    if replaces {
        return Ok(());
    }
    let store = address.store(Retries::Library)?;
    let key = address.key.clone();
    count_request();
    match wait(async move { store.head(&key).await }).map_err(|error| failed(address, error))? {
        Ok(_) => Err(Error::Usage(format!("{}: already exists (--force replaces it)", address.path.display()))),
        Err(StoreError::NotFound { .. }) => Ok(()),
        Err(error) => Err(refused(address, &error)),
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
        if self.is_complete {
            return;
        }
        let Ok(runtime) = handle() else { return };
        // `wait` would give up after an interruption.
        let (parts, (sender, receiver)) = (Arc::clone(&self.parts), channel());
        runtime.spawn(async move {
            parts.lock().await.abort().await;
            let _ = sender.send(());
        });
        let _ = receiver.recv_timeout(ABORT_TIMEOUT);
    }
}
