//! An open file: its header, and the locations of its blocks.

use super::codec::{Codec, LARGEST_BLOCK};
use super::container::{BlockHeader, Header, LONGEST_BLOCK_HEADER};
use super::schema::FileSchema;
use super::values::{FileRows, can_be_read_as};
use crate::chunks::{ReadCost, read_error};
use crate::columnar;
use crate::delivery::Delivery;
use crate::encoding::OpenOptions;
use crate::fault::Fault;
use crate::frames::{DecodeError, FrameDecoder, RowDecoder};
use crate::input::Input;
use crate::input_file::InputFile;
use brc_core::names::{renamed, unique_names};
use brc_core::{Error, ReadAt, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The header key of the columns as `brc` describes them.
pub(super) const COLUMNS: &str = "brc.columns";

/// The default size of a split in bytes, made of whole blocks.
const SPLIT_BYTES: u64 = 4 << 20;

/// The maximum size of a header in bytes.
const LONGEST_HEADER: usize = 64 << 20;

pub(super) struct AvroTable {
    path: PathBuf,
    file: InputFile,
    bytes: u64,
    schema: Schema,
    header: Header,
    notes: Vec<String>,
    blocks: Vec<Block>,
    /// The first block of each split, and the end of the last.
    splits: Vec<usize>,
}

/// The location of a block's stored bytes.
#[derive(Debug, Clone, Copy)]
struct Block {
    start: u64,
    stored: u64,
    rows: u64,
}

impl AvroTable {
    pub(super) fn open(mut input: Input, options: &OpenOptions) -> Result<Self> {
        let path = input.path.clone();
        let (header, start) = read_header(&mut input)?;
        let file = input.into_file(options.longest_copy)?;
        let bytes = file.length().map_err(Error::io(&path, "open"))?;
        let in_header = |fault: Fault| fault.at(&path, "header");
        let columns = FileSchema::parse(&header.schema).map_err(in_header)?;
        let (mut fields, unsupported_columns) = columns.split();
        let names = unique_names(fields.iter().map(|field| field.name.as_str()));
        let notes = renamed(fields.iter().map(|field| field.name.as_str()), &names);
        for (field, name) in fields.iter_mut().zip(names) {
            field.name = name;
        }
        if header.is_own {
            let own = header.about(COLUMNS).and_then(|text| Schema::parse(text).ok());
            let fits = |own: &Schema| {
                own.fields().len() == columns.columns.len()
                    && own.fields().iter().zip(&columns.columns).all(|(own, file)| can_be_read_as(own, file))
            };
            let own = own.filter(fits);
            let own = own.ok_or_else(|| Error::corrupt(&path, "header", "it does not name its columns"))?;
            fields = own.fields().to_vec();
        }
        let pairs = header.metadata.iter().map(|(key, value)| (key.as_str(), Some(value.as_str())));
        let schema =
            columnar::schema(&path, fields, unsupported_columns)?.with_metadata(columnar::table_metadata(pairs));
        options.check_schema(&path, &schema)?;
        let blocks = blocks(&path, &file, start as u64..bytes, &header)?;
        let splits = splits(&blocks, options.row_group_bytes.unwrap_or(SPLIT_BYTES));
        Ok(Self { path, file, bytes, schema, header, notes: notes.into_iter().collect(), blocks, splits })
    }

    pub(super) fn codec(&self) -> Codec {
        self.header.codec
    }

    /// Whether its rows may have checksums.
    pub(super) fn has_checksums(&self) -> bool {
        !matches!(self.codec(), Codec::Null | Codec::Deflate)
    }
}

/// The header, and its end.
fn read_header(input: &mut Input) -> Result<(Header, usize)> {
    loop {
        let known = input.prefix.len();
        match Header::read(&input.prefix) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) if known < LONGEST_HEADER => input.extend_prefix((4 * known).clamp(1 << 10, LONGEST_HEADER))?,
            Ok(None) => {}
            Err(fault) => return Err(fault.at(&input.path, "header")),
        }
        if input.prefix.len() <= known {
            return Err(Error::corrupt(&input.path, "header", "the file ends within it"));
        }
    }
}

