//! Re-encodes columns of earlier parts whose types turned out too narrow.
//!
//! A late change of types must not cost as much as the whole conversion. Only the columns that became wider are parsed
//! again from the original text, and only in earlier splits. They are written at the end; then the file is assembled in
//! the order of a conversion that knew all types from the start, so the output is the same.

use crate::convert::Workers;
use crate::long_rows::LongRows;
use crate::ordered::{Accept, Ordered};
use crate::output::Output;
use brc_core::{
    Batch, BatchWriter, ColumnarWriter, Error, Order, Part, PartEncoder, Progress, Result, ScanOptions, Scanned,
    Schema, Sink, Split, Table, Worker, scan,
};
use brc_text::Form;
use std::sync::Arc;

/// A part that was written.
pub(crate) struct Appended {
    /// Its split.
    pub(crate) split: u64,
    /// The types of its rows, if they are inferred.
    pub(crate) types: Option<Arc<Schema>>,
}

/// Replaces all columns whose types differ from the table's final types, unless those are `begun`, the types of
/// `writer`. `output` is the target and its length so far; the result is the same output, put in order.
///
/// # Errors
/// [`Error::Widened`] if the encoding cannot replace columns; errors of reading and writing.
pub(crate) fn replace(
    table: &dyn Table,
    writer: &mut dyn BatchWriter,
    begun: Option<Arc<Schema>>,
    parts: &[Appended],
    (output, end): (Output, u64),
    workers: Workers,
    progress: &Progress,
) -> Result<(Output, u64)> {
    let Some(types) = table.inferred().filter(|types| Some(types) != begun.as_ref()) else { return Ok((output, end)) };
    let writer = writer.columnar().ok_or(Error::Widened)?;
    if begun.is_none_or(|begun| begun.fields().len() != types.fields().len()) {
        return Err(Error::Widened);
    }
    let mut outdated = Outdated::new(table, types, parts);
    if outdated.columns.is_empty() {
        // The types changed in the first part, which was encoded again before it was written.
        writer.rearrange(&outdated.types)?;
        return Ok((output, end));
    }
    if let Some(key) = writer.orders_rows() {
        let index = outdated.columns.binary_search(&key).err().ok_or(Error::Widened)?;
        outdated.columns.insert(index, key);
    }
    let spans_parts = |&column: &usize| writer.spans_parts(outdated.types.fields()[column].logical_type);
    if outdated.columns.iter().any(spans_parts) {
        outdated.splits = splits(table, parts.iter().zip(0..));
    }
    progress.restart();
    writer.begin_replacing();
    outdated.encode(writer, &output, end, workers, progress)?;
    let ranges = writer.rearrange(&outdated.types)?;
    let output = output.rearranged(&ranges)?;
    Ok((output, ranges.iter().map(|range| range.end - range.start).sum()))
}

/// The columns to encode again.
struct Outdated<'a> {
    table: &'a dyn Table,
    /// The types that fit all values.
    types: Arc<Schema>,
    columns: Vec<usize>,
    /// The splits, each with the position of its part.
    splits: Vec<(Split, u64)>,
}

impl<'a> Outdated<'a> {
    fn new(table: &'a dyn Table, types: Arc<Schema>, parts: &[Appended]) -> Self {
        let mut columns = Vec::new();
        let is_outdated = |part: &Appended| part.types.as_ref().is_some_and(|own| *own != types);
        for own in parts.iter().filter_map(|part| part.types.as_ref()).filter(|own| **own != types) {
            // The same type in a different form may mean different values: 1.234 with a thousands separator.
            let forms = [own, &types].map(|schema| Form::of_columns(schema));
            let changed = |&column: &usize| {
                own.fields()[column] != types.fields()[column] || forms[0][column] != forms[1][column]
            };
            columns.extend((0..types.fields().len()).filter(changed));
        }
        columns.sort_unstable();
        columns.dedup();
        let splits = splits(table, parts.iter().zip(0..).filter(|(part, _)| is_outdated(part)));
        Self { table, types, columns, splits }
    }

