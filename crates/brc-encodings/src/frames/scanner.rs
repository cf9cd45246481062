//! Scans the splits of a table of frames for one worker.

use super::file::{FrameBuffer, FramedFile};
use super::stream::{FrameStream, SplitBuffer};
use super::table::{FrameSource, FramesTable};
use super::{DecodeError, FrameDecoder};
use crate::chunks::ReadCost;
use crate::delivery::Delivery;
use brc_core::{Error, Result, ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Table};
use std::time::Instant;

pub(super) struct FramesScanner<'t> {
    options: ScanOptions,
    reader: Reader<'t>,
}

/// Reads and decodes frames.
struct Reader<'t> {
    table: &'t FramesTable,
    decoder: Box<dyn FrameDecoder>,
    frame: FrameBuffer,
    split: SplitBuffer,
}

impl<'t> FramesScanner<'t> {
    pub(super) fn new(table: &'t FramesTable, options: &ScanOptions) -> Self {
        let decoder = table.layout.decoder(table.schema(), &options.projection);
        let (frame, split) = (FrameBuffer::default(), SplitBuffer::default());
        Self { options: options.clone(), reader: Reader { table, decoder, frame, split } }
    }
}

impl Reader<'_> {
    fn file(&mut self, file: &FramedFile, split: &Split, delivery: &mut Delivery<'_>) -> Result<ReadCost> {
        self.frame.cost = ReadCost::default();
        for frame in split.start as usize..split.end as usize {
            let (bytes, rows) = file.load(frame, &mut self.frame)?;
            let location = |at: usize| format!("frame {frame}, byte {at}");
            let decoded = self.decoder.decode(bytes, delivery).map_err(|error| self.table.error(error, location))?;
            if decoded != rows {
                return Err(self.table.wrong_rows(&format!("frame {frame}"), rows, decoded));
            }
        }
        Ok(self.frame.cost)
    }

    fn stream(&mut self, stream: &FrameStream, split: &Split, delivery: &mut Delivery<'_>) -> Result<Option<ReadCost>> {
        if !stream.read(split, self.table.stream_split_bytes(), &mut self.split)? {
            return Ok(None);
        }
        for index in 0..self.split.len() {
            let start = self.split.byte + self.split.at(index) as u64;
            let location = |at: usize| format!("byte {}", start + at as u64);
            let Some((bytes, rows)) = self.split.frame(index) else {
                return Err(Error::corrupt(self.table.path(), location(0), "the checksum of a frame does not match"));
            };
            let decoded = self.decoder.decode(bytes, delivery).map_err(|error| self.table.error(error, location))?;
            if rows.is_some_and(|rows| rows != decoded) {
                return Err(self.table.wrong_rows(&location(0), rows.unwrap_or(0), decoded));
            }
        }
        Ok(Some(self.split.cost))
    }
}

impl Scanner for FramesScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let before = Instant::now();
        let Self { options, reader } = self;
        let mut delivery = Delivery::new(options, sink);
        let table = reader.table;
        let cost = match &table.source {
            FrameSource::File { file, .. } => reader.file(file, split, &mut delivery)?,
            FrameSource::Stream(stream) => match reader.stream(stream, split, &mut delivery)? {
                Some(cost) => cost,
                None => return Ok(None),
            },
        };
        Ok(Some(delivery.scanned(cost, before)))
    }
}

impl FramesTable {
    fn error(&self, error: DecodeError, location: impl Fn(usize) -> String) -> Error {
        match error {
            DecodeError::Sink(error) => error,
            DecodeError::Malformed(malformed) => {
                let location = format!("{}, row {}", location(malformed.at), malformed.rows);
                malformed.error(self.path(), location, self.schema())
            }
        }
    }

    fn wrong_rows(&self, location: &str, promised: u64, found: u64) -> Error {
        Error::corrupt(self.path(), location, format!("{promised} rows were promised, {found} are there"))
    }
}