/// Locates all blocks by skipping from one to the next.
fn blocks(path: &Path, file: &InputFile, location: std::ops::Range<u64>, header: &Header) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut at = location.start;
    let mut ended = false;
    while at < location.end {
        let corrupt = |reason: &str| Error::corrupt(path, format!("block {}, byte {at}", blocks.len()), reason);
        let mut head = [0; LONGEST_BLOCK_HEADER];
        let read = file.read_full_at(&mut head, at).map_err(read_error(path))?;
        let head = BlockHeader::read(&head[..read])
            .ok_or_else(|| corrupt("its header is damaged, or the file ends within it"))?;
        if header.is_own && ended {
            return Err(corrupt("it follows the last one"));
        }
        // Only files of brc have such a block.
        if !header.is_own && head.is_last {
            return Err(Error::corrupt(path, "header", "its checksum is missing"));
        }
        let start = at + head.length as u64;
        let end =
            start.checked_add(head.stored).filter(|end| end.checked_add(16).is_some_and(|end| end <= location.end));
        let end = end.ok_or_else(|| corrupt("the file ends within it"))?;
        if head.stored > LARGEST_BLOCK as u64 {
            return Err(Error::unsupported(path, format!("a block has more than {} MiB", LARGEST_BLOCK >> 20)));
        }
        let mut sync = [0; 16];
        let read = file.read_full_at(&mut sync, end).map_err(read_error(path))?;
        if read < sync.len() || sync != header.sync {
            return Err(corrupt("the mark after it is not that of the file"));
        }
        (at, ended) = (end + 16, head.is_last);
        blocks.push(Block { start, stored: head.stored, rows: head.rows });
    }
    if header.is_own && !ended {
        return Err(Error::corrupt(path, format!("byte {at}"), "the file is cut off: no block ends it"));
    }
    Ok(blocks)
}

/// The first block of each split, and the end of the last.
fn splits(blocks: &[Block], max_bytes: u64) -> Vec<usize> {
    let (mut splits, mut bytes) = (vec![0], 0);
    for (index, block) in blocks.iter().enumerate() {
        if bytes > 0 && bytes + block.stored > max_bytes {
            splits.push(index);
            bytes = 0;
        }
        bytes += block.stored;
    }
    splits.extend((!blocks.is_empty()).then_some(blocks.len()));
    splits
}

impl Table for AvroTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.blocks.iter().fold(0, |rows, block| block.rows.saturating_add(rows)))
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn split(&self, index: u64) -> Option<Split> {
        let at = usize::try_from(index).ok()?;
        let (start, end) = (*self.splits.get(at)?, *self.splits.get(at.checked_add(1)?)?);
        Some(Split { index, start: start as u64, end: end as u64 })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        let split = self.split(split)?;
        let blocks = self.blocks.get(split.start as usize..split.end as usize)?;
        Some(blocks.iter().fold(0, |rows, block| block.rows.saturating_add(rows)))
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let columns = FileSchema::parse(&self.header.schema).map_err(|fault| fault.at(&self.path, "header"))?;
        let rows = FileRows::new(columns);
        let symbols = rows.symbols().to_vec();
        let decoder = RowDecoder::new(&self.schema, &options.projection, rows);
        Ok(Box::new(AvroScanner { table: self, options: options.clone(), decoder, symbols, block: Vec::new() }))
    }
}

struct AvroScanner<'t> {
    table: &'t AvroTable,
    options: ScanOptions,
    decoder: RowDecoder<FileRows>,
    /// The bytes before the rows of each block: the symbols of enums.
    symbols: Vec<u8>,
    block: Vec<u8>,
}

impl AvroScanner<'_> {
    /// Reads a block and delivers its rows.
    fn scan_block(
        &mut self,
        index: usize,
        block: Block,
        cost: &mut ReadCost,
        delivery: &mut Delivery<'_>,
    ) -> Result<()> {
        let table = self.table;
        let begun = Instant::now();
        let mut stored = vec![0; block.stored as usize];
        let read = table.file.read_full_at(&mut stored, block.start).map_err(read_error(&table.path))?;
        let location = || format!("block {index}");
        if read < stored.len() {
            return Err(Error::corrupt(&table.path, location(), "the file was truncated while it was read"));
        }
        cost.bytes += block.stored;
        let read = Instant::now();
        cost.read_time += read - begun;
        self.block.clear();
        self.block.extend_from_slice(&self.symbols);
        let is_own = table.header.is_own;
        let unpacked = table.header.codec.decompress(stored, is_own, &mut self.block);
        unpacked.map_err(|fault| fault.at(&table.path, &location()))?;
        cost.decompress_time += read.elapsed();
        let rows = self.decoder.decode(&self.block, delivery).map_err(|error| match error {
            DecodeError::Sink(error) => error,
            DecodeError::Malformed(malformed) => {
                let location = format!("block {index}, row {}", malformed.rows);
                malformed.error(&table.path, location, &table.schema)
            }
        })?;
        if rows != block.rows {
            let reason = format!("{} rows were promised, {rows} are there", block.rows);
            return Err(Error::corrupt(&table.path, location(), reason));
        }
        Ok(())
    }
}

impl Scanner for AvroScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let table = self.table;
        let Some(blocks) = table.blocks.get(split.start as usize..split.end as usize) else { return Ok(None) };
        let begun = Instant::now();
        let options = self.options.clone();
        let (mut cost, mut delivery) = (ReadCost::default(), Delivery::new(&options, sink));
        for (index, &block) in (split.start as usize..).zip(blocks) {
            self.scan_block(index, block, &mut cost, &mut delivery)?;
        }
        Ok(Some(delivery.scanned(cost, begun)))
    }
}