    /// Encodes the columns of all splits, and writes them from offset `end` on.
    fn encode(
        &self,
        writer: &mut dyn ColumnarWriter,
        output: &Output,
        end: u64,
        workers: Workers,
        progress: &Progress,
    ) -> Result<()> {
        let options = ScanOptions {
            projection: self.columns.clone(),
            predicate: None,
            conjuncts: Vec::new(),
            statistics: false,
            counts: false,
            sums: false,
            order: Order::Original,
            splits: Some(self.splits.iter().map(|(split, _)| *split).collect()),
        };
        let ordered = Ordered::new(output, end, workers.parts_aside, Replacer { writer, outdated: self });
        let new_worker = || Encoder {
            outdated: self,
            ordered: &ordered,
            encoder: None,
            position: 0,
            long_rows: LongRows::default(),
        };
        scan(self.table, &options, workers.threads, progress, new_worker).map(drop)
    }

    /// The position of a split among those encoded again.
    fn position(&self, split: &Split) -> u64 {
        self.splits.partition_point(|(other, _)| other.index < split.index) as u64
    }
}

/// The splits of parts, each with the position of its part.
fn splits<'p>(table: &dyn Table, parts: impl Iterator<Item = (&'p Appended, u64)>) -> Vec<(Split, u64)> {
    parts.filter_map(|(part, number)| Some((table.split(part.split)?, number))).collect()
}

/// Replaces the columns of the parts in order.
struct Replacer<'a> {
    writer: &'a mut dyn ColumnarWriter,
    outdated: &'a Outdated<'a>,
}

impl Accept for Replacer<'_> {
    type Piece = (u64, Part);
    type Bytes = Vec<u8>;
    const SPARES: usize = 2;

    fn size((_, part): &Self::Piece) -> usize {
        part.bytes.len() + part.meta_bytes
    }

    fn accept(&mut self, (number, mut part): Self::Piece) -> Result<Vec<u8>> {
        self.writer.replace(number, &self.outdated.columns, &mut part)?;
        Ok(part.bytes)
    }
}

/// One worker: encodes the columns that it scans.
struct Encoder<'a, 'o> {
    outdated: &'a Outdated<'a>,
    ordered: &'a Ordered<'o, Replacer<'a>>,
    /// `None` if the encoding does not support these types, which is reported when the file is begun again.
    encoder: Option<Box<dyn PartEncoder>>,
    /// The position of the current split.
    position: u64,
    long_rows: LongRows,
}

impl Sink for Encoder<'_, '_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if *schema != self.outdated.types {
            // The input changed while it was read.
            return Err(Error::Widened);
        }
        Ok(())
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let encoder = self.encoder.as_mut().ok_or(Error::Widened)?;
        self.long_rows.portions(batch, |portion| encoder.batch(portion))
    }
}

impl Worker for Encoder<'_, '_> {
    fn split_begins(&mut self, split: &Split) {
        let Self { outdated, ordered, encoder, position, .. } = self;
        *position = outdated.position(split);
        if encoder.is_none() {
            let new = |it: &mut Replacer<'_>| it.writer.encoder_of(&outdated.types, &outdated.columns);
            *encoder = ordered.with_acceptor(new).ok();
        }
        encoder.iter_mut().for_each(|encoder| encoder.begin(*position));
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        let encoder = self.encoder.as_mut().ok_or(Error::Widened)?;
        let number = self.outdated.splits[self.position as usize].1;
        let part = encoder.finish()?;
        if let Some(bytes) = self.ordered.deliver(self.position, (number, part))? {
            encoder.recycle(bytes);
        }
        Ok(())
    }

    fn split_failed(&mut self, split: &Split) {
        self.encoder.iter_mut().for_each(|encoder| encoder.skip());
        self.ordered.abandon(self.outdated.position(split));
    }
}

impl Drop for Encoder<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.encoder.iter_mut().for_each(|encoder| encoder.skip());
            self.ordered.abandon(0);
        }
    }
}
