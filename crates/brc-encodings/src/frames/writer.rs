//! Writes the frames of a file.

use super::{FileHeader, FrameEncoder, FrameHeader, LARGEST_FRAME, Layout, VERSION, checksum};
use crate::compressed::CUT_BYTES;
use crate::input::PREFIX_BYTES;
use crate::refused::Refused;
use brc_core::{Batch, BatchWriter, Cut, Error, HoldFault, Part, PartEncoder, Result, Schema, Sink, Summary};

/// The most rows of a frame: a column of them stays in the nearer caches.
const MOST_ROWS: u32 = 64 << 10;

/// After how many rows a frame is looked at, whether it is full. Frames must depend on the rows of the part alone, not on
/// the batches in which they come.
const STEP: usize = 256;

pub(super) struct FramesWriter {
    layout: &'static dyn Layout,
    schema: Schema,
    header: Vec<u8>,
    frames: u64,
}

impl FramesWriter {
    pub(super) fn new(layout: &'static dyn Layout, schema: &Schema) -> Result<Self> {
        let text = schema.to_string();
        if Schema::parse(&text).as_ref() != Ok(schema) {
            let name = layout.name();
            return Err(Error::Usage(format!("{name}: names of columns with a comma or outer spaces cannot be told")));
        }
        let own_checksum = checksum(text.as_bytes());
        let header = layout.file_header(&FileHeader { version: VERSION, schema: text, checksum: own_checksum });
        if header.len() > PREFIX_BYTES {
            return Err(Error::Usage(format!("{}: the names of the columns are too long", layout.name())));
        }
        Ok(Self { layout, schema: schema.clone(), header, frames: 0 })
    }
}

impl BatchWriter for FramesWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(FramesEncoder {
            layout: self.layout,
            schema: self.schema.clone(),
            encoder: self.layout.encoder(&self.schema),
            rows: 0,
            rows_of_frame: 0,
            frames: 0,
            bytes: Vec::new(),
            cuts: Vec::new(),
        })
    }

    fn start(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.header)
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        self.frames += part.meta.downcast_ref::<u64>().copied().unwrap_or(0);
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.layout.frame_header(&FrameHeader::end(self.frames), &mut bytes);
        Ok(bytes)
    }
}

struct FramesEncoder {
    layout: &'static dyn Layout,
    schema: Schema,
    encoder: Box<dyn FrameEncoder>,
    rows: u64,
    rows_of_frame: u32,
    frames: u64,
    bytes: Vec<u8>,
    cuts: Vec<Cut>,
}

impl FramesEncoder {
    fn end_frame(&mut self) -> Result<()> {
        if self.rows_of_frame == 0 {
            return Ok(());
        }
        let start = self.bytes.len();
        let length = self.layout.frame_header_bytes();
        if length + self.encoder.bytes() > LARGEST_FRAME {
            return Err(self.too_long());
        }
        self.bytes.resize(start + length, 0);
        self.encoder.finish(&mut self.bytes);
        let rows = &self.bytes[start + length..];
        // A compressed chunk may have no more bytes than that either, and it has the header too.
        if length + rows.len() > LARGEST_FRAME {
            return Err(self.too_long());
        }
        let header = FrameHeader { length: rows.len() as u32, rows: self.rows_of_frame, checksum: checksum(rows) };
        let mut head = Vec::with_capacity(length);
        self.layout.frame_header(&header, &mut head);
        self.bytes[start..start + length].copy_from_slice(&head);
        self.rows_of_frame = 0;
        self.frames += 1;
        self.cuts.push(Cut { at: self.bytes.len(), rows: self.rows });
        Ok(())
    }

    /// The error that the rows of the frame are too many bytes.
    #[cold]
    fn too_long(&self) -> Error {
        let fault = HoldFault::FrameTooLong { rows: self.rows_of_frame, most: LARGEST_FRAME };
        let rows_before = self.rows - u64::from(self.rows_of_frame);
        Refused::row(0, fault).behind(rows_before, self.layout.name(), &self.schema)
    }
}

impl Sink for FramesEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let mut done = 0;
        while done < batch.rows {
            let step = (STEP - self.rows as usize % STEP).min(batch.rows - done);
            self.encoder.push(batch, done..done + step)?;
            done += step;
            self.rows += step as u64;
            self.rows_of_frame += step as u32;
            let full = self.encoder.bytes() >= CUT_BYTES || self.rows_of_frame >= MOST_ROWS;
            if full && self.rows.is_multiple_of(STEP as u64) {
                self.end_frame()?;
            }
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Err(Error::Usage("a summary cannot be written: it has no rows".into()))
    }
}

impl PartEncoder for FramesEncoder {
    fn finish(&mut self) -> Result<Part> {
        self.end_frame()?;
        let (rows, frames) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.frames));
        let mut cuts = std::mem::take(&mut self.cuts);
        // The last one is the end of the part.
        cuts.pop();
        Ok(Part { rows, bytes: std::mem::take(&mut self.bytes), cuts, meta: Box::new(frames) })
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}
