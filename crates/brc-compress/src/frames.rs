//! The reader for all formats whose files are consecutive frames.
//!
//! A format finds and decompresses its next frame; the reader handles what formats have in common: it goes from frame
//! to frame, verifies the content against the marks, and reports truncated files.

use crate::marks::{Marks, Tally};
use crate::source::{Source, TrailingBytes, cut, damaged};
use std::io::{self, Read};

/// The frames of a format.
pub(crate) trait Frames: Send {
    fn source(&mut self) -> &mut Source;

    /// Skips everything without content, records the marks among it, and starts the next frame; returns false at the
    /// end of the file.
    fn begin(&mut self, tally: &mut Tally) -> io::Result<bool>;

    /// Reads content of the current frame; returns 0 at its end, once the frame is complete and verified.
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize>;
}

/// Reads a file as frames.
pub(crate) struct FrameReader<F> {
    frames: F,
    tally: Tally,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Between,
    Within,
    Over,
    Failed,
}

impl<F: Frames> FrameReader<F> {
    pub(crate) fn new(frames: F) -> Self {
        Self { frames, tally: Tally::default(), state: State::Start }
    }

    fn step(&mut self, output: &mut [u8]) -> io::Result<usize> {
        loop {
            self.state = match self.state {
                State::Start if self.frames.source().fill()?.is_empty() => return Err(cut()),
                State::Start | State::Between if self.frames.begin(&mut self.tally)? => State::Within,
                State::Start | State::Between => {
                    self.tally.end()?;
                    State::Over
                }
                State::Within => match self.frames.read(output)? {
                    0 => State::Between,
                    count => {
                        self.tally.data(count)?;
                        return Ok(count);
                    }
                },
                State::Over => return Ok(0),
                State::Failed => return Err(damaged("reading on in a damaged file")),
            }
        }
    }
}

impl<F: Frames> Read for FrameReader<F> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        let result = self.step(output);
        match &result {
            Err(error) if TrailingBytes::of(error).is_some() => self.state = State::Over,
            Err(_) => self.state = State::Failed,
            Ok(_) => {}
        }
        result
    }
}

/// Skips the skippable frames of zstd and lz4, and records the marks among them.
pub(crate) fn skip_frames(source: &mut Source, marks: &Marks, tally: &mut Tally) -> io::Result<()> {
    loop {
        if let Some(mark) = marks.read(source.peek(marks.head_bytes())?)? {
            tally.mark(mark)?;
        }
        match skippable(source.peek(8)?) {
            Skippable::Frame(length) => source.skip(length)?,
            Skippable::Cut => return Err(cut()),
            Skippable::None => return Ok(()),
        }
    }
}

/// The bytes from the first frame on that is not skippable, if there is one.
pub(crate) fn after_skippable(mut bytes: &[u8]) -> Option<&[u8]> {
    while let Skippable::Frame(length) = skippable(bytes) {
        bytes = bytes.get(usize::try_from(length).ok()?..)?;
    }
    Some(bytes)
}

enum Skippable {
    /// The length, including the header.
    Frame(u64),
    Cut,
    None,
}

fn skippable(bytes: &[u8]) -> Skippable {
    match *bytes {
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..] => {
            Skippable::Frame(8 + u64::from(u32::from_le_bytes([a, b, c, d])))
        }
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Skippable::Cut,
        _ => Skippable::None,
    }
}
