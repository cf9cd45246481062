//! A stream that a separate thread reads ahead, one split at a time, while workers parse earlier splits.
//!
//! The writer of a pipe blocks while it is not read, and the workers would then wait for data that it could have
//! written in the meantime. Reading ahead takes the memory of one more split.

use super::split_text::{PORTION, SplitText};
use crate::stream_copy::StreamCopy;
use brc_kernels::structure::Syntax;
use parking_lot::Mutex;
use std::io::{Error, ErrorKind, Read, Result};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A stream, positioned at the first byte of the rows.
pub(super) struct Stream {
    state: Mutex<State>,
    /// A copy of the bytes read, if they may have to be read again.
    copy: Option<Arc<StreamCopy>>,
}

enum State {
    /// `None` if no thread could be started.
    Unread(Option<Box<Reader>>),
    Reading {
        wanted: Sender<ReadRequest>,
        read: Receiver<Result<(SplitText, bool)>>,
    },
}

/// A request to read a split, with memory for it.
struct ReadRequest {
    bytes: usize,
    text: SplitText,
}

impl Stream {
    /// Bytes read are also written to `copy`.
    pub(super) fn new(stream: Box<dyn Read + Send>, copy: Option<StreamCopy>, syntax: Syntax) -> Self {
        let copy = copy.map(Arc::new);
        let reader = Reader { stream, next_byte: None, ended: false, copy: copy.clone(), syntax };
        Self { state: Mutex::new(State::Unread(Some(Box::new(reader)))), copy }
    }

    /// Reads the next split of up to `bytes` bytes into `text`, and requests the following one of up to `following`.
    /// Returns whether more bytes follow.
    ///
    /// # Errors
    /// I/O errors; nothing more is read then.
    pub(super) fn next(&self, [bytes, following]: [usize; 2], text: &mut SplitText) -> Result<bool> {
        let ended = || Error::other("nothing reads it any more");
        let mut state = self.state.lock();
        if let State::Unread(reader) = &mut *state {
            *state = reader.take().ok_or_else(ended)?.start(bytes)?;
        }
        let State::Reading { wanted, read } = &*state else { return Err(ended()) };
        // Sending fails if the thread has ended; its result is received next.
        let _ = wanted.send(ReadRequest { bytes: following, text: std::mem::take(text) });
        let (read, more) = read.recv().map_err(|_| ended())??;
        *text = read;
        Ok(more)
    }

    /// The copy of the bytes read so far, if one is kept.
    pub(super) fn copy(&self) -> Option<&StreamCopy> {
        self.copy.as_deref()
    }
}

struct Reader {
    stream: Box<dyn Read + Send>,
    /// A byte that was read to find out whether the stream continues.
    next_byte: Option<u8>,
    ended: bool,
    copy: Option<Arc<StreamCopy>>,
    syntax: Syntax,
}

impl Reader {
    /// Starts the reading thread with a first split of `bytes` bytes. The thread is never joined, as it may wait
    /// forever for data.
    fn start(mut self: Box<Self>, bytes: usize) -> Result<State> {
        let (wanted, to_read) = channel();
        let (deliver, read) = channel();
        let _ = wanted.send(ReadRequest { bytes, text: SplitText::default() });
        let work = move || {
            for ReadRequest { bytes, text } in to_read {
                let outcome = self.read_split(bytes, text);
                let goes_on = matches!(outcome, Ok((_, true)));
                if deliver.send(outcome).is_err() || !goes_on {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("read-ahead".to_owned()).spawn(work)?;
        Ok(State::Reading { wanted, read })
    }

    /// Reads up to `bytes` bytes, and whether more follow.
    fn read_split(&mut self, bytes: usize, mut text: SplitText) -> Result<(SplitText, bool)> {
        text.clear();
        text.reserve(bytes);
        let mut left = bytes;
        while left > 0 && !self.ended {
            let Self { stream, next_byte, ended, syntax, .. } = self;
            let portion = text.append_portion(left.min(PORTION), syntax, |room| {
                let taken = next_byte.take().map_or(0, |byte| {
                    room[0] = byte;
                    1
                });
                let read = taken + read_full(stream, &mut room[taken..])?;
                *ended = read < room.len();
                Ok::<_, Error>(read)
            })?;
            left -= portion.len();
            if let Some(copy) = &self.copy {
                copy.append(portion)?;
            }
        }
        if !self.ended && self.next_byte.is_none() {
            let mut next = [0];
            self.ended = read_full(&mut self.stream, &mut next)? == 0;
            self.next_byte = (!self.ended).then_some(next[0]);
        }
        Ok((text, !self.ended))
    }
}

/// Reads until `buffer` is full or the stream ends; returns the number of bytes.
fn read_full(stream: &mut impl Read, buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
