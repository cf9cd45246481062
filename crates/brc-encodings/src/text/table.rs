//! A text file or stream, open for reading.

use super::chunk_pieces::ChunkPieces;
use super::file_pieces::FilePieces;
use super::pieces::Pieces;
use super::scanner::TextScanner;
use super::stream::{Stream, StreamPieces};
use super::{LineLayout, Reline};
use crate::chunks::Chunks;
use crate::encoding::OpenOptions;
use crate::input::{Input, Source};
use crate::input_file::InputFile;
use crate::stream_copy::StreamCopy;
use crate::tally::{START_ROWS, Tally};
use brc_core::{
    Batch, DoubtfulText, LogicalType, Result, RowFault, ScanOptions, Scanner, Schema, Sink, Split, Table, TextReason,
    current_schema,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default size of splits in bytes: small, so that all threads end at nearly the same time.
const SPLIT_BYTES: u64 = 2 << 20;

pub(crate) struct TextTable {
    path: PathBuf,
    pub(super) schema: Schema,
    pub(super) keep_rejects: bool,
    pub(super) layout: Box<dyn LineLayout>,
    split_bytes: u64,
    text: Text,
}

enum Text {
    File {
        file: InputFile,
        length: u64,
    },
    Chunks {
        chunks: Chunks,
        /// The splits, in decompressed bytes, if they may coincide with chunks.
        splits: Option<Vec<Range<u64>>>,
    },
    Stream(Stream),
}

impl TextTable {
    /// A table whose rows are lines.
    ///
    /// # Errors
    /// If there is no space for the copy of a stream that may have to be read again.
    pub(crate) fn new(
        input: Input,
        schema: Schema,
        layout: Box<dyn LineLayout>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let path = input.path.clone();
        let text = match input.source {
            Source::File { file, length } => Text::File { file, length },
            Source::Chunks(chunks) => {
                let splits = options.row_group_bytes.is_none().then(|| chunks.splits());
                Text::Chunks { chunks, splits }
            }
            Source::Stream(_) => {
                let copy = layout.inferred().map(|_| StreamCopy::new()).transpose()?;
                Text::Stream(Stream::new(&path, input.into_stream()?, copy))
            }
        };
        Ok(Self::of(path, text, schema, layout, options))
    }

    /// A table whose rows are rewritten to lines while they are read.
    ///
    /// # Errors
    /// As for [`TextTable::new`].
    pub(crate) fn relined(
        input: Input,
        schema: Schema,
        layout: Box<dyn LineLayout>,
        reline: Arc<dyn Reline>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let path = input.path.clone();
        let stream = match input.source {
            Source::File { file, length } => Stream::of_file(&path, file, length),
            Source::Chunks(_) | Source::Stream(_) => {
                let copy = layout.inferred().map(|_| StreamCopy::new()).transpose()?;
                Stream::new(&path, input.into_stream()?, copy)
            }
        };
        Ok(Self::of(path, Text::Stream(stream.relined(reline)), schema, layout, options))
    }

    fn pieces(&self) -> Pieces<'_> {
        match &self.text {
            Text::File { file, length } => Pieces::File(FilePieces::new(file, &self.path, *length)),
            Text::Chunks { chunks, .. } => Pieces::Chunks(ChunkPieces::new(chunks)),
            Text::Stream(stream) => Pieces::Stream(stream, StreamPieces::default()),
        }
    }

    /// The values of columns by their types, of so many rows at most; none if the types are given, or if the text
    /// cannot be read again.
    fn tallies(&self, columns: &[usize], rows: u64) -> Vec<Tally> {
        if self.is_read_once() {
            return Vec::new();
        }
        let Some((parser, tallies)) = self.layout.tallying(columns, rows) else { return Vec::new() };
        let options = ScanOptions { projection: Vec::new(), ..ScanOptions::everything(&self.schema) };
        let mut scanner = TextScanner::with(self, &options, self.pieces(), parser);
        for split in (0..).map_while(|index| self.split(index)) {
            match scanner.scan(&split, &mut Nothing) {
                Ok(Some(scanned)) => tallies.lock().lines += scanned.lines.unwrap_or_default(),
                Ok(None) => break,
                Err(_) => return Vec::new(),
            }
            if rows < u64::MAX {
                break;
            }
        }
        std::mem::take(&mut tallies.lock().columns)
    }

    fn of(path: PathBuf, text: Text, schema: Schema, layout: Box<dyn LineLayout>, options: &OpenOptions) -> Self {
        Self {
            path,
            schema,
            keep_rejects: options.keep_rejects,
            layout,
            split_bytes: options.row_group_bytes.unwrap_or(SPLIT_BYTES).max(1),
            text,
        }
    }
}

/// Takes no rows.
struct Nothing;

impl Sink for Nothing {
    fn batch(&mut self, _: &Batch<'_>) -> Result<()> {
        Ok(())
    }
}

impl Table for TextTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inferred(&self) -> Option<Arc<Schema>> {
        self.layout.inferred()
    }

    fn is_untyped(&self, column: usize) -> bool {
        self.layout.is_untyped(column)
    }

    fn assume(&self, column: usize, logical_type: Option<LogicalType>) -> bool {
        self.layout.assume(column, logical_type)
    }

    fn notes(&self) -> Vec<String> {
        self.layout.notes()
    }

    fn may_gain_columns(&self) -> bool {
        self.layout.inferred().is_some()
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> Option<u64> {
        match &self.text {
            Text::File { length, .. } => Some(*length),
            Text::Chunks { chunks, .. } => Some(chunks.stored_length()),
            Text::Stream(stream) => stream.length(),
        }
    }

    fn is_read_once(&self) -> bool {
        matches!(&self.text, Text::Stream(stream) if stream.is_read_once())
    }

    fn split(&self, index: u64) -> Option<Split> {
        if let Text::Chunks { splits: Some(splits), .. } = &self.text {
            let range = splits.get(usize::try_from(index).ok()?)?;
            return Some(Split { index, start: range.start, end: range.end });
        }
        let start = index.checked_mul(self.split_bytes)?;
        let end = start.checked_add(self.split_bytes)?;
        let length = match &self.text {
            Text::File { length, .. } => *length,
            Text::Chunks { chunks, .. } => chunks.length(),
            // The rows that start before the end belong to a split.
            Text::Stream(stream) => {
                return stream.length().is_none_or(|length| start < length).then_some(Split { index, start, end });
            }
        };
        (start < length).then(|| Split { index, start, end: end.min(length) })
    }

    fn why_text(&self, column: usize) -> Result<Option<TextReason>> {
        let tallies = self.tallies(&[column], u64::MAX);
        Ok(tallies.first().and_then(Tally::why_text))
    }

    fn doubtful_text(&self) -> Result<Vec<DoubtfulText>> {
        let schema = current_schema(self);
        let is_text = |column: &usize| schema.fields()[*column].logical_type == LogicalType::String;
        let columns: Vec<usize> = (0..schema.fields().len()).filter(is_text).collect();
        let tallies = if columns.is_empty() { Vec::new() } else { self.tallies(&columns, START_ROWS as u64) };
        Ok(columns.iter().zip(&tallies).filter_map(|(column, tally)| tally.doubtful(*column)).collect())
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(TextScanner::new(self, options, self.pieces())))
    }

    fn header_lines(&self) -> u64 {
        self.layout.has_header().into()
    }

    fn explain(&self, row: &[u8]) -> Option<(Option<usize>, RowFault)> {
        self.layout.explain(row, &self.schema)
    }
}
