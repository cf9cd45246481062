//! Reads one column of a scan: chunk by chunk, block by block, in batches of a few thousand rows.

use super::bounds::Bounds;
use super::chunk_dictionary::ChunkDictionary;
use super::decoder::{Decoded, DecodedStrings, Decoder};
use super::footer::{Chunk, Layout, StoredColumn};
use super::number_codes::NumberCodes;
use super::reader::Reader;
use super::runs::Runs;
use super::scan_dictionary::ScanDictionary;
use crate::Malformed;
use crate::block::{BlockBuffer, Cost};
use crate::integers::{BLOCK_ROWS, Block};
use crate::location::Location;
use crate::run_statistics::{Detail, RunNumbers};
use crate::strings::Tokens;
use crate::validity::Validity;
use brc_core::{Bitmap, Column, Data, Dictionary, Error, Integers, Result, Run};
use brc_kernels::cpu::Level;
use brc_kernels::direct::{are_known, translate_codes, unsigned};
use std::ops::Range;
use std::time::Instant;

/// The maximum number of rows of a batch.
pub(super) const BATCH_ROWS: usize = 4096;

/// Reading the clock costs as much as decoding a hundred rows. After the first batches, only one in this many is timed.
const TIMED_BATCHES: u32 = 7;

const NO_VALUES: [u8; BATCH_ROWS / 8] = [0; BATCH_ROWS / 8];

pub(super) struct ScanColumn<'r> {
    reader: &'r Reader,
    pub(super) column: usize,
    chunks: &'r [Chunk],
    row_group: usize,
    /// The decoder of the current chunk; `None` before the first row group.
    decoder: Option<Decoder>,
    /// The column from which the chunk stores differences.
    reference: Option<Box<ScanColumn<'r>>>,
    dictionary: ChunkDictionary,
    pub(super) values: ScanDictionary,
    /// The codes of fixed-width numeric strings; `None` as long as they do not pay.
    number_codes: Option<NumberCodes>,
    numbers: Vec<i64>,
    number_offsets: Vec<i32>,
    /// Whether the current batch consists of codes of numbers.
    coded: bool,
    /// The expected number of rows that the scan reads, as long as codes for numbers have not been considered for the
    /// chunk.
    expected: Option<usize>,
    /// The current batch's codes in the scanner's dictionary, if they differ from those of the chunk.
    codes: Vec<u32>,
    translated: bool,
    expanded: DecodedStrings,
    /// The statistics of runs, as far as they were read.
    pub(super) run_index: RunNumbers,
    runs_of_batch: Vec<Run>,
    buffer: BlockBuffer,
    validity: BlockBuffer,
    /// The number of decoded batches.
    decoded: u64,
    block: usize,
    /// The number of rows of the current block; 0 if no block of the chunk has been read.
    block_rows: usize,
    /// Whether the block has no nulls, only nulls, or a bitmap.
    nulls: Nulls,
    /// The rows of the block that were decoded last; empty if none were.
    batch: Range<usize>,
}

/// The position of a block in a file.
#[derive(Clone, Copy)]
pub(super) struct BlockPosition<'a> {
    pub(super) row_group: usize,
    /// The expected number of rows that the scan reads.
    pub(super) expected: usize,
    pub(super) block: usize,
    /// The number of rows of the block.
    pub(super) rows: usize,
    /// The runs of the row group, if it is clustered.
    pub(super) runs: Option<&'a Runs>,
}

#[derive(Clone, Copy)]
enum Nulls {
    None,
    All,
    Some,
}

impl<'r> ScanColumn<'r> {
    pub(super) fn new(reader: &'r Reader, column: &'r StoredColumn) -> Self {
        Self {
            reader,
            column: column.number,
            chunks: &column.chunks,
            row_group: 0,
            decoder: None,
            reference: None,
            dictionary: ChunkDictionary::default(),
            values: ScanDictionary::default(),
            number_codes: None,
            numbers: Vec::new(),
            number_offsets: Vec::new(),
            coded: false,
            expected: None,
            codes: Vec::new(),
            translated: false,
            expanded: DecodedStrings::default(),
            run_index: RunNumbers::default(),
            runs_of_batch: Vec::new(),
            buffer: BlockBuffer::default(),
            validity: BlockBuffer::default(),
            decoded: 0,
            block: 0,
            block_rows: 0,
            nulls: Nulls::None,
            batch: 0..0,
        }
    }

