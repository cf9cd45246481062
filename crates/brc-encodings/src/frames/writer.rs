//! Writes the frames of a file.

use super::{FileHeader, FrameEncoder, FrameHeader, LARGEST_FRAME, LONGEST_HEADER, Layout, checksum};
use crate::compressed::{CUT_BYTES, LARGE_PART};
use crate::refused::Refused;
use crate::rows::RowBuffer;
use brc_core::{Batch, BatchWriter, Cut, Error, Part, PartEncoder, Result, Schema, Sink, UnsupportedReason};

/// The maximum rows of a frame: a column of them stays in the nearer caches.
const MAX_ROWS: u32 = 64 << 10;

/// From this size in bytes on, a frame ends after any row.
const LONG_FRAME: usize = 8 << 20;

/// The number of rows between checks of whether a frame is full. Frames must depend on the rows of the part alone,
/// not on their batches.
const STEP: usize = 256;

pub(super) struct FramesWriter {
    layout: &'static dyn Layout,
    schema: Schema,
    header: Vec<u8>,
    frames: u64,
}

impl FramesWriter {
    pub(super) fn new(layout: &'static dyn Layout, schema: &Schema) -> Result<Self> {
        let header = header(layout, schema);
        let header = header.map_err(|reason| Error::Usage(format!("{}: {reason}", layout.name())))?;
        Ok(Self { layout, schema: schema.clone(), header, frames: 0 })
    }
}

/// The header of a file.
///
/// # Errors
/// The reason if it cannot hold the columns.
pub(super) fn header(layout: &dyn Layout, schema: &Schema) -> Result<Vec<u8>, String> {
    let header = FileHeader::of(schema);
    if !header.columns().is_ok_and(|parsed| parsed.fields() == schema.fields()) {
        return Err("the names of the columns do not come back from their text form".to_owned());
    }
    let header = layout.file_header(&header);
    if header.len() > LONGEST_HEADER {
        let most = LONGEST_HEADER >> 20;
        return Err(format!("the names of the columns take more than the {most} MiB that a header may have"));
    }
    Ok(header)
}

impl BatchWriter for FramesWriter {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        Box::new(FramesEncoder {
            layout: self.layout,
            schema: self.schema.clone(),
            encoder: self.layout.encoder(&self.schema),
            rows: 0,
            rows_given: 0,
            rows_of_frame: 0,
            frames: 0,
            start_of_frame: 0,
            bytes: RowBuffer::default(),
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
    /// The rows of the part, and the number of those handed over.
    rows: u64,
    rows_given: u64,
    rows_of_frame: u32,
    frames: u64,
    /// The offset of the last frame in `bytes`.
    start_of_frame: usize,
    bytes: RowBuffer,
    cuts: Vec<Cut>,
}

impl FramesEncoder {
    /// Reserves space for the header of a frame.
    fn begin_frame(&mut self) {
        self.start_of_frame = self.bytes.len();
        self.bytes.push_zeros(self.layout.frame_header_bytes());
    }

    /// The approximate size of the frame with its header, in bytes.
    fn bytes_of_frame(&self) -> usize {
        self.bytes.len() - self.start_of_frame + self.encoder.pending()
    }

    fn end_frame(&mut self) -> Result<()> {
        if self.rows_of_frame == 0 {
            return Ok(());
        }
        if self.bytes_of_frame() > LARGEST_FRAME {
            return Err(self.too_long());
        }
        self.encoder.finish(&mut self.bytes);
        // A compressed chunk has the same limit, and contains the header too.
        if self.bytes_of_frame() > LARGEST_FRAME {
            return Err(self.too_long());
        }
        let frame = &mut self.bytes.as_mut_slice()[self.start_of_frame..];
        let (head, rows) = frame.split_at_mut(self.layout.frame_header_bytes());
        let header = FrameHeader { length: rows.len() as u32, rows: self.rows_of_frame, checksum: checksum(rows) };
        let mut written = Vec::with_capacity(head.len());
        self.layout.frame_header(&header, &mut written);
        head.copy_from_slice(&written);
        self.rows_of_frame = 0;
        self.frames += 1;
        self.cuts.push(Cut { at: self.bytes.len(), rows: self.rows - self.rows_given });
        Ok(())
    }

    /// The error that the last row does not fit the frame: frames end at far fewer bytes, after any row.
    #[cold]
    fn too_long(&self) -> Error {
        let fault = UnsupportedReason::FrameTooLong { rows: self.rows_of_frame.saturating_sub(1), most: LARGEST_FRAME };
        Refused::row(0, fault).into_error(self.rows.saturating_sub(1), self.layout.name(), &self.schema)
    }
}

impl Sink for FramesEncoder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let (mut done, rows_before) = (0, self.rows);
        while done < batch.rows {
            if self.rows_of_frame == 0 {
                self.begin_frame();
            }
            let step = (STEP - self.rows as usize % STEP).min(batch.rows - done);
            let max_bytes = self.start_of_frame + LONG_FRAME;
            let added = self.encoder.push(batch, done..done + step, rows_before, max_bytes, &mut self.bytes)?;
            done += added;
            self.rows += added as u64;
            self.rows_of_frame += added as u32;
            let bytes = self.bytes_of_frame();
            let full = bytes >= CUT_BYTES || self.rows_of_frame >= MAX_ROWS;
            if bytes >= LONG_FRAME || full && self.rows.is_multiple_of(STEP as u64) {
                self.end_frame()?;
            }
        }
        Ok(())
    }
}

impl FramesEncoder {
    /// The end of the finished frames.
    fn finished(&self) -> usize {
        if self.rows_of_frame == 0 { self.bytes.len() } else { self.start_of_frame }
    }

    /// The part with the finished frames.
    fn part(&mut self) -> Part {
        let bytes = self.bytes.take_first(self.finished());
        self.start_of_frame = 0;
        let finished = self.rows - u64::from(self.rows_of_frame);
        let rows = finished - std::mem::replace(&mut self.rows_given, finished);
        let mut cuts = std::mem::take(&mut self.cuts);
        // The last cut is the end of the part.
        cuts.pop();
        Part { rows, bytes, cuts, meta: Box::new(std::mem::take(&mut self.frames)), meta_bytes: 0 }
    }
}

impl PartEncoder for FramesEncoder {
    fn finish(&mut self) -> Result<Part> {
        self.end_frame()?;
        let part = self.part();
        (self.rows, self.rows_given) = (0, 0);
        Ok(part)
    }

    fn overflow(&mut self) -> Result<Option<Part>> {
        Ok((self.finished() >= LARGE_PART).then(|| self.part()))
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        self.bytes.recycle(bytes);
    }
}
