//! A file in a store that is read once, from start to end.

use crate::address::Address;
use crate::failure::Failure;
use crate::request::{Source, TRIES, Version, in_time, pause, retried};
use crate::runtime::{POLL_INTERVAL, check, handle, wait};
use crate::usage::{count_fetched, count_needed};
use brc_core::{Error, Result};
use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use object_store::{GetRange, GetResult};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use tokio::sync::Semaphore;

/// The maximum number of prefetched chunks of bytes, of some KiB each.
const AHEAD: usize = 256;

type Chunk = Result<Bytes, Failure>;

/// The bytes of a file in order. A broken connection is resumed at the same offset.
pub struct InOrder {
    length: u64,
    /// The number of bytes returned so far.
    at: u64,
    chunk: Bytes,
    coming: Receiver<Chunk>,
    /// Limits the number of chunks that are ready.
    room: Arc<Semaphore>,
}

/// The sending end of the chunks.
struct Sink {
    sender: Sender<Chunk>,
    room: Arc<Semaphore>,
}

impl Sink {
    /// Sends a chunk once there is room for it; returns whether the reader still exists.
    async fn send(&self, chunk: Chunk) -> bool {
        match self.room.acquire().await {
            Ok(permit) => permit.forget(),
            Err(_) => return false,
        }
        self.sender.send(chunk).is_ok()
    }
}

impl InOrder {
    /// Opens a file.
    ///
    /// # Errors
    /// If it does not exist, or may not be read.
    pub fn open(address: &Address) -> Result<Self> {
        let failed = |error| Error::io(&address.path, "open")(error);
        let source = Source::new(address.clone())?;
        let cloned = source.clone();
        let (answer, version) = wait(async move { retried(|| cloned.request(None, None)).await })
            .map_err(failed)?
            .map_err(|failure| failed(failure.into()))?;
        let length = version.length();
        let (sender, coming) = channel();
        let room = Arc::new(Semaphore::new(AHEAD));
        let sink = Sink { sender, room: Arc::clone(&room) };
        handle().map_err(failed)?.spawn(async move {
            if let Err(failure) = send(&source, answer, &version, &sink).await {
                // The reader may have been dropped.
                sink.send(Err(failure)).await;
            }
        });
        Ok(Self { length, at: 0, chunk: Bytes::new(), coming, room })
    }

    /// The length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }
}

/// Sends all bytes of a response, and of further ones after interruptions.
async fn send(source: &Source, answer: GetResult, version: &Version, sink: &Sink) -> Result<(), Failure> {
    let (mut at, mut attempt, mut answer) = (0, 0, Some(answer));
    loop {
        let before = at;
        let outcome = match answer.take() {
            Some(answer) => send_one(source, answer, version, &mut at, sink).await,
            None => match source.request(Some(GetRange::Offset(at)), Some(version)).await {
                Ok((answer, _)) => send_one(source, answer, version, &mut at, sink).await,
                Err(failure) => Err(failure),
            },
        };
        // A server that keeps sending bytes is slow, not broken.
        attempt = if at > before { 0 } else { attempt };
        match outcome {
            Ok(()) => return Ok(()),
            Err(failure) if failure.is_passing && attempt + 1 < TRIES => pause(attempt).await,
            Err(failure) => return Err(failure),
        }
        attempt += 1;
    }
}

/// Sends the bytes of one response, which starts at `at`.
async fn send_one(
    source: &Source,
    answer: GetResult,
    version: &Version,
    at: &mut u64,
    sink: &Sink,
) -> Result<(), Failure> {
    let mut stream = answer.into_stream();
    while let Some(chunk) = in_time(stream.next()).await? {
        let chunk = chunk.map_err(|error| Failure::of(&error, &source.address))?;
        count_fetched(chunk.len());
        *at += chunk.len() as u64;
        if *at > version.length() {
            return Err(Failure::permanent(io::ErrorKind::InvalidData, "the server sent more bytes than the file has"));
        }
        if !sink.send(Ok(chunk)).await {
            return Ok(());
        }
    }
    if *at == version.length() {
        return Ok(());
    }
    Err(Failure::temporary(io::ErrorKind::UnexpectedEof, "the connection ended before the file did"))
}

impl Read for InOrder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty() && !buffer.is_empty() && self.at < self.length {
            self.chunk = self.next()?;
        }
        let read = self.chunk.len().min(buffer.len());
        self.chunk.copy_to_slice(&mut buffer[..read]);
        self.at += read as u64;
        count_needed(read as u64);
        Ok(read)
    }
}

impl InOrder {
    /// Waits for the next chunk.
    fn next(&self) -> io::Result<Bytes> {
        loop {
            match self.coming.recv_timeout(POLL_INTERVAL) {
                Ok(chunk) => {
                    self.room.add_permits(1);
                    return chunk.map_err(|failure| failure.at(&(self.at..self.length)));
                }
                Err(RecvTimeoutError::Timeout) => check()?,
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the request was given up")),
            }
        }
    }
}

impl Drop for InOrder {
    fn drop(&mut self) {
        self.room.close();
    }
}