    fn name(&self) -> &'r str {
        self.reader.footer.name(self.column)
    }

    /// The error for invalid values in a row group, without a specific block.
    pub(super) fn corrupt_at(&self, row_group: usize, reason: Malformed) -> Error {
        self.reader.corrupt(Location::Data { row_group, column: self.name(), block: 0 }, reason)
    }

    fn chunk(&self) -> &'r Chunk {
        self.chunk_of(self.row_group)
    }

    pub(super) fn chunk_of(&self, row_group: usize) -> &'r Chunk {
        &self.chunks[row_group]
    }

    /// The number of values in the chunk of a row group.
    pub(super) fn values_in(&self, row_group: usize) -> usize {
        self.reader.footer.values_of(self.reader.row_group(row_group), self.column) as usize
    }

    /// Decodes some rows of a block (see [`ScanColumn::decode`]) after reading whatever that requires, unless it has
    /// been done.
    pub(super) fn ensure_decoded(&mut self, at: BlockPosition<'_>, rows: &Range<usize>, cost: &mut Cost) -> Result<()> {
        if self.decoder.is_none() || self.row_group != at.row_group {
            self.start(at.row_group, at.expected, at.runs, cost)?;
        }
        if self.block_rows == 0 || self.block != at.block {
            self.load(at.block, at.rows, cost)?;
        }
        if !self.batch.is_empty() && self.batch.start <= rows.start && rows.end <= self.batch.end {
            return Ok(());
        }
        self.decoded += 1;
        let weight = if self.decoded <= TIMED_BATCHES.into() { 1 } else { TIMED_BATCHES };
        let started = self.decoded.is_multiple_of(weight.into()).then(Instant::now);
        self.decode(rows.clone(), at.runs)?;
        if let Some(started) = started {
            cost.decode_time += started.elapsed() * weight;
        }
        Ok(())
    }

    /// Reads the shared data of a chunk. `rows` is the expected number of rows that the scan reads; `runs` are those of
    /// the row group, if it is clustered.
    pub(super) fn start(&mut self, row_group: usize, rows: usize, runs: Option<&Runs>, cost: &mut Cost) -> Result<()> {
        (self.row_group, self.coded, self.expected) = (row_group, false, Some(rows));
        (self.block_rows, self.batch) = (0, 0..0);
        let (reader, chunk, column) = (self.reader, self.chunk(), self.name());
        let source = reader.source();
        let mut tokens = None;
        if chunk.tokens.length > 0 {
            let location = Location::Tokens { row_group, column };
            self.buffer.load(source, &chunk.tokens, location, cost)?;
            tokens = Some(Tokens::read(self.buffer.bytes()).map_err(|reason| reader.corrupt(location, reason))?);
        }
        if chunk.layout == Layout::FileCodes {
            self.read_file_dictionary(chunk.codes as usize, cost)?;
            self.dictionary = ChunkDictionary::OfFile;
        } else {
            let place = (reader, row_group, self.column);
            self.dictionary =
                ChunkDictionary::read(place, chunk, tokens.as_ref(), &mut self.values, &mut self.buffer, cost)?;
        }
        let location = Location::Parameters { row_group, column };
        self.buffer.load(source, &chunk.parameters, location, cost)?;
        let corrupt = |reason: Malformed| reader.corrupt(location, reason);
        let mut parameters = self.buffer.bytes();
        let mut reference = None;
        if chunk.is_difference() {
            reference = Some(self.take_reference(&mut parameters, location)?);
        }
        self.decoder = Some(Decoder::open(chunk, parameters, tokens).map_err(corrupt)?);
        if let Some(column) = reference.filter(|_| source.file.is_remote()) {
            source.file.expect(column.chunks[row_group].ranges().collect());
        }
        self.reference = reference.map(|column| Box::new(Self::new(reader, column)));
        if chunk.layout == Layout::InRuns
            && let Some(runs) = runs
        {
            self.read_run_index(runs, 0..runs.len(), Detail::Min, cost)?;
        }
        self.reference.iter_mut().try_for_each(|reference| reference.start(row_group, rows, runs, cost))
    }

    /// Selects the chunk of another row group, before anything of it is read.
    pub(super) fn turn_to(&mut self, row_group: usize) {
        if self.row_group != row_group {
            (self.row_group, self.decoder) = (row_group, None);
        }
    }

    /// Reads statistics of some runs of the current chunk, which must have them.
    pub(super) fn read_run_index(
        &mut self,
        runs: &Runs,
        part: Range<usize>,
        wanted: Detail,
        cost: &mut Cost,
    ) -> Result<()> {
        let (reader, row_group, column, chunk) = (self.reader, self.row_group, self.name(), self.chunk());
        let location = Location::RunIndex { row_group, column };
        let bounds = match chunk.bounds {
            Some(Bounds::Numbers { min, max }) => (min as i64, max as i64),
            Some(Bounds::Strings { .. }) | None => (i64::MIN, i64::MAX),
        };
        let mut buffer = BlockBuffer::default();
        buffer.load(reader.source(), &chunk.run_index, location, cost)?;
        let mut bytes = buffer.bytes();
        let read = self.run_index.read(&mut bytes, &runs.lengths, part, bounds, chunk.nulls > 0, wanted);
        let is_whole = || if bytes.is_empty() { Ok(()) } else { Err("it is longer than its arrays") };
        read.and_then(|()| is_whole()).map_err(|reason| reader.corrupt(location, reason))
    }

    /// Takes the number of the reference column off the parameters of a chunk with differences.
    fn take_reference(&self, parameters: &mut &[u8], location: Location<'_>) -> Result<&'r StoredColumn> {
        let cut_off = || self.reader.corrupt(location, "the other column is cut off");
        let (column, rest) = parameters.split_first_chunk().ok_or_else(cut_off)?;
        *parameters = rest;
        let column = u32::from_le_bytes(*column) as usize;
        let is_column = column < self.reader.footer.order_streams();
        let other = is_column.then(|| self.reader.column(column)).transpose()?;
        other.filter(|other| other.chunks[self.row_group].is_by_itself()).ok_or_else(|| {
            self.reader.corrupt(location, "it has differences from a column that does not hold integers by itself")
        })
    }

    /// Reads the column's dictionary until at least `values` values are known.
    pub(super) fn read_file_dictionary(&mut self, values: usize, cost: &mut Cost) -> Result<()> {
        self.values.read_of_file(self.reader, self.column, values, &mut self.buffer, cost)
    }

    /// The scanner's dictionary.
    pub(super) fn dictionary(&self) -> &Dictionary {
        self.values.dictionary()
    }

    /// Reads a block of `rows` rows of the current chunk.
    pub(super) fn load(&mut self, block: usize, rows: usize, cost: &mut Cost) -> Result<()> {
        (self.block, self.block_rows, self.batch) = (block, rows, 0..0);
        let (reader, row_group, column) = (self.reader, self.row_group, self.name());
        let of_rows = &self.chunk().blocks[block];
        self.nulls = Nulls::None;
        if of_rows.nulls > 0 {
            let location = Location::Validity { row_group, column, block };
            self.validity.load(reader.source(), &of_rows.validity, location, cost)?;
            let validity = Validity::decode(self.validity.bytes(), rows);
            self.nulls = match validity.map_err(|reason| reader.corrupt(location, reason))? {
                Validity::AllValid => Nulls::None,
                Validity::AllNull => Nulls::All,
                Validity::Bitmap(_) => Nulls::Some,
            };
        }
        self.buffer.load(reader.source(), &of_rows.values, Location::Data { row_group, column, block }, cost)?;
        self.reference.iter_mut().try_for_each(|reference| reference.load(block, rows, cost))
    }

    /// Decodes at most [`BATCH_ROWS`] rows of the block, starting at a group.
    pub(super) fn decode(&mut self, rows: Range<usize>, runs: Option<&Runs>) -> Result<()> {
        let block =
            Block { bytes: self.buffer.bytes(), rows: self.block_rows, start: (self.block * BLOCK_ROWS) as u64 };
        // Empty until all values have been checked.
        self.batch = 0..0;
        let runs_of_chunk = runs.filter(|_| self.chunk().is_in_runs());
        let mut reference = None;
        if let Some(column) = &mut self.reference {
            column.decode(rows.clone(), runs)?;
            reference = column.decoder.as_ref().and_then(Decoder::integers);
        }
        let decoded = match (&mut self.decoder, runs_of_chunk) {
            (Some(Decoder::Strings(_)), _) => self.decode_strings(rows.clone()),
            (Some(decoder), Some(runs)) => {
                let start = self.block * BLOCK_ROWS;
                runs.of_rows(start + rows.start..start + rows.end, &mut self.runs_of_batch);
                decoder.decode_in_runs(&block, rows.clone(), &self.runs_of_batch, &self.run_index.min)
            }
            (Some(decoder), None) => decoder.decode(&block, rows.clone(), reference),
            (None, _) => Ok(()),
        };
        decoded.and_then(|()| self.look_up()).map_err(|reason| {
            let (row_group, column, block) = (self.row_group, self.name(), self.block);
            self.reader.corrupt(Location::Data { row_group, column, block }, reason)
        })?;
        self.batch = rows;
        Ok(())
    }

    /// Decodes strings; as codes if they are fixed-width numeric strings and codes pay.
    fn decode_strings(&mut self, rows: Range<usize>) -> std::result::Result<(), Malformed> {
        let block =
            Block { bytes: self.buffer.bytes(), rows: self.block_rows, start: (self.block * BLOCK_ROWS) as u64 };
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        self.coded = false;
        if matches!(self.nulls, Nulls::None)
            && let Some(format) = decoder.numbers(&block, rows.clone(), &mut self.numbers)?
        {
            if !self.number_codes.as_ref().is_some_and(|codes| codes.have_format(&format)) {
                let (chunks, expected) = (self.chunks, self.expected.take());
                let values = &mut self.values;
                self.number_codes = expected.and_then(|rows| NumberCodes::new(&format, chunks, rows, values));
            }
            if let Some(codes) = &self.number_codes {
                codes.offsets(&self.numbers, &mut self.number_offsets);
                self.coded = true;
                return Ok(());
            }
        }
        decoder.decode(&block, rows, None)
    }

    /// Translates the codes of the chunk to those of the scanner's dictionary, or to strings.
    fn look_up(&mut self) -> std::result::Result<(), Malformed> {
        const UNKNOWN: Malformed = Malformed("a code is not in the dictionary");
        let decoded = self.decoder.as_ref().filter(|_| !self.coded).map(Decoder::decoded);
        let (codes, largest, interned, known) = match (decoded, &self.dictionary) {
            (None, _) if self.coded => match &self.number_codes {
                Some(NumberCodes { codes, .. }) => (self.number_offsets.as_slice(), None, codes.of_all(), codes.len()),
                None => return Ok(()),
            },
            (None | Some(Decoded::Data(_)), _) => return Ok(()),
            (Some(Decoded::Codes(codes, largest)), ChunkDictionary::Interned(interned)) => {
                (codes, largest, interned.of_all(), interned.len())
            }
            (Some(Decoded::Codes(codes, largest)), ChunkDictionary::OfFile) => {
                let known = self.chunk().codes as usize;
                (codes, largest, self.values.codes_of_file(known), known)
            }
            (Some(Decoded::Codes(codes, largest)), ChunkDictionary::Values(values)) => {
                let values = values.strings();
                if !are_within(codes, largest, values.len()) {
                    return Err(UNKNOWN);
                }
                return self.expanded.replace(codes.iter().map(|&code| values.get(code as usize)));
            }
        };
        self.translated = interned.is_some();
        let are_known = match interned {
            Some(table) => {
                self.codes.clear();
                let table = table.get(..known);
                table.is_some_and(|table| translate_codes(Level::best(), unsigned(codes), table, &mut self.codes))
            }
            None => are_within(codes, largest, known),
        };
        if are_known { Ok(()) } else { Err(UNKNOWN) }
    }

    /// Some of the rows decoded last.
    pub(super) fn rows(&self, rows: &Range<usize>) -> Column<'_> {
        // Decoders never produce runs.
        self.as_column().slice(rows.start - self.batch.start..rows.end - self.batch.start, &[])
    }

    /// The rows decoded last.
    pub(super) fn as_column(&self) -> Column<'_> {
        let decoded = self.decoder.as_ref().filter(|_| !self.coded).map(Decoder::decoded);
        let interned = |codes| {
            let codes = if self.translated { &self.codes } else { unsigned(codes) };
            Data::Codes { codes, dictionary: self.values.dictionary() }
        };
        let data = match (decoded, &self.dictionary) {
            (None, _) if self.coded => interned(&self.number_offsets),
            (None, _) => Data::Integers(Integers::I16(&[])),
            (Some(Decoded::Data(data)), _) => data,
            (Some(Decoded::Codes(codes, _)), ChunkDictionary::Interned(_) | ChunkDictionary::OfFile) => interned(codes),
            (Some(Decoded::Codes(..)), ChunkDictionary::Values(_)) => self.expanded.data(),
        };
        Column { data, validity: self.batch_validity() }
    }

    fn batch_validity(&self) -> Option<Bitmap<'_>> {
        match self.nulls {
            Nulls::None => None,
            Nulls::All => Some(Bitmap::new(&NO_VALUES, 0, self.batch.len())),
            Nulls::Some => Some(Bitmap::new(&self.validity.bytes()[1..], self.batch.start, self.batch.len())),
        }
    }
}

/// Whether all codes are below `known`. `largest` is the largest code, if known.
fn are_within(codes: &[i32], largest: Option<u32>, known: usize) -> bool {
    match largest {
        Some(largest) => (largest as usize) < known,
        None => are_known(Level::best(), unsigned(codes), known),
    }
}
