//! Files of bzip2: consecutive streams, each with its checksums.

use crate::frames::Frames;
use crate::marks::Tally;
use crate::read_only::BZIP2_MAGIC;
use crate::source::{Source, cut, damaged, pass_trailing};
use bzip2::{Decompress, Status};
use std::io::{self, Read};

const NAME: &str = "bzip2";

pub(crate) struct Streams {
    source: Source,
    decompress: Decompress,
    /// Whether a stream has been read.
    started: bool,
    /// Whether the current stream has ended; the library must not be called again then.
    ended: bool,
}

impl Streams {
    pub(crate) fn new(stored: Box<dyn Read + Send>) -> Self {
        Self { source: Source::new(stored), decompress: Decompress::new(false), started: false, ended: false }
    }
}

impl Frames for Streams {
    fn source(&mut self) -> &mut Source {
        &mut self.source
    }

    fn begin(&mut self, _: &mut Tally) -> io::Result<bool> {
        let head = self.source.peek(BZIP2_MAGIC.len())?;
        if head.is_empty() {
            return Ok(false);
        }
        if self.started && !BZIP2_MAGIC.starts_with(head) {
            pass_trailing(&mut self.source, NAME, BZIP2_MAGIC, 0)?;
            return Ok(false);
        }
        self.decompress = Decompress::new(false);
        (self.started, self.ended) = (true, false);
        Ok(true)
    }

    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        while !self.ended {
            let input = self.source.fill()?;
            let at_end = input.is_empty();
            let (read, written) = (self.decompress.total_in(), self.decompress.total_out());
            let status = self.decompress.decompress(input, output).map_err(damaged)?;
            self.source.consume((self.decompress.total_in() - read) as usize);
            self.ended = status == Status::StreamEnd;
            let written = (self.decompress.total_out() - written) as usize;
            if written > 0 {
                return Ok(written);
            }
            if at_end && !self.ended {
                return Err(cut());
            }
        }
        Ok(0)
    }
}
