//! A file in a store that is read once, from its first byte to its last.

use crate::address::Address;
use crate::failure::Failure;
use crate::request::{Source, TRIES, Version, in_time, pause, retried};
use crate::runtime::{GLANCE, check, handle, wait};
use crate::usage::{count_fetched, count_needed};
use brc_core::{Error, Result};
use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use object_store::{GetRange, GetResult};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use tokio::sync::Semaphore;

/// So many pieces come ahead of who reads them; each has some KiB.
const AHEAD: usize = 256;

type Piece = Result<Bytes, Failure>;

/// The bytes of a file in order. A connection that breaks is taken up again where it broke.
pub struct InOrder {
    length: u64,
    /// How many bytes were handed over.
    at: u64,
    piece: Bytes,
    coming: Receiver<Piece>,
    /// How many pieces may still come.
    room: Arc<Semaphore>,
}

/// Where pieces go.
struct Sink {
    sender: Sender<Piece>,
    room: Arc<Semaphore>,
}

impl Sink {
    /// Hands over a piece when there is room for it; whether somebody still reads.
    async fn send(&self, piece: Piece) -> bool {
        match self.room.acquire().await {
            Ok(permit) => permit.forget(),
            Err(_) => return false,
        }
        self.sender.send(piece).is_ok()
    }
}

impl InOrder {
    /// Opens a file.
    ///
    /// # Errors
    /// If there is none, or it may not be read.
    pub fn open(address: &Address) -> Result<Self> {
        let failed = |error| Error::io(&address.path, "open")(error);
        let source = Source::new(address.clone())?;
        let asking = source.clone();
        let (answer, version) = wait(async move { retried(|| asking.ask(None, None)).await })
            .map_err(failed)?
            .map_err(|failure| failed(failure.into()))?;
        let length = version.length();
        let (sender, coming) = channel();
        let room = Arc::new(Semaphore::new(AHEAD));
        let sink = Sink { sender, room: Arc::clone(&room) };
        handle().map_err(failed)?.spawn(async move {
            if let Err(failure) = send(&source, answer, &version, &sink).await {
                // Whoever read it may be gone.
                sink.send(Err(failure)).await;
            }
        });
        Ok(Self { length, at: 0, piece: Bytes::new(), coming, room })
    }

    /// How many bytes it has.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }
}

/// Sends all bytes of an answer, and those of others where it breaks off.
async fn send(source: &Source, answer: GetResult, version: &Version, sink: &Sink) -> Result<(), Failure> {
    let (mut at, mut attempt, mut answer) = (0, 0, Some(answer));
    loop {
        let before = at;
        let outcome = match answer.take() {
            Some(answer) => send_one(source, answer, version, &mut at, sink).await,
            None => match source.ask(Some(GetRange::Offset(at)), Some(version)).await {
                Ok((answer, _)) => send_one(source, answer, version, &mut at, sink).await,
                Err(failure) => Err(failure),
            },
        };
        // A server that always sends some more is slow, not broken.
        attempt = if at > before { 0 } else { attempt };
        match outcome {
            Ok(()) => return Ok(()),
            Err(failure) if failure.is_passing && attempt + 1 < TRIES => pause(attempt).await,
            Err(failure) => return Err(failure),
        }
        attempt += 1;
    }
}

/// Sends the bytes of one answer, of which the first is at `at`.
async fn send_one(
    source: &Source,
    answer: GetResult,
    version: &Version,
    at: &mut u64,
    sink: &Sink,
) -> Result<(), Failure> {
    let mut stream = answer.into_stream();
    while let Some(piece) = in_time(stream.next()).await? {
        let piece = piece.map_err(|error| Failure::of(&error, &source.address))?;
        count_fetched(piece.len());
        *at += piece.len() as u64;
        if *at > version.length() {
            return Err(Failure::lasting(io::ErrorKind::InvalidData, "the server sent more bytes than the file has"));
        }
        if !sink.send(Ok(piece)).await {
            return Ok(());
        }
    }
    if *at == version.length() {
        return Ok(());
    }
    Err(Failure::passing(io::ErrorKind::UnexpectedEof, "the connection ended before the file did"))
}

impl Read for InOrder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && !buffer.is_empty() && self.at < self.length {
            self.piece = self.next()?;
        }
        let read = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..read]);
        self.at += read as u64;
        count_needed(read as u64);
        Ok(read)
    }
}

impl InOrder {
    /// Waits for the next piece.
    fn next(&self) -> io::Result<Bytes> {
        loop {
            match self.coming.recv_timeout(GLANCE) {
                Ok(piece) => {
                    self.room.add_permits(1);
                    return piece.map_err(|failure| failure.at(&(self.at..self.length)));
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
